"""Choice and learning of inducing points: where they start, and how they and the kernel improve.

The collapsed bound of n rows costs n m^2 operations, that of a quarter of them a quarter. The
search therefore begins on few rows and is carried on with four times as many, up to all of them,
where a few steps are left to do. Every step is one of L-BFGS on the exact gradient in all
hyper-parameters and all coordinates of the inducing points; nothing has a step size to be chosen.
"""

from typing import Any

import numpy as np

from corollary.core.parallel import one_blas_thread
from corollary.core.progress import track
from corollary.gp.learning._coordinates import Coordinates
from corollary.gp.learning._maximise import maximise
from corollary.gp.learning.search import Search
from corollary.gp.sparse._learnt import LearntInducing
from corollary.gp.sparse.collapsed import collapsed_bound

# The first level of the search has about this many rows for each inducing point, every next one
# four times as many. Steps before the last level are cheap: they go on until they improve the
# bound by a tenth of the tolerance, or for this long.
ROWS_PER_POINT, GROWTH, EARLY_STEPS, EARLY_TOL = 4, 4, 200, 0.1
# One short step of L-BFGS does not mean that the search is over; this many do.
WINDOW = 5
# Points are chosen among this many rows for each of them.
CANDIDATES = 20


def spread_points(
    X: np.ndarray, n_points: int, *, scale: Any = 1.0, random_state: Any = None
) -> np.ndarray:
    """Choose rows that lie far apart, by the sampling rule of k-means++.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    n_points : int
        How many, at most.
    scale : float or ndarray of shape (d,), default=1.0
        What distances are measured in.
    random_state : int, RandomState instance or None, default=None
        Determines the choice.

    Returns
    -------
    Z : ndarray of shape (m, d)
        Distinct rows in increasing order: all of them if there are no more than ``n_points``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import spread_points
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1], [9.0]])
    >>> spread_points(X, 9).ravel()
    array([0. , 0.1, 5. , 5.1, 9. ])
    >>> len(spread_points(X, 3, random_state=0))
    3
    """
    from sklearn.utils import check_random_state

    rng = check_random_state(random_state)
    n, n_candidates = len(X), max(CANDIDATES * n_points, 1000)
    if n > n_candidates:
        X = X[np.sort(rng.choice(n, n_candidates, replace=False))]
    X = np.unique(X + 0.0, axis=0)  # minus zero equals zero
    if len(X) <= n_points:
        return X
    from sklearn.cluster import kmeans_plusplus

    chosen = kmeans_plusplus(X / scale, n_points, random_state=rng)[1]
    return X[np.unique(chosen)]


def learn_inducing(
    X: np.ndarray,
    y: np.ndarray,
    search: Search,
    Z: np.ndarray,
    *,
    weight: np.ndarray | None = None,
    learn_points: bool = True,
    scale: Any = 1.0,
    max_iter: int = 100,
    tol: float = 3e-4,
    random_state: Any = None,
) -> LearntInducing:
    """Maximise the collapsed bound over hyper-parameters and inducing points.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Inputs.
    y : ndarray of shape (n,)
        Targets, with the prior mean subtracted.
    search : Search
        Kernel and noise: what is learnt, from where and how far.
    Z : ndarray of shape (m, d)
        Inducing points to start from.
    weight : ndarray of shape (n,) or None, default=None
        Positive weights of the rows; None for ones.
    learn_points : bool, default=True
        Whether the points move.
    scale : float or ndarray of shape (d,), default=1.0
        Units in which they move.
    max_iter : int, default=100
        Steps on all rows at most.
    tol : float, default=3e-4
        Improvement of the bound in one step, for each row and on average over five steps, below
        which the search ends.
    random_state : int, RandomState instance or None, default=None
        Determines the parts of the data that the search begins with.

    Returns
    -------
    learnt : named tuple
        ``theta``, hyper-parameters on the scale of ``search.theta``; ``Z``, the points; ``n_iter``,
        steps; ``converged``, whether the search ended by its tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import Search, learn_inducing
    >>> from corollary.kernels import RBF
    >>> X = np.linspace(0.0, 6.0, 200)[:, None]
    >>> search = Search(1.0 * RBF(), 0.1, True, np.full(3, -9.0), np.full(3, 9.0))
    >>> learnt = learn_inducing(X, np.sin(X.ravel()), search, X[::20])
    >>> learnt.converged, bool(np.exp(learnt.theta[-1]) < 1e-3)  # there is no noise
    (True, True)
    """
    from sklearn.utils import check_random_state

    at, p = Coordinates.of(search), len(search.theta)
    bounds = at.bounds
    u = at.from_theta(search.theta)
    if learn_points:
        u = np.concatenate([u, (Z / scale).ravel()])
        bounds = np.concatenate([bounds, np.tile([-np.inf, np.inf], (Z.size, 1))])

    def points(u: np.ndarray) -> np.ndarray:
        return u[p:].reshape(Z.shape) * scale if learn_points else Z

    n = len(X)
    sizes = [n]
    while sizes[0] // GROWTH >= ROWS_PER_POINT * len(Z):
        sizes.insert(0, sizes[0] // GROWTH)
    order = check_random_state(random_state).permutation(n) if len(sizes) > 1 else np.arange(n)
    with one_blas_thread(), track("sparse Gaussian process") as step:
        for size in sizes:
            part = slice(None) if size == n else np.sort(order[:size])
            w = None if weight is None else weight[part]
            rows, total = (X[part], y[part], w), float(size if w is None else w.sum())

            def objective(
                u: np.ndarray, rows: Any = rows, total: float = total
            ) -> tuple[float, np.ndarray]:
                theta = at.to_theta(u[:p])
                kernel, variance = search.split(theta)
                lower_bound = collapsed_bound(kernel, variance, points(u), *rows, gradient=True)
                gradient = lower_bound.by_parameters
                if search.learn_noise:
                    gradient = np.append(gradient, lower_bound.by_log_variance)
                gradient = at.slope(theta) * gradient
                if learn_points:
                    gradient = np.concatenate([gradient, (lower_bound.by_points * scale).ravel()])
                step(bound_per_row=lower_bound.value / total, rows=len(rows[1]))
                return lower_bound.value / total, gradient / total

            last = size == n
            steps, least = (max_iter, tol) if last else (EARLY_STEPS, EARLY_TOL * tol)
            learnt = maximise(objective, [u], bounds, max_iter=steps, tol=least, window=WINDOW)
            u = learnt.theta
    return LearntInducing(at.to_theta(u[:p]), points(u), learnt.n_iter, learnt.converged)
