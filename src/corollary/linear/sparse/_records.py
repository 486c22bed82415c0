"""What solvers of sparse linear models return."""

from typing import NamedTuple

import numpy as np


class Path(NamedTuple):
    """Solutions of one target, one column or entry per penalty."""

    coefs: np.ndarray
    dual_gaps: np.ndarray
    n_iters: np.ndarray
    converged: np.ndarray


class BallLeastSquares(NamedTuple):
    """Solutions of least squares in balls, one per row."""

    coef: np.ndarray  # (n_problems, k)
    loss: np.ndarray  # (n_problems,), sums of squares less that of the target
    multiplier: np.ndarray  # (n_problems,), of the constraint: the equivalent ridge penalties
