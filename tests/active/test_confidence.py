"""Multipliers of bands: their numbers, and that the bands hold."""

import numpy as np
import pytest
from scipy.stats import norm

from corollary.active import (
    GrowingPosterior,
    Prior,
    grid_multiplier,
    query_multiplier,
    rkhs_multiplier,
    round_delta,
)
from corollary.core.simulate import assert_bound_holds
from corollary.gp import sample_prior
from corollary.kernels import RBF, Matern

GRID = np.linspace(0, 3, 25)[:, None]


def test_parts_of_delta_sum_to_delta():
    for horizon, rounds in ((7, 7), (None, 2000)):
        parts = [round_delta(0.3, t, horizon=horizon) for t in range(1, rounds + 1)]
        assert sum(parts) <= 0.3 + 1e-12
        assert sum(parts) > 0.3 - 1e-4
    with pytest.raises(ValueError, match=r"divides delta among horizon=7 rounds\. Got round 8"):
        round_delta(0.3, 8, horizon=7)


def test_quantiles_keep_their_promise_and_beat_the_usual_bound():
    for t in (1, 5, 50):
        part = 6 * 0.1 / (np.pi * t) ** 2
        assert norm.sf(query_multiplier(0.1, t, n_constraints=3)) == pytest.approx(part / 3)
        z = grid_multiplier(0.1, t, 500, n_functions=2)
        assert 2 * norm.sf(z) * 500 * 2 == pytest.approx(part)
        assert z < np.sqrt(2 * np.log(500 * 2 / part))
    assert query_multiplier(0.2, 1, horizon=1) == pytest.approx(norm.isf(0.2))
    assert query_multiplier(0.9, 1, horizon=1) == 0.0  # even odds need no margin
    # B + R / sqrt(lambda) * sqrt(2 I + 2 log(1 / delta))
    expected = 2 + 0.3 / 0.5 * np.sqrt(2 * 1.7 + 2 * np.log(20))
    assert rkhs_multiplier(0.05, 2.0, 0.3, 1.7, 0.25) == pytest.approx(expected)


def grid_trial(rng, fault=1.0, rounds=8, delta=0.3):
    """Whether any band on the grid ever fails for a function from the prior."""
    prior = Prior(Matern(0.5, nu=1.5), 0.04)
    f = sample_prior(prior.kernel, GRID, random_state=rng)[:, 0]
    posterior = GrowingPosterior(prior, 1)
    view = posterior.view(GRID)
    for t in range(1, rounds + 1):
        wide = fault * grid_multiplier(delta, t, len(GRID), horizon=rounds)
        if (np.abs(f - view.mean) > wide * view.std).any():
            return True
        i = int(np.argmax(view.mean + wide * view.std))  # points chosen by what was seen
        posterior.observe(GRID[[i]], [f[i] + 0.2 * rng.standard_normal()])
    return False


def test_grid_bands_hold_at_once(seed):
    rng = np.random.RandomState(seed)
    assert_bound_holds(sum(grid_trial(rng) for _ in range(300)), 300, 0.3)
    with pytest.raises(AssertionError, match="bound broken"):
        assert_bound_holds(sum(grid_trial(rng, 0.6) for _ in range(200)), 200, 0.3)


def rkhs_trial(rng, fault=1.0, rounds=15, delta=0.2):
    """Whether any band ever fails for a fixed function whose norm is the bound."""
    kernel, R, noise = RBF(0.5), 0.3, 0.05
    centres = GRID[::6]
    weights = rng.normal(size=len(centres))
    weights *= 1.0 / np.sqrt(weights @ kernel.gram(centres) @ weights)
    f = kernel.gram(GRID, centres) @ weights
    posterior = GrowingPosterior(Prior(kernel, noise), 1)
    view = posterior.view(GRID)
    for _ in range(rounds):
        wide = rkhs_multiplier(delta, 1.0, fault * R, posterior.information(), noise)
        if (np.abs(f - view.mean) > wide * view.std + 1e-12).any():
            return True
        i = int(np.argmax(view.mean + wide * view.std))
        # Two-point noise is sub-Gaussian with its standard deviation.
        posterior.observe(GRID[[i]], [f[i] + R * rng.choice([-1.0, 1.0])])
    return False


def test_rkhs_bands_hold_for_ever(seed):
    rng = np.random.RandomState(seed)
    assert_bound_holds(sum(rkhs_trial(rng) for _ in range(150)), 150, 0.2)
    with pytest.raises(AssertionError, match="bound broken"):  # the norm alone, without the noise
        assert_bound_holds(sum(rkhs_trial(rng, 0.0) for _ in range(150)), 150, 0.2)


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match="'delta' parameter of query_multiplier must be a float"):
        query_multiplier(1.2, 1)
    with pytest.raises(ValueError, match="'n_points' parameter of grid_multiplier"):
        grid_multiplier(0.1, 1, 0)
    with pytest.raises(ValueError, match="'noise' parameter of rkhs_multiplier"):
        rkhs_multiplier(0.1, 1.0, 1.0, 0.0, 0.0)
