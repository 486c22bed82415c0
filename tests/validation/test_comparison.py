"""Comparisons of learners on the same folds."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression, Ridge

from corollary.core.simulate import assert_bound_holds
from corollary.validation import (
    compare_learners,
)


def test_learners_are_compared_on_the_same_folds_with_the_right_variance():
    X, y = load_diabetes(return_X_y=True)
    found = compare_learners(Ridge(50.0), LinearRegression(), X, y, loss="square")
    assert found.difference > 0
    assert found.distinguishable
    swapped = compare_learners(LinearRegression(), Ridge(50.0), X, y, loss="square")
    assert swapped.difference == pytest.approx(-found.difference)
    assert swapped.p_value == pytest.approx(found.p_value)
    same = compare_learners(Ridge(1.0), Ridge(1.0), X, y, loss="square")
    assert same.p_value == 1.0
    assert not same.distinguishable


def test_equal_learners_are_rarely_told_apart():
    # Two learners that are equally good by symmetry: one ignores the first column, one the second.
    class Half(Ridge):
        def __init__(self, column=0):
            super().__init__(alpha=1e-3)
            self.column = column

        def fit(self, X, y):
            return super().fit(X[:, [self.column]], y)

        def predict(self, X):
            return super().predict(X[:, [self.column]])

    rng = np.random.default_rng(0)
    rejections = 0
    for seed in range(80):
        X = rng.normal(size=(60, 2))
        y = X.sum(axis=1) + rng.normal(size=60)
        found = compare_learners(Half(0), Half(1), X, y, loss="square", random_state=seed)
        rejections += found.p_value <= 0.05
    assert_bound_holds(rejections, 80, 0.06)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: compare_learners(Ridge(), Ridge(), [[1.0]], [1.0], random_state=None),
            "must be an int",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
