import numpy as np
import pytest

from corollary.datasets import LowRankTable

ITEMS = np.array([[1.0, 0.0], [0.5, 2.0], [-1.0, 1.0], [2.0, 0.5]])


def test_rank_noise_and_share_of_what_is_seen(seed):
    world = LowRankTable(ITEMS, noise=0.0, seen=0.3)
    X, M = world.sample(4000, random_state=seed)
    assert np.linalg.matrix_rank(M) == 2
    assert np.mean(~np.isnan(X)) == pytest.approx(0.3, abs=0.02)
    np.testing.assert_array_equal(X[~np.isnan(X)], M[~np.isnan(X)])
    np.testing.assert_allclose(np.cov(M.T), ITEMS @ ITEMS.T, atol=0.5)
    noisy = LowRankTable(ITEMS, noise=2.0).sample(4000, random_state=seed)[1]
    np.testing.assert_allclose(np.cov(noisy.T), ITEMS @ ITEMS.T + 4 * np.eye(4), atol=0.7)


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_errors_of_zero_and_of_the_oracle_are_the_stated_ones(noise, seed):
    world = LowRankTable(ITEMS, noise=noise, seen=0.5)
    M = world.sample(20_000, random_state=seed)[1]
    np.testing.assert_allclose(np.mean(M**2, axis=0), world.zero_risk, rtol=0.07)
    for seen in ([True, False, False, True], [False, True, False, False], [False] * 4):
        X = np.where(seen, M, np.nan)
        errors = np.mean((world.bayes_rule(X) - M) ** 2, axis=0)
        np.testing.assert_allclose(errors, world.oracle_risk(seen), rtol=0.07, atol=1e-9)


def test_the_oracle_is_the_conditional_mean(seed):
    world = LowRankTable(ITEMS, noise=0.5)
    X = world.sample(1, random_state=seed)[1]
    X[0, 1] = np.nan
    seen = [0, 2, 3]
    C = ITEMS @ ITEMS.T + 0.25 * np.eye(4)
    expected = C[1, seen] @ np.linalg.solve(C[np.ix_(seen, seen)], X[0, seen])
    prediction = world.bayes_rule(X)
    assert prediction[0, 1] == pytest.approx(expected)
    assert np.isnan(X[0, 1])
    risk = C[1, 1] - C[1, seen] @ np.linalg.solve(C[np.ix_(seen, seen)], C[seen, 1])
    assert world.oracle_risk([True, False, True, True])[1] == pytest.approx(risk)


def test_values_by_hand():
    world = LowRankTable(np.array([[1.0], [2.0]]), noise=1.0)
    assert world.zero_risk.tolist() == [2.0, 5.0]
    # One seen item b = 1: the taste has variance 1 / (1 + 1), so the other errs 4 / 2 + 1.
    assert world.oracle_risk([True, False]).tolist() == [0.0, 3.0]
    assert world.bayes_rule(np.array([[4.0, np.nan]])).tolist() == [[4.0, 4.0]]
    sure = LowRankTable(np.array([[1.0], [2.0]]), noise=0.0)
    np.testing.assert_allclose(sure.oracle_risk([True, False]), 0, atol=1e-12)


@pytest.mark.parametrize(
    "options", [{"noise": -1.0}, {"seen": 0.0}, {"seen": 1.5}, {"items": [1.0]}]
)
def test_bad_input_is_told(options):
    with pytest.raises(ValueError, match="LowRankTable needs"):
        LowRankTable(**{"items": ITEMS, **options})
