import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from corollary.conformal import (
    absolute_score,
    aps_score,
    aps_sets,
    lac_score,
    normalised_score,
    quantile_score,
    raps_score,
)

# Small whole weights give ties and zeros, where sets go wrong.
weights = arrays(
    np.int64, st.tuples(st.integers(1, 6), st.integers(2, 5)), elements=st.integers(0, 4)
)


def probabilities_from(table):
    table = table + (table.sum(axis=1, keepdims=True) == 0)
    return table / table.sum(axis=1, keepdims=True)


def slow_aps_score(row, uniform):
    scores = np.empty(len(row))
    total = 0.0
    for place in sorted(range(len(row)), key=lambda j: (-row[j], j)):
        scores[place] = total + row[place] * uniform
        total = total + row[place]
    return scores


@given(table=weights, uniform=st.sampled_from([0.0, 0.3, 1.0]))
def test_aps_score_agrees_with_a_slow_loop(table, uniform):
    p = probabilities_from(table)
    expected = [slow_aps_score(row, uniform) for row in p]
    assert aps_score(p, np.full(len(p), uniform)) == pytest.approx(np.array(expected))
    if uniform == 1.0:
        assert aps_score(p) == pytest.approx(np.array(expected))


@given(table=weights, which=st.integers(0, 4))
def test_aps_sets_contain_the_generic_rule_and_are_never_empty(table, which):
    p = probabilities_from(table)
    scores = aps_score(p)
    # Thresholds are scores themselves: the borderline case is the rule, not the exception.
    threshold = np.sort(scores.ravel())[which % scores.size]
    sets = aps_sets(p, threshold)
    assert np.all(sets >= (scores <= threshold))
    assert np.all(sets.any(axis=1))
    # No more than one class beyond the generic rule, apart from ties of the last.
    for row, chosen, candidate in zip(scores, sets, scores <= threshold):
        extra = row[chosen & ~candidate]
        assert len(extra) <= 1 or np.ptp(extra) < 1e-12


def test_aps_sets_at_infinity_and_below_everything():
    p = np.array([[0.2, 0.5, 0.3]])
    assert aps_sets(p, np.inf).all()
    assert aps_sets(p, 0.0).tolist() == [[False, True, False]]
    assert aps_sets(p, 0.5).tolist() == [[False, True, False]]
    assert aps_sets(p, 0.51).tolist() == [[False, True, True]]


def test_class_of_probability_zero_is_kept_when_its_score_is():
    p = np.array([[1.0, 0.0]])
    assert aps_score(p).tolist() == [[1.0, 1.0]]
    assert aps_sets(p, 1.0).all()


def test_simple_scores():
    assert lac_score([[0.75, 0.25]]).tolist() == [[0.25, 0.75]]
    assert absolute_score([1.0], [3.0]).tolist() == [2.0]
    assert normalised_score([1.0], [3.0], [4.0]).tolist() == [0.5]
    with pytest.raises(ValueError, match="must be positive"):
        normalised_score([1.0], [3.0], [0.0])


@given(y=st.floats(-5, 5), a=st.floats(-5, 5), b=st.floats(-5, 5), s=st.floats(-2, 2))
def test_target_lies_in_the_widened_interval_iff_its_score_is_small(y, a, b, s):
    score = quantile_score([y], [a], [b])[0]
    if abs(score - s) > 1e-9:
        assert (score <= s) == (a - s <= y <= b + s)
    # One below, two above, and inside minus the distance to the nearer end.
    assert quantile_score([1.0, 7.0, 3.0], [2.0] * 3, [5.0] * 3).tolist() == [1.0, 2.0, -1.0]


def test_raps_adds_the_price_of_each_further_class(seed):
    """By the definition, class after class."""
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.ones(5), size=20)
    got = raps_score(probabilities, penalty=0.25, free_classes=2)
    for row, scores in zip(probabilities, got):
        total = 0.0
        for place, label in enumerate(np.argsort(-row, kind="stable"), start=1):
            total += row[label]
            assert scores[label] == pytest.approx(total + 0.25 * max(0, place - 2))
    np.testing.assert_array_equal(raps_score(probabilities, penalty=0.0), aps_score(probabilities))
