"""certify with owners and with time: what is offered, of whom it speaks, what is refused."""

import math
import pickle
from dataclasses import replace
from datetime import UTC, date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import beta
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from corollary.certificates import Population, certify, theorems, tightest
from corollary.conformal import SplitConformalRegressor
from corollary.linear import LogisticRegression
from corollary.theory import (
    betting_mean_bound,
    clopper_pearson_upper,
    one_row_per_unit,
    period_risk_bound,
    quantile_upper_bound,
    unit_means,
)

# Rows here are new by construction, also to models that keep no record of theirs.
pytestmark = pytest.mark.filterwarnings("ignore:.*keeps no record:UserWarning")


class First(ClassifierMixin, BaseEstimator):
    """Errs where the first column is 1 and the target is 0."""

    classes_ = np.array([0, 1])

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return np.asarray(X)[:, 0].astype(int)


class FirstNumber(RegressorMixin, First):
    def predict(self, X):
        return np.asarray(X, dtype=float)[:, 0]


class Remembering(First):
    """Was trained on rows of owners 7 and 8."""

    def knows_groups(self, groups):
        return np.isin(np.asarray(groups), [7, 8])

    def fit(self, X, y):
        return self


class NeverTold(First):
    def knows_groups(self, groups):
        return None


def errors(*wrong):
    """Make rows on which First errs as told."""
    wrong = np.asarray(wrong, dtype=float)
    return wrong[:, None], np.zeros(len(wrong), dtype=int)


OWNERS = np.repeat(np.arange(6), [1, 2, 3, 4, 5, 25])
X, Y = errors(*np.r_[1, 0, 1, 0, 0, 1, np.zeros(9), np.zeros(25)])


def by_theorem(certificates):
    return {certificate.theorem: certificate for certificate in certificates}


def test_owners_are_what_counts():
    found = by_theorem(certify(First(), X, Y, groups=OWNERS, unit="person"))
    assert list(found) == ["theory.unit-betting", "theory.unit-one-row"]
    betting, row = found.values()
    means = np.array([1, 1 / 2, 1 / 3, 0, 0, 0])
    assert betting.n_samples == row.n_samples == 6
    assert betting.empirical == pytest.approx(means.mean())
    assert betting.bound == pytest.approx(betting_mean_bound(means, 0.05))
    assert betting.observed == "30.6% on average over 6 persons with 40 rows"
    drawn = one_row_per_unit(OWNERS, random_state=0)
    assert row.empirical == X[drawn, 0].mean()
    assert row.bound == pytest.approx(beta.ppf(0.95, X[drawn].sum() + 1, 6 - X[drawn].sum()))
    assert row.observed.endswith("of 6 rows, one row of each person, drawn from 40 with seed 0")
    # Rows counted in their place would promise far less than half of that.
    assert clopper_pearson_upper(3, 40, 0.05) < betting.bound / 2
    assert betting_mean_bound(X[:, 0], 0.05) < betting.bound / 2
    for certificate in found.values():
        assert certificate.population == Population("new units", unit="person")
        assert "of rows of new persons are classified wrongly" in certificate.claim
        assert pickle.loads(pickle.dumps(certificate)).at(0.99).bound > certificate.bound
        assert certificate.at(0.99).population == certificate.population


def test_copies_change_nothing():
    plain = certify(First(), X, Y, groups=OWNERS)[0]
    three = certify(First(), np.repeat(X, 3, 0), np.repeat(Y, 3), groups=np.repeat(OWNERS, 3))[0]
    assert (three.bound, three.n_samples) == (pytest.approx(plain.bound), plain.n_samples)
    # Each row three times, the row as its owner: as much evidence as one copy.
    once = certify(First(), X, Y, groups=np.arange(40))
    thrice = certify(First(), np.repeat(X, 3, 0), np.repeat(Y, 3), groups=np.repeat(range(40), 3))
    assert [c.bound for c in once] == pytest.approx([c.bound for c in thrice])
    assert once[1].bound == certify(First(), X, Y)[0].bound


def test_quantiles_and_the_median_owner_of_a_regressor():
    groups = np.repeat(list("abcdefg"), [3, 1, 1, 2, 5, 2, 1])
    numbers = np.array([5, 1, 9, 4, 2, 1, 3, 0, 0, 7, 7, 7, 6, 6, 8.0])
    found = certify(FirstNumber(), numbers[:, None], np.zeros(15), groups=groups, unit="shop")
    assert [c.theorem for c in found] == ["theory.unit-error-quantile"] * 3 + ["theory.unit-median"]
    median = found[-1]
    # Medians 5, 4, 2, 2, 7, 6, 8; 6 or more of 7 below the median: 8/128, all of them: 1/128.
    assert (median.bound, median.empirical, median.n_samples) == (8.0, 5.0, 7)
    assert median.at(0.9).bound == 7.0
    assert median.claim == "at least 50% of new shops have a median absolute error of at most 8"
    assert median.observed == "a median of 5 over 7 shops with 15 rows"
    drawn = numbers[one_row_per_unit(groups, random_state=0)]
    assert found[0].bound == quantile_upper_bound(drawn, 0.5, 0.05) == drawn.max()
    for certificate, needed in ((found[1], 29), (found[2], 59)):
        assert certificate.vacuous
        assert certificate.rows_missing == needed - 7
        assert f"At least {needed - 7} more shops are needed." in str(certificate)
    few = certify(FirstNumber(), numbers[:4, None], np.zeros(4), groups=groups[:4])[-1]
    assert (few.vacuous, few.rows_missing) == (True, 3)
    assert "median absolute error of rows of new owners: the bound" in str(few)


def test_a_loss_in_a_range_is_certified_and_an_unbounded_mean_is_not():
    numbers = np.arange(12.0)[:, None]
    groups = np.repeat([1, 2, 3], [2, 4, 6])
    found = certify(FirstNumber(), numbers, np.zeros(12), groups=groups, loss_range=(0, 10))
    betting = by_theorem(found)["theory.unit-betting"]
    cut = np.minimum(numbers[:, 0], 10)
    limit = betting_mean_bound(unit_means(cut, groups), 0.05, high=10)
    assert betting.bound == pytest.approx(limit)
    assert betting.empirical == pytest.approx((0.5 + 3.5 + (6 + 7 + 8 + 9 + 10 + 10) / 6) / 3)
    assert "the mean of min(|error|, 10) over rows of new owners" in betting.claim
    assert "theory.unit-one-row" not in by_theorem(found)
    plain = certify(FirstNumber(), numbers, np.zeros(12), groups=groups)
    assert {c.quantity.kind for c in plain} == {"quantile"}


def test_all_wrong_is_vacuous_and_more_owners_would_not_help():
    found = certify(First(), *errors(1, 1, 1, 1), groups=[1, 1, 2, 3], unit="person")
    for certificate in found:
        assert certificate.vacuous
        assert certificate.rows_missing == math.inf
        assert "More persons alone would not change that." in str(certificate)
    few = certify(First(), *errors(1, 1, 1, 0, 1, 1), groups=[1, 1, 2, 2, 2, 2], confidence=0.999)[
        0
    ]
    assert few.vacuous
    assert 0 < few.rows_missing < 100
    more = np.resize([1.0, 0.75], 2 + int(few.rows_missing))
    assert betting_mean_bound(more, 0.001) < 1 == betting_mean_bound(more[:-1], 0.001)


def test_intervals_are_judged_by_owners(seed):
    rng = np.random.default_rng(seed)
    train, test = rng.normal(size=(400, 1)), rng.normal(size=(90, 1))
    y, y_test = train[:, 0] + rng.normal(size=400), test[:, 0] + rng.normal(size=90)
    wrapper = SplitConformalRegressor(LinearRegression(), random_state=0).fit(train, y)
    groups = np.repeat(np.arange(30), 3)
    found = certify(wrapper, test, y_test, groups=groups, unit="person")
    assert {c.theorem for c in found} == {
        "theory.unit-betting",
        "theory.unit-one-row",
        "theory.unit-error-quantile",
        "theory.unit-median",
    }
    misses = wrapper.misses(test, y_test)
    limit = betting_mean_bound(unit_means(misses, groups), 0.05)
    assert found[0].bound == pytest.approx(limit)
    assert "of rows of new persons lie outside their 90% interval" in found[0].claim
    assert all(c.population.kind == "new units" for c in found)
    during = certify(wrapper, test, y_test, time=np.arange(90))
    assert [c.theorem for c in during] == ["theory.period-betting", "theory.period-azuma"]
    assert "miss rate of 90% intervals to be expected of a row" in during[0].claim


def test_theorems_of_independent_rows_are_not_offered():
    dependent = {t.name for needs in ("units", "period") for t in theorems(needs=needs)}
    found = certify(First(), X, Y, groups=OWNERS, time=np.arange(40))
    assert {c.theorem for c in found} <= dependent
    assert {c.theorem for c in certify(First(), X, Y)}.isdisjoint(dependent)


def test_a_period_is_certified_whatever_the_order_of_rows(seed):
    mixed = np.random.default_rng(seed).permutation(40)
    days = pd.date_range("2020-05-01", periods=40).to_numpy()
    found = certify(First(), X[mixed], Y[mixed], time=days[mixed])
    assert [c.theorem for c in found] == ["theory.period-betting", "theory.period-azuma"]
    betting, azuma = found
    assert azuma.bound == pytest.approx(3 / 40 + math.sqrt(math.log(20) / 80))
    assert betting.bound == pytest.approx(period_risk_bound(X[:, 0], 0.05))
    assert betting.population == Population("period", start="2020-05-01", end="2020-06-09")
    assert betting.observed == "7.5% on average over 40 rows"
    assert "Nothing is proved about later rows." in str(betting)
    assert azuma.claim.startswith("on average over the rows from 2020-05-01 to 2020-06-09, the err")
    assert pickle.loads(pickle.dumps(azuma)).at(0.99).bound > azuma.bound
    few = certify(First(), *errors(1, 0), time=[1, 2])[1]
    assert (few.vacuous, few.rows_missing) == (True, 4)  # 1/2 + sqrt(log(20) / (2 n)) < 1 from 6 on
    assert "At least 4 more rows are needed." in str(few)


@pytest.mark.parametrize(
    ("time", "start", "end"),
    [
        ([3, 1, 2], 1, 3),
        ([0.5, -1.5, 2.0], -1.5, 2.0),
        (np.array([3, 1, 2], dtype=object), 1.0, 3.0),
        (["2020-05-03", "2020-05-01", "2020-05-02"], "2020-05-01", "2020-05-03"),
        ([date(2020, 5, 3), date(2020, 5, 1), date(2020, 5, 2)], "2020-05-01", "2020-05-03"),
        (
            [datetime(2020, 5, 1, hour, tzinfo=UTC) for hour in (3, 1, 2)],
            "2020-05-01 01:00:00",
            "2020-05-01 03:00:00",
        ),
        (pd.Series(pd.to_datetime(["2020-03-01", "2020-01-01", "2020-02-01"])), "2020-01-01", None),
        (pd.Series(pd.date_range("2020", periods=3, tz="Europe/Berlin")), None, None),
        (pl.Series([date(2020, 5, 3), date(2020, 5, 1), date(2020, 5, 2)]), "2020-05-01", None),
        (np.array(["2020-05-03", "2020-05-01", "2020-05-02"], "datetime64[D]"), "2020-05-01", None),
    ],
)
def test_moments_of_any_kind_are_read(time, start, end):
    certificate = certify(First(), *errors(0, 0, 1), time=time)[0]
    assert start is None or certificate.population.start == start
    assert end is None or certificate.population.end == end
    assert certificate.to_dict()["population"]["kind"] == "period"


def test_owners_of_any_kind_are_read():
    expected = certify(First(), X, Y, groups=OWNERS)
    names = np.array(list("uvwxyz"))[OWNERS]
    for groups in (
        names,
        list(names),
        pd.Series(names, dtype="category"),
        pl.Series(names),
        OWNERS.astype(float),
        pd.DataFrame({"a": OWNERS // 2, "b": OWNERS % 2}),
        pl.DataFrame({"a": OWNERS // 2, "b": names}),
        np.c_[OWNERS // 2, OWNERS % 2],
        [number if number else "zero" for number in OWNERS.tolist()],
    ):
        assert certify(First(), X, Y, groups=groups) == expected
    nested = certify(First(), X, Y, groups=np.c_[OWNERS // 2, OWNERS], unit=("clinic", "patient"))
    assert nested[0].population.rows == "rows of new combinations of clinic and patient"


def test_owners_and_time_speak_of_new_owners_of_the_period_and_of_the_period():
    found = by_theorem(certify(First(), X, Y, groups=OWNERS, time=range(40), unit="person"))
    owners, period = found["theory.unit-betting"], found["theory.period-azuma"]
    assert owners.population == Population("new units", unit="person", start=0, end=39)
    assert owners.claim.endswith("of rows of new persons from 0 to 39 are classified wrongly")
    assert "Nothing is proved about later rows." in str(owners)
    assert "given what the period did to all of them" in str(owners)
    assert (owners.n_samples, period.n_samples) == (6, 40)
    with pytest.raises(ValueError, match="one population only"):
        tightest([owners, replace(period, quantity=owners.quantity)])
    assert tightest([owners, found["theory.unit-one-row"]]).population == owners.population


def test_what_is_assumed_is_said_and_typed():
    certificate = certify(First(), X, Y, groups=OWNERS, unit="person")[0]
    drawn, unused, new = certificate.assumptions
    assert [a.about for a in certificate.assumptions] == ["draws", "rows", "draws"]
    assert drawn.text.startswith("The 6 persons, with 40 rows, are independent draws from those")
    assert new.text == "No row of these persons trained, tuned or calibrated the model."
    assert not certificate.checked
    told = certify(First(), X, Y, groups=OWNERS, training_groups=[8, 9])[0]
    assert [a.text for a in told.checked] == [new.text.replace("persons", "owners")]
    # Rows that were kept aside may still be rows of owners who were not.
    kept = certify(First(), X, Y, groups=OWNERS, kept_aside=True)[0]
    (vouched,) = kept.checked
    assert (vouched.about, unused.about) == ("rows", "rows")
    assert vouched.text.startswith("The rows were kept aside from the training")
    assert certify(Remembering(), X, Y, groups=OWNERS)[0].checked[0].text == told.checked[0].text
    assert not certify(NeverTold(), X, Y, groups=OWNERS)[0].checked
    fixed = certify(First(), X, Y, time=np.arange(40))[0].assumptions[0]
    assert fixed.about == "rows"
    assert fixed.text.startswith("The model was fixed before the first of these rows")


def test_owners_on_both_sides_are_refused():
    with pytest.raises(ValueError, match=r"persons that First was not trained on\. Found 2 of 6"):
        certify(First(), X, Y, groups=OWNERS, unit="person", training_groups=[0, 5, 5, 9])
    both = np.c_[OWNERS // 2, OWNERS]
    with pytest.raises(ValueError, match=r"such as \(2, 5\)"):
        certify(First(), X, Y, groups=both, training_groups=[[2, 5], [9, 9]])
    for model in (Remembering(), make_pipeline(StandardScaler(), Remembering()).fit(X, Y)):
        with pytest.raises(ValueError, match="Found 27 of 40 rows whose owner is among those of"):
            certify(model, X, Y, groups=np.where(OWNERS == 5, 7, np.where(OWNERS == 1, 8, OWNERS)))
    with pytest.raises(ValueError, match=r"must name owners alike\. Got 0 in one and '0'"):
        certify(First(), X, Y, groups=OWNERS, training_groups=["0", "1"])


def test_training_rows_are_refused_with_owners_too(seed):
    rng = np.random.default_rng(seed)
    rows, labels = rng.normal(size=(60, 2)), np.arange(60) % 2
    model = LogisticRegression().fit(rows, labels)
    for how in ({"groups": np.arange(60) // 4}, {"time": np.arange(60)}):
        with pytest.raises(ValueError, match="was not trained on"):
            certify(model, rows, labels, **how)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"groups": np.zeros(40)}, r"at least 2 owners\. Got 1, 0\.0"),
        ({"groups": np.arange(39)}, "owner of each of the 40 rows. Got 39"),
        ({"groups": [None, *range(39)]}, "Got 1 rows without one in 'groups'"),
        ({"groups": [math.nan, *"abc" * 13]}, "Got 1 rows without one in 'groups'"),
        ({"groups": np.r_[np.nan, np.arange(39)]}, "Got 1 rows without one in 'groups'"),
        ({"groups": np.zeros((40, 2, 2))}, r"Got shape \(40, 2, 2\)"),
        ({"groups": OWNERS, "training_groups": [None, 8]}, "without one in 'training_groups'"),
        ({"groups": OWNERS, "seen": True}, "with 'groups' needs rows that the model has not seen"),
        ({"time": OWNERS, "seen": True}, "with 'time' needs rows that the model has not seen"),
        ({"groups": OWNERS, "anytime": True}, "number was fixed beforehand"),
        ({"time": OWNERS, "anytime": True}, "number was fixed beforehand"),
        ({"unit": "person"}, "go with 'groups'"),
        ({"training_groups": [1]}, "go with 'groups'"),
        ({"time": np.arange(39)}, r"moment of each of the 40 rows. Got shape \(39,\)"),
        ({"time": np.r_[np.nan, np.arange(39)]}, "Got 1 rows without one in 'time'"),
        ({"time": [None, *range(39)]}, "Got 1 rows without one in 'time'"),
        ({"time": np.array(["NaT", *["2020"] * 39], "datetime64[D]")}, "Got 1 rows without one"),
        ({"time": [None, *["2020-01-01"] * 39]}, "Got 1 rows without one in 'time'"),
        ({"time": ["yesterday"] * 40}, "numbers, dates or text like 2020-05-01. Got 'yesterday'"),
        ({"time": ["01/02/2020"] * 40}, "pandas.to_datetime reads other text"),
    ],
)
def test_what_cannot_be_read_is_refused(how, message):
    with pytest.raises(ValueError, match=message):
        certify(First(), X, Y, **how)
