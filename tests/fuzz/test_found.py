"""What hostile arrays have found, by hand: each gave NaN, an error from the depths, or no end."""

import numpy as np
import pytest
from scipy import sparse

from corollary.ensemble import RandomForestRegressor
from corollary.kernels import Nystroem, PositiveRandomFeatures, RandomFourierFeatures
from corollary.linear import BayesianLinearRegression
from corollary.tree import DecisionTreeRegressor

ROWS = np.arange(24.0).reshape(12, 2)


@pytest.mark.parametrize("model", [DecisionTreeRegressor(), RandomForestRegressor(5)])
def test_targets_that_cannot_be_averaged_are_refused(model):
    with pytest.raises(ValueError, match="targets whose squares have a finite sum"):
        model.fit(ROWS, np.full(12, 1e308))


def test_landmarks_that_overflow_are_refused():
    with pytest.raises(ValueError, match="features whose squares have a finite sum"):
        Nystroem().fit(np.full((12, 3), 1e308))


@pytest.mark.parametrize("model", [RandomFourierFeatures(), PositiveRandomFeatures()])
def test_rows_whose_features_overflow_are_refused(model):
    model.fit(ROWS)
    with pytest.raises(ValueError, match="features whose squares have a finite sum"):
        model.transform(np.full((1, 2), 1e308))


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")
@pytest.mark.parametrize(
    ("X", "y", "weight"),
    [
        (sparse.csr_array((12, 2)), 1e150, 10.0 ** np.arange(12)),  # squares of targets
        (0.0 * ROWS, 1e150, 10.0 ** np.arange(12)),
        (1e150 * ROWS, 1.0, 10.0 ** np.arange(12)),  # squares of features
        (1e100 * ROWS, 1e100, np.ones(12)),  # squares of products
        (1e150 * ROWS, 1e-150, np.ones(12)),  # the precision that they ask for
        (1e-100 * ROWS, 1e150, np.ones(12)),
    ],
)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_products_that_overflow_are_refused(X, y, weight, fit_intercept):
    targets = y * np.cos(np.arange(12.0))
    model = BayesianLinearRegression(fit_intercept=fit_intercept)
    with pytest.raises(ValueError, match=r"whose products and their squares.*divide"):
        model.fit(X, targets, sample_weight=weight)
