"""What a search for hyper-parameters and inducing points returns."""

from typing import NamedTuple

import numpy as np


class LearntInducing(NamedTuple):
    """Hyper-parameters and inducing points that maximise the collapsed bound."""

    theta: np.ndarray
    Z: np.ndarray
    n_iter: int
    converged: bool
