"""Loops of mixtures without the compiler."""

import warnings

import numpy as np


def _rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(12, 2)) + np.repeat([[-3.0], [3.0]], 6, axis=0)


def check_steps_of_em():
    from corollary.mixture import GaussianMixture, MixtureLaw

    X = _rows()
    for kind in ("full", "diag"):
        model = GaussianMixture(2, covariance_type=kind, max_iter=1, tol=0, reg_covar=0.1)
        model.set_params(random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X)
            model.fit(X, sample_weight=np.arange(12.0))
        law = model.to_law()
        density = MixtureLaw(law.weights, law.means, law.covariances).logdensity(X)
        assert np.allclose(model.score_samples(X), density)


def check_sweeps():
    from corollary.mixture import DirichletProcessMixture

    X = _rows()
    model = DirichletProcessMixture(5.0, burn_in=1, n_draws=4, split_merge=3, random_state=0)
    model.fit(X)
    assert np.isfinite(model.score(X))
    assert model.predict(X).shape == (12,)
    # Far rows, which need room for many clusters.
    far = DirichletProcessMixture(50.0, burn_in=0, n_draws=2, random_state=0, n_chains=1)
    far.set_params(mean_precision_prior=1e-6, covariance_prior=[[1.0]])
    far.set_params(degrees_of_freedom_prior=1e6)
    far.fit(100.0 * np.arange(24)[:, None])
    assert far.n_clusters_trace_.max() > 20
