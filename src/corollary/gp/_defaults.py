"""Where the search for hyper-parameters starts: at the scales of the data."""

from typing import Any

import numpy as np

from corollary.gp.learning.search import Search
from corollary.kernels import RBF, Kernel

# A learnt noise variance is between these multiples of the mean square of the target, and starts
# at a tenth of it; those of a default kernel lie between these multiples of the data's scales.
NOISE_RANGE, RANGE, NOISE_START = (1e-8, 1e2), (1e-5, 1e5), 0.1


def standardise(y: np.ndarray, weight: Any, *, normalise: bool) -> tuple[np.ndarray, float, float]:
    """Centre targets and divide them by their standard deviation."""
    if not normalise:
        return y, 0.0, 1.0
    shares = _shares(weight)
    mean = float(np.average(y, weights=shares))
    spread = float(np.sqrt(np.average((y - mean) ** 2, weights=shares)))
    # What is left of a constant after rounding is no scale.
    scale = spread if spread > 1e-13 * abs(mean) else 1.0
    return (y - mean) / scale, mean, scale


def default_search(
    kernel: Kernel | None,
    alpha: float | str,
    spread: np.ndarray,
    y: np.ndarray,
    weight: Any,
    *,
    learns: bool,
    who: Any,
) -> Search:
    """Return where the search starts, at the data's own scales if nothing is given."""
    name = type(who).__name__
    if kernel is not None and not kernel.positive_semidefinite:
        raise ValueError(f"{name} needs a positive semi-definite kernel. Got {kernel!r}.")
    square = float(np.average(y**2, weights=_shares(weight))) or 1.0
    if kernel is None:
        kernel = square * RBF(spread * np.sqrt(len(spread)))
        scales = np.log(np.concatenate([[square], spread]))
        low, high = scales + np.log(RANGE[0]), scales + np.log(RANGE[1])
    else:
        low, high = kernel.parameters().bounds.T
    if not isinstance(alpha, str):
        return Search(kernel, float(alpha), False, low, high)
    if not learns:
        raise ValueError(
            f"{name} with optimizer=None learns nothing and needs a noise variance. "
            "Got alpha='evidence'; give alpha a number."
        )
    low = np.append(low, np.log(NOISE_RANGE[0] * square))
    high = np.append(high, np.log(NOISE_RANGE[1] * square))
    return Search(kernel, NOISE_START * square, True, low, high)


def _shares(weight: np.ndarray | None) -> np.ndarray | None:
    """Divide weights by the largest: an average is the same, and its sums do not overflow."""
    return None if weight is None else weight / weight.max()


def spread_of(X: np.ndarray, weight: Any = None) -> np.ndarray:
    """Return the standard deviation of each feature, 1 for constant ones."""
    if weight is None:
        spread = X.std(axis=0)
    else:
        shares = _shares(weight)
        centre = np.average(X, axis=0, weights=shares)
        spread = np.sqrt(np.average((X - centre) ** 2, axis=0, weights=shares))
    # What is left of a constant after rounding is no scale.
    return np.where(spread <= 1e-13 * np.abs(X).max(axis=0), 1.0, spread)
