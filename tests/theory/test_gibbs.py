"""Gibbs sampling of hypotheses: limits, frequencies, stability by brute force."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corollary.theory import gibbs_erm, gibbs_stability

seeds = st.integers(0, 2**32 - 1)


def test_limits():
    risks, prior = np.array([0.4, 0.1, 0.1, 0.9]), np.array([0.4, 0.3, 0.2, 0.1])
    assert gibbs_erm(risks, 0.0, prior=prior) == pytest.approx(prior)
    assert gibbs_erm(risks, 0.0) == pytest.approx([0.25] * 4)
    cold = gibbs_erm(risks, np.inf, prior=prior)
    assert cold.tolist() == pytest.approx([0, 0.6, 0.4, 0])
    assert gibbs_erm(risks, 1e4, prior=prior) == pytest.approx(cold, abs=1e-9)
    by_hand = prior * np.exp(-3 * risks)
    assert gibbs_erm(risks, 3.0, prior=prior) == pytest.approx(by_hand / by_hand.sum())
    impossible = gibbs_erm([0.0, 1.0], np.inf, prior=[0.0, 1.0])
    assert impossible.tolist() == [0.0, 1.0]


@given(seeds, st.floats(0.0, 30.0))
@settings(max_examples=40)
def test_replacing_a_row_never_moves_the_mean_loss_more_than_the_bound(seed, beta):
    # Losses of four hypotheses at three kinds of rows, data sets of four rows, all replacements.
    table, n = np.random.default_rng(seed).uniform(-1, 1, size=(4, 3)), 4
    sharp = gibbs_stability(inverse_temperature=beta, n_samples=n)
    assert sharp <= gibbs_stability(inverse_temperature=beta, n_samples=n, sharp=False) + 1e-12
    for rows in product(range(3), repeat=n):
        law = gibbs_erm(table[:, rows].mean(axis=1), beta)
        for other in range(3):
            changed = (other, *rows[1:])
            law_other = gibbs_erm(table[:, changed].mean(axis=1), beta)
            assert np.max(np.abs((law - law_other) @ table)) <= sharp + 1e-12
            assert np.max(np.abs(law / law_other - 1)) <= np.expm1(4 * beta / n) + 1e-9


def test_stability_for_small_temperatures():
    assert gibbs_stability(inverse_temperature=1e-3, n_samples=10, size=2.0) == pytest.approx(
        2 * 1e-3 * 4 / 10, rel=1e-4
    )
    assert gibbs_stability(inverse_temperature=1e9, n_samples=1) == pytest.approx(2.0)


@pytest.mark.parametrize("beta", [0.1, 1.0, 3.0])
def test_two_hypotheses_reach_the_bound(beta):
    """One row that speaks for the first hypothesis, replaced by one that speaks for the other."""
    losses = np.array([2.0, -2.0])
    moved = np.abs((gibbs_erm(losses, beta) - gibbs_erm(-losses, beta)) @ losses)
    bound = gibbs_stability(inverse_temperature=beta, n_samples=1, size=2.0)
    assert moved == pytest.approx(bound, rel=1e-12)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="must not be negative"):
        gibbs_erm([0.1, 0.2], -1.0)
    with pytest.raises(ValueError, match="'size' parameter"):
        gibbs_stability(inverse_temperature=1.0, n_samples=3, size=0.0)


def test_stability_by_hand():
    how = {"inverse_temperature": 6.0, "n_samples": 4, "size": 2.0}
    assert gibbs_stability(**how) == pytest.approx(4 * math.tanh(3))
    assert gibbs_stability(sharp=False, **how) == pytest.approx(2 * math.expm1(12))
    hot = gibbs_stability(inverse_temperature=1e9, n_samples=1, sharp=False)
    assert hot == pytest.approx(math.exp(700))  # a number, not an overflow
