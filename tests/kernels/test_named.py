import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import pairwise_kernels

from corollary.kernels import RBF, check_kernel, median_length_scale


@pytest.mark.parametrize("name", ["linear", "rbf", "poly", "polynomial", "laplacian", "sigmoid"])
@pytest.mark.parametrize("gamma", [None, 0.4])
def test_names_are_scikit_learns(name, gamma, seed):
    X = np.random.default_rng(seed).normal(size=(8, 3))
    options = {"gamma": gamma, "degree": 2, "coef0": 0.5}
    used = {"rbf": 1, "laplacian": 1, "sigmoid": 0, "linear": 0}
    wanted = pairwise_kernels(
        X,
        metric=name,
        **(
            {}
            if name == "linear"
            else {"gamma": gamma}
            if used.get(name)
            else {"gamma": gamma, "coef0": 0.5}
            if name == "sigmoid"
            else options
        ),
    )
    kernel = check_kernel(name, n_features=3, **options)
    np.testing.assert_allclose(kernel.gram(X), wanted, rtol=1e-10)


def test_kernels_pass_and_others_do_not():
    kernel = RBF(3.0)
    assert check_kernel(kernel) is kernel
    for bad in ("haversine", 3, None):
        with pytest.raises(ValueError, match="must be a Kernel or a str among"):
            check_kernel(bad)


@pytest.mark.parametrize("name", ["cosine", "chi2", "additive_chi2"])
@pytest.mark.parametrize("gamma", [None, 0.4])
def test_names_of_other_kernels_are_scikit_learns(name, gamma, seed):
    X = np.random.default_rng(seed).random(size=(8, 3))
    options = {"gamma": gamma} if name == "chi2" and gamma else {}
    expected = pairwise_kernels(X, metric=name, **options)
    np.testing.assert_allclose(check_kernel(name, gamma=gamma).gram(X), expected, rtol=1e-10)


def test_median_length_scale(seed):
    X = np.random.default_rng(seed).normal(size=(40, 2))
    assert median_length_scale(X) == pytest.approx(np.median(pdist(X)))
    assert median_length_scale([[1.0], [1.0]]) == 1.0
    assert median_length_scale([[1.0]]) == 1.0
    many = np.random.default_rng(seed).normal(size=(3000, 2))
    order = np.random.default_rng(seed).permutation(3000)
    assert median_length_scale(many) == median_length_scale(many[order])
    assert median_length_scale(many) == pytest.approx(np.median(pdist(many)), rel=0.05)
