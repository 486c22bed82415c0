"""Whitening: features with mean zero, variance one and no correlation.

With covariance S every whitening matrix W satisfies ``W S W' = I``; they differ by a rotation:

* "pca": project on the eigenvectors of S and divide by the roots of the eigenvalues;
* "zca": the symmetric root ``S^(-1/2)``, which changes the features least;
* "cholesky": the inverse of the lower triangular factor, in which feature j is explained by
  those before it.
"""

from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from sklearn.utils.validation import check_array, check_is_fitted

from corollary.core.estimator import Fraction, Transformer, fitted
from corollary.core.parallel import row_products
from corollary.core.schema import Array
from corollary.core.summary import Moments, reduce

METHODS = ("cholesky", "pca", "zca")


def whitening_matrix(covariance: Any, *, method: str = "zca", tol: float = 1e-12) -> np.ndarray:
    """Return a matrix W with ``W S W' = I``.

    Parameters
    ----------
    covariance : array-like of shape (n_features, n_features)
        Covariance S, symmetric positive semi-definite.
    method : {"zca", "pca", "cholesky"}, default="zca"
        Which of them, see :mod:`corollary.representation.scaling.whitening`.
    tol : float, default=1e-12
        Directions whose variance is at most this share of the largest have no spread: "zca" maps
        them to zero, "pca" leaves them out, "cholesky" refuses.

    Returns
    -------
    whitening : ndarray of shape (n_components, n_features)
        The matrix W. Rows of "pca" are in descending order of variance, each with a positive
        entry of largest absolute value.

    Raises
    ------
    ValueError
        If the covariance is not symmetric positive semi-definite, or is singular and the method
        is "cholesky".

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.representation import whitening_matrix
    >>> S = np.array([[4.0, 0.0], [0.0, 0.25]])
    >>> whitening_matrix(S)
    array([[0.5, 0. ],
           [0. , 2. ]])
    """
    S = np.asarray(covariance, dtype=float)
    if method not in METHODS:
        raise ValueError(
            "The 'method' parameter of whitening_matrix must be a str among {'cholesky', 'pca', "
            f"'zca'}}. Got {method!r} instead."
        )
    if S.ndim != 2 or S.shape[0] != S.shape[1] or not np.allclose(S, S.T, rtol=1e-8, atol=0):
        raise ValueError(
            f"whitening_matrix needs a symmetric covariance matrix. Got shape {S.shape}."
        )
    values, vectors = np.linalg.eigh(S)
    largest = float(values[-1])
    if values[0] < -1e-8 * max(largest, 0.0) or largest < 0:
        raise ValueError(
            "whitening_matrix needs a positive semi-definite covariance matrix. "
            f"Got an eigenvalue of {values[0]:.3g}."
        )
    spread = values > tol * largest
    if method == "cholesky":
        try:
            if not spread.all():
                raise LinAlgError
            return solve_triangular(cholesky(S, lower=True), np.eye(len(S)), lower=True)
        except LinAlgError:
            raise ValueError(
                "The covariance is singular, so that method 'cholesky' has no answer. Drop "
                "features that others determine, raise shrinkage, or use method 'zca' or 'pca'."
            ) from None
    roots = vectors[:, spread] / np.sqrt(values[spread])
    if method == "zca":
        return roots @ vectors[:, spread].T
    rows = roots.T[::-1]
    strongest = np.abs(rows).argmax(axis=1)
    return rows * np.sign(rows[np.arange(len(rows)), strongest])[:, None]


class Whitener(Transformer):
    """Transform features to mean zero, variance one and no correlation.

    Scaling each feature by its standard deviation is often called whitening too; it does not
    decorrelate, this does.

    Parameters
    ----------
    method : {"zca", "pca", "cholesky"}, default="zca"
        The symmetric root, which keeps features recognisable; principal components; or the
        triangular factor.
    shrinkage : float, default=0.0
        Share in [0, 1] of the covariance that is replaced by the mean variance on the diagonal;
        use it when there are few rows.

    Attributes
    ----------
    mean_ : ndarray of shape (`n_features_in_`,)
        Means.
    covariance_ : ndarray of shape (`n_features_in_`, `n_features_in_`)
        Covariance (division by the sum of weights), after shrinkage.
    whitening_ : ndarray of shape (n_components, `n_features_in_`)
        The matrix W of ``z = W (x - mean)``.

    See Also
    --------
    StandardScaler : Scales features one by one.
    whitening_matrix : The matrix itself.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.representation import Whitener
    >>> X = np.array([[0.0, 0.0], [2.0, 1.0], [4.0, 5.0], [1.0, 3.0]])
    >>> Z = Whitener().fit_transform(X)
    >>> np.cov(Z.T, ddof=0).round(6) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """

    _: KW_ONLY
    method: Literal["zca", "pca", "cholesky"] = "zca"
    shrinkage: Fraction = 0.0

    mean_: np.ndarray = fitted(Array("f", "d"))
    covariance_: np.ndarray = fitted(Array("f", "d", "d"))
    whitening_: np.ndarray = fitted(Array("f", "k", "d"))

    _training_rows: ClassVar[dict[str, Any]] = {"finite_squares": True, "ensure_min_samples": 2}

    def _fit(self, X: Any, sample_weight: np.ndarray | None) -> None:
        data = (X,) if sample_weight is None else (X, sample_weight)
        moments = reduce(Moments.of_width(X.shape[1]), data)
        covariance = moments.covariance()
        if self.shrinkage > 0:
            level = np.trace(covariance) / len(covariance)
            covariance = (1 - self.shrinkage) * covariance
            covariance[np.diag_indices_from(covariance)] += self.shrinkage * level
        self.mean_, self.covariance_ = moments.mean, covariance
        self.whitening_ = whitening_matrix(covariance, method=self.method)

    def _transform(self, X: Any) -> np.ndarray:
        return row_products(X - self.mean_, self.whitening_.T)

    def inverse_transform(self, Z: Any) -> np.ndarray:
        """Return whitened rows to the original features.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Whitened inputs.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Inputs, up to directions that had no spread in training.
        """
        check_is_fitted(self)
        Z = check_array(Z, dtype=np.float64)
        if Z.shape[1] != len(self.whitening_):
            raise ValueError(
                f"Whitener has {len(self.whitening_)} components. Got {Z.shape[1]} columns."
            )
        # W S W' = I, so S W' undoes W on every direction that has spread.
        return Z @ (self.whitening_ @ self.covariance_) + self.mean_

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the whitened features.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the inputs; None for those seen in training.

        Returns
        -------
        names : ndarray of str objects
            The inputs' own names for "zca", whose outputs resemble them, else numbered names.
        """
        check_is_fitted(self)
        names = _input_names(self, input_features)
        if self.method == "zca":
            return names
        return np.array([f"whitener{i}" for i in range(len(self.whitening_))], dtype=object)


def _input_names(estimator: Any, input_features: Any) -> np.ndarray:
    known = getattr(estimator, "feature_names_in_", None)
    if input_features is None:
        if known is not None:
            return np.asarray(known, dtype=object)
        return np.array([f"x{i}" for i in range(estimator.n_features_in_)], dtype=object)
    names = np.asarray(input_features, dtype=object)
    if known is not None and not np.array_equal(names, known):
        raise ValueError("input_features is not equal to feature_names_in_")
    if len(names) != estimator.n_features_in_:
        raise ValueError(
            "input_features should have length equal to number of features "
            f"({estimator.n_features_in_}), got {len(names)}"
        )
    return names
