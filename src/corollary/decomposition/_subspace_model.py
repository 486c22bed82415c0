r"""Gaussians whose variance is the same in all directions but a few, and what models of them share.

With orthonormal directions :math:`U_k`, variances :math:`v_i` along them and :math:`\sigma^2`
across, the covariance is :math:`U_k\,\mathrm{diag}(v)\,U_k^\top+\sigma^2(I-U_kU_k^\top)`. Its
inverse and determinant are read off, so that densities need no matrix of features by features.
"""

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_array, check_is_fitted

from corollary.core.estimator import LogDensityMixin, MomentsMixin, Transformer, fitted
from corollary.core.parallel import row_products
from corollary.core.schema import Array, Number, Size
from corollary.core.summary import block_rows


def subspace_log_density(
    X: Any, mean: Any, components: Any, variances: Any, noise: float
) -> np.ndarray:
    r"""Return the logarithm of the density at rows.

    It is :math:`-\frac12\big[d\log2\pi+\sum_i\log v_i+(d-k)\log\sigma^2+\sum_i t_i^2/v_i+
    (\|x-\mu\|^2-\|t\|^2)/\sigma^2\big]` with :math:`t=U_k^\top(x-\mu)`. The ``components`` are k
    orthonormal directions as rows, the ``variances`` are those along them, and the ``noise`` is the
    variance across them, positive unless there are as many components as features. See
    :class:`PCA`.

    Examples
    --------
    >>> from corollary.decomposition import subspace_log_density
    >>> subspace_log_density([[0.0, 0.0]], [0.0, 0.0], [[1.0, 0.0]], [4.0], 1.0).round(4)
    array([-2.531])
    """
    X = np.asarray(X, dtype=np.float64)
    U, v = np.asarray(components, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    k, d = U.shape
    if not (v > 0).all() or not (noise > 0 or k == d):
        raise ValueError(
            "subspace_log_density needs positive variances. Got "
            f"{v.min(initial=np.inf):.3g} along the components and {noise:.3g} across them."
        )
    constant = d * np.log(2 * np.pi) + np.log(v).sum()
    if k < d:
        constant += (d - k) * np.log(noise)
    density, step = np.empty(len(X)), block_rows((X,))
    for i in range(0, len(X), step):
        Z = X[i : i + step] - mean
        T = row_products(Z, U.T)
        squares = np.sum(T**2 / v, axis=1)
        if k < d:
            # The part across the components by itself: a difference of squares would cancel.
            across = Z - row_products(T, U)
            squares = squares + np.sum(across**2, axis=1) / noise
        density[i : i + step] = -(constant + squares) / 2
    return density


class SubspaceModel(ClassNamePrefixFeaturesOutMixin, MomentsMixin, LogDensityMixin, Transformer):
    """A transformer with orthonormal directions, variances along and one variance across them."""

    components_: np.ndarray = fitted(Array("f", "k", "d"))
    explained_variance_: np.ndarray = fitted(Array("f", "k", low=0))
    mean_: np.ndarray = fitted(Array("f", "d"))
    n_components_: int = fitted(Size("k"))
    noise_variance_: float = fitted(Number(0))

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return the rows that belong to projections X, a column for each component."""
        check_is_fitted(self)
        X = check_array(X, dtype=[np.float64, np.float32], input_name="X")
        if X.shape[1] != self.n_components_:
            raise ValueError(
                f"{type(self).__name__}.inverse_transform needs {self.n_components_} columns, one "
                f"for each component. Got {X.shape[1]}."
            )
        return row_products(X, self._way_back()) + self.mean_

    @abstractmethod
    def _way_back(self) -> np.ndarray:
        """Return what a unit of each component adds to the features, as rows."""

    def get_covariance(self) -> np.ndarray:
        """Return the covariance of the model, with the noise variance across the components."""
        check_is_fitted(self)
        excess = np.maximum(self.explained_variance_ - self.noise_variance_, 0)
        covariance = (self.components_.T * excess) @ self.components_
        covariance[np.diag_indices_from(covariance)] += self.noise_variance_
        return covariance

    def get_precision(self) -> np.ndarray:
        """Return the inverse of the covariance, or raise if some directions have no variance."""
        variances, noise = self._variances()
        if self.n_components_ == self.n_features_in_:
            return (self.components_.T / variances) @ self.components_
        precision = (self.components_.T * (1 / variances - 1 / noise)) @ self.components_
        precision[np.diag_indices_from(precision)] += 1 / noise
        return precision

    def _variances(self) -> tuple[np.ndarray, float]:
        """Return the variances along and across the components, or say that there is no density."""
        check_is_fitted(self)
        variances = np.maximum(self.explained_variance_, self.noise_variance_).astype(np.float64)
        across = self.n_components_ < self.n_features_in_
        if (variances <= 0).any() or (across and self.noise_variance_ <= 0):
            raise ValueError(
                f"{type(self).__name__} has no density, since some directions have no variance. "
                "Drop features that others determine, or take fewer components."
            )
        return variances, float(self.noise_variance_)

    def _log_density(self, X: Any) -> np.ndarray:
        X = X.toarray() if sparse.issparse(X) else X
        return subspace_log_density(X, self.mean_, self.components_, *self._variances())

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)
