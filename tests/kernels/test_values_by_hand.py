"""Each kernel at two points, by hand."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from corollary.kernels import (
    ANOVA,
    RBF,
    ArcCosine,
    ArcCosineFeatures,
    Bhattacharyya,
    Bilinear,
    Constant,
    Diffusion,
    EdgeCount,
    ExponentialDot,
    HellingerRBF,
    KernelRidge,
    Laplacian,
    Linear,
    Matern,
    Normalised,
    Periodic,
    Polynomial,
    RandomFourierFeatures,
    RationalQuadratic,
    Sigmoid,
    Spectrum,
    Subsequence,
    TruncatedExponential,
    arc_cosine_features,
    feature_count,
    from_feature_map,
    gram_features,
    graph_laplacian,
    invariance_test,
    polynomial_map,
    psd_test,
)

# Inner products 5, 1, 1, 10; squared distances 0, 13, 13, 0; distances along the axes 2 and 3.
X = np.array([[1.0, 2.0], [3.0, -1.0]])
ROOT = math.sqrt(13)


def around(diagonal, beside):
    """The matrix of two points with one value beside the diagonal."""
    return np.array([[diagonal, beside], [beside, diagonal]])


VALUES = {
    "linear": (Linear(), [[5.0, 1.0], [1.0, 10.0]]),
    "constant": (Constant(3.0), around(3.0, 3.0)),
    "polynomial": (Polynomial(degree=2, offset=3.0, gamma=0.5), [[30.25, 12.25], [12.25, 64.0]]),
    "rbf": (RBF(2.0), around(1.0, math.exp(-13 / 8))),
    "laplacian": (Laplacian(2.0), around(1.0, math.exp(-5 / 2))),
    "matern 1/2": (Matern(length_scale=2.0, nu=0.5), around(1.0, math.exp(-ROOT / 2))),
    "matern 3/2": (
        Matern(length_scale=2.0, nu=1.5),
        around(1.0, (1 + math.sqrt(39) / 2) * math.exp(-math.sqrt(39) / 2)),
    ),
    "matern 5/2": (
        Matern(length_scale=2.0, nu=2.5),
        around(1.0, (1 + math.sqrt(65) / 2 + 65 / 12) * math.exp(-math.sqrt(65) / 2)),
    ),
    "rational quadratic": (
        RationalQuadratic(length_scale=2.0, alpha=0.5),
        around(1.0, (1 + 13 / 4) ** -0.5),
    ),
    "scaled": (3.0 * RBF(2.0), around(3.0, 3 * math.exp(-13 / 8))),
    "exponential": (ExponentialDot(0.5), np.exp([[2.5, 0.5], [0.5, 5.0]])),
    "series": (
        TruncatedExponential(degree=2, scale=0.5),
        [[1 + 2.5 + 3.125, 1.625], [1.625, 1 + 5 + 12.5]],
    ),
    "sigmoid": (Sigmoid(scale=0.5, offset=1.0), np.tanh([[1.5, -0.5], [-0.5, 4.0]])),
    "bilinear": (Bilinear([[2.0, 0.0], [0.0, 3.0]]), [[14.0, 0.0], [0.0, 21.0]]),
    "arc cosine": (ArcCosine(), around(1.0, 1 - math.acos(1 / math.sqrt(50)) / math.pi)),
    "anova": (ANOVA(), [[2 * 5, 4 * -1], [4 * -1, 10 * 2]]),
    "normalised": (Normalised(Linear()), around(1.0, 1 / math.sqrt(50))),
    "features": (from_feature_map(lambda Z: 2.0 * Z**2), [[68.0, 52.0], [52.0, 328.0]]),
}


@pytest.mark.parametrize("name", VALUES)
def test_vectors(name):
    kernel, expected = VALUES[name]
    expected = np.array(expected)
    assert kernel.gram(X) == pytest.approx(expected)
    assert kernel.gram(X, X[1:]) == pytest.approx(expected[:, 1:])
    assert kernel.gram(X[:1], X) == pytest.approx(expected[:1])
    assert kernel.diag(X) == pytest.approx(np.diag(expected))
    in_jax = np.asarray(kernel.gram(jnp.asarray(X), jnp.asarray(X)))
    assert pytest.approx(expected, rel=1e-4, abs=1e-3) == in_jax


def test_two_single_inputs():
    assert RBF(2.0)([1.0, 2.0], [3.0, -1.0]) == pytest.approx(math.exp(-13 / 8))
    assert Linear()([1.0, 2.0], [3.0, -1.0]) == 1.0
    assert Linear()(2.0, [[3.0]]) == 6.0
    traced = jax.jit(lambda scale: RBF(scale).gram(X))(2.0)
    assert pytest.approx(around(1.0, math.exp(-13 / 8)), rel=1e-4) == np.asarray(traced)


def test_what_is_drawn_to_refute():
    # The first set is a quarter as large, and two points at least; minus one is no kernel.
    for n_points, size in ((4, 2), (20, 5)):
        found = psd_test(lambda x, y: -1.0, n_points=n_points, n_features=3, random_state=0)
        assert (found.passed, found.witness.shape) == (False, (size, 3))
        assert found.smallest_eigenvalue == pytest.approx(-1.0)
        assert abs(found.weights.sum()) == pytest.approx(math.sqrt(size))
    points = set()

    def constant(x, y):
        points.update([tuple(x), tuple(y)])
        return 1.0

    found = invariance_test(constant, n_features=2, n_points=3, n_trials=4, random_state=0)
    assert found.isotropic
    assert len(points) == 3 * 3 * 4  # drawn, shifted and rotated


def test_small_matrices_have_features():
    for method in ("eigen", "cholesky"):
        found = gram_features([[4e-12]], method=method)
        assert (found.rank, found.features.item()) == (1, pytest.approx(2e-6))


def test_random_features():
    assert arc_cosine_features([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]], [[2.0, 5.0]]).tolist() == [
        [1.0, 0.0],
        [0.0, 1.0],
        [1.0, 0.0],
    ]
    four = arc_cosine_features([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    assert four.tolist() == [[0.5, 0.5, 0.0, 0.5, 0.0, 0.0, 0.5, 0.0]]
    # Squares of sine and cosine add up to the mass of the kernel.
    for mass, kernel in ((1.0, RBF(2.0)), (3.0, 3.0 * RBF(2.0))):
        maps = RandomFourierFeatures(kernel, n_components=7, random_state=0).fit(X)
        assert maps.transform(X).shape == (2, 14)
        assert (maps.transform(X) ** 2).sum(axis=1) == pytest.approx([mass, mass])
    signs = ArcCosineFeatures(n_components=7, random_state=0).fit(X)
    assert (signs.transform(X) ** 2).sum(axis=1) == pytest.approx([1.0, 1.0])


def test_kernel_ridge():
    # y / (k + alpha) for one row; a penalty for each target.
    one = KernelRidge(kernel="linear", alpha=2.0).fit([[1.0]], [3.0])
    assert one.predict([[2.0]]) == pytest.approx([2.0])
    two = KernelRidge(kernel="linear", alpha=[2.0, 1.0]).fit([[1.0]], [[3.0, 4.0]])
    assert two.predict([[2.0]]) == pytest.approx(np.array([[2.0, 4.0]]))
    assert two.dual_coef_ == pytest.approx(np.array([[1.0, 2.0]]))


def test_periods():
    kernel = Periodic(length_scale=2.0, period=3.0)
    expected = math.exp(-2 * math.sin(math.pi / 3) ** 2 / 4)
    points = np.array([[0.0], [1.0], [3.0]])
    for array in (np.asarray, jnp.asarray):
        K = np.asarray(kernel.gram(array(points), array(points)))
        assert K[0] == pytest.approx([1.0, expected, 1.0], rel=1e-4)


def test_angles_near_the_ends():
    # A cosine that rounds to 1 keeps its angle.
    points = np.array([[1.0, 0.0], [1.0, 1e-9], [-1.0, 1e-9]])
    K = ArcCosine().gram(points, points)
    assert K[0] == pytest.approx([1.0, 1 - 1e-9 / math.pi, 1e-9 / math.pi], rel=1e-6, abs=1e-13)


def test_zero_has_no_direction():
    K = Normalised(Linear()).gram([[0.0, 0.0], [1.0, 0.0]])
    assert K.tolist() == [[0.0, 0.0], [0.0, 1.0]]


def test_structures():
    # A path of three nodes: 1 and 2 have degrees 1 and 2; loops do not count.
    path = np.array([[5.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    assert graph_laplacian(path).tolist() == [[1, -1, 0], [-1, 2, -1], [0, -1, 1]]
    two = Diffusion([[0.0, 1.0], [1.0, 0.0]], 0.5).gram([0, 1])
    decay = math.exp(-1.0)
    assert two == pytest.approx(around((1 + decay) / 2, (1 - decay) / 2))
    laws = np.array([[0.25, 0.75], [1.0, 0.0]])
    assert Bhattacharyya().gram(laws) == pytest.approx(around(1.0, 0.5))
    assert HellingerRBF(2.0).gram(laws) == pytest.approx(around(1.0, math.exp(-0.5 / 8)))
    assert Spectrum(2).gram(["abab", "ab"]) == pytest.approx(np.array([[5.0, 2.0], [2.0, 1.0]]))
    # Of two letters "aab" has "ab" twice, over two and three places, and "aa".
    K = Subsequence(2, decay=0.5).gram(["ab", "aab"])
    across = 0.5**4 + 0.5**5
    assert pytest.approx(np.array([[0.5**4, across], [across, 0.375**2 + 0.5**4]])) == K
    graphs = np.array([path > 0, path > 0], dtype=float)
    graphs[:, 0, 0] = graphs[1, 1, 2] = graphs[1, 2, 1] = 0.0
    assert EdgeCount().gram(graphs) == pytest.approx(np.array([[2.0, 1.0], [1.0, 1.0]]))


def test_numbers_of_features():
    # 2 (0.5 / 2)^2 = 1/8 for each feature; log(20) and log(60) eighths.
    assert feature_count(0.5, 0.1) == pytest.approx((24, 2 * math.exp(-3)))
    assert feature_count(0.5, 0.1, n_pairs=3) == pytest.approx((33, 6 * math.exp(-33 / 8)))
    assert feature_count(0.5, 0.1, form="arc_cosine") == pytest.approx((6, 2 * math.exp(-3)))
    assert feature_count(1.0, 0.1, form="phase") == pytest.approx((24, 2 * math.exp(-3)))
    assert feature_count(1.0, 0.1, mass=2.0) == pytest.approx((24, 2 * math.exp(-3)))
    assert feature_count(9.0, 0.9).n_components == 1


def test_feature_maps():
    # (2 xy + 3)^2 = 4 x^2 y^2 + 12 xy + 9.
    features = polynomial_map([[5.0]], 2, offset=3.0, gamma=2.0)
    assert features == pytest.approx(np.array([[3.0, 5 * math.sqrt(12), 50.0]]))
    cubic = polynomial_map([[2.0]], 3)
    assert cubic == pytest.approx(np.array([[1.0, 2 * math.sqrt(3), 4 * math.sqrt(3), 8.0]]))


def test_angles_in_jax():
    points = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0], [-1.0, 0.0]])
    K = np.asarray(ArcCosine().gram(jnp.asarray(points), jnp.asarray(points[:2])))
    assert pytest.approx(np.array([[1, 0.5], [0.5, 1], [1, 0.5], [0, 0.5]]), abs=1e-3) == K
    slope = jax.grad(lambda x: ArcCosine().gram(x[None], jnp.asarray(points[:1]))[0, 0])
    assert np.all(np.isfinite(slope(jnp.asarray(points[2]))))
