import itertools

import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel, sigmoid_kernel

from corollary.kernels import (
    ANOVA,
    ArcCosine,
    Bilinear,
    Constant,
    ExponentialDot,
    Linear,
    Polynomial,
    Sigmoid,
    TruncatedExponential,
    subset_map,
)


@pytest.fixture
def X(seed):
    return np.random.default_rng(seed).normal(size=(12, 4))


def test_peers_agree(X):
    np.testing.assert_allclose(
        Polynomial(4, offset=0.7, gamma=0.3).gram(X),
        polynomial_kernel(X, degree=4, gamma=0.3, coef0=0.7),
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        Sigmoid(0.3, offset=-0.1).gram(X), sigmoid_kernel(X, gamma=0.3, coef0=0.1), rtol=1e-12
    )
    np.testing.assert_allclose(Linear().gram(X), X @ X.T, rtol=1e-13)
    assert (Constant(3.0).gram(X) == 3.0).all()


def test_sigmoid_is_flagged_and_has_a_negative_eigenvalue():
    K = Sigmoid(1.0, offset=0.0).gram([[1.0], [2.0], [3.0]])
    assert np.linalg.eigvalsh(K)[0] == pytest.approx(-0.139, abs=5e-4)
    assert not Sigmoid().positive_semidefinite
    assert not (Linear() + 2.0 * Sigmoid()).positive_semidefinite
    assert (Linear() + 2.0 * Polynomial()).positive_semidefinite


def test_truncated_series_tends_to_the_exponential(X):
    """Uniformly on bounded sets: the tail of the series at the largest product bounds the error."""
    wanted = ExponentialDot(0.5).gram(X)
    t = 0.5 * np.abs(X @ X.T).max()
    last = np.inf
    for degree in (2, 5, 10, 40):
        error = np.abs(TruncatedExponential(degree, scale=0.5).gram(X) - wanted).max()
        tail = t ** (degree + 1) / np.prod(np.arange(1.0, degree + 2)) * np.exp(t)
        assert error <= tail + 1e-12
        assert error <= last
        last = error
    assert last < 1e-10
    np.testing.assert_allclose(TruncatedExponential(0).gram(X), 1.0)


def test_anova_is_the_sum_over_subsets(X):
    x, y = X[0], X[1]
    total = sum(
        np.prod(x[list(subset)] * y[list(subset)])
        for k in range(5)
        for subset in itertools.combinations(range(4), k)
    )
    assert ANOVA()(x, y) == pytest.approx(total)
    features = subset_map(X)
    assert features.shape == (12, 16)
    np.testing.assert_allclose(features @ features.T, ANOVA().gram(X), rtol=1e-10)


def test_anova_on_bits_counts_shared_subsets(seed):
    bits = np.random.default_rng(seed).integers(0, 2, size=(6, 10))
    shared = bits @ bits.T
    np.testing.assert_array_equal(ANOVA().gram(bits), 2.0**shared)
    # A monotone disjunctive normal form is a disjunction of features: x0 x2 or x1.
    features = subset_map(bits[:, :3])
    dnf = (bits[:, 0] & bits[:, 2]) | bits[:, 1]
    np.testing.assert_array_equal(features[:, 5] + features[:, 2] > 0, dnf > 0)


def test_bilinear_is_linear_in_features(X, seed):
    R = np.random.default_rng(seed).normal(size=(4, 2))
    A = R @ R.T
    np.testing.assert_allclose(Bilinear(A).gram(X), (X @ R) @ (X @ R).T, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="must be symmetric"):
        Bilinear([[1.0, 1.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match=r"positive semi-definite\. Its smallest eigenvalue is -1"):
        Bilinear([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match="square matrix"):
        Bilinear([1.0, 2.0])
    with pytest.raises(ValueError, match=r"vectors of length 4\. Got 3"):
        Bilinear(A).gram(X[:, :3])


def test_arc_cosine_values():
    kernel = ArcCosine()
    x = np.array([3.0, -1.0, 2.0])
    assert kernel(x, 7 * x) == 1.0
    assert kernel(x, -0.1 * x) == pytest.approx(0.0, abs=1e-15)
    assert kernel([1.0, 0.0], [0.0, 5.0]) == pytest.approx(0.5)
    assert kernel([1e-200, 0.0], [1e200, 1e200]) == pytest.approx(0.75)
    with pytest.raises(ValueError, match="the zero vector has none"):
        kernel.gram([[0.0, 0.0], [1.0, 0.0]])


def test_arc_cosine_is_a_probability(seed):
    """P(sign <u, x> = sign <u, y>) for u uniform on the sphere."""
    from corollary.core.simulate import assert_share_equals

    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 3))
    U = rng.normal(size=(20_000, 3))
    same = int(((U @ x >= 0) == (U @ y >= 0)).sum())
    assert_share_equals(same, 20_000, ArcCosine()(x, y))


@pytest.mark.parametrize("degree", [0, -1, 1.5, True, "2"])
def test_bad_degrees_are_refused(degree):
    with pytest.raises(ValueError, match="'degree' parameter of Polynomial must be an int"):
        Polynomial(degree)


def test_negative_offsets_and_constants_are_refused():
    with pytest.raises(ValueError, match=r"'offset' parameter of Polynomial.*\[0.0, inf\)"):
        Polynomial(2, offset=-0.1)
    with pytest.raises(ValueError, match="'value' parameter of Constant"):
        Constant(-1.0)
    with pytest.raises(ValueError, match="'scale' parameter of ExponentialDot"):
        ExponentialDot(0.0)
