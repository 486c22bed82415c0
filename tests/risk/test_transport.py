"""Wasserstein distances by four ways that must agree."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from corollary.risk import kantorovich_potential, lipschitz_gap, wasserstein_distance
from corollary.risk.laws.transport import _distances, _transport

seeds = st.integers(0, 2**32 - 1)


def clouds(seed, n=5, m=7, width=2):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m))
    return rng.normal(size=(n, width)), 1 + rng.normal(size=(m, width)), *weights


@given(seeds)
def test_on_the_line_it_is_scipys(seed):
    x, y, p, q = clouds(seed, width=1)
    ours = wasserstein_distance(x, y, weights_x=p, weights_y=q)
    theirs = scipy.stats.wasserstein_distance(x[:, 0], y[:, 0], p, q)
    assert ours == pytest.approx(theirs, rel=1e-10)


@given(seeds)
@settings(max_examples=20)
def test_matching_line_and_program_agree(seed):
    x, y, _, _ = clouds(seed, n=6, m=6)
    equal = np.full(6, 1 / 6)
    assert wasserstein_distance(x, y) == pytest.approx(
        _transport(_distances(x, y), equal, equal), rel=1e-8
    )
    line = wasserstein_distance(x[:, 0], y[:, 0])
    assert line == pytest.approx(_transport(_distances(x[:, :1], y[:, :1]), equal, equal), rel=1e-8)


@given(seeds)
@settings(max_examples=20)
def test_dual_equals_primal_and_its_potential_is_lipschitz(seed):
    x, y, p, q = clouds(seed)
    primal = wasserstein_distance(x, y, weights_x=p, weights_y=q)
    dual, f_x, f_y = kantorovich_potential(x, y, weights_x=p, weights_y=q)
    assert dual == pytest.approx(primal, rel=1e-7)
    assert p @ f_x - q @ f_y == pytest.approx(dual, rel=1e-9)
    points, f = np.concatenate([x, y]), np.concatenate([f_x, f_y])
    assert np.all(np.abs(f[:, None] - f) <= _distances(points, points) + 1e-7)


@given(seeds)
@settings(max_examples=30)
def test_every_critic_gives_a_lower_bound(seed):
    x, y, p, q = clouds(seed)
    rng = np.random.default_rng(seed)
    gap = lipschitz_gap(
        x, y, rng.normal(size=len(x)), rng.normal(size=len(y)), weights_x=p, weights_y=q
    )
    assert 0 <= gap <= wasserstein_distance(x, y, weights_x=p, weights_y=q) + 1e-9


def test_shifted_normal_laws_are_their_shift_apart():
    grid = scipy.stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    assert wasserstein_distance(grid, grid + 1.7) == pytest.approx(1.7, rel=1e-9)


def test_a_critic_that_separates_twins_proves_nothing():
    assert lipschitz_gap([0.0], [0.0], [0.0], [1.0]) == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wasserstein_distance([np.nan], [1.0]), "finite points"),
        (lambda: wasserstein_distance([[1.0, 2.0]], [[1.0]]), "one space"),
        (lambda: wasserstein_distance([1.0], [1.0], weights_x=[0.5, 0.5]), "one weight per point"),
        (lambda: lipschitz_gap([1.0], [1.0], [1.0, 2.0], [1.0]), "one value"),
    ],
)
def test_bad_points_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_transport_by_hand():
    assert wasserstein_distance([[0.0, 0.0]], [[3.0, 4.0]]) == pytest.approx(5.0)
    assert wasserstein_distance([0.0, 1.0], [5.0, 6.0]) == pytest.approx(5.0)
    # One half stays, one half goes a distance of 5.
    one, two = [[0.0, 0.0]], [[0.0, 0.0], [3.0, 4.0]]
    assert wasserstein_distance(one, two) == pytest.approx(2.5)
    assert wasserstein_distance(two, one) == pytest.approx(2.5)
    value, f_x, f_y = kantorovich_potential([[0.0, 0.0]], [[3.0, 4.0]])
    assert value == pytest.approx(5.0)
    assert f_x - f_y == pytest.approx([5.0])
    # A function of slope 0.1 whose means are 0.05 and 0.55, and one of slope 2 in the plane.
    assert lipschitz_gap([0.0, 1.0], [5.0, 6.0], [0.0, 0.1], [0.5, 0.6]) == pytest.approx(5.0)
    assert lipschitz_gap([[0.0, 0.0]], [[3.0, 4.0]], [1.0], [11.0]) == pytest.approx(5.0)
