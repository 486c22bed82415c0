"""The singular directions of a design, which serve every ridge penalty at once."""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from scipy import sparse

from corollary.core.summary import ArraySource
from corollary.linear.squares._factorisation import scaled_decomposition
from corollary.linear.squares._triangular_factor import TriangularFactor


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
