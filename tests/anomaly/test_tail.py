"""P-values of rows among themselves."""

import numpy as np
import pytest
from scipy import stats

from corollary.anomaly import tail_p_values
from corollary.core.simulate import assert_bound_holds, assert_share_equals


def by_hand(scores):
    """The formula, spacing by spacing."""
    n, s = len(scores), np.sort(scores)
    a, b = n // 2, 9 * n // 10
    spacings = [(n - k + 1) * (s[k - 1] - s[k - 2]) for k in range(a + 1, b + 1)]
    mean = sum(spacings) / len(spacings)
    found = []
    for score in scores:
        if score <= s[b - 1]:
            found.append(sum(other >= score for other in scores) / n)
        else:
            x = (score - s[b - 1]) / mean
            found.append((n - b) / n * (1 + x / (b - a)) ** -(b - a))
    half = len(spacings) // 2
    ratio = np.mean(spacings[half:]) / np.mean(spacings[:half])
    return np.array(found), stats.f(2 * (len(spacings) - half), 2 * half).sf(ratio)


@pytest.mark.parametrize("n", [10, 11, 20, 57, 100])
def test_formula(n, seed):
    scores = np.random.default_rng([seed, n]).exponential(size=n)
    result, (truth, assumption) = tail_p_values(scores), by_hand(scores)
    np.testing.assert_allclose(result.p_values, truth, rtol=1e-10)
    assert result.assumption == pytest.approx(assumption, rel=1e-9)


@pytest.mark.parametrize("n", [10, 30])
@pytest.mark.parametrize("draw", ["exponential", "rayleigh", "uniform"])
def test_super_uniform_for_hazards_that_do_not_fall(n, draw, seed):
    rng, trials = np.random.default_rng([seed, n]), 3000
    p = np.array([tail_p_values(getattr(rng, draw)(size=n)).p_values[0] for _ in range(trials)])
    for level in (0.01, 0.05, 0.1, 0.5):
        small = int((p <= level).sum())
        assert_bound_holds(small, trials, level)
        if draw == "exponential" and level < 0.1:
            assert_share_equals(small, trials, level)


def test_falling_hazards_are_refuted_and_others_rarely(seed):
    rng = np.random.default_rng(seed)
    assert tail_p_values(np.exp(1.5 * np.abs(rng.normal(size=3000)))).assumption < 1e-3
    small = sum(tail_p_values(rng.exponential(size=40)).assumption < 0.05 for _ in range(1000))
    assert_share_equals(small, 1000, 0.05)


@pytest.mark.parametrize("scores", [[], [1.0], [3.0, 1.0, 2.0], [1.0] * 20, [1.0] * 12 + [9.0] * 8])
def test_too_few_or_tied_scores_have_their_ranks(scores):
    result = tail_p_values(scores)
    n = len(scores)
    ranks = [sum(other >= score for other in scores) / n for score in scores]
    if len(set(scores)) < 2 or n < 10:
        np.testing.assert_allclose(result.p_values, ranks)
        assert result.assumption == 1.0
    else:
        assert (result.p_values >= 0).all()
        np.testing.assert_allclose(result.p_values, ranks)


def test_infinite_scores_are_certain_and_nan_is_refused():
    scores = np.append(np.arange(20.0), np.inf)
    assert tail_p_values(scores).p_values[-1] == 0
    with pytest.raises(ValueError, match="1 NaN"):
        tail_p_values([1.0, np.nan])


@pytest.mark.parametrize(("n", "share"), [(12, 0.5), (12, 0.1), (100, 0.4)])
def test_rates_that_fall_below_a_quantile_cost_its_binomial_chance(n, share, seed):
    """A share of the scores lies close together, the others have a constant rate beyond them."""
    rng, trials = np.random.default_rng([seed, n]), 4000
    packed = rng.random((trials, n)) < share
    scores = np.where(packed, 1e-3 * rng.random((trials, n)), 1 + rng.exponential(size=(trials, n)))
    p = np.array([tail_p_values(row).p_values for row in scores])
    chance = stats.binom.sf(n // 2 - 1, n, share)
    for level in (0.001, 0.01, 0.05):
        assert_bound_holds(int((p[:, 0] <= level).sum()), trials, min(1.0, level + chance))
    if share == 0.5:  # the median of the law is not enough
        assert (p <= 0.001).mean() > 0.002
