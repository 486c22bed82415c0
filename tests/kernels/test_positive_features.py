import numpy as np
import pytest

import corollary
from corollary.core.simulate import fit_slope
from corollary.kernels import (
    RBF,
    ExponentialDot,
    Linear,
    PositiveRandomFeatures,
    linear_attention,
    positive_log_features,
    softmax_attention,
)


@pytest.mark.parametrize("kernel", [RBF(1.3), RBF([0.9, 2.0, 1.5]), ExponentialDot(0.7)])
def test_unbiased_positive_and_of_the_stated_variance(kernel, seed):
    rng = np.random.default_rng(seed)
    K = 200_000
    pair = rng.normal(size=(2, 3)) * 0.3
    x, y = np.exp(positive_log_features(pair, rng.normal(size=(K, 3)), kernel))
    terms = K * x * y
    assert (terms > 0).all()
    k = kernel(*pair)
    if isinstance(kernel, RBF):
        z = pair / kernel.length_scale
        variance = np.exp(4 * z[0] @ z[1]) - k**2
    else:
        z = pair * np.sqrt(kernel.scale)
        variance = np.exp(2 * z[0] @ z[1]) * (np.exp(np.sum((z[0] + z[1]) ** 2)) - 1)
    assert abs(terms.mean() - k) < 6 * np.sqrt(variance / K)
    spread = np.sqrt(np.var((terms - k) ** 2) / K)
    assert abs(terms.var() - variance) < 6 * spread


def test_logarithms_do_not_overflow():
    log = positive_log_features([[1e3, 0.0]], [[1e3, 0.0]], ExponentialDot())
    assert log[0, 0] == pytest.approx(1e6 - 0.5e6)


def test_transformer(seed, tmp_path):
    X = np.random.default_rng(seed).normal(size=(8, 3)) * 0.3
    model = PositiveRandomFeatures(RBF(2.0), n_components=20_000, random_state=seed).fit(X)
    Z = model.transform(X)
    assert (Z > 0).all()
    assert np.abs(Z @ Z.T - RBF(2.0).gram(X)).max() < 0.05
    corollary.save(model, tmp_path / "model")
    np.testing.assert_array_equal(corollary.load(tmp_path / "model").transform(X), Z)
    with pytest.raises(ValueError, match="'kernel' parameter"):
        PositiveRandomFeatures(Linear()).fit(X)
    with pytest.raises(TypeError, match="exist for the kernels RBF and ExponentialDot"):
        positive_log_features(X, np.zeros((2, 3)), Linear())


def test_exact_attention(seed):
    Q, K, V = np.random.default_rng(seed).normal(size=(3, 9, 4))
    S = np.exp(Q @ K.T / 2.0)
    wanted = S / S.sum(axis=1, keepdims=True) @ V
    np.testing.assert_allclose(softmax_attention(Q, K, V), wanted, rtol=1e-10)
    assert np.isfinite(softmax_attention(1e3 * Q, K, V)).all()


def test_linear_attention_tends_to_softmax(seed):
    """The error falls as the root of the number of features; weights are averages."""
    Q, K, V = 0.6 * np.random.default_rng(seed).normal(size=(3, 12, 4))
    exact = softmax_attention(Q, K, V)
    counts, errors = [64, 256, 1024, 4096], []
    for count in counts:
        runs = [
            linear_attention(Q, K, V, n_components=count, random_state=seed + r) - exact
            for r in range(40)
        ]
        errors.append(np.sqrt(np.mean(np.square(runs))))
    assert fit_slope(counts, errors).slope == pytest.approx(-0.5, abs=0.12)
    # Rows of weights sum to one: constants come back, and averages stay within the values.
    ones = linear_attention(Q, K, np.ones((12, 1)), n_components=8, random_state=seed)
    np.testing.assert_allclose(ones, 1.0, rtol=1e-12)
    some = linear_attention(Q, K, V, n_components=8, random_state=seed)
    assert (some <= V.max(axis=0) + 1e-12).all()
    assert (some >= V.min(axis=0) - 1e-12).all()


def test_linear_attention_of_long_vectors_stays_finite(seed):
    Q, K, V = np.random.default_rng(seed).normal(size=(3, 12, 4))
    assert np.isfinite(linear_attention(100 * Q, 100 * K, V, random_state=seed)).all()


def test_errors():
    with pytest.raises(ValueError, match="one value for each key"):
        softmax_attention([[1.0]], [[1.0]], [[1.0], [2.0]])
    with pytest.raises(ValueError, match="'n_components' parameter of linear_attention"):
        linear_attention([[1.0]], [[1.0]], [[1.0]], n_components=0)
