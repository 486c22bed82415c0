"""The singular directions of a design, which serve every ridge penalty at once."""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from scipy import sparse

from corollary.core.summary import ArraySource
from corollary.linear.squares._factorisation import scaled_decomposition
from corollary.linear.squares._triangular_factor import TriangularFactor


class Spectrum(NamedTuple):
    """The centred, weighted design :math:`U D V^T` in its singular directions."""

    singular_values: np.ndarray  # D
    directions: np.ndarray  # V, (n_features, m)
    projections: np.ndarray  # targets along the left singular vectors, (m, n_targets)
    x_mean: np.ndarray  # what was subtracted from X
    y_mean: np.ndarray  # and from y

    def coefficients(self, alpha: float | np.ndarray) -> np.ndarray:
        """Return the ridge coefficients for one positive penalty, or for one of each target."""
        s = self.singular_values[:, np.newaxis]
        return self.directions @ (s / (s**2 + alpha) * self.projections)

    def coordinates(self, X: Any) -> np.ndarray:
        """Return centred rows along the singular directions."""
        if sparse.issparse(X):
            return X @ self.directions - self.x_mean @ self.directions
        return (X - self.x_mean) @ self.directions


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


def check_alphas(name: str, alphas: Any, *, zero: bool = False) -> np.ndarray:
    """Validate a grid of penalties, which may be ``zero`` where no leverage is computed."""
    grid = np.asarray(alphas, dtype=np.float64)
    allowed = (grid >= 0 if zero else grid > 0) & np.isfinite(grid)
    if grid.ndim != 1 or len(grid) == 0 or not np.all(allowed):
        raise ValueError(
            f"The 'alphas' parameter of {name} must be a one-dimensional array of "
            f"{'non-negative' if zero else 'positive'} numbers. Got {alphas!r} instead."
        )
    return grid
