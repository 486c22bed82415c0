r"""The machine for every price of slack: its weights are piecewise linear in C.

While the sets of rows with :math:`\alpha_i = 0`, :math:`0 < \alpha_i < C` and :math:`\alpha_i = C`
stay the same, the optimality conditions are linear equations in which C appears linearly. So are
then the weights and the intercept; the optimal value is piecewise quadratic. A breakpoint is a C at
which a row changes sets.
"""

from typing import Any, NamedTuple

import numpy as np

from corollary.svm.dual.pair import svm_pair

# How far beyond a breakpoint the sets are looked at; breakpoints closer than that are merged.
_BEYOND = 1e-7


class SVMPath(NamedTuple):
    """Weights and intercept at the breakpoints of a path.

    Parameters
    ----------
    Cs : ndarray of shape (n_points,)
        Ends and breakpoints, increasing.
    betas : ndarray of shape (n_points, n_samples)
        Signed weights.
    intercepts : ndarray of shape (n_points,)
        Offsets.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import svm_path
    >>> x, y = np.array([[-1.0], [1.0]]), np.array([-1, 1])
    >>> path = svm_path(x @ x.T, y, 0.1, 2.0)
    >>> path.Cs.round(6)
    array([0.1, 0.5, 2. ])
    >>> path.at(0.3)[0].round(6)
    array([-0.3,  0.3])
    """

    Cs: np.ndarray
    betas: np.ndarray
    intercepts: np.ndarray

    def at(self, C: float) -> tuple[np.ndarray, float]:
        """Return weights and intercept for one price.

        Parameters
        ----------
        C : float
            Price of slack within the path.

        Returns
        -------
        beta : ndarray of shape (n_samples,)
            Signed weights, exact: they are linear between breakpoints.
        intercept : float
            Offset.
        """
        if not self.Cs[0] <= C <= self.Cs[-1]:
            raise ValueError(
                f"The path goes from C={self.Cs[0]:.6g} to C={self.Cs[-1]:.6g}. Got C={C!r}."
            )
        k = int(np.clip(np.searchsorted(self.Cs, C), 1, len(self.Cs) - 1))
        share = (C - self.Cs[k - 1]) / (self.Cs[k] - self.Cs[k - 1])
        beta = (1 - share) * self.betas[k - 1] + share * self.betas[k]
        return beta, float((1 - share) * self.intercepts[k - 1] + share * self.intercepts[k])


def svm_path(
    K: Any, y: Any, C_min: float, C_max: float, *, tol: float = 1e-9, max_points: int = 100_000
) -> SVMPath:
    """Follow the solution of the machine for two classes through all prices of slack.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        Gram matrix.
    y : array-like of shape (n_samples,)
        Labels -1 and 1, both present.
    C_min : float
        Smallest price.
    C_max : float
        Largest price.
    tol : float, default=1e-9
        Accuracy with which the sets of rows are found, in units of the margin.
    max_points : int, default=100000
        Largest number of breakpoints.

    Returns
    -------
    path : SVMPath
        Breakpoints with weights and intercepts; ``path.at(C)`` gives any point between.

    Notes
    -----
    Where no row lies strictly between the bounds, the intercept is not unique; its value then
    joins those of the neighbouring breakpoints.

    References
    ----------
    .. [1] T. Hastie, S. Rosset, R. Tibshirani, J. Zhu (2004). The entire regularization path for
       the support vector machine. JMLR 5, 1391-1415.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import svm_path
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20, 2))
    >>> y = np.where(X[:, 0] + rng.normal(size=20) > 0, 1, -1)
    >>> path = svm_path(X @ X.T, y, 0.01, 10.0)
    >>> bool((np.diff(path.Cs) > 0).all())
    True
    """
    if not 0 < C_min < C_max < np.inf:
        raise ValueError(
            f"svm_path needs 0 < C_min < C_max < inf. Got C_min={C_min!r} and C_max={C_max!r}."
        )
    K, y = np.asarray(K, dtype=np.float64), np.asarray(y, dtype=np.float64)
    C = float(C_min)
    start = svm_pair(K, y, C=C, tol=tol)
    Cs, betas, intercepts = [C], [start.beta], [start.intercept]
    while C_max > C:
        if len(Cs) >= max_points:
            raise ValueError(
                f"svm_path found max_points={max_points} breakpoints up to C={C:.6g}. Raise "
                "max_points or lower C_max."
            )
        inside = min(C * (1 + _BEYOND), C_max)
        solution = svm_pair(K, y, C=inside, start=betas[-1] * (inside / C), tol=tol)
        line = _line(K, y, solution.beta, solution.intercept, inside)
        stop = min(_next_event(K, y, line, inside, tol), C_max)
        if stop < C_max:
            stop = max(stop, inside)
        C = stop
        Cs.append(C)
        betas.append(line.beta(C))
        intercepts.append(line.intercept(C))
    return SVMPath(np.array(Cs), np.array(betas), np.array(intercepts))


class _Line(NamedTuple):
    """Weights and intercept as linear functions of C, and the rows' sets."""

    constant: np.ndarray
    slope: np.ndarray
    offset: tuple[float, float]
    free: np.ndarray
    bound: np.ndarray

    def beta(self, C: float) -> np.ndarray:
        return self.constant + C * self.slope

    def intercept(self, C: float) -> float:
        return self.offset[0] + C * self.offset[1]


def _line(K: np.ndarray, y: np.ndarray, beta: np.ndarray, intercept: float, C: float) -> _Line:
    alpha = y * beta
    bound = alpha >= C * (1 - 1e-9)
    free = (alpha > 1e-9 * C) & ~bound
    slope = np.where(bound, y, 0.0)
    constant = np.zeros(len(y))
    m = int(free.sum())
    if m == 0:
        return _Line(constant, slope, (intercept, 0.0), free, bound)
    system = np.zeros((m + 1, m + 1))
    system[:m, :m] = K[np.ix_(free, free)]
    system[:m, m] = system[m, :m] = 1.0
    right = np.zeros((m + 1, 2))
    right[:m, 0] = y[free]
    right[:m, 1] = -K[np.ix_(free, bound)] @ y[bound]
    right[m, 1] = -y[bound].sum()
    solution = np.linalg.lstsq(system, right, rcond=None)[0]
    constant[free], slope[free] = solution[:m, 0], solution[:m, 1]
    return _Line(constant, slope, (float(solution[m, 0]), float(solution[m, 1])), free, bound)


def _next_event(K: np.ndarray, y: np.ndarray, line: _Line, C: float, tol: float) -> float:
    """Return the smallest C beyond the given one at which a row changes sets."""
    times = [np.inf]

    def crossing(constant: np.ndarray, slope: np.ndarray) -> None:
        """Record where values that are positive now, constant + C slope, reach zero."""
        falling = slope < 0
        at = -constant[falling] / slope[falling]
        times.extend(at[at > C])

    if line.free.any():
        alpha, rate = (y * line.constant)[line.free], (y * line.slope)[line.free]
        crossing(alpha, rate)  # reaches zero
        crossing(-alpha, 1.0 - rate)  # reaches C
        value = y * (K @ line.constant + line.offset[0]) - 1.0
        change = y * (K @ line.slope + line.offset[1])
        zero = ~line.free & ~line.bound
        crossing(value[zero], change[zero])
        crossing(-value[line.bound], -change[line.bound])
    else:
        # The intercept is anything between the two sides; they move and meet.
        value, change = y - K @ line.constant, -(K @ line.slope)
        up = np.where(y > 0, ~line.bound, line.bound)
        gap = value[~up][None, :] - value[up][:, None]
        rate = change[~up][None, :] - change[up][:, None]
        crossing(gap.ravel(), rate.ravel())
    return float(min(times))
