"""Gaussian components in the form that densities are computed from, missing values included."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
import scipy.linalg

from corollary.core.parallel import in_blocks

CovarianceType = Literal["full", "tied", "diag", "spherical"]

#: Rows that one thread works on at a time.
_ROWS = 2**14


class Components(NamedTuple):
    """Weights, means and covariances, the latter in the shape of their type as scikit-learn's."""

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    kind: CovarianceType

    @property
    def matrices(self) -> np.ndarray:
        """Covariances as one matrix for each component."""
        k, d = self.means.shape
        if self.kind == "full":
            return self.covariances
        if self.kind == "tied":
            return np.broadcast_to(self.covariances, (k, d, d))
        return self.variances[:, :, None] * np.eye(d)

    @property
    def variances(self) -> np.ndarray:
        """Variances of diagonal or spherical components, column by column."""
        wide = self.covariances if self.kind == "diag" else self.covariances[:, None]
        return np.broadcast_to(wide, self.means.shape)

    @property
    def is_diagonal(self) -> bool:
        """Whether columns are independent within components."""
        return self.kind in ("diag", "spherical")

    def of_columns(self, columns: np.ndarray) -> "Components":
        """Return the components of some columns."""
        means = self.means[:, columns]
        if self.is_diagonal:
            return Components(self.weights, means, self.variances[:, columns], "diag")
        if self.kind == "tied":
            block = self.covariances[np.ix_(columns, columns)]
            return Components(self.weights, means, block, "tied")
        block = self.covariances[:, columns[:, None], columns]
        return Components(self.weights, means, block, "full")


class Whitened(NamedTuple):
    """Components as loops read them: ``whiteners`` or ``scales`` is empty."""

    log_factors: np.ndarray
    means: np.ndarray
    whiteners: np.ndarray
    scales: np.ndarray


def cholesky_factors(matrices: np.ndarray) -> np.ndarray:
    """Return lower Cholesky factors, or refuse a matrix that is singular."""
    factors = np.empty(matrices.shape)
    for place, matrix in enumerate(matrices):
        try:
            factors[place] = scipy.linalg.cholesky(matrix, lower=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            raise ValueError(_singular(place)) from None
    return factors


def _singular(place: int) -> str:
    return (
        f"Covariances must be positive definite. That of component {place} is not: its rows lie in "
        "a plane or in a point. Decrease n_components, raise reg_covar or covariance_floor, or "
        "scale the rows."
    )


def inverse_factors(components: Components) -> np.ndarray:
    """Return the inverses of lower Cholesky factors, or of standard deviations if diagonal."""
    if components.is_diagonal:
        variances = components.variances
        if not (variances > 0).all():
            raise ValueError(_singular(int(np.argmin(variances.min(axis=1, initial=np.inf)))))
        return 1 / np.sqrt(variances)
    tied = components.kind == "tied"
    matrices = components.covariances[None] if tied else components.covariances
    eye = np.eye(matrices.shape[1])
    inverses = [
        scipy.linalg.solve_triangular(factor, eye, lower=True, check_finite=False)
        for factor in cholesky_factors(matrices)
    ]
    wide = np.array(inverses).reshape(matrices.shape)
    return np.repeat(wide, len(components.means), axis=0) if tied else wide


def precisions_of(components: Components) -> tuple[np.ndarray, np.ndarray]:
    """Return upper triangular factors of the precisions, and these, in the shape of their type."""
    inverses = inverse_factors(components)
    if components.kind == "tied":
        inverses = inverses[0]
    if components.kind == "spherical":
        inverses = inverses[:, 0]
    if components.is_diagonal:
        return inverses, inverses**2
    factors = inverses.swapaxes(-1, -2).copy()
    return factors, factors @ inverses


def whiten(components: Components) -> Whitened:
    """Prepare components for the computation of densities."""
    d = components.means.shape[1]
    inverses = inverse_factors(components)
    diagonal = inverses if components.is_diagonal else inverses.diagonal(axis1=1, axis2=2)
    with np.errstate(divide="ignore"):  # a component of weight zero is impossible
        log_factors = np.log(components.weights)
    log_factors = log_factors + np.log(diagonal).sum(axis=1) - 0.5 * d * np.log(2 * np.pi)
    means = np.ascontiguousarray(components.means)
    if components.is_diagonal:
        return Whitened(log_factors, means, np.empty((0, d, d)), inverses)
    return Whitened(log_factors, means, np.ascontiguousarray(inverses), np.empty((0, d)))


def patterns(X: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield rows that miss the same values: their places, and the columns that they have."""
    missing = np.isnan(X)
    distinct, places = np.unique(missing, axis=0, return_inverse=True)
    for number, pattern in enumerate(distinct):
        yield np.flatnonzero(places.ravel() == number), np.flatnonzero(~pattern)


def log_joint_of(components: Components, X: np.ndarray) -> np.ndarray:
    """Return the log density of rows and components; missing values are integrated out."""
    if not np.isnan(X).any():
        return _of_complete(components, X)
    joint = np.empty((len(X), len(components.means)))
    for rows, columns in patterns(X):
        joint[rows] = _of_complete(components.of_columns(columns), X[np.ix_(rows, columns)])
    return joint


def _of_complete(components: Components, X: np.ndarray) -> np.ndarray:
    """Return the log density of complete rows and components, blocks of rows in threads."""
    from corollary.mixture._loops.em import log_joint_loop

    whitened, X = whiten(components), np.ascontiguousarray(X)
    joint = np.empty((len(X), len(components.means)))
    in_blocks(lambda a, b: log_joint_loop(X[a:b], whitened, joint[a:b]), len(X), _ROWS)
    return joint


def raised(covariances: np.ndarray, floor: float) -> np.ndarray:
    """Raise eigenvalues of symmetric matrices to a floor, where they are below it."""
    if floor == 0:
        return covariances
    values, vectors = np.linalg.eigh(covariances)
    lifted = (vectors * np.maximum(values, floor)[..., None, :]) @ vectors.swapaxes(-1, -2)
    low = values[..., :1, None] < floor  # others stay as they are, to the bit
    return np.where(low, (lifted + lifted.swapaxes(-1, -2)) / 2, covariances)
