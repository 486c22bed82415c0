"""Convex combinations and weighted votes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.ensemble import (
    convex_combination,
    convex_weights,
    sign_vote,
    vote_shares,
    weighted_vote,
)


def test_one_member_is_itself():
    f = np.array([1.5, -2.0, 0.0])
    assert np.array_equal(convex_combination([f], [7.0]), f)
    assert sign_vote([[1, -1, 1]], [0.3]).tolist() == [1, -1, 1]
    assert weighted_vote([["b", "a"]]).tolist() == ["b", "a"]


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 6))
def test_a_combination_is_linear_and_inside_the_range(seed, members, rows):
    rng = np.random.default_rng(seed)
    f, g = rng.normal(size=(2, members, rows))
    p = rng.uniform(0.1, 1, size=members)
    mixed = convex_combination(f, p)
    np.testing.assert_allclose(mixed, (p[:, None] * f).sum(0) / p.sum())
    np.testing.assert_allclose(
        convex_combination(2 * f - g, p), 2 * mixed - convex_combination(g, p), atol=1e-12
    )
    assert np.all(mixed <= f.max(axis=0) + 1e-12)
    assert np.all(mixed >= f.min(axis=0) - 1e-12)


def test_ties():
    assert sign_vote([[1], [-1]]).tolist() == [1]
    assert weighted_vote([["b"], ["a"], ["c"]]).tolist() == ["a"]
    # Three weights of 0.5 add up to a little less than one of 1.5, but not in an election.
    shares = vote_shares([[1], [0], [0], [0]], 2, weights=[1.5, 0.5, 0.5, 0.5])
    assert shares[0, 0] < shares[0, 1]
    assert weighted_vote([[1], [0], [0], [0]], weights=[1.5, 0.5, 0.5, 0.5]).tolist() == [0]


@given(st.integers(0, 10**6))
def test_a_vote_of_two_labels_is_the_sign_of_the_sum(seed):
    rng = np.random.default_rng(seed)
    votes = rng.choice([-1, 1], size=(4, 7))
    weights = rng.uniform(0.1, 1, size=4)
    assert np.array_equal(sign_vote(votes, weights), weighted_vote(votes, weights))
    brute = [max((-1, 1), key=lambda label: weights[votes[:, i] == label].sum()) for i in range(7)]
    assert weighted_vote(votes, weights).tolist() == brute


def test_shares_sum_to_one():
    shares = vote_shares([[0, 2], [1, 2], [0, 1]], 3, [1, 2, 3])
    np.testing.assert_allclose(shares, [[4 / 6, 2 / 6, 0], [0, 3 / 6, 3 / 6]])


def test_huge_weights_do_not_overflow():
    np.testing.assert_allclose(convex_weights([1e308, 1e308, 1e308], 3), 1 / 3)


def test_errors():
    with pytest.raises(ValueError, match="one weight for each of the 2 members"):
        convex_weights([1.0], 2)
    with pytest.raises(ValueError, match="finite, non-negative and not all zero"):
        convex_weights([1.0, -1.0], 2)
    with pytest.raises(ValueError, match="not all zero"):
        convex_weights([0.0], 1)
    with pytest.raises(ValueError, match="at least one member"):
        convex_weights(None, 0)
    with pytest.raises(ValueError, match="labels -1 and \\+1"):
        sign_vote([[0, 1]])
    with pytest.raises(ValueError, match="one finite weight for each of the 1"):
        sign_vote([[1, 1]], [1, 2])
    with pytest.raises(ValueError, match="shape \\(n_members, n_samples\\)"):
        weighted_vote([1, 2])
    with pytest.raises(ValueError, match="positions from 0 to 1"):
        vote_shares([[0, 2]], 2)
    with pytest.raises(ValueError, match="one row of predictions per member"):
        convex_combination(3.0)
