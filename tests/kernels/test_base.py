import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

import corollary
from corollary.kernels import (
    RBF,
    Columns,
    Constant,
    Kernel,
    KernelRidge,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    RationalQuadratic,
    from_feature_map,
)
from corollary.kernels import _arrays as arrays
from corollary.representation import to_pairwise
from tests.kernels.kernels_at_hand import FORMULAS, SCALES, brute_force

KERNELS = pytest.mark.parametrize("name", FORMULAS)
COMPOSITE = (
    2.0 * RBF(SCALES) * Periodic(period=2.0)
    + Matern(nu=1.5)
    + Polynomial(2)
    + (0.3 * RationalQuadratic()).normalised()
    + 0.5
)


@KERNELS
def test_gram_is_the_formula(name, seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    kernel, formula = FORMULAS[name]
    np.testing.assert_allclose(kernel.gram(X, Y), brute_force(formula, X, Y), rtol=1e-12)
    np.testing.assert_allclose(kernel.gram(X), brute_force(formula, X, X), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.diag(X), np.diag(brute_force(formula, X, X)), rtol=1e-12)
    assert kernel(X[0], Y[1]) == pytest.approx(formula(X[0], Y[1]), rel=1e-12)


@KERNELS
def test_tiles_agree_with_one_piece(name, seed, monkeypatch):
    """Many tiles, ragged at the ends, and one tile give the same matrix, exactly symmetric."""
    X = np.random.default_rng(seed).normal(size=(53, 3))
    kernel, formula = FORMULAS[name]
    monkeypatch.setattr(arrays, "TILE_ROWS", 8)
    monkeypatch.setattr(arrays, "TILE_COLUMNS", 16)
    monkeypatch.setattr(arrays, "TILE_SQUARE", 8)
    K = kernel.gram(X)
    np.testing.assert_allclose(K, brute_force(formula, X, X), rtol=1e-11, atol=1e-13)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(
        kernel.gram(X, X[:29]), brute_force(formula, X, X[:29]), rtol=1e-11, atol=1e-13
    )


def test_threads_do_not_change_a_bit(seed, monkeypatch):
    X = np.random.default_rng(seed).normal(size=(900, 3))
    many = COMPOSITE.gram(X)
    monkeypatch.setattr("corollary.core.parallel.threads.available_cores", lambda: 1)
    np.testing.assert_array_equal(COMPOSITE.gram(X), many)


def test_gradients_are_finite_at_equal_rows(seed):
    """At distance zero the square root has an infinite slope, which must not become NaN."""
    import jax

    X = np.random.default_rng(seed).normal(size=(4, 3))
    X[1] = X[0]
    vectors = {name: kernel.parameters().vector for name, (kernel, _) in FORMULAS.items()}

    def everything(v, Z):
        return {
            name: jax.grad(
                lambda v, Z, kernel=kernel: kernel.with_parameters(v).gram(Z).sum(), (0, 1)
            )(v[name], Z)
            for name, (kernel, _) in FORMULAS.items()
        }

    found = jax.jit(everything)(vectors, jax.numpy.asarray(X))
    for name, gradients in found.items():
        for gradient in gradients:
            assert np.isfinite(np.asarray(gradient)).all(), name


def test_far_from_the_origin_single_precision_is_enough(seed):
    """Rows are centred before their inner products are formed, in JAX too."""
    import jax

    X = np.random.default_rng(seed).integers(-4, 5, size=(5, 2)) / 4.0
    near, far = (jax.numpy.asarray(Z, dtype="float32") for Z in (X, X + 4096.0))
    np.testing.assert_allclose(RBF().gram(far), RBF().gram(near), atol=1e-3)


def test_numpy_rows_and_traced_hyper_parameters(seed):
    import jax

    X = np.random.default_rng(seed).normal(size=(4, 2))
    slope = jax.grad(lambda v: RBF().with_parameters(v).gram(X).sum())(jax.numpy.zeros(1))
    r2 = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    assert float(slope[0]) == pytest.approx((r2 * np.exp(-r2 / 2)).sum(), rel=1e-5)


def test_gradient_in_hyper_parameters_is_the_slope(seed):
    import jax

    X = np.random.default_rng(seed).normal(size=(6, 3))
    vector = COMPOSITE.parameters().vector

    def total(v, Z):
        return (COMPOSITE.with_parameters(v).gram(Z) ** 2).sum()

    with jax.enable_x64(True):
        slope = jax.jit(jax.grad(total))(jax.numpy.asarray(vector), jax.numpy.asarray(X))
        h = 1e-6
        for i, e in enumerate(np.eye(len(vector))):
            wanted = (total(vector + h * e, X) - total(vector - h * e, X)) / (2 * h)
            assert float(slope[i]) == pytest.approx(wanted, rel=1e-6, abs=1e-6)


def test_parameters_are_named_and_come_back():
    found = COMPOSITE.parameters()
    assert found.names[:4] == (
        "terms[0].factors[0].scale",
        "terms[0].factors[0].kernel.length_scale[0]",
        "terms[0].factors[0].kernel.length_scale[1]",
        "terms[0].factors[0].kernel.length_scale[2]",
    )
    assert found.values[0] == 2.0
    assert found.vector[0] == np.log(2.0)
    assert found.bounds.shape == (len(found.names), 2)
    assert (found.bounds[:, 0] < found.vector).all()
    again = COMPOSITE.with_parameters(found.vector).parameters()
    np.testing.assert_allclose(again.values, found.values, rtol=1e-14)
    doubled = COMPOSITE.with_parameters(found.vector + np.log(2.0))
    np.testing.assert_allclose(doubled.parameters().values, 2 * found.values)
    with pytest.raises(ValueError, match=r"has 1 hyper-parameters.*Got an array of shape \(2,\)"):
        RBF().with_parameters([0.0, 1.0])


def test_a_parameter_that_is_not_positive_keeps_its_scale():
    from corollary.kernels import Sigmoid

    found = Sigmoid(2.0, offset=-3.0).parameters()
    np.testing.assert_allclose(found.vector, [np.log(2.0), -3.0])
    assert Sigmoid().with_parameters(found.vector).offset == -3.0


def test_equality_and_hash_are_by_value():
    assert RBF([1.0, 2.0]) == RBF(np.array([1.0, 2.0]))
    assert RBF([1.0, 2.0]) != RBF([1.0, 3.0])
    assert RBF(1.0) != Matern(1.0)
    assert len({RBF([1.0, 2.0]), RBF([1.0, 2.0]), RBF()}) == 2
    assert pickle.loads(pickle.dumps(COMPOSITE)) == COMPOSITE
    assert clone(KernelRidge(kernel=COMPOSITE)).kernel == COMPOSITE


def test_parameters_cannot_be_changed():
    scales = np.array([1.0, 2.0])
    kernel = RBF(scales)
    scales[0] = 5.0
    assert kernel.length_scale[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        kernel.length_scale[0] = 3.0
    with pytest.raises(AttributeError):
        kernel.length_scale = 3.0


def test_composites_can_be_saved(tmp_path):
    kernel = (COMPOSITE**2).polynomial([0.0, 1.0]) * Linear().exp().with_inputs(Columns((0,)))
    corollary.save(KernelRidge(kernel=kernel), tmp_path / "model")
    assert corollary.load(tmp_path / "model").kernel == kernel


def test_a_kernel_of_a_function_cannot_be_saved(tmp_path):
    model = KernelRidge(kernel=from_feature_map(np.tanh))
    with pytest.raises(TypeError, match="cannot be saved"):
        corollary.save(model, tmp_path / "model")


@pytest.mark.parametrize(
    "bad", [0.0, -1.0, np.nan, np.inf, True, "wide", [1.0, 0.0], [[1.0]], [], None]
)
def test_bad_length_scales_are_refused(bad):
    with pytest.raises(ValueError, match="'length_scale' parameter of RBF must be a float in the"):
        RBF(bad)


@KERNELS
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(name, bad):
    kernel = FORMULAS[name][0]
    with pytest.raises(ValueError, match="NaN or infinity"):
        kernel.gram([[0.0, 1.0, bad]])
    with pytest.raises(ValueError, match="NaN or infinity"):
        kernel.gram([[0.0, 1.0, 2.0]], [[0.0, 1.0, bad]])


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="X with 2 features and Y with 3"):
        RBF().gram(np.zeros((1, 2)), np.zeros((1, 3)))
    with pytest.raises(ValueError, match="at most 2 dimensions"):
        RBF().gram(np.zeros((1, 2, 2)))
    with pytest.raises(ValueError, match="Got 2 parameters and rows with 3 features"):
        RBF([1.0, 2.0]).gram(np.zeros((4, 3)))
    with pytest.raises(TypeError, match="needs a dense array"):
        Laplacian().gram(sparse.eye(3).tocsr())


def test_one_row_and_no_row():
    assert RBF().gram([[1.0, 2.0]]).tolist() == [[1.0]]
    assert RBF().gram(np.zeros((0, 2))).shape == (0, 0)
    assert RBF().gram(np.zeros((3, 2)), np.zeros((0, 2))).shape == (3, 0)


def test_data_frames_and_integers_are_read(seed):
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(seed).integers(0, 9, size=(5, 3))
    frame = pandas.DataFrame(X, columns=list("abc"))
    np.testing.assert_array_equal(RBF().gram(frame), RBF().gram(X.astype(float)))
    np.testing.assert_array_equal(RBF().gram([0, 1, 2]), RBF().gram([[0.0], [1.0], [2.0]]))


@pytest.mark.parametrize("name", ["rbf", "rbf ard", "rq", "matern 3/2", "linear", "polynomial"])
def test_sparse_inputs_give_the_same(name, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(6, 3)) * (rng.random((6, 3)) < 0.5)
    kernel = FORMULAS[name][0]
    np.testing.assert_allclose(
        kernel.gram(sparse.csr_matrix(X)), kernel.gram(X), rtol=1e-12, atol=1e-14
    )
    np.testing.assert_allclose(
        kernel.gram(sparse.csr_matrix(X), X[:2]), kernel.gram(X, X[:2]), rtol=1e-12, atol=1e-14
    )


@given(order=st.permutations(range(6)), seed=st.integers(0, 99))
def test_permuting_rows_permutes_the_matrix(order, seed):
    X = np.random.default_rng(seed).normal(size=(6, 3))
    order = list(order)
    np.testing.assert_allclose(
        COMPOSITE.gram(X[order]), COMPOSITE.gram(X)[np.ix_(order, order)], rtol=1e-11
    )


def test_a_new_kernel_needs_three_methods():
    with pytest.raises(TypeError, match="abstract"):
        Kernel()
    assert isinstance(Constant(0.0), Kernel)


@pytest.mark.parametrize("kernel", [RBF(), 2.0 * RBF(), RBF() + Linear()], ids=str)
def test_two_matrices_are_refused_by_the_call(kernel):
    X, Y = np.zeros((3, 2)), np.ones((3, 2))
    with pytest.raises(ValueError, match=r"takes two single inputs. Got .*\(3, 2\).*gram\(X, Y\)"):
        kernel(X, Y)
    assert kernel(X[0], Y[0]) == kernel(X[:1], Y[:1]) == kernel.gram(X, Y)[0, 0]


def test_a_kernel_makes_pairwise_data(seed):
    X = np.random.default_rng(seed).normal(size=(5, 2))
    pairs = to_pairwise(X, RBF())
    np.testing.assert_array_equal(pairs.values, RBF().gram(X))
