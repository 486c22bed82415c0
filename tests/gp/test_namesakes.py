"""The processes against scikit-learn's of the same name, with its kernel objects."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier as PeerClassifier
from sklearn.gaussian_process import GaussianProcessRegressor as PeerRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)

import corollary.kernels
from corollary.gp import GaussianProcessClassifier, GaussianProcessRegressor

RNG = np.random.default_rng(0)
X = RNG.uniform(0.0, 5.0, size=(60, 2))
NOISY = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.2 * RNG.normal(size=60)
NEW = RNG.uniform(0.0, 5.0, size=(7, 2))
KERNELS = {
    "noise": 1.0 * RBF(1.0) + WhiteKernel(0.1),
    "scales": ConstantKernel(2.0, (0.1, 50.0)) * Matern([1.0, 3.0], nu=2.5) + WhiteKernel(0.1),
    "fixed": ConstantKernel(1.0, "fixed") * RBF(0.7, "fixed") + WhiteKernel(0.1),
    "line": DotProduct(0.5) + WhiteKernel(0.1),
    "quadratic": RationalQuadratic(1.0, 2.0, alpha_bounds="fixed") + WhiteKernel(0.1),
}


@pytest.mark.parametrize("name", KERNELS)
def test_regression_learns_what_scikit_learn_learns(name):
    theirs = PeerRegressor(KERNELS[name], n_restarts_optimizer=2, random_state=0).fit(X, NOISY)
    ours = GaussianProcessRegressor(KERNELS[name], random_state=0).fit(X, NOISY)
    value = ours.log_marginal_likelihood_value_
    assert value == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-3)
    assert type(ours.kernel_) is type(theirs.kernel_)
    np.testing.assert_allclose(ours.kernel_.theta, theirs.kernel_.theta, atol=0.05)
    # At the same hyper-parameters everything is equal.
    ours.kernel_.theta = theirs.kernel_.theta
    same = GaussianProcessRegressor(theirs.kernel_, optimizer=None).fit(X, NOISY)
    for options in ({"return_std": True}, {"return_cov": True}):
        for mine, peer in zip(same.predict(NEW, **options), theirs.predict(NEW, **options)):
            np.testing.assert_allclose(mine, peer, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(same.L_, theirs.L_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(same.alpha_, theirs.alpha_, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(same.X_train_, theirs.X_train_)
    np.testing.assert_array_equal(same.y_train_, theirs.y_train_)
    theta = theirs.kernel_.theta + 0.3
    mine, peer = (m.log_marginal_likelihood(theta, eval_gradient=True) for m in (same, theirs))
    assert mine[0] == pytest.approx(peer[0], rel=1e-9)
    np.testing.assert_allclose(mine[1], peer[1], rtol=1e-5, atol=1e-6)


def test_bounds_and_fixed_numbers_are_kept():
    kernel = ConstantKernel(1.0, "fixed") * RBF(0.5, (0.4, 0.6))
    model = GaussianProcessRegressor(kernel, alpha=0.1)
    with pytest.warns(ConvergenceWarning, match="k2__length_scale is close to the specified upper"):
        model.fit(X, NOISY)
    assert model.kernel_.k1.constant_value == 1.0
    assert 0.4 <= model.kernel_.k2.length_scale <= 0.6 + 1e-12
    assert model.noise_variance_ == 0.1
    assert kernel.k2.length_scale == 0.5


def test_noise_by_rows_and_equal_rows():
    alpha = RNG.uniform(0.05, 0.5, size=60)
    doubled = np.vstack([X[:30], X[:30]])
    kernel = 1.0 * RBF(1.0) + WhiteKernel(0.1, "fixed")
    for extra in (alpha, 0.2):
        theirs = PeerRegressor(kernel, alpha=extra, normalize_y=True).fit(doubled, NOISY)
        ours = GaussianProcessRegressor(theirs.kernel_, alpha=extra, normalize_y=True)
        ours.set_params(optimizer=None).fit(doubled, NOISY)
        for mine, peer in zip(ours.predict(NEW, True), theirs.predict(NEW, True)):
            np.testing.assert_allclose(mine, peer, rtol=1e-6)
        mine, peer = ours.log_marginal_likelihood(), theirs.log_marginal_likelihood()
        assert mine == pytest.approx(peer, rel=1e-9)
    several = GaussianProcessRegressor(kernel, n_targets=2)
    assert several.sample_y(NEW, 3).shape == (7, 2, 3)
    with pytest.raises(ValueError, match="MultiOutputRegressor"):
        several.fit(X, NOISY)
    with pytest.raises(ValueError, match="same number of entries as y"):
        GaussianProcessRegressor(kernel, alpha=alpha[:9]).fit(X, NOISY)


def test_noise_of_our_kernels_belongs_to_rows_too():
    doubled = np.vstack([X[:30], X[:30]])
    ours = corollary.kernels.RBF(1.0) + corollary.kernels.White(0.3)
    mine = GaussianProcessRegressor(ours, alpha=1e-10, optimizer=None, normalize_y=False)
    theirs = PeerRegressor(RBF(1.0) + WhiteKernel(0.3), optimizer=None).fit(doubled, NOISY)
    np.testing.assert_allclose(mine.fit(doubled, NOISY).predict(NEW), theirs.predict(NEW))


def test_optimisers_of_users():
    def optimizer(objective, start, bounds):
        result = minimize(objective, start, jac=True, bounds=bounds, method="L-BFGS-B")
        return result.x, result.fun

    kernel = 1.0 * DotProduct(0.7) + RBF(1.0) + WhiteKernel(0.1)
    usual, asked = (
        GaussianProcessRegressor(kernel, optimizer=o).fit(X, NOISY)
        for o in ("fmin_l_bfgs_b", optimizer)
    )
    difference = asked.log_marginal_likelihood_value_ - usual.log_marginal_likelihood_value_
    assert abs(difference) < 0.05
    own = GaussianProcessRegressor(optimizer=optimizer).fit(X, NOISY)
    assert own.log_marginal_likelihood_value_ == pytest.approx(
        GaussianProcessRegressor().fit(X, NOISY).log_marginal_likelihood_value_, abs=0.05
    )


def test_the_prior_answers_before_fit():
    kernel = 2.0 * RBF(0.5)
    for ours, theirs in zip(
        GaussianProcessRegressor(kernel).predict(NEW, return_cov=True),
        PeerRegressor(kernel).predict(NEW, return_cov=True),
    ):
        np.testing.assert_allclose(ours, theirs)
    assert GaussianProcessRegressor().sample_y(NEW, 3).shape == (7, 3)


def test_defaults_beat_scikit_learn_on_noisy_targets():
    # Why the noise is learnt and the target standardised unless scikit-learn's object is given.
    for shift in (0.0, 100.0):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours = GaussianProcessRegressor(random_state=0).fit(X[:40], NOISY[:40] + shift)
            theirs = PeerRegressor(random_state=0).fit(X[:40], NOISY[:40] + shift)
        scores = [m.score(X[40:], NOISY[40:] + shift) for m in (ours, theirs)]
        assert scores[0] > max(0.7, scores[1])


def test_clones_keep_kernel_objects():
    model = GaussianProcessRegressor(1.0 * RBF(1.0)).set_params(kernel__k2__length_scale=3.0)
    assert clone(model).kernel.k2.length_scale == 3.0


FAR = np.hypot(X[:, 0] - 2.5, X[:, 1] - 2.5) + 0.4 * RNG.normal(size=60) > 1.5
LABELS = np.array(["in", "out"])[FAR.astype(int)]
THREE = np.digitize(NOISY, [0.0, 1.0])


def test_classification_learns_what_scikit_learn_learns():
    kernel = ConstantKernel(4.0, "fixed") * RBF(1.0)
    theirs = PeerClassifier(kernel, random_state=0).fit(X, LABELS)
    ours = GaussianProcessClassifier(kernel, random_state=0).fit(X, LABELS)
    value = ours.log_marginal_likelihood_value_
    assert value == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-3)
    np.testing.assert_allclose(ours.kernel_.theta, theirs.kernel_.theta, atol=0.05)
    assert (ours.n_classes_, ours.base_estimator_) == (2, ours)
    same = GaussianProcessClassifier(theirs.kernel_, optimizer=None).fit(X, LABELS)
    mine, peer = (m.latent_mean_and_variance(NEW) for m in (same, theirs))
    np.testing.assert_allclose(mine, peer, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(same.predict_proba(NEW), theirs.predict_proba(NEW), atol=0.01)
    theta = theirs.kernel_.theta + 0.2
    mine, peer = (m.log_marginal_likelihood(theta, eval_gradient=True) for m in (same, theirs))
    assert mine[0] == pytest.approx(peer[0], rel=1e-6)
    np.testing.assert_allclose(mine[1], peer[1], rtol=1e-4, atol=1e-5)


def test_several_classes_as_in_scikit_learn():
    kernel = 2.0 * RBF(1.0)
    theirs = PeerClassifier(kernel, optimizer=None).fit(X, THREE)
    ours = GaussianProcessClassifier(kernel, optimizer=None).fit(X, THREE)
    np.testing.assert_array_equal(ours.kernel_.theta, theirs.kernel_.theta)
    for theta in (kernel.theta, kernel.theta + 0.1, np.tile(kernel.theta, 3)):
        mine, peer = (m.log_marginal_likelihood(theta) for m in (ours, theirs))
        assert mine == pytest.approx(peer, rel=1e-6)
    np.testing.assert_array_equal(ours.predict(NEW), theirs.predict(NEW))
    with pytest.raises(NotImplementedError, match="not implemented for multi-class"):
        ours.log_marginal_likelihood(kernel.theta, eval_gradient=True)
    with pytest.raises(ValueError, match="only supported for binary classification"):
        ours.latent_mean_and_variance(NEW)
    with pytest.raises(ValueError, match="OneVsOneClassifier"):
        GaussianProcessClassifier(multi_class="one_vs_one").fit(X, THREE)


def test_warm_start_of_a_classifier():
    model = GaussianProcessClassifier(1.0 * RBF(1.0, (1e-2, 1e2)), warm_start=True)
    first = model.fit(X, LABELS).n_iter_
    assert model.fit(X, LABELS).n_iter_ < first


def test_length_scales_of_their_own_must_win_clearly():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(300, 6))
    round_ = (rows**2).sum(axis=1) > 5.3
    thin = np.sin(3 * rows[:, 0]) > 0
    same = GaussianProcessClassifier(random_state=0).fit(rows, round_)
    own = GaussianProcessClassifier(random_state=0).fit(rows, thin)
    scales = [model.kernel_.kernel.length_scale / rows.std(axis=0) for model in (same, own)]
    np.testing.assert_allclose(scales[0], scales[0][0])
    assert scales[1][0] < 0.1 * scales[1][1:].min()
