"""What functions of separating hyperplanes return."""

from typing import NamedTuple

import numpy as np


class MaximumMargin(NamedTuple):
    """The widest separating hyperplane of a data set."""

    margin: float  # 0.0 if no plane separates the data strictly
    coef: np.ndarray  # (n_features,), unit normal vector; zeros if there is no such plane
    intercept: float
    upper: float  # proven upper bound on every margin


class Separation(NamedTuple):
    """Whether a hyperplane separates two classes, and one that does."""

    separable: bool
    coef: np.ndarray  # (n_features,), zeros if there is none
    intercept: float


class PerceptronRun(NamedTuple):
    """What happened in a run of the perceptron."""

    weights: np.ndarray  # (n_features,), the last ones: the sum of mistakes * y * x
    mistakes: np.ndarray  # (n_samples,), how often each row was mistaken
    passes: int  # the verifying one included
    separated: bool  # whether the last pass made no mistake


class PerceptronLeaveOneOut(NamedTuple):
    """Leave-one-out errors of the cyclic perceptron."""

    wrong: np.ndarray  # (n_samples,), whether the perceptron of the others mistakes the row
    error: float
    refits: int
