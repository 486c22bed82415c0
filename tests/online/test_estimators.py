"""OnlineClassifier and OnlineRegressor: definition, chunks, weights, files, streams."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import corollary
from corollary.online import OnlineClassifier, OnlineRegressor
from tests.online.reference import gradient_descent


def two_classes(seed, m=150, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    return X, np.where(X[:, 0] - X[:, 1] + rng.normal(size=m) > 0, 1, 0)


def three_classes(seed, m=150):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    return X, np.array(["a", "b", "c"])[X.argmax(axis=1)]


SETTINGS = {
    "default": {},
    "averaged": {"averaging": True},
    "penalised": {"alpha": 0.3, "step": "sqrt", "averaging": True},
    "penalised adagrad": {"alpha": 0.3, "averaging": True},
    # Weights are multiplied by 0.02 in every round: sums of iterates must keep their digits.
    "strongly penalised": {"alpha": 4.9, "step": "constant", "averaging": True},
    "ball": {"radius": 0.3, "step": "constant"},
    "box": {"radius": 0.2, "alpha": 0.1},
    "hinge": {"loss": "hinge", "step": "sqrt"},
    "squared hinge": {"loss": "squared_hinge", "eta": 0.01, "step": "constant"},
    "square": {"loss": "square", "eta": 0.01},
    "no intercept": {"fit_intercept": False},
}


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_definition(name, form, seed):
    X, y = two_classes(seed)
    settings = SETTINGS[name]
    model = OnlineClassifier(**settings).partial_fit(form(X), y, classes=[0, 1])
    full = model.get_params()
    _, last, average = gradient_descent(
        X,
        2.0 * y - 1,
        full["loss"],
        full["step"],
        full["eta"],
        radius=full["radius"] or np.inf,
        alpha=full["alpha"],
        intercept=full["fit_intercept"],
    )
    expected = average if full["averaging"] else last
    found = np.append(model.coef_[0], model.intercept_ if full["fit_intercept"] else [])
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_chunks_equal_rows_exactly(name, form, seed):
    X, y = three_classes(seed)
    X, classes = form(X), ["a", "b", "c"]
    whole = OnlineClassifier(**SETTINGS[name]).partial_fit(X, y, classes=classes)
    for cut in (1, 11):
        pieces = OnlineClassifier(**SETTINGS[name])
        for i in range(0, len(y), cut):
            pieces.partial_fit(X[i : i + cut], y[i : i + cut], classes=classes)
        np.testing.assert_array_equal(pieces.coef_, whole.coef_)
        np.testing.assert_array_equal(pieces.intercept_, whole.intercept_)
        assert pieces.fingerprint_.overlap(X).seen == len(y)


@pytest.mark.parametrize("learner", ["perceptron", "passive-aggressive", "winnow"])
def test_other_learners_in_chunks(learner, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(200, 10)).astype(float)
    y = np.where(X[:, 2] + X[:, 5] > 0, "yes", "no")
    whole = OnlineClassifier(learner=learner).partial_fit(X, y, classes=["no", "yes"])
    pieces = OnlineClassifier(learner=learner)
    for i in range(0, 200, 9):
        pieces.partial_fit(sparse.csr_matrix(X[i : i + 9]), y[i : i + 9], classes=["no", "yes"])
    np.testing.assert_allclose(whole.coef_, pieces.coef_, rtol=1e-12, atol=1e-15)
    fitted = OnlineClassifier(learner=learner, n_passes=10, random_state=seed).fit(X, y)
    assert fitted.score(X, y) > 0.95
    assert not hasattr(fitted, "predict_proba")


def test_scikit_learn_agrees(seed):
    X, y = two_classes(seed)
    settings = {"eta0": 0.05, "max_iter": 3, "tol": None, "shuffle": False, "penalty": None}
    peer = SGDClassifier(loss="log_loss", learning_rate="constant", **settings).fit(X, y)
    model = OnlineClassifier(step="constant", eta=0.05, n_passes=3, shuffle=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-8)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), rtol=1e-7)
    target = X @ [1.0, 2.0, 0.0, -1.0] + 0.3
    peer = SGDRegressor(learning_rate="constant", **settings).fit(X, target)
    # The peer's square loss is halved.
    model = OnlineRegressor(step="constant", eta=0.025, n_passes=3, shuffle=False).fit(X, target)
    np.testing.assert_allclose(model.coef_[0], peer.coef_, rtol=1e-8)


def test_quality_on_real_data():
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    scaler = StandardScaler().fit(X)
    model = OnlineClassifier(random_state=0).fit(scaler.transform(X), y)
    assert log_loss(y_test, model.predict_proba(scaler.transform(X_test))) < 0.1
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X / 16, y, random_state=0)
    model = OnlineClassifier(random_state=0).fit(X, y)
    assert model.score(X_test, y_test) > 0.93


@pytest.mark.parametrize("loss", ["square", "absolute", "epsilon_insensitive", "pinball"])
def test_regression_losses(loss, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4000, 2))
    y = X @ [0.5, -1.0] + rng.exponential(size=4000)
    model = OnlineRegressor(loss=loss, quantile=0.9, random_state=0, averaging=True).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], [0.5, -1.0], atol=0.15)
    offset = {"square": 1.0, "absolute": np.log(2), "pinball": np.log(10)}.get(loss)
    if offset is not None:
        assert model.intercept_[0] == pytest.approx(offset, abs=0.15)


@pytest.mark.parametrize("variant", ["pa", "pa-i", "pa-ii", "linearised"])
def test_passive_aggressive_regression(variant, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, 3))
    y = X @ [1.0, 0.0, -1.0]
    settings = {"learner": "passive-aggressive", "variant": variant, "C": 0.2, "epsilon": 0.05}
    model = OnlineRegressor(fit_intercept=False, **settings).partial_fit(X, y)
    w = np.zeros(3)
    for x, target in zip(X, y):
        loss = max(0.0, abs(target - w @ x) - 0.05)
        taus = {
            "pa": loss / (x @ x),
            "pa-i": min(0.2, loss / (x @ x)),
            "pa-ii": loss / (x @ x + 2.5),
            "linearised": 0.2 * (loss > 0),
        }
        w = w + taus[variant] * np.sign(target - w @ x) * x
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-9)


def test_weights_multiply_slopes(seed):
    X, y = two_classes(seed)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 3, len(y)).astype(float)
    model = OnlineClassifier(step="constant").partial_fit(
        X, y, classes=[0, 1], sample_weight=weight
    )
    _, last, _ = gradient_descent(
        X, 2.0 * y - 1, "logistic", "constant", 0.2, intercept=True, weight=weight
    )
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), last, rtol=1e-9)
    # A row of weight zero is as if it were not there.
    kept = weight > 0
    without = OnlineClassifier(averaging=True, alpha=0.1).partial_fit(
        X[kept], y[kept], classes=[0, 1], sample_weight=weight[kept]
    )
    zero = OnlineClassifier(averaging=True, alpha=0.1).partial_fit(
        X, y, classes=[0, 1], sample_weight=weight
    )
    np.testing.assert_array_equal(without.coef_, zero.coef_)


def test_class_weights(seed):
    X, y = two_classes(seed)
    weighted = OnlineClassifier(class_weight={0: 3.0, 1: 1.0}, shuffle=False).fit(X, y)
    by_rows = OnlineClassifier(shuffle=False).fit(X, y, np.where(y == 0, 3.0, 1.0))
    np.testing.assert_array_equal(weighted.coef_, by_rows.coef_)
    balanced = OnlineClassifier(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(balanced.class_weight_, len(y) / (2 * np.bincount(y)))
    with pytest.raises(ValueError, match="class_weight='balanced'"):
        OnlineClassifier(class_weight="balanced").partial_fit(X, y, classes=[0, 1])


@given(st.integers(0, 1000))
def test_flipping_the_signs_of_features_flips_the_weights(seed):
    X, y = two_classes(seed, m=40)
    flips = np.array([1, -1, 1, -1])
    model = OnlineClassifier(random_state=seed).fit(X, y)
    flipped = OnlineClassifier(random_state=seed).fit(X * flips, y)
    np.testing.assert_allclose(flipped.coef_, model.coef_ * flips, rtol=1e-9, atol=1e-12)


def test_the_seed_makes_the_order(seed):
    X, y = two_classes(seed)
    first, again, other = (OnlineClassifier(random_state=s).fit(X, y) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.coef_, again.coef_)
    assert not np.array_equal(first.coef_, other.coef_)


def test_fit_starts_anew_and_partial_fit_goes_on(seed):
    X, y = two_classes(seed)
    model = OnlineClassifier(shuffle=False, n_passes=1)
    once = model.fit(X, y).coef_.copy()
    np.testing.assert_array_equal(model.fit(X, y).coef_, once)
    on = model.partial_fit(X, y).coef_
    two = OnlineClassifier(shuffle=False, n_passes=2).fit(X, y).coef_
    np.testing.assert_array_equal(on, two)


def test_a_loaded_model_goes_on_learning(tmp_path, seed):
    X, y = three_classes(seed)
    model = OnlineClassifier(averaging=True, alpha=0.1).partial_fit(
        X[:70], y[:70], classes=["a", "b", "c"]
    )
    corollary.save(model, tmp_path / "model.corollary")
    again = corollary.load(tmp_path / "model.corollary")
    model.partial_fit(X[70:], y[70:])
    again.partial_fit(X[70:], y[70:])
    np.testing.assert_array_equal(model.coef_, again.coef_)


def test_a_state_of_another_shape_is_refused(tmp_path, seed):
    X, y = two_classes(seed)
    model = OnlineClassifier().fit(X, y)
    for name, value in [
        ("weights", np.zeros((1, 3))),
        ("squares", np.zeros((1, 0))),
        ("sums", np.zeros((1, 5))),
        ("weights", np.zeros((1, 5), dtype=np.float32)),
    ]:
        forged = OnlineClassifier().fit(X, y)
        forged.state_ = {**model.state_, name: value}
        # The same check runs when a file is loaded.
        with pytest.raises(TypeError, match=rf"cannot be saved: .*({name}|double precision)"):
            corollary.save(forged, tmp_path / "model.corollary")


def test_progressive_validation(tmp_path, seed):
    X, y = three_classes(seed, m=400)
    model = OnlineClassifier()
    record = model.run((X, y))
    # Every row is predicted by what was learnt from the rows before it.
    probe = OnlineClassifier().partial_fit(X[:1], y[:1], classes=np.unique(y))
    for i in range(1, 60):
        label = probe.predict(X[i : i + 1])[0]
        assert model.classes_[int(record.predictions[i])] == label
        assert record.mistakes[i] == (label != y[i])
        probe.partial_fit(X[i : i + 1], y[i : i + 1])
    assert record.mistakes[200:].mean() < 0.2
    frame = pd.DataFrame(X, columns=list("xyz")).assign(label=y)
    frame.to_parquet(tmp_path / "rows.parquet")
    read = OnlineClassifier().run(
        tmp_path / "rows.parquet", target="label", classes=["a", "b", "c"]
    )
    np.testing.assert_array_equal(read.mistakes, record.mistakes)
    np.testing.assert_array_equal(read.losses, record.losses)


def test_progressive_losses_of_the_regressor(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 2))
    y = X @ [1.0, 2.0]
    for settings in ({}, {"loss": "pinball", "quantile": 0.3}, {"learner": "passive-aggressive"}):
        record = OnlineRegressor(**settings).run([(X[:20], y[:20]), (X[20:], y[20:])])
        probe, predictions = OnlineRegressor(**settings), [0.0]
        for i in range(49):
            probe.partial_fit(X[i : i + 1], y[i : i + 1])
            predictions.append(float(probe.predict(X[i + 1 : i + 2])[0]))
        np.testing.assert_allclose(record.predictions, predictions, rtol=1e-9, atol=1e-12)
        gap = y - np.array(predictions)
        if not settings:
            np.testing.assert_allclose(record.losses, gap**2, rtol=1e-8, atol=1e-12)


def test_errors(seed):
    X, y = two_classes(seed)
    with pytest.raises(ValueError, match="first call of partial_fit"):
        OnlineClassifier().partial_fit(X, y)
    model = OnlineClassifier().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="classes of a model do not change"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"among the classes \[0, 1\]"):
        model.partial_fit(X, np.full(len(y), 7))
    with pytest.raises(ValueError, match="at least 2 classes"):
        OnlineClassifier().fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="at least 2 classes"):
        OnlineClassifier().partial_fit(X, np.zeros(len(y)), classes=[0])
    with pytest.raises(ValueError, match="zeros and ones"):
        OnlineClassifier(learner="winnow").fit(np.abs(X) / 9, y)
    with pytest.raises(ValueError, match="neither sample_weight"):
        OnlineClassifier(learner="winnow").fit(X > 0, y, np.ones(len(y)))
    with pytest.raises(AttributeError, match="predict_proba"):
        OnlineClassifier(loss="hinge").fit(X, y).predict_proba(X)
    holes = X.copy()
    holes[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN in row 3"):
        model.partial_fit(holes, y)
    with pytest.raises(ValueError, match="NaN"):
        OnlineClassifier().fit(sparse.csr_matrix(holes), y)
    with pytest.raises(ValueError, match="overflowed"):
        OnlineRegressor(step="constant", eta=1.0).fit(1e4 * X, y)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("learner", ["gradient-descent", "passive-aggressive", "perceptron"])
def test_features_whose_squares_overflow_are_refused(seed, learner, form):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3))
    with pytest.raises(ValueError, match=r"overflowed\. Scale the features"):
        OnlineClassifier(learner=learner).fit(form(1e300 * X), X[:, 0] > 0)
    with pytest.raises(ValueError, match=r"overflowed\. Scale the features"):
        OnlineRegressor().fit(form(X), 1e300 * X[:, 0])


def test_probabilities_of_several_classes_sum_to_one(seed):
    X, y = three_classes(seed)
    model = OnlineClassifier(random_state=0).fit(X, y)
    far = np.vstack([X, 1e4 * X])
    P = model.predict_proba(far)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[P[:150].argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(far)), P, atol=1e-12)
    from scipy.special import expit

    scores = expit(model.decision_function(X))
    np.testing.assert_allclose(P[: len(X)], scores / scores.sum(axis=1, keepdims=True))


def test_labels_may_be_numbers_far_apart():
    X = np.array([[-1.0], [1.0], [-2.0], [2.0]])
    model = OnlineClassifier().fit(X, [7, 10**15, 7, 10**15])
    assert model.classes_.tolist() == [7, 10**15]
    assert model.predict(X).tolist() == [7, 10**15, 7, 10**15]
