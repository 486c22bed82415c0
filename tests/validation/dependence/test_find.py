"""The detector on worlds whose truth is known, and what it promises of its arguments."""

import numpy as np
import pandas as pd
import polars
import pytest
from sklearn.neighbors import KNeighborsRegressor

from corollary.representation import ColumnTable
from corollary.validation import find_dependence
from tests.validation.dependence.worlds import WORLDS, called, draw

DEPENDENT = [name for name, w in WORLDS.items() if w.kinds and not w.weak]
CLEAN = [name for name, w in WORLDS.items() if not w.kinds and not w.weak]
#: One world of each kind, with fresh ones among them; all worlds are the matter of `make verify`.
QUICK = [
    "every row three times",
    "bootstrap of mixed columns",
    "joined, coin labels",
    "near copies, coin labels",
    "owner in whole numbers",
    "owners with missing ids, classes",
    "pairs of twins",
    "hidden owner",
    "patients in clinics: clinic",
    "panel of shops: month",
    "linear drift, shuffled",
    "unix seconds, nearly sorted",
    "slope that turns round",
    "slow walk, row order only",
]
QUIET = [
    "108 cells with interaction",
    "25 states, file sorted",
    "ages, curved",
    "dates sorted, no effect",
    "columns that wander, noise that grows",
    "id and fixed columns without effect",
    "one-hot category of 12",
    "coarse columns and their sum",
    "missing values in blocks",
]


@pytest.mark.parametrize("name", QUICK)
def test_dependence_is_seen(name):
    X, y = draw(name, 1)
    assert called(name, find_dependence(X, y, random_state=0))


def test_a_boundary_that_turns_is_seen_though_residuals_keep_their_mean():
    X, y = draw("classes whose boundary wanders", 0)
    assert called("classes whose boundary wanders", find_dependence(X, y, random_state=0))


@pytest.mark.parametrize("name", QUIET)
def test_rows_drawn_alike_raise_no_question(name):
    X, y = draw(name, 1)
    dependence = find_dependence(X, y, random_state=0)
    assert not any(unit.matters for unit in dependence.units), str(dependence)
    assert dependence.unit is None
    assert dependence.copies.tolist() == list(range(len(X)))


@pytest.mark.verify
@pytest.mark.parametrize("name", DEPENDENT)
def test_dependence_is_seen_in_nine_of_ten_tables(name):
    seen = sum(called(name, find_dependence(*draw(name, s), random_state=s)) for s in range(20))
    assert seen >= 18


@pytest.mark.verify
def test_questions_about_clean_tables_are_rare():
    asked = {
        name: sum(called(name, find_dependence(*draw(name, s), random_state=s)) for s in range(20))
        for name in CLEAN
    }
    assert {name: k for name, k in asked.items() if k > 2} == {}
    assert sum(asked.values()) <= 0.05 * 20 * len(CLEAN)


def owned(seed=0, n_owners=40, size=5):
    rng, owner = np.random.default_rng(seed), np.repeat(np.arange(n_owners), size)
    X = rng.normal(size=(len(owner), 3))
    y = X[:, 0] + rng.normal(size=n_owners)[owner] + 0.5 * rng.normal(size=len(owner))
    return X, y, owner


def figures(dependence):
    return [(u.kind, u.columns, u.codes.tolist(), u.matters, u.effect) for u in dependence.units]


def test_the_same_seed_gives_the_same_figures_whatever_holds_the_table():
    X, y, owner = owned()
    frame = pd.DataFrame(X, columns=list("abc")).assign(client=7 * owner + 100)
    reference = find_dependence(frame, y, random_state=3)
    assert reference.unit.columns == ("client",)
    for table in (frame, polars.from_pandas(frame), ColumnTable.of(frame)):
        again = find_dependence(table, y.tolist(), random_state=3)
        assert figures(again) == figures(reference)
        assert (again.copies == reference.copies).all()
    unnamed = find_dependence(frame.to_numpy(), y, random_state=3)
    assert unnamed.unit.columns == ("x3",)


def test_targets_of_other_rows_are_not_read():
    X, y, owner = owned()
    frame = pd.DataFrame(X).assign(client=owner + 100)
    measured = np.flatnonzero(np.arange(len(y)) % 3 > 0)
    spoilt = y.copy()
    spoilt[np.arange(len(y)) % 3 == 0] = 1e9
    plain = find_dependence(frame, y, measured=measured, random_state=0)
    other = find_dependence(frame, spoilt, measured=measured, random_state=0)
    assert figures(plain) == figures(other)
    assert plain.unit.n_units == 40  # units are of all rows
    absent = np.where(np.arange(len(y)) % 3 == 0, np.nan, y)
    assert figures(find_dependence(frame, absent, random_state=0)) == figures(plain)


def test_what_is_told_is_measured_and_matters():
    X, _, owner = owned()
    noise = np.random.default_rng(5).normal(size=len(owner))
    site = pd.Series(owner // 8, name="site")
    person = pd.Series([f"p{i}" for i in owner], name="person")
    dependence = find_dependence(X, noise, groups=[person, site], random_state=0)
    assert [u.columns for u in dependence.units] == [("person",), ("site",)]
    assert all(u.told and u.matters and u.effect is not None for u in dependence.units)
    assert dependence.unit.columns == ("site",)
    moments = pd.date_range("2021-01-01", periods=len(noise), freq="D").astype(str)
    dependence = find_dependence(X, noise, time=moments, random_state=0)
    assert dependence.unit.kind == "time"
    assert dependence.unit.moments[1] - dependence.unit.moments[0] == 86400
    assert dependence.unit.effect.later is not None
    ordered = find_dependence(X, noise, order=True, random_state=0)
    assert ordered.unit.kind == "order"
    assert ordered.unit.told


def test_copies_share_a_number_and_missing_values_are_copied_too():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 12, (150, 4)).astype(float))
    frame.iloc[:20, 0] = np.nan
    y = rng.integers(0, 2, 150)
    place = np.tile(np.arange(150), 3)
    dependence = find_dependence(frame.iloc[place], y[place], random_state=0)
    distinct = frame.drop_duplicates().index
    assert dependence.unit is None
    assert dependence.copies.max() + 1 == len(distinct)
    assert (dependence.copies[:150] == dependence.copies[150:300]).all()


def test_another_model_may_measure():
    X, y, owner = owned()
    frame = pd.DataFrame(X).assign(client=owner + 100)
    model = KNeighborsRegressor(5)
    dependence = find_dependence(frame, y, model=model, random_state=0)
    assert dependence.unit.columns == ("client",)
    trees = find_dependence(frame, y, random_state=0)
    assert dependence.unit.effect != trees.unit.effect


def test_large_tables_are_measured_in_part():
    X, y, owner = owned(n_owners=2000, size=4)
    frame = pd.DataFrame(X).assign(client=owner)
    dependence = find_dependence(frame, y, random_state=0)
    assert dependence.unit.columns == ("client",)
    assert dependence.unit.effect.cost.n <= 500  # owners of at most 2,000 rows
    assert dependence.unit.n_units == 2000


def test_few_rows_and_no_columns_are_answered():
    assert find_dependence(np.zeros((5, 2)), np.arange(5.0)).units == ()
    constant = find_dependence(np.zeros((80, 2)), np.arange(80.0), random_state=0)
    assert constant.unit is None
    told = find_dependence(np.zeros((6, 1)), np.arange(6.0), groups=[1, 1, 2, 2, 3, 3])
    assert told.unit.n_units == 3
    assert told.unit.effect is None
    flat = find_dependence(np.random.default_rng(0).normal(size=(80, 3)), np.ones(80))
    assert flat.unit is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": [1] * 60}, "one owner only"),
        ({"groups": list(range(60))}, "different owner in every row"),
        ({"groups": [1, 2]}, "one value of groups for each of 60 rows"),
        ({"time": ["soon"] * 60}, "dates or numbers"),
        ({"measured": [60]}, "positions"),
        ({"task": "ranking"}, "task"),
    ],
)
def test_what_cannot_be_used_is_refused(options, message):
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=message):
        find_dependence(rng.normal(size=(60, 2)), rng.normal(size=60), **options)


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="one target for each row"):
        find_dependence(np.zeros((50, 2)), np.zeros(40))
    with pytest.raises(ValueError, match="rows and columns"):
        find_dependence(np.zeros(50), np.zeros(50))
