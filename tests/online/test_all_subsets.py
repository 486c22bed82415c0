"""Winnow on all subsets, against Winnow on explicit features and the kernel perceptron."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.kernels import ANOVA
from corollary.online import (
    DNF,
    AllSubsetsWinnow,
    KernelPerceptron,
    Winnow,
    all_inputs,
    all_subsets_winnow_bound,
    random_dnf,
)


def explicit(X):
    """Column S is the product of the inputs whose bits are set in S."""
    n = X.shape[1]
    columns = [
        X[:, [j for j in range(n) if subset >> j & 1]].prod(axis=1) for subset in range(2**n)
    ]
    return np.column_stack(columns)


def test_it_is_winnow_on_explicit_features(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(300, 6)).astype(float)
    y = random_dnf(6, 3, 2, monotone=True, random_state=seed)(X).astype(float)
    learner, plain = AllSubsetsWinnow(), Winnow()
    np.testing.assert_array_equal(AllSubsetsWinnow().predict(X), (X.sum(axis=1) == 6))
    mine, theirs = learner.run((X, y)), plain.run((explicit(X), y))
    np.testing.assert_array_equal(mine.predictions, theirs.predictions)
    np.testing.assert_array_equal(learner.weights_, plain.weights_)
    np.testing.assert_array_equal(learner.predict(X), plain.predict(explicit(X)))
    # Log-weights are linear in the mistakes: -ln 2 * sum_q (guess - truth) * Phi(x_q).
    exponent = ((y - mine.predictions)[:, None] * explicit(X)).sum(axis=0)
    np.testing.assert_array_equal(np.log2(learner.weights_), exponent)


@given(st.integers(0, 10_000), st.integers(1, 3))
def test_bound_holds(seed, k):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    target = random_dnf(n, k, min(n, 3), monotone=True, random_state=seed)
    X = rng.integers(0, 2, size=(300, n)).astype(float)
    record = AllSubsetsWinnow().run((X, target(X)), comparator=target)
    assert record.holds
    assert record.truth[-1] <= all_subsets_winnow_bound(k, n)


def test_fewer_mistakes_than_the_kernel_perceptron(seed):
    rng = np.random.default_rng(seed)
    target = DNF(((1, 2, 3), (4, 5, 6)))
    X = rng.integers(0, 2, size=(4000, 12)).astype(float)
    few = AllSubsetsWinnow().run((X, target(X))).truth[-1]
    many = KernelPerceptron(ANOVA()).run((X, 2.0 * target(X) - 1)).truth[-1]
    assert few <= all_subsets_winnow_bound(2, 12) == 80.0
    assert 2 * few < many


def test_errors():
    X = all_inputs(3)
    with pytest.raises(ValueError, match="monotone DNF"):
        AllSubsetsWinnow().run((X, X[:, 0]), comparator=DNF(((-1,),)))
    learner = AllSubsetsWinnow().partial_fit(X, X[:, 0])
    with pytest.raises(ValueError, match="3 columns"):
        learner.partial_fit(X[:, :2], X[:, 0])
    wrong = AllSubsetsWinnow().run((X, 1 - X[:, 0]), comparator=DNF(((1,),)))
    assert np.isinf(wrong.bound).all()
