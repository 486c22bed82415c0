"""What models and callers say, and how scikit-learn's classes are read."""

import copy

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.pipeline import make_pipeline

from corollary.certificates import certify, left_out_losses, register_theorem
from corollary.certificates._scikit_learn import affine_map_of, bag_of, plane_of
from corollary.certificates.register import _THEOREMS
from corollary.core.protocols import HasFittedParts, Plane
from corollary.linear import LogisticRegression as Remembering
from corollary.representation import StandardScaler


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 3))
    return X, (X[:, 0] + 0.5 * rng.normal(size=300) > 0).astype(int)


def test_a_plane_is_certified_like_the_model_that_it_was_read_from(data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    plane = plane_of(model, 3)
    theirs, ours = certify(model, X, y, seen=True), certify(plane, X, y, seen=True)
    assert [c.theorem for c in ours] == [c.theorem for c in theirs] != []
    assert [c.bound for c in ours] == [c.bound for c in theirs]
    np.testing.assert_array_equal(plane.predict(X), model.predict(X))


def test_a_plane_that_the_model_does_not_predict_by_is_not_believed(data):
    X, y = data

    class Liar(Plane):
        def as_plane(self):
            return Plane(-self.weights, self.intercept)

    liar = Liar(LogisticRegression().fit(X, y).coef_[0])
    with pytest.warns(UserWarning, match="No registered theorem certifies Liar"):
        assert certify(liar, X, y, seen=True) == []


def test_our_scaler_says_which_affine_map_it_is(data):
    X, y = data
    for options in ({}, {"with_mean": False}, {"with_std": False}):
        scaler = StandardScaler(**options).fit(X)
        affine = affine_map_of(scaler, 3)
        np.testing.assert_allclose(X @ affine.matrix + affine.offset, scaler.transform(X))
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    np.testing.assert_array_equal(plane_of(model, 3).predict(X), model.predict(X))


def test_a_subclass_may_train_in_another_way_and_is_not_read(data):
    class Balanced(RandomForestClassifier):
        pass

    X, y = data
    forest, other = (
        kind(5, random_state=0).fit(X, y) for kind in (RandomForestClassifier, Balanced)
    )
    assert bag_of(forest, y) is not None
    assert bag_of(other, y) is None
    with pytest.raises(ValueError, match="Balanced is none with these parameters"):
        left_out_losses(other, X, y)


@pytest.mark.filterwarnings("ignore:No registered theorem", "ignore:Maximum number of iteration")
def test_learners_of_scikit_learn_are_read_by_exact_class(data):
    X, y = data
    X = X / np.linalg.norm(X, axis=1).max()

    class OtherRidge(Ridge):
        pass

    class OtherDescent(SGDClassifier):
        pass

    signs = 2.0 * y - 1
    for kind, other, targets in ((Ridge, OtherRidge, signs), (SGDClassifier, OtherDescent, y)):
        options = {"alpha": 0.1 * len(y), "fit_intercept": False}
        if kind is SGDClassifier:
            options = {"loss": "log_loss", "learning_rate": "constant", "eta0": 1e-3, "max_iter": 1}
            options |= {"random_state": 0, "tol": None, "fit_intercept": False}
        theorem = "theory.ridge-stability" if kind is Ridge else "theory.sgd-stability"
        names = [c.theorem for c in certify(kind(**options).fit(X, targets), X, targets, seen=True)]
        assert theorem in names
        model = other(**options).fit(X, targets)
        names = [c.theorem for c in certify(model, X, targets, seen=True)]
        assert theorem not in names


def test_training_rows_are_found_in_the_parts_of_a_model(data):
    X, y = data

    class Composite:
        classes_ = np.array([0, 1])

        def __init__(self, model):
            self.model = model

        def fitted_parts(self, X):
            return [(self.model, X)]

        def predict(self, X):
            return self.model.predict(X)

    composite = Composite(Remembering().fit(X, y))
    assert isinstance(composite, HasFittedParts)
    with pytest.raises(ValueError, match="Found 300 of 300 rows"):
        certify(composite, X, y)
    assert certify(composite, X + 10, y)


def test_a_declared_number_reaches_the_theorem_that_asks_for_it(data, monkeypatch):
    monkeypatch.setattr("corollary.certificates.register._THEOREMS", copy.copy(_THEOREMS))
    asked = []

    @register_theorem(
        "test.declared",
        needs="unseen",
        applies=lambda evidence: asked.append(evidence.declared) or False,
        declares={"variance": "the largest variance"},
    )
    def prove(evidence, confidence):
        yield from ()

    X, y = data
    model = Remembering().fit(X[:60], y[:60])
    certify(model, X[60:], y[60:])
    assert asked == []
    certify(model, X[60:], y[60:], declared={"variance": 2})
    assert asked == [{"variance": 2.0}]
    with pytest.raises(ValueError, match=r"asks for a declared 'length'.*'variance', the largest"):
        certify(model, X[60:], y[60:], declared={"length": 1.0})
    with pytest.raises(ValueError, match=r"declared 'variance' must be a finite number: the larg"):
        certify(model, X[60:], y[60:], declared={"variance": np.nan})
