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

import numpy as np

from corollary.linear.sparse._designs import Design, Penalty
from corollary.linear.sparse._models import ColumnModel, GramModel
from corollary.linear.sparse._records import Solution

# Epochs between two returns to Python, which are the iterates of one extrapolation.
EPOCHS = 5
# Inner problems are solved to this share of the tolerance, so that the outer check passes.
INNER_SHARE = 0.7
# With no more features than this, all of them are the working set.
SMALL = 256
# A Gram matrix of this order (128 MB) is accepted whatever the size of the data.
GRAM_ORDER = 4096


def duality_gap(
    rr: float, ry: float, correlation: np.ndarray, w: np.ndarray, penalty: Penalty
) -> float:
    """Bound how far the objective at w is from its minimum.

    With residual r = y - X w, ``rr`` is r'r, ``ry`` is r'y and ``correlation`` is X'r. Two dual
    points are tried: r scaled into the feasible set of the problem in which the squared l2
    penalty is written as more rows of data, and, if l2 > 0, r itself in the dual in which that
    penalty stays a penalty and which has no constraints.
    """
    l1, l2, positive = penalty
    ww = float(w @ w)
    primal = 0.5 * rr + l1 * float(np.abs(w).sum()) + 0.5 * l2 * ww
    slope = correlation - l2 * w if l2 else correlation
    if len(slope) == 0:
        largest = 0.0
    else:
        largest = float(slope.max() if positive else max(slope.max(), -slope.min()))
    dual = 0.0
    square = rr + l2 * ww
    if square > 0.0:
        limit = l1 / max(largest, l1) if l1 > 0.0 else 0.0
        scale = min(max(ry / square, 0.0), limit)
        dual = scale * ry - 0.5 * scale**2 * square
    if l2 > 0.0:
        excess = (correlation if positive else np.abs(correlation)) - l1
        excess = excess[excess > 0.0]
        dual = max(dual, ry - 0.5 * rr - float(excess @ excess) / (2.0 * l2))
    return max(primal - dual, 0.0)


class WorkingSetSolver:
    """Solve one problem for one penalty after another, warm-started.

    The columns of the design and y are centred and weighted. A Gram matrix is kept up to the order
    ``gram_order``, whatever the size of the data.
    """

    def __init__(
        self,
        design: Design,
        y: np.ndarray,
        *,
        positive: bool = False,
        start: np.ndarray | None = None,
        gram_order: int = GRAM_ORDER,
    ) -> None:
        p = design.shape[1]
        self.design, self.y, self.positive = design, np.ascontiguousarray(y), positive
        self.yy = float(y @ y)
        self.norms = np.sqrt(design.squares)
        self.everything = np.arange(p)
        self.gram_order = max(gram_order, int(np.sqrt(design.nbytes / 8)))
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
        if p <= SMALL:
            self._admit(self.everything, self.coef)
        if start is not None:
            self.coef = np.array(start, dtype=np.float64)
            if positive:
                np.maximum(self.coef, 0.0, out=self.coef)
            self._admit(np.flatnonzero((self.coef != 0.0) & ~self.inside), self.coef)
            self._look(self._weights(self.coef), np.inf)

    def solve(self, l1: float, l2: float, *, tol: float, max_iter: int) -> Solution:
        """Minimise |y - X w|^2 / 2 + l1 |w|_1 + l2 |w|^2 / 2.

        Stops when the duality gap is at most ``tol * |y|^2`` or after ``max_iter`` epochs.
        """
        penalty = Penalty(l1, l2, self.positive)
        goal = tol * self.yy
        start, violating, coef, correlation = self._predict(l1)
        share, n_iter, rounds = INNER_SHARE, 0, 0
        gap = np.inf
        while True:
            limit = max(100, 2 * int(np.count_nonzero(start)))
            candidates = np.flatnonzero(violating & ~self.inside)
            target = share * goal
            if len(candidates) > limit:
                order = np.argsort(-np.abs(self.correlation[candidates]), kind="stable")
                candidates = np.sort(candidates[order[:limit]])
                if rounds == 0:
                    rr, ry = self.residual @ self.residual, self.residual @ self.y
                    gap = duality_gap(rr, ry, self.correlation, self.coef, penalty)
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
        return Solution(start, gap, n_iter, gap <= goal)

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

    def _descend(self, w: np.ndarray, penalty: Penalty, target: float, max_epochs: int) -> int:
        """Minimise over the working set until its duality gap is below target; update w."""
        if len(w) == 0:
            return 0
        model = self.model
        model.move_to(w)
        iterates = np.zeros((EPOCHS + 1, len(w)))
        epochs, spent = 0, 0.0
        while True:
            iterates[0] = w
            model.epochs(w, iterates[1:], penalty)
            epochs += EPOCHS
            rr, ry, correlation = model.numbers(w)
            if duality_gap(rr, ry, correlation, w, penalty) <= target or epochs >= max_epochs:
                return min(epochs, max_epochs)
            spent += EPOCHS * np.count_nonzero(w) * len(w)
            if spent > model.newton_price(w):
                spent = 0.0
                if model.newton(w, penalty):
                    continue
            self._extrapolate(w, iterates, penalty, _objective(rr, w, penalty))

    def _extrapolate(
        self, w: np.ndarray, iterates: np.ndarray, penalty: Penalty, objective: float
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
        products.flat[:: EPOCHS + 1] += 1e-12 * size
        weights = np.linalg.solve(products, np.ones(EPOCHS))
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

    def _look(self, w: np.ndarray, l1: float, penalty: Penalty | None = None) -> float:
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
        return duality_gap(rr, ry, self.correlation[chosen], coef[chosen], penalty)


def _objective(rr: float, w: np.ndarray, penalty: Penalty) -> float:
    return 0.5 * rr + penalty.l1 * float(np.abs(w).sum()) + 0.5 * penalty.l2 * float(w @ w)
