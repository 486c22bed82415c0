import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2
from sklearn.linear_model import LinearRegression

from corollary.representation import outlier_mask, remove_outliers

RULES = ["mad", "iqr", "zscore", "mahalanobis"]


def planted(seed, n=200):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    X[:3] = [[50.0, 0.0], [0.0, -60.0], [40.0, 40.0]]
    return X


@pytest.mark.parametrize("rule", RULES)
def test_planted_outliers_are_found(rule, seed):
    mask = outlier_mask(planted(seed), rule=rule)
    assert mask[:3].all()
    assert mask[3:].mean() < 0.03


def test_rules_equal_their_formulas(seed):
    x = np.random.default_rng(seed).standard_t(2, size=(100, 1))
    deviation = np.abs(x - np.median(x))
    expected = 0.6745 * deviation / np.median(deviation) > 2.5
    np.testing.assert_array_equal(outlier_mask(x, threshold=2.5), expected[:, 0])
    low, high = np.percentile(x, [25, 75])
    expected = (x < low - 2 * (high - low)) | (x > high + 2 * (high - low))
    np.testing.assert_array_equal(outlier_mask(x, rule="iqr", threshold=2), expected[:, 0])
    expected = np.abs(x - x.mean()) > 2 * x.std()
    np.testing.assert_array_equal(outlier_mask(x, rule="zscore", threshold=2), expected[:, 0])
    X = np.random.default_rng(seed).normal(size=(100, 3))
    inverse = np.linalg.inv(np.cov(X.T, ddof=0))
    squared = np.array([(r - X.mean(axis=0)) @ inverse @ (r - X.mean(axis=0)) for r in X])
    found = outlier_mask(X, rule="mahalanobis", threshold=0.9)
    np.testing.assert_array_equal(found, squared > chi2.ppf(0.9, 3))


def test_the_rule_for_rows_sees_what_the_rules_for_features_do_not(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=200)
    X = np.column_stack([x, x + 0.1 * rng.normal(size=200)])
    X[0] = [1.5, -1.5]  # ordinary in each feature, against the correlation
    assert not outlier_mask(X)[0]
    assert outlier_mask(X, rule="mahalanobis")[0]


def test_z_scores_cannot_find_anything_in_ten_rows():
    x = np.zeros((10, 1))
    x[0] = 1e9
    assert not outlier_mask(x, rule="zscore").any()
    assert outlier_mask(x)[0]


def test_half_equal_values_constants_and_missing_values():
    x = np.array([[5.0]] * 30 + [[6.0], [500.0]])
    assert outlier_mask(x).tolist() == [False] * 30 + [False, True]
    assert not outlier_mask(np.full((5, 1), 3.0)).any()
    gaps = np.array([[1.0, np.nan], [2.0, np.nan], [3.0, np.nan], [2.0, np.nan], [99.0, np.nan]])
    for rule in ("mad", "iqr"):
        assert outlier_mask(gaps, rule=rule).tolist() == [False] * 4 + [True]


def test_cleaning_mends_least_squares(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, 1))
    y = 2 * X[:, 0] + 0.1 * rng.normal(size=100)
    X[:3], y[:3] = 30, -100
    clean = remove_outliers(X, y)
    assert clean.removed[:3].all()
    assert len(clean.X) == len(clean.y) == 100 - clean.removed.sum()
    assert abs(LinearRegression().fit(X, y).coef_[0] - 2) > 1
    assert abs(LinearRegression().fit(clean.X, clean.y).coef_[0] - 2) < 0.1
    frame = pd.DataFrame({"x": X[:, 0]})
    assert isinstance(remove_outliers(frame).X, pd.DataFrame)
    assert remove_outliers(X).y is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: outlier_mask([[1.0]], rule="x"), "'rule' parameter of outlier_mask"),
        (lambda: outlier_mask([[1.0]], threshold=0), r"\(0.0, inf\) for rule 'mad'. Got 0"),
        (
            lambda: outlier_mask([[1.0]], rule="mahalanobis", threshold=1.5),
            r"\(0.0, 1.0\) for rule 'mahalanobis'",
        ),
        (lambda: outlier_mask([[np.nan]], rule="mahalanobis"), "NaN"),
        (lambda: remove_outliers([[1.0], [2.0]], [1]), "one target for each row"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
