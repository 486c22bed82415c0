"""Leaving rows out in closed form and by refitting."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression as PeerRegression

from corollary.linear import Ridge
from corollary.validation import (
    cross_validate,
    least_squares_loo,
    retrain_without,
    smoother_loo,
)


def test_leave_one_out_of_least_squares_three_ways():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(12), rng.normal(size=(12, 2))])
    y = rng.normal(size=12)
    parameters, residual = least_squares_loo(X, y)
    refits = retrain_without(lambda X, y: np.linalg.lstsq(X, y, rcond=None)[0], X, y)
    assert parameters == pytest.approx(np.array(refits))
    model = PeerRegression(fit_intercept=False)
    outcome = cross_validate(model, X, y, loss="square", cv="loo")
    assert outcome.losses == pytest.approx(residual**2)
    H = X @ np.linalg.pinv(X)
    assert smoother_loo(y, H @ y, np.diag(H)) == pytest.approx(residual)


def test_leave_one_out_of_ridge_by_its_smoother():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(15, 4)), rng.normal(size=15)
    H = X @ np.linalg.solve(X.T @ X + 2 * np.eye(4), X.T)
    shortcut = smoother_loo(y, H @ y, np.diag(H))
    outcome = cross_validate(Ridge(alpha=2.0, fit_intercept=False), X, y, loss="square", cv="loo")
    assert shortcut**2 == pytest.approx(outcome.losses, rel=1e-6)


def test_row_that_determines_its_own_fit_has_no_left_out_residual():
    assert np.isnan(smoother_loo([1.0], [1.0], [1.0])).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: least_squares_loo(np.ones((3, 2)), np.ones(3)), "full column rank"),
        (lambda: smoother_loo([1.0], [1.0, 2.0], [0.1]), "per row"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
