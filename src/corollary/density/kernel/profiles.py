r"""The kernels of density estimates: what they integrate to, and draws from them.

A kernel is a function K(r) of the distance in units of the bandwidth. With the volume
:math:`V_p` of the unit ball of the norm, in d dimensions,

.. math:: \int K(\|x\|_p)\,dx = d\,V_p\int_0^\infty r^{d-1}K(r)\,dr,\qquad
          V_p=\frac{(2\,\Gamma(1+1/p))^d}{\Gamma(1+d/p)} .
"""

import math
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import gammaln
from sklearn.utils import check_random_state

from corollary.core.estimator import Count, PositiveOrInfinite, checked
from corollary.density import _codes

KernelName = Literal["gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"]
CODES = {name: getattr(_codes, name.upper()) for name in get_args(KernelName)}


@checked
def log_kernel_integral(
    kernel: KernelName, n_features: Count, *, p: PositiveOrInfinite = 2.0
) -> float:
    """Return the logarithm of the integral of a kernel of bandwidth 1.

    Divided by the integral, a sum of kernels is a density.

    Parameters
    ----------
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}
        exp(-r^2/2), 1, 1 - r^2, exp(-r), 1 - r or cos(pi r / 2); all but the first and the fourth
        are zero from r = 1 on.
    n_features : int
        Dimension.
    p : float, default=2.0
        The distance is that of this Minkowski norm, infinite for the largest difference.

    Examples
    --------
    >>> import math
    >>> from corollary.density import log_kernel_integral
    >>> round(math.exp(2 * log_kernel_integral("gaussian", 1)), 6)  # 2 pi
    6.283185
    >>> round(math.exp(log_kernel_integral("epanechnikov", 1)), 6)
    1.333333
    """
    d = n_features
    log_volume = d * (math.log(2) + gammaln(1 + 1 / p)) - gammaln(1 + d / p)
    log_moment = {
        "gaussian": (d / 2 - 1) * math.log(2) + gammaln(d / 2),
        "exponential": gammaln(d),
        "tophat": -math.log(d),
        "epanechnikov": math.log(2 / (d * (d + 2))),
        "linear": -math.log(d * (d + 1)),
    }.get(kernel)
    if log_moment is None:
        from scipy.integrate import quad

        log_moment = math.log(quad(lambda r: r ** (d - 1) * math.cos(math.pi * r / 2), 0, 1)[0])
    return float(math.log(d) + log_volume + log_moment)


def draw_from_kernel(
    kernel: KernelName,
    n_samples: int,
    n_features: int,
    *,
    p: float = 2.0,
    random_state: Any = None,
) -> np.ndarray:
    """Draw from the density that is proportional to a kernel of bandwidth 1.

    A point is a direction times a radius, whose density is proportional to
    ``r ** (n_features - 1) * K(r)``.

    Parameters
    ----------
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}
        The kernel, as in :func:`log_kernel_integral`.
    n_samples, n_features : int
        Number of draws, and dimension.
    p : float, default=2.0
        The distance is that of this Minkowski norm.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Examples
    --------
    >>> from corollary.density import draw_from_kernel
    >>> Z = draw_from_kernel("tophat", 1000, 2, random_state=0)
    >>> Z.shape, bool(((Z**2).sum(axis=1) < 1).all())
    ((1000, 2), True)
    """
    rng, d = check_random_state(random_state), n_features
    if math.isinf(p):
        Z = rng.uniform(-1, 1, size=(n_samples, d))
        Z[np.arange(n_samples), rng.randint(d, size=n_samples)] = rng.choice([-1, 1], n_samples)
    else:  # one over p-th powers of gamma variables are uniform on the sphere of the norm
        Z = rng.standard_gamma(1 / p, size=(n_samples, d)) ** (1 / p)
        Z /= (Z**p).sum(axis=1, keepdims=True) ** (1 / p)
        Z *= rng.choice([-1.0, 1.0], size=Z.shape)
    return Z * _radii(kernel, n_samples, d, rng)[:, np.newaxis]


def _radii(kernel: KernelName, n: int, d: int, rng: Any) -> np.ndarray:
    """Draw distances from the centre."""
    if kernel == "gaussian":
        return np.sqrt(2 * rng.standard_gamma(d / 2, size=n))
    if kernel == "exponential":
        return rng.standard_gamma(d, size=n)
    if kernel == "tophat":
        return rng.uniform(size=n) ** (1 / d)
    if kernel == "epanechnikov":
        return np.sqrt(rng.beta(d / 2, 2, size=n))
    radii = rng.beta(d, 2, size=n)
    if kernel == "cosine":  # at most pi / 2 times the linear kernel: draws are rejected
        refused = np.arange(n)
        while len(refused):
            r = radii[refused] = rng.beta(d, 2, size=len(refused))
            level = rng.uniform(size=len(refused)) * (1 - r) * math.pi / 2
            refused = refused[level > np.cos(r * math.pi / 2)]
    return radii
