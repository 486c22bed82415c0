"""The kernel perceptron: explicit features, budget, DNF."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.kernels import ANOVA, RBF, Linear, Polynomial, Spectrum, polynomial_map, subset_map
from corollary.online import (
    KernelPerceptron,
    OnlinePerceptron,
    kernel_perceptron_dnf_bound,
    random_dnf,
)
from tests.online.reference import kernel_perceptron


def test_mistakes_equal_those_on_explicit_features(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(400, 8)).astype(float)
    y = rng.choice([-1.0, 1.0], 400)  # arbitrary labels
    record = KernelPerceptron(ANOVA()).run((X, y))
    explicit = OnlinePerceptron().run((subset_map(X), y))
    np.testing.assert_array_equal(record.mistakes, explicit.mistakes)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(degree=2), RBF(0.7), "rbf"])
def test_any_kernel(kernel, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(600, 3))
    y = np.where((X**2).sum(axis=1) > 2, 1.0, -1.0)
    learner = KernelPerceptron(kernel)
    record = learner.run((X, y))
    gram = (RBF(np.sqrt(1.5)) if kernel == "rbf" else kernel).gram(X)
    wrong, support = kernel_perceptron(gram, y)
    np.testing.assert_array_equal(record.mistakes, wrong)
    np.testing.assert_array_equal(learner.support_, X[support])
    np.testing.assert_allclose(learner.decision_function(X), gram[:, support] @ y[support])
    if kernel == Polynomial(degree=2):
        explicit = OnlinePerceptron().run((polynomial_map(X, 2, offset=kernel.offset), y))
        np.testing.assert_array_equal(record.mistakes, explicit.mistakes)


def test_strings():
    words = ["aab", "aba", "bbb", "bba"] * 5
    y = np.array([1, 1, -1, -1] * 5)
    learner = KernelPerceptron(Spectrum(2))
    learner.partial_fit(words, y)
    np.testing.assert_array_equal(learner.predict(words[:4]), y[:4])


@pytest.mark.parametrize("budget", [1, 3, 50])
def test_the_budget_forgets_the_oldest(budget, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(700, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    learner = KernelPerceptron(RBF(0.5), budget=budget)
    record = learner.run((X, y), comparator=100.0)
    wrong, support = kernel_perceptron(RBF(0.5).gram(X), y, budget)
    np.testing.assert_array_equal(record.mistakes, wrong)
    np.testing.assert_array_equal(learner.support_, X[support])
    assert len(learner.alpha_) <= budget
    assert learner.n_forgotten_ == wrong.sum() - len(support)
    # The bound holds until something is forgotten, that round included.
    finite = np.isfinite(record.bound)
    full = np.flatnonzero(np.cumsum(wrong) > budget)
    assert finite.sum() == (full[0] + 1 if len(full) else 700)
    assert not finite[finite.sum() :].any()


def test_chunks_of_other_kernels_agree_to_rounding(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(300, 4)), rng.choice([-1.0, 1.0], 300)
    whole, single = KernelPerceptron(RBF()), KernelPerceptron(RBF())
    whole.partial_fit(X, y)
    for i in range(300):
        single.partial_fit(X[i : i + 1], y[i : i + 1])
    np.testing.assert_array_equal(whole.support_, single.support_)


@given(st.integers(0, 10_000), st.integers(1, 4), st.booleans())
def test_dnf_bound_holds(seed, k, monotone):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    target = random_dnf(n, k, min(2, n), monotone=monotone, random_state=seed)
    X = rng.integers(0, 2, size=(400, n)).astype(float)
    y = 2.0 * target(X) - 1
    rows = X if monotone else np.hstack([X, 1 - X])
    record = KernelPerceptron(ANOVA()).run((rows, y), comparator=float(np.sqrt(4 * k + 1)))
    bound = kernel_perceptron_dnf_bound(k, n)
    assert record.truth[-1] <= bound
    assert record.bound[-1] <= bound * (1 + 1e-12)
    assert record.holds


def test_errors():
    with pytest.raises(ValueError, match="'kernel' parameter of KernelPerceptron"):
        KernelPerceptron(3)
    with pytest.raises(ValueError, match="'budget' parameter of KernelPerceptron"):
        KernelPerceptron(budget=0)
    with pytest.raises(ValueError, match="must be a number"):
        KernelPerceptron().run((np.eye(2), [1, -1]), comparator=[1.0, 2.0])
    assert KernelPerceptron().predict([[1.0]]) == [1]
