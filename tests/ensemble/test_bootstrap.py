"""Bootstrap samples: how much of the rows they hold."""

import numpy as np
import pytest

from corollary.ensemble import (
    BaggingRegressor,
    RandomForestRegressor,
    bootstrap_counts,
    expected_distinct_share,
    number_of_draws,
)


@pytest.mark.parametrize(("m", "draws"), [(1, 1), (2, 2), (5, 5), (30, 30), (30, 10), (7, 40)])
def test_distinct_share_is_simulated(seed, m, draws):
    rng = np.random.default_rng(seed)
    present = np.array([bootstrap_counts(m, draws, rng)[0] > 0 for _ in range(4000)])
    share = expected_distinct_share(m, draws)
    assert share == pytest.approx(1 - (1 - 1 / m) ** draws)
    error = np.sqrt(max(share * (1 - share), 1e-12) / len(present))
    assert abs(present.mean() - share) <= 5 * error + 1e-12


def test_share_tends_to_one_minus_one_over_e():
    assert expected_distinct_share(10**9) == pytest.approx(1 - np.exp(-1), rel=1e-8)
    shares = [expected_distinct_share(m) for m in range(1, 200)]
    assert (np.diff(shares) < 0).all()
    assert expected_distinct_share(5, 0) == 0.0


def test_weights_are_chances(seed):
    rng = np.random.default_rng(seed)
    w = np.array([0.0, 1.0, 3.0])
    counts = bootstrap_counts(3, 40_000, rng, sample_weight=w)
    assert counts[0] == 0
    assert counts.sum() == 40_000
    assert counts[2] / 40_000 == pytest.approx(0.75, abs=5 * np.sqrt(0.75 * 0.25 / 40_000))


def test_without_replacement_nothing_repeats(seed):
    counts = bootstrap_counts(10, 7, np.random.default_rng(seed), replace=False)
    assert sorted(counts.tolist()) == [0] * 3 + [1] * 7


def test_numbers_of_draws():
    assert number_of_draws(None, 9) == 9
    assert number_of_draws(0.5, 9) == 4
    assert number_of_draws(0.001, 9) == 1
    assert number_of_draws(20, 9) == 20


def test_errors():
    with pytest.raises(ValueError, match="'n_samples' parameter of expected_distinct_share"):
        expected_distinct_share(0)


@pytest.mark.parametrize("kind", [RandomForestRegressor, BaggingRegressor])
@pytest.mark.parametrize("max_samples", [None, 0.5])
def test_rows_of_weight_zero_are_as_if_absent(seed, kind, max_samples):
    # They are never drawn; they must not add draws, nor count in the out-of-bag score.
    rng = np.random.default_rng(seed)
    X, y, weight = rng.normal(size=(60, 3)), rng.normal(size=60), rng.uniform(0.5, 2.0, size=60)
    more = np.vstack([X, rng.normal(size=(200, 3))])
    y_more, weight_more = np.append(y, 10 * rng.normal(size=200)), np.append(weight, np.zeros(200))
    options = {"n_estimators": 20, "max_samples": max_samples or 1.0, "random_state": 0}
    alone = kind(oob_score=True, **options).fit(X, y, sample_weight=weight)
    model = kind(oob_score=True, **options).fit(more, y_more, sample_weight=weight_more)
    np.testing.assert_allclose(model.predict(X), alone.predict(X), rtol=1e-12)
    assert model.oob_score_ == pytest.approx(alone.oob_score_, rel=1e-9)
