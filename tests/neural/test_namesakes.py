"""The estimators against scikit-learn's of the same name: same start, same rows, same network."""

import pathlib
import warnings

import numpy as np
import pytest
import sklearn.neural_network as peers
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning

import corollary
import corollary.neural as ours

RNG = np.random.default_rng(0)
IRIS = load_iris(return_X_y=True)
X = RNG.normal(size=(90, 4))
TABLES = {
    "classes": ("MLPClassifier", IRIS[0], IRIS[1], {}),
    "two classes": ("MLPClassifier", IRIS[0][50:], IRIS[1][50:], {}),
    "labels": ("MLPClassifier", X, (X[:, :3] > 0).astype(int), {}),
    "numbers": ("MLPRegressor", X, np.sin(X[:, 0]) + X[:, 1], {}),
    "several numbers": ("MLPRegressor", X, X[:, :2] ** 2, {}),
    "counts": ("MLPRegressor", X, RNG.poisson(np.exp(X[:, 0] / 2)), {"loss": "poisson"}),
}
SOLVERS = {
    "adam": {},
    "adam of other moments": {"beta_1": 0.5, "beta_2": 0.9, "epsilon": 1e-4},
    "nesterov": {"solver": "sgd", "learning_rate_init": 0.02},
    "momentum": {"solver": "sgd", "nesterovs_momentum": False, "momentum": 0.7},
    "invscaling": {"solver": "sgd", "learning_rate": "invscaling", "learning_rate_init": 0.1},
    "adaptive": {"solver": "sgd", "learning_rate": "adaptive", "tol": 0.1, "n_iter_no_change": 1},
    "lbfgs": {"solver": "lbfgs"},
    "penalised": {"alpha": 20.0, "activation": "logistic"},
    "by score": {"early_stopping": True, "batch_size": 10**6, "validation_fraction": 0.2},
}


def both(name, rows, y, weight=None, **options):
    """Fit scikit-learn's estimator and ours."""
    options = {"hidden_layer_sizes": (6,), "activation": "tanh", "random_state": 3, **options}
    models = []
    for package in (peers, ours):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            models.append(getattr(package, name)(**options).fit(rows, y, sample_weight=weight))
    return models


def assert_same_network(theirs, mine, rtol):
    for name in ("n_iter_", "t_", "n_outputs_", "n_layers_", "out_activation_"):
        assert getattr(mine, name) == getattr(theirs, name), name
    for a, b in zip(theirs.coefs_ + theirs.intercepts_, mine.coefs_ + mine.intercepts_):
        np.testing.assert_allclose(b, a, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("table", ["two classes", "numbers"])
def test_learns_the_network_that_scikit_learn_learns(table, solver):
    name, rows, y, options = TABLES[table]
    options = {"shuffle": False, "batch_size": 25, "max_iter": 12, **options, **SOLVERS[solver]}
    theirs, mine = both(name, rows, y, **options)
    assert_same_network(theirs, mine, 1e-3)
    np.testing.assert_allclose(mine.loss_, theirs.loss_, rtol=1e-3)
    if solver != "lbfgs":
        np.testing.assert_allclose(mine.loss_curve_, theirs.loss_curve_, rtol=1e-4)
        assert (mine.best_loss_ is None) == (theirs.best_loss_ is None)
    if solver == "by score":
        np.testing.assert_allclose(mine.validation_scores_, theirs.validation_scores_, atol=1e-4)
        assert mine.best_validation_score_ == max(mine.validation_scores_)


@pytest.mark.parametrize("table", ["classes", "labels", "several numbers", "counts"])
def test_outputs_mean_what_they_mean_in_scikit_learn(table):
    name, rows, y, options = TABLES[table]
    weight = RNG.integers(1, 4, len(y)).astype(float)
    options = {"shuffle": False, "batch_size": 10**6, "max_iter": 8, **options}
    theirs, mine = both(name, rows, y, weight, **options)
    assert_same_network(theirs, mine, 1e-4)
    np.testing.assert_allclose(mine.predict(rows), theirs.predict(rows), rtol=1e-3, atol=1e-4)
    if name == "MLPClassifier":
        ours_, theirs_ = mine.predict_proba(rows), theirs.predict_proba(rows)
        np.testing.assert_allclose(ours_, theirs_, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(np.exp(mine.predict_log_proba(rows)), ours_, rtol=1e-9)


def test_adaptive_rates_fall_as_often_as_in_scikit_learn():
    options = {"solver": "sgd", "learning_rate": "adaptive", "tol": 0.5, "max_iter": 3000}
    theirs, mine = both("MLPClassifier", *IRIS, **options)
    assert mine.n_iter_ == theirs.n_iter_ == 67
    assert float(mine._states[0].rate) * 0.001 < 1e-6


@pytest.mark.parametrize("name", ["MLPClassifier", "MLPRegressor"])
@pytest.mark.parametrize("solver", ["adam", "sgd"])
def test_parts_give_the_network_of_the_whole(name, solver):
    rows, y = IRIS
    options = {"hidden_layer_sizes": (6,), "solver": solver, "batch_size": 150, "random_state": 0}
    whole = getattr(ours, name)(**options, max_iter=20, tol=-np.inf)
    with pytest.warns(ConvergenceWarning, match="still learning after max_iter=20"):
        whole.fit(rows, y)
    parts = getattr(ours, name)(**options)
    for _ in range(20):
        known = {"classes": np.unique(y)} if name == "MLPClassifier" else {}
        parts.partial_fit(rows, y, **known)
    for a, b in zip(whole.coefs_, parts.coefs_):
        np.testing.assert_array_equal(a, b)
    assert parts.t_ == whole.t_ == 3000
    assert parts.loss_curve_ == whole.loss_curve_
    parts.partial_fit(rows + 1e-3, y)
    new, old = parts.fingerprint_.overlap(rows + 1e-3), parts.fingerprint_.overlap(rows)
    assert new == old  # it remembers the rows of every call


def test_a_loaded_model_learns_on(tmp_path):
    options = {"hidden_layer_sizes": (4,), "learning_rate_init": 0.01, "random_state": 0}
    model = ours.MLPRegressor(**options).partial_fit(*IRIS)
    corollary.save(model, tmp_path / "model.corollary")
    again = corollary.load(tmp_path / "model.corollary")
    for _ in range(100):
        again.partial_fit(*IRIS)
    assert again.score(*IRIS) > max(0.8, model.score(*IRIS))
    assert len(again.loss_curve_) == 101


def test_errors_of_partial_fit():
    model = ours.MLPClassifier(hidden_layer_sizes=(2,), random_state=0)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model.partial_fit([[0.0], [1.0]], [0, 1])
    model.partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"is not the same as on last call .* was: \[0 1 2\]"):
        model.partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1])
    with pytest.raises(ValueError, match=r"`y` has classes not in `self.classes_`"):
        model.partial_fit([[0.0], [1.0]], [0, 5])
    with pytest.raises(ValueError, match="does not support early_stopping=True"):
        model.set_params(early_stopping=True).partial_fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(ours.MLPRegressor(solver="lbfgs"), "partial_fit")


def test_sparse_rows_are_dense_rows():
    rows, y = load_digits(n_class=3, return_X_y=True)
    options = {"learning_rate_init": 0.02, "max_iter": 30, "tol": 0.05, "random_state": 0}
    dense = ours.MLPClassifier(**options).fit(rows, y)
    loose = ours.MLPClassifier(**options).fit(sparse.csr_array(rows), y)
    for a, b in zip(dense.coefs_, loose.coefs_):
        np.testing.assert_array_equal(a, b)
    answers = loose.predict_proba(sparse.csr_array(rows))
    np.testing.assert_allclose(answers, dense.predict_proba(rows), rtol=1e-9, atol=1e-12)
    assert dense.score(rows, y) > 0.95


def test_several_labels_in_a_row():
    rows, y = make_multilabel_classification(200, 8, n_classes=3, random_state=0)
    model = ours.MLPClassifier(
        standardize=True, learning_rate_init=0.02, early_stopping=True, random_state=0
    ).fit(rows, y)
    assert model.predict(rows).shape == y.shape
    assert (model.predict(rows) == y).mean() > 0.8
    assert np.abs(model.predict_proba(rows).sum(axis=1) - 1).max() > 0.1
    assert model.classes_.tolist() == [0, 1, 2]


def test_verbose_prints_each_epoch(capsys):
    options = {"hidden_layer_sizes": (2,), "max_iter": 3, "verbose": True, "random_state": 0}
    with pytest.warns(ConvergenceWarning):
        model = ours.MLPRegressor(**options).fit(IRIS[0], IRIS[1])
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"Iteration {i + 1}, loss = {v:.8f}" for i, v in enumerate(model.loss_curve_)]


def test_poisson_targets_are_counts():
    with pytest.raises(ValueError, match=r"needs targets of at least 0. Got -1"):
        ours.MLPRegressor("poisson").fit([[0.0], [1.0]], [-1, 2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_of_the_rows_is_that_of_the_network(dtype):
    model = ours.MLPRegressor(hidden_layer_sizes=(3,), max_iter=2)
    with pytest.warns(ConvergenceWarning):
        model.fit(IRIS[0].astype(dtype), IRIS[1])
    assert {a.dtype for a in model.coefs_ + model.intercepts_} == {np.dtype(dtype)}
    assert model.predict(IRIS[0].astype(dtype)).dtype == dtype


@pytest.mark.parametrize("name", ["classifier", "two-classes", "regressor", "two-targets"])
def test_files_of_always_standardised_ensembles_keep_their_answers(name):
    folder = pathlib.Path(__file__).parent / "files"
    model = corollary.load(folder / f"{name}.corollary")
    answer = model.predict_proba if "class" in name else model.predict
    expected = np.load(folder / "answers.npz")[name]
    np.testing.assert_allclose(answer(IRIS[0][:, :2]), expected, rtol=1e-12)
    assert (model.standardize, model.weight_decay, model.early_stopping) == (True, 0.01, "loss")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        again = model.fit(IRIS[0][:, :2], np.arange(150) % 2)
    assert again.coefs_[0].shape == (2, 2, 3)
