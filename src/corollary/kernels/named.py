"""Kernels by scikit-learn's names, and the median rule for widths."""

from typing import Any, Literal, get_args

import numpy as np

from corollary.kernels import _arrays as arrays
from corollary.kernels._arrays import generator
from corollary.kernels.base import Kernel
from corollary.kernels.vectors.dot_product import Linear, Polynomial, Sigmoid
from corollary.kernels.vectors.pairwise import PairwiseFunction
from corollary.kernels.vectors.radial import RBF, length_scale_from_gamma
from corollary.kernels.vectors.stationary import Laplacian

KernelName = Literal[
    "additive_chi2",
    "chi2",
    "cosine",
    "laplacian",
    "linear",
    "poly",
    "polynomial",
    "rbf",
    "sigmoid",
]
_NAMES: tuple[str, ...] = get_args(KernelName)


def check_kernel(
    kernel: Any,
    *,
    gamma: float | None = None,
    degree: int = 3,
    coef0: float = 1.0,
    n_features: int | None = None,
) -> Kernel:
    """Turn scikit-learn's name of a kernel into a kernel; leave kernels as they are.

    Parameters
    ----------
    kernel : Kernel or {"linear", "rbf", "poly", "polynomial", "laplacian", "sigmoid", "cosine", \
"chi2", "additive_chi2"}
        A kernel or a name.
    gamma : float or None, default=None
        Factor in ``exp(-gamma |x - y|^2)``, ``exp(-gamma |x - y|_1)``,
        ``(gamma <x, y> + coef0)^degree`` and ``tanh(gamma <x, y> + coef0)``; None for
        ``1 / n_features``, and for one with "chi2".
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1.0
        Offset of the polynomial and sigmoid kernels.
    n_features : int or None, default=None
        Number of features, for the default of ``gamma``.

    Returns
    -------
    kernel : Kernel
        The kernel.

    Examples
    --------
    >>> from corollary.kernels import check_kernel
    >>> check_kernel("rbf", gamma=0.125)
    RBF(length_scale=2.0)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if not isinstance(kernel, str) or kernel not in _NAMES:
        raise ValueError(
            f"The kernel must be a Kernel or a str among {list(_NAMES)}. Got {kernel!r} instead."
        )
    if kernel in ("linear", "cosine"):
        return Linear() if kernel == "linear" else Linear().normalised()
    if kernel in ("chi2", "additive_chi2"):
        scaled = gamma is not None and kernel == "chi2"
        return PairwiseFunction(kernel, (("gamma", gamma),) if scaled else ())
    if gamma is None:
        gamma = 1.0 / max(1, n_features or 1)
    if kernel == "rbf":
        return RBF(length_scale_from_gamma(gamma))
    if kernel == "laplacian":
        return Laplacian(1.0 / gamma)
    if kernel == "sigmoid":
        return Sigmoid(scale=gamma, offset=-coef0)
    return Polynomial(degree=degree, offset=coef0, gamma=gamma)


def chosen_kernel(model: Any, n_features: int) -> Kernel:
    """Return the kernel that the parameters of an estimator ask for.

    They are ``kernel``, which may also be an object of scikit-learn's ``gaussian_process.kernels``
    or a function of two rows, with ``kernel_params``, ``gamma``, ``degree`` and ``coef0``. See
    :func:`check_kernel`.

    Examples
    --------
    >>> from corollary.kernels import Nystroem, chosen_kernel
    >>> chosen_kernel(Nystroem(kernel="rbf", gamma=0.125), 3)
    RBF(length_scale=2.0)
    """
    from corollary.kernels.scikit_learn import as_kernel

    kernel, params = model.kernel, tuple((getattr(model, "kernel_params", None) or {}).items())
    if hasattr(kernel, "clone_with_theta"):
        return as_kernel(kernel, n_features=n_features)
    if callable(kernel) and not isinstance(kernel, Kernel):
        return PairwiseFunction(kernel, params)
    return check_kernel(
        kernel,
        gamma=model.gamma,
        degree=3 if model.degree is None else model.degree,
        coef0=1.0 if model.coef0 is None else model.coef0,
        n_features=n_features,
    )


def median_length_scale(X: Any, *, max_rows: int = 1000, random_state: Any = 0) -> float:
    """Return the median distance between rows, a common width for kernels.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Inputs.
    max_rows : int, default=1000
        Of more rows, so many are drawn.
    random_state : int, Generator, RandomState or None, default=0
        Seed or generator of the draw.

    Returns
    -------
    length_scale : float
        The median of the distances of different rows; 1 if all rows are equal.

    Examples
    --------
    >>> from corollary.kernels import median_length_scale
    >>> median_length_scale([[0.0], [1.0], [3.0]])
    2.0
    """
    from scipy.spatial.distance import pdist

    X = np.asarray(arrays.vectors("median_length_scale", X))
    if len(X) > max_rows:
        # Drawn from the sorted rows: a permutation of the rows changes nothing, which keeps
        # permutation tests with this width exact.
        X = X[np.lexsort(X.T[::-1])]
        X = X[np.sort(generator(random_state).choice(len(X), max_rows, replace=False))]
    distances = pdist(X)
    distances = distances[distances > 0]
    return float(np.median(distances)) if distances.size else 1.0
