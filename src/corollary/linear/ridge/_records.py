"""What functions of ridge regression return."""

from typing import NamedTuple

import numpy as np


class DualSolution(NamedTuple):
    """A ridge solution expressed by the training rows, and as coefficients."""

    dual_coef: np.ndarray  # (n_samples,) or (n_samples, n_targets)
    coef: np.ndarray  # (n_features,) or (n_features, n_targets)


class RidgePath(NamedTuple):
    """Ridge solutions along a grid of penalties."""

    alphas: np.ndarray  # (n_alphas,), as they were asked for
    coefs: np.ndarray  # (n_features, n_alphas) or (n_targets, n_features, n_alphas)
    intercepts: np.ndarray  # (n_alphas,) or (n_targets, n_alphas)
    dof: np.ndarray  # (n_alphas,), the intercept included


class VarianceSplit(NamedTuple):
    """The posterior variance along each singular direction and its two parts."""

    posterior: np.ndarray
    sampling: np.ndarray  # variance of the ridge estimate over the noise
    squared_bias: np.ndarray  # averaged over the prior
