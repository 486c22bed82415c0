"""Validation of training data: what is refused, and how clearly."""

import numpy as np
import pandas as pd
import pytest

from corollary.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from corollary.linear import LogisticRegression, Ridge
from corollary.neighbors import KNeighborsClassifier, KNeighborsRegressor
from corollary.online import OnlineRegressor
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
