"""Least squares with an l1 penalty by working sets, stopped by the duality gap.

One solve at (l1, l2) repeats: minimise over a small set of features by coordinate descent; look
at all features; if the duality gap of the full problem is small enough, stop, else admit the
features that violate optimality most. What makes it fast:

* epochs run on the Gram matrix of the working set, which grows with it along a path, so that an
  epoch does not depend on the number of rows (on the columns themselves once the Gram matrix
  would outgrow the data);
* every few epochs the iterates are extrapolated (Anderson acceleration), and when epochs have
  cost as much as one would, a Newton step on the support with an exact line search is taken;
* along a path the next solution and the next correlations are predicted linearly (the lasso
  path is piecewise linear), so that one look at all features per penalty is the rule;
* a look skips every feature whose correlation cannot have reached the threshold: it moves by at
  most the column's norm times the movement of the residual. This test is exact.
"""

from typing import NamedTuple

import numpy as np

from corollary.optimize.coordinate._designs import Design, Shrinkage
from corollary.optimize.coordinate._models import ColumnModel, GramModel
from corollary.optimize.coordinate.gap import elastic_net_gap

# Epochs between two returns to Python, which are the iterates of one extrapolation.
_EPOCHS = 5
# Inner problems are solved to this share of the tolerance, so that the outer check passes.
_INNER_SHARE = 0.7
# With no more features than this, all of them are the working set.
_SMALL = 256
# A Gram matrix of this order (128 MB) is accepted however small the data, if they have the rows.
_GRAM_ORDER = 4096


class _Solved(NamedTuple):
    """What one solve reached."""

    coef: np.ndarray
    gap: float
    n_iter: int
    converged: bool


class WorkingSetSolver:
    """Solve lasso and elastic net for one penalty after another, warm-started.

    Parameters
    ----------
    design : object
        The columns, from :func:`prepare_columns`.
    y : ndarray of shape (n_samples,)
        Targets, prepared with them.
    positive : bool, default=False
        Whether coefficients must not be negative.
    start : ndarray of shape (n_features,) or None, default=None
        Coefficients to begin with; None for zeros.
    gram_order : int, default=4096
        A Gram matrix is kept up to this order, or that of a matrix of the size of the data, but not
        beyond twice the number of rows.

    See Also
    --------
    coordinate_descent : One problem, with a certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import WorkingSetSolver, prepare_columns
    >>> prepared = prepare_columns(np.array([[1.0], [-1.0]]), np.array([[2.0], [-2.0]]))
    >>> solver = WorkingSetSolver(prepared.design, prepared.Y[:, 0])
    >>> solver.solve(2.0, 0.0, tol=1e-10, max_iter=100).coef
    array([1.])
    """

    def __init__(
        self,
        design: Design,
        y: np.ndarray,
        *,
        positive: bool = False,
        start: np.ndarray | None = None,
        gram_order: int = _GRAM_ORDER,
    ) -> None:
        p = design.shape[1]
        self.design, self.y, self.positive = design, np.ascontiguousarray(y), positive
        self.yy = float(y @ y)
        self.norms = np.sqrt(design.squares)
        self.everything = np.arange(p)
        # A product with a column is cheaper than one with a row of a Gram matrix that is far wider.
        self.gram_order = min(
            max(gram_order, int(np.sqrt(design.nbytes / 8))), max(2 * design.shape[0], _SMALL)
        )
        # The correlation of feature j was computed when the residual had travelled seen[j].
        self.correlation = np.zeros(p)
        self.seen = np.zeros(p)
        self.travelled = 0.0
        design.correlate(self.y, self.everything, self.correlation)
        self.residual = self.y
        self.model: GramModel | ColumnModel = GramModel(design, self.y, self.correlation.copy())
        self.inside = np.zeros(p, dtype=bool)
        self.coef = np.zeros(p)
        self.l1: float | None = None
        self.before: tuple[float, np.ndarray, np.ndarray] | None = None
        if p <= _SMALL:
            self._admit(self.everything, self.coef)
        if start is not None:
            self.coef = np.array(start, dtype=np.float64)
            if positive:
                np.maximum(self.coef, 0.0, out=self.coef)
            self._admit(np.flatnonzero((self.coef != 0.0) & ~self.inside), self.coef)
            self._look(self._weights(self.coef), np.inf)

    def solve(self, l1: float, l2: float, *, tol: float, max_iter: int) -> _Solved:
        r"""Minimise :math:`\tfrac12\|y-Xw\|^2+\lambda_1\|w\|_1+\tfrac12\lambda_2\|w\|^2`.

        Parameters
        ----------
        l1, l2 : float
            Strengths of the penalties.
        tol : float
            It stops when the duality gap is at most this times :math:`\|y\|^2`.
        max_iter : int
            It stops after so many epochs.

        Returns
        -------
        solved : named tuple
            ``coef``, the duality ``gap``, ``n_iter`` and ``converged``.
        """
        penalty = Shrinkage(l1, l2, self.positive)
        goal = tol * self.yy
        start, violating, coef, correlation = self._predict(l1)
        share, n_iter, rounds = _INNER_SHARE, 0, 0
        gap = np.inf
        while True:
            limit = max(100, 2 * int(np.count_nonzero(start)))
            candidates = np.flatnonzero(violating & ~self.inside)
            target = share * goal
            if rounds and len(candidates):
                target = max(target, 0.1 * gap)
            if len(candidates) > limit:
                order = np.argsort(-np.abs(self.correlation[candidates]), kind="stable")
                candidates = np.sort(candidates[order[:limit]])
                if rounds == 0:
                    rr, ry = self.residual @ self.residual, self.residual @ self.y
                    gap = elastic_net_gap(rr, ry, self.correlation, self.coef, *penalty)
                # More features will follow: precision now would be wasted.
                target = max(target, 0.1 * gap)
            self._admit(candidates, start)
            w = self._weights(start)
            used = self._descend(w, penalty, target, max_iter - n_iter)
            n_iter, rounds = n_iter + used, rounds + 1
            start = np.zeros(len(start))
            start[self.model.features] = w
            gap = self._look(w, l1, penalty)
            if gap <= goal or n_iter >= max_iter:
                break
            slope = self.correlation - l2 * start
            violating = (slope if self.positive else np.abs(slope)) > l1
            if target == share * goal and not (violating & ~self.inside).any():
                share *= 0.3
                if share * goal < 1e-17 * self.yy:  # rounding is all that is left
                    break
        if self.l1 is not None and self.l1 != l1:
            self.before = (self.l1, coef, correlation)
        self.l1, self.coef = l1, start
        return _Solved(start, gap, n_iter, gap <= goal)

    def _predict(self, l1: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Where to start, which features to admit, and copies of the present state."""
        coef, correlation = self.coef, self.correlation.copy()
        start, reach = coef, correlation if self.positive else np.abs(correlation)
        if self.before is not None and self.l1 is not None:
            l1_before, coef_before, correlation_before = self.before
            ratio = (l1 - self.l1) / (self.l1 - l1_before)
            if 0.0 < ratio < 2.0:
                start = coef + ratio * (coef - coef_before)
                start[np.sign(start) != np.sign(coef)] = 0.0
                ahead = correlation + ratio * (correlation - correlation_before)
                reach = np.maximum(reach, ahead if self.positive else np.abs(ahead))
        return start, reach >= l1, coef, correlation

    def _weights(self, coef: np.ndarray) -> np.ndarray:
        return coef[self.model.features]

    def _admit(self, features: np.ndarray, coef: np.ndarray) -> None:
        """Add features to the working set, which holds the support of ``coef``."""
        if len(features) == 0:
            return
        total = len(self.model.features) + len(features)
        if isinstance(self.model, GramModel) and total > self.gram_order:
            support = np.flatnonzero(coef)
            self.model = ColumnModel(self.design, self.y)
            self.model.admit(support)
            features = np.setdiff1d(features, support)
            self.inside[:] = False
            self.inside[support] = True
        self.model.admit(features)
        self.inside[features] = True

    def _descend(self, w: np.ndarray, penalty: Shrinkage, target: float, max_epochs: int) -> int:
        """Minimise over the working set until its duality gap is below target; update w."""
        if len(w) == 0:
            return 0
        model = self.model
        model.move_to(w)
        iterates = np.zeros((_EPOCHS + 1, len(w)))
        epochs, spent = 0, 0.0
        while True:
            iterates[0] = w
            model.epochs(w, iterates[1:], penalty)
            epochs += _EPOCHS
            rr, ry, correlation = model.numbers(w)
            if elastic_net_gap(rr, ry, correlation, w, *penalty) <= target or epochs >= max_epochs:
                return min(epochs, max_epochs)
            spent += _EPOCHS * np.count_nonzero(w) * len(w)
            if spent > model.newton_price(w):
                spent = 0.0
                if model.newton(w, penalty):
                    continue
            self._extrapolate(w, iterates, penalty, _objective(rr, w, penalty))

    def _extrapolate(
        self, w: np.ndarray, iterates: np.ndarray, penalty: Shrinkage, objective: float
    ) -> None:
        """Replace w by the affine combination of iterates with the smallest step, if better."""
        steps = np.diff(iterates, axis=0)
        largest = float(np.abs(steps).max(initial=0.0))
        if largest == 0.0 or not np.isfinite(largest):
            return
        # A power of two changes no digit, and squares of tiny steps would vanish.
        steps = np.ldexp(steps, -int(np.frexp(largest)[1]))
        products = steps @ steps.T
        size = float(np.trace(products))
        products.flat[:: _EPOCHS + 1] += 1e-12 * size
        weights = np.linalg.solve(products, np.ones(_EPOCHS))
        trial = (weights / weights.sum()) @ iterates[1:]
        if self.positive:
            np.maximum(trial, 0.0, out=trial)
        if not np.isfinite(trial).all():
            return
        state = self.model.state
        self.model.move_to(trial)
        if _objective(self.model.numbers(trial)[0], trial, penalty) < objective:
            w[:] = trial
        else:
            self.model.state = state

    def _look(self, w: np.ndarray, l1: float, penalty: Shrinkage | None = None) -> float:
        """Compute the residual, the correlations that may matter, and the full duality gap."""
        residual = self.model.residual(w)
        self.travelled += float(np.linalg.norm(residual - self.residual))
        self.residual = residual
        if penalty is None:
            chosen = self.everything
        else:
            reach = self.correlation if self.positive else np.abs(self.correlation)
            reach = reach + self.norms * (self.travelled - self.seen)
            # The margin is far above what rounding does to any of these sums.
            chosen = np.flatnonzero((reach >= (1.0 - 1e-9) * l1) | self.inside)
        self.design.correlate(residual, chosen, self.correlation)
        self.seen[chosen] = self.travelled
        if penalty is None:
            return np.inf
        coef = np.zeros(len(self.norms))
        coef[self.model.features] = w
        rr, ry = float(residual @ residual), float(residual @ self.y)
        return elastic_net_gap(rr, ry, self.correlation[chosen], coef[chosen], *penalty)


def _objective(rr: float, w: np.ndarray, penalty: Shrinkage) -> float:
    return 0.5 * rr + penalty.l1 * float(np.abs(w).sum()) + 0.5 * penalty.l2 * float(w @ w)
