"""What hostile arrays have found, by hand: each gave NaN, an error from the depths, or no end."""

import numpy as np
import pytest
from scipy import sparse

import corollary
from corollary.ensemble import RandomForestRegressor
from corollary.kernels import (
    KernelERMClassifier,
    KernelERMRegressor,
    Nystroem,
    PositiveRandomFeatures,
    RandomFourierFeatures,
)
from corollary.linear import BayesianLinearRegression, PolynomialRegression
from corollary.reporting.page._format import percent
from corollary.representation import StandardScaler
from corollary.svm import SVR, NuSVC, OneClassSVM
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
    with pytest.raises(ValueError, match=r"whose products (and their|with the) squares.*divide"):
        model.fit(X, targets, sample_weight=weight)


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")
@pytest.mark.parametrize(
    "model", [OneClassSVM(), NuSVC(), KernelERMClassifier(), KernelERMRegressor()]
)
def test_kernel_values_that_overflow_are_refused(model):
    with pytest.raises(ValueError, match="needs finite kernel values"):
        model.fit(np.full((12, 2), 1e308), np.arange(12) % 2)


def test_a_variance_of_sparse_rows_that_overflows_is_refused():
    with pytest.raises(ValueError, match="variance neither overflows nor vanishes"):
        SVR().fit(sparse.csr_matrix(1e200 * ROWS), np.arange(12.0))


def test_tiny_features_have_finite_weights():
    X, y = 1e-220 * np.array([[8.0, 1.0, 4.0], [5.0, -0.6, -0.8]]), np.array([0.7, -0.1])
    np.testing.assert_allclose(PolynomialRegression(degree=1).fit(X, y).predict(X), y)


@pytest.mark.parametrize("name", ["mean_", "var_"])
def test_a_scaler_without_the_moments_of_what_it_saw_is_not_loaded(name):
    scaler = StandardScaler().fit(ROWS)
    getattr(scaler, name)[1] = np.nan
    assert scaler._fits_together() == "it has no mean or variance of a feature that had values"


def test_a_scaler_of_a_feature_without_values_is_loaded(tmp_path):
    corollary.save(StandardScaler().fit([[1.0, np.nan], [2.0, np.nan]]), tmp_path / "scaler")
    assert np.isnan(corollary.load(tmp_path / "scaler").mean_[1])


@pytest.mark.parametrize(
    ("share", "text"), [(-1e30, "\u22121.00\u00d710\u00b3\u00b2%"), (np.inf, "unbounded")]
)
def test_a_model_may_be_worse_than_guessing_by_any_factor(share, text):
    assert percent(share) == text
