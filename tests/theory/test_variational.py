"""The variational formula: exact gap, its maximisers, and the bound over a class."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.risk import kl_divergence
from corollary.theory import donsker_varadhan, gibbs_measure, kl_lower_bound, log_moment

seeds = st.integers(0, 2**32 - 1)


def laws(seed, n=6):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(n), size=2)
    return p, q, 3 * rng.normal(size=n)


@given(seeds)
def test_the_gap_is_the_divergence_from_the_gibbs_measure(seed):
    p, q, g = laws(seed)
    gap = kl_divergence(p, q) - donsker_varadhan(p, q, g)
    assert gap == pytest.approx(kl_divergence(p, gibbs_measure(q, g)), abs=1e-9)


@given(seeds)
def test_both_suprema_are_attained_and_never_passed(seed):
    p, q, g = laws(seed)
    assert donsker_varadhan(p, q, np.log(p / q)) == pytest.approx(kl_divergence(p, q), abs=1e-10)
    assert donsker_varadhan(p, q, g) <= kl_divergence(p, q) + 1e-10
    pi, top = gibbs_measure(q, g), log_moment(q, g)
    assert pi @ g - kl_divergence(pi, q) == pytest.approx(top, abs=1e-9)
    assert p @ g - kl_divergence(p, q) <= top + 1e-10


def test_points_without_mass_stay_without_mass():
    pi = gibbs_measure([0.0, 0.5, 0.5], [math.inf, 0.0, -math.inf])
    assert pi.tolist() == [0.0, 1.0, 0.0]
    assert log_moment([0.0, 1.0], [1e9, 2.0]) == pytest.approx(2.0)


@given(seeds)
def test_a_class_with_all_indicators_reaches_the_divergence(seed):
    p, q, _ = laws(seed, n=4)
    bound, _ = kl_lower_bound(np.eye(4), np.eye(4), weights_p=p, weights_q=q)
    assert bound == pytest.approx(kl_divergence(p, q), abs=1e-6)


@given(seeds)
def test_a_smaller_class_gives_a_smaller_bound(seed):
    p, q, g = laws(seed)
    few, theta = kl_lower_bound(g[:, None], g[:, None], weights_p=p, weights_q=q)
    assert few <= kl_divergence(p, q) + 1e-9
    assert few >= donsker_varadhan(p, q, g) - 1e-9
    assert few == pytest.approx(donsker_varadhan(p, q, theta[0] * g), abs=1e-9)


def test_linear_features_find_the_divergence_of_shifted_normals():
    rng = np.random.default_rng(0)
    x, y = rng.normal(0.5, 1.0, 20_000), rng.normal(0.0, 1.0, 20_000)
    bound, theta = kl_lower_bound(x[:, None], y[:, None])
    assert bound == pytest.approx(0.125, abs=0.02)
    assert theta[0] == pytest.approx(0.5, abs=0.04)


def test_separated_laws_are_infinitely_far():
    bound, theta = kl_lower_bound([[2.0], [3.0]], [[0.0], [1.0]])
    assert bound == math.inf
    assert theta[0] > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gibbs_measure([0.5, 0.5], [1.0]), "one value per point"),
        (lambda: log_moment([0.5, 0.6], [1.0, 2.0]), "must hold probabilities"),
        (lambda: kl_lower_bound([1.0], [[1.0]]), "finite matrix"),
        (lambda: kl_lower_bound([[1.0]], [[1.0]], weights_p=[0.5, 0.5]), "one weight per point"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
