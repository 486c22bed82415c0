r"""Stochastic gradient descent on averages of many terms.

A step follows the mean gradient of a few terms, :math:`x_{t+1}=\Pi(x_t-\eta_t\hat g_t)`; an epoch
looks at about as many terms as there are. The average of all points with weights :math:`\eta_t` is
what theory speaks of: for convex functions its expected excess is at most
:math:`(R^2+G^2\sum\eta_t^2)/(2\sum\eta_t)` with :math:`G^2\ge E\|\hat g\|^2`.
"""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from sklearn.utils import check_random_state

from corollary.optimize.iteration.certified import solve_by
from corollary.optimize.iteration.driver import Iteration
from corollary.optimize.iteration.stopping import Info
from corollary.optimize.problem.finite_sum import FiniteSum
from corollary.optimize.problem.minimum import certify_minimum
from corollary.optimize.problem.sets import ConvexSet
from corollary.optimize.rates.first_order import first_order_steps
from corollary.optimize.rates.schedules import ConstantRate, PowerRate, Schedule, as_schedule
from corollary.optimize.solution import Solution
from corollary.optimize.stochastic.row_average import RowAverage
from corollary.optimize.stochastic.rules import UpdateRule

Draws: TypeAlias = Literal["iid", "reshuffled", "in order"]


def draw_rows(
    n_terms: int, *, batch_size: int = 1, draws: Draws = "iid", seed: int = 0, epoch: int = 0
) -> list[np.ndarray]:
    """Return which terms the steps of one epoch look at, an array of numbers for each.

    See :class:`StochasticGradient`. Terms are drawn "iid", uniformly with replacement,
    "reshuffled", every one once in a new random order, or "in order"; ``seed`` and the number of
    the ``epoch`` decide about the draws. The last step of an epoch that is not drawn "iid" may have
    fewer than ``batch_size`` terms.

    Examples
    --------
    >>> from corollary.optimize import draw_rows
    >>> [rows.tolist() for rows in draw_rows(5, batch_size=2, draws="in order")]
    [[0, 1], [2, 3], [4]]
    """
    if not batch_size >= 1 or (draws != "iid" and batch_size > n_terms):
        raise ValueError(
            f"The 'batch_size' parameter must be an int from 1 to n_terms={n_terms}, or any count "
            f"with draws='iid'. Got {batch_size!r} instead."
        )
    n_steps = -(-n_terms // batch_size)
    random = np.random.default_rng([seed, epoch])
    if draws == "iid":
        return list(random.integers(n_terms, size=(n_steps, batch_size)))
    order = random.permutation(n_terms) if draws == "reshuffled" else np.arange(n_terms)
    return np.split(order, range(batch_size, n_terms, batch_size))


class StochasticState(NamedTuple):
    """The point that is reported, where the next step begins, the average, and what is counted."""

    x: np.ndarray
    point: np.ndarray
    average: np.ndarray
    total: float
    memory: Any
    n_steps: int
    n_epochs: int


@dataclass(frozen=True)
class StochasticGradient(Iteration[StochasticState]):
    """Epochs of stochastic gradient steps, drawn from a ``seed``.

    A step of the iteration is an epoch. Of a :class:`RowAverage` an epoch is one compiled program;
    of other functions, and with a set, it is a loop in Python. Without convexity
    :func:`sgd_gradient_norm_bound` and :func:`sgd_high_probability_bound` say what is guaranteed.
    See :class:`Iteration`, and :func:`stochastic_gradient` for the parameters.

    Guarantee: the mean excess of the average is at most :func:`subgradient_bound`, checked by
    ``tests/optimize/test_stochastic.py::test_the_average_keeps_its_bound_over_all_draws``.

    Examples
    --------
    >>> from corollary.optimize import Average, PowerRate, Quadratic, StochasticGradient, iterate
    >>> f = Average([Quadratic([[1.0]], [-1.0]), Quadratic([[1.0]], [-3.0])])
    >>> method = StochasticGradient(f, PowerRate(1.0, 1.0), draws="reshuffled", averaged=False)
    >>> iterate(method, [9.0], max_iter=3).state.x.round(12)  # a running mean of 1 and 3
    array([2.])
    """

    function: FiniteSum
    rate: float | Schedule
    rule: UpdateRule | None = None
    batch_size: int = 1
    draws: Draws = "iid"
    averaged: bool = True
    within: ConvexSet | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", as_schedule(self.rate))
        self._draw(0)  # refuses a batch that is too large

    def init(self, start: Any) -> StochasticState:
        """Return the state before the first epoch, at a point that is projected onto the set."""
        x = np.array(start, dtype=float)
        x = x if self.within is None else self.within.project(x)
        memory = () if self.rule is None else self.rule.init(x)
        return StochasticState(x, x, np.zeros_like(x), 0.0, memory, 0, 0)

    def step(self, state: StochasticState) -> tuple[StochasticState, Info]:
        """Run one epoch; the info has the value at the point that is reported, and its way."""
        assert isinstance(self.rate, Schedule)
        batches = self._draw(state.n_epochs)
        rates = self.rate(state.n_steps + np.arange(len(batches)))
        compiled = isinstance(self.function, RowAverage) and self.within is None
        run = self._run_compiled if compiled else self._run
        point, average, total, memory = run(state, batches, rates)
        x = average if self.averaged else point
        n_steps, n_epochs = state.n_steps + len(batches), state.n_epochs + 1
        following = StochasticState(x, point, average, total, memory, n_steps, n_epochs)
        moved = float(np.linalg.norm(x - state.x))
        return following, Info(value=self.function.value(x), step=moved)

    def _draw(self, epoch: int) -> list[np.ndarray]:
        how: Any = {"batch_size": self.batch_size, "draws": self.draws, "seed": self.seed}
        return draw_rows(self.function.n_terms, epoch=epoch, **how)

    def _run(self, state: StochasticState, batches: list[np.ndarray], rates: np.ndarray) -> Any:
        """Run an epoch step by step."""
        x, average, total, memory = state.point, state.average, state.total, state.memory
        for rows, rate in zip(batches, rates.tolist()):
            gradient = self.function.batch_gradient(x, rows)
            total += rate
            average = average + rate / total * (x - average)
            if self.rule is None:
                x = x - rate * gradient
            else:
                x, memory = self.rule.apply(x, gradient, rate, memory)
            x = x if self.within is None else self.within.project(x)
        return x, average, total, memory

    def _run_compiled(
        self, state: StochasticState, batches: list[np.ndarray], rates: np.ndarray
    ) -> Any:
        """Run an epoch as one program; a last batch that is not full is filled with weight 0."""
        from corollary.core.xla import jax
        from corollary.optimize.stochastic._programs import run_epoch

        assert isinstance(self.function, RowAverage)
        rows = np.zeros((len(batches), self.batch_size), dtype=np.int32)
        shares = np.zeros(rows.shape)
        for t, batch in enumerate(batches):
            rows[t, : len(batch)], shares[t, : len(batch)] = batch, 1 / len(batch)
        start = (state.point, state.average, state.total, state.memory)
        term, data = self.function.term, self.function.rows
        with jax.enable_x64(True):
            end = run_epoch(start, data, rows, shares, rates, term=term, rule=self.rule)
            point, average, total, memory = end
            return np.array(point), np.array(average), float(total), memory


def stochastic_gradient(
    function: FiniteSum,
    start: Any,
    *,
    rate: float | Schedule | None = None,
    rule: UpdateRule | None = None,
    batch_size: int = 1,
    draws: Draws = "reshuffled",
    averaged: bool = True,
    within: ConvexSet | None = None,
    radius: float = math.inf,
    lipschitz: float = math.inf,
    tol: float = 1e-3,
    max_iter: int = 100,
    random_state: Any = None,
) -> Solution:
    r"""Minimise an average by stochastic gradient descent.

    The certificate is computed from all terms; ``n_iter`` counts epochs. Where R and G are known
    and draws are "iid", ``planned`` is the number of epochs after which the mean excess of the
    average is within the tolerance.

    Parameters
    ----------
    function : FiniteSum
        The average.
    start : array-like of shape (n,)
        First point.
    rate : float, Schedule or None, default=None
        Step sizes. None for plain steps only: :math:`R/(G\sqrt k)` with k the number of steps that
        are enough, or of all steps if they are fewer, where R and G are known; else
        :math:`1/(L\sqrt{t+1})`.
    rule : UpdateRule or None, default=None
        :class:`Momentum`, :class:`AdaGrad` or :class:`Adam`; None for plain steps.
    batch_size : int, default=1
        Number of terms of a step.
    draws : {"iid", "reshuffled", "in order"}, default="reshuffled"
        How terms are drawn, see :func:`draw_rows`.
    averaged : bool, default=True
        Whether the average of all points where steps began is returned, or the last point.
    within : ConvexSet or None, default=None
        A set that steps are projected onto; None for none.
    radius : float, default=inf
        Bound R on the distance of the first point from a minimiser, if one is known.
    lipschitz : float, default=inf
        Number G with :math:`G^2\ge E\|\hat g\|^2` at all points, if one is known.
    tol : float, default=1e-3
        Proved gap to stop at, relative to the larger of 1 and the size of the value.
    max_iter : int, default=100
        Largest number of epochs.
    random_state : int, RandomState instance or None, default=None
        Source of the draws; the same number gives the same bits.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import EmpiricalRisk, stochastic_gradient
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(200, 2))
    >>> risk = EmpiricalRisk(X, np.where(X[:, 0] > 0, 1, -1), alpha=0.1)
    >>> solution = stochastic_gradient(risk, [0.0, 0.0], tol=1e-2, random_state=0)
    >>> solution.status, solution.gap < 1e-2
    ('optimal', True)
    """
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    per_epoch = -(-function.n_terms // max(1, batch_size))
    enough = math.inf
    if function.convex and math.isfinite(radius) and math.isfinite(lipschitz):
        enough = first_order_steps("subgradient", tol, radius=radius, lipschitz=lipschitz)
    promised = rate is None and rule is None and averaged and draws == "iid"
    promised = promised and math.isfinite(enough)
    if rate is None:
        rate = _default_rate(function, rule, radius, lipschitz, min(enough, max_iter * per_epoch))
    method = StochasticGradient(function, rate, rule, batch_size, draws, averaged, within, seed)
    certify = partial(certify_minimum, function, penalty=within)
    solution = solve_by(method, start, certify, tol=tol, max_iter=max_iter, every=1)
    return replace(solution, planned=-(-int(enough) // per_epoch) if promised else None)


def _default_rate(
    function: FiniteSum, rule: UpdateRule | None, radius: float, lipschitz: float, n_steps: float
) -> Schedule:
    """Return the step sizes that theory knows of."""
    if rule is None and math.isfinite(radius) and math.isfinite(lipschitz):
        return ConstantRate(radius / (lipschitz * math.sqrt(max(1, n_steps))))
    if rule is None and 0 < function.smoothness < math.inf:
        return PowerRate(1 / function.smoothness)
    raise ValueError(
        "stochastic_gradient needs a 'rate' for a rule, and for plain steps a function whose "
        f"smoothness is known and positive, or radius and lipschitz. Got rule {rule!r}, smoothness "
        f"{function.smoothness!r}, radius {radius!r} and lipschitz {lipschitz!r}."
    )
