import numpy as np
import pytest

from corollary.kernels import Bhattacharyya, HellingerRBF


@pytest.fixture
def P(seed):
    p = np.random.default_rng(seed).dirichlet(np.full(5, 0.5), size=12)
    p[0] = [0, 0, 1, 0, 0]
    return p


def test_bhattacharyya_and_hellinger(P):
    affinity = np.array([[np.sqrt(p * q).sum() for q in P] for p in P])
    np.testing.assert_allclose(Bhattacharyya().gram(P), affinity, atol=1e-14)
    squared = np.array([[((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2 for q in P] for p in P])
    np.testing.assert_allclose(HellingerRBF(0.3).gram(P), np.exp(-squared / 0.18), rtol=1e-10)
    for kernel in (Bhattacharyya(), HellingerRBF(0.3)):
        np.testing.assert_array_equal(kernel.diag(P), 1.0)
        np.testing.assert_array_equal(np.diag(kernel.gram(P)), 1.0)
        assert np.linalg.eigvalsh(kernel.gram(P))[0] > -1e-12
        np.testing.assert_allclose(kernel.gram(P, P[:2]), kernel.gram(P)[:, :2], atol=1e-14)


def test_what_is_no_distribution_is_refused(P):
    for bad in (P + 0.1, P - np.eye(5)[0], 2 * P):
        with pytest.raises(ValueError, match="rows that are non-negative and sum to 1"):
            Bhattacharyya().gram(bad)


def test_gradients_are_finite_at_zero_probabilities(P):
    import jax

    gradient = jax.grad(lambda p: HellingerRBF().gram(p).sum())(jax.numpy.asarray(P))
    assert np.isfinite(np.asarray(gradient)).all()
