"""The cost of moving one law onto another: Wasserstein-1 and its dual.

Laws are given by weighted points. On the line the distance is the area between the distribution
functions; samples of one size are matched; everything else is a linear program, of which the dual
(Kantorovich and Rubinstein) looks for a 1-Lipschitz function that tells the laws apart best.
"""

from typing import Any

import numpy as np

from corollary.risk.laws.divergence import check_law


def wasserstein_distance(x: Any, y: Any, *, weights_x: Any = None, weights_y: Any = None) -> float:
    r"""Compute the Wasserstein-1 distance of two laws on finitely many points.

    .. math:: W(\mu, \nu) = \inf_{\gamma \in \Pi(\mu, \nu)} E_\gamma \|X - Y\|

    over the couplings of the two laws, with Euclidean distances.

    Parameters
    ----------
    x : array-like of shape (n,) or (n, d)
        Points of the first law.
    y : array-like of shape (m,) or (m, d)
        Points of the second law.
    weights_x : array-like of shape (n,) or None, default=None
        Probabilities of the points of x; None for equal ones.
    weights_y : array-like of shape (m,) or None, default=None
        Probabilities of the points of y.

    Returns
    -------
    distance : float
        In the units of the points.

    See Also
    --------
    kantorovich_potential : The function that shows it cannot be smaller.

    Notes
    -----
    On the line the cost is that of sorting. Otherwise two samples of one size without weights are
    matched by the Hungarian algorithm, cubic in n, and anything else is a linear program with n m
    unknowns; both are exact.

    Examples
    --------
    >>> from corollary.risk import wasserstein_distance
    >>> wasserstein_distance([0.0, 1.0], [2.0, 3.0])
    2.0
    >>> wasserstein_distance([[0.0, 0.0]], [[3.0, 4.0], [0.0, 0.0]])
    2.5
    """
    x, y, p, q = _two_clouds("wasserstein_distance", x, y, weights_x, weights_y)
    if x.shape[1] == 1:
        return _area_between(x[:, 0], y[:, 0], p, q)
    cost = _distances(x, y)
    if len(x) == len(y) and weights_x is None and weights_y is None:
        from scipy.optimize import linear_sum_assignment

        return float(cost[linear_sum_assignment(cost)].mean())
    return _transport(cost, p, q)


def kantorovich_potential(
    x: Any, y: Any, *, weights_x: Any = None, weights_y: Any = None
) -> tuple[float, np.ndarray, np.ndarray]:
    r"""Find the 1-Lipschitz function that tells two laws apart best.

    .. math:: W(\mu, \nu) = \sup_{f\ \text{1-Lipschitz}} E_\mu f - E_\nu f

    for laws with a finite first moment.

    Parameters
    ----------
    x : array-like of shape (n,) or (n, d)
        Points of the first law.
    y : array-like of shape (m,) or (m, d)
        Points of the second law.
    weights_x : array-like of shape (n,) or None, default=None
        Probabilities of the points of x; None for equal ones.
    weights_y : array-like of shape (m,) or None, default=None
        Probabilities of the points of y.

    Returns
    -------
    distance : float
        The difference of the means of f.
    f_x : ndarray of shape (n,)
        Values of f at the points of x; f is zero at the first of them.
    f_y : ndarray of shape (m,)
        Values of f at the points of y.

    Examples
    --------
    >>> from corollary.risk import kantorovich_potential
    >>> distance, f_x, f_y = kantorovich_potential([0.0], [2.0])
    >>> round(distance, 9), float(f_x[0] - f_y[0])
    (2.0, 2.0)
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    x, y, p, q = _two_clouds("kantorovich_potential", x, y, weights_x, weights_y)
    points = np.concatenate([x, y])
    size = len(points)
    # One value per point of either law, and f_i - f_j <= |x_i - x_j| for all ordered pairs.
    i, j = np.nonzero(~np.eye(size, dtype=bool))
    rows = np.arange(len(i))
    signs = np.concatenate([np.ones(len(i)), -np.ones(len(i))])
    A = coo_array((signs, (np.concatenate([rows, rows]), np.concatenate([i, j]))))
    bounds = [(0.0, 0.0)] + [(None, None)] * (size - 1)
    found = linprog(
        -np.concatenate([p, -q]),
        A_ub=A.tocsr(),
        b_ub=_distances(points, points)[i, j],
        bounds=bounds,
        method="highs",
    )
    if found.status != 0:
        raise RuntimeError(f"The dual linear program was not solved: {found.message}")
    return float(-found.fun), found.x[: len(x)], found.x[len(x) :]


def lipschitz_gap(
    x: Any, y: Any, f_x: Any, f_y: Any, *, weights_x: Any = None, weights_y: Any = None
) -> float:
    """Compute the lower bound on the Wasserstein distance that a critic gives.

    Parameters
    ----------
    x : array-like of shape (n,) or (n, d)
        Points of the first law.
    y : array-like of shape (m,) or (m, d)
        Points of the second law.
    f_x : array-like of shape (n,)
        Values of a function at the points of x.
    f_y : array-like of shape (m,)
        Its values at the points of y.
    weights_x : array-like of shape (n,) or None, default=None
        Probabilities of the points of x; None for equal ones.
    weights_y : array-like of shape (m,) or None, default=None
        Probabilities of the points of y.

    Returns
    -------
    gap : float
        The difference of means over the largest slope between two of the points, so that it is
        valid whatever the function; 0 for a constant function.

    Examples
    --------
    >>> from corollary.risk import lipschitz_gap
    >>> lipschitz_gap([0.0], [2.0], [0.0], [6.0])
    2.0
    """
    x, y, p, q = _two_clouds("lipschitz_gap", x, y, weights_x, weights_y)
    f_x, f_y = np.asarray(f_x, dtype=float), np.asarray(f_y, dtype=float)
    if f_x.shape != (len(x),) or f_y.shape != (len(y),):
        raise ValueError(
            "lipschitz_gap needs one value of the function per point. Got shapes "
            f"{f_x.shape} and {f_y.shape} for {len(x)} and {len(y)} points."
        )
    points, values = np.concatenate([x, y]), np.concatenate([f_x, f_y])
    distance = _distances(points, points)
    difference = np.abs(values[:, None] - values[None, :])
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.where(difference > 0, difference / distance, 0.0)
    slope = float(slopes.max())
    return 0.0 if slope == 0 else abs(float(p @ f_x - q @ f_y)) / slope


def _area_between(x: np.ndarray, y: np.ndarray, p: np.ndarray, q: np.ndarray) -> float:
    points = np.concatenate([x, y])
    order = np.argsort(points, kind="stable")
    difference = np.cumsum(np.concatenate([p, -q])[order])[:-1]
    return float(np.abs(difference) @ np.diff(points[order]))


def _transport(cost: np.ndarray, p: np.ndarray, q: np.ndarray) -> float:
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, kron, vstack

    n, m = cost.shape
    A = vstack([kron(eye_array(n), np.ones((1, m))), kron(np.ones((1, n)), eye_array(m))])
    # The last row follows from the others; with rounded weights it would contradict them.
    found = linprog(
        cost.ravel(), A_eq=A.tocsr()[:-1], b_eq=np.concatenate([p, q])[:-1], method="highs"
    )
    if found.status != 0:
        raise RuntimeError(f"The transport linear program was not solved: {found.message}")
    return float(found.fun)


def _distances(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    return cdist(x, y)


def _two_clouds(
    who: str, x: Any, y: Any, weights_x: Any, weights_y: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    clouds, laws = [], []
    for name, points, weights in (("x", x, weights_x), ("y", y, weights_y)):
        points = np.asarray(points, dtype=float)
        points = points[:, None] if points.ndim == 1 else points
        if points.ndim != 2 or not points.size or not np.all(np.isfinite(points)):
            raise ValueError(
                f"The '{name}' parameter of {who} must hold finite points, one per row. Got shape "
                f"{points.shape}."
            )
        weights = np.full(len(points), 1 / len(points)) if weights is None else weights
        law = check_law(who, f"weights_{name}", weights)
        if len(law) != len(points):
            raise ValueError(
                f"{who} needs one weight per point. Got {len(law)} weights for {len(points)} "
                f"points of {name}."
            )
        clouds.append(points)
        laws.append(law)
    if clouds[0].shape[1] != clouds[1].shape[1]:
        raise ValueError(
            f"{who} needs points of one space. Got {clouds[0].shape[1]} and {clouds[1].shape[1]} "
            "coordinates."
        )
    return clouds[0], clouds[1], laws[0], laws[1]
