"""Correlation within units against its definition, its law against all permutations."""

from itertools import permutations

import numpy as np
import pytest

from corollary.core.simulate import assert_bound_holds
from corollary.validation import intraclass_correlation, intraclass_p_value, sibling_correction
from corollary.validation.dependence.residuals import _mantel_moments

UNITS = np.array([0, 0, 0, 1, 1, 2])


def statistic(residuals, units):
    total = 0.0
    for i in range(len(units)):
        siblings = [j for j in range(len(units)) if units[j] == units[i] and j != i]
        if siblings:
            total += residuals[i] @ residuals[siblings].mean(axis=0)
    return total


@pytest.mark.parametrize("outputs", [1, 2])
def test_correlation_is_its_definition(outputs):
    r = np.random.default_rng(0).normal(size=(6, outputs))
    expected = statistic(r, UNITS) / (r[:5] ** 2).sum()
    assert intraclass_correlation(r, UNITS) == pytest.approx(expected)
    assert intraclass_correlation([1.0, 2.0], ["a", "b"]) == 0.0


def test_correlation_estimates_the_share_of_the_common_variance():
    rng, owner = np.random.default_rng(0), np.repeat(np.arange(4000), 5)
    r = 0.6 * rng.normal(size=4000)[owner] + 0.8 * rng.normal(size=20000)
    assert intraclass_correlation(r, owner) == pytest.approx(0.36, abs=0.02)


@pytest.mark.parametrize("outputs", [1, 3])
def test_moments_are_those_of_all_permutations(outputs):
    r = np.random.default_rng(1).normal(size=(6, outputs)) + 0.3
    every = [statistic(r[list(order)], UNITS) for order in permutations(range(6))]
    mean, variance = _mantel_moments(r, np.array([3.0, 2.0]))
    assert mean == pytest.approx(np.mean(every))
    assert variance == pytest.approx(np.var(every))


@pytest.mark.parametrize(("n_units", "size"), [(12, 20), (60, 3), (200, 2)])
def test_level_of_the_p_value_holds_and_is_not_wasted(n_units, size):
    rng, units = np.random.default_rng(0), np.repeat(np.arange(n_units), size)
    p = np.array([intraclass_p_value(rng.normal(size=len(units)), units) for _ in range(4000)])
    assert_bound_holds(int((p < 0.01).sum()), 4000, 0.012)
    assert (p < 0.01).sum() > 15
    assert (p < 0.05).mean() == pytest.approx(0.05, abs=0.015)


def test_blocks_are_dealt_as_a_whole():
    rng, rejected, naive = np.random.default_rng(0), 0, 0
    patient = np.repeat(np.arange(100), 5)
    clinic = patient // 10
    for _ in range(400):
        r = rng.normal(size=100)[patient] + rng.normal(size=500)
        rejected += intraclass_p_value(r, clinic, blocks=patient) < 0.05
        naive += intraclass_p_value(r, clinic) < 0.05
    assert_bound_holds(rejected, 400, 0.06)
    assert naive > 40  # rows dealt one by one call every patient a clinic
    r = rng.normal(size=10)[clinic] + rng.normal(size=100)[patient] + rng.normal(size=500)
    assert intraclass_p_value(r, clinic, blocks=patient) < 1e-4
    with pytest.raises(ValueError, match="within units"):
        intraclass_p_value(r, patient, blocks=clinic)


def test_correction_is_the_best_linear_prediction_from_siblings():
    # Rows of a unit have covariance rho, so that the coefficients solve a linear system.
    rho = 0.3
    for m in (2, 3, 7):
        covariance = np.full((m, m), rho) + (1 - rho) * np.eye(m)
        coefficients = np.linalg.solve(covariance[1:, 1:], covariance[1:, 0])
        r = np.random.default_rng(m).normal(size=m)
        corrected = sibling_correction(r, np.zeros(m), rho)
        assert corrected[0] == pytest.approx(r[0] - coefficients @ r[1:])


def test_correction_keeps_shapes_and_limits():
    r = np.random.default_rng(0).normal(size=(6, 2))
    assert sibling_correction(r, UNITS, 0.4).shape == (6, 2)
    assert (sibling_correction(r, UNITS, -0.5) == r).all()
    assert sibling_correction(r[:, 0], UNITS, 3.0)[3] == pytest.approx(r[3, 0] - r[4, 0])
    assert sibling_correction([1.0, 1.0], [0, 0], 0.0).tolist() == [1.0, 1.0]


def test_what_is_no_residual_is_refused():
    with pytest.raises(ValueError, match="one finite residual"):
        intraclass_correlation([1.0, np.nan], [0, 0])
    with pytest.raises(ValueError, match="one finite residual"):
        intraclass_p_value([1.0, 2.0], [0])
    assert intraclass_p_value([1.0, 2.0, 3.0, 4.0], [0, 1, 2, 3]) == 1.0
    assert intraclass_p_value([0.0] * 6, UNITS) == 1.0
