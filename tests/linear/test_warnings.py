"""Warnings of linear models point at the line that called them."""

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning

from corollary.linear import (
    BridgeRegression,
    ElasticNet,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    Ridge,
    enet_path,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 6)) @ RNG.normal(size=(6, 6))
Y = X[:, 0] + RNG.normal(size=40)

MODELS = [
    BridgeRegression(max_iter=1, tol=0.0),
    ElasticNet(alpha=1e-4, max_iter=1, tol=1e-14),
    LassoCV(alphas=[1e-4, 1e-5], max_iter=1, tol=1e-14, cv=2, n_jobs=1),
    LogisticRegression(max_iter=1, tol=1e-9),
    LogisticRegression(C=np.inf),
    LogisticRegressionCV(Cs=2, cv=2, max_iter=1, tol=1e-9),
    Perceptron(max_iter=1),
    Ridge(solver="lsqr", max_iter=1),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_warnings_point_at_the_call_of_fit(model):
    y = Y
    if hasattr(model, "predict_log_proba") or isinstance(model, Perceptron):
        separable = getattr(model, "C", 1.0) == np.inf
        y = X[:, 0] > 0 if separable else Y > 0
    with pytest.warns(ConvergenceWarning) as record:
        model.fit(X, y)
    assert __file__ in [warning.filename for warning in record]


def test_a_warning_about_one_reading_points_at_the_call_of_fit_source():
    rows = np.column_stack([X, X[:, 0]])
    with pytest.warns(LinAlgWarning) as record:
        LinearRegression().fit_source(chunk for chunk in [(rows, Y)])
    assert record[-1].filename == __file__


def test_warnings_of_paths_point_at_the_call():
    with pytest.warns(ConvergenceWarning) as record:
        enet_path(X, Y, alphas=[1e-4], max_iter=1, tol=1e-14)
    assert record[-1].filename == __file__
