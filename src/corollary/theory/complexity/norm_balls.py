r"""Linear scores with a bounded norm, kernels and two-layer networks: their complexities.

For :math:`\{x\mapsto\langle w,x\rangle:\|w\|_p\le W\}` the supremum over the class is a dual norm,
so the complexity is :math:`\tfrac Wn E\|\sum_i\varepsilon_ix_i\|_q` with :math:`1/p+1/q=1`: exact
up to the average over signs.
"""

import math
from numbers import Real
from typing import Annotated, Any

import numpy as np
from scipy.special import poch

from corollary.core.compat import Options
from corollary.core.estimator import Count, Probability, checked
from corollary.theory.complexity._checks import check_points
from corollary.theory.complexity.rademacher import RademacherComplexity, rademacher_complexity
from corollary.theory.concentration.sub_gaussian import expected_gaussian_maximum


def dual_order(p: float) -> float:
    """Return the order of the norm that is dual to a given one.

    Parameters
    ----------
    p : float
        Order, from 1 to infinity.

    Returns
    -------
    q : float
        With ``1 / p + 1 / q = 1``.

    Examples
    --------
    >>> from corollary.theory import dual_order
    >>> dual_order(1.0), dual_order(2.0)
    (inf, 2.0)
    """
    if not p >= 1:
        raise ValueError(f"The order of a norm must be at least 1. Got {p!r} instead.")
    if p == 1:
        return math.inf
    return 1.0 if math.isinf(p) else p / (p - 1)


def norm_ball_complexity(
    X: Any,
    *,
    p: float = 2.0,
    radius: float = 1.0,
    n_draws: int | None = None,
    delta: float = 0.01,
    random_state: Any = None,
) -> RademacherComplexity:
    r"""Compute the empirical Rademacher complexity of linear scores with a bounded norm.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    p : float, default=2.0
        Order of the norm of the weights, from 1 to infinity.
    radius : float, default=1.0
        Largest norm W of the weights.
    n_draws : int or None, default=None
        Sign vectors to draw; None for all of them up to 12 points and 1000 beyond.
    delta : float, default=0.01
        Probability that the upper limit is too small because of the drawn signs.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    complexity : RademacherComplexity
        Value and upper limit.

    See Also
    --------
    euclidean_ball_bound : A closed bound for p = 2.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import norm_ball_complexity
    >>> norm_ball_complexity(np.eye(4), radius=3.0).value
    1.5
    """
    X = check_points("norm_ball_complexity", X)
    q, n = dual_order(p), len(X)
    if not radius > 0:
        raise ValueError(
            "The 'radius' parameter of norm_ball_complexity must be positive. Got "
            f"{radius!r} instead."
        )

    def supremum(signs: np.ndarray) -> np.ndarray:
        return radius * np.linalg.norm(signs @ X, ord=q, axis=1)

    if n_draws is None and n <= 12:
        every = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(float)
        value = float(np.mean(supremum(every))) / n
        return RademacherComplexity(value, value, True)
    return rademacher_complexity(
        supremum=supremum,
        n_points=n,
        differences=radius * np.linalg.norm(X, ord=q, axis=1),
        n_draws=n_draws,
        delta=delta,
        random_state=random_state,
    )


def euclidean_ball_bound(X: Any, *, radius: float = 1.0) -> float:
    r"""Bound the complexity of linear scores with weights of bounded length.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points, or feature vectors of a kernel.
    radius : float, default=1.0
        Largest length W of the weights.

    Returns
    -------
    bound : float
        :math:`\frac Wn\sqrt{\sum_i\|x_i\|^2}`, at most :math:`WR/\sqrt n` for points of length at
        most R.

    See Also
    --------
    kernel_ball_bound : The same from a kernel matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import euclidean_ball_bound
    >>> euclidean_ball_bound(np.eye(4))
    0.5
    """
    X = check_points("euclidean_ball_bound", X)
    _check_size("euclidean_ball_bound", "radius", radius)
    return radius * float(np.linalg.norm(X)) / len(X)


def kernel_ball_bound(diagonal: Any, *, radius: float = 1.0) -> float:
    r"""Bound the complexity of functions of bounded norm in the space of a kernel.

    Parameters
    ----------
    diagonal : array-like of shape (n_samples,)
        Values k(x, x) at the points.
    radius : float, default=1.0
        Largest norm W.

    Returns
    -------
    bound : float
        :math:`\frac Wn\sqrt{\operatorname{tr}K}`, which bounds
        :math:`\frac Wn E\sqrt{\varepsilon^\top K\varepsilon}`.

    Examples
    --------
    >>> from corollary.theory import kernel_ball_bound
    >>> kernel_ball_bound([1.0, 1.0, 1.0, 1.0], radius=2.0)
    1.0
    """
    diagonal = np.asarray(diagonal, dtype=float)
    if diagonal.ndim != 1 or not len(diagonal) or not np.all(diagonal >= 0):
        raise ValueError(
            "The 'diagonal' parameter of kernel_ball_bound must hold one value k(x, x) per point, "
            f"none negative. Got shape {diagonal.shape}."
        )
    _check_size("kernel_ball_bound", "radius", radius)
    return radius * math.sqrt(float(diagonal.sum())) / len(diagonal)


def ellipsoid_bound(eigenvalues: Any, *, n_samples: int) -> float:
    r"""Bound the complexity of an ellipsoid of functions with bounded features.

    Parameters
    ----------
    eigenvalues : array-like of shape (n_features,)
        Squared half axes :math:`\mu_i`: the class is :math:`\sum_iw_i\phi_i(x)` with
        :math:`\sum_iw_i^2/\mu_i\le1` and features between -1 and +1.
    n_samples : int
        Number n of points.

    Returns
    -------
    bound : float
        :math:`\sqrt{\sum_i\mu_i/n}`.

    Examples
    --------
    >>> from corollary.theory import ellipsoid_bound
    >>> ellipsoid_bound([0.5, 0.25, 0.25], n_samples=100)
    0.1
    """
    eigenvalues = np.asarray(eigenvalues, dtype=float)
    if eigenvalues.ndim != 1 or not np.all(eigenvalues >= 0) or not n_samples >= 1:
        raise ValueError(
            "ellipsoid_bound needs eigenvalues that are not negative and a positive n_samples."
        )
    return math.sqrt(float(eigenvalues.sum()) / n_samples)


@checked
def gaussian_ball_complexity(
    *, n_samples: Count, n_features: Count, p: Annotated[float, Options(Real, {1, 2, math.inf})] = 2
) -> float:
    r"""Return the complexity of unit balls of weights on standard normal points, exactly.

    Parameters
    ----------
    n_samples : int
        Number n of points.
    n_features : int
        Dimension d.
    p : {1, 2, inf}, default=2
        Order of the norm of the weights.

    Returns
    -------
    complexity : float
        Expected over the points: :math:`E\max_j|g_j|/\sqrt n` for p = 1, at most
        :math:`\sqrt{2\log(2d)/n}`; :math:`\sqrt{2/n}\,\Gamma(\frac{d+1}2)/\Gamma(\frac d2)` for
        p = 2, between :math:`\sqrt{(d-1)/n}` and :math:`\sqrt{d/n}`;
        :math:`d\sqrt{2/(\pi n)}` for p = infinity.

    Examples
    --------
    >>> from math import inf
    >>> from corollary.theory import gaussian_ball_complexity
    >>> [round(gaussian_ball_complexity(n_samples=100, n_features=10, p=p), 3) for p in (1, 2, inf)]
    [0.188, 0.308, 0.798]
    """
    if p == 1:
        norm = expected_gaussian_maximum(n_features, absolute=True)
    elif p == 2:
        norm = math.sqrt(2) * float(poch(n_features / 2, 0.5))
    else:
        norm = n_features * math.sqrt(2 / math.pi)
    return norm / math.sqrt(n_samples)


@checked
def sparse_class_bound(*, n_samples: Count, n_features: Count, sparsity: Count) -> float:
    r"""Bound the complexity of sparse unit weights on standard normal points.

    Parameters
    ----------
    n_samples : int
        Number n of points.
    n_features : int
        Dimension d.
    sparsity : int
        Largest number s of weights that are not zero, at most d.

    Returns
    -------
    bound : float
        :math:`(\sqrt s+\sqrt{2s\log(ed/s)})/\sqrt n`: rows of the order s log(d/s) suffice even if
        they are far fewer than d. A form with log(d/s) is false for s near d.

    Examples
    --------
    >>> from corollary.theory import sparse_class_bound
    >>> round(sparse_class_bound(n_samples=1000, n_features=10_000, sparsity=5), 3)
    0.364
    """
    if sparsity > n_features:
        raise ValueError(
            "The 'sparsity' parameter of sparse_class_bound must be at most n_features. Got "
            f"{sparsity} of {n_features}."
        )
    entropy = 2 * sparsity * math.log(math.e * n_features / sparsity)
    return (math.sqrt(sparsity) + math.sqrt(entropy)) / math.sqrt(n_samples)


@checked
def sign_data_bound(*, n_samples: Count, n_features: Count) -> float:
    r"""Bound the complexity of unit weights on points with entries -1 and +1.

    Parameters
    ----------
    n_samples : int
        Number n of points.
    n_features : int
        Dimension d.

    Returns
    -------
    bound : float
        :math:`\sqrt{d/n}`, since every point has length :math:`\sqrt d`.

    See Also
    --------
    operator_norm_bound : How long the matrix of points can make a unit vector.

    Examples
    --------
    >>> from corollary.theory import sign_data_bound
    >>> sign_data_bound(n_samples=400, n_features=4)
    0.1
    """
    return math.sqrt(n_features / n_samples)


@checked
def operator_norm_bound(
    *, n_samples: Count, n_features: Count, delta: Probability, sharp: bool = True
) -> float:
    r"""Bound the operator norm of a matrix of independent signs.

    Parameters
    ----------
    n_samples : int
        Rows n.
    n_features : int
        Columns d.
    delta : float
        Probability of failure.
    sharp : bool, default=True
        False for the first form alone.

    Returns
    -------
    bound : float
        :math:`\sqrt n+c_0\sqrt d+t` with :math:`c_0=\sqrt{6\log9}` and
        :math:`t=\sqrt{6\log(2/\delta)}`, or if `sharp` the least of it, of it with n and d
        exchanged, of :math:`\sqrt{\pi/2}\,(\sqrt n+\sqrt d)+\sqrt{8\log(1/\delta)}` and of
        the largest possible norm :math:`\sqrt{nd}`.

    Notes
    -----
    The form with :math:`c_0`: the squared length of X u for a unit vector u has at most the moment
    generating function of a chi-squared variable with n degrees, and fourth moments of at most 3,
    so that with probability :math:`1-2e^{-s}` it is within :math:`\sqrt{6ns}+2s` of n. Over a net
    of :math:`9^d` vectors, which loses a factor of 2, this takes
    :math:`s=d\log9+\log(2/\delta)`, and
    :math:`\|X\|^2\le n+2\sqrt{6ns}+4s\le(\sqrt n+\sqrt{6s})^2`.

    The other form: comparison with a normal matrix of the same signs bounds the mean, and the
    second term is the upper tail of a convex 1-Lipschitz function of independent entries in
    [-1, 1].

    Guarantee: checked by ``tests/guarantees/rademacher.py``.

    References
    ----------
    Boucheron, S., Lugosi, G. and Massart, P. (2013). Concentration inequalities, theorem 6.10.

    Examples
    --------
    >>> from corollary.theory import operator_norm_bound
    >>> round(operator_norm_bound(n_samples=100, n_features=25, delta=0.05), 2)
    23.7
    """
    rows, columns = math.sqrt(n_samples), math.sqrt(n_features)
    net, tail = math.sqrt(6 * math.log(9)), math.sqrt(6 * math.log(2 / delta))
    if not sharp:
        return rows + net * columns + tail
    compared = math.sqrt(math.pi / 2) * (rows + columns) + math.sqrt(8 * math.log(1 / delta))
    by_net = min(rows + net * columns, columns + net * rows) + tail
    return min(by_net, compared, rows * columns)


def path_norm(outer: Any, inner: Any) -> float:
    r"""Compute the capacity of a two-layer network of rectifiers.

    Parameters
    ----------
    outer : array-like of shape (n_units,)
        Outer weights w.
    inner : array-like of shape (n_units, n_features)
        Inner weights u.

    Returns
    -------
    capacity : float
        :math:`\sum_h|w_h|\,\|u_h\|`, the same after rescaling a unit's weights against each other.

    See Also
    --------
    relu_network_bound : What it bounds.

    Examples
    --------
    >>> from corollary.theory import path_norm
    >>> path_norm([1.0, -2.0], [[3.0, 4.0], [0.0, 1.0]])
    7.0
    """
    outer, inner = np.asarray(outer, dtype=float), np.asarray(inner, dtype=float)
    if outer.ndim != 1 or inner.ndim != 2 or len(outer) != len(inner):
        raise ValueError(
            "path_norm needs one outer weight and one row of inner weights per unit. Got shapes "
            f"{outer.shape} and {inner.shape}."
        )
    return float(np.abs(outer) @ np.linalg.norm(inner, axis=1))


def relu_network_bound(X: Any, *, capacity: float = 1.0) -> float:
    r"""Bound the complexity of two-layer networks of rectifiers, of any width.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    capacity : float, default=1.0
        Largest :func:`path_norm` of a network.

    Returns
    -------
    bound : float
        Twice that of linear scores of the same capacity; :math:`2\sqrt{d/n}` on standard normal
        points.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import relu_network_bound
    >>> relu_network_bound(np.eye(4))
    1.0
    """
    _check_size("relu_network_bound", "capacity", capacity)
    return 2 * euclidean_ball_bound(X, radius=capacity)


def _check_size(who: str, name: str, value: float) -> None:
    if not 0 <= value < math.inf:
        raise ValueError(
            f"The '{name}' parameter of {who} must be finite and not negative. Got {value!r} "
            "instead."
        )
