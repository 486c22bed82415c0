import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.conformal import AdaptiveThreshold, adaptive_coverage_bound, conformal_quantile


@given(
    scores=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=150),
    confidence=st.sampled_from([0.5, 0.8, 0.95]),
    step_size=st.sampled_from([0.005, 0.1, 0.7]),
    window=st.sampled_from([None, 1, 7]),
)
def test_misses_obey_the_law_on_every_sequence(scores, confidence, step_size, window):
    stream = AdaptiveThreshold(confidence, step_size=step_size, window=window)
    thresholds = stream.update(scores)
    misses = np.asarray(scores) > thresholds
    for rounds in range(1, len(scores) + 1):
        gap = abs(misses[:rounds].mean() - (1 - confidence))
        assert gap <= adaptive_coverage_bound(rounds, confidence, step_size) + 1e-9
    assert stream.n_misses == misses.sum()
    assert -step_size <= stream.alpha <= 1 + step_size


@pytest.mark.parametrize("sign", [-1, 1])
def test_an_adversary_who_knows_the_threshold_gains_nothing(sign):
    stream = AdaptiveThreshold(0.8, step_size=0.1)
    for _ in range(500):
        threshold = stream.threshold
        stream.update(sign * 1e9 if math.isinf(threshold) else threshold + sign)
    gap = abs(stream.n_misses / 500 - 0.2)
    assert gap <= adaptive_coverage_bound(500, 0.8, 0.1)


def test_first_thresholds_are_conformal_quantiles_and_one_by_one_equals_many():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=60)
    many, one = AdaptiveThreshold(0.7, window=20), AdaptiveThreshold(0.7, window=20)
    thresholds = many.update(scores)
    for t, score in enumerate(scores):
        level = 1 - one.alpha
        past = scores[max(0, t - 20) : t]
        assert one.threshold == thresholds[t]
        if 0 < level < 1:
            assert one.threshold == conformal_quantile(past, level)
        one.update(score)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"confidence": 1.0}, "'confidence' parameter"),
        ({"step_size": 0.0}, "'step_size' parameter"),
        ({"window": 0}, "'window' parameter"),
    ],
)
def test_wrong_settings(how, message):
    with pytest.raises(ValueError, match=message):
        AdaptiveThreshold(**how)
    with pytest.raises(ValueError, match="finite scores"):
        AdaptiveThreshold().update([1.0, np.nan])


def test_a_threshold_that_ignores_its_misses_would_be_caught(monkeypatch):
    def stubborn(stream):
        return float(np.median(stream._sorted)) if stream._sorted else math.inf

    monkeypatch.setattr(AdaptiveThreshold, "threshold", property(stubborn))
    stream = AdaptiveThreshold(0.8, step_size=0.1)
    stream.update(np.arange(500.0))  # every score beats the median of those before it
    gap = abs(stream.n_misses / 500 - 0.2)
    assert gap > adaptive_coverage_bound(500, 0.8, 0.1)
