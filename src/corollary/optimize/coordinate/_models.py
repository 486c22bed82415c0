"""A lasso problem restricted to a working set, through its Gram matrix or its columns."""

import numpy as np

from corollary.optimize.coordinate._designs import Design, Shrinkage

# A Newton step costs s^3 / 3 multiplications in LAPACK, an epoch s m in our loop. LAPACK's are
# about three times as fast; the ratio was measured for s from 100 to 1,000.
NEWTON_PRICE = 0.3
# Epochs that are tried before a Newton step even if it is cheap: most problems need no more.
NEWTON_PATIENCE = 25


class GramModel:
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

    def epochs(self, w: np.ndarray, iterates: np.ndarray, penalty: Shrinkage) -> None:
        from corollary.optimize._loops.coordinate_descent import gram_epochs

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

    def newton(self, w: np.ndarray, penalty: Shrinkage) -> bool:
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


class ColumnModel:
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

    def epochs(self, w: np.ndarray, iterates: np.ndarray, penalty: Shrinkage) -> None:
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

    def newton(self, w: np.ndarray, penalty: Shrinkage) -> bool:
        return False
