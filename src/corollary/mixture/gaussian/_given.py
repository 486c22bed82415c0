"""Components that users give to start with."""

from typing import Any

import numpy as np

from corollary.mixture.gaussian._starts import (
    RowSample,
    Settings,
    blank_components,
    start_components,
)
from corollary.mixture.gaussian._whitened import Components


def components_to_start_with(
    estimator: Any, sample: RowSample, settings: Settings, random: Any
) -> Components:
    """Return a start, with weights, means and precisions of the user's in the place of its own."""
    names = ("weights_init", "means_init", "precisions_init")
    if all(getattr(estimator, name) is not None for name in names):
        start = blank_components(settings.n_components, sample.rows.shape[1], settings.kind)
    else:
        start = start_components(sample, settings, random)
    weights = _checked(estimator, "weights", start.weights.shape)
    means = _checked(estimator, "means", start.means.shape)
    precisions = _checked(estimator, "precisions", start.covariances.shape)
    if weights is not None:
        if (weights < 0).any() or (weights > 1).any():
            raise ValueError(
                "The parameter 'weights' should be in the range [0, 1], but got max value "
                f"{weights.max():.5f}, min value {weights.min():.5f}"
            )
        if abs(weights.sum() - 1) > 1e-8:
            raise ValueError(
                "The parameter 'weights' should be normalized, but got sum(weights) = "
                f"{weights.sum():.5f}"
            )
    return Components(
        start.weights if weights is None else weights,
        start.means if means is None else means,
        start.covariances if precisions is None else _inverses(precisions, start),
        start.kind,
    )


def _checked(estimator: Any, name: str, shape: tuple[int, ...]) -> np.ndarray | None:
    """Return a parameter of the right shape as an array."""
    value = getattr(estimator, f"{name}_init")
    if value is None:
        return None
    array = np.array(value, dtype=float)
    if array.shape != shape:
        raise ValueError(
            f"The parameter '{name}' should have the shape of {shape}, but got {array.shape}. Give "
            f"{name}_init for {estimator.n_components} components of covariance type "
            f"{estimator.covariance_type!r}."
        )
    if not np.isfinite(array).all():
        raise ValueError(f"The parameter '{name}' should be finite, but {name}_init is not.")
    return array


def _inverses(precisions: np.ndarray, start: Components) -> np.ndarray:
    """Return the covariances of precisions, or refuse these."""
    if start.is_diagonal:
        if not (precisions > 0).all():
            raise ValueError(f"'{start.kind} precision' should be positive")
        return 1 / precisions
    symmetric = np.allclose(precisions, precisions.swapaxes(-1, -2))
    if not symmetric or not (np.linalg.eigvalsh(precisions) > 0).all():
        raise ValueError(f"'{start.kind} precision' should be symmetric, positive-definite")
    return np.linalg.inv(precisions)
