"""Bridge regression as an estimator."""

import warnings
from dataclasses import KW_ONLY
from numbers import Real
from typing import Annotated, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from corollary.core.compat import Interval, Options
from corollary.core.estimator import Count, NonNegative, Positive, RandomSeed, fitted
from corollary.core.parallel import one_blas_thread
from corollary.core.schema import Integer, Number
from corollary.linear._regressor import LinearRegressor
from corollary.linear.bridge.penalties import largest_modulus_penalty, lq_penalty

# Epochs between two returns to Python, so that Ctrl-C works.
_EPOCHS = 100


class BridgeRegression(LinearRegressor):
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

    alpha: Positive = 1.0
    _: KW_ONLY
    # An interval without an end holds finite numbers; infinity is a choice of its own.
    q: Annotated[float, Interval(Real, 0, None, closed="neither"), Options(Real, {np.inf})] = 1.5
    fit_intercept: bool = True
    max_iter: Count = 10000
    tol: NonNegative = 1e-8
    n_starts: Count = 10
    random_state: RandomSeed = None

    objective_: float = fitted(Number(infinite=True))
    n_iter_: int = fitted(Integer(0))

    def _fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        from corollary.optimize import prepare_columns

        n = len(y)
        total = float(n if sample_weight is None else sample_weight.sum())
        with one_blas_thread():
            prepared = prepare_columns(X, y[:, None], sample_weight, self.fit_intercept)
            # Weights were scaled to average one, so the penalty is scaled with them.
            self._minimise(prepared.design, prepared.Y[:, 0], self.alpha * n / total)
        self.objective_ *= total / n
        self.intercept_ = float(prepared.Y_mean[0] - prepared.X_mean @ self.coef_)

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
            ends = [self._descend(gram, Zy, yy, penalty, start) for start in starts]
            values = [value for _, value, _, _ in ends]
            self.coef_, _, _, done = ends[int(np.argmin(values))]
            self.n_iter_ = sum(n_iter for _, _, n_iter, _ in ends)
        residual = y - Z @ self.coef_
        self.objective_ = float(residual @ residual) + penalty * lq_penalty(self.coef_, self.q)
        if not done:
            warnings.warn(
                f"BridgeRegression did not reach tol={self.tol} within max_iter={self.max_iter} "
                "iterations. Raise max_iter or tol, or bring the features to the same scale.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _lasso(self, design: Any, y: np.ndarray, penalty: float) -> tuple[np.ndarray, bool]:
        from corollary.optimize import WorkingSetSolver

        solver = WorkingSetSolver(design, y)
        tol = max(self.tol**2, 1e-14)
        solution = solver.solve(penalty / 2.0, 0.0, tol=tol, max_iter=self.max_iter)
        self.n_iter_ = solution.n_iter
        return solution.coef, solution.converged

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
        from corollary.linear._loops.bridge import bridge_epochs

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
