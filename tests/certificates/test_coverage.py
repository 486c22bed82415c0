"""Certificates of conformal wrappers: closed forms, brute force, order, and what is refused."""

import math
import warnings

import numpy as np
import pytest
from scipy.stats import beta, norm
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

from corollary import certify
from corollary.certificates import coverage_certificates, tightest
from corollary.conformal import (
    ConformalQuantileRegressor,
    CVPlusRegressor,
    JackknifeAfterBootstrapRegressor,
    SplitConformalClassifier,
    SplitConformalRegressor,
    coverage_law,
)
from corollary.core.protocols import PredictsRegions
from corollary.ensemble import BaggingRegressor
from corollary.linear import LinearRegression as OurLinearRegression
from corollary.theory import clopper_pearson_upper

# Rows here are new by construction, also to models that keep no record of theirs.
pytestmark = pytest.mark.filterwarnings("ignore:.*keeps no record:UserWarning")

LAW, FOLDS = "conformal.coverage-law", "conformal.cv-plus-given-rows"
EXACT = "theory.clopper-pearson"


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(600, 2))
    return X, X[:, 0] + rng.normal(size=600)


@pytest.fixture
def wrapper(data):
    X, y = data
    return SplitConformalRegressor(LinearRegression(), random_state=0).fit(X[:400], y[:400])


def test_the_law_is_that_of_beta(wrapper):
    for confidence in (0.5, 0.9, 0.95):
        (found,) = coverage_certificates(wrapper, confidence=confidence)
        law = coverage_law(100, alpha=0.1)
        assert found.bound == pytest.approx(1 - law.ppf(1 - confidence), rel=1e-9)
        assert found.bound == pytest.approx(beta(10, 91).ppf(confidence), rel=1e-9)
    assert found.claim == "at most 15.2% of such rows lie outside their 90% interval"
    assert found.n_samples == 100
    assert found.observed == "9 of 100 calibration rows"
    assert found.page == "certificates.html#conformal-coverage-law"
    assert not found.seen
    assert found.at(0.5).bound < found.bound


def test_conditional_coverage_by_brute_force():
    """Thresholds of many calibration sets against the miss rate that each really has."""
    rng = np.random.default_rng(0)
    model = DummyRegressor(strategy="constant", constant=0.0).fit([[0.0]], [0.0])
    X, above = np.zeros((30, 1)), 0
    for _ in range(500):
        wrapper = SplitConformalRegressor(model, prefit=True, confidence=0.8)
        wrapper.fit(X, rng.normal(size=30))
        low, high = wrapper.predict_interval(X[:1])[0]
        truth = norm.cdf(low) + norm.sf(high)
        above += truth > coverage_certificates(wrapper, confidence=0.8)[0].bound
    # The law is exact: 100 of 500 expected, with a standard deviation of 9.
    assert 60 <= above <= 140


def test_intervals_come_first_and_points_stay(wrapper, data):
    X, y = data
    found = certify(wrapper, X[400:], y[400:])
    assert [c.theorem for c in found] == [LAW, EXACT, *["theory.error-quantile"] * 3]
    misses = int(wrapper.misses(X[400:], y[400:]).sum())
    assert found[1].bound == pytest.approx(clopper_pearson_upper(misses, 200, 0.05))
    assert found[1].observed == f"{misses} of 200"
    assert found[1].n_samples == 200
    assert found[0].n_samples == 100
    # The law rests on other rows than those given, and assumes nothing about these.
    assert "100 calibration rows" in found[0].assumptions[0].text
    assert not any("200" in str(line) for line in found[0].assumptions)
    assert any("200 rows" in str(line) for line in found[1].assumptions)
    alone = certify(wrapper.estimator_, X[400:], y[400:])
    assert [c.bound for c in found[2:]] == [c.bound for c in alone]
    assert tightest(found[:2]).bound <= max(found[0].at(0.975).bound, found[1].at(0.975).bound)


def test_classifiers_get_sets_then_labels(data):
    X, _ = data
    y = np.where(X[:, 0] + np.random.default_rng(1).normal(size=600) > 0, "b", "a")
    model = SplitConformalClassifier(LogisticRegression(), random_state=0).fit(X[:400], y[:400])
    found = certify(model, X[400:], y[400:])
    assert [c.theorem for c in found[:3]] == [LAW, EXACT, EXACT]
    assert found[0].claim.endswith("of such rows have labels outside their 90% set")
    assert [c.quantity.name for c in found] == ["miss rate of 90% sets"] * 2 + ["error rate"] * 3


def test_looking_often(wrapper, data):
    X, y = data
    found = certify(wrapper, X[400:], y[400:], anytime=True)
    assert [c.theorem for c in found] == [
        LAW,
        "theory.betting-sequence",
        "theory.stitched-sequence",
    ]
    assert {c.quantity.name for c in found} == {"miss rate of 90% intervals"}


@pytest.mark.parametrize("make", [LinearRegression, OurLinearRegression])
def test_no_further_row_is_needed(make, data):
    X, y = data
    wrapper = SplitConformalRegressor(make(), random_state=0).fit(X, y)
    (found,) = certify(wrapper, X, y, seen=True)
    assert found == coverage_certificates(wrapper)[0]
    assert not found.seen
    folds = CVPlusRegressor(make(), cv=4).fit(X, y)
    (found,) = certify(folds, X, y, seen=True)
    assert found.theorem == FOLDS


def test_calibration_rows_are_refused_as_new_ones(data):
    X, y = data
    model = LinearRegression().fit(X[:200], y[:200])
    wrapper = SplitConformalRegressor(model, prefit=True).fit(X[200:], y[200:])
    with pytest.raises(ValueError, match=r"SplitConformalRegressor was not calibrated on.*seen=Tr"):
        certify(wrapper, X[200:], y[200:])
    assert certify(wrapper, X[200:], y[200:], seen=True)[0].theorem == LAW


def test_training_rows_are_still_refused(data):
    X, y = data
    wrapper = SplitConformalRegressor(OurLinearRegression(), random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="among its training rows"):
        certify(wrapper, X, y)


def test_groups_have_certificates_of_their_own(data):
    X, y = data
    wrapper = SplitConformalRegressor(
        LinearRegression(), partition=lambda X: np.sign(X[:, 1]).astype(int), random_state=0
    ).fit(X[:400], y[:400])
    found = certify(wrapper, X[400:], y[400:])
    assert [c.theorem for c in found[:3]] == [LAW, LAW, EXACT]
    for certificate, size in zip(found, wrapper.group_sizes_):
        assert certificate.n_samples == size
        assert certificate.bound == pytest.approx(
            1 - coverage_law(int(size), alpha=0.1).ppf(0.05), rel=1e-9
        )
    assert found[0].quantity.name == "miss rate of 90% intervals of group -1"
    assert "of such rows of group -1 lie outside" in found[0].claim
    with pytest.raises(ValueError, match="one quantity only"):
        tightest(found[:2])


def test_classes_have_certificates_of_their_own(data):
    X, _ = data
    y = (X[:, 0] > 1.5).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SplitConformalClassifier(
            LogisticRegression(), class_conditional=True, random_state=0
        ).fit(X[:150], y[:150])
    usual, rare = coverage_certificates(model)
    assert not usual.vacuous
    assert rare.vacuous
    assert rare.bound == 1
    assert rare.rows_missing == 9 - rare.n_samples
    assert "nothing is proved about the miss rate of 90% sets of class 1" in str(rare)
    # A class without any calibration row.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.prefit, model.estimator = True, model.estimator_
        model.calibrate(X[y == 0], y[y == 0])
    assert coverage_certificates(model)[1].observed == "0 of 0 calibration rows"
    assert coverage_certificates(model)[1].rows_missing == 9


def test_too_few_rows_say_how_many_are_missing(data):
    X, y = data
    with pytest.warns(UserWarning, match="Until 899 more rows"):
        wrapper = SplitConformalRegressor(LinearRegression(), confidence=0.999, random_state=0).fit(
            X[:400], y[:400]
        )
    (found,) = coverage_certificates(wrapper)
    assert found.vacuous
    assert found.bound == 1
    assert found.rows_missing == 899


def test_the_level_of_now_counts(wrapper):
    wrapper.confidence = 0.7
    (found,) = coverage_certificates(wrapper)
    assert found.bound == pytest.approx(1 - coverage_law(100, alpha=0.3).ppf(0.05), rel=1e-9)
    assert "70% interval" in found.claim


def test_ties_make_the_law_one_sided(data):
    X, y = data
    wrapper = SplitConformalRegressor(LinearRegression(), random_state=0).fit(X[:400], y[:400])
    smooth = coverage_certificates(wrapper)[0]
    tied = SplitConformalRegressor(DummyRegressor(), random_state=0).fit(X[:400], np.sign(y[:400]))
    rough = coverage_certificates(tied)[0]
    # Fewer misses were seen, and no more is claimed.
    assert rough.bound == smooth.bound
    assert rough.empirical < smooth.empirical


def test_weights_of_rows(data):
    X, y = data
    shifted = SplitConformalRegressor(
        LinearRegression(), likelihood_ratio=lambda X: np.exp(X[:, 0] / 9), random_state=0
    ).fit(X[:400], y[:400])
    assert [c.theorem for c in certify(shifted, X[400:], y[400:])][:1] == [EXACT]
    with pytest.warns(UserWarning, match="No registered theorem"):
        assert certify(shifted, X[:400], y[:400], seen=True) == []
    given = SplitConformalRegressor(LinearRegression().fit(X[:99], y[:99]), prefit=True)
    given.calibrate(X[100:400], y[100:400], weights=np.ones(300))
    with pytest.raises(ValueError, match="set 'likelihood_ratio'"):
        certify(given, X[400:], y[400:])
    # Weights of training rows leave calibration as it is.
    trained = SplitConformalRegressor(LinearRegression(), random_state=0)
    trained.fit(X[:400], y[:400], sample_weight=np.linspace(1, 2, 400))
    assert coverage_certificates(trained)[0].bound < 0.16


def test_folds_by_hand(data):
    X, y = data
    model = CVPlusRegressor(LinearRegression(), cv=7).fit(X[:500], y[:500])
    (found,) = coverage_certificates(model, confidence=0.9)
    sizes = np.array([72, 72, 72, 71, 71, 71, 71])
    allowed = 500 - math.ceil(501 * 0.9)
    tails = sum(m / 500 * math.sqrt(math.log(7 / 0.1) / (2 * m)) for m in sizes)
    assert found.bound == pytest.approx(2 * (allowed / 500 + tails))
    assert found.bound < 1
    assert found.theorem == FOLDS
    assert found.observed == f"ends that {allowed} of 500 rows exceed, in 7 folds"


def test_folds_that_prove_nothing(data):
    X, y = data
    few = CVPlusRegressor(LinearRegression(), cv=5).fit(X[:60], y[:60])
    (found,) = coverage_certificates(few)
    assert found.vacuous
    n = 60 + int(found.rows_missing)
    share = (60 - math.ceil(61 * 0.9)) / 60
    for rows, enough in ((n, True), (n - 1, False)):
        value = 2 * (share + math.sqrt(math.log(100) / (2 * rows / 5)))
        assert (value < 1) == enough
    alone = CVPlusRegressor(LinearRegression(), cv="loo").fit(X[:60], y[:60])
    (found,) = coverage_certificates(alone)
    assert found.vacuous
    assert found.rows_missing == math.inf
    with pytest.warns(UserWarning, match="Until 9 more rows"):
        short = CVPlusRegressor(LinearRegression(), cv=3, confidence=0.95).fit(X[:10], y[:10])
    (found,) = coverage_certificates(short)
    assert found.bound == 1
    assert found.rows_missing == 9


def test_an_average_of_p_values_is_below_t_with_at_most_twice_its_probability():
    """The last step of the theorem, for the worst pair of uniform variables."""
    rng = np.random.default_rng(0)
    first = rng.random(20_000)
    for t in (0.1, 0.2):
        second = np.where(first < 2 * t, 2 * t - first, first)
        assert np.mean((first + second) / 2 <= t + 1e-12) == pytest.approx(2 * t, abs=0.02)


def test_the_bootstrap_has_further_rows_only(data):
    X, y = data
    model = JackknifeAfterBootstrapRegressor(
        BaggingRegressor(LinearRegression()), n_estimators=20, random_state=0
    ).fit(X[:100], y[:100])
    assert coverage_certificates(model) == []
    assert certify(model, X[400:], y[400:])[0].theorem == EXACT


def test_quantiles(data):
    X, y = data
    low = DummyRegressor(strategy="quantile", quantile=0.1)
    high = DummyRegressor(strategy="quantile", quantile=0.9)
    model = ConformalQuantileRegressor(low, upper_estimator=high, random_state=0)
    model.fit(X[:400], y[:400])
    (found,) = coverage_certificates(model)
    assert found.bound == pytest.approx(1 - coverage_law(100, alpha=0.1).ppf(0.05), rel=1e-9)


def test_models_without_regions_are_as_before(data):
    X, y = data
    model = LinearRegression().fit(X[:400], y[:400])
    assert not isinstance(model, PredictsRegions)
    assert all(c.theorem != LAW for c in certify(model, X[400:], y[400:]))
    with pytest.raises(ValueError, match="'model' parameter of coverage_certificates"):
        coverage_certificates(model)
