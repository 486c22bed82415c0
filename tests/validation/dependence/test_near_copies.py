"""Ratios of distances against their law, and near copies against what was copied."""

import numpy as np
import pytest
import scipy.stats

from corollary.validation import near_copies, nearest_ratios


@pytest.mark.parametrize(("columns", "k"), [(2, 10), (3, 10), (3, 5)])
def test_ratios_have_the_beta_law(columns, k):
    X = np.random.default_rng(columns).uniform(size=(4000, columns))
    ratios, dimension = nearest_ratios(X, n_neighbors=k)
    assert dimension == pytest.approx(columns, rel=0.1)
    # Neighbourhoods overlap, so that rows count for less than independent ones.
    assert scipy.stats.kstest(ratios, scipy.stats.beta(1, k - 1).cdf).statistic < 0.05


def test_dimension_is_that_of_the_data_and_not_of_the_columns():
    z = np.random.default_rng(0).normal(size=(1500, 2))
    dimension = nearest_ratios(z @ np.random.default_rng(1).normal(size=(2, 8)))[1]
    assert dimension == pytest.approx(2, rel=0.15)


def test_ratios_agree_with_distances_by_hand():
    X = np.random.default_rng(0).normal(size=(60, 3))
    distances = np.sort(np.linalg.norm(X[:, None] - X[None], axis=2), axis=1)[:, 1:11]
    ratios, dimension = nearest_ratios(X)
    assert ratios == pytest.approx((distances[:, 0] / distances[:, 9]) ** dimension)


@pytest.mark.parametrize("seed", range(5))
def test_jittered_rows_are_joined(seed):
    rng = np.random.default_rng(seed)
    A, g = rng.normal(size=(150, 5)), np.repeat(np.arange(150), 3)
    X = A[g] + 0.01 * rng.normal(size=(450, 5))
    X[0, 0] = np.nan  # filled by the mean: this row may lose its siblings
    codes = near_copies(X)
    same = codes[1:][:, None] == codes[1:][None]
    truth = g[1:][:, None] == g[1:][None]
    assert same[truth].mean() > 0.99
    assert same[~truth].mean() < 0.005


@pytest.mark.parametrize("seed", range(5))
def test_rows_of_a_density_have_no_near_copies(seed):
    rng = np.random.default_rng(seed)
    for X in (rng.normal(size=(400, 4)), rng.standard_t(2, (400, 3)), rng.uniform(size=(400, 8))):
        assert near_copies(X).tolist() == list(range(400))


def test_equal_rows_are_no_near_copies_and_few_rows_have_none():
    X = np.random.default_rng(0).normal(size=(100, 4))
    assert near_copies(np.concatenate([X] * 2)).max() == 199
    assert near_copies(X[:30]).max() == 29


def test_many_rows_are_looked_at_by_a_sample_first():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2600, 4))
    assert near_copies(np.concatenate([X, X + 1e-4 * rng.normal(size=X.shape)])).max() < 2600
    assert near_copies(rng.normal(size=(5200, 4))).max() == 5199
