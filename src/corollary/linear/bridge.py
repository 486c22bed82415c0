r"""Bridge regression: least squares with an l_q penalty.

.. math:: \sum_i s_i (y_i - b - w^\top x_i)^2 + \lambda \sum_j |w_j|^q

For :math:`q = \infty` the sum of powers has no meaning and the penalty is
:math:`\lambda \max_j |w_j|`. q = 2 is ridge regression, q = 1 the lasso, q < 1 is not convex. It
is the posterior mode for noise of variance :math:`\sigma^2` and a prior density proportional to
:math:`\exp(-\lambda |w_j|^q / (2\sigma^2))`.
"""

import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from corollary.core.blas import one_blas_thread
from corollary.core.compat import Interval, Options, fit_context, validate_params
from corollary.core.estimator import check_new_data, check_training_data
from corollary.core.schema import Array, Instance, Integer, Number, Optional, Schema, Size, Strings

# Interval(..., None) stands for finite numbers; infinity is a choice of its own.
_POWER = [Interval(Real, 0, None, closed="neither"), Options(Real, {np.inf})]
# Epochs between two returns to Python, so that Ctrl-C works.
_EPOCHS = 100


@validate_params(
    {
        "coef": ["array-like"],
        "q": _POWER,
    },
    prefer_skip_nested_validation=True,
)
def lq_penalty(coef: Any, q: float) -> float:
    r"""Return :math:`\sum_j |w_j|^q`, or the largest modulus for infinite q.

    Parameters
    ----------
    coef : array-like of shape (n_features,)
        Coefficients w.
    q : float
        Power, positive; ``inf`` for the largest modulus.

    Returns
    -------
    penalty : float
        The penalty before it is multiplied by its strength.

    Examples
    --------
    >>> from corollary.linear import lq_penalty
    >>> lq_penalty([3.0, -4.0], 2.0), lq_penalty([3.0, -4.0], float("inf"))
    (25.0, 4.0)
    """
    size = np.abs(np.asarray(coef, dtype=np.float64))
    if np.isinf(q):
        return float(size.max(initial=0.0))
    return float(np.sum(size**q))


@validate_params(
    {
        "z": [Real],
        "penalty": [Interval(Real, 0, None, closed="left")],
        "q": [Interval(Real, 0, None, closed="neither")],
    },
    prefer_skip_nested_validation=True,
)
def bridge_threshold(z: float, penalty: float, q: float) -> float:
    r"""Minimise :math:`(u - z)^2 + \lambda |u|^q` over one number u.

    Parameters
    ----------
    z : float
        Value to shrink.
    penalty : float
        Strength :math:`\lambda`, not negative.
    q : float
        Power, positive and finite.

    Returns
    -------
    u : float
        A global minimiser, also for q < 1; zero in case of a tie.

    Examples
    --------
    >>> from corollary.linear import bridge_threshold
    >>> bridge_threshold(3.0, 2.0, 1.0), bridge_threshold(3.0, 2.0, 2.0)
    (2.0, 1.0)
    >>> bridge_threshold(0.9, 1.0, 0.5)
    0.0
    """
    if q == 1.0:
        return float(np.sign(z) * max(abs(z) - penalty / 2.0, 0.0))
    if q == 2.0:
        return float(z / (1.0 + penalty))
    from corollary.linear._bridge import scalar_minimiser

    return float(scalar_minimiser(1.0, float(z), float(penalty), float(q)))


@validate_params(
    {"q": _POWER, "n_points": [Interval(Integral, 4, None, closed="left")]},
    prefer_skip_nested_validation=True,
)
def lq_ball_boundary(q: float, *, n_points: int = 200) -> np.ndarray:
    r"""Return points of the plane with :math:`|u|^q + |v|^q = 1`, for drawing constraint sets.

    Parameters
    ----------
    q : float
        Power, positive; ``inf`` for the square :math:`\max(|u|, |v|) = 1`.
    n_points : int, default=200
        Number of points; the curve is closed by repeating the first.

    Returns
    -------
    points : ndarray of shape (n_points + 1, 2)
        The contour, anticlockwise from (1, 0).

    Examples
    --------
    >>> from corollary.linear import lq_ball_boundary
    >>> lq_ball_boundary(1.0, n_points=4).round(12) + 0.0
    array([[ 1.,  0.],
           [ 0.,  1.],
           [-1.,  0.],
           [ 0., -1.],
           [ 1.,  0.]])
    """
    angle = 2.0 * np.pi * np.arange(n_points + 1) / n_points
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    if np.isinf(q):
        return circle / np.abs(circle).max(axis=1, keepdims=True)
    return np.sign(circle) * np.abs(circle) ** (2.0 / q)


def project_l1_ball(z: Any, radius: float) -> np.ndarray:
    r"""Return the point of :math:`\|u\|_1 \le r` nearest to z.

    Parameters
    ----------
    z : array-like of shape (n_features,)
        A point.
    radius : float
        Radius r, not negative.

    Returns
    -------
    u : ndarray of shape (n_features,)
        Its projection: a soft threshold of z whose level makes the norm right.

    Examples
    --------
    >>> from corollary.linear import project_l1_ball
    >>> project_l1_ball([3.0, -1.0], 2.0)
    array([ 2., -0.])
    """
    if not radius >= 0.0:
        raise ValueError(
            f"The 'radius' parameter of project_l1_ball must be a float in the range [0.0, inf). "
            f"Got {radius} instead."
        )
    z = np.asarray(z, dtype=np.float64)
    size = np.abs(z)
    if size.sum() <= radius:
        return z.copy()
    ordered = np.sort(size)[::-1]
    levels = (np.cumsum(ordered) - radius) / np.arange(1, len(z) + 1)
    level = levels[np.flatnonzero(ordered > levels)[-1]] if radius > 0.0 else ordered[0]
    return np.sign(z) * np.maximum(size - level, 0.0)


class BridgeRegression(RegressorMixin, BaseEstimator):
    r"""Fit a linear model with an l_q penalty, for any q from near zero to infinity.

    Minimises :math:`\sum_i s_i (y_i - b - w^\top x_i)^2 + \lambda \sum_j |w_j|^q` (with
    :math:`\lambda \max_j |w_j|` for infinite q) over w and b; b is not penalised.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength :math:`\lambda`, positive. It multiplies a penalty on the sum of squares, not on
        their mean: ``Ridge(alpha)`` and ``Lasso(alpha / (2 * n_samples))`` solve the same problem
        for q = 2 and q = 1.
    q : float, default=1.5
        Power, positive; ``inf`` for the largest modulus.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    max_iter : int, default=10000
        Largest number of iterations.
    tol : float, default=1e-8
        Stop when an iteration changes the fit by less than this, relative to the target; for
        q = 1 and infinite q, when the duality gap is below ``tol**2`` times the square of y.
    n_starts : int, default=10
        Starting points if q < 1, where descent finds a local minimum only: zero, the lasso, ridge
        regression, then random points. The best result counts.
    random_state : int, RandomState or None, default=None
        Draws the random starting points.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    objective_ : float
        Value of what was minimised.
    n_iter_ : int
        Iterations used, from all starting points.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if they had any.
    fingerprint_ : Fingerprint
        Compact memory of the training rows.

    See Also
    --------
    Lasso : q = 1 for many columns.
    bridge_threshold : The solution for one column.

    Notes
    -----
    For q = 2 the answer is a closed form, for q = 1 it is that of :class:`Lasso`, for infinite q
    accelerated proximal gradient steps are taken (the proximal map of the largest modulus is what
    the projection on an l1 ball leaves over), and otherwise coordinates are minimised exactly in
    turn. For q >= 1 the answer is the global minimum; for q < 1 the best of several local ones.

    Examples
    --------
    >>> from corollary.linear import BridgeRegression
    >>> X, y = [[1.0], [-1.0]], [3.0, -3.0]
    >>> [float(BridgeRegression(alpha=4.0, q=q).fit(X, y).coef_[0]) for q in (1, 2)]
    [2.0, 1.0]
    """

    _parameter_constraints: dict = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "q": _POWER,
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_starts": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    _schema = Schema(
        coef_=Array("f", "d"),
        intercept_=Number(),
        objective_=Number(),
        n_iter_=Integer(0),
        n_features_in_=Size("d"),
        feature_names_in_=Optional(Strings("d")),
        fingerprint_=Optional(Instance("merge", "overlap")),
    )

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        q: float = 1.5,
        fit_intercept: bool = True,
        max_iter: int = 10000,
        tol: float = 1e-8,
        n_starts: int = 10,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.q = q
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.n_starts = n_starts
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Minimise the penalised sum of squares.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs.
        y : array-like of shape (n_samples,)
            Training targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights; a row of weight k counts as k rows.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        from corollary.linear._designs import prepare

        X, y, weight = check_training_data(
            self, X, y, sample_weight=sample_weight, y_numeric=True, finite_squares=True
        )
        n = len(y)
        total = float(n if weight is None else weight.sum())
        with one_blas_thread():
            prepared = prepare(X, np.asarray(y, np.float64)[:, None], weight, self.fit_intercept)
            # Weights were scaled to average one, so the penalty is scaled with them.
            self._minimise(prepared.design, prepared.Y[:, 0], self.alpha * n / total)
        self.objective_ *= total / n
        self.intercept_ = float(prepared.Y_mean[0] - prepared.X_mean @ self.coef_)
        return self

    def _minimise(self, design: Any, y: np.ndarray, penalty: float) -> None:
        Z = design.X
        gram, Zy, yy = Z.T @ Z, Z.T @ y, float(y @ y)
        p = len(Zy)
        done = True
        self.n_iter_ = 1
        if self.q == 2.0:
            self.coef_ = np.linalg.solve(gram + penalty * np.eye(p), Zy)
        elif self.q == 1.0:
            self.coef_, done = self._lasso(design, y, penalty)
        elif np.isinf(self.q):
            self.coef_, self.n_iter_, done = largest_modulus_penalty(
                gram, Zy, yy, penalty, tol=self.tol**2, max_iter=self.max_iter
            )
        else:
            starts = [np.zeros(p)]
            if self.q < 1.0:
                starts = self._starts(design, y, gram, Zy, penalty)
            found = [self._descend(gram, Zy, yy, penalty, start) for start in starts]
            values = [value for _, value, _, _ in found]
            self.coef_, _, _, done = found[int(np.argmin(values))]
            self.n_iter_ = sum(n_iter for _, _, n_iter, _ in found)
        residual = y - Z @ self.coef_
        self.objective_ = float(residual @ residual) + penalty * lq_penalty(self.coef_, self.q)
        if not done:
            warnings.warn(
                f"BridgeRegression did not reach tol={self.tol} within max_iter={self.max_iter} "
                "iterations. Raise max_iter or tol, or bring the features to the same scale.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _lasso(self, design: Any, y: np.ndarray, penalty: float) -> tuple[np.ndarray, bool]:
        from corollary.linear._working_set import WorkingSetSolver

        solver = WorkingSetSolver(design, y)
        tol = max(self.tol**2, 1e-14)
        found = solver.solve(penalty / 2.0, 0.0, tol=tol, max_iter=self.max_iter)
        self.n_iter_ = found.n_iter
        return found.coef, found.converged

    def _starts(
        self, design: Any, y: np.ndarray, gram: np.ndarray, Zy: np.ndarray, penalty: float
    ) -> list[np.ndarray]:
        """Zero, the lasso, ridge regression, and random points of least squares' size."""
        p = len(Zy)
        small = 1e-8 * max(float(np.trace(gram)) / p, 1e-300)
        free = np.linalg.solve(gram + small * np.eye(p), Zy)
        ridge = np.linalg.solve(gram + penalty * np.eye(p), Zy)
        starts = [np.zeros(p), self._lasso(design, y, penalty)[0], free, ridge]
        rng = check_random_state(self.random_state)
        while len(starts) < self.n_starts:
            starts.append(free * rng.binomial(1, 0.5, size=p) * rng.uniform(0.5, 2.0, size=p))
        return starts[: self.n_starts]

    def _descend(
        self, gram: np.ndarray, Zy: np.ndarray, yy: float, penalty: float, start: np.ndarray
    ) -> tuple[np.ndarray, float, int, bool]:
        from corollary.linear._bridge import bridge_epochs

        w = start.copy()
        correlation = Zy - gram @ w
        n_iter, goal = 0, self.tol * np.sqrt(yy)
        done = False
        while not done and n_iter < self.max_iter:
            budget = min(_EPOCHS, self.max_iter - n_iter)
            used = int(
                bridge_epochs(gram, correlation, w, penalty, float(self.q), goal, budget + 1)
            )
            done = used <= budget
            n_iter += min(used, budget)
        value = yy - float((Zy + correlation) @ w) + penalty * lq_penalty(w, self.q)
        return w, value, n_iter, done

    def predict(self, X: Any) -> np.ndarray:
        """Predict targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted targets.
        """
        X = check_new_data(self, X)
        return np.asarray(X @ self.coef_) + self.intercept_


def largest_modulus_penalty(
    gram: Any,
    Xy: Any,
    yy: float,
    penalty: float,
    *,
    tol: float = 1e-16,
    max_iter: int = 10000,
) -> tuple[np.ndarray, int, bool]:
    r"""Minimise :math:`\|y - Xw\|^2 + \lambda \max_j |w_j|` by accelerated proximal gradient.

    Parameters
    ----------
    gram : array-like of shape (n_features, n_features)
        :math:`X^\top X`.
    Xy : array-like of shape (n_features,)
        :math:`X^\top y`.
    yy : float
        :math:`y^\top y`.
    penalty : float
        Strength :math:`\lambda`, not negative.
    tol : float, default=1e-16
        Stop when the duality gap is at most ``tol * yy``, or when rounding hides it.
    max_iter : int, default=10000
        Largest number of iterations.

    Returns
    -------
    coef : ndarray of shape (n_features,)
        The minimiser.
    n_iter : int
        Iterations used.
    converged : bool
        Whether the gap was reached.

    Notes
    -----
    Guarantee: on convergence the objective is within ``max(tol, 1e-13) * yy`` of its minimum,
    checked by ``tests/linear/test_bridge.py::test_largest_modulus_against_a_general_solver``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import largest_modulus_penalty
    >>> largest_modulus_penalty(np.eye(2), [3.0, 1.0], 10.0, 2.0)[0].round(6)
    array([2., 1.])
    """
    gram = check_array(gram, dtype=np.float64, input_name="gram")
    Xy = np.asarray(Xy, dtype=np.float64)
    half = penalty / 2.0  # of |y - Xw|^2 / 2 + half max|w|
    step = 1.0 / max(float(np.linalg.eigvalsh(gram)[-1]), 1e-300)
    w = v = np.zeros(len(Xy))
    momentum = 1.0
    for n_iter in range(1, max_iter + 1):
        moved = v + step * (Xy - gram @ v)
        new = moved - project_l1_ball(moved, step * half)
        if float((v - new) @ (new - w)) > 0.0:  # momentum points uphill: drop it
            momentum = 1.0
            moved = w + step * (Xy - gram @ w)
            new = moved - project_l1_ball(moved, step * half)
        ahead = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        v = new + (momentum - 1.0) / ahead * (new - w)
        stalled = bool(np.all(np.abs(new - w) <= 1e-15 * np.abs(new)))
        w, momentum = new, ahead
        correlation = Xy - gram @ w
        rr = max(yy - float((Xy + correlation) @ w), 0.0)
        ry = yy - float(Xy @ w)
        # The dual of the largest modulus is the l1 norm: scale the residual into its ball.
        scale = min(1.0, half / max(float(np.abs(correlation).sum()), 1e-300))
        primal = 0.5 * rr + half * float(np.abs(w).max(initial=0.0))
        gap = primal - (scale * ry - 0.5 * scale**2 * rr)
        if gap <= max(tol, 1e-13) * yy or stalled:
            return w, n_iter, True
    return w, max_iter, False
