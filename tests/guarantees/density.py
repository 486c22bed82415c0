"""Bounds on estimators: none has a smaller mean squared error than Cramér and Rao allow.

The bound is one from below, so that in a trial it is the truth that must not exceed what was seen.
"""

from functools import cache

import numpy as np
from scipy.special import ndtri

from corollary.density import (
    Bernoulli,
    Exponential,
    Normal,
    NormalVector,
    Poisson,
    cramer_rao_bound,
    cramer_rao_matrix,
    maximum_likelihood,
    wald_interval,
)
from tests.guarantees.registry import guarantee

POISSON, BERNOULLI, EXPONENTIAL = Poisson(), Bernoulli(), Exponential()


def mean_of_counts(rng, factor=1.0, n=5, mean=2.0):
    """The mean of a few counts is efficient: its squared error is the bound on average."""
    error = (rng.poisson(mean, n).mean() - mean) ** 2
    return error, factor * cramer_rao_bound(POISSON.fisher_information([mean], n)[0, 0]).variance


guarantee(
    "density.cramer-rao",
    "the mean of 5 counts",
    delta=None,
    repetitions=4000,
    faults={
        "a third too much": lambda rng: mean_of_counts(rng, 4 / 3),
        "the information of one count": lambda rng: (mean_of_counts(rng)[0], 2.0),
    },
)(mean_of_counts)


def shrunk_share(rng, slope=None, n=1, p=0.3):
    """One throw of a coin, shrunk towards a half: the biased form, reached exactly."""
    estimate = (2 * rng.binomial(n, p) / n + 0.5) / 3
    bias = (2 * p + 0.5) / 3 - p
    information = BERNOULLI.fisher_information([p], n)[0, 0]
    slope = -1 / 3 if slope is None else slope
    bound = cramer_rao_bound(information, bias=bias, bias_slope=slope)
    return (estimate - p) ** 2, bound.mean_squared_error


guarantee(
    "density.cramer-rao",
    "one throw of a coin, shrunk towards a half",
    delta=None,
    repetitions=4000,
    faults={"as if unbiased": lambda rng: shrunk_share(rng, 0.0)},
)(shrunk_share)


def middle_of_three(rng, factor=1.0, n=3):
    """The median of three normal draws is unbiased and not efficient."""
    error = np.median(rng.normal(size=n)) ** 2
    return error, factor * cramer_rao_bound(
        Normal(std=1.0).fisher_information([0.0], n)[0, 0]
    ).variance


guarantee(
    "density.cramer-rao",
    "the median of 3 normal draws",
    delta=None,
    repetitions=4000,
    faults={"twice the bound": lambda rng: middle_of_three(rng, 2.0)},
)(middle_of_three)

A = np.array([[0.5, 0.4], [-0.2, 0.8]])
COVARIANCE = np.array([[2.0, 0.5], [0.5, 1.0]])
THETA = np.array([1.0, -1.0])
SLOPE = A - np.eye(2)  # of the bias
DIRECTION = np.array([0.6, -0.8])


FACTOR, VECTORS = np.linalg.cholesky(COVARIANCE), NormalVector(COVARIANCE)


def linear_map(rng, jacobian=SLOPE, n=2):
    """A linear map of the mean of two normal rows, in one direction."""
    x = THETA + rng.normal(size=(n, 2)) @ FACTOR.T
    error = float(DIRECTION @ (A @ x.mean(axis=0) - THETA)) ** 2
    return error, least_error(jacobian.tobytes(), n)


@cache
def least_error(jacobian, n):
    """What the theorem says about all draws, the same in every repetition."""
    information = VECTORS.fisher_information(THETA, n)
    slope = np.frombuffer(jacobian).reshape(2, 2)
    bound = cramer_rao_matrix(information, bias=SLOPE @ THETA, bias_jacobian=slope)
    return float(DIRECTION @ bound.mean_squared_error @ DIRECTION)


guarantee(
    "density.cramer-rao-matrix",
    "a linear map of the mean of 2 normal rows",
    delta=None,
    repetitions=4000,
    faults={"as if unbiased": lambda rng: linear_map(rng, np.zeros((2, 2)))},
)(linear_map)


def interval_of_a_rate(rng, confidence=0.95, n=400, rate=0.7):
    """The limit's interval for a rate; with 400 draws one in twenty misses, nearly."""
    x = rng.exponential(1 / rate, n)
    estimate = maximum_likelihood(EXPONENTIAL, x)
    low, high = wald_interval(estimate.theta, estimate.covariance, confidence)[0]
    return 0.0, max(low - rate, rate - high)


guarantee(
    "density.mle-asymptotics",
    "the interval of a rate from 400 waiting times",
    delta=0.055,
    repetitions=400,
    verify=4000,
    faults={"a normal quantile too small": lambda rng: interval_of_a_rate(rng, 0.8)},
)(interval_of_a_rate)


def scaled_error(rng, factor=1.0, n=300, mean=4.0, level=0.9):
    """The error of a mean of counts in units of the information is normal in the limit."""
    error = abs(rng.poisson(mean, n).mean() - mean)
    information = POISSON.fisher_information([mean], n)[0, 0]
    return factor * float(ndtri((1 + level) / 2)) / np.sqrt(information), error


guarantee(
    "density.mle-asymptotics",
    "the error of a mean of 300 counts",
    delta=0.105,
    faults={"the root of the draws lost": lambda rng: scaled_error(rng, 0.5)},
)(scaled_error)
