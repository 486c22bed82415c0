import numpy as np
import pytest

from corollary.kernels import RBF, Linear, PairwiseFunction, mercer_expansion


def brownian(n):
    grid = (np.arange(n)[:, None] + 0.5) / n
    return mercer_expansion(PairwiseFunction(lambda s, t: min(s[0], t[0])), grid, 5), grid


def test_brownian_motion_has_sines():
    expansion, grid = brownian(150)
    rates = (np.arange(5) + 0.5) * np.pi
    np.testing.assert_allclose(expansion.eigenvalues, rates**-2.0, rtol=4e-3)
    values = np.sqrt(2) * np.sin(rates * grid)
    signs = np.sign(np.sum(values * expansion.vectors, axis=0))
    np.testing.assert_allclose(expansion.vectors * signs, values, atol=5e-3)
    # Between the points of the grid, by the extension.
    between = np.array([[0.2], [0.5], [0.777]])
    functions = np.sqrt(2) * np.sin(rates * between)
    np.testing.assert_allclose(expansion.eigenfunctions(between) * signs, functions, atol=5e-3)
    assert expansion.trace == pytest.approx(0.5)


def test_functions_are_orthonormal_under_the_sample(seed):
    X = np.random.default_rng(seed).normal(size=(30, 2))
    expansion = mercer_expansion(RBF(1.0), X)
    phi = expansion.eigenfunctions(X)
    r = len(expansion.eigenvalues)
    np.testing.assert_allclose(expansion.vectors.T @ expansion.vectors / 30, np.eye(r), atol=1e-9)
    np.testing.assert_allclose(phi[:, :10], expansion.vectors[:, :10], atol=1e-8)
    assert (expansion.vectors.max(axis=0) >= -expansion.vectors.min(axis=0)).all()


def test_the_whole_expansion_is_the_kernel(seed):
    X = np.random.default_rng(seed).normal(size=(30, 2))
    expansion = mercer_expansion(RBF(1.0), X)
    np.testing.assert_allclose(expansion.gram(X), RBF(1.0).gram(X), atol=1e-6)
    assert expansion.eigenvalues.sum() == pytest.approx(expansion.trace) == pytest.approx(1.0)
    assert (np.diff(expansion.eigenvalues) <= 0).all()
    # The truncated one is what its terms say, and between other rows, too.
    Y = X[:4] + 0.1
    short = mercer_expansion(RBF(1.0), X, 3)
    left, right = short.eigenfunctions(X), short.eigenfunctions(Y)
    expected = sum(short.eigenvalues[i] * np.outer(left[:, i], right[:, i]) for i in range(3))
    np.testing.assert_allclose(short.gram(X, Y), expected, atol=1e-12)


def test_a_kernel_of_finite_rank_by_hand():
    # k(s, t) = s t at 1 and 3: K / n has trace 5 and rank one, with the function t / sqrt(5).
    expansion = mercer_expansion(Linear(), [[1.0], [3.0]])
    np.testing.assert_allclose(expansion.eigenvalues, [5.0])
    np.testing.assert_allclose(expansion.eigenfunctions([[2.0]]), [[2 / np.sqrt(5)]])
    assert expansion.trace == 5.0


def test_bad_input_is_told():
    X = np.array([[1.0], [3.0]])
    with pytest.raises(ValueError, match="positive semi-definite"):
        mercer_expansion(PairwiseFunction(lambda s, t: -float(s @ t)), X)
    for count in (0, 2):
        with pytest.raises(ValueError, match="between 1 and 1"):
            mercer_expansion(Linear(), X, count)
