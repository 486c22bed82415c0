"""Convex weights by least squares and log loss."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from corollary.optimize import simplex_least_squares, simplex_log_loss


def peer(objective, B):
    found = minimize(
        objective,
        np.full(B, 1 / B),
        bounds=[(0, 1)] * B,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return found.fun


@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 5))
def test_least_squares_against_a_peer_and_the_best_member(seed, n, B):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    F = y[:, None] + rng.normal(size=(n, B)) * rng.uniform(0.1, 3, size=B)
    w = rng.uniform(0.1, 2, size=n)
    p = simplex_least_squares(F, y, sample_weight=w)

    def risk(p):
        return float(w @ (y - F @ p) ** 2)

    assert np.all(p >= 0)
    assert p.sum() == pytest.approx(1)
    assert risk(p) <= min(risk(e) for e in np.eye(B)) * (1 + 1e-9) + 1e-15
    assert risk(p) <= peer(risk, B) + 1e-6 * max(1.0, risk(p))
    # Optimal: no member pulls below the combination.
    gradient = -2 * F.T @ (w * (y - F @ p))
    assert gradient.min() >= gradient @ p - 1e-9 * (w @ np.abs(y[:, None] * F).max(axis=1))


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 5))
def test_log_loss_against_a_peer_and_the_best_member(seed, n, B):
    rng = np.random.default_rng(seed)
    L = rng.beta(0.7, 0.7, size=(n, B)).clip(1e-6, 1)
    w = rng.uniform(0.1, 2, size=n)
    p = simplex_log_loss(L, sample_weight=w)

    def risk(p):
        return float(-w @ np.log(np.maximum(L @ p, 1e-300)) / w.sum())

    assert np.all(p >= 0)
    assert p.sum() == pytest.approx(1)
    assert risk(p) <= min(risk(e) for e in np.eye(B)) + 1e-12
    assert risk(p) <= peer(risk, B) + 1e-9
    # The certificate of the stopping rule, recomputed.
    share = w / w.sum()
    assert (share @ (L / (L @ p)[:, None])).max() <= 1 + 1e-9


def test_a_coin_by_hand():
    # Two members that are sure of the two sides: the weights are the shares of the sides.
    L = np.array([[0.9, 0.1]] * 3 + [[0.1, 0.9]])
    p = simplex_log_loss(L)
    # 0.9 p + 0.1 (1 - p) = 3/4 is the best probability of the first side
    assert p[0] == pytest.approx((0.75 - 0.1) / 0.8)


def test_a_perfect_member_gets_everything():
    y = np.array([1.0, 2.0, 3.0])
    F = np.column_stack([y + 1, y, y - 5])
    np.testing.assert_allclose(simplex_least_squares(F, y), [0, 1, 0], atol=1e-9)
    # Several perfect ones share it.
    np.testing.assert_allclose(simplex_least_squares(np.column_stack([y, y]), y), [0.5, 0.5])


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1.0, 1e8, 1e150])
def test_scale_does_not_matter(seed, scale):
    rng = np.random.default_rng(seed)
    F, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    plain = simplex_least_squares(F, y)
    np.testing.assert_allclose(simplex_least_squares(scale * F, scale * y), plain, atol=1e-9)
    weighted = simplex_least_squares(F, y, sample_weight=np.full(20, scale))
    np.testing.assert_allclose(weighted, plain, atol=1e-9)


def test_weight_is_repetition(seed):
    rng = np.random.default_rng(seed)
    F, y, L = rng.normal(size=(15, 3)), rng.normal(size=15), rng.uniform(0.01, 1, size=(15, 3))
    w = rng.integers(0, 4, size=15)
    w[0] = 1
    a = simplex_least_squares(F, y, sample_weight=w)
    b = simplex_least_squares(np.repeat(F, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(a, b, atol=1e-9)
    a = simplex_log_loss(L, sample_weight=w)
    np.testing.assert_allclose(a, simplex_log_loss(np.repeat(L, w, axis=0)), atol=1e-6)


def test_excluded_outcomes_do_not_break_it():
    p = simplex_log_loss([[0.0, 0.5], [1.0, 0.5], [1.0, 0.5]])
    assert np.isfinite(p).all()
    assert p[1] > 0.3
    np.testing.assert_allclose(simplex_log_loss([[0.0, 0.0]]), [0.5, 0.5])


def test_errors():
    with pytest.raises(ValueError, match="one target per row"):
        simplex_least_squares([[1.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="NaN or infinity"):
        simplex_least_squares([[np.inf]], [1.0])
    with pytest.raises(ValueError, match="finite, non-negative likelihoods"):
        simplex_log_loss([[-0.1]])
