"""What reusing a test set costs."""

import pytest

from corollary.validation import (
    best_of_guesses,
    optimism_scale,
    reuse_experiment,
)


def test_best_of_guesses_exactly():
    # Two models, two rows: the smallest of two Bin(2, 1/2).
    pmf = {0: 0.25, 1: 0.5, 2: 0.25}
    brute = sum(pa * pb * min(a, b) for a, pa in pmf.items() for b, pb in pmf.items()) / 2
    assert best_of_guesses(n_models=2, n_samples=2) == pytest.approx(brute)
    exact = best_of_guesses(n_models=50, n_samples=40)
    outcome = reuse_experiment(n_models=50, n_samples=40, n_repeats=600, random_state=0)
    assert outcome.reported.mean() == pytest.approx(exact, abs=0.01)
    assert outcome.fresh.mean() == pytest.approx(0.5, abs=0.02)
    assert outcome.optimism <= optimism_scale(n_models=50, n_samples=40) + 0.02
    assert 0.5 - exact <= optimism_scale(n_models=50, n_samples=40)
    big = 0.5 - best_of_guesses(n_models=10_000, n_samples=10_000)
    assert big == pytest.approx(optimism_scale(n_models=10_000, n_samples=10_000), rel=0.12)
