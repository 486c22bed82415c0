"""scikit-learn's kernel objects as kernels of this library, and back."""

from collections.abc import Callable
from typing import Any

import numpy as np

from corollary.kernels.algebra.combinations import Product, Sum
from corollary.kernels.algebra.functions import Power, Scaled
from corollary.kernels.algebra.restricted import Restricted
from corollary.kernels.base import Kernel
from corollary.kernels.named import check_kernel
from corollary.kernels.vectors.dot_product import Constant, Linear
from corollary.kernels.vectors.radial import RBF, Matern, RationalQuadratic, length_scale_from_gamma
from corollary.kernels.vectors.stationary import Periodic
from corollary.kernels.vectors.white import White

# A kernel, and smallest and largest values of its hyper-parameters, of shape (p, 2); the two are
# equal where one is fixed.
Bounded = tuple[Kernel, np.ndarray]


def as_kernel(kernel: Any, *, n_features: int | None = None) -> Kernel:
    """Turn a kernel object of scikit-learn into a kernel of this library that means the same.

    Parameters
    ----------
    kernel : Kernel or sklearn.gaussian_process.kernels.Kernel
        A kernel; one of this library is returned as it is.
    n_features : int or None, default=None
        Number of features of the rows, if it is known.

    Returns
    -------
    kernel : Kernel
        The kernel, with the same values. If bounds were given or hyper-parameters fixed it is a
        :class:`Restricted` one, and optimisers keep to them.

    Raises
    ------
    ValueError
        If the kernel has no counterpart: ``CompoundKernel``, whole powers apart
        ``Exponentiation``, ``Matern`` with a `nu` other than 0.5, 1.5, 2.5 and infinity,
        ``ExpSineSquared`` of several features, ``PairwiseKernel`` with a metric that
        :func:`check_kernel` does not know, or with "chi2" unless its gamma is fixed, and classes
        that users wrote.

    See Also
    --------
    as_sklearn_kernel : The way back.
    check_kernel : Kernels by their names.

    Examples
    --------
    >>> from sklearn.gaussian_process import kernels
    >>> from corollary.kernels import as_kernel
    >>> as_kernel(2.0 * kernels.RBF(0.5) + kernels.WhiteKernel(0.1))
    Sum(terms=(Scaled(scale=2.0, kernel=RBF(length_scale=0.5)), White(noise_level=0.1)))
    >>> as_kernel(kernels.RBF(0.5, length_scale_bounds="fixed")).parameters().names
    ()
    """
    if isinstance(kernel, Kernel):
        return kernel
    ours, bounds = _translated(kernel, n_features)
    at = ours.parameters()
    if np.array_equal(bounds, np.stack([at.low, at.high], axis=1)):
        return ours
    return Restricted(ours, bounds[:, 0], bounds[:, 1])


def as_sklearn_kernel(like: Any, kernel: Kernel) -> Any:
    """Return a kernel object of scikit-learn with the numbers of a kernel of this library.

    Parameters
    ----------
    like : sklearn.gaussian_process.kernels.Kernel
        The object whose form, bounds and fixed hyper-parameters the result has.
    kernel : Kernel
        ``as_kernel(like)`` with other hyper-parameters, for instance learnt ones.

    Returns
    -------
    theirs : sklearn.gaussian_process.kernels.Kernel
        A copy of `like` for which :func:`as_kernel` gives `kernel`.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from corollary.kernels import as_kernel, as_sklearn_kernel
    >>> like = 2.0 * RBF(0.5)
    >>> ours = as_kernel(like)
    >>> as_sklearn_kernel(like, ours.with_parameters(ours.parameters().vector + 1.0))
    2.33**2 * RBF(length_scale=1.36)
    """
    theta = np.array(like.theta)
    if not len(theta):  # everything is fixed
        return like.clone_with_theta(theta)

    def vector(theta: np.ndarray) -> np.ndarray:
        return as_kernel(like.clone_with_theta(theta)).parameters().vector

    # Both sides are logarithms, each of ours a whole or half multiple of one of theirs: a unit step
    # in one shows the factor.
    factors = np.array([vector(theta + step) - vector(theta) for step in np.eye(len(theta))])
    factors = np.round(2.0 * factors).reshape(len(theta), -1) / 2.0
    shares = np.maximum(np.square(factors).sum(axis=1), 0.25)  # zero for a gamma without effect
    change = kernel.parameters().vector - vector(theta)
    return like.clone_with_theta(theta + factors @ change / shares)


def _translated(theirs: Any, d: int | None) -> Bounded:
    """Translate by what the class computes: a subclass that computes something else is unknown."""
    from sklearn.gaussian_process import kernels as known

    if not isinstance(theirs, known.Kernel):
        raise ValueError(
            "as_kernel needs a kernel of corollary.kernels or of sklearn.gaussian_process.kernels. "
            f"Got {theirs!r}."
        )
    translate: dict[Any, Callable[[Any, int | None], Bounded]] = {
        known.RBF.__call__: _rbf,
        known.Matern.__call__: _matern,
        known.RationalQuadratic.__call__: _rational_quadratic,
        known.ExpSineSquared.__call__: _periodic,
        known.DotProduct.__call__: _dot_product,
        known.ConstantKernel.__call__: _constant,
        known.WhiteKernel.__call__: _white,
        known.PairwiseKernel.__call__: _pairwise,
        known.Sum.__call__: _sum,
        known.Product.__call__: _product,
        known.Exponentiation.__call__: _power,
    }
    computed = type(theirs).__call__
    if computed not in translate:
        raise _no_counterpart(theirs, "Write it as a corollary.kernels.Kernel")
    return translate[computed](theirs, d)


def _no_counterpart(theirs: Any, repair: str) -> ValueError:
    return ValueError(f"scikit-learn's {theirs!r} has no counterpart in corollary. {repair}.")


def _bounds(parameter: Any, value: Any, of: Callable[[Any], Any] = lambda v: v) -> np.ndarray:
    """Return smallest and largest values of one of their parameters, as ours is made of it."""
    if parameter.fixed:
        return np.repeat(np.reshape(value, (-1, 1)), 2, axis=1).astype(float)
    ends = np.reshape(np.asarray(parameter.bounds, dtype=float), (-1, 2))
    number = np.finfo(float)
    return np.clip(np.sort(of(ends), axis=1), number.tiny, number.max)  # 0 and inf are no bounds


def _fixed(value: float) -> np.ndarray:
    return np.array([[value, value]])


def _rbf(theirs: Any, d: int | None) -> Bounded:
    length = _length(theirs)
    return RBF(length), _bounds(theirs.hyperparameter_length_scale, length)


def _length(theirs: Any) -> Any:
    """Return the length scale; one in a list is for all features."""
    length = theirs.length_scale
    return float(np.ravel(length)[0]) if np.size(length) == 1 else length


def _matern(theirs: Any, d: int | None) -> Bounded:
    if theirs.nu == np.inf:
        return _rbf(theirs, d)
    if theirs.nu not in (0.5, 1.5, 2.5):
        raise _no_counterpart(theirs, "Take a nu of 0.5, 1.5, 2.5 or infinity")
    return Matern(_length(theirs), nu=theirs.nu), _rbf(theirs, d)[1]


def _rational_quadratic(theirs: Any, d: int | None) -> Bounded:
    ours = RationalQuadratic(_length(theirs), alpha=theirs.alpha)
    alpha = _bounds(theirs.hyperparameter_alpha, theirs.alpha)
    return ours, np.vstack([_rbf(theirs, d)[1], alpha])


def _periodic(theirs: Any, d: int | None) -> Bounded:
    if d is not None and d > 1:
        raise _no_counterpart(
            theirs,
            "Of several features it is not positive semi-definite; corollary.kernels.Periodic is",
        )
    ours = Periodic(theirs.length_scale, period=theirs.periodicity)
    period = _bounds(theirs.hyperparameter_periodicity, theirs.periodicity)
    length = _bounds(theirs.hyperparameter_length_scale, theirs.length_scale)
    return ours, np.vstack([length, period])


def _dot_product(theirs: Any, d: int | None) -> Bounded:
    variance = theirs.sigma_0**2
    bounds = _bounds(theirs.hyperparameter_sigma_0, variance, np.square)
    return Linear() + Constant(variance), bounds


def _constant(theirs: Any, d: int | None) -> Bounded:
    value = theirs.constant_value
    return Constant(value), _bounds(theirs.hyperparameter_constant_value, value)


def _white(theirs: Any, d: int | None) -> Bounded:
    level = theirs.noise_level
    return White(level), _bounds(theirs.hyperparameter_noise_level, level)


def _pairwise(theirs: Any, d: int | None) -> Bounded:
    options, metric = theirs.pairwise_kernels_kwargs or {}, theirs.metric
    gamma = theirs.hyperparameter_gamma
    try:
        ours = check_kernel(metric, gamma=theirs.gamma, **options)
        if metric == "chi2" and not gamma.fixed:
            raise ValueError("no kernel of ours learns it")
    except (TypeError, ValueError):
        repair = (
            "The metrics are linear, poly, rbf, laplacian, sigmoid, cosine, additive_chi2, and "
            "chi2 with gamma_bounds='fixed'"
        )
        raise _no_counterpart(theirs, repair) from None
    at = ours.parameters()
    bounds = np.stack([at.values, at.values], axis=1)  # fixed, but for what gamma sets
    if metric in ("rbf", "laplacian"):
        of = length_scale_from_gamma if metric == "rbf" else np.reciprocal
        bounds[:] = _bounds(gamma, at.values[0], of)
    elif len(bounds):  # of the polynomial the last, of the sigmoid the first
        place = -1 if metric in ("poly", "polynomial") else 0
        bounds[place] = _bounds(gamma, theirs.gamma)
    return ours, bounds


def _sum(theirs: Any, d: int | None) -> Bounded:
    (left, of_left), (right, of_right) = _translated(theirs.k1, d), _translated(theirs.k2, d)
    return Sum.of(left, right), np.vstack([of_left, of_right])


def _product(theirs: Any, d: int | None) -> Bounded:
    (left, of_left), (right, of_right) = _translated(theirs.k1, d), _translated(theirs.k2, d)
    if isinstance(left, Constant):
        return Scaled(left.value, right), np.vstack([of_left, of_right])
    if isinstance(right, Constant):
        return Scaled(right.value, left), np.vstack([of_right, of_left])
    return Product.of(left, right), np.vstack([of_left, of_right])


def _power(theirs: Any, d: int | None) -> Bounded:
    if theirs.exponent < 1 or theirs.exponent != int(theirs.exponent):
        raise _no_counterpart(theirs, "Take a whole exponent of at least 1")
    ours, bounds = _translated(theirs.kernel, d)
    return Power(ours, int(theirs.exponent)), bounds
