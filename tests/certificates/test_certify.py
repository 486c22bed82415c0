import copy
import math
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import beta
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.feature_selection import RFE
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler

import corollary
from corollary.certificates import (
    Assumption,
    Certificate,
    Quantity,
    certify,
    register_theorem,
    theorems,
)
from corollary.certificates._gather import gather
from corollary.certificates.proofs._shared import once
from corollary.certificates.register import _THEOREMS
from corollary.core.estimator import check_training_data
from corollary.core.simulate import assert_bound_holds, assert_share_equals
from corollary.linear import LogisticRegression as Remembering
from corollary.representation import StandardScaler as Scaler

# Rows here are new by construction, also to models that keep no record of theirs.
pytestmark = pytest.mark.filterwarnings("ignore:.*keeps no record:UserWarning")


class Recaller(ClassifierMixin, BaseEstimator):
    """Predicts the sign of the first column and remembers its training rows, like our models."""

    def __init__(self, shrink=1.0):
        self.shrink = shrink

    def fit(self, X, y):
        check_training_data(self, X, y)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(np.asarray(X)[:, 0] > 0).astype(int)]

    def predict_proba(self, X):
        positive = (np.asarray(X)[:, 0] > 0) * 0.8 + 0.1
        return np.c_[1 - positive, positive]


class MeanRecaller(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        _, y, _ = check_training_data(self, X, y)
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


class SinglePrecision(Recaller):
    def fit(self, X, y):
        check_training_data(self, X, y, dtype=np.float32)
        self.classes_ = np.unique(y)
        return self


class Oracle(ClassifierMixin, BaseEstimator):
    """Errs exactly where the first column says so."""

    classes_ = np.array([0, 1])

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return np.asarray(X)[:, 0].astype(int)


class Shift(RegressorMixin, BaseEstimator):
    """Predicts zero, so that errors are the targets."""

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return np.zeros(len(X))


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=120) > 0).astype(int)
    return X, y


def by_theorem(certificates):
    return {certificate.theorem: certificate for certificate in certificates}


def test_classifier_gets_three_bounds_and_the_exact_one_is_tightest(data):
    X, y = data
    model = Recaller().fit(X[:60], y[:60])
    certificates = corollary.certify(model, X[60:], y[60:])
    found = by_theorem(certificates)
    assert list(found) == [
        "theory.clopper-pearson",
        "theory.empirical-bernstein",
        "theory.hoeffding",
    ]
    errors = np.sum(model.predict(X[60:]) != y[60:])
    exact = found["theory.clopper-pearson"]
    assert exact.bound == pytest.approx(beta.ppf(0.95, errors + 1, 60 - errors))
    assert exact.empirical == errors / 60
    assert exact.n_samples == 60
    assert not exact.seen
    assert all(exact.bound <= other.bound for other in certificates)
    assert f"observed {errors} of 60" in str(exact)


def test_regressor_gets_quantiles_and_with_a_cap_means(seed):
    rng = np.random.default_rng(seed)
    y = rng.exponential(size=80)
    X = np.zeros((80, 1))
    quantiles = certify(Shift(), X, y)
    assert [c.theorem for c in quantiles] == ["theory.error-quantile"] * 3
    assert [c.quantity.name.split("%")[0] for c in quantiles] == ["50", "90", "95"]
    capped = by_theorem(certify(Shift(), X, y, loss_range=(0, 2)))
    assert capped["theory.hoeffding"].empirical == pytest.approx(np.minimum(y, 2).mean())
    assert capped["theory.hoeffding"].bound == pytest.approx(
        np.minimum(y, 2).mean() + 2 * math.sqrt(math.log(20) / 160)
    )
    assert "mean of min(|error|, 2)" in capped["theory.empirical-bernstein"].claim
    assert "theory.clopper-pearson" not in capped


def test_losses_of_the_user(data):
    X, y = data

    def large_error(target, prediction):
        return np.abs(target - prediction) > 0.5

    def squared(target, prediction):
        return (target - prediction) ** 2

    counted = by_theorem(certify(Oracle(), X, y, loss=large_error))
    assert "count as large_error" in counted["theory.clopper-pearson"].claim
    bounded = by_theorem(certify(Oracle(), np.sign(X) > 0, y, loss=squared, loss_range=(0, 1)))
    # Numbers that happen to be 0 or 1 are not declared to be so: no exact bound.
    assert set(bounded) == {"theory.empirical-bernstein", "theory.hoeffding"}
    assert "mean of squared" in bounded["theory.hoeffding"].claim


def test_multilabel_errors_count_rows():
    class Both(ClassifierMixin, BaseEstimator):
        def __sklearn_is_fitted__(self):
            return True

        def predict(self, X):
            return np.zeros((len(X), 2), dtype=int)

    y = np.array([[0, 0], [0, 1], [1, 1], [0, 0]])
    assert certify(Both(), np.zeros((4, 1)), y)[0].empirical == 0.5


def test_labels_may_be_strings_and_frames_pass_untouched(data):
    import pandas as pd

    X, y = data
    names = np.array(["no", "yes"])[y]
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame[:60], names[:60])
    certificates = certify(model, frame[60:], pd.Series(names[60:]))
    assert certificates[0].empirical == np.mean(model.predict(frame[60:]) != names[60:])


def test_the_model_is_not_touched(data):
    X, y = data
    model = make_pipeline(StandardScaler(), Recaller()).fit(X[:60], y[:60])
    before, X_before = pickle.dumps(model), X.copy()
    certify(model, X[60:], y[60:])
    assert pickle.dumps(model) == before
    assert np.array_equal(X, X_before)


WRAPPERS = {
    "plain": Recaller,
    "single precision": SinglePrecision,
    "pipeline": lambda: make_pipeline(StandardScaler(), Recaller()),
    "nested pipeline": lambda: make_pipeline(
        "passthrough", make_pipeline(StandardScaler(), Recaller())
    ),
    "search": lambda: GridSearchCV(
        make_pipeline(StandardScaler(), Recaller()), {"recaller__shrink": [1.0, 2.0]}, cv=2
    ),
    "calibrated": lambda: CalibratedClassifierCV(Recaller(), cv=2),
    "voting": lambda: VotingClassifier([("a", Recaller()), ("b", Recaller())]),
    "bagging": lambda: BaggingClassifier(Recaller(), n_estimators=3, random_state=0),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_training_rows_are_refused_through_wrappers(name, data):
    X, y = data
    model = WRAPPERS[name]().fit(X[:60], y[:60])
    with pytest.raises(ValueError, match=r"was not trained on. Found \d+ of \d+ rows .*seen=True"):
        certify(model, X[:60], y[:60])
    certificates = certify(model, X[60:], y[60:])
    assert any("was checked" in str(line) for line in certificates[0].assumptions)


def test_what_the_caller_vouches_for_is_listed_as_checked(data):
    X, y = data
    model = Recaller().fit(X[:60], y[:60])
    (plain, *_) = certify(model, X[60:], y[60:])
    (vouched, *_) = certify(model, X[60:], y[60:], kept_aside=True)
    assert plain.checked == ()
    assert [a.text for a in vouched.assumptions] == [a.text for a in plain.assumptions]
    assert vouched.checked == vouched.assumptions[1:]
    assert [a.about for a in vouched.assumptions] == ["draws", "rows"]
    assert vouched.at(0.5).checked == vouched.checked
    assert vouched.to_dict()["checked"] == [a.text for a in vouched.checked]


def test_frozen_and_target_wrappers_are_searched(data):
    X, y = data
    frozen = FrozenEstimator(make_pipeline(StandardScaler(), Recaller()).fit(X[:60], y[:60]))
    with pytest.raises(ValueError, match="Found 60 of 60"):
        certify(frozen, X[:60], y[:60])
    target = TransformedTargetRegressor(MeanRecaller()).fit(X[:60], y[:60].astype(float))
    with pytest.raises(ValueError, match="Found 60 of 60"):
        certify(target, X[:60], y[:60].astype(float))


def select_columns():
    return ColumnTransformer([("scale", Scaler(), [0]), ("rest", "passthrough", slice(1, None))])


HIDDEN = {
    "column transformer": lambda: make_pipeline(select_columns(), LogisticRegression()),
    "union": lambda: make_pipeline(FeatureUnion([("scale", Scaler())]), LogisticRegression()),
    "elimination": lambda: RFE(Remembering(), n_features_to_select=1),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_training_rows_are_refused_through_parts_of_columns(name, data):
    X, y = data
    model = HIDDEN[name]().fit(X[:60], y[:60])
    with pytest.raises(ValueError, match=r"was not trained on. Found \d+ of \d+ rows"):
        certify(model, X[:60], y[:60])
    assert certify(model, X[60:], y[60:])


def test_rows_of_an_earlier_warm_start_are_remembered(data):
    X, y = data
    model = Remembering(warm_start=True).fit(X[:30], y[:30]).fit(X[30:60], y[30:60])
    for part in (slice(0, 30), slice(30, 60)):
        with pytest.raises(ValueError, match="Found 30 of 30 rows"):
            certify(model, X[part], y[part])
    # Fitted again on the same rows, it remembers each of them once.
    model = Remembering(warm_start=True).fit(X[:60], y[:60]).fit(X[:60], y[:60])
    with pytest.raises(ValueError, match="Found 60 of 60 rows"):
        certify(model, X[:60], y[:60])


def test_copies_in_single_precision_are_training_rows(data):
    X, y = data
    model = Remembering().fit(X[:60], y[:60])
    with pytest.raises(ValueError, match="Found 60 of 60 rows"):
        certify(model, X[:60].astype(np.float32), y[:60])


@pytest.mark.parametrize("y", [None, 1, "text", sparse.csr_matrix((60, 1))], ids=type)
def test_targets_that_are_none(y, data):
    X, labels = data
    with pytest.raises(ValueError, match="certify needs one target for every row"):
        certify(Recaller().fit(X[:60], labels[:60]), X[60:], y)


@pytest.mark.parametrize("n_rows", [1, 2, 5])
def test_a_few_training_rows_are_refused_too(n_rows, data):
    X, y = data
    model = Recaller().fit(X[:60], y[:60])
    with pytest.raises(ValueError, match=f"Found {n_rows} of {n_rows} rows"):
        certify(model, X[:n_rows], y[:n_rows])


def test_half_old_half_new_is_refused(data):
    X, y = data
    model = Recaller().fit(X[:60], y[:60])
    with pytest.raises(ValueError, match="Found 30 of 60 rows"):
        certify(model, X[30:90], y[30:90])


def test_rows_that_repeat_by_nature_are_allowed_and_mentioned(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(400, 3)).astype(float)
    y = rng.integers(0, 2, size=400)
    model = Recaller().fit(X[:300], y[:300])
    certificate = certify(model, X[300:], y[300:])[0]
    assert any("100 equal a training row" in str(line) for line in certificate.assumptions)


def test_copies_of_rows_are_counted_aloud(data):
    X, y = data
    model = LogisticRegression().fit(X[:60], y[:60])
    copies = certify(model, np.repeat(X[60:], 50, axis=0), np.repeat(y[60:], 50))[0]
    assert copies.assumptions[0].text.startswith(
        "The 3,000 rows, 60 of them different, are independent"
    )
    once = certify(model, X[60:], y[60:])[0]
    assert once.assumptions[0].text.startswith("The 60 rows are independent draws")


def test_models_without_memory_say_what_is_assumed(data):
    X, y = data
    model = LogisticRegression().fit(X[:60], y[:60])
    certificate = certify(model, X[60:], y[60:])[0]
    assert "keeps no record of its training rows" in " ".join(map(str, certificate.assumptions))
    assert "keeps no record" in str(certificate)


def test_models_without_memory_are_not_trusted_without_a_word(data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    with pytest.warns(UserWarning, match="pass kept_aside=True") as record:
        certify(model, X, y)
    assert [Path(warning.filename) for warning in record] == [Path(__file__)]
    with pytest.warns(UserWarning, match="pass kept_aside=True"):
        certify(model, X, y, groups=np.arange(120) % 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        certify(model, X, y, kept_aside=True)
        certify(make_pipeline(Scaler(), Remembering()).fit(X[:60], y[:60]), X[60:], y[60:])


def test_seen_rows_without_a_theorem_give_an_empty_list_and_a_warning(data):
    X, y = data
    model = Recaller().fit(X, y)
    with pytest.warns(UserWarning, match="No registered theorem certifies Recaller from its train"):
        assert certify(model, X, y, seen=True) == []


def test_seen_needs_exactly_the_training_rows(data):
    X, y = data
    model = Recaller().fit(X[:60], y[:60])
    with pytest.raises(ValueError, match=r"needs exactly the rows .* Leave seen=True out"):
        certify(model, X[60:], y[60:], seen=True)
    with pytest.raises(ValueError, match="Got 30 rows, of which 30 of 30"):
        certify(model, X[:30], y[:30], seen=True)


@pytest.fixture
def registered(monkeypatch):
    """Register a theorem for training rows and forget it afterwards."""
    monkeypatch.setattr("corollary.certificates.register._THEOREMS", copy.copy(_THEOREMS))

    @register_theorem(
        "test.training", needs="seen", applies=lambda evidence: evidence.kind == "classifier"
    )
    def prove(evidence, confidence):
        yield Certificate(
            quantity=Quantity(),
            empirical=float(evidence.losses.mean()),
            bound=1.0,
            confidence=confidence,
            theorem="test.training",
            n_samples=len(evidence.y),
            observed="much",
            assumptions=(Assumption("Something else."),),
        )


@pytest.mark.usefixtures("registered")
def test_later_theorems_register_themselves(data):
    X, y = data
    model = Recaller().fit(X, y)
    certificate = certify(model, X, y, seen=True)[-1]
    assert certificate.theorem == "test.training"
    assert certificate.seen
    assert certificate.assumptions[-1].text == "Something else."
    assert "test.training" in [one.name for one in theorems(needs="seen")]
    third_party = LogisticRegression().fit(X, y)
    first = certify(third_party, X, y, seen=True)[0]
    assert "The rows are exactly those the model was trained on." in str(first)
    with pytest.raises(ValueError, match=r"registered already, by .*prove; choose another"):
        register_theorem("test.training", needs="seen", applies=bool)(bool)
    with pytest.raises(ValueError, match=r"'units' or 'period'. Got 'both'"):
        register_theorem("test.other", needs="both", applies=bool)


@pytest.mark.usefixtures("registered")
def test_what_evidence_holds_is_worked_out_once(data):
    X, y = data
    model, calls = LogisticRegression().fit(X, y), []
    count = once(lambda evidence: calls.append(evidence) or len(calls))
    first, second = gather(model, X, y), gather(model, X, y)
    assert [count(first), count(first), count(second), count(first)] == [1, 1, 2, 1]


def test_a_module_that_is_imported_twice_registers_once(monkeypatch):
    monkeypatch.setattr("corollary.certificates.register._THEOREMS", copy.copy(_THEOREMS))
    before = [one.name for one in theorems()]
    known = next(one for one in theorems() if one.name == "theory.hoeffding")
    register_theorem("theory.hoeffding", needs="unseen", applies=known.applies)(known.prove)
    assert [one.name for one in theorems()] == before


class Scale(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: certify(Scale(), X, y), "'model' parameter of certify"),
        (lambda X, y: certify(Oracle(), X, y[:3]), "inconsistent numbers of samples"),
        (lambda X, y: certify(Oracle(), X[:0], y[:0]), "at least one row"),
        (lambda X, y: certify(Oracle(), X, y, confidence=1.0), "'confidence' parameter of certify"),
        (lambda X, y: certify(Oracle(), X, y, loss_range=(0, 1)), "goes with 'loss'"),
        (lambda X, y: certify(Oracle(), X, y + 5), "None of the targets is a class of Oracle"),
        (lambda X, y: certify(Oracle(), X, np.where(y, y, np.nan)), "missing values in y"),
        (lambda X, y: certify(Oracle(), X, y[:, None]), "the shape of the predictions"),
        (lambda X, y: certify(Shift(), X, y[:, None]), "one target per row"),
        (lambda X, y: certify(Shift(), X, y, loss_range=(1, 2)), "must start at 0"),
        (lambda X, y: certify(Shift(), X, y, loss_range=(2, 2)), "low < high"),
        (lambda X, y: certify(Shift(), X, y, loss=lambda a, b: a - b), "needs 'loss_range'"),
        (lambda X, y: certify(Shift(), X, y, loss=lambda a, b: 1.0), "one value per row"),
        (
            lambda X, y: certify(Shift(), X, y, loss=lambda a, b: a + 1.0, loss_range=(0, 1)),
            r"must lie in \[0, 1\]",
        ),
    ],
)
def test_errors_say_what_is_required(call, message, data):
    with pytest.raises((ValueError, TypeError), match=message):
        call(*data)


def test_models_that_are_neither_need_a_loss(data):
    X, y = data

    class Plain:
        def predict(self, X):
            return np.zeros(len(X))

    with pytest.raises(ValueError, match="cannot tell whether Plain"):
        certify(Plain(), X, y)
    assert len(certify(Plain(), X, y, loss=lambda a, b: a != b)) == 3

    class Broken(Plain):
        def predict(self, X):
            return np.full(len(X), np.nan)

    with pytest.raises(ValueError, match="Broken returned missing values"):
        certify(Broken(), X, y, loss=lambda a, b: a != b)


# The guarantee itself: worlds whose truth is known.


def error_worlds(repetitions, delta, seed):
    """Certify in worlds with 1 to 300 rows; count failures and bounds that beat the exact one."""
    rng = np.random.default_rng(seed)
    failures = dict.fromkeys(
        ["theory.clopper-pearson", "theory.empirical-bernstein", "theory.hoeffding"], 0
    )
    beaten = 0
    for _ in range(repetitions):
        n = round(300 ** rng.random())
        # Just above the exact bound of some count: there it fails with probability delta.
        count = rng.integers(0, n)
        rate = beta.ppf(1 - delta, count + 1, n - count) + 1e-10
        X = (rng.random((n, 1)) < rate).astype(float)
        found = by_theorem(certify(Oracle(), X, np.zeros(n, dtype=int), confidence=1 - delta))
        for theorem in failures:
            failures[theorem] += found[theorem].bound < rate
        beaten += found["theory.clopper-pearson"].bound > min(c.bound for c in found.values())
    return failures, beaten


def test_certificates_of_error_rates_hold_in_2000_worlds(seed):
    delta, repetitions = 0.1, 2000
    failures, beaten = error_worlds(repetitions, delta, seed)
    assert beaten == 0
    for count in failures.values():
        assert_bound_holds(count, repetitions, delta)
    # These worlds use up the whole delta of the exact bound, so half or twice of it would show.
    assert_share_equals(failures["theory.clopper-pearson"], repetitions, delta)


@pytest.mark.verify
@pytest.mark.parametrize("delta", [0.01, 0.05, 0.3])
def test_certificates_of_error_rates_hold_in_many_worlds(delta, seed):
    repetitions = 20_000
    failures, beaten = error_worlds(repetitions, delta, seed)
    assert beaten == 0
    for count in failures.values():
        assert_bound_holds(count, repetitions, delta)
    assert_share_equals(failures["theory.clopper-pearson"], repetitions, delta)


def skewed_worlds(repetitions, delta, seed):
    """Certify regressors with exponential errors of random scale, 1 to 300 rows."""
    rng = np.random.default_rng(seed)
    failures: dict[str, int] = {}
    for _ in range(repetitions):
        n = round(300 ** rng.random())
        scale, cap = np.exp(rng.normal()), np.exp(rng.normal())
        y = scale * rng.exponential(size=n)
        X = np.zeros((n, 1))
        capped_mean = scale * -np.expm1(-cap / scale)
        for certificate in certify(Shift(), X, y, confidence=1 - delta, loss_range=(0, cap)):
            level = certificate.quantity.name.split("%")[0]
            truth = capped_mean
            name = certificate.theorem
            if certificate.theorem == "theory.error-quantile":
                truth = -scale * math.log(1 - float(level) / 100)
                name += level
            failures[name] = failures.get(name, 0) + (certificate.bound < truth)
    return failures


@pytest.mark.parametrize("delta", [0.1])
def test_certificates_of_regressors_hold_in_2000_worlds(delta, seed):
    failures = skewed_worlds(2000, delta, seed)
    assert len(failures) == 5
    for count in failures.values():
        assert_bound_holds(count, 2000, delta)
    # Ranks are whole numbers, so the delta is not used up, but the median comes near.
    assert failures["theory.error-quantile50"] > 0.02 * 2000


@pytest.mark.verify
@pytest.mark.parametrize("delta", [0.01, 0.3])
def test_certificates_of_regressors_hold_in_many_worlds(delta, seed):
    for count in skewed_worlds(20_000, delta, seed).values():
        assert_bound_holds(count, 20_000, delta)


def test_training_error_sold_as_held_out_would_be_caught(seed):
    """Without the guard a memorising model is certified at zero error on pure noise."""
    rng = np.random.default_rng(seed)
    broken = 0
    for _ in range(40):
        X = rng.normal(size=(60, 30))
        y = rng.integers(0, 2, size=60)
        model = LogisticRegression(C=1e6, max_iter=10_000).fit(X, y)
        broken += certify(model, X, y)[0].bound < 0.5
    with pytest.raises(AssertionError, match="bound broken"):
        assert_bound_holds(broken, 40, 0.05)


def test_scikit_learn_regressor_on_real_data():
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    model = LinearRegression().fit(X[:300], y[:300])
    quantile = certify(model, X[300:], y[300:])[1]
    errors = np.abs(y[300:] - model.predict(X[300:]))
    assert np.mean(errors <= quantile.bound) > 0.9


@pytest.mark.parametrize("kind", ["forest", "boosting"])
def test_training_rows_with_text_columns_are_recognised(kind):
    import pandas as pd

    from corollary.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    rng = np.random.default_rng(0)
    text = pd.Categorical(rng.choice(["x", "y", "z"], 120))
    frame, y = pd.DataFrame({"a": rng.normal(size=120), "b": text}), rng.integers(0, 2, 120)
    model = (
        RandomForestClassifier(5, random_state=0)
        if kind == "forest"
        else HistGradientBoostingClassifier(max_iter=5)
    ).fit(frame[:60], y[:60])
    assert certify(model, frame[60:], y[60:])
    with pytest.raises(ValueError, match="was not trained on"):
        certify(model, frame[:60], y[:60])
