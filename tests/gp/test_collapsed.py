"""The collapsed bound: below the evidence, equal to it at Z = X, with the right gradient."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corollary.core.summary import reduce_blocks
from corollary.gp import (
    InducingSums,
    collapsed_bound,
    gp_posterior,
    inducing_law,
    log_evidence,
)
from corollary.gp.sparse._blocks import row_blocks
from corollary.kernels import RBF, Constant, Laplacian, Linear, Matern, Periodic, RationalQuadratic

KERNELS = [
    2.0 * RBF([0.8, 1.4]),
    1.5 * Matern(1.2, nu=2.5) + 0.3 * Linear(),
    RBF(1.0) * RationalQuadratic(2.0) + Constant(0.3),
    Matern([1.0, 2.0], nu=1.5),
    Matern(1.0, nu=0.5),
    Periodic(1.0, 2.0) * RBF([1.0, 2.0]),
]


class Untraceable(Laplacian):
    """A kernel whose Gram matrix JAX cannot follow."""

    def _evaluate(self, P, Q, same):
        return np.asarray(super()._evaluate(P, Q, same), dtype=float)


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=60)
    return X, y, rng.normal(size=(7, 2)), rng.integers(1, 4, 60).astype(float)


def differences(function, x, step=1e-5):
    gradient = np.empty(x.size)
    for i in range(x.size):
        shift = np.zeros(x.size)
        shift[i] = step
        shift = shift.reshape(x.shape)
        gradient[i] = (function(x + shift) - function(x - shift)) / (2 * step)
    return gradient.reshape(x.shape)


def naive_bound(K, cross, inner, y, variance):
    """Titsias' formula with n x n matrices."""
    Q = cross @ np.linalg.solve(inner, cross.T)
    return log_evidence(Q, y, variance) - 0.5 * np.trace(K - Q) / variance


@given(st.integers(0, 2**32 - 1), st.integers(1, 25), st.integers(1, 25), st.floats(-3, 1))
@settings(max_examples=60, deadline=None)
def test_bound_never_exceeds_the_evidence(entropy, n, m, log_noise):
    rng = np.random.default_rng(entropy)
    d = int(rng.integers(1, 4))
    X, Z = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    y, variance = 2.0 * rng.normal(size=n), 10.0**log_noise
    kernel = float(rng.uniform(0.2, 3)) * RBF(rng.uniform(0.2, 3, size=d))
    exact = log_evidence(kernel.gram(X), y, variance)
    slack = 1e-8 * max(1.0, abs(exact))
    assert collapsed_bound(kernel, variance, Z, X, y).value <= exact + slack
    at_rows = collapsed_bound(kernel, variance, X, X, y, jitter=1e-12).value
    assert at_rows <= exact + slack
    assert at_rows == pytest.approx(exact, rel=1e-5, abs=1e-5)
    # More points never hurt.
    more = np.concatenate([Z, rng.normal(size=(2, d))])
    low, high = (collapsed_bound(kernel, variance, P, X, y).value for P in (Z, more))
    assert low <= high + 1e-5 * max(1.0, abs(high))


def test_bound_equals_the_dense_formula(data):
    X, y, Z, _ = data
    kernel = KERNELS[0]
    inner = kernel.gram(Z) + 1e-8 * 2.0 * np.eye(len(Z))
    expected = naive_bound(kernel.gram(X), kernel.gram(X, Z), inner, y, 0.3)
    assert collapsed_bound(kernel, 0.3, Z, X, y).value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kernel", [*KERNELS, Untraceable([0.8, 1.4])])
def test_gradient_equals_differences(data, kernel):
    X, y, Z, weight = data
    vector, log_variance = kernel.parameters().vector, np.array([np.log(0.3)])

    def value(vector=vector, log_variance=log_variance, Z=Z):
        variance = float(np.exp(log_variance[0]))
        return collapsed_bound(kernel.with_parameters(vector), variance, Z, X, y, weight).value

    found = collapsed_bound(kernel, 0.3, Z, X, y, weight, gradient=True)
    expected = differences(lambda v: value(vector=v), vector)
    np.testing.assert_allclose(found.by_parameters, expected, rtol=1e-5, atol=1e-5)
    expected = differences(lambda v: value(log_variance=v), log_variance)
    assert found.by_log_variance == pytest.approx(expected[0], rel=1e-6)
    expected = differences(lambda P: value(Z=P), Z)
    np.testing.assert_allclose(found.by_points, expected, rtol=1e-5, atol=1e-5)


def test_posterior_at_all_rows_is_the_exact_one(data):
    X, y, _, _ = data
    kernel, new = KERNELS[0], np.array([[0.1, 0.2], [3.0, -2.0]])
    exact = gp_posterior(kernel.gram(X), y, 0.2, kernel.gram(new, X), kernel.gram(new))
    sums = InducingSums.at(kernel, X, jitter=1e-13).update((X, y, None))
    law = inducing_law(sums, 0.2)
    cross = kernel.gram(new, X)
    np.testing.assert_allclose(cross @ law.weights, exact.mean, rtol=1e-6, atol=1e-6)
    V = np.linalg.solve(sums.root, cross.T)
    U = np.linalg.solve(law.inner_root, V)
    covariance = kernel.gram(new) - V.T @ V + U.T @ U
    np.testing.assert_allclose(covariance, exact.covariance, rtol=1e-5, atol=1e-6)


def test_weights_count_like_repeated_rows(data):
    X, y, Z, weight = data
    times = weight.astype(int)
    a = collapsed_bound(KERNELS[0], 0.3, Z, X, y, weight, gradient=True)
    b = collapsed_bound(
        KERNELS[0], 0.3, Z, np.repeat(X, times, axis=0), np.repeat(y, times), gradient=True
    )
    for left, right in zip(a, b):
        np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9)


def test_threads_and_blocks_do_not_change_bits(data):
    rng = np.random.default_rng(1)
    X, y, Z = rng.normal(size=(9000, 3)), rng.normal(size=9000), rng.normal(size=(64, 3))
    one, two = (
        collapsed_bound(2.0 * RBF(1.0), 0.1, Z, X, y, gradient=True, n_jobs=jobs) for jobs in (1, 2)
    )
    for left, right in zip(one, two):
        np.testing.assert_array_equal(left, right)


def test_sums_obey_the_laws_of_summaries(data):
    X, y, Z, weight = data
    empty = InducingSums.at(KERNELS[0], Z)
    whole = empty.update((X, y, weight))
    parts = empty.update((X[:20], y[:20], weight[:20])).update((X[20:], y[20:], weight[20:]))
    merged = empty.merge(parts).merge(parts.empty())
    for name in ("weight", "products", "moment", "square", "left"):
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), rtol=1e-10)


def test_blocks_are_bounded_in_memory():
    X = np.zeros((100_000, 1))
    sizes = [len(rows) for (rows,) in row_blocks(512, X)]
    assert sum(sizes) == len(X)
    assert max(sizes) * 512 * 8 <= 2 * 2**20


def test_small_noise_and_coinciding_points_keep_their_digits():
    # With features that are not whitened, rounding makes the inner matrix indefinite here.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 1))
    Z = np.concatenate([np.linspace(-3, 3, 30), np.linspace(-3, 3, 30) + 1e-7])[:, None]
    kernel, y = 100.0 * RBF(2.0), np.sin(X.ravel())
    sums = reduce_blocks(InducingSums.at(kernel, Z), row_blocks(len(Z), X, y, None))
    law = inducing_law(sums, 1e-5)
    mean = kernel.gram(X[:100], Z) @ law.weights
    np.testing.assert_allclose(mean, y[:100], atol=1e-3)
    assert np.isfinite(law.bound)


@pytest.mark.filterwarnings("ignore:overflow")
def test_numbers_that_are_not_finite_are_an_error(data):
    _, _, Z, _ = data
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        InducingSums.at(np.finfo(float).max * Linear(), 10.0 * Z)
