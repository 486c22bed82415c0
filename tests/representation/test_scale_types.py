import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from corollary.representation import (
    ScaleType,
    classify_map,
    infer_scale_type,
    is_invariant,
    random_transformation,
)

SCALES = list(ScaleType)


# -- maps ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "scale"),
    [
        (lambda x: x, ScaleType.ABSOLUTE),
        (lambda x: 2.54 * x, ScaleType.RATIO),
        (lambda x: 1.8 * x + 32, ScaleType.INTERVAL),
        (lambda x: x + 1, ScaleType.INTERVAL),
        (np.exp, ScaleType.ORDINAL),
        (lambda x: x**3, ScaleType.ORDINAL),
        (lambda x: -x, ScaleType.NOMINAL),
        (lambda x: -2 * x + 1, ScaleType.NOMINAL),
        (lambda x: np.where(x > 1, -x - 5, x), ScaleType.NOMINAL),
        (lambda x: x**2, None),
        (lambda x: 0 * x, None),
    ],
)
def test_maps_are_classified(function, scale):
    x = np.array([-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0])
    assert classify_map(x, function(x)) is scale


def test_few_points():
    assert classify_map([2.0], [6.0]) is ScaleType.RATIO
    assert classify_map([0.0], [6.0]) is ScaleType.INTERVAL
    assert classify_map([2.0], [-6.0]) is ScaleType.INTERVAL
    assert classify_map([1.0, 2.0], [3.0, 7.0]) is ScaleType.INTERVAL


@given(st.sampled_from(SCALES), st.integers(0, 10**6))
def test_random_transformations_are_admissible(scale, seed):
    x = np.array([-2.0, -1.0, 0.5, 1.0, 2.0, 7.0])
    found = classify_map(x, random_transformation(scale, x, seed)(x))
    assert found is not None
    assert found >= scale
    if scale >= ScaleType.INTERVAL:
        assert found == scale  # generic members of these families are nothing finer


@given(st.integers(0, 10**6))
def test_increasing_maps_increase_off_the_data_too(seed):
    x = np.array([0.0, 1.0, 3.0])
    grid = np.linspace(-2, 5, 300)
    assert np.all(np.diff(random_transformation("ordinal", x, seed)(grid)) > 0)


# -- statistics: fine on their scale, broken one level below ---------------------------------


def mode(x):
    values, counts = np.unique(x, return_counts=True)
    return values[counts.argmax()] if (counts == counts.max()).sum() == 1 else np.nan


def ratio_of_mean_differences(x):
    return (x[:3].mean() - x[3:6].mean()) / (x[:3].mean() - x[6:].mean())


STATISTICS = {
    "median": (np.median, "equivariant", ScaleType.ORDINAL),
    "rank correlation": (lambda x: spearmanr(x[:, 0], x[:, 1])[0], "invariant", ScaleType.ORDINAL),
    "concordance": (lambda x: kendalltau(x[:, 0], x[:, 1])[0], "invariant", ScaleType.ORDINAL),
    "mean": (np.mean, "equivariant", ScaleType.INTERVAL),
    "mean differences": (ratio_of_mean_differences, "invariant", ScaleType.INTERVAL),
    "correlation": (lambda x: np.corrcoef(x.T)[0, 1], "invariant", ScaleType.INTERVAL),
    "coefficient of variation": (lambda x: x.std() / x.mean(), "invariant", ScaleType.RATIO),
    "count above one": (lambda x: np.sum(x > 1), "invariant", ScaleType.ABSOLUTE),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_make_sense_on_their_scale_and_not_below(name, seed):
    statistic, relation, scale = STATISTICS[name]
    rng = np.random.default_rng(seed)
    two_columns = "correlation" in name or name == "concordance"
    data = np.exp(rng.normal(size=(9, 2) if two_columns else 9))
    columns = "separately" if two_columns else "together"
    for one in SCALES:
        check = is_invariant(
            statistic, one, data, relation=relation, columns=columns, random_state=seed
        )
        assert bool(check) == (one >= scale), f"{name} on {one.name}"
        assert check.n_trials == 50 if check else check.transformed.shape == data.shape


def test_mode_is_nominal(seed):
    x = np.array([3.0, 1.0, 3.0, 2.0, 3.0, 1.0])
    for scale in SCALES:
        assert is_invariant(mode, scale, x, relation="equivariant", random_state=seed)
    # A statistic that needs an order breaks on labels.
    assert not is_invariant(np.max, "nominal", x, relation="equivariant", random_state=seed)
    assert is_invariant(np.max, "ordinal", x, relation="equivariant", random_state=seed)


def test_median_of_an_even_number_is_not_ordinal(seed):
    x = np.array([1.0, 2.0, 4.0, 9.0])
    assert not is_invariant(np.median, "ordinal", x, relation="equivariant", random_state=seed)
    assert is_invariant(np.median, "interval", x, relation="equivariant", random_state=seed)


def test_a_violation_is_shown(seed):
    check = is_invariant(np.mean, "ratio", [1.0, 2.0, 6.0], random_state=seed)
    assert check.n_trials == 1
    assert np.isclose(check.found, check.transformed.mean())
    assert check.expected == 3


# -- guesses ---------------------------------------------------------------------------------

COLUMNS = [
    (["red", "blue", "red"], ScaleType.NOMINAL),
    ([True, False, True], ScaleType.NOMINAL),
    ([0, 1, 1, 0], ScaleType.NOMINAL),
    (list(range(1, 31)), ScaleType.NOMINAL),
    ([1, 5, 3, 3, 2, 4, 1], ScaleType.ORDINAL),
    ([20.5, -3.0, 11.0], ScaleType.INTERVAL),
    ([-1, 4, 2], ScaleType.INTERVAL),
    ([0.5, 12.25, 3.0], ScaleType.RATIO),
    ([0, 3, 1, 17, 2, 2], ScaleType.ABSOLUTE),
    ([datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)], ScaleType.INTERVAL),
    ([datetime.timedelta(1), datetime.timedelta(2)], ScaleType.RATIO),
]


@pytest.mark.parametrize(("values", "scale"), COLUMNS, ids=lambda v: str(v)[:20])
def test_guesses_agree_over_containers(values, scale):
    timed = isinstance(values[0], datetime.datetime | datetime.timedelta)
    kind = "datetime64[us]" if isinstance(values[0], datetime.datetime) else "timedelta64[us]"
    array = np.array(values, dtype=kind) if timed else np.array(values)
    for column in (array, pd.Series(values), pl.Series(values)):
        guess = infer_scale_type(column)
        assert guess.scale is scale, type(column)
        assert guess.reason


def test_missing_values_and_special_types():
    assert infer_scale_type([1.5, None, np.nan, 2.0]).scale is ScaleType.RATIO
    assert infer_scale_type(pd.Series([3, None, 20], dtype="Int64")).scale is ScaleType.ABSOLUTE
    assert infer_scale_type(pl.Series([3, None, 20])).scale is ScaleType.ABSOLUTE
    assert infer_scale_type([None, None]).reason == "all values are missing"
    assert infer_scale_type(["a", None]).scale is ScaleType.NOMINAL
    ordered = pd.Categorical(["low", "high"], categories=["low", "high"], ordered=True)
    assert infer_scale_type(pd.Series(ordered)).scale is ScaleType.ORDINAL
    assert infer_scale_type(pd.Series(["a", "b"], dtype="category")).scale is ScaleType.NOMINAL
    sizes = pl.Series(["S", "L"], dtype=pl.Enum(["S", "M", "L"]))
    assert infer_scale_type(sizes).scale is ScaleType.ORDINAL
    assert infer_scale_type(pl.Series([datetime.date(2020, 1, 1)])).scale is ScaleType.INTERVAL
    assert infer_scale_type(pl.Series(["a"], dtype=pl.Categorical)).scale is ScaleType.NOMINAL


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: classify_map([1.0], [1.0, 2.0]), "as many images"),
        (lambda: classify_map([1.0, 1.0], [1.0, 2.0]), "a point has two different images"),
        (lambda: classify_map([np.nan], [1.0]), "finite points"),
        (lambda: is_invariant(np.mean, "cardinal", [1.0]), "'scale' parameter of is_invariant"),
        (lambda: is_invariant(np.mean, "ratio", [1.0], relation="x"), "'relation' parameter"),
        (lambda: is_invariant(np.mean, "ratio", [1.0], columns="x"), "'columns' parameter"),
        (
            lambda: is_invariant(
                np.mean, "ratio", [[1.0]], relation="equivariant", columns="separately"
            ),
            "cannot test equivariance",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
