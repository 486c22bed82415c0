import numpy as np
import pytest
from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import LinearRegression, SGDRegressor
from sklearn.neighbors import KNeighborsClassifier

from corollary.risk import ERMClassifier, as_learner, as_predictor, order_sensitivity
from corollary.risk.minimise.learner import Learner


def data(seed, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X @ [1.0, -2.0, 0.5] + rng.normal(size=n)


def test_batch_learners_do_not_depend_on_the_order_of_rows(seed):
    X, y = data(seed)
    assert order_sensitivity(LinearRegression(), X, y, X, random_state=seed).changed == 0
    labels = np.where(y > 0, "yes", "no")
    for learner in (KNeighborsClassifier(), ERMClassifier(alpha=0.1)):
        result = order_sensitivity(learner, X, labels, X, random_state=seed)
        assert result.changed == 0
        assert np.isnan(result.largest_difference)


@pytest.mark.parametrize(
    "learner",
    [SGDRegressor(shuffle=False, max_iter=1, tol=None), BaggingRegressor(random_state=0)],
    ids=["online", "resampling"],
)
def test_online_and_resampling_learners_do(learner, seed):
    X, y = data(seed)
    result = order_sensitivity(learner, X, y, X, random_state=seed)
    assert result.changed > 0.5
    assert result.largest_difference > 1e-4


def test_estimators_and_functions_are_learners_alike(seed):
    X, y = data(seed)
    assert isinstance(ERMClassifier(), Learner)
    assert not isinstance(np.mean, Learner)

    def least_squares(X, y):
        coef = np.linalg.lstsq(X, y, rcond=None)[0]
        return lambda X_new: X_new @ coef

    model = LinearRegression(fit_intercept=False)
    np.testing.assert_allclose(as_learner(model)(X, y)(X), as_learner(least_squares)(X, y)(X))
    assert not hasattr(model, "coef_")  # the given estimator stays as it was


def test_methods_other_than_predict(seed):
    X, y = data(seed)
    model = ERMClassifier(alpha=0.1).fit(X, y > 0)
    np.testing.assert_array_equal(
        as_predictor(model, method="decision_function")(X), model.decision_function(X)
    )


def test_errors():
    with pytest.raises(TypeError, match="must be callable or have a 'predict' method"):
        as_predictor(3)
    with pytest.raises(TypeError, match="an estimator with fit, or a callable"):
        as_learner(LinearRegression)


def test_sensitivity_by_hand():
    def first(X, y):
        return lambda Z: np.full(len(Z), y[0])

    X, new = np.zeros((2, 1)), np.zeros((3, 1))
    how = {"n_permutations": 20, "random_state": 0}
    assert order_sensitivity(first, X, [0.0, 10.0], new, **how) == (1.0, 10.0)
    # Differences are counted above the tolerance, which is relative to predictions above 1.
    assert order_sensitivity(first, X, [0.0, 0.12], new, tol=0.1, **how).changed == 1.0
    assert order_sensitivity(first, X, [0.0, 0.08], new, tol=0.1, **how).changed == 0.0
    assert order_sensitivity(first, X, [4.0, 4.3], new, tol=0.1, **how).changed == 0.0
    assert order_sensitivity(first, X, [5.0, 5.0], new, **how) == (0.0, 0.0)
    assert order_sensitivity(first, X, ["a", "b"], new, **how).changed == 1.0
    fits = []
    order_sensitivity(lambda X, y: fits.append(1) or first(X, y), X, [0.0, 1.0], new, **how)
    assert len(fits) == 21
    # The second of three new rows alone depends on the order.
    second = lambda X, y: lambda Z: np.array([0.0, y[0], 0.0])  # noqa: E731
    assert order_sensitivity(second, X, [0.0, 3.0], new, **how) == pytest.approx((1 / 3, 3.0))
