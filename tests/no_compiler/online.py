"""Loops of online learners without the compiler."""

import numpy as np
from scipy import sparse


def _halves(seed=0, n=100):
    """Rows with a margin around a line through the origin, and their sides."""
    X = np.random.default_rng(seed).normal(size=(n, 3))
    y = np.where(X[:, 0] > X[:, 1], 1.0, -1.0)
    X[:, 0] += 0.5 * y
    return X, y


def check_linear_learners_on_dense_and_sparse_rows():
    from corollary.online import OnlineClassifier

    X, y = _halves()
    for settings in (
        {"loss": "logistic"},
        {"loss": "hinge", "step": "sqrt", "radius": 2.0},
        {"loss": "squared_hinge", "step": "constant", "eta": 0.05, "averaging": True},
        {"loss": "square", "averaging": True, "radius": 3.0, "alpha": 1e-3},
        {"step": "constant", "alpha": 4.9, "averaging": True, "fit_intercept": False},
        {"learner": "perceptron"},
        {"learner": "passive-aggressive"},
        {"learner": "passive-aggressive", "variant": "pa-ii"},
    ):
        model = OnlineClassifier(random_state=0, n_passes=1, **settings)
        dense = model.fit(X, y).decision_function(X)
        assert np.mean(np.sign(dense) == y) > 0.75, settings
        rows = model.fit(sparse.csr_matrix(X), y).decision_function(X)
        assert np.allclose(dense, rows, rtol=1e-6, atol=1e-9), settings


def check_linear_regression():
    from corollary.online import OnlineRegressor

    X, _ = _halves()
    y = X @ [1.0, -2.0, 0.5]
    for settings in (
        {"loss": "square"},
        {"loss": "absolute"},
        {"loss": "epsilon_insensitive"},
        {"loss": "pinball"},
        {"learner": "passive-aggressive"},
    ):
        model = OnlineRegressor(random_state=0, n_passes=3, **settings).fit(X, y)
        assert np.corrcoef(model.predict(X), y)[0, 1] > 0.9, settings


def check_perceptron_within_its_bound():
    from corollary.online import KernelPerceptron, OnlinePerceptron

    X, y = _halves()
    record = OnlinePerceptron().run((X, y), comparator=np.array([1.0, -1.0, 0.0]))
    assert record.holds
    assert record.mistakes[50:].sum() <= record.mistakes[:50].sum()
    kernel = KernelPerceptron(budget=5)
    assert kernel.run((X, y)).mistakes.mean() < 0.3


def check_experts():
    from corollary.online import Hedge, WeightedMajority

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=50)
    advice = rng.integers(0, 2, size=(50, 6))
    advice[:, 2] = y
    record = WeightedMajority().run((advice, y))
    assert record.holds
    assert record.comparator[-1] == 0
    losses = np.where(advice == y[:, None], 0.0, 1.0)
    assert Hedge(horizon=50).run(losses).holds


def check_winnow():
    from corollary.online import AllSubsetsWinnow, Winnow, disjunction, random_dnf

    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(100, 16)).astype(float)
    target = disjunction(3, 10)
    dense, rows = Winnow(), Winnow()
    record = dense.run((X, target(X)), comparator=target.literals(16))
    rows.run((sparse.csr_matrix(X), target(X)))
    assert record.holds
    assert (dense.weights_ == rows.weights_).all()
    dnf = random_dnf(5, 2, 2, random_state=0)
    learner = AllSubsetsWinnow()
    learner.run((X[:, :5], dnf(X[:, :5])))
    assert np.mean(learner.predict(X[:, :5]) == dnf(X[:, :5])) > 0.9


def check_hashes():
    from corollary.online import hash_strings

    hashes = hash_strings(["", "a", "b", "a"])
    assert len(set(hashes.tolist())) == 3
    assert hashes[1] == hashes[3]
