import numpy as np
import pytest
from scipy.linalg import expm

import corollary
from corollary.kernels import Diffusion, EdgeCount, KernelRidge, graph_laplacian


@pytest.fixture
def graphs(seed):
    A = np.triu(np.random.default_rng(seed).integers(0, 2, size=(5, 6, 6)), 1)
    return A + A.transpose(0, 2, 1)


def edges(A):
    return {(i, j) for i, j in zip(*np.nonzero(A)) if i <= j}


def test_shared_edges_by_set_intersection(graphs):
    K = EdgeCount().gram(graphs)
    for i, G in enumerate(graphs):
        for j, H in enumerate(graphs):
            assert K[i, j] == len(edges(G) & edges(H))


def test_the_other_convention_counts_undirected_edges_twice(graphs):
    whole = EdgeCount(count="entries")
    np.testing.assert_array_equal(whole.gram(graphs), 2 * EdgeCount().gram(graphs))
    np.testing.assert_array_equal(whole.diag(graphs), np.diag(whole.gram(graphs)))
    loops = np.stack([np.eye(6), np.eye(6) + graphs[0]])
    assert EdgeCount()(loops[0], loops[1]) == whole(loops[0], loops[1]) == 6
    directed = np.zeros((2, 3, 3))
    directed[:, 0, 1] = directed[0, 1, 0] = 1
    assert whole(directed[0], directed[1]) == 1
    with pytest.raises(ValueError, match="needs undirected graphs"):
        EdgeCount().gram(directed[1:])


def test_bad_graphs_are_refused(graphs):
    with pytest.raises(ValueError, match=r"shape \(n, v, v\)"):
        EdgeCount().gram(graphs[:, :2])
    with pytest.raises(ValueError, match="one vertex set"):
        EdgeCount().gram(graphs, np.zeros((1, 3, 3)))
    with pytest.raises(ValueError, match="NaN"):
        EdgeCount().gram(np.full((1, 2, 2), np.nan))
    with pytest.raises(ValueError, match="'count' parameter of EdgeCount"):
        EdgeCount(count="twice")


@pytest.mark.parametrize("beta", [0.1, 1.0, 4.0])
def test_diffusion_is_the_matrix_exponential(graphs, beta):
    A = graphs[0]
    L = graph_laplacian(A)
    np.testing.assert_array_equal(L, np.diag(A.sum(axis=1)) - A)
    K = Diffusion(A, beta=beta).gram(np.arange(6))
    np.testing.assert_allclose(K, expm(-beta * L), atol=1e-12)
    np.testing.assert_allclose(K.sum(axis=1), 1.0, atol=1e-12)
    assert np.linalg.eigvalsh(K)[0] > -1e-12
    np.testing.assert_allclose(Diffusion(A, beta=beta).gram([2, 2], [5]), K[[2, 2]][:, [5]])
    assert Diffusion(A, beta=beta)(1, 4) == pytest.approx(K[1, 4])
    np.testing.assert_allclose(Diffusion(A, beta=beta).diag(np.arange(6)), np.diag(K))


def test_no_time_no_diffusion(graphs):
    np.testing.assert_allclose(
        Diffusion(graphs[0], beta=1e-12).gram(np.arange(6)), np.eye(6), atol=1e-10
    )


def test_diffusion_time_is_a_hyper_parameter(graphs):
    import jax

    kernel = Diffusion(graphs[0], beta=0.5)
    with jax.enable_x64(True):
        slope = jax.grad(lambda v: kernel.with_parameters(v).gram(np.arange(6))[0, 1])(
            jax.numpy.asarray(kernel.parameters().vector)
        )
    L = graph_laplacian(graphs[0])
    wanted = (-L @ expm(-0.5 * L))[0, 1] * 0.5
    assert float(slope[0]) == pytest.approx(wanted, rel=1e-8, abs=1e-12)


def test_bad_vertices_and_weights_are_refused(graphs, tmp_path):
    kernel = Diffusion(graphs[0])
    for bad in ([6], [-1], [0.5], ["a"]):
        with pytest.raises(ValueError, match="whole numbers from 0 to 5"):
            kernel.gram(bad)
    with pytest.raises(ValueError, match="symmetric adjacency matrix"):
        Diffusion([[0, 1], [0, 0]])
    with pytest.raises(ValueError, match="non-negative weights"):
        Diffusion([[0, -1], [-1, 0]])
    corollary.save(KernelRidge(kernel=kernel), tmp_path / "model")
    assert corollary.load(tmp_path / "model").kernel == kernel
