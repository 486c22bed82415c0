r"""Online gradient descent: steps against the slope of each round's loss, with regret bounds.

:math:`w_{t+1} = \Pi(w_t - \eta_t g_t)` with :math:`g_t` a subgradient of
:math:`\ell(y_t, \langle w, x_t \rangle)` at :math:`w_t` and :math:`\Pi` the projection on a ball.
Three schedules: a constant step, :math:`\eta / \sqrt t`, and AdaGrad, which has a step
:math:`\eta / \sqrt{\sum_s g_{s,j}^2}` of its own for every weight.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from corollary.core.estimator import Count, NonNegative, Positive, checked
from corollary.online.linear._codes import STEPS
from corollary.online.linear._learner import Comparison, LinearLearner
from corollary.online.linear._state import LinearSettings, LinearState, make_settings
from corollary.online.linear.perceptron import _mistake_bound
from corollary.online.protocol import Rounds
from corollary.risk import check_loss, sign


@checked
def ogd_rate(norm: Positive, radius: Positive, horizon: Count) -> float:
    r"""Return the constant step of gradient descent on the hinge loss for a known horizon.

    Parameters
    ----------
    norm : float
        U, largest length of a comparator.
    radius : float
        R, largest length of a row.
    horizon : int
        m, number of rounds.

    Returns
    -------
    eta : float
        :math:`U / (R \sqrt m)`.

    Examples
    --------
    >>> from corollary.online import ogd_rate
    >>> ogd_rate(2.0, 1.0, 100)
    0.2
    """
    return float(norm / (radius * np.sqrt(horizon)))


@checked
def ogd_regret_bound(norm: NonNegative, radius: NonNegative, horizon: Count) -> float:
    r"""Return the largest regret on the hinge loss with the step of :func:`ogd_rate`.

    Parameters
    ----------
    norm : float
        U, largest length of a comparator.
    radius : float
        R, largest length of a row.
    horizon : int
        m, number of rounds.

    Returns
    -------
    regret : float
        :math:`U R \sqrt m`; holds for any loss with slopes in [-1, 1], the logistic one too.

    Notes
    -----
    Guarantee: for every stream and every comparator of length at most U; checked by
    ``tests/online/test_gradient_descent.py::test_hinge_regret_against_the_best_in_the_ball``.

    Examples
    --------
    >>> from corollary.online import ogd_regret_bound
    >>> ogd_regret_bound(2.0, 1.0, 100)
    20.0
    """
    return float(norm * radius * np.sqrt(horizon))


def ogd_second_order_bound(norm: float, eta: float, squares: Any) -> Any:
    r"""Return the bound on the regret of constant steps that looks at the slopes met.

    .. math:: \sum_t \ell_t(w_t) - \ell_t(u) \le \frac{\|u\|^2}{2 \eta}
              + \frac{\eta}{2} \sum_t \|g_t\|^2

    Parameters
    ----------
    norm : float
        Length of the comparator u.
    eta : float
        The step.
    squares : float or ndarray
        :math:`\sum_t \|g_t\|^2`.

    Returns
    -------
    regret : float or ndarray
        The bound, for every convex loss.

    Notes
    -----
    Guarantee: for every stream and every comparator (inside the ball, if there is one); checked
    by ``tests/online/test_gradient_descent.py::test_bound_of_every_schedule``.

    Examples
    --------
    >>> from corollary.online import ogd_second_order_bound
    >>> ogd_second_order_bound(2.0, 0.2, 100.0)
    20.0
    """
    bound = norm**2 / (2 * eta) + eta / 2 * np.asarray(squares, dtype=float)
    return bound if bound.ndim else float(bound)


def ogd_decreasing_bound(diameter: float, last_eta: Any, squares: Any) -> Any:
    r"""Return the bound on the regret of steps that never grow.

    .. math:: \sum_t \ell_t(w_t) - \ell_t(u) \le \frac{D^2}{2 \eta_m}
              + \frac12 \sum_t \eta_t \|g_t\|^2, \qquad \|w_t - u\| \le D

    Parameters
    ----------
    diameter : float
        D; twice the radius, if weights and comparator lie in one ball.
    last_eta : float or ndarray
        :math:`\eta_m`, the step of the last round.
    squares : float or ndarray
        :math:`\sum_t \eta_t \|g_t\|^2`.

    Returns
    -------
    regret : float or ndarray
        The bound, for every convex loss.

    Notes
    -----
    Guarantee: checked by
    ``tests/online/test_gradient_descent.py::test_bound_of_every_schedule``.

    References
    ----------
    Zinkevich, Online convex programming and generalized infinitesimal gradient ascent, 2003.

    Examples
    --------
    >>> from corollary.online import ogd_decreasing_bound
    >>> ogd_decreasing_bound(2.0, 0.1, 10.0)
    25.0
    """
    bound = diameter**2 / (2 * np.asarray(last_eta)) + np.asarray(squares, dtype=float) / 2
    return bound if bound.ndim else float(bound)


def adagrad_regret_bound(diameter: float, eta: float, roots: Any) -> Any:
    r"""Return the bound on AdaGrad's regret.

    .. math:: \sum_t \ell_t(w_t) - \ell_t(u) \le
              \Bigl( \frac{D_\infty^2}{2 \eta} + \eta \Bigr) \sum_j \sqrt{\sum_t g_{t,j}^2},
              \qquad |w_{t,j} - u_j| \le D_\infty

    Parameters
    ----------
    diameter : float
        :math:`D_\infty`; twice the radius, if weights and comparator lie in one box.
    eta : float
        The step.
    roots : float or ndarray
        :math:`\sum_j \sqrt{\sum_t g_{t,j}^2}`.

    Returns
    -------
    regret : float or ndarray
        The bound, for every convex loss.

    Notes
    -----
    Guarantee: checked by
    ``tests/online/test_gradient_descent.py::test_bound_of_every_schedule``.

    References
    ----------
    Duchi, Hazan and Singer, Adaptive subgradient methods, 2011.

    Examples
    --------
    >>> from corollary.online import adagrad_regret_bound
    >>> adagrad_regret_bound(2.0, 1.0, 10.0)
    30.0
    """
    bound = (diameter**2 / (2 * eta) + eta) * np.asarray(roots, dtype=float)
    return bound if bound.ndim else float(bound)


@dataclass
class OnlineGradientDescent(LinearLearner):
    r"""Step against the slope of each round's loss.

    Rounds are rows, dense or CSR, and truths: labels -1 and 1 for the hinge and logistic losses,
    numbers for the square loss.

    Parameters
    ----------
    loss : {"hinge", "logistic", "square"}, default="hinge"
        What is suffered.
    step : {"constant", "sqrt", "adagrad"}, default="constant"
        Schedule: :math:`\eta`, :math:`\eta / \sqrt t`, or one step for every weight.
    eta : float, default=1.0
        Size of the step.
    radius : float or None, default=None
        Radius of the ball on which weights are projected; with ``step="adagrad"`` half the side
        of a box, whose projection is exact in AdaGrad's metric. None for no projection.
    conservative : bool, default=False
        Whether to learn from mistakes only (hinge loss, constant step); this makes the
        perceptron's predictions for any ``eta``.

    Attributes
    ----------
    state_ : LinearState
        Memory; ``weights_`` are the current weights.

    See Also
    --------
    ogd_second_order_bound : Recorded for constant steps.
    ogd_decreasing_bound : Recorded for steps that fall, inside a ball.
    adagrad_regret_bound : Recorded for AdaGrad, inside a box.

    Notes
    -----
    The bound needs a comparator, inside the ball if there is one; falling steps and AdaGrad need
    a ball or box, too. Otherwise it is infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.online import OnlineGradientDescent
    >>> rng = np.random.default_rng(0)
    >>> X, u = rng.uniform(-1, 1, size=(500, 2)), np.array([1.0, -1.0])
    >>> y = np.where(X @ u + 0.3 * rng.normal(size=500) > 0, 1, -1)
    >>> learner = OnlineGradientDescent(loss="logistic", step="sqrt", radius=2.0)
    >>> record = learner.run((X, y), comparator=u)
    >>> record.holds, bool(np.linalg.norm(learner.weights_) <= 2 + 1e-9)
    (True, True)
    """

    loss: str = "hinge"
    step: str = "constant"
    eta: float = 1.0
    radius: float | None = None
    conservative: bool = False
    state_: LinearState = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("loss", self.loss, ("hinge", "logistic", "square")),
            ("step", self.step, tuple(STEPS)),
        ):
            if value not in choices:
                raise ValueError(
                    f"The {name!r} parameter of OnlineGradientDescent must be a str among "
                    f"{list(choices)}. Got {value!r} instead."
                )
        for name, size in (("eta", self.eta), ("radius", self.radius)):
            if size is not None and not 0 < size < np.inf:
                raise ValueError(
                    f"The {name!r} parameter of OnlineGradientDescent must be a float in the "
                    f"range (0.0, inf). Got {size} instead."
                )
        if self.conservative and (self.loss, self.step, self.radius) != ("hinge", "constant", None):
            raise ValueError(
                "OnlineGradientDescent(conservative=True) needs loss='hinge', step='constant' and "
                f"no radius. Got loss={self.loss!r}, step={self.step!r} and radius={self.radius}."
            )

    @property
    def _signs(self) -> bool:  # type: ignore[override]
        return self.loss != "square"

    @property
    def measure(self) -> str:  # type: ignore[override]
        """What is bounded: mistakes if it learns from them only, else the regret."""
        return "mistakes" if self.conservative else "regret"

    @property
    def theorem(self) -> str:  # type: ignore[override]
        """The function that computes the bound."""
        if self.conservative:
            return "conservative_ogd_bound"
        names = {"sqrt": "ogd_decreasing_bound", "adagrad": "adagrad_regret_bound"}
        return names.get(self.step, "ogd_second_order_bound")

    def _settings(self) -> LinearSettings:
        loss = check_loss("perceptron" if self.conservative else self.loss)
        return make_settings(loss=loss, step=self.step, eta=self.eta, radius=self.radius)

    def _judge(
        self, X: Any, y: np.ndarray, scores: np.ndarray, slopes: np.ndarray, u: Comparison | None
    ) -> Rounds:
        loss = check_loss(self.loss)
        losses = loss(y, scores)
        mistakes = y * scores <= 0 if self._signs else np.zeros(len(y), dtype=bool)
        predictions = sign(scores) if self._signs else scores
        if self.conservative:
            return Rounds(predictions, losses, mistakes, *_mistake_bound(self, y, u))
        compared = np.full(len(y), np.nan)
        if u is not None:
            compared = self._running_sum("comparator", loss(y, u.scores))
        return Rounds(predictions, losses, mistakes, compared, self._bound(X, slopes, u))

    def _bound(self, X: Any, slopes: np.ndarray, u: Comparison | None) -> np.ndarray:
        m = len(slopes)
        radius = np.inf if self.radius is None else self.radius
        if u is None:
            return np.full(m, np.inf)
        if self.step == "adagrad":
            if not u.peak <= radius < np.inf:
                return np.full(m, np.inf)
            return adagrad_regret_bound(radius + u.peak, self.eta, self._roots(X, slopes))
        squares = slopes**2 * u.squares
        if self.step == "constant":
            if u.norm > radius:
                return np.full(m, np.inf)
            total = self._running_sum("squares", squares)
            return ogd_second_order_bound(u.norm, self.eta, total)
        if not u.norm <= radius < np.inf:
            return np.full(m, np.inf)
        etas = self.eta / np.sqrt(np.arange(self.n_rounds_ - m + 1, self.n_rounds_ + 1))
        total = self._running_sum("squares", etas * squares)
        return ogd_decreasing_bound(radius + u.norm, etas, total)

    def _roots(self, X: Any, slopes: np.ndarray) -> np.ndarray:
        """Return AdaGrad's sums after every round, which the loop does not keep."""
        rows = X.toarray() if sparse.issparse(X) else X
        squares = getattr(self, "_squares", np.zeros(X.shape[1]))
        roots = np.empty(len(slopes))
        for start in range(0, len(slopes), 4096):
            block = slice(start, start + 4096)
            terms = (slopes[block, None] * rows[block]) ** 2
            sums = np.cumsum(np.vstack([squares, terms]), axis=0)
            roots[block], squares = np.sqrt(sums[1:]).sum(axis=1), sums[-1]
        self._squares = squares
        return roots
