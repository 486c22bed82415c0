import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression

from corollary.risk import (
    ERMRegressor,
    FiniteWorld,
    GuardedTestSet,
    TestSetError,
    empirical_risk,
    three_way_split,
)


def rows(n=50):
    return np.arange(2.0 * n).reshape(n, 2), np.arange(n)


def opened(split):
    return split.test.open(lambda X: X)


def test_parts_are_disjoint_and_complete(seed):
    X, y = rows()
    split = three_way_split(X, y, validation_size=0.3, test_size=0.1, random_state=seed)
    X_test, y_test = opened(split)
    parts = [split.y_train, split.y_validation, y_test]
    assert [len(p) for p in parts] == [30, 15, 5]
    assert sorted(np.concatenate(parts)) == list(range(50))
    for X_part, y_part in zip((split.X_train, split.X_validation, X_test), parts):
        np.testing.assert_array_equal(X_part, X[y_part])
    np.testing.assert_array_equal(split.train_index, split.y_train)
    np.testing.assert_array_equal(split.validation_index, split.y_validation)


def test_same_seed_same_split(seed):
    one, two = (three_way_split(*rows(), random_state=seed) for _ in range(2))
    np.testing.assert_array_equal(one.y_train, two.y_train)
    other = three_way_split(*rows(), random_state=seed + 1)
    assert not np.array_equal(one.y_train, other.y_train)


def test_stratified_parts_keep_the_shares(seed):
    X, _ = rows(100)
    y = np.repeat(["a", "b"], [80, 20])
    split = three_way_split(X, y, stratify=True, random_state=seed)
    for part in (split.y_train, split.y_validation, opened(split)[1]):
        assert np.isclose(np.mean(part == "b"), 0.2)


def test_frames_and_sparse_rows(seed):
    X, y = rows()
    for kind in (pd.DataFrame, pl.DataFrame):
        frame = kind({"a": X[:, 0], "b": X[:, 1]})
        split = three_way_split(frame, kind({"y": y})["y"], random_state=seed)
        assert isinstance(split.X_train, kind)
        assert len(split.X_train) == 30
        assert len(split.test) == 10
    split = three_way_split(sparse.csr_matrix(X), y, random_state=seed)
    assert split.X_train.shape == (30, 2)
    split = three_way_split(X.tolist(), y.tolist(), random_state=seed)
    assert len(split.X_train) == 30


def test_the_test_set_opens_for_one_fitted_model():
    locked = GuardedTestSet([[9.0], [8.0]], [9.0, 8.0])
    with pytest.raises(TestSetError, match=r"opens for a fitted model only\..*fit it first"):
        locked.open(LinearRegression())
    with pytest.raises(TestSetError, match="fitted model only"):
        locked.open(LinearRegression)
    assert locked.looks == 0
    assert not any("9" in str(v) for k, v in vars(locked).items() if not k.startswith("_"))
    first = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    X, _ = locked.open(first)
    assert X == [[9.0], [8.0]]
    locked.open(first)
    assert locked.looks == 1  # the same model again is one look
    second = LinearRegression().fit([[0.0], [1.0]], [0.0, 2.0])
    with pytest.raises(TestSetError, match="opened for 1 other model"):
        locked.open(second)
    locked.open(second, again=True)
    assert locked.looks == 2
    assert repr(locked) == "GuardedTestSet(2 rows, 2 looks)"


def test_a_model_trained_on_test_rows_is_refused(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    split = three_way_split(X, y, random_state=seed)
    with pytest.raises(TestSetError, match="12 of 12 are among its training rows"):
        split.test.open(ERMRegressor().fit(X, y))
    assert split.test.looks == 0
    split.test.open(ERMRegressor().fit(split.X_train, split.y_train))


def test_untouched_rows_estimate_the_risk_without_bias_and_chosen_ones_do_not(seed):
    # Coin-flip labels: the best of 20 guesses looks good on the rows it was chosen on.
    world = FiniteWorld(np.full((8, 2), 1 / 16))
    rng = np.random.RandomState(seed)
    chosen_on, fresh = [], []
    for _ in range(400):
        X, y = world.sample(60, rng)
        split = three_way_split(X, y, validation_size=0.3, test_size=0.3, random_state=rng)
        tables = rng.randint(2, size=(20, 8))
        rules = [lambda X, t=t: t[X[:, 0].astype(int)] for t in tables]
        scores = [empirical_risk(split.y_validation, r(split.X_validation)) for r in rules]
        best = rules[int(np.argmin(scores))]
        chosen_on.append(min(scores))
        X_test, y_test = split.test.open(best)
        fresh.append(empirical_risk(y_test, best(X_test)))
    error = np.std(fresh, ddof=1) / np.sqrt(400)
    assert abs(np.mean(fresh) - 0.5) < 5 * error
    assert np.mean(chosen_on) < 0.4


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"test_size": 0.0}, r"'test_size' parameter .* \(0.0, 1.0\). Got 0.0"),
        ({"validation_size": 1}, "'validation_size' parameter"),
        ({"test_size": 0.5, "validation_size": 0.5}, r"below 1.*Got 0.5 \+ 0.5"),
        ({"test_size": 0.001}, "leave a part empty: 50 rows give 0 test"),
    ],
)
def test_errors(kwargs, message):
    with pytest.raises(ValueError, match=message):
        three_way_split(*rows(), **kwargs)
