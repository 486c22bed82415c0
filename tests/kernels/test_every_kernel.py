"""What every exported kernel owes, tested for each by its example in ``kernels_at_hand``."""

import inspect
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest

import corollary
from corollary import kernels
from corollary.kernels import Kernel, KernelRidge, hyperparameter
from corollary.kernels import _arrays as arrays
from tests.kernels.kernels_at_hand import EXAMPLES, FORMULAS, rows

EVERY = pytest.mark.parametrize("name", EXAMPLES)
VECTORS = pytest.mark.parametrize("name", [n for n, e in EXAMPLES.items() if e.moves])


def exported_classes():
    return {
        value
        for value in vars(kernels).values()
        if inspect.isclass(value) and issubclass(value, Kernel) and not inspect.isabstract(value)
    }


def lacking(classes, examples):
    """Classes of which no example is one, as a whole and not as a part."""
    at_hand = {example.kernel.__class__ for example in examples.values()}
    return sorted(cls.__name__ for cls in classes if cls not in at_hand)


def has_kernels_inside(kernel):
    """Whether a kernel is made from others, by whose values it is tested."""
    values = [getattr(kernel, field.name) for field in fields(kernel)]
    parts = [part for value in values for part in (value if isinstance(value, tuple) else [value])]
    return any(isinstance(part, Kernel) for part in parts)


def without_formula(examples, formulas):
    """Kernels of plain vectors that are made from no others and whose values nothing tests."""
    tested = {kernel.__class__ for kernel, _ in formulas.values()}
    simple = [e.kernel for e in examples.values() if e.draw is rows]
    return sorted(
        kernel.__class__.__name__
        for kernel in simple
        if not has_kernels_inside(kernel) and kernel.__class__ not in tested
    )


def differences(function, at, step=1e-5):
    gradient = np.empty(at.shape)
    for place in np.ndindex(*at.shape):
        ends = []
        for sign in (1.0, -1.0):
            moved = at.copy()
            moved[place] += sign * step
            ends.append(function(moved))
        gradient[place] = (ends[0] - ends[1]) / (2.0 * step)
    return gradient


def drawn(name, seed, n=9):
    example, rng = EXAMPLES[name], np.random.default_rng(seed)
    return example.kernel, example.draw(rng, n), example.draw(rng, n - 3), rng


def test_every_exported_kernel_has_an_example():
    classes = lacking(exported_classes(), EXAMPLES)
    assert classes == [], (
        f"{classes}: add an entry to FORMULAS (a kernel of vectors, with its formula for two of "
        "them) or to EXAMPLES (other inputs) in tests/kernels/kernels_at_hand.py"
    )


def test_every_kernel_of_vectors_has_a_formula():
    classes = without_formula(EXAMPLES, FORMULAS)
    assert classes == [], (
        f"{classes}: move the entry from EXAMPLES to FORMULAS in tests/kernels/kernels_at_hand.py, "
        "with the formula for two vectors; without it no test knows the kernel's values"
    )


def test_a_kernel_without_an_example_is_noticed():
    few = {name: example for name, example in EXAMPLES.items() if name != "periodic"}
    assert lacking(exported_classes(), few) == ["Periodic"]
    few = {name: entry for name, entry in FORMULAS.items() if name != "periodic"}
    assert without_formula(EXAMPLES, few) == ["Periodic"]


@EVERY
def test_gram_is_symmetric_and_diag_its_diagonal(name, seed):
    kernel, X, Y, _ = drawn(name, seed)
    K = kernel.gram(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(K), rtol=1e-12)
    np.testing.assert_allclose(kernel.gram(X, Y), kernel.gram(Y, X).T, rtol=1e-12, atol=1e-14)
    if EXAMPLES[name].by_values:
        np.testing.assert_allclose(kernel.gram(X, X), K, rtol=1e-12, atol=1e-12)
    assert kernel(X[1], Y[2]) == pytest.approx(kernel.gram(X, Y)[1, 2], rel=1e-12)


@EVERY
def test_gram_is_positive_semidefinite_where_claimed(name, seed):
    kernel, X, _, _ = drawn(name, seed, n=20)
    values = np.linalg.eigvalsh(kernel.gram(X))
    if kernel.positive_semidefinite:
        assert values[0] > -1e-9 * values[-1]
    else:
        assert min(np.linalg.eigvalsh(kernel.gram(3.0 * X))[0], values[0]) < -1e-3 * values[-1]


@EVERY
def test_gradients_are_slopes(name, seed):
    """In the hyper-parameters for X with itself and with others, in X where it can move."""
    kernel, X, Y, rng = drawn(name, seed)
    vector = kernel.parameters().vector
    W, V = rng.normal(size=(len(X), len(X))), rng.normal(size=(len(X), len(Y)))
    K, gradient = kernel.gram_with_gradient(X)
    np.testing.assert_allclose(K, kernel.gram(X), rtol=1e-12, atol=1e-14)
    by_parameters, by_points = gradient(W)
    expected = differences(lambda v: np.vdot(W, kernel.with_parameters(v).gram(X)), vector)
    np.testing.assert_allclose(by_parameters, expected, rtol=1e-6, atol=1e-6)
    assert by_points.size == 0

    K, gradient = kernel.gram_with_gradient(X, Y)
    np.testing.assert_allclose(K, kernel.gram(X, Y), rtol=1e-12, atol=1e-14)
    by_parameters, by_points = gradient(V)
    expected = differences(lambda v: np.vdot(V, kernel.with_parameters(v).gram(X, Y)), vector)
    np.testing.assert_allclose(by_parameters, expected, rtol=1e-6, atol=1e-6)
    weight = rng.normal(size=len(X))
    expected = differences(lambda v: weight @ kernel.with_parameters(v).diag(X), vector)
    np.testing.assert_allclose(kernel.diag_gradient(X, weight), expected, rtol=1e-6, atol=1e-6)


@VECTORS
def test_gradients_in_points_are_slopes(name, seed):
    kernel, X, Y, rng = drawn(name, seed)  # the shapes of the test above: nothing compiles anew
    V = rng.normal(size=(len(X), len(Y)))
    _, by_points = kernel.gram_with_gradient(X, Y)[1](V)
    if EXAMPLES[name].draw is rows:
        expected = differences(lambda Z: np.vdot(V, kernel.gram(Z, Y)), X)
    else:  # probabilities that move stay probabilities: compare along the simplex
        expected = differences(
            lambda Z: np.vdot(V, kernel.gram(Z / Z.sum(axis=1, keepdims=True), Y)), X
        )
        by_points = by_points - (by_points * X).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(by_points, expected, rtol=1e-5, atol=1e-6)


@EVERY
def test_tiles_are_parts_of_the_gram_matrix(name, seed):
    kernel, X, _, _ = drawn(name, seed, n=20)
    K, tiles = kernel.gram(X), kernel.tiles(X)
    some = np.array([11, 3, 17])
    assert tiles.n == 20
    np.testing.assert_allclose(tiles.diagonal, np.diagonal(K), rtol=1e-12)
    for rows_of, columns_of in ((some, slice(2, 9)), (slice(0, 20), slice(0, 20))):
        tile = tiles.tile(tiles.rows(rows_of), tiles.columns(columns_of))
        np.testing.assert_allclose(tile, K[rows_of, columns_of], rtol=1e-11, atol=1e-13)
    part = tiles.part(tiles.columns(slice(0, 20)), slice(4, 6))
    np.testing.assert_allclose(
        tiles.tile(tiles.rows(some), part), K[some, 4:6], rtol=1e-11, atol=1e-13
    )


@EVERY
def test_the_algebra_is_closed(name, seed):
    """Sums, products, multiples, powers, exponentials and normalisations are what they say."""
    kernel, X, _, _ = drawn(name, seed)
    kernel = kernel.normalised()  # so that exponentials stay in range
    K = kernel.gram(X)
    combined = {
        "sum": (kernel + kernel, 2.0 * K),
        "product": (kernel * kernel, K**2),
        "scaled": (0.3 * kernel, 0.3 * K),
        "power": (kernel**3, K**3),
        "exp": (kernel.exp(), np.exp(K)),
        "polynomial": (kernel.polynomial([0.0, 1.0, 2.0]), K + 2.0 * K**2),
    }
    for rule, (combination, expected) in combined.items():
        assert isinstance(combination, Kernel)
        assert combination.positive_semidefinite == kernel.positive_semidefinite
        np.testing.assert_allclose(combination.gram(X), expected, atol=1e-12, err_msg=rule)
        np.testing.assert_allclose(combination.diag(X), np.diagonal(expected), err_msg=rule)


@EVERY
def test_parameters_come_back(name):
    kernel = EXAMPLES[name].kernel
    parameters = kernel.parameters()
    again = kernel.with_parameters(parameters.vector)
    np.testing.assert_allclose(again.parameters().values, parameters.values, rtol=1e-12)
    assert len(set(parameters.names)) == len(parameters.vector)
    assert (parameters.bounds[:, 0] <= parameters.vector).all()
    assert hash(kernel) == hash(EXAMPLES[name].kernel)


@EVERY
def test_every_kernel_can_be_saved(name, tmp_path, seed):
    kernel, X, _, _ = drawn(name, seed)
    corollary.save(KernelRidge(kernel=kernel), tmp_path / "model")
    loaded = corollary.load(tmp_path / "model").kernel
    assert loaded == kernel
    np.testing.assert_array_equal(loaded.gram(X), kernel.gram(X))


def test_numpy_and_jax_agree(seed):
    """All kernels in one compiled function, which is quicker than one after the other."""
    import jax

    data = {name: drawn(name, seed)[:3] for name, example in EXAMPLES.items() if example.jax}

    def everything(inputs):
        def matrices(kernel, X, Y, fixed):
            return kernel.gram(X), kernel.gram(X, Y), kernel.gram(fixed, Y), kernel.diag(X)

        return {
            name: matrices(kernel, *inputs[name], fixed)
            for name, (kernel, fixed, _) in data.items()
        }

    with jax.enable_x64(True):
        traced = jax.jit(everything)({name: (X, Y) for name, (_, X, Y) in data.items()})
        assert isinstance(kernels.RBF().gram(jax.numpy.zeros((2, 1))), jax.Array)
    for name, (kernel, X, Y) in data.items():
        expected = (kernel.gram(X), kernel.gram(X, Y), kernel.gram(X, Y), kernel.diag(X))
        for ours, theirs in zip(expected, traced[name]):
            np.testing.assert_allclose(theirs, ours, rtol=1e-9, atol=1e-12, err_msg=name)


@EVERY
def test_a_spectral_measure_gives_the_kernel_back(name, seed):
    kernel, X, Y, _ = drawn(name, seed, n=4)
    if not kernel.stationary:
        with pytest.raises(TypeError, match="spectral measure"):
            kernel.spectral_sample(1, 3)
        return
    try:
        frequencies = kernel.spectral_sample(40_000, 3, random_state=seed)
    except TypeError:
        assert isinstance(kernel, kernels.Exponential | kernels.PolynomialOf), (
            f"{kernel.__class__.__name__} is stationary: write its _spectral_sample(n, d, rng), "
            "which draws frequencies w with k(x, y) = k(x, x) E cos(w'(x - y))"
        )
        return
    waves = np.cos((X[:, None] - Y[None]) @ frequencies.T)
    error = 5.0 * waves.std(axis=2) / np.sqrt(len(frequencies)) + 1e-9
    mass = kernel.spectral_mass()
    assert (np.abs(mass * waves.mean(axis=2) - kernel.gram(X, Y)) <= mass * error).all()


@dataclass(frozen=True, eq=False)
class Cauchy(Kernel):
    """A new kernel is one class: ``prod_j 1 / (1 + ((x_j - y_j) / length_scale)^2)``."""

    length_scale: Any = hyperparameter(1.0)

    def __post_init__(self):
        self._settle("length_scale")

    def _prepare(self, X, Y):
        X, Y = arrays.vector_pair("Cauchy", X, Y)
        return arrays.both(lambda Z: Z / self.length_scale, X, Y)

    def _evaluate(self, P, Q, same):
        return (1.0 / (1.0 + (P[:, None] - Q[None]) ** 2)).prod(axis=2)

    def _diag(self, P):
        return P.__array_namespace__().ones(P.shape[0], dtype=P.dtype)


def test_a_new_kernel_writes_three_methods_and_has_the_rest(seed):
    """Gradients, tiles, the algebra and a Gaussian process, none of which know the class."""
    from corollary.gp import GaussianProcessRegressor
    from corollary.svm import SVC

    rng = np.random.default_rng(seed)
    X, W, kernel = rng.normal(size=(15, 2)), rng.normal(size=(15, 15)), 2.0 * Cauchy(1.3)
    vector = kernel.parameters().vector
    expected = differences(lambda v: np.vdot(W, kernel.with_parameters(v).gram(X)), vector)
    np.testing.assert_allclose(kernel.gram_with_gradient(X)[1](W)[0], expected, rtol=1e-6)
    tiles = kernel.tiles(X)
    every = slice(0, 15)
    np.testing.assert_allclose(tiles.tile(tiles.rows(every), tiles.columns(every)), kernel.gram(X))
    model = GaussianProcessRegressor(Cauchy(), alpha=0.1, max_iter=20).fit(X, X[:, 0])
    assert model.kernel_.length_scale != 1.0
    assert SVC(kernel=kernel).fit(X, X[:, 0] > 0).score(X, X[:, 0] > 0) > 0.9


@dataclass(frozen=True, eq=False)
class Inverse(kernels.Radial):
    """A new kernel of the distance is one method: ``1 / (1 + r^2 / steepness)``."""

    length_scale: Any = hyperparameter(1.0)
    steepness: Any = hyperparameter(1.0)

    def __post_init__(self):
        self._settle("length_scale", vector=True)
        self._settle("steepness")

    def _of_squares(self, r2):
        return 1.0 / (1.0 + r2 / self.steepness)


def test_a_new_kernel_of_the_distance_writes_one_method_and_has_its_gradients(seed):
    rng = np.random.default_rng(seed)
    X, Y, V = rng.normal(size=(5, 2)), rng.normal(size=(4, 2)), rng.normal(size=(5, 4))
    kernel = Inverse([0.8, 1.4], steepness=2.0)
    r2 = (((X[:, None] - Y[None]) / [0.8, 1.4]) ** 2).sum(axis=2)
    K, gradient = kernel.gram_with_gradient(X, Y)
    np.testing.assert_allclose(K, 2.0 / (2.0 + r2), rtol=1e-12)
    by_parameters, by_points = gradient(V)
    vector = kernel.parameters().vector
    expected = differences(lambda v: np.vdot(V, kernel.with_parameters(v).gram(X, Y)), vector)
    np.testing.assert_allclose(by_parameters, expected, rtol=1e-6, atol=1e-7)
    expected = differences(lambda Z: np.vdot(V, kernel.gram(Z, Y)), X)
    np.testing.assert_allclose(by_points, expected, rtol=1e-6, atol=1e-7)


class Untraceable(kernels.Laplacian):
    """A kernel that JAX cannot follow, and that knows no gradient."""

    def _evaluate(self, P, Q, same):
        return np.asarray(super()._evaluate(P, Q, same), dtype=float)


def test_what_jax_cannot_follow_is_differentiated_by_differences(seed):
    rng = np.random.default_rng(seed)
    X, Y, V = rng.normal(size=(5, 2)), rng.normal(size=(4, 2)), rng.normal(size=(5, 4))
    by_jax = kernels.Laplacian([0.8, 1.4]).gram_with_gradient(X, Y)[1](V)
    by_differences = Untraceable([0.8, 1.4]).gram_with_gradient(X, Y)[1](V)
    for ours, theirs in zip(by_differences, by_jax):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-7)


def test_gradients_leave_the_users_precision_alone():
    import jax.numpy as jnp

    _, gradient = kernels.Laplacian(1.0).gram_with_gradient([[0.0], [1.0]])
    assert gradient(np.ones((2, 2)))[0].dtype == np.float64
    assert jnp.ones(1).dtype == jnp.float32
