"""Explicit feature maps: monomials, plain and with the weights that make them a kernel's features.

A kernel is an inner product of features. For polynomial kernels, and for the first terms of the
exponential and RBF kernels, the features are monomials with weights; without the weights their
inner products are those of no named kernel. Monomials are listed by degree, then as scikit-learn's
``PolynomialFeatures`` does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
from scipy.special import gammaln

from corollary.core.schema import Flag, Integer, List, Schema
from corollary.kernels import _arrays as arrays
from corollary.kernels._parametrised import check_whole

# More columns than this are a mistake more often than a wish.
MAX_FEATURES = 5_000_000


def monomial_exponents(n_features: int, degree: int, *, interaction_only: bool = False) -> Any:
    """List the exponents of all monomials up to a degree, the constant first.

    Parameters
    ----------
    n_features : int
        Number d of variables.
    degree : int
        Largest total degree p.
    interaction_only : bool, default=False
        Whether every variable occurs at most once.

    Returns
    -------
    exponents : ndarray of shape (N, d)
        One row per monomial; N is ``binomial(d + p, p)`` for all monomials.

    Examples
    --------
    >>> from corollary.kernels import monomial_exponents
    >>> monomial_exponents(2, 2)
    array([[0, 0],
           [1, 0],
           [0, 1],
           [2, 0],
           [1, 1],
           [0, 2]])
    """
    check_whole("monomial_exponents", "n_features", n_features, 1)
    check_whole("monomial_exponents", "degree", degree, 0)
    choose = combinations if interaction_only else combinations_with_replacement
    rows = [
        np.bincount(np.array(picked, dtype=np.int64), minlength=n_features)
        for p in range(degree + 1)
        for picked in choose(range(n_features), p)
    ]
    return np.array(rows, dtype=np.int64)


def monomial_map(
    X: Any, degree: int = 2, *, include_bias: bool = True, interaction_only: bool = False
) -> np.ndarray:
    """Return all monomials of the features up to a degree.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Inputs.
    degree : int, default=2
        Largest total degree p, at least 0.
    include_bias : bool, default=True
        Whether the constant 1 is among them, in the first column.
    interaction_only : bool, default=False
        Whether every feature occurs at most once: ``x1, x2, x1 x2`` but no squares.

    Returns
    -------
    features : ndarray of shape (n, N)
        With the constant, N is ``binomial(d + p, p)``.

    Examples
    --------
    >>> from corollary.kernels import monomial_map
    >>> monomial_map([[2.0, 3.0]])
    array([[1., 2., 3., 4., 6., 9.]])
    >>> monomial_map([[2.0, 3.0]], interaction_only=True, include_bias=False)
    array([[2., 3., 6.]])
    """
    check_whole("monomial_map", "degree", degree, 0)
    X = arrays.vectors("monomial_map", X)
    X = np.asarray(X)
    n, d = X.shape
    if interaction_only:
        width = sum(comb(d, p) for p in range(degree + 1))
    else:
        width = comb(d + degree, degree)
    if width > MAX_FEATURES:
        raise ValueError(
            f"monomial_map would make {width} columns of {d} features at degree {degree}. Lower "
            "the degree, or use a Polynomial kernel, which never forms them."
        )
    features = np.empty((n, width))
    features[:, 0] = 1.0
    # starts[j]: where, among monomials of the last degree, those begin whose first variable is j.
    starts, column = [0] * d, 1
    stop = 1
    for p in range(1, min(degree, d) + 1 if interaction_only else degree + 1):
        new_starts = []
        for j in range(d):
            new_starts.append(column)
            # Multiply x_j into the monomials whose variables come after it (or from it on).
            first = starts[j] if p == 1 or not interaction_only else _after(starts, j, stop)
            size = stop - first
            np.multiply(
                X[:, j : j + 1], features[:, first:stop], out=features[:, column : column + size]
            )
            column += size
        starts, stop = new_starts, column
    features = features[:, :column]
    return features if include_bias else features[:, 1:]


def _after(starts: Sequence[int], j: int, stop: int) -> int:
    return starts[j + 1] if j + 1 < len(starts) else stop


def bias_map(X: Any) -> np.ndarray:
    """Append a constant feature, so that a linear function of the result has an intercept.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Inputs.

    Returns
    -------
    features : ndarray of shape (n, d + 1)
        ``(x, 1)``.

    Examples
    --------
    >>> from corollary.kernels import bias_map
    >>> bias_map([[2.0, 3.0]])
    array([[2., 3., 1.]])
    """
    X = np.asarray(arrays.vectors("bias_map", X))
    return np.hstack([X, np.ones((len(X), 1))])


def polynomial_map(
    X: Any, degree: int = 2, *, offset: float = 1.0, gamma: float = 1.0
) -> np.ndarray:
    """Return features whose inner products are the polynomial kernel.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Inputs.
    degree : int, default=2
        Degree p of the kernel, at least 1.
    offset : float, default=1.0
        Non-negative; 0 leaves the monomials of degree p alone.
    gamma : float, default=1.0
        Positive factor of the inner product.

    Returns
    -------
    features : ndarray of shape (n, N)
        Monomial m of degree ``|m|``, times the root of
        ``p! / (m! (p - |m|)!) gamma^|m| offset^(p - |m|)``.

    Notes
    -----
    For degree 2 and offset 0 these are ``x_i^2`` and ``sqrt(2) x_i x_j``: without the root of two
    the inner product is not ``<x, y>^2``. The kernel needs O(d) operations for what these
    features need O(d^p).

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import polynomial_map
    >>> x, y = polynomial_map([[1.0, 2.0], [3.0, 0.5]], 2, offset=0.0)
    >>> x.round(4)
    array([1.    , 2.8284, 4.    ])
    >>> round(float(x @ y), 12)  # <x, y>^2 = 4^2
    16.0
    """
    check_whole("polynomial_map", "degree", degree, 1)
    if not (np.isfinite(offset) and offset >= 0 and np.isfinite(gamma) and gamma > 0):
        raise ValueError(
            "polynomial_map needs offset >= 0 and gamma > 0. "
            f"Got offset={offset!r} and gamma={gamma!r}."
        )
    features = monomial_map(X, degree)
    exponents = monomial_exponents(np.asarray(arrays.vectors("polynomial_map", X)).shape[1], degree)
    total = exponents.sum(axis=1)
    counts = gammaln(degree + 1) - gammaln(exponents + 1).sum(axis=1) - gammaln(degree - total + 1)
    weights = np.exp(counts) * float(gamma) ** total * float(offset) ** (degree - total)
    return features[:, weights > 0] * np.sqrt(weights[weights > 0])


def subset_map(X: Any) -> np.ndarray:
    """Return the products of all subsets of the features, those of the ANOVA kernel.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Inputs with at most 20 features.

    Returns
    -------
    features : ndarray of shape (n, 2 ** d)
        One column for each subset, the empty one (the constant 1) first.

    Examples
    --------
    >>> from corollary.kernels import subset_map
    >>> subset_map([[2.0, 3.0, 5.0]])
    array([[ 1.,  2.,  3.,  5.,  6., 10., 15., 30.]])
    """
    X = np.asarray(arrays.vectors("subset_map", X))
    if X.shape[1] > 20:
        raise ValueError(
            f"subset_map makes 2^d columns and takes at most 20 features. Got {X.shape[1]}; use "
            "the ANOVA kernel, which needs O(d)."
        )
    return monomial_map(X, X.shape[1], interaction_only=True)


@dataclass(frozen=True)
class MonomialMap:
    """:func:`monomial_map` as an object, so that kernels built on it can be saved.

    Parameters
    ----------
    degree : int, default=2
        Largest total degree.
    include_bias : bool, default=True
        Whether the constant is included.
    interaction_only : bool, default=False
        Whether every feature occurs at most once.

    Examples
    --------
    >>> from corollary.kernels import from_feature_map, MonomialMap
    >>> from_feature_map(MonomialMap(2))([1.0, 1.0], [1.0, 1.0])
    6.0
    """

    degree: int = 2
    include_bias: bool = True
    interaction_only: bool = False
    _schema = Schema(degree=Integer(0), include_bias=Flag(), interaction_only=Flag())

    def __post_init__(self) -> None:
        check_whole("MonomialMap", "degree", self.degree, 0)

    def __call__(self, X: Any) -> np.ndarray:
        """Apply the map."""
        return monomial_map(
            X,
            self.degree,
            include_bias=self.include_bias,
            interaction_only=self.interaction_only,
        )


@dataclass(frozen=True)
class Columns:
    """Select columns, so that a kernel looks at some features only.

    Parameters
    ----------
    columns : tuple of int
        Their numbers.

    Examples
    --------
    >>> from corollary.kernels import Columns, Periodic, RBF
    >>> kernel = RBF().with_inputs(Columns((0, 1))) * Periodic().with_inputs(Columns((2,)))
    >>> round(kernel([0.0, 0.0, 0.0], [0.0, 1.0, 3.0]), 6)  # exp(-1/2), three periods apart
    0.606531
    """

    columns: tuple[int, ...]
    _schema = Schema(columns=List(Integer(0)))

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(int(c) for c in self.columns))
        if not self.columns or min(self.columns) < 0:
            raise ValueError(
                f"Columns needs at least one column number, from 0 on. Got {self.columns}."
            )

    def __call__(self, X: Any) -> Any:
        """Apply the map."""
        X = arrays.vectors("Columns", X, allow_sparse=True)
        if max(self.columns) >= X.shape[1]:
            raise ValueError(
                f"Columns asks for column {max(self.columns)}. Got inputs with {X.shape[1]}."
            )
        return X[:, np.array(self.columns)]
