"""Rules for bandwidths by hand, by brute force and by the error that they lead to."""

import math

import numpy as np
import pytest
from scipy import stats

from corollary.core.simulate import fit_slope
from corollary.density import (
    KernelDensity,
    leave_one_out_log_likelihood,
    likelihood_bandwidth,
    neighbor_bandwidths,
    reference_bandwidth,
    scott_bandwidth,
    silverman_bandwidth,
)

RNG = np.random.default_rng(1)


def test_rules_by_hand():
    assert scott_bandwidth(16, 4) == pytest.approx(2**-0.5)
    assert silverman_bandwidth(100, 1) == pytest.approx((4 / 300) ** 0.2)
    assert silverman_bandwidth(50, 2) == pytest.approx(50 ** (-1 / 6))
    X = np.array([[0.0, 0.0], [1.0, 10.0], [2.0, 20.0]])
    np.testing.assert_allclose(
        reference_bandwidth(X), np.array([1.0, 10.0]) * (1 / 3) ** (1 / 6), rtol=1e-12
    )
    weight = np.array([1, 2, 3])
    np.testing.assert_allclose(
        reference_bandwidth(X, weight), reference_bandwidth(np.repeat(X, weight, axis=0))
    )


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_left_out_rows_by_brute_force(kernel):
    X, h = RNG.normal(size=(40, 2)), np.array([1.5, 2.0])
    total = sum(
        KernelDensity(bandwidth=h, kernel=kernel)
        .fit(np.delete(X, i, axis=0))
        .score_samples(X[i : i + 1])[0]
        for i in range(40)
    )
    ours = leave_one_out_log_likelihood(X, h, kernel=kernel)
    assert ours == pytest.approx(total, rel=1e-12)
    weight = np.arange(40) % 3
    copies = leave_one_out_log_likelihood(np.repeat(X, weight, axis=0), h, kernel=kernel)
    weighted = leave_one_out_log_likelihood(X, h, kernel=kernel, sample_weight=weight)
    assert weighted == pytest.approx(copies, rel=1e-12)


def test_the_likeliest_bandwidth_is_the_best_of_those_tried():
    X = RNG.normal(size=(100, 1))
    factors = np.array([0.3, 0.6, 1.0, 1.6, 3.0])
    base = reference_bandwidth(X)
    values = [leave_one_out_log_likelihood(X, c * base) for c in factors]
    best = likelihood_bandwidth(X, factors=factors)
    np.testing.assert_allclose(best, factors[int(np.argmax(values))] * base)
    spread = likelihood_bandwidth(X) / base
    assert 0.5 < spread[0] < 2.0
    two = np.concatenate([X / 4 - 5, X / 4 + 5])
    assert likelihood_bandwidth(two)[0] < reference_bandwidth(two)[0] / 4
    model = KernelDensity(bandwidth="likelihood").fit(two)
    np.testing.assert_allclose(model.bandwidth_, likelihood_bandwidth(two))


def squared_error(X, h):
    """Integrated squared error of a Gaussian kernel density of a standard normal law."""
    grid = np.linspace(-6, 6, 601)[:, None]
    density = np.exp(KernelDensity(bandwidth=h).fit(X).score_samples(grid))
    return float(((density - stats.norm.pdf(grid[:, 0])) ** 2).sum() * 0.02)


def test_on_normal_rows_the_reference_is_near_the_best():
    widths, errors = np.geomspace(0.1, 1.2, 12), np.zeros(12)
    of_reference = 0.0
    for _ in range(20):
        X = RNG.normal(size=(200, 1))
        errors += [squared_error(X, h) for h in widths]
        of_reference += squared_error(X, reference_bandwidth(X))
    assert of_reference < 1.15 * errors.min()
    assert errors[0] > 3 * errors.min() < errors[-1] / 1.5


def test_the_error_falls_at_the_rate_of_the_rule():
    sizes = [100, 400, 1600, 6400]
    errors = [
        np.mean([squared_error(X, silverman_bandwidth(n, 1)) for X in RNG.normal(size=(12, n, 1))])
        for n in sizes
    ]
    assert fit_slope(sizes, errors).slope == pytest.approx(-0.8, abs=0.12)


def test_neighbours_by_brute_force():
    X = RNG.normal(size=(50, 3))
    distances = np.sort(np.linalg.norm(X[:, None] - X, axis=2), axis=1)
    for k in (1, 7, 49):
        np.testing.assert_allclose(neighbor_bandwidths(X, k), distances[:, k], rtol=1e-12)


def test_bad_input_is_told():
    constant = np.column_stack([RNG.normal(size=9), np.ones(9)])
    with pytest.raises(ValueError, match=r"Constant: columns \[1\]"):
        reference_bandwidth(constant)
    with pytest.raises(ValueError, match="two rows or more"):
        reference_bandwidth([[1.0]])
    with pytest.raises(ValueError, match="positive bandwidths"):
        leave_one_out_log_likelihood([[0.0], [1.0]], [-1.0])
    with pytest.raises(ValueError, match="more rows than neighbours"):
        neighbor_bandwidths([[0.0], [1.0]], 2)
    with pytest.raises(ValueError, match="More than 1 rows equal row 0"):
        neighbor_bandwidths([[0.0], [0.0], [1.0]], 1)
    equal = np.repeat(RNG.normal(size=(10, 1)), 2, axis=0)
    with pytest.raises(ValueError, match="equal rows make ever smaller bandwidths better"):
        likelihood_bandwidth(equal)
    far = np.concatenate([RNG.normal(size=(20, 1)), [[1e6]]])
    with pytest.raises(ValueError, match="out of reach"):
        likelihood_bandwidth(far, kernel="tophat", factors=[0.01, 0.1])
    assert leave_one_out_log_likelihood([[0.0], [9.0]], 1.0, kernel="linear") == -math.inf
    with pytest.raises(ValueError, match="finite numbers"):
        reference_bandwidth([[np.nan], [1.0]])
