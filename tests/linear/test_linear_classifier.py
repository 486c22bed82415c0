"""What linear classifiers share: labels, scores, files."""

import numpy as np
import pytest

import corollary
from corollary.linear import LogisticRegression, LogisticRegressionCV, Perceptron


def make_data(n_classes):
    X = np.vstack([np.eye(3)[:n_classes]] * 4) + np.arange(4 * n_classes)[:, None] / 100
    return X, np.tile(np.array(["x", "y", "z"])[:n_classes], 4)


MODELS = [
    LogisticRegression(class_weight={"x": 2.0, "y": 1.0, "z": 1.0}),
    LogisticRegressionCV(Cs=2, cv=2),
    Perceptron(),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_models_survive_a_file(model, n_classes, tmp_path):
    X, y = make_data(n_classes)
    if n_classes == 2 and isinstance(model, LogisticRegression):
        model = LogisticRegression(class_weight="balanced")
    model.fit(X, y)
    corollary.save(model, tmp_path / "model")
    again = corollary.load(tmp_path / "model")
    assert (again.decision_function(X) == model.decision_function(X)).all()
    assert (again.predict(X) == model.predict(X)).all()
    assert again.get_params() == model.get_params()


def test_a_score_of_zero_means_the_first_class():
    model = Perceptron().fit([[1.0], [-1.0]], [1, 0])
    assert model.predict([[0.0], [1e-9], [-1e-9]]).tolist() == [0, 1, 0]


def test_coefficients_that_do_not_fit_the_classes_are_found():
    X, y = make_data(3)
    model = LogisticRegression().fit(X, y)
    assert model._fits_together() is None
    model.coef_ = model.coef_[:2]
    assert model._fits_together() == "2 rows of coefficients do not fit 3 classes"
