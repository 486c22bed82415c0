"""Importance weighting and hallucinated losses by enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.bandit import (
    hallucinated_loss,
    hallucinated_moments,
    importance_variance,
    importance_weighted,
)

laws = st.lists(st.floats(0.01, 1), min_size=1, max_size=6).map(lambda w: np.array(w) / sum(w))


@given(value=st.floats(-5, 5), p=st.floats(0.01, 1))
def test_importance_weighting_by_enumerating_the_coin(value, p):
    seen, unseen = importance_weighted(value, p, [True, False])
    mean = p * seen + (1 - p) * unseen
    assert mean == pytest.approx(value, abs=1e-12)
    variance = p * (seen - mean) ** 2 + (1 - p) * (unseen - mean) ** 2
    assert importance_variance(value, p) == pytest.approx(variance, abs=1e-9)


def test_unseen_values_are_ignored():
    assert importance_weighted([np.nan, 2.0], 0.5, [False, True]).tolist() == [0.0, 4.0]


@given(v=laws, data=st.data())
def test_hallucinated_moments_by_enumerating_the_arm(v, data):
    n = len(v)
    losses = np.array(data.draw(st.lists(st.floats(0, 1), min_size=n, max_size=n)))
    vectors = [hallucinated_loss(losses[i], i, v) for i in range(n)]
    mean = sum(v[i] * vectors[i] for i in range(n))
    second = sum(v[i] * vectors[i] ** 2 for i in range(n))
    weighted = sum(v[i] * (v @ vectors[i] ** 2) for i in range(n))
    moments = hallucinated_moments(losses, v)
    assert moments.mean == pytest.approx(mean)
    assert moments.second == pytest.approx(second)
    assert moments.weighted_second == pytest.approx(weighted)
    assert moments.weighted_second <= n + 1e-12
    assert moments.paid == pytest.approx(sum(v[i] * losses[i] for i in range(n)))
    for i in range(n):
        assert v @ vectors[i] == pytest.approx(losses[i])


def test_errors_say_what_to_repair():
    with pytest.raises(ValueError, match="never be seen cannot be estimated"):
        importance_weighted(1.0, 0.0, True)
    with pytest.raises(ValueError, match=r"must sum to 1. Got sum 0.9"):
        hallucinated_loss(1.0, 0, [0.5, 0.4])
    with pytest.raises(ValueError, match="arm of positive probability"):
        hallucinated_loss(1.0, 0, [0.0, 1.0])
    with pytest.raises(ValueError, match="one positive probability for each loss"):
        hallucinated_moments([1.0], [0.5, 0.5])
