"""The evidence and its gradient against naive formulas, finite differences and SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from corollary.gp import Observations, Search, evidence_of, learn_hyperparameters, log_evidence
from corollary.gp.exact._factor import factorise, inverse, solve
from corollary.gp.learning._maximise import maximise
from corollary.kernels import (
    RBF,
    Constant,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    RationalQuadratic,
)


def scales(d):
    return np.linspace(0.7, 1.8, d)


KERNELS = {
    "rbf": RBF(1.3),
    "scaled ard": 2.5 * RBF(scales(3)),
    "matern 1/2": Matern(scales(3), nu=0.5),
    "matern 3/2": 0.7 * Matern(scales(3), nu=1.5),
    "matern 5/2": Matern(1.1, nu=2.5),
    "rational quadratic": 2.0 * RationalQuadratic(scales(3), alpha=0.8),
    "sum": RBF(scales(3)) + 0.5 * Matern(2.0) + Constant(0.3),
    "product": (1.5 * RBF(scales(3))) * Matern(2.0, nu=2.5) * RationalQuadratic(1.0),
    "traced": 0.5 * Laplacian(scales(3)) + Polynomial(2) * Periodic(1.0, 3.0) + Linear(),
    "power": (1.2 * RBF(1.0)) ** 2,
    "map": 0.5 * RBF(1.3).with_inputs(np.tanh),  # NumPy only: differences
}


def differences(f, x, step=1e-5):
    return np.array([(f(x + e) - f(x - e)) / (2 * step) for e in step * np.eye(len(x))])


def naive(kernel, X, y, variances):
    return multivariate_normal(np.zeros(len(y)), kernel.gram(X) + np.diag(variances)).logpdf(y)


@pytest.mark.parametrize("name", ["scaled ard", "matern 1/2", "sum", "traced"])
def test_evidence_equals_the_density_and_its_gradient_differences(name, seed):
    kernel, rng = KERNELS[name], np.random.default_rng(seed)
    X, y, noise = rng.normal(size=(15, 3)), rng.normal(size=15), rng.uniform(0, 0.5, size=15)
    seen = Observations.of(X, y, noise)
    vector = np.append(kernel.parameters().vector, np.log(0.2))

    def truth(v):
        return naive(kernel.with_parameters(v[:-1]), X, y, noise + np.exp(v[-1]))

    value, gradient = evidence_of(seen, kernel, 0.2, gradient=True)
    assert value == pytest.approx(truth(vector), rel=1e-10)
    np.testing.assert_allclose(gradient, differences(truth, vector), rtol=1e-5, atol=1e-6)
    # the textbook formula, with one n x n matrix for each parameter
    K_y = kernel.gram(X) + np.diag(noise + 0.2)
    a = np.linalg.solve(K_y, y)
    inner = np.outer(a, a) - np.linalg.inv(K_y)
    assert gradient[-1] == pytest.approx(0.5 * np.trace(inner @ (0.2 * np.eye(15))), rel=1e-8)


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(2, 12))
def test_merging_equal_rows_is_exact(seed, n_points, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_points, 2))[rng.integers(n_points, size=n)]
    y, noise = rng.normal(size=n), rng.uniform(0, 1, size=n)
    kernel = 1.5 * RBF([1.0, 2.0])
    seen = Observations.of(X, y, noise)
    assert len(seen.X) == len(np.unique(X, axis=0))
    value, gradient = evidence_of(seen, kernel, 0.3, gradient=True)
    assert value == pytest.approx(naive(kernel, X, y, noise + 0.3), rel=1e-8)
    expected = differences(
        lambda v: naive(kernel.with_parameters(v[:-1]), X, y, noise + np.exp(v[-1])),
        np.append(kernel.parameters().vector, np.log(0.3)),
    )
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5)


def test_weight_counts_like_copies(seed):
    rng = np.random.default_rng(seed)
    X, y, weight = rng.normal(size=(6, 2)), rng.normal(size=6), np.array([1, 3, 2, 1, 4, 2])
    kernel = RBF([1.0, 2.0])
    a = evidence_of(Observations.of(X, y, None, weight.astype(float)), kernel, 0.1, gradient=True)
    rows = np.repeat(np.arange(6), weight)
    b = evidence_of(Observations.of(X[rows], y[rows]), kernel, 0.1, gradient=True)
    assert a[0] == pytest.approx(b[0], rel=1e-12)
    np.testing.assert_allclose(a[1], b[1], rtol=1e-9)


def test_chain_rule_of_the_evidence(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(8, 1)), rng.normal(size=8)
    K = RBF().gram(X)
    total = 0.0
    for i in range(8):  # log p(y_i | y_1 .. y_{i-1})
        C = np.linalg.inv(K[:i, :i] + 0.1 * np.eye(i))
        mean = K[i, :i] @ C @ y[:i]
        var = K[i, i] + 0.1 - K[i, :i] @ C @ K[:i, i]
        total += -0.5 * ((y[i] - mean) ** 2 / var + np.log(2 * np.pi * var))
    assert log_evidence(K, y, 0.1) == pytest.approx(total, rel=1e-10)


def test_factorise_reports_its_jitter(seed):
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(5, 5))
    K = G @ G.T
    clean = factorise(K, 0.1)
    assert clean.jitter == 0.0
    np.testing.assert_allclose(inverse(clean), np.linalg.inv(K + 0.1 * np.eye(5)), rtol=1e-8)
    b = rng.normal(size=5)
    np.testing.assert_allclose(solve(clean, b), np.linalg.solve(K + 0.1 * np.eye(5), b), rtol=1e-8)
    singular = 7.0 * np.ones((4, 4))
    found = factorise(singular, 0.0)
    assert 0 < found.jitter < 1e-8 * 7.0
    again = np.tril(found.lower) @ np.tril(found.lower).T
    np.testing.assert_allclose(again, singular + found.jitter * np.eye(4), atol=1e-12)
    assert factorise(1e6 * singular, 0.0).jitter == pytest.approx(1e6 * found.jitter)
    with pytest.raises(np.linalg.LinAlgError, match="not positive semi-definite"):
        factorise(np.array([[1.0, 2.0], [2.0, 1.0]]), 0.0)
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        factorise(np.array([[np.nan]]), 0.0)


def test_learning_reaches_a_stationary_point_and_uses_its_levels(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1040, 2))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=1040)
    seen, kernel = Observations.of(X, y), 1.0 * RBF([1.0, 1.0])
    search = Search(kernel, 0.1, True, np.full(4, -11.0), np.full(4, 11.0))
    learnt = learn_hyperparameters(seen, search, random_state=seed)
    assert learnt.converged
    value, gradient = search.evidence(seen, learnt.theta)
    assert value == pytest.approx(learnt.value)
    inside = (learnt.theta > -10.9) & (learnt.theta < 10.9)
    assert np.abs(gradient[inside]).max() < 1.0  # of a log density of a thousand rows
    assert learnt.theta[2] > 1.5  # the second feature does not matter
    assert np.exp(learnt.theta[-1]) == pytest.approx(0.09, rel=0.25)
    again = learn_hyperparameters(seen, search, random_state=seed)
    assert np.array_equal(again.theta, learnt.theta)


def test_search_ends_as_high_as_a_slow_one_in_logarithms(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 6))  # five features do not matter
    seen = Observations.of(X, np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=80))
    search = Search(1.0 * RBF(np.full(6, 2.5)), 0.1, True, np.full(8, -11.0), np.full(8, 11.0))
    learnt = learn_hyperparameters(seen, search, random_state=seed, tol=1e-9)
    bounds = np.stack([search.low, search.high], axis=1)
    slow = maximise(
        lambda t: search.evidence(seen, t), [search.theta], bounds, tol=1e-13, max_iter=1000
    )
    assert learnt.value >= slow.value - 1e-3


def test_restarts_leave_a_bad_start(seed):
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(0, 10, size=(40, 1)), axis=0)
    y = np.sin(3 * X.ravel()) + 0.1 * rng.normal(size=40)
    seen = Observations.of(X, y)
    search = Search(1.0 * RBF(8.0), 5.0, True, np.full(3, -7.0), np.full(3, 7.0))
    once = learn_hyperparameters(seen, search, random_state=seed)
    often = learn_hyperparameters(seen, search, n_restarts=8, random_state=seed)
    assert often.value >= once.value
    assert np.exp(often.theta[1]) < 2.0


def test_recovers_the_length_scale_of_a_draw(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 20, size=(250, 1))
    K = RBF(1.5).gram(X) + 0.01 * np.eye(250)
    y = np.linalg.cholesky(K) @ rng.normal(size=250)
    search = Search(1.0 * RBF(5.0), 0.1, True, np.full(3, -9.0), np.full(3, 9.0))
    learnt = learn_hyperparameters(Observations.of(X, y), search, random_state=seed)
    assert 1.0 < np.exp(learnt.theta[1]) < 2.2
    assert 0.005 < np.exp(learnt.theta[2]) < 0.02


def test_a_name_that_moved_says_where():
    with pytest.raises(ImportError, match=r"gram_with_gradient\(X\) of a kernel"):
        from corollary.gp import gram_with_gradient  # noqa: F401
