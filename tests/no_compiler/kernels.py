"""Loops of kernels without the compiler."""

import numpy as np


def check_subsequences_are_counted():
    from corollary.kernels import Subsequence

    kernel = Subsequence(length=2, decay=0.5)
    words = ["cat", "cart", "a"]
    K = kernel.gram(words)
    assert K[0, 1] == 0.5**4 + 0.5**7 + 0.5**5
    np.testing.assert_allclose(kernel.diag(words), np.diagonal(K))


def check_box_descent_solves_the_hinge():
    from corollary.kernels import RBF, minimise_kernel_risk

    x = np.array([[0.0], [1.0], [2.0], [3.0]])
    best = minimise_kernel_risk(RBF().gram(x), np.array([-1.0, -1.0, 1.0, 1.0]), "hinge", 0.1)
    assert best.converged
    assert best.gap <= 1e-6 * best.value


def check_permutations_see_dependence():
    from corollary.kernels import RBF, hsic_test
    from corollary.kernels.statistics import independence

    x = np.linspace(-1.0, 1.0, 12)[:, None]
    full, independence.MAX_RANK = independence.MAX_RANK, 1  # so that matrices are not factored
    try:
        dependent = hsic_test(x, x**3, RBF(), RBF(), n_permutations=39, random_state=0)
    finally:
        independence.MAX_RANK = full
    assert dependent.p_value <= 0.05


def check_powers_of_two():
    from corollary.kernels import RBF

    X = np.linspace(0.0, 2.0, 5)[:, None]
    tiles = RBF().tiles(X).single()
    tile = tiles.tile(tiles.rows(slice(0, 5)), tiles.columns(slice(0, 5)))
    assert tile.dtype == np.float32
    np.testing.assert_allclose(tile, RBF().gram(X), rtol=1e-5)
