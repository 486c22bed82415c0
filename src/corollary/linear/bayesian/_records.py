"""Laws and hyper-parameters of a Bayesian linear model."""

from typing import NamedTuple

import numpy as np


class GaussianPosterior(NamedTuple):
    """The posterior law of the coefficients."""

    mean: np.ndarray  # (n_features,)
    covariance: np.ndarray  # (n_features, n_features)
    precision: np.ndarray  # its inverse: the prior precision of the next batch


class HyperParameters(NamedTuple):
    """What the prior and the noise are."""

    prior_precision: np.ndarray  # (n_features, n_features)
    noise_variance: float
