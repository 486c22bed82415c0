"""Margins, ridge solutions and spectra of the smallest data, by hand."""

import math

import numpy as np
import pytest

from corollary.linear import (
    BestSubset,
    QuantileInterval,
    canonical_hyperplane,
    dataset_margin,
    functional_margin,
    geometric_margin,
    lasso_objective,
    least_squares_in_ball,
    perceptron_pass_bound,
    perceptron_risk_bound,
    ridge_bias,
    ridge_covariance,
    ridge_gradient,
    ridge_mse,
    ridge_objective,
    ridge_solution,
    separability,
    shrinkage_factors,
    softmax_model,
    variance_factors,
)


def test_margins():
    one = dataset_margin([[3.0, 4.0]], [1])
    assert one[0] == pytest.approx(5.0)
    assert one[1] == pytest.approx([0.6, 0.8])
    assert one[2:] == pytest.approx((0.0, 5.0))
    two = dataset_margin([[0.0, 3.0], [0.0, -1.0]], [1, -1], fit_intercept=True)
    assert two[0] == pytest.approx(2.0)
    assert two[1] == pytest.approx([0.0, 1.0])
    assert two[2:] == pytest.approx((-1.0, 2.0))
    none = dataset_margin([[1.0, 0.0], [1.0, 0.0]], [1, -1])
    assert none[0] == 0.0
    assert none[1].tolist() == [0.0, 0.0]
    assert none[2:] == (0.0, 0.0)
    X, y = [[3.0, 4.0], [-1.0, 0.0]], [1, -1]
    assert functional_margin(X, y, [3.0, 4.0], -1.0) == pytest.approx(4.0)
    assert geometric_margin(X, y, [3.0, 4.0], -1.0) == pytest.approx(0.8)
    coef, intercept = canonical_hyperplane(X, y, [3.0, 4.0], -1.0)
    assert coef == pytest.approx([0.75, 1.0])
    assert intercept == pytest.approx(-0.25)


def test_a_plane_above_rows_of_one_class():
    # The largest that is allowed after the column is divided by 2.
    plane = separability([[1.0], [2.0]], [1, 1], strict=False, fit_intercept=False)
    assert plane == (True, pytest.approx([0.5]), 0.0)


def test_objective_of_the_lasso():
    # Residuals 0 and 1, halved mean square, penalty 0.1 times 1.
    assert lasso_objective([[1.0], [2.0]], [1.0, 3.0], [1.0], alpha=0.1) == pytest.approx(0.35)


def test_least_squares_in_a_large_ball():
    solutions = least_squares_in_ball([np.eye(2)], [[30.0, 40.0]], 10.0)
    assert solutions.coef == pytest.approx(np.array([[6.0, 8.0]]))
    assert solutions.multiplier == pytest.approx([4.0])


def test_best_subset_of_a_constant_target_is_empty():
    model = BestSubset(max_size=1).fit([[1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], [5.0, 5.0, 5.0])
    assert (model.coef_.tolist(), model.intercept_) == ([0.0, 0.0], 5.0)
    assert len(model.support_) == 0


def test_interval_of_a_constant_feature():
    X, y = np.zeros((5, 1)), np.arange(1.0, 6.0)
    model = QuantileInterval(coverage=0.5).fit(X, y)
    assert model.predict(X[:1]) == pytest.approx([3.0])
    assert model.predict_interval(X[:1])[0] == pytest.approx([2.0, 4.0])


def test_ridge():
    X, y = [[1.0], [1.0]], [3.0, 3.0]
    assert ridge_solution(X, y, 1.0) == pytest.approx([2.0])
    assert ridge_solution(X, y, 1.0, penalty="mean") == pytest.approx([1.5])
    # Residuals 2 and 2, penalty 3 times 1.
    assert ridge_objective(X, y, [1.0], 3.0) == pytest.approx(11.0)
    assert ridge_objective(X, y, [1.0], 3.0, penalty="mean") == pytest.approx(14 / 4)
    assert ridge_gradient(X, y, [1.0], 3.0) == pytest.approx([-8 + 6])
    assert ridge_gradient(X, y, [1.0], 3.0, penalty="mean") == pytest.approx([-2 + 3])


def test_spectra():
    assert shrinkage_factors([2.0, 0.0], 1.0).tolist() == [0.8, 0.0]
    assert variance_factors([2.0, 0.0], 1.0) == pytest.approx([4 / 25, 0.0])
    X = np.diag([2.0, 1.0])
    assert ridge_covariance(X, 1.0, 5.0) == pytest.approx(np.diag([0.8, 1.25]))
    assert ridge_bias(X, 1.0, [10.0, 10.0]) == pytest.approx([-2.0, -5.0])
    assert ridge_mse(X, 1.0, [10.0, 10.0], 5.0) == pytest.approx(0.8 + 1.25 + 29)


def test_perceptron_bounds():
    assert perceptron_pass_bound(3.0, 1.0) == 10
    assert perceptron_pass_bound(3.0, 1.2) == 7  # 6.25 mistakes and a pass without any
    assert perceptron_risk_bound(17, 3.0, margin=1.0) == pytest.approx(0.5)
    mean = perceptron_risk_bound(17, 3.0, mean_inverse_squared_margin=0.25)
    assert mean == pytest.approx(0.125)
    assert math.isfinite(mean)


def test_softmax():
    # One score against zero, and three scores.
    assert softmax_model([[2.0]], [[math.log(3) / 2]]) == pytest.approx(np.array([[0.25, 0.75]]))
    three = softmax_model([[1.0]], [[0.0], [math.log(2)], [0.0]], [0.0, 0.0, math.log(5)])
    assert three == pytest.approx(np.array([[1 / 8, 2 / 8, 5 / 8]]))
