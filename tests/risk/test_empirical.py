import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from corollary.risk import empirical_risk, regularised_risk


def test_by_hand():
    assert empirical_risk([1.0, 2.0, 4.0], [1.0, 1.0, 1.0], "square") == 10 / 3
    assert empirical_risk(["a", "b"], ["a", "a"]) == 0.5


def test_callables_get_arrays_for_lists():
    def gap(y, p):
        return abs(y - p)

    assert empirical_risk([1.0, 2.0], [0.0, 0.0], gap) == 1.5
    assert empirical_risk((1.0, 2.0), (0.0, 0.0), gap, sample_weight=[3, 1]) == 1.25
    assert empirical_risk([1.0, 2.0], np.zeros(2), lambda y, p: (y - p) ** 2) == 2.5


@given(st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any))
def test_a_weight_is_a_repetition(weights):
    y, f = np.array([1.0, 2.0, 3.0]), np.array([0.5, 2.5, 0.0])
    repeated = empirical_risk(np.repeat(y, weights), np.repeat(f, weights), "square")
    assert np.isclose(empirical_risk(y, f, "square", sample_weight=weights), repeated)


def test_perceptron_risk_is_zero_exactly_on_separating_predictors(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2))
    w = np.array([1.0, -1.0])
    y = np.where(X @ w >= 0, 1, -1)
    assert empirical_risk(y, X @ w, "perceptron") == 0
    assert empirical_risk(y, X @ (0 * w), "perceptron") == 0  # trivially
    assert empirical_risk(y, X @ -w, "perceptron") > 0


@pytest.mark.parametrize("loss", ["square", "logistic", "squared_hinge", "exponential"])
@pytest.mark.parametrize("average", [False, True])
def test_gradient_equals_finite_differences(loss, average, seed):
    rng = np.random.default_rng(seed)
    X, y, w, b = rng.normal(size=(9, 3)), rng.choice([-1, 1], 9), rng.normal(size=3), 0.3
    kwargs = {"loss": loss, "alpha": 0.7, "average": average, "sample_weight": rng.uniform(1, 2, 9)}
    found = regularised_risk(w, X, y, intercept=b, **kwargs)
    h = 1e-6
    for k in range(3):
        step = h * np.eye(3)[k]
        up = regularised_risk(w + step, X, y, intercept=b, **kwargs).value
        down = regularised_risk(w - step, X, y, intercept=b, **kwargs).value
        assert np.isclose(found.gradient[k], (up - down) / (2 * h), rtol=1e-5)
    up = regularised_risk(w, X, y, intercept=b + h, **kwargs).value
    down = regularised_risk(w, X, y, intercept=b - h, **kwargs).value
    assert np.isclose(found.intercept_gradient, (up - down) / (2 * h), rtol=1e-5)


def test_ridge_objective_is_a_sum(seed):
    rng = np.random.default_rng(seed)
    X, y, w = rng.normal(size=(9, 3)), rng.normal(size=9), rng.normal(size=3)
    found = regularised_risk(w, X, y, "square", alpha=0.7)
    assert np.isclose(found.value, np.sum((y - X @ w) ** 2) + 0.7 * w @ w)
    np.testing.assert_allclose(found.gradient, -2 * X.T @ (y - X @ w) + 1.4 * w)
    ridge = np.linalg.solve(X.T @ X + 0.7 * np.eye(3), X.T @ y)
    np.testing.assert_allclose(regularised_risk(ridge, X, y, alpha=0.7).gradient, 0, atol=1e-12)


def test_lasso_penalty_sparse_inputs_and_class_scores(seed):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(9, 3)) * (rng.uniform(size=(9, 3)) > 0.5), np.array([1.0, 0.0, -2.0])
    y = rng.normal(size=9)
    dense = regularised_risk(w, X, y, alpha=0.5, penalty="l1")
    assert np.isclose(dense.value, np.sum((y - X @ w) ** 2) + 0.5 * 3)
    thin = regularised_risk(w, sparse.csr_matrix(X), y, alpha=0.5, penalty="l1")
    assert np.isclose(thin.value, dense.value)
    np.testing.assert_allclose(thin.gradient, dense.gradient)
    W, codes = rng.normal(size=(3, 4)), rng.integers(4, size=9)
    found = regularised_risk(W, X, codes, "cross_entropy", alpha=0.1)
    scores = X @ W
    direct = sum(np.log(np.exp(s).sum()) - s[c] for s, c in zip(scores, codes))
    assert np.isclose(found.value, direct + 0.1 * (W**2).sum())
    assert found.gradient.shape == (3, 4)
    assert found.intercept_gradient.shape == (4,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: empirical_risk([], []), "at least one row"),
        (lambda: empirical_risk([1], [1], sample_weight=[1, 2]), "needs 1 sample weights"),
        (lambda: empirical_risk([1], [1], sample_weight=[-1]), "non-negative sample weights"),
        (lambda: empirical_risk([1], [1], sample_weight=[0]), "not all zero"),
        (lambda: regularised_risk([1.0], [[1.0]], [1.0], penalty="l3"), "'penalty' parameter"),
        (lambda: regularised_risk([1.0], [[1.0]], [1.0], alpha=-1), "'alpha' parameter"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_regularised_risk_by_hand():
    X, y, w = [[1.0], [2.0]], [0.0, 1.0], [3.0]
    # Losses 9 and 25, slopes 2 times 3 and 5, penalty 0.5 times 9.
    total = regularised_risk(w, X, y, alpha=0.5)
    assert total.value == pytest.approx(34 + 4.5)
    assert total.gradient == pytest.approx([6 * 1 + 10 * 2 + 3])
    assert total.intercept_gradient == pytest.approx(16)
    mean = regularised_risk(w, X, y, alpha=0.5, average=True)
    assert mean.value == pytest.approx(17 + 4.5)
    assert mean.gradient == pytest.approx([13 + 3])
    assert mean.intercept_gradient == pytest.approx(8)
    weighted = regularised_risk(w, X, y, alpha=0.5, sample_weight=[3.0, 1.0], average=True)
    assert weighted.value == pytest.approx(52 / 4 + 4.5)
    lasso = regularised_risk([-3.0], X, y, alpha=0.5, penalty="l1")
    assert lasso.value == pytest.approx(9 + 49 + 1.5)
    assert lasso.gradient == pytest.approx([-6 * 1 - 14 * 2 - 0.5])
