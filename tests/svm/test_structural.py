"""Structural machines: classes, chains, the whole program on small outputs."""

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import corollary
from corollary.svm import ClassLabels, LabelChain, StructuralSVM, joint_svm, structural_svm
from tests.svm.reference import solve_qp


def sequences(n, seed=0, length=3, labels=2):
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        y = np.zeros(length, dtype=int)
        for t in range(length):
            stay = t > 0 and rng.random() < 0.8
            y[t] = y[t - 1] if stay else rng.integers(labels)
        X.append(np.c_[np.where(y == 1, 1.0, -1.0) + rng.normal(size=length), np.ones(length)])
        Y.append(y)
    return X, Y


@pytest.mark.parametrize("seed", range(4))
def test_classes_give_the_joint_machine(seed):
    rng = np.random.default_rng(seed)
    code = np.arange(24) % 3
    X = 1.5 * np.eye(3)[code] + rng.normal(size=(24, 3))
    found = structural_svm(ClassLabels(3, 3), X, code, C=0.5, tol=1e-7)
    joint = joint_svm(X, code, C=0.5, tol=1e-10, max_iter=100_000, random_state=0)
    assert found.converged
    assert found.objective == pytest.approx(joint.objective, abs=1e-5)
    np.testing.assert_allclose(found.w.reshape(3, 3), joint.tau.T @ X, atol=1e-3)
    assert found.n_constraints <= 24 * 2


def test_one_row_by_hand():
    # The first round finds the constraint, the second nothing new: w = (a, -a) with 2 a = 1.
    found = structural_svm(ClassLabels(2, 1), np.array([[1.0]]), np.array([0]), C=5.0, tol=1e-9)
    np.testing.assert_allclose(found.w, [0.5, -0.5], atol=1e-6)
    assert (found.n_constraints, found.n_iter) == (1, 2)


@pytest.mark.parametrize("truth", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_viterbi_agrees_with_enumeration(seed, truth):
    rng = np.random.default_rng(seed)
    chain = LabelChain(n_labels=3, n_features=2)
    x, w = rng.normal(size=(5, 2)), rng.normal(size=chain.size)
    y = rng.integers(3, size=5) if truth else None

    def value(labels):
        extra = chain.loss(y, labels) if truth else 0.0
        return w @ chain.joint_feature(x, labels) + extra

    best = max(value(np.array(labels)) for labels in product(range(3), repeat=5))
    assert value(chain.argmax(w, x, y)) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(4))
def test_cutting_planes_reach_the_whole_program(seed):
    # All 8 label sequences of 5 short chains, as one program with every constraint.
    X, Y = sequences(5, seed)
    chain, C = LabelChain(n_labels=2, n_features=2), 0.5
    found = structural_svm(chain, X, Y, C=C, tol=1e-6)
    differences, losses, owner = [], [], []
    for i, (x, y) in enumerate(zip(X, Y)):
        for labels in product(range(2), repeat=3):
            other = np.array(labels)
            differences.append(chain.joint_feature(x, y) - chain.joint_feature(x, other))
            losses.append(chain.loss(y, other))
            owner.append(i)
    D, owner = np.array(differences), np.array(owner)
    sums = (np.array([owner == i for i in range(5)], dtype=float), np.full(5, C))
    alpha = solve_qp(D @ D.T, np.array(losses), np.zeros(40), np.full(40, C), sums)
    dual = np.array(losses) @ alpha - 0.5 * alpha @ D @ D.T @ alpha
    assert found.objective == pytest.approx(dual, abs=1e-4)
    assert found.n_constraints < 40
    w = found.w
    slack = [max(np.array(losses)[owner == i] - D[owner == i] @ w) for i in range(5)]
    np.testing.assert_allclose(found.slack, slack, atol=1e-9)
    assert 0.5 * w @ w + C * sum(slack) == pytest.approx(found.objective)
    assert found.gap <= 5 * C * 2e-6


def test_neighbours_help_and_few_constraints_are_touched():
    X, Y = sequences(60, seed=1, length=8)
    X_new, Y_new = sequences(200, seed=2, length=8)
    chain = LabelChain(n_labels=2, n_features=2)
    model = StructuralSVM(chain, C=0.1, tol=0.05).fit(X, Y)
    assert model.n_constraints_ < 0.1 * 60 * 2**8
    wrong = np.mean([p != y for p, y in zip(model.predict(X_new), Y_new)])
    alone = np.mean([(x[:, 0] > 0).astype(int) != y for x, y in zip(X_new, Y_new)])
    assert wrong < 0.8 * alone


def test_estimator_for_classes_and_files(tmp_path):
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    model = StructuralSVM(tol=0.01).fit(X, names)
    assert model.score(X, names) > 0.95
    corollary.save(model, tmp_path / "model")
    np.testing.assert_array_equal(corollary.load(tmp_path / "model").predict(X), model.predict(X))
    X, Y = sequences(5)
    chain = StructuralSVM(LabelChain(2, 2)).fit(X, Y)
    corollary.save(chain, tmp_path / "chain")
    for one, other in zip(corollary.load(tmp_path / "chain").predict(X), chain.predict(X)):
        np.testing.assert_array_equal(one, other)


def test_a_shift_of_all_rows_changes_nothing():
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    near = StructuralSVM(tol=1e-4).fit(X - X.mean(axis=0), y)
    far = StructuralSVM(tol=1e-4).fit(X + 1000.0, y)
    assert far.objective_ == pytest.approx(near.objective_, rel=1e-6)
    assert far.n_constraints_ == near.n_constraints_
    weights, shifted = near.coef_.reshape(3, 5), far.coef_.reshape(3, 5)
    np.testing.assert_allclose(shifted[:, :4], weights[:, :4], atol=1e-3)
    scores = np.c_[X + 1000.0, np.ones(len(X))] @ shifted.T
    expected = np.c_[X - X.mean(axis=0), np.ones(len(X))] @ weights.T
    np.testing.assert_allclose(scores, expected, atol=1e-2)
    np.testing.assert_array_equal(far.predict(X + 1000.0), near.predict(X - X.mean(axis=0)))


def test_errors_and_warnings():
    X, Y = sequences(3)
    with pytest.raises(ValueError, match="as many outputs as inputs"):
        structural_svm(LabelChain(2, 2), X, Y[:2])
    with pytest.raises(ValueError, match="'C' parameter of structural_svm"):
        structural_svm(LabelChain(2, 2), X, Y, C=np.inf)
    with pytest.warns(ConvergenceWarning, match="StructuralSVM stopped after 2 rounds"):
        StructuralSVM(LabelChain(2, 2), max_iter=1, tol=1e-6).fit(X, Y)
    with pytest.raises(ValueError, match="at least 2 classes"):
        StructuralSVM().fit([[1.0], [2.0]], [1, 1])
