"""Standardisation: every feature with mean zero and variance one.

Dividing by the standard deviation makes features comparable and matrices better conditioned. It
does not decorrelate them; that is whitening, see :mod:`corollary.representation.scaling.whitening`.
"""

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.sparsefuncs import inplace_column_scale
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from corollary.core.compat import check_sample_weight, fit_context
from corollary.core.estimator import Transformer, check_new_data, fitted, remember_rows
from corollary.core.protocols import AffineMap
from corollary.core.schema import Array, Nullable

_FLOATS = [np.float64, np.float32, np.float16]

# Rows that rounding is reckoned with; a sum of weights may be any number.
MOST_ROWS = 1e8


def feature_moments(X: Any, sample_weight: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weight, mean and variance of every feature, ignoring missing values.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Numbers; NaN counts as missing.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Non-negative weights.

    Returns
    -------
    weight : ndarray of shape (n_features,)
        Sum of the weights of the values present.
    mean : ndarray of shape (n_features,)
        Weighted means; NaN where nothing is present.
    variance : ndarray of shape (n_features,)
        Weighted mean squared deviations.

    Raises
    ------
    ValueError
        If the square of a deviation is too large for a number.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.representation import feature_moments
    >>> weight, mean, variance = feature_moments(np.array([[1.0], [3.0], [np.nan]]))
    >>> weight, mean, variance
    (array([2.]), array([2.]), array([1.]))
    """
    w = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    with np.errstate(over="ignore", invalid="ignore"):
        moments = _sparse_moments(X.tocsc(), w) if sparse.issparse(X) else _dense_moments(X, w)
    return _finite(moments)


def _dense_moments(X: Any, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    d = X.shape[1]
    weight, mean, variance = np.zeros(d), np.full(d, np.nan), np.full(d, np.nan)
    # Column by column: no copy of X, and a missing value touches its own column only.
    for j in range(d):
        column = np.asarray(X[:, j], dtype=float)
        present = ~np.isnan(column) & (w > 0)
        column, own = (column, w) if present.all() else (column[present], w[present])
        if column.size == 0:
            continue
        # Deviations from one of the values instead of from zero: exact for constants, and no
        # digits are lost when the mean is large.
        origin, weight[j] = column[0], own.sum()
        column = column - origin
        shift = own @ column / weight[j]
        mean[j], variance[j] = origin + shift, own @ (column - shift) ** 2 / weight[j]
    return weight, mean, variance


def _finite(
    moments: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Refuse moments that have overflowed; those of nothing are NaN."""
    weight, mean, variance = moments
    wrong = (weight > 0) & ~(np.isfinite(mean) & np.isfinite(variance))
    if wrong.any():
        raise ValueError(
            f"Feature {int(np.flatnonzero(wrong)[0])} has values whose squared deviations are too "
            "large for a number (beyond about 1e308). Divide the feature by a constant so that it "
            "is about one, or drop the rows that are out of line."
        )
    return moments


def _sparse_moments(X: Any, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    d = X.shape[1]
    column = np.repeat(np.arange(d), np.diff(X.indptr))
    missing, own = np.isnan(X.data), w[X.indices]
    weight = w.sum() - np.bincount(column[missing], own[missing], minlength=d)
    column, own, values = column[~missing], own[~missing], X.data[~missing].astype(float)
    # Entries that are not stored are zeros. Where all are stored, deviations are taken from one of
    # them, as in a dense column, so that those of a constant are exactly zero.
    zeros = np.diff(X.indptr) < X.shape[0]
    origin = np.zeros(d)
    origin[column[::-1]] = values[::-1]
    origin[zeros] = 0.0
    values -= origin[column]
    some = np.where(weight > 0, weight, np.nan)
    shift = np.bincount(column, own * values, minlength=d) / some
    squares = np.bincount(column, own * (values - shift[column]) ** 2, minlength=d)
    absent = np.where(zeros, weight - np.bincount(column, own, minlength=d), 0.0)
    return weight, origin + shift, (squares + absent * shift**2) / some


def standardise(X: Any, *, sample_weight: Any = None) -> np.ndarray:
    """Scale every feature of an array to mean zero and variance one.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numbers; NaN counts as missing and stays.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights of the rows.

    Returns
    -------
    Z : ndarray of shape (n_samples, n_features)
        Standardised features; constant ones are zero.

    See Also
    --------
    StandardScaler : Remembers means and scales for new rows.

    Examples
    --------
    >>> from corollary.representation import standardise
    >>> standardise([[1.0, 5.0], [3.0, 5.0]])
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    X = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan")
    weight = None
    if sample_weight is not None:
        weight = check_sample_weight(sample_weight, X, ensure_non_negative=True)
    moments = feature_moments(X, weight)
    return (X - moments[1]) / _scale(*moments)


def _scale(weight: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return standard deviations, with 1 for features that are constant up to rounding."""
    # What n roundings can make of the variance of a constant (Chan, Golub and LeVeque, 1983).
    rounding = np.finfo(np.float64).eps * np.clip(weight, 1.0, MOST_ROWS)
    constant = variance <= rounding * variance + (rounding * mean) ** 2
    return np.where(constant, 1.0, np.sqrt(variance))


class StandardScaler(OneToOneFeatureMixin, Transformer):
    """Scale every feature to mean zero and variance one.

    Missing values are ignored in ``fit`` and stay in ``transform``. The predictions of least
    squares with an intercept do not depend on it; penalised methods, distances and iterative
    solvers do.

    Parameters
    ----------
    copy : bool, default=True
        Whether ``transform`` works on a copy; False overwrites floating-point input.
    with_mean : bool, default=True
        Whether to subtract the mean; must be False for sparse input.
    with_std : bool, default=True
        Whether to divide by the standard deviation.

    Attributes
    ----------
    mean_ : ndarray of shape (`n_features_in_`,) or None
        Means; None if neither `with_mean` nor `with_std`.
    var_ : ndarray of shape (`n_features_in_`,) or None
        Variances (division by the sum of weights); None without `with_std`.
    scale_ : ndarray of shape (`n_features_in_`,) or None
        Divisors: standard deviations, 1 for constant features; None without `with_std`.
    weight_ : ndarray of shape (`n_features_in_`,)
        Sum of the weights of the values present.
    n_samples_seen_ : int, float or ndarray of shape (`n_features_in_`,)
        The same as one number, where it is the same for all features.

    See Also
    --------
    Whitener : Also removes correlations.

    Examples
    --------
    >>> from corollary.representation import StandardScaler
    >>> StandardScaler().fit_transform([[0.0, 3.0], [2.0, 3.0]])
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    _: KW_ONLY
    copy: bool = True
    with_mean: bool = True
    with_std: bool = True

    mean_: np.ndarray | None = fitted(Nullable(Array("f", "d", nan=True)))
    var_: np.ndarray | None = fitted(Nullable(Array("f", "d", nan=True)))
    scale_: np.ndarray | None = fitted(Nullable(Array("f", "d", low=np.finfo(np.float64).tiny)))
    weight_: np.ndarray = fitted(Array("f", "d", low=0))

    def _row_checks(self) -> dict[str, Any]:
        return {
            "dtype": _FLOATS,
            "accept_sparse": "csr" if not self.with_mean else False,
            "ensure_all_finite": "allow-nan",
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check(self, X: Any, y: Any, sample_weight: Any, **checks: Any) -> Any:
        self._refuse_sparse(X)
        return super()._check(X, y, sample_weight, **checks)

    def _refuse_sparse(self, X: Any) -> None:
        if self.with_mean and sparse.issparse(X):
            raise ValueError(
                "StandardScaler would fill a sparse matrix by subtracting means. Got sparse rows; "
                "use with_mean=False, or X.toarray() if it fits in memory."
            )

    def _fit(self, X: Any, sample_weight: np.ndarray | None) -> None:
        self._remember(feature_moments(X, sample_weight))

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Update means and scales with more rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            More training inputs.
        y : None, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights.

        Returns
        -------
        self : StandardScaler
            The scaler of all rows so far.
        """
        first = not hasattr(self, "weight_")
        self._refuse_sparse(X)
        X = validate_data(self, X, reset=first, **self._row_checks())
        if sample_weight is not None:
            sample_weight = check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
        moments = feature_moments(X, sample_weight)
        if not first:
            with np.errstate(over="ignore", invalid="ignore"):
                moments = _finite(_merge(self._moments(), moments))
        self._remember(moments)
        remember_rows(self, X, more=not first)
        return self

    def _remember(self, moments: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
        self.weight_, mean, variance = moments
        scale = _scale(*moments)
        # A feature without any value present passes through unchanged.
        scale = np.where(np.isnan(scale), 1.0, scale)
        self.var_, self.scale_ = (variance, scale) if self.with_std else (None, None)
        self.mean_ = mean if self.with_mean or self.with_std else None

    def _moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what was learnt so far; zero for what is not asked for."""
        nothing = np.zeros(len(self.weight_))
        mean, variance = (nothing if m is None else m for m in (self.mean_, self.var_))
        return self.weight_, mean, variance

    def _fits_together(self) -> str | None:
        if self.with_mean and self.mean_ is None:
            return "it has no means"
        if self.with_std and (self.mean_ is None or self.var_ is None or self.scale_ is None):
            return "it has no scales"
        _, mean, variance = self._moments()
        if ((np.isnan(mean) | np.isnan(variance)) & (self.weight_ > 0)).any():
            return "it has no mean or variance of a feature that had values"
        return None

    @property
    def n_samples_seen_(self) -> Any:
        """Rows seen (or their weight), one number for all features if nothing was missing."""
        seen = self.weight_
        if seen.min() < seen.max():
            return seen
        return int(seen[0]) if seen[0] == np.floor(seen[0]) else float(seen[0])

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        """Standardise rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Inputs.
        copy : bool or None, default=None
            Overrides the parameter of the same name.

        Returns
        -------
        Z : ndarray or sparse matrix of shape (n_samples, n_features)
            Standardised inputs.
        """
        copy = self.copy if copy is None else copy
        self._refuse_sparse(X)
        checks = self._row_checks() | {"copy": copy, "force_writeable": True}
        return self._transform(check_new_data(self, X, **checks))

    def _transform(self, X: Any) -> Any:
        if self.with_mean and self.mean_ is not None:
            X -= self.mean_.astype(X.dtype)
        if self.with_std and self.scale_ is not None:
            if sparse.issparse(X):
                inplace_column_scale(X, 1 / self.scale_)
            else:
                X /= self.scale_.astype(X.dtype)
        return X

    def as_affine(self) -> AffineMap:
        """Return the map of a row as a matrix and an offset.

        Returns
        -------
        affine : AffineMap
            Division by the scales after subtraction of the means.
        """
        d = self.n_features_in_
        scale = self.scale_ if self.with_std and self.scale_ is not None else np.ones(d)
        mean = self.mean_ if self.with_mean and self.mean_ is not None else np.zeros(d)
        return AffineMap(np.diag(1 / scale), -mean / scale)

    def inverse_transform(self, X: Any, copy: bool | None = None) -> Any:
        """Return standardised rows to the original scale.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Standardised inputs.
        copy : bool or None, default=None
            Overrides the parameter of the same name.

        Returns
        -------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Inputs on the original scale.
        """
        check_is_fitted(self)
        self._refuse_sparse(X)
        X = check_array(X, copy=self.copy if copy is None else copy, **self._row_checks())
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but StandardScaler is expecting "
                f"{self.n_features_in_} features as input."
            )
        if self.with_std and self.scale_ is not None:
            if sparse.issparse(X):
                inplace_column_scale(X, self.scale_)
            else:
                X *= self.scale_.astype(X.dtype)
        if self.with_mean and self.mean_ is not None:
            X += self.mean_.astype(X.dtype)
        return X


def _merge(one: tuple, two: tuple) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Merge weights, means and variances of two sets of rows."""
    (wa, ma, va), (wb, mb, vb) = one, two
    weight = wa + wb
    # A side without values has NaN moments and weight zero.
    ma, va, mb, vb = (np.where(w > 0, m, 0) for w, m in ((wa, ma), (wa, va), (wb, mb), (wb, vb)))
    share = np.divide(wb, weight, out=np.zeros_like(weight), where=weight > 0)
    mean = ma + share * (mb - ma)
    variance = (1 - share) * va + share * vb + share * (1 - share) * (mb - ma) ** 2
    nothing = weight == 0
    return weight, np.where(nothing, np.nan, mean), np.where(nothing, np.nan, variance)
