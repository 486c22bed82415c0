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

from corollary.linear._designs import Design, Penalty

# Epochs between two returns to Python, which are the iterates of one extrapolation.
EPOCHS = 5
# Inner problems are solved to this share of the tolerance, so that the outer check passes.
INNER_SHARE = 0.7
# A Newton step costs s^3 / 3 multiplications in LAPACK, an epoch s m in our loop. LAPACK's are
# about three times as fast; the ratio was measured for s from 100 to 1,000.
NEWTON_PRICE = 0.3
# Epochs that are tried before a Newton step even if it is cheap: most problems need no more.
NEWTON_PATIENCE = 25
# With no more features than this, all of them are the working set.
SMALL = 256
# A Gram matrix of this order (128 MB) is accepted whatever the size of the data.
GRAM_ORDER = 4096


class Solution(NamedTuple):
    """What one solve reached."""

    coef: np.ndarray
    gap: float
    n_iter: int
    converged: bool


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


class _GramModel:
    """The problem on a working set, seen through its Gram matrix."""

    def __init__(self, design: Design, y: np.ndarray, Xy: np.ndarray) -> None:
        self.design, self.y, self.Xy = design, y, Xy
        self.yy = float(y @ y)
        self.features = np.zeros(0, dtype=np.int64)
        self.matrix = np.zeros((0, 0))
        self.state = np.zeros(0)  # X'r on the working set
        design.forget()

    def admit(self, features: np.ndarray) -> None:
        old, m = len(self.features), len(self.features) + len(features)
        self.features = np.concatenate([self.features, features])
        self.design.take(features)
        if m > len(self.matrix):
            grown = np.zeros((max(m, 2 * old, 64),) * 2)
            grown[:old, :old] = self.matrix[:old, :old]
            self.matrix = grown
        products = self.design.products(m - old)
        self.matrix[:m, old:m] = products
        self.matrix[old:m, :old] = products[:old].T

    def move_to(self, w: np.ndarray) -> None:
        m = len(w)
        self.state = self.Xy[self.features] - self.matrix[:m, :m] @ w

    def epochs(self, w: np.ndarray, iterates: np.ndarray, penalty: Penalty) -> None:
        from corollary.linear._coordinate_descent import gram_epochs

        gram_epochs(self.matrix, self.state, w, iterates, *penalty)

    def numbers(self, w: np.ndarray) -> tuple[float, float, np.ndarray]:
        """r'r, r'y and X'r on the working set."""
        Xy = self.Xy[self.features]
        rr = max(self.yy - float((Xy + self.state) @ w), 0.0)
        return rr, self.yy - float(Xy @ w), self.state

    def residual(self, w: np.ndarray) -> np.ndarray:
        return self.y - self.design.combine_taken(w)

    def newton_price(self, w: np.ndarray) -> float:
        """Multiplications of a Newton step, in the currency of one epoch's."""
        support = int(np.count_nonzero(w))
        return max(NEWTON_PRICE * support**3 / 3, NEWTON_PATIENCE * support * len(w))

    def newton(self, w: np.ndarray, penalty: Penalty) -> bool:
        """Take the best step along the Newton direction of the support; False if there is none.

        Along the direction d the objective is a convex quadratic with kinks where a coordinate
        changes its sign: its slope is found at every kink, and the minimum is where it changes
        its own.
        """
        from scipy.linalg.lapack import dpotrf, dpotrs

        l1, l2, positive = penalty
        m = len(w)
        support = np.flatnonzero(w)
        u, sign = w[support], np.sign(w[support])
        hessian = self.matrix[np.ix_(support, support)]
        hessian.flat[:: len(support) + 1] *= 1.0 + 1e-9  # supports can be dependent
        hessian.flat[:: len(support) + 1] += l2
        factor, failed = dpotrf(hessian, lower=1, overwrite_a=1, clean=0)
        if failed:
            return False
        slope = l1 * sign + l2 * u - self.state[support]
        d = -dpotrs(factor, slope, lower=1)[0]
        direction = np.zeros(m)
        direction[support] = d
        Gd = self.matrix[:m, :m] @ direction
        curvature = float(Gd[support] @ d + l2 * (d @ d))
        start = float(slope @ d)
        if not (start < 0.0 < curvature and np.isfinite(curvature)):
            return False
        with np.errstate(divide="ignore", invalid="ignore"):
            kinks = -u / d
        crossing = np.flatnonzero(kinks > 0.0)
        crossing = crossing[np.argsort(kinks[crossing], kind="stable")]
        times = kinks[crossing]
        jumps = np.cumsum(2.0 * l1 * np.abs(d[crossing]))
        after = start + curvature * times + jumps
        first = int(np.argmax(after >= 0.0)) if (after >= 0.0).any() else len(times)
        gained = jumps[first - 1] if first else 0.0
        step = -(start + gained) / curvature
        if first < len(times):
            step = min(step, times[first])
        if positive and len(times):
            step = min(step, times[0])
        w[support] = u + step * d
        w[support[crossing[times == step]]] = 0.0
        self.state = self.state - step * Gd
        return True


class _ColumnModel:
    """The problem on a working set, seen through the columns themselves."""

    def __init__(self, design: Design, y: np.ndarray) -> None:
        self.design, self.y = design, y
        self.features = np.zeros(0, dtype=np.int64)
        self.state = y.copy()  # the residual
        self._correlation = np.zeros(design.shape[1])
        design.forget()

    def admit(self, features: np.ndarray) -> None:
        self.features = np.concatenate([self.features, features])

    def move_to(self, w: np.ndarray) -> None:
        self.state = self.residual(w)

    def epochs(self, w: np.ndarray, iterates: np.ndarray, penalty: Penalty) -> None:
        self.design.epochs(self.features, self.state, w, iterates, penalty)

    def numbers(self, w: np.ndarray) -> tuple[float, float, np.ndarray]:
        """r'r, r'y and X'r on the working set."""
        r = self.state
        self.design.correlate(r, self.features, self._correlation)
        return float(r @ r), float(r @ self.y), self._correlation[self.features]

    def residual(self, w: np.ndarray) -> np.ndarray:
        support = np.flatnonzero(w)
        return self.y - self.design.combine(self.features[support], w[support])

    def newton_price(self, w: np.ndarray) -> float:
        """Newton steps need the Gram matrix."""
        return np.inf

    def newton(self, w: np.ndarray, penalty: Penalty) -> bool:
        return False


class WorkingSetSolver:
    """Solve one problem for one penalty after another, warm-started.

    Parameters
    ----------
    design : DenseDesign or SparseDesign
        Centred and weighted columns.
    y : ndarray of shape (n_samples,)
        Centred and weighted target.
    positive : bool
        Whether coefficients must not be negative.
    start : ndarray of shape (n_features,) or None
        Coefficients to start from.
    gram_order : int
        Order up to which a Gram matrix is kept, whatever the size of the data.
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
        self.model: _GramModel | _ColumnModel = _GramModel(design, self.y, self.correlation.copy())
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
        start, wanted, coef, correlation = self._predict(l1)
        share, n_iter, rounds = INNER_SHARE, 0, 0
        gap = np.inf
        while True:
            limit = max(100, 2 * int(np.count_nonzero(start)))
            candidates = np.flatnonzero(wanted & ~self.inside)
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
            wanted = (slope if self.positive else np.abs(slope)) > l1
            if target == share * goal and not (wanted & ~self.inside).any():
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
        if isinstance(self.model, _GramModel) and total > self.gram_order:
            support = np.flatnonzero(coef)
            self.model = _ColumnModel(self.design, self.y)
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
