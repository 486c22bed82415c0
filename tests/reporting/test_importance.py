"""Importances against raw columns shuffled by hand; effects and stand-ins against closed forms."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from corollary.reporting.models._candidates import Situation, candidates
from corollary.reporting.models._losses import absolute_error
from corollary.reporting.models._trials import fit_predictor
from corollary.reporting.page.sections import _why as why
from corollary.reporting.trust._importance import column_effects, column_importances, find_stand_ins
from corollary.representation import ColumnTable, TableEncoder


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=300),
            "colour": rng.choice(["red", "green", "blue"], 300),
            "day": pd.date_range("2021-01-01", periods=300),
        }
    )
    frame["near"] = 2 * frame["a"] + 0.01 * rng.normal(size=300)
    y = 2 * frame["a"].to_numpy() + 3 * (frame["colour"] == "red") + rng.normal(size=300)
    y = y.to_numpy()
    encoder = TableEncoder(target="number")
    features = encoder.fit_transform(frame, y)
    situation = Situation("regression", 300, features.shape[1], 0, False, False, 0, True)
    return frame, y, encoder, features, fit_predictor(candidates(situation), situation, features, y)


def test_importances_equal_raw_columns_shuffled_by_hand(fitted):
    frame, y, encoder, features, predictor = fitted
    found = column_importances(
        predictor.predict,
        encoder,
        features,
        y,
        absolute_error,
        predicted=predictor.predict(features),
        stand_ins={},
        confidence=0.95,
        repeats=3,
        seed=7,
    )
    rng = np.random.default_rng(7)
    rng.permutation(300)  # the draw of rows, all of them here
    orders = [rng.permutation(300) for _ in range(3)]
    before = np.abs(y - predictor.predict(features))
    for importance in found:
        rises = []
        for order in orders:
            shuffled = frame.copy()
            shuffled[importance.column] = frame[importance.column].to_numpy()[order]
            after = np.abs(y - predictor.predict(encoder.transform(shuffled)))
            rises.append(after - before)
        rise = np.mean(rises, axis=0)
        # By donor: the rise at the row that received this row's value.
        caused = np.mean([r[np.argsort(order)] for r, order in zip(rises, orders)], axis=0)
        assert importance.increase.value == pytest.approx(rise.mean(), abs=1e-9)
        from scipy.stats import t

        radius = t.ppf(0.975, 299) * (rise + caused).std(ddof=1) / np.sqrt(300)
        assert importance.increase.high - importance.increase.value == pytest.approx(radius)
    values = [importance.increase.value for importance in found]
    assert values == sorted(values, reverse=True)


class _Sum:
    """A predictor that adds its features."""

    classification = False

    def predict(self, features):
        return features.sum(axis=1)


class _Columns:
    plans_ = (SimpleNamespace(name="strong", width=1), SimpleNamespace(name="weak", width=1))
    feature_columns_ = np.arange(2)


def test_intervals_of_strong_and_weak_columns_hold(seed):
    # For y = a + b, errors after shuffling a are |a - a'|: 2 s / sqrt(pi) on average.
    rng = np.random.default_rng(seed)
    misses = {"strong": 0, "weak": 0}
    truth = {"strong": 2 / np.sqrt(np.pi), "weak": 0.2 / np.sqrt(np.pi)}
    for _ in range(600):
        features = rng.normal(size=(40, 2)) * [1.0, 0.1]
        for importance in column_importances(
            _Sum().predict,
            _Columns(),
            features,
            features.sum(axis=1),
            absolute_error,
            predicted=features.sum(axis=1),
            stand_ins={},
            confidence=0.95,
            repeats=5,
            seed=int(rng.integers(2**31)),
        ):
            found = importance.increase
            misses[importance.column] += not found.low <= truth[importance.column] <= found.high
    # 5% of 600 are 30, standard deviation 5.3; without the givers' share about 120 are missed.
    assert max(misses.values()) < 55


def test_stand_ins(fitted):
    frame, _, encoder, features, _ = fitted
    assert find_stand_ins(encoder, features) == {"a": ("near",), "near": ("a",)}
    # Monotone relations count, whatever their shape.
    curved = frame[["a"]].assign(b=np.exp(3 * frame["a"]))
    encoder = TableEncoder()
    assert "b" in find_stand_ins(encoder, encoder.fit_transform(curved))["a"]


def test_effects_equal_the_mean_prediction_with_the_column_set(fitted):
    frame, _, encoder, features, predictor = fitted
    effects = column_effects(
        predictor,
        encoder,
        ColumnTable.of(frame),
        features,
        ["a", "colour", "day"],
        (0, ""),
        seed=0,
        predicted=predictor.predict(features),
    )
    assert not any(effect.together for effect in effects)
    assert [effect.column for effect in effects] == ["a", "colour", "day"]
    for effect in effects:
        for value, mean in zip(effect.grid, effect.mean):
            moved = frame.assign(**{effect.column: value})
            expected = predictor.predict(encoder.transform(moved)).mean()
            assert mean == pytest.approx(expected, abs=1e-9)
        assert sum(effect.density) == pytest.approx(1.0)
    assert effects[2].grid[0] == "2021-01-03"


class _Difference:
    """A predictor that takes the second of two features from the first."""

    classification = False

    def predict(self, features):
        return features[:, 0] - features[:, 1]


def test_a_column_that_cannot_move_alone_moves_with_the_others():
    """b = a - u with u in [0, 1]: predictions lie in [0, 1], and moving a alone reaches 90."""
    a = np.repeat(np.arange(0.0, 100, 10), 4)
    u = np.tile([0.0, 0.25, 0.5, 1.0], 10)
    frame = pd.DataFrame({"a": a, "b": a - u})
    encoder = TableEncoder(target="number", scale=False)
    features = encoder.fit_transform(frame, u)
    predictor = _Difference()
    (effect,) = column_effects(
        predictor,
        encoder,
        ColumnTable.of(frame),
        features,
        ["a"],
        (0, ""),
        seed=0,
        predicted=predictor.predict(features),
    )
    assert effect.together
    assert effect.grid == np.arange(0.0, 100, 10).tolist()
    assert effect.mean == pytest.approx([0.4375] * 10)  # the mean of u at every value of a
    assert effect.density == pytest.approx([0.1] * 10)


def test_few_of_many_columns_bear_most():
    rises = [8.0, 1.2, 0.5] + [0.05] * 10
    matter = [{"increase": {"value": rise}} for rise in rises]
    assert why._bear_most(matter) == ", of which the first 2 bear 90% of the rises"
    assert why._bear_most(matter[:12]) == ""
    matter[0]["increase"]["value"] = 80.0
    assert why._bear_most(matter) == ", of which the first bears 90% of the rises"


def test_columns_that_matter_are_counted_in_words():
    words = [why._how_many(*pair) for pair in ((9, 9), (2, 2), (1, 1), (1, 4), (3, 4))]
    assert words == [
        "All 9 columns matter",
        "Both columns matter",
        "1 column of 1 matters",
        "1 column of 4 matters",
        "3 columns of 4 matter",
    ]


def test_many_columns_are_screened_by_few_rows_and_the_foremost_judged_by_all(monkeypatch):
    from corollary.reporting.trust import _importance as importance

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 130))
    y = 3 * X[:, 17] - 2 * X[:, 111] + 0.5 * rng.normal(size=400)
    encoder = TableEncoder(scale=False, target="number")
    features = encoder.fit_transform(pd.DataFrame(X, columns=[f"x{j}" for j in range(130)]), y)
    predicted_rows = []

    def predict(rows):
        predicted_rows.append(len(rows))
        return 3 * rows[:, 17] - 2 * rows[:, 111]

    options = {"stand_ins": {}, "confidence": 0.95, "repeats": 2, "seed": 0}
    known = predict(features)
    predicted_rows.clear()
    found = column_importances(
        predict, encoder, features, y, absolute_error, predicted=known, **options
    )
    assert [i.column for i in found[:2]] == ["x17", "x111"]
    assert len({i.column for i in found}) == 130
    assert [i.increase.n for i in found[:50]] == [400] * 50
    assert {i.increase.n for i in found[50:]} == {100}
    assert sum(predicted_rows) == 130 * 100 + 50 * 2 * 400
    monkeypatch.setattr(importance, "MANY_COLUMNS", 130)  # all rows for all columns
    whole = column_importances(
        predict, encoder, features, y, absolute_error, predicted=known, **options
    )
    assert {i.increase.n for i in whole} == {400}
    for mine, other in zip(found[:2], whole[:2]):
        assert mine.column == other.column
        assert mine.increase.value == pytest.approx(other.increase.value, rel=0.1)
