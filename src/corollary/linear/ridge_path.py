"""Ridge regression over a grid of penalties, for the price of one decomposition."""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from scipy import sparse
from sklearn.utils import check_X_y

from corollary.core.compat import check_sample_weight, validate_params
from corollary.core.summary import ArraySource
from corollary.linear.factorisation import scaled_decomposition
from corollary.linear.triangular_factor import TriangularFactor


class RidgePath(NamedTuple):
    """Ridge solutions along a grid of penalties.

    Parameters
    ----------
    alphas : ndarray of shape (n_alphas,)
        The penalties, as given.
    coefs : ndarray of shape (n_features, n_alphas) or (n_targets, n_features, n_alphas)
        Coefficients, one column per penalty.
    intercepts : ndarray of shape (n_alphas,) or (n_targets, n_alphas)
        Intercepts; zero if none was asked for.
    dof : ndarray of shape (n_alphas,)
        Effective degrees of freedom, the intercept included.

    Examples
    --------
    >>> from corollary.linear import ridge_path
    >>> ridge_path([[-1.0], [1.0]], [0.0, 2.0], [1.0, 2.0]).intercepts
    array([1., 1.])
    """

    alphas: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    dof: np.ndarray


class Spectrum(NamedTuple):
    r"""The centred, weighted design in its singular directions.

    Parameters
    ----------
    singular_values : ndarray of shape (m,)
        Singular values D.
    directions : ndarray of shape (n_features, m)
        Right singular vectors V.
    projections : ndarray of shape (m, n_targets)
        Targets along the left singular vectors, :math:`U^\top y`.
    x_mean : ndarray of shape (n_features,)
        What was subtracted from X.
    y_mean : ndarray of shape (n_targets,)
        What was subtracted from y.
    """

    singular_values: np.ndarray
    directions: np.ndarray
    projections: np.ndarray
    x_mean: np.ndarray
    y_mean: np.ndarray

    def coefficients(self, alpha: float) -> np.ndarray:
        """Return the ridge coefficients for one positive penalty."""
        s = self.singular_values
        return self.directions @ ((s / (s**2 + alpha))[:, np.newaxis] * self.projections)


def spectrum(
    X: Any, y: np.ndarray, sample_weight: np.ndarray | None, *, fit_intercept: bool = True
) -> Spectrum:
    """Decompose a design without copying it."""
    n, d = X.shape
    w = np.ones(n) if sample_weight is None else sample_weight
    if not w.sum() > 0:
        raise ValueError("Ridge regression needs rows of positive weight. All weights are zero.")
    targets = y.reshape(n, -1)
    shift = np.zeros(d + targets.shape[1])
    if fit_intercept:
        shift = np.concatenate([np.asarray(X.T @ w), targets.T @ w]) / w.sum()
    R = ArraySource((X, y, sample_weight)).reduce(TriangularFactor.of_shift(shift)).R
    U, s, Vt = scipy.linalg.svd(R[:, :d], full_matrices=False)
    s[scaled_decomposition(R[:, :d])[3] :] = 0.0  # beyond the rank there is rounding only
    return Spectrum(s, Vt.T, U.T @ R[:, d:], shift[:d], shift[d:])


@validate_params(
    {
        "X": ["array-like", "sparse matrix"],
        "y": ["array-like"],
        "alphas": ["array-like"],
        "fit_intercept": ["boolean"],
        "sample_weight": ["array-like", None],
    },
    prefer_skip_nested_validation=True,
)
def ridge_path(
    X: Any,
    y: Any,
    alphas: Any,
    *,
    fit_intercept: bool = True,
    sample_weight: Any = None,
) -> RidgePath:
    """Compute ridge coefficients for every penalty of a grid.

    Ridge coefficients shrink towards zero without reaching it; with correlated columns a
    coefficient may cross zero at single penalties.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Targets.
    alphas : array-like of shape (n_alphas,)
        Positive penalties on the sum of squares.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights.

    Returns
    -------
    path : RidgePath
        Coefficients, intercepts and effective degrees of freedom.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import ridge_path
    >>> X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([1.0, 3.0, 5.0])
    >>> path = ridge_path(X, y, [2.0, 6.0])
    >>> path.coefs.round(6), path.dof.round(6)
    (array([[1. , 0.5]]), array([1.5 , 1.25]))
    """
    alphas = check_alphas("ridge_path", alphas)
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64, multi_output=True, y_numeric=True)
    if sample_weight is not None:
        sample_weight = check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
    found = spectrum(X, y, sample_weight, fit_intercept=fit_intercept)
    s = found.singular_values
    coefs = np.stack([found.coefficients(a) for a in alphas], axis=-1)
    intercepts = found.y_mean[:, np.newaxis] - np.einsum("j,jka->ka", found.x_mean, coefs)
    dof = np.array([np.sum(s**2 / (s**2 + a)) for a in alphas]) + fit_intercept
    if y.ndim == 1:
        return RidgePath(alphas, coefs[:, 0], intercepts[0], dof)
    return RidgePath(alphas, coefs.transpose(1, 0, 2), intercepts, dof)


def check_alphas(name: str, alphas: Any) -> np.ndarray:
    """Validate a grid of penalties."""
    grid = np.asarray(alphas, dtype=np.float64)
    if grid.ndim != 1 or len(grid) == 0 or not np.all(grid > 0) or not np.all(np.isfinite(grid)):
        raise ValueError(
            f"The 'alphas' parameter of {name} must be a one-dimensional array of positive "
            f"numbers. Got {alphas!r} instead."
        )
    return grid


def project_rows(X: Any, found: Spectrum) -> np.ndarray:
    r"""Return the coordinates of centred rows along the singular directions."""
    if sparse.issparse(X):
        return X @ found.directions - found.x_mean @ found.directions
    return (X - found.x_mean) @ found.directions
