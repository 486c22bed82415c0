r"""Coordinate descent for the lasso and the elastic net, with a duality gap.

.. math:: \min_w\tfrac12\|y-Xw\|^2+\lambda\|w\|_1+\tfrac\mu2\|w\|^2

One coordinate at a time has a closed form, a soft threshold:
:math:`w_j\leftarrow S(x_j^\top(y-X_{-j}w_{-j}),\lambda)/(\|x_j\|^2+\mu)`.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from corollary.optimize.coordinate.gap import elastic_net_gap
from corollary.optimize.coordinate.preparation import prepare_columns
from corollary.optimize.coordinate.working_set import WorkingSetSolver
from corollary.optimize.iteration.driver import Iteration
from corollary.optimize.iteration.stopping import Info
from corollary.optimize.optimality import Optimality
from corollary.optimize.solution import Solution


class CoordinateState(NamedTuple):
    """Where coordinate descent is: the point and the residual there."""

    x: np.ndarray
    residual: np.ndarray


@dataclass(frozen=True, eq=False)
class CoordinateDescent(Iteration[CoordinateState]):
    """Sweeps over all coordinates, each moved to its minimum.

    No sweep raises the objective. A column of zeros keeps its coefficient. See :class:`Iteration`,
    and :func:`coordinate_descent`, which is faster and has a certificate, for the parameters.

    Examples
    --------
    >>> from corollary.optimize import CoordinateDescent, iterate
    >>> method = CoordinateDescent([[2.0, 0.0], [0.0, 1.0]], [4.0, 0.5], 2.0)
    >>> iterate(method, [0.0, 0.0], max_iter=1).state.x  # S(8, 2) / 4 and S(0.5, 2) / 1
    array([1.5, 0. ])
    """

    X: Any
    y: Any
    l1: float
    l2: float = 0.0
    positive: bool = False

    def __post_init__(self) -> None:
        X, y = _checked("CoordinateDescent", self.X, self.y, self.l1, self.l2)
        if sparse.issparse(X):
            X = X.toarray()
        object.__setattr__(self, "X", np.asfortranarray(X))
        object.__setattr__(self, "y", y)

    def init(self, start: Any) -> CoordinateState:
        """Return the first point with the residual there."""
        w = np.array(start, dtype=float)
        if w.shape != self.X.shape[1:]:
            raise ValueError(
                f"CoordinateDescent needs a start of shape {self.X.shape[1:]}. Got {w.shape}."
            )
        if self.positive:
            w = np.maximum(w, 0.0)
        return CoordinateState(w, self.y - self.X @ w)

    def step(self, state: CoordinateState) -> tuple[CoordinateState, Info]:
        """Sweep once over all coordinates; the info has objective and length of the way."""
        from corollary.optimize._loops.coordinate_descent import dense_epochs

        w, residual = state.x.copy(), state.residual.copy()
        squares = np.einsum("ij,ij->j", self.X, self.X)
        every, last = np.arange(len(w)), np.zeros((1, len(w)))
        penalty = (float(self.l1), float(self.l2), self.positive)
        dense_epochs(self.X, squares, every, residual, w, last, *penalty)
        value = 0.5 * (residual @ residual) + self.l1 * np.abs(w).sum() + 0.5 * self.l2 * (w @ w)
        info = Info(value=float(value), step=float(np.linalg.norm(w - state.x)))
        return CoordinateState(w, residual), info


def certify_elastic_net(
    X: Any, y: Any, w: Any, l1: float, l2: float = 0.0, *, positive: bool = False
) -> Optimality:
    r"""Compute what is proved about coefficients ``w`` of lasso or elastic net.

    The objective has a lower bound by duality. With r the residual, the residuals say how far
    :math:`|x_j^\top r-\mu w_j|\le\lambda`, with equality and the sign of :math:`w_j` where that is
    not 0, is violated. See :class:`Optimality`, and :func:`coordinate_descent` for the parameters.

    Examples
    --------
    >>> from corollary.optimize import certify_elastic_net
    >>> print(certify_elastic_net([[1.0], [1.0]], [2.0, 2.0], [1.0], 2.0))
    The value 3 is at most 0 above the least one: a dual point proves it.
    """
    X, y = _checked("certify_elastic_net", X, y, l1, l2)
    w = np.asarray(w, dtype=float)
    if w.shape != X.shape[1:]:
        raise ValueError(f"certify_elastic_net needs w of shape {X.shape[1:]}. Got {w.shape}.")
    r = y - X @ w
    correlation = np.asarray(X.T @ r)
    rr, ry = float(r @ r), float(r @ y)
    value = 0.5 * rr + l1 * float(np.abs(w).sum()) + 0.5 * l2 * float(w @ w)
    gap = elastic_net_gap(rr, ry, correlation, w, l1, l2, positive)
    slope = correlation - l2 * w
    resting = slope - l1 if positive else np.abs(slope) - l1
    violation = np.where(w == 0, np.maximum(resting, 0.0), np.abs(slope - l1 * np.sign(w)))
    return Optimality(
        value=value,
        lower_bound=value - gap,
        violation=max(0.0, -float(w.min())) if positive else 0.0,
        proof="duality",
        residuals={"conditions": float(violation.max())},
    )


def coordinate_descent(
    X: Any,
    y: Any,
    l1: float,
    l2: float = 0.0,
    *,
    positive: bool = False,
    start: Any = None,
    tol: float = 1e-6,
    max_iter: int = 10000,
) -> Solution:
    r"""Minimise :math:`\tfrac12\|y-Xw\|^2+\lambda\|w\|_1+\tfrac\mu2\|w\|^2` by coordinate descent.

    The sweeps are those of a :class:`WorkingSetSolver`: over few features, extrapolated. The
    coefficients come with :func:`certify_elastic_net` there.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Targets.
    l1 : float
        Strength :math:`\lambda`; that of scikit-learn's ``Lasso`` times the number of rows.
    l2 : float, default=0.0
        Strength :math:`\mu`.
    positive : bool, default=False
        Whether coefficients must not be negative.
    start : array-like of shape (n_features,) or None, default=None
        First point; None for zeros.
    tol : float, default=1e-6
        Duality gap to stop at, relative to the larger of 1 and the size of the value.
    max_iter : int, default=10000
        Largest number of sweeps.

    Examples
    --------
    >>> from corollary.optimize import coordinate_descent
    >>> solution = coordinate_descent([[2.0, 0.0], [0.0, 1.0]], [4.0, 0.5], 2.0)
    >>> solution.x, solution.status
    (array([1.5, 0. ]), 'optimal')
    """
    X, y = _checked("coordinate_descent", X, y, l1, l2)
    begin = None if start is None else np.asarray(start, dtype=float)
    if begin is not None and begin.shape != X.shape[1:]:
        raise ValueError(
            f"coordinate_descent needs a start of shape {X.shape[1:]}. Got {begin.shape}."
        )
    prepared = prepare_columns(X, y[:, None])
    solver = WorkingSetSolver(prepared.design, prepared.Y[:, 0], positive=positive, start=begin)
    # The solver's tolerance is a share of |y|^2; the wanted one is relative to the value.
    square = max(solver.yy, np.finfo(float).tiny)
    share, n_iter = tol * max(1.0, 0.5 * square) / square, 0
    while True:
        solved = solver.solve(float(l1), float(l2), tol=share, max_iter=max_iter - n_iter)
        n_iter += solved.n_iter
        certificate = certify_elastic_net(X, y, solved.coef, l1, l2, positive=positive)
        optimal = certificate.is_optimal(tol)
        if optimal or n_iter >= max_iter or not solved.converged:
            break
        share = 0.9 * tol * max(1.0, certificate.value) / square
    reason = "" if optimal else "rounding is all that is left" if n_iter < max_iter else "max_iter"
    return Solution(
        x=solved.coef,
        value=certificate.value,
        certificate=certificate,
        status="optimal" if optimal else "out of steps" if n_iter >= max_iter else "failed",
        n_iter=n_iter,
        reason=reason,
    )


def _checked(who: str, X: Any, y: Any, l1: float, l2: float) -> tuple[Any, np.ndarray]:
    """Return both as arrays of doubles, X perhaps sparse."""
    X = X.astype(float) if sparse.issparse(X) else np.asarray(X, dtype=float)
    y = np.array(y, dtype=float)
    if X.ndim != 2 or y.shape != X.shape[:1] or 0 in X.shape:
        raise ValueError(
            f"{who} needs a matrix X with at least one row and column and one target for each row. "
            f"Got shapes {X.shape} and {y.shape}."
        )
    numbers = X.data if sparse.issparse(X) else X
    if not (np.isfinite(numbers).all() and np.isfinite(y).all()):
        raise ValueError(f"{who} needs finite numbers. X or y holds NaN or infinity.")
    if not (0 <= l1 < math.inf and 0 <= l2 < math.inf):
        raise ValueError(
            f"{who} needs strengths in the range [0, inf). Got l1 = {l1!r} and l2 = {l2!r}."
        )
    return X, y
