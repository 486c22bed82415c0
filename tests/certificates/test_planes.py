"""Certificates from training rows: who gets them, by hand, and who must not."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import norm
from sklearn.ensemble import BaggingClassifier as TheirBagging
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

from corollary import certify
from corollary.certificates import tightest
from corollary.ensemble import BaggingClassifier, RandomForestClassifier
from corollary.linear import LogisticRegression as OurLogisticRegression
from corollary.linear import Perceptron
from corollary.linear import Ridge as OurRidge
from corollary.svm import SVC as OurMachine  # noqa: N811
from corollary.theory import pac_bayes_kl_bound, vc_bound

VC, MARGIN = "theory.vc-bound", "theory.margin-bound-uniform"
GAUSSIAN, BAG = "theory.pac-bayes-gaussian", "theory.pac-bayes-bag"
PLAIN = "error rate"


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(800, 2))
    y = (X @ [2.0, -1.0] + 0.3 * rng.normal(size=800) > 0).astype(int)
    return X, y


def certified(model, X, y, **options):
    found = certify(model, X, y, seen=True, **options)
    return {c.theorem: c for c in found if c.quantity.name == PLAIN}


@pytest.mark.parametrize("make", [LogisticRegression, OurLogisticRegression])
def test_plane_by_hand(make, data):
    X, y = data
    model = make().fit(X, y)
    found = certified(model, X, y, confidence=0.9)
    error = np.mean(model.predict(X) != y)
    gap = vc_bound(n_samples=800, dimension=3, delta=0.1)
    assert found[VC].bound == pytest.approx(error + gap)
    assert found[VC].empirical == error
    assert found[VC].seen
    assert "VC dimension of 3" in found[VC].observed
    # The noisy plane: 61 lengths by brute force, each the kl bound with an exact training error.
    w, b = model.coef_[0], model.intercept_[0]
    length = math.hypot(*w, b)
    cosine = (2 * y - 1) * (X @ w + b) / length / np.sqrt((X**2).sum(axis=1) + 1)
    best = min(
        pac_bayes_kl_bound(
            norm.cdf(-c * cosine).mean(), divergence=c**2 / 2, n_samples=800, delta=0.1
        )
        for c in np.geomspace(0.05, 500, 61)
    )
    assert found[GAUSSIAN].bound == pytest.approx(2 * best)
    noisy = certify(model, X, y, seen=True, confidence=0.9)[-1]
    assert noisy.quantity.name == "error rate of the randomised classifier"
    assert noisy.bound == pytest.approx(best)
    assert "Gaussian noise" in noisy.claim


def test_margin_bound_by_hand(data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    margins = (2 * y - 1) * (X @ w + b) / math.hypot(*w, b)
    complexity = math.sqrt((X**2).sum() + 800) / 800
    values = []
    for k, j in enumerate([0, -1, 1, -2, 2, -3, 3], start=1):
        share = 0.05 * 6 / (math.pi * k) ** 2
        tail = 3 * math.sqrt(math.log(2 / share) / 1600)
        values.append(np.mean(margins < 2.0**j) + 2 * complexity / 2.0**j + tail)
    assert certified(model, X, y)[MARGIN].bound == pytest.approx(min(1.0, *values))


def test_no_offset_is_one_dimension_less(data):
    X, y = data
    model = LogisticRegression(fit_intercept=False).fit(X, y)
    assert "dimension of 2" in certified(model, X, y)[VC].observed
    # An offset that was searched for is paid for.
    search = GridSearchCV(LogisticRegression(), {"fit_intercept": [False]}, cv=2).fit(X, y)
    assert "dimension of 3" in certified(search, X, y)[VC].observed


def test_affine_steps_are_allowed_and_learnt_features_are_not(data):
    X, y = data
    scaled = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    plain = LogisticRegression().fit(StandardScaler().fit_transform(X), y)
    found = certified(scaled, X, y)
    error = np.mean(plain.predict(StandardScaler().fit_transform(X)) != y)
    assert found[VC].bound == pytest.approx(
        error + vc_bound(n_samples=800, dimension=3, delta=0.05)
    )
    curved = make_pipeline(PolynomialFeatures(2), LogisticRegression()).fit(X, y)
    with pytest.warns(UserWarning, match="No registered theorem"):
        assert certified(curved, X, y) == {}


@pytest.mark.parametrize("make", [SVC, OurMachine])
def test_kernel_fixed_beforehand_gets_the_margin_bound_only(make, data):
    X, y = data
    found = certified(make(gamma=0.5, C=10.0).fit(X, y), X, y)
    assert MARGIN in found
    assert VC not in found
    assert "kernel and its parameters were chosen without" in str(found[MARGIN])
    with pytest.warns(UserWarning, match="No registered theorem"):
        assert certified(make(gamma="scale").fit(X, y), X, y) == {}


def test_both_machines_get_the_same_margin_bound(data):
    X, y = data
    theirs = certified(SVC(gamma=0.5, tol=1e-9).fit(X, y), X, y)[MARGIN].bound
    ours = certified(OurMachine(gamma=0.5, tol=1e-9).fit(X, y), X, y)[MARGIN].bound
    assert ours == pytest.approx(theirs, abs=1e-2)


def test_three_classes_and_other_losses_get_none(data):
    X, y = data
    y = np.where(X[:, 0] > 1, 2, y)
    with pytest.warns(UserWarning, match="No registered theorem"):
        assert certify(LogisticRegression().fit(X, y), X, y, seen=True) == []


def test_vacuous_is_said_aloud_with_the_rows_missing(data):
    _, y = data
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(800, 200))
    found = certified(LogisticRegression().fit(wide, y), wide, y)[VC]
    assert found.vacuous
    assert found.bound == 1
    assert f"At least {int(found.rows_missing)} more rows" in str(found)
    error = found.empirical
    n = 800 + int(found.rows_missing)
    assert error + vc_bound(n_samples=int(1.01 * n), dimension=201, delta=0.05) < 1
    assert error + vc_bound(n_samples=int(0.99 * n), dimension=201, delta=0.05) >= 1


@pytest.mark.parametrize(
    "model",
    [
        TheirForest(10, random_state=0),
        TheirBagging(random_state=0),
        TheirBagging(random_state=0, max_features=0.5),
        BaggingClassifier(random_state=0),
    ],
)
def test_bag_by_hand(model, data):
    X, y = data
    labels = np.where(y == 1, "up", "down")
    model.fit(X, labels)
    columns = getattr(model, "estimators_features_", [[0, 1]] * 10)
    errors, rows = [], []
    for member, drawn, used in zip(model.estimators_, model.estimators_samples_, columns):
        others = np.setdiff1d(np.arange(800), drawn)
        answer = member.predict(X[others][:, used])
        known = answer if answer.dtype.kind == "U" else model.classes_[answer.astype(int)]
        errors.append(np.mean(known != labels[others]))
        rows.append(len(others))
    bound = pac_bayes_kl_bound(np.mean(errors), divergence=0.0, n_samples=min(rows), delta=0.05)
    assert certified(model, X, labels)[BAG].bound == pytest.approx(2 * bound)
    for frame in (pd.DataFrame(X, columns=["a", "b"]), pl.DataFrame(X, schema=["a", "b"])):
        again = certified(model.fit(frame, labels), frame, labels)[BAG].bound
        assert again == pytest.approx(2 * bound)


def test_bags_of_categories_and_missing_values_get_no_certificate(data):
    X, y = data
    kinds = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "left", "right")})
    gaps = np.where(X > 2, np.nan, X)
    for rows in (kinds, gaps):
        model = BaggingClassifier(random_state=0).fit(rows, y)
        with pytest.warns(UserWarning, match="need tables of finite numbers"):
            assert certify(model, rows, y, seen=True) == []


@pytest.mark.parametrize(
    "model",
    [
        TheirForest(5, bootstrap=False),
        TheirForest(5, class_weight="balanced"),
        TheirBagging(SVC()),  # rows that were not drawn set the width of its kernel
        RandomForestClassifier(5),  # bins are learnt from all rows
    ],
)
def test_bags_whose_left_out_rows_were_touched_get_none(model, data):
    X, y = data
    with pytest.warns(UserWarning, match="No registered theorem"):
        assert certified(model.fit(X, y), X, y) == {}


def test_perceptron_is_what_its_mistaken_rows_make(data):
    X, _ = data
    y = (X @ [2.0, -1.0] > 0).astype(int)
    kept = np.abs(X @ [2.0, -1.0]) > 0.1
    X, y = X[kept], y[kept]
    model = Perceptron(fit_intercept=False, shuffle=False, tol=None).fit(X, y)
    certificate = certified(model, X, y)["theory.perceptron-compression"]
    assert certificate.bound < 0.5
    assert "rows ever mistaken" in certificate.observed
    shuffled = Perceptron(fit_intercept=False, random_state=0).fit(X, y)
    assert "theory.perceptron-compression" not in certified(shuffled, X, y)


@pytest.mark.parametrize("make", [Ridge, OurRidge])
def test_ridge_by_hand(make, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(900, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.clip(X @ [0.5, 0.2, 0.0] + 0.1 * rng.normal(size=900), -1, 1)
    model = make(alpha=900.0, fit_intercept=False).fit(X, y)
    (certificate,) = certify(model, X, y, seen=True)
    mean = np.abs(model.predict(X) - y).mean()
    # With a penalty of 1 weights have at most length 1/2, and absolute errors are at most 3/2.
    epsilon = 2.5 / 900
    gap = epsilon + (2 * epsilon * 900 + 1.5) * math.sqrt(math.log(20) / 1800)
    assert certificate.bound == pytest.approx(mean + gap)
    assert certificate.theorem == "theory.ridge-stability"
    for other, rows in [
        (make(alpha=900.0).fit(X, y), X),  # an offset is not part of the theorem
        (make(alpha=900.0, fit_intercept=False).fit(2 * X, y), 2 * X),  # rows outside of the ball
        (make(alpha=900.0, fit_intercept=False).fit(X, y, sample_weight=np.arange(900.0)), X),
    ]:
        with pytest.warns(UserWarning, match="No registered theorem"):
            assert certify(other, rows, y, seen=True) == []


def test_other_confidence_and_tightest(data):
    X, y = data
    found = list(certified(LogisticRegression().fit(X, y), X, y).values())
    for certificate in found:
        assert certificate.at(0.5).bound <= certificate.bound <= certificate.at(0.999).bound
    best = tightest(found)
    assert best.bound >= min(certificate.bound for certificate in found)
    assert best.confidence == 0.95
