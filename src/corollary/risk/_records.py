"""What functions of this package return, where it is more than a number."""

from typing import Any, NamedTuple

import numpy as np


class RegularisedRisk(NamedTuple):
    """A regularised risk and its gradient."""

    value: float  # the objective
    gradient: np.ndarray  # a (sub)gradient in the coefficients
    intercept_gradient: Any  # a (sub)gradient in the intercept, which is never penalised


class MeanSquaredError(NamedTuple):
    """The mean squared error of an estimator, split."""

    mse: Any  # ``E(estimate - truth)^2``
    variance: Any  # ``E(estimate - E estimate)^2``
    bias: Any  # ``E estimate - truth``; ``mse = variance + bias^2``


class FiniteMinimum(NamedTuple):
    """An empirical risk minimiser of a finite class."""

    position: int  # position in the class
    hypothesis: Any  # the hypothesis itself
    risk: float  # its empirical risk
    risks: np.ndarray  # the empirical risks of all hypotheses


class ParametricMinimum(NamedTuple):
    """An approximate empirical risk minimiser of a parametric class."""

    parameters: np.ndarray  # where the search ended
    value: float  # the objective there: mean loss plus penalty
    gradient_norm: float  # largest absolute entry of its gradient there
    n_iter: int  # iterations
    converged: bool  # whether the gradient was brought below the tolerance


class LinearMinimum(NamedTuple):
    """An empirical risk minimiser among linear predictors."""

    coef: np.ndarray  # coefficients
    intercept: Any  # intercept
    value: float  # the objective there: mean loss plus penalty
    n_iter: int  # iterations
    converged: bool  # whether the gradient was brought below the tolerance


class OrderSensitivity(NamedTuple):
    """How much predictions depend on the order of the training rows."""

    changed: float  # largest share of predictions that differ from those of the original order
    largest_difference: float  # largest absolute difference; NaN for labels that are not numbers
