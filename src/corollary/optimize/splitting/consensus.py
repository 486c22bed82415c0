r"""Consensus ADMM: every block of rows keeps a copy of the variable, and the copies agree.

.. math:: \min_{x_1,\dots,x_N,z}\;\sum_ip_if_i(x_i)+h(z)\quad\text{subject to}\quad x_i=z

A step minimises :math:`f_i(x_i)+\tfrac\rho2\|x_i-z+u_i\|^2` in each block, where the rows are, and
only the points travel: z is the proximal point of h at :math:`\sum_ip_i(x_i+u_i)`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from corollary.optimize.iteration.certified import solve_by
from corollary.optimize.iteration.driver import Iteration
from corollary.optimize.iteration.stopping import Info, Stop
from corollary.optimize.problem.finite_sum import EmpiricalRisk
from corollary.optimize.problem.functions import Quadratic, Smooth
from corollary.optimize.problem.minimum import certify_minimum
from corollary.optimize.problem.penalties import Penalty, Zero
from corollary.optimize.solution import Solution
from corollary.optimize.splitting.admm import _ProximalPoint
from corollary.risk import LossLike, SquareLoss


class ConsensusState(NamedTuple):
    """Where consensus is: the common point, the copies and their scaled multipliers."""

    x: np.ndarray
    copies: np.ndarray
    u: np.ndarray


class _Blocks:
    """Objects in memory, or Dask's promises of them, which are called where they are."""

    def __init__(self, objects: Sequence[Any]) -> None:
        self.delayed = any(hasattr(each, "__dask_graph__") for each in objects)
        if self.delayed:
            import dask

            objects = dask.persist(*objects)
        self.objects = tuple(objects)

    def map(self, work: Any, *arguments: Sequence[Any]) -> list[Any]:
        """Return ``work(object, *its arguments)`` for all of them, in order."""
        if not self.delayed:
            return [work(*parts) for parts in zip(self.objects, *arguments, strict=True)]
        import dask

        promised = dask.delayed(work)
        return list(dask.compute(*(promised(*parts) for parts in zip(self.objects, *arguments))))


class _Mixture(Smooth):
    """The sum of the blocks' functions, weighted."""

    def __init__(self, blocks: _Blocks, weights: np.ndarray) -> None:
        self.blocks, self.weights = blocks, weights
        convex, smoothness, strong, floors, assumptions = zip(*blocks.map(_constants))
        self.convex = True if all(convex) else None
        self.smoothness, self.floor = float(weights @ smoothness), float(weights @ floors)
        self.strong_convexity = float(weights @ strong) if self.convex else 0.0
        self.assumptions = tuple(dict.fromkeys(a for known in assumptions for a in known))

    def _value(self, x: np.ndarray) -> float:
        return float(self.weights @ self.blocks.map(Smooth.value, [x] * len(self.weights)))

    def _gradient(self, x: np.ndarray) -> np.ndarray:
        return self.weights @ np.array(self.blocks.map(Smooth.gradient, [x] * len(self.weights)))


def _constants(function: Smooth) -> tuple[Any, ...]:
    names = ("convex", "smoothness", "strong_convexity", "floor", "assumptions")
    return tuple(getattr(function, name) for name in names)


@dataclass(frozen=True, eq=False)
class Consensus(Iteration[ConsensusState]):
    """Steps of consensus ADMM. See :class:`Iteration`, and :func:`consensus` for the parameters.

    Examples
    --------
    >>> from corollary.optimize import Consensus, Quadratic, iterate  # x^2 / 2 and (x - 4)^2 / 2
    >>> method = Consensus([Quadratic([[1.0]]), Quadratic([[1.0]], [-4.0])])
    >>> iterate(method, [0.0], max_iter=30).state.x.round(6)
    array([2.])
    """

    functions: Sequence[Any]
    penalty: Penalty | None = None
    weights: Any = None
    rho: float = 1.0

    def __post_init__(self) -> None:
        n = len(self.functions)
        weights = np.ones(n) if self.weights is None else np.array(self.weights, dtype=float)
        if not n or weights.shape != (n,) or not ((weights > 0) & (weights < np.inf)).all():
            raise ValueError(
                "Consensus needs at least one function and a positive, finite weight for each. Got "
                f"{n} functions and weights {self.weights!r}."
            )
        if not 0 < self.rho < np.inf:
            raise ValueError(f"Consensus needs a positive, finite rho. Got {self.rho!r}.")
        object.__setattr__(self, "weights", weights / weights.sum())

    @cached_property
    def _blocks(self) -> _Blocks:
        return _Blocks(self.functions)

    @cached_property
    def _points(self) -> _Blocks:
        """The proximal operators, each beside its rows."""
        if not self._blocks.delayed:
            return _Blocks([_ProximalPoint(f, self.rho) for f in self._blocks.objects])
        import dask

        make = dask.delayed(_ProximalPoint)
        return _Blocks([make(f, self.rho) for f in self._blocks.objects])

    @cached_property
    def objective(self) -> Smooth:
        r"""The smooth part, :math:`\sum_ip_if_i`, of one common point."""
        return _Mixture(self._blocks, self.weights)

    def init(self, start: Any) -> ConsensusState:
        """Return the first state: all copies are at the common point, with multipliers 0."""
        x = np.array(start, dtype=float)
        copies = np.tile(x, (len(self.functions), 1))
        return ConsensusState(x, copies, np.zeros_like(copies))

    def step(self, state: ConsensusState) -> tuple[ConsensusState, Info]:
        """Take one step in each block, and agree.

        The residuals are how far the copies are from the common point, and how far that moved,
        times rho.
        """
        penalty = Zero() if self.penalty is None else self.penalty
        copies = np.array(self._points.map(_ProximalPoint.__call__, list(state.x - state.u)))
        x = penalty.prox(self.weights @ (copies + state.u), 1 / self.rho)
        apart = copies - x
        primal = float(np.sqrt(self.weights @ (apart**2).sum(axis=1)))
        away = float(np.linalg.norm(x - state.x))
        info = Info(step=away, primal=primal, dual=self.rho * away)
        return ConsensusState(x, copies, state.u + apart), info


def consensus(
    functions: Sequence[Any],
    start: Any,
    penalty: Penalty | None = None,
    *,
    weights: Any = None,
    rho: float = 1.0,
    tol: float = 1e-6,
    max_iter: int = 10000,
    state: Any = None,
) -> Solution:
    r"""Minimise :math:`\sum_ip_if_i+h` where each function stays with its rows.

    The common point comes with :func:`certify_minimum` of the whole objective. Blocks in memory and
    the same blocks in Dask give the same bits.

    See :class:`Consensus` for the steps. The ``functions`` :math:`f_i`, in memory or delayed by
    Dask, have Hessians, such as those of :func:`row_blocks`. Their positive ``weights`` :math:`p_i`
    are divided by their sum, and equal by default; ``rho`` :math:`\rho` ties copies together and
    should be about the curvature of the functions. The other parameters are those of
    :func:`proximal_gradient`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import L1, consensus, row_blocks
    >>> functions, weights = row_blocks(np.eye(4)[:, :2], [3.0, 1.0, 0.0, 0.0], n_blocks=2)
    >>> solution = consensus(functions, [0.0, 0.0], L1(1.0), weights=weights, rho=0.5)
    >>> solution.x.round(3), solution.status  # S(6, 4) / 2 and S(2, 4) / 2
    (array([1., 0.]), 'optimal')
    """
    method = Consensus(functions, penalty, weights, rho)
    certify = partial(certify_minimum, method.objective, penalty=penalty)
    stop = Stop(residual=1e-3 * tol)
    return solve_by(method, start, certify, tol=tol, stop=stop, max_iter=max_iter, state=state)


def row_blocks(
    X: Any, y: Any, loss: LossLike = "square", *, n_blocks: int = 1
) -> tuple[list[Any], np.ndarray]:
    r"""Return the mean loss of each block of rows, as functions that :func:`consensus` takes.

    A block's loss is an :class:`EmpiricalRisk`, or the :class:`Quadratic` that it is for the square
    loss; rows of Dask arrays stay in their blocks. The weights that are returned, too, are shares
    of the rows: with them the sum is the mean loss of all rows.

    Parameters
    ----------
    X : array-like or Dask array of shape (n_samples, n_features)
        Rows :math:`x_i`.
    y : array-like or Dask array of shape (n_samples,)
        Truths, in the form that the loss takes.
    loss : str or Loss, default="square"
        A loss of one real prediction.
    n_blocks : int, default=1
        Number of blocks of an array in memory; Dask arrays keep theirs.

    Examples
    --------
    >>> from corollary.optimize import row_blocks
    >>> functions, weights = row_blocks([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0], n_blocks=2)
    >>> weights.round(3), functions[0].value([0.0])  # (1 + 4) / 2
    (array([0.667, 0.333]), 2.5)
    """
    if hasattr(X, "__dask_graph__"):
        import dask

        X = X.rechunk({1: -1})
        sizes = X.chunks[0]
        parts = X.to_delayed().ravel()
        if hasattr(y, "__dask_graph__"):
            truths: Any = y.rechunk((sizes,)).to_delayed().ravel()
        else:
            truths = np.split(np.asarray(y), np.cumsum(sizes)[:-1])
        make = dask.delayed(_block_risk)
        functions = [make(rows, truth, loss) for rows, truth in zip(parts, truths, strict=True)]
        return functions, np.array(sizes) / sum(sizes)
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    if not 1 <= n_blocks <= len(X) or y.shape != X.shape[:1]:
        raise ValueError(
            "row_blocks needs one truth for each row and between 1 block and one for each row. Got "
            f"shapes {X.shape} and {y.shape} and n_blocks = {n_blocks!r}."
        )
    bounds = np.array_split(np.arange(len(X)), n_blocks)
    functions = [_block_risk(X[rows], y[rows], loss) for rows in bounds]
    return functions, np.array([len(rows) for rows in bounds]) / len(X)


def _block_risk(X: np.ndarray, y: np.ndarray, loss: LossLike) -> Smooth:
    risk = EmpiricalRisk(X, y, loss)
    if not isinstance(risk.loss, SquareLoss):
        return risk
    n, truth = risk.n_terms, risk.y.astype(float)
    return Quadratic(2 / n * risk.X.T @ risk.X, -2 / n * risk.X.T @ truth, float(truth @ truth) / n)
