"""Validation of training data: what is refused, and how clearly."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import is_classifier, is_regressor

from corollary import gp, linear
from corollary.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from corollary.kernels import KernelRidge
from corollary.linear import LogisticRegression, Ridge
from corollary.neighbors import KNeighborsClassifier, KNeighborsRegressor
from corollary.online import OnlineRegressor
from corollary.risk import ERMClassifier, ERMRegressor
from corollary.svm import LinearSVC
from corollary.tree import DecisionTreeRegressor

X = np.arange(12.0).reshape(6, 2)
LABELS = np.array(["a", "b"] * 3)


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsClassifier(1),
        BaggingClassifier(n_estimators=2),
        VotingClassifier([("a", LogisticRegression())]),
    ],
)
def test_repeated_names_are_named(model):
    frame = pd.DataFrame(X, columns=["age", "age"])
    with pytest.raises(ValueError, match=r"different names. Got 'age' 2 times. Rename"):
        model.fit(frame, LABELS)


def test_columns_of_text_are_named():
    frame = pd.DataFrame({"size": X[:, 0], "town": ["Bern"] * 6, "street": ["x"] * 6})
    wanted = "Column 'town' holds 'Bern', and 1 more hold such values. Encode"
    with pytest.raises(ValueError, match=wanted):
        AdaBoostClassifier().fit(frame, LABELS)
    model = KNeighborsClassifier(1).fit(frame[["size"]].assign(town=1.0), LABELS)
    with pytest.raises(ValueError, match=r"Column 'town' holds 'Bern'. Encode"):
        model.predict(frame[["size", "town"]])
    with pytest.raises(ValueError, match="Column 1 holds 'x'"):
        Ridge().fit(np.array([[1, "x"], [2, "3"]], dtype=object), [1.0, 2.0])


def test_dates_are_named():
    frame = pd.DataFrame({"size": X[:, 0], "day": pd.date_range("2020-01-01", periods=6)})
    with pytest.raises(ValueError, match=r"Ridge needs numbers .* Column 'day' holds '2020-01-01"):
        Ridge().fit(frame, X[:, 1])


def test_missing_values_point_to_what_takes_them():
    missing = X.copy()
    missing[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN. KNeighborsClassifier takes no missing"):
        KNeighborsClassifier(1).fit(missing, LABELS)


@pytest.mark.parametrize("kind", ["float", "Int64", "boolean", "object"])
def test_columns_with_missing_values_are_named(kind):
    frame = pd.DataFrame({"x": X[:, 0], "gone": [1, 0, None, 1, 1, 0]})
    frame["gone"] = frame["gone"].astype(kind)
    for table in (frame, pl.from_pandas(frame)):
        with pytest.raises(
            ValueError, match=r"contains NaN in 'gone'\. KNeighborsClassifier takes"
        ):
            KNeighborsClassifier(1).fit(table, LABELS)


SQUARES = [
    linear.BayesianLinearRegression(),
    linear.BestSubset(),
    linear.BridgeRegression(),
    linear.ElasticNet(),
    linear.Lasso(),
    linear.LassoCV(),
    linear.LinearRegression(),
    linear.LogisticRegression(),
    linear.LogisticRegressionCV(),
    linear.PolynomialRegression(),
    linear.QuantileInterval(),
    linear.QuantileRegressor(),
    linear.RidgeCV(),
    Ridge(),
    gp.GaussianProcessClassifier(),
    gp.GaussianProcessRegressor(),
    gp.SparseGaussianProcessRegressor(),
    KernelRidge(),
    ERMClassifier(),
    ERMRegressor(),
    LinearSVC(),
]


@pytest.mark.parametrize("shape", ["all", "one", "columns first", "part of a table"])
@pytest.mark.parametrize("model", SQUARES, ids=lambda model: type(model).__name__)
def test_features_whose_squares_overflow_are_refused(model, shape, seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(40, 6))
    rows = {
        "all": 1e160 * table[:, :3],
        "one": np.where(np.arange(120).reshape(40, 3) == 0, 1e300, table[:, :3]),
        "columns first": np.asfortranarray(1e300 * table[:, :3]),
        "part of a table": (1e200 * table)[:, ::2],
    }[shape]
    y = table[:, 0] > 0 if is_classifier(model) else table[:, 0]
    with pytest.raises(ValueError, match=r"features whose squares .* Divide the features by"):
        model.fit(rows, y)
    if is_regressor(model) and shape == "all":
        with pytest.raises(ValueError, match=r"needs targets whose squares have a finite sum"):
            model.fit(table, 1e200 * table[:, 0])


def test_single_precision_cannot_overflow_in_double():
    wanted = Ridge().fit(X, X[:, 1]).predict(X)
    found = Ridge(alpha=1e60).fit((1e30 * X).astype(np.float32), X[:, 1])
    np.testing.assert_allclose(found.predict(1e30 * X), wanted, rtol=1e-4)


def test_powers_of_features_may_overflow_before_the_features_do():
    with pytest.raises(ValueError, match="features whose squares"):
        linear.PolynomialRegression(degree=3).fit(1e60 * X, X[:, 0])


@pytest.mark.parametrize("kind", [str, object])
@pytest.mark.parametrize(
    "model",
    [
        Ridge(),
        KNeighborsRegressor(1),
        OnlineRegressor(),
        DecisionTreeRegressor(),
        BaggingRegressor(n_estimators=2),
        VotingRegressor([("a", Ridge())]),
    ],
)
def test_text_as_a_target_of_a_regressor(model, kind):
    with pytest.raises(ValueError, match=r"needs numbers as targets. Got 'a' in y. Take a class"):
        model.fit(X, LABELS.astype(kind))


def test_numbers_written_as_text_are_numbers():
    wanted = Ridge().fit(X, X[:, 1]).predict(X)
    written = Ridge().fit(X.astype(str).astype(object), X[:, 1].astype(str)).predict(X)
    np.testing.assert_array_equal(written, wanted)


@pytest.mark.parametrize(
    "model", [BaggingClassifier(), VotingClassifier([("a", LogisticRegression())])]
)
def test_ensembles_need_rows(model):
    with pytest.raises(ValueError, match=r"needs at least one row. Got none"):
        model.fit(X[:0], LABELS[:0])


def test_sparse_rows_point_to_what_takes_them():
    rows = csr_matrix(X)
    with pytest.raises(ValueError, match=r"AdaBoostClassifier needs dense rows. Got a sparse"):
        AdaBoostClassifier().fit(rows, LABELS)
    model = AdaBoostClassifier().fit(X, LABELS)
    with pytest.raises(ValueError, match=r"Give X.toarray\(\) if it fits in memory"):
        model.predict(rows)
