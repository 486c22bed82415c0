"""scikit-learn's kernel objects: the same values, gradients, bounds, and the way back."""

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as theirs

from corollary.kernels import RBF, Restricted, White, as_kernel, as_sklearn_kernel

KERNELS = {
    "rbf": theirs.RBF([0.5, 2.0]),
    "matern": theirs.Matern(0.8, nu=2.5),
    "matern inf": theirs.Matern([0.8, 1.3], (0.1, 7.0), nu=np.inf),
    "rational quadratic": theirs.RationalQuadratic(1.5, 0.3, alpha_bounds=(0.01, 3.0)),
    "dot product": theirs.DotProduct(0.7, (0.1, 2.0)),
    "constant": theirs.ConstantKernel(3.0),
    "white": theirs.WhiteKernel(0.2),
    "sum": 2.0 * theirs.RBF(0.5) + theirs.WhiteKernel(0.1, (1e-3, 1.0)),
    "product": theirs.RBF(0.5) * theirs.ConstantKernel(2.0, (1.0, 4.0)) * theirs.DotProduct(),
    "power": (theirs.RBF(0.9) + theirs.WhiteKernel(0.3)) ** 2,
    "fixed": theirs.ConstantKernel(4.0, "fixed") * theirs.RBF(2.0) + theirs.RBF(1.0, "fixed"),
    "partly fixed": theirs.RationalQuadratic(1.5, 0.3, length_scale_bounds="fixed"),
    "pairwise rbf": theirs.PairwiseKernel(0.4, (0.1, 2.0), metric="rbf"),
    "pairwise laplacian": theirs.PairwiseKernel(0.4, metric="laplacian"),
    "pairwise poly": theirs.PairwiseKernel(0.4, metric="poly"),
    "pairwise linear": theirs.PairwiseKernel(0.4, metric="linear"),
    "pairwise cosine": theirs.PairwiseKernel(metric="cosine"),
    "pairwise sigmoid": theirs.PairwiseKernel(0.4, (0.1, 2.0), metric="sigmoid"),
}
EVERY = pytest.mark.parametrize("name", KERNELS)


@EVERY
def test_values_are_scikit_learns(name, seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(7, 2)), rng.normal(size=(4, 2))
    X[1] = X[0]
    kernel, ours = KERNELS[name], as_kernel(KERNELS[name], n_features=2)
    np.testing.assert_allclose(ours.gram(X), kernel(X), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours.gram(X, Y), kernel(X, Y), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours.gram(X, X.copy()), kernel(X, X), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours.diag(X), kernel.diag(X), rtol=1e-10)


def test_a_period_is_that_of_one_feature(seed):
    kernel = theirs.ExpSineSquared(0.7, 3.0, periodicity_bounds=(1.0, 5.0))
    X = np.random.default_rng(seed).normal(size=(7, 1))
    np.testing.assert_allclose(as_kernel(kernel).gram(X), kernel(X), rtol=1e-10)
    np.testing.assert_allclose(as_kernel(kernel).parameters().bounds, kernel.bounds)
    with pytest.raises(ValueError, match=r"several features.*kernels\.Periodic"):
        as_kernel(kernel, n_features=2)


@pytest.mark.parametrize("metric", ["chi2", "additive_chi2"])
def test_kernels_of_histograms_are_scikit_learns_if_nothing_is_learnt(metric, seed):
    kernel = theirs.PairwiseKernel(0.4, "fixed", metric=metric)
    X = np.random.default_rng(seed).random(size=(7, 3))
    np.testing.assert_allclose(as_kernel(kernel).gram(X), kernel(X), rtol=1e-10)
    assert len(as_kernel(kernel).parameters().values) == 0


@EVERY
def test_the_way_back_keeps_the_kernel(name, seed):
    """Learnt numbers come back; fixed ones and bounds stay."""
    rng = np.random.default_rng(seed)
    X, kernel = rng.normal(size=(7, 2)), KERNELS[name]
    ours = as_kernel(kernel)
    at = ours.parameters().vector
    learnt = ours.with_parameters(at + rng.uniform(-0.5, 0.5, size=at.shape))
    back = as_sklearn_kernel(kernel, learnt)
    np.testing.assert_allclose(back(X), learnt.gram(X), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(back.bounds, kernel.bounds)


@EVERY
def test_bounds_are_scikit_learns(name):
    """Every number of ours at its end is a kernel of theirs at an end."""
    kernel = KERNELS[name]
    at = as_kernel(kernel).parameters()
    ends = kernel.bounds.reshape(-1, 2)
    if name == "pairwise linear" or name == "pairwise cosine":
        assert len(at.values) == 0  # gamma has no effect
        return
    assert len(at.values) == len(ends)
    for vector in at.bounds.T:
        theta = as_sklearn_kernel(kernel, as_kernel(kernel).with_parameters(vector)).theta
        np.testing.assert_allclose(np.abs(theta[:, None] - ends).min(axis=1), 0.0, atol=1e-9)


def test_kernels_of_ours_and_defaults_need_no_wrapper():
    assert as_kernel(RBF(2.0)) == RBF(2.0)
    assert as_kernel(theirs.RBF(2.0)) == RBF(2.0)
    assert as_kernel(2.0 * theirs.RBF()) == 2.0 * RBF()
    assert as_kernel(theirs.WhiteKernel(0.5)) == White(0.5)


class Mine(theirs.RBF):
    """A kernel of a user's own, which must not pass for its base."""

    def __call__(self, X, Y=None, eval_gradient=False):
        return 0.0 * super().__call__(X, Y)


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (theirs.CompoundKernel([theirs.RBF(), theirs.RBF()]), "no counterpart"),
        (theirs.RBF() ** 0.5, "whole exponent"),
        (theirs.Matern(nu=0.7), "0.5, 1.5, 2.5 or infinity"),
        (theirs.PairwiseKernel(metric="chi2"), "linear, poly, rbf"),
        (theirs.PairwiseKernel(metric="chi2"), "gamma_bounds='fixed'"),
        (theirs.PairwiseKernel(metric="haversine"), "linear, poly, rbf"),
        (Mine(), "Write it as a corollary.kernels.Kernel"),
        (lambda X, Y: X @ Y.T, "as_kernel needs a kernel"),
    ],
)
def test_what_has_no_counterpart_is_refused(kernel, words):
    with pytest.raises(ValueError, match=words):
        as_kernel(kernel)


def test_bounds_that_enclose_nothing_are_refused():
    with pytest.raises(ValueError, match="enclose something"):
        Restricted(RBF(), [2.0], [1.0])
    with pytest.raises(ValueError, match="each of the 1 hyper-parameters"):
        Restricted(RBF(), [2.0, 3.0], [3.0, 4.0])


def test_a_process_learns_within_the_bounds_of_scikit_learns_kernel(seed):
    from corollary.gp import GaussianProcessRegressor

    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 6.0, size=(30, 1))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=30)
    kernel = theirs.ConstantKernel(2.0, "fixed") * theirs.RBF(0.5, (0.3, 0.6))
    model = GaussianProcessRegressor(as_kernel(kernel), alpha=0.01).fit(X, y)
    learnt = as_sklearn_kernel(kernel, model.kernel_)
    assert learnt.k1.constant_value == 2.0
    assert learnt.k2.length_scale == pytest.approx(0.6)


def test_one_length_in_a_list_and_bounds_without_end_are_understood():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 2))
    for given in (
        theirs.RBF([0.7]),
        theirs.Matern([0.7], nu=1.5),
        theirs.RationalQuadratic(0.7),
    ):
        np.testing.assert_allclose(as_kernel(given).gram(X), given(X), atol=1e-12)
    given = theirs.ConstantKernel(0.1, (0.0, np.inf)) * theirs.DotProduct(0.1) ** 2
    ours = as_kernel(given)
    np.testing.assert_allclose(ours.gram(X), given(X), atol=1e-12)
    assert np.isfinite([ours.parameters().low, ours.parameters().high]).all()
