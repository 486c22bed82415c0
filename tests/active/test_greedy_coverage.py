"""Greedy coverage against brute force, its share of the optimum, and its laws."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.active import CoverageSampler, greedy_ball_coverage

pools = st.integers(0, 10_000).map(
    lambda seed: np.random.default_rng(seed).uniform(size=(seed % 7 + 4, seed % 3 + 1))
)


def inside(X, radius):
    """Who lies in whose ball, the slow way."""
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)) <= radius


def naive_greedy(X, budget, radius, weight):
    balls, left, chosen, gains = inside(X, radius), weight.copy(), [], []
    for _ in range(min(budget, len(X))):
        scores = balls @ left
        scores[chosen] = -1
        best = int(np.argmax(np.round(scores, 9)))
        chosen.append(best)
        gains.append(scores[best])
        left = np.where(balls[best], 0.0, left)
    return chosen, gains


@given(pools, st.integers(1, 5), st.floats(0.05, 0.8))
def test_greedy_is_greedy(X, budget, radius):
    result = greedy_ball_coverage(X, budget, radius)
    chosen, gains = naive_greedy(X, budget, radius, np.ones(len(X)))
    assert result.indices.tolist() == chosen
    np.testing.assert_array_equal(result.gains, gains)
    covered = inside(X, radius)[chosen].any(axis=0)
    np.testing.assert_array_equal(result.covered, covered)
    assert result.coverage == pytest.approx(covered.mean())
    assert result.gains.sum() == covered.sum()
    assert (np.diff(result.gains) <= 0).all()


@given(pools, st.integers(1, 4), st.floats(0.05, 0.6))
def test_greedy_reaches_its_share_of_the_optimum(X, budget, radius):
    budget = min(budget, len(X))
    balls = inside(X, radius)
    best = max(balls[list(c)].any(axis=0).sum() for c in combinations(range(len(X)), budget))
    found = greedy_ball_coverage(X, budget, radius).gains.sum()
    assert found >= (1 - (1 - 1 / budget) ** budget) * best - 1e-9
    assert found <= best


def test_greedy_is_not_always_best():
    """A middle ball tempts: two of the three that are best miss it."""
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    weight = np.array([1.0, 1.0, 1.1, 1.1, 1.0, 1.0])
    result = greedy_ball_coverage(X, 2, 1.0, sample_weight=weight)
    best = 1 + 1 + 1.1 + 1.1 + 1 + 1
    assert result.gains.sum() < best
    assert result.gains.sum() >= 0.75 * best


@given(pools, st.floats(0.05, 0.6), st.integers(0, 100))
def test_weights_are_repetitions(X, radius, seed):
    counts = np.random.default_rng(seed).integers(0, 4, size=len(X))
    weighted = greedy_ball_coverage(X, 3, radius, sample_weight=counts)
    chosen, gains = naive_greedy(X, 3, radius, counts.astype(float))
    assert weighted.indices.tolist() == chosen
    np.testing.assert_allclose(weighted.gains, gains)
    if counts.sum():
        repeated = greedy_ball_coverage(np.repeat(X, counts, axis=0), 3, radius)
        assert repeated.gains[0] <= weighted.gains[0]


@given(pools, st.floats(0.05, 0.6), st.floats(-50, 50), st.floats(0.1, 10))
def test_shifting_and_scaling_change_nothing(X, radius, shift, scale):
    # Distances near the radius may fall on either side after rounding.
    gaps = np.abs(np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)) - radius)
    if gaps.min() < 1e-9:
        return
    plain = greedy_ball_coverage(X, 3, radius)
    moved = greedy_ball_coverage(scale * X + shift, 3, scale * radius)
    np.testing.assert_array_equal(plain.indices, moved.indices)


def test_a_budget_can_be_spent_in_parts(seed):
    X = np.random.default_rng(seed).normal(size=(300, 3))
    whole = greedy_ball_coverage(X, 12, 0.8)
    parts, early = [], []
    for size in (5, 4, 3):
        part = greedy_ball_coverage(X, size, 0.8, initial=early)
        parts.append(part)
        early = early + part.indices.tolist()
    assert early == whole.indices.tolist()
    np.testing.assert_array_equal(parts[-1].covered, whole.covered)
    sampler = CoverageSampler(X, 0.8)
    assert [int(sampler.ask().indices[0]) for _ in range(12)] == early


def test_balls_across_tiles_and_blocks_are_counted_once(seed):
    """More points than a tile or a block of the compiled loops holds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(5000, 4))
    result = greedy_ball_coverage(X, 8, 1.5)
    left = np.ones(5000, dtype=bool)
    for index, gain in zip(result.indices, result.gains):
        ball = np.sqrt(((X - X[index]) ** 2).sum(axis=1)) <= 1.5
        assert gain == (ball & left).sum()
        some = rng.choice(5000, size=200)  # nobody else would have covered more
        balls = np.sqrt(((X[some][:, None] - X[None]) ** 2).sum(axis=2)) <= 1.5
        assert gain >= (balls & left).sum(axis=1).max()
        left &= ~ball


def test_points_on_the_surface_are_inside():
    grid = 0.1 * np.arange(50)[:, None]
    for radius in (0.1, 0.3, 0.7):
        result = greedy_ball_coverage(grid, 3, radius)
        np.testing.assert_array_equal(
            result.covered, (np.abs(grid - grid[result.indices].T) <= radius).any(axis=1)
        )


def test_edges():
    one = greedy_ball_coverage([[1.0, 2.0]], 5, 0.0)
    assert one.indices.tolist() == [0]
    assert one.coverage == 1.0
    equal = greedy_ball_coverage(np.zeros((4, 2)), 2, 0.0)
    np.testing.assert_array_equal(equal.gains, [4.0, 0.0])
    assert greedy_ball_coverage([[0.0], [9.0]], 1, 1.0, sample_weight=[0.0, 0.0]).coverage == 1.0
    everything = greedy_ball_coverage([[0.0], [1.0]], 2, 0.5, initial=[0, 1])
    assert len(everything.indices) == 0


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match="'budget' parameter of greedy_ball_coverage must be an"):
        greedy_ball_coverage([[0.0]], 0, 1.0)
    with pytest.raises(ValueError, match="'radius' parameter of greedy_ball_coverage must be a"):
        greedy_ball_coverage([[0.0]], 1, -1.0)
    with pytest.raises(ValueError, match=r"needs finite numbers\. Got NaN"):
        greedy_ball_coverage([[np.nan]], 1, 1.0)
    with pytest.raises(ValueError, match="needs indices from 0 to 0"):
        greedy_ball_coverage([[0.0]], 1, 1.0, initial=[3])
    with pytest.raises(ValueError, match="'sample_weight' must hold 1 finite non-negative"):
        greedy_ball_coverage([[0.0]], 1, 1.0, sample_weight=[-1.0])


@pytest.mark.verify
def test_a_large_pool_fits_in_memory(seed):
    import tracemalloc

    X = np.random.default_rng(seed).normal(size=(50_000, 20))
    greedy_ball_coverage(X[:10], 1, 1.0)
    tracemalloc.start()
    result = greedy_ball_coverage(X, 100, 4.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * X.nbytes
    assert result.coverage > 0.3
