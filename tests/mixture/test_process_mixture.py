"""DirichletProcessMixture: what it finds, says and refuses."""

import numpy as np
import pytest
from scipy import stats

from corollary.mixture import (
    DirichletProcessMixture,
    NormalInverseWishart,
    pair_agreement,
    partition_log_probability,
    summarise_partitions,
)
from corollary.mixture.process._sampler import split_r_hat
from tests.mixture.test_sampler import posterior


def groups(seed=0, n=20):
    rng = np.random.default_rng(seed)
    centres = np.array([[-8.0, 0], [8.0, 0], [0, 12.0]])
    return np.repeat(centres, n, axis=0) + rng.normal(size=(3 * n, 2)), np.repeat([0, 1, 2], n)


def model(**options):
    return DirichletProcessMixture(**({"burn_in": 30, "n_draws": 30, "random_state": 0} | options))


def test_separate_groups_are_found():
    X, z = groups()
    fit = model(concentration=0.1).fit(X)
    np.testing.assert_array_equal(fit.labels_, z)
    assert fit.n_clusters_distribution()[3] > 0.6
    assert fit.n_clusters_distribution().sum() == pytest.approx(1)
    assert fit.expected_loss_ < 0.02
    assert fit.r_hat_ < 1.3
    shared = fit.co_clustering()
    assert shared[z[:, None] == z].min() > 0.7
    assert shared[z[:, None] != z].max() < 0.1
    np.testing.assert_array_equal(fit.predict([[-8.0, 1], [0.0, 11], [9.0, 0]]), [0, 2, 1])
    assert fit.n_clusters_trace_.shape == (2, 60)
    law = NormalInverseWishart(X.mean(axis=0), 0.1, 4.0, np.diag(X.var(axis=0)) / 10)
    for chain in range(2):
        last = fit.partitions_[chain, -1]
        value = partition_log_probability(np.bincount(last), 0.1)
        value += sum(law.log_evidence(X[last == k]) for k in range(last.max() + 1))
        assert fit.log_joint_trace_[chain, -1] == pytest.approx(value, rel=1e-9)
    np.testing.assert_array_equal(fit.n_clusters_trace_[:, 30:], fit.partitions_.max(axis=2) + 1)


def test_rows_are_clustered_in_one_call():
    X = np.random.default_rng(0).normal(size=(30, 2)) + 9 * np.arange(30)[:, None] % 2
    model = DirichletProcessMixture(n_draws=20, burn_in=20, random_state=0)
    labels = model.fit_predict(X)
    np.testing.assert_array_equal(labels, model.labels_)
    np.testing.assert_array_equal(
        labels, DirichletProcessMixture(n_draws=20, burn_in=20, random_state=0).fit(X).labels_
    )


def test_the_predictive_density_is_the_mean_over_partitions():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(5, 1)) * 2
    fit = DirichletProcessMixture(
        1.5,
        mean_prior=[0.5],
        mean_precision_prior=0.3,
        degrees_of_freedom_prior=4.0,
        covariance_prior=[[1.2]],
        burn_in=50,
        n_draws=3000,
        n_chains=2,
        random_state=0,
    ).fit(X)
    law = NormalInverseWishart([0.5], 0.3, 4.0, [[1.2 * 2]])
    np.testing.assert_allclose(fit.scale_prior_, law.scale)
    grid = np.linspace(-6, 6, 7)[:, None]
    density = np.zeros(7)
    for labels, p in posterior(X, law, 1.5)[1].items():
        blocks = np.array(labels)
        density += p * 1.5 / 6.5 * np.exp(law.log_predictive(grid))
        for k in range(blocks.max() + 1):
            rows = X[blocks == k]
            density += p * len(rows) / 6.5 * np.exp(law.posterior(rows).log_predictive(grid))
    np.testing.assert_allclose(np.exp(fit.score_samples(grid)), density, rtol=0.03)
    # Given the draws it is exact.
    few = DirichletProcessMixture(1.5, burn_in=3, n_draws=2, n_chains=1, random_state=0).fit(X)
    prior = NormalInverseWishart(X.mean(axis=0), 0.1, 3.0, [[X.var() / 10]])
    right = 1.5 / 6.5 * np.exp(prior.log_predictive(grid))
    for labels in few.partitions_[0]:
        for k in range(labels.max() + 1):
            rows = X[labels == k]
            right += 0.5 * len(rows) / 6.5 * np.exp(prior.posterior(rows).log_predictive(grid))
    np.testing.assert_allclose(np.exp(few.score_samples(grid)), right, rtol=1e-9)
    fine = np.linspace(-400, 400, 200_001)
    mass = np.trapezoid(np.exp(few.score_samples(fine[:, None])), fine)
    assert mass == pytest.approx(1, abs=1e-3)


def test_the_number_of_clusters_has_its_posterior():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(5, 1)) * 2
    options = {"mean_prior": [0.0], "degrees_of_freedom_prior": 4.0, "covariance_prior": [[0.5]]}
    fit = DirichletProcessMixture(1.0, burn_in=50, n_draws=2000, random_state=1, **options).fit(X)
    law = NormalInverseWishart([0.0], 0.1, 4.0, [[1.0]])
    right = np.zeros(6)
    for labels, p in posterior(X, law, 1.0)[1].items():
        right[max(labels) + 1] += p
    found = np.pad(fit.n_clusters_distribution(), (0, 6))[:6]
    np.testing.assert_allclose(found, right, atol=0.04)


def test_chains_go_on():
    X, _ = groups(3, n=8)
    whole = model(n_draws=20, thin=2).fit(X)
    parts = model(n_draws=12, thin=2, warm_start=True).fit(X)
    parts.set_params(n_draws=8).fit(X)
    for name in ("partitions_", "n_clusters_trace_", "log_joint_trace_", "streams_", "labels_"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name), err_msg=name)
    assert whole.partitions_.shape == (2, 20, 24)
    assert whole.log_joint_trace_.shape == (2, 70)
    np.testing.assert_array_equal(
        whole.partitions_[:, -1].max(axis=1) + 1, whole.n_clusters_trace_[:, -1]
    )
    assert parts.r_hat_ == whole.r_hat_
    with pytest.raises(ValueError, match="goes on with chains over 24 rows"):
        parts.fit(X[:5])


def test_agreement_is_judged_after_the_burn_in_however_chains_went_on():
    X, _ = groups(3, n=8)
    fit = model(n_draws=20, thin=1, warm_start=True).fit(X)
    fit.set_params(n_draws=10, thin=3).fit(X)
    assert fit.log_joint_trace_.shape == (2, fit.burn_in + 50)
    assert fit.r_hat_ == split_r_hat(fit.log_joint_trace_[:, fit.burn_in :])


def test_chains_agree_whatever_the_threads(monkeypatch):
    X, _ = groups(4, n=6)
    first = model(n_chains=3).fit(X)
    monkeypatch.setattr("corollary.core.parallel.threads.available_cores", lambda: 1)
    np.testing.assert_array_equal(first.partitions_, model(n_chains=3).fit(X).partitions_)
    assert not np.array_equal(first.partitions_[0], first.partitions_[1])


def test_degenerate_rows_have_an_answer():
    one = model().fit([[2.0, 3.0]])
    assert one.labels_.tolist() == [0]
    assert np.isfinite(one.score_samples([[0.0, 0.0]]))
    same = model().fit([[1.0, 2.0]] * 8)
    assert np.isfinite(same.score([[1.0, 2.0]]))
    np.testing.assert_allclose(same.scale_prior_, 1e-7 * np.eye(2))
    constant = np.column_stack([np.ones(12), np.arange(12.0)])
    fit = model().fit(constant)
    assert np.isfinite(fit.score_samples(constant)).all()
    variance = np.arange(12.0).var()
    np.testing.assert_allclose(fit.scale_prior_, np.diag([1e-7 * variance, variance / 10]))
    wide = np.random.default_rng(5).normal(size=(3, 6))
    assert np.isfinite(model().fit(wide).score_samples(wide)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"degrees_of_freedom_prior": 3.0}, "above n_features"),
        ({"mean_prior": [0.0]}, "mean_prior of 2 numbers"),
        ({"covariance_prior": [[1.0]]}, "of 2 by 2"),
        ({"covariance_prior": -np.eye(2)}, "positive definite"),
    ],
)
def test_bad_priors_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        model(**options).fit(groups()[0])


def test_agreement_and_summaries_by_hand():
    assert pair_agreement([0, 0, 1], [7, 7, 2]) == 1.0
    assert pair_agreement([0, 0, 1], [0, 1, 2]) == pytest.approx(2 / 3)
    from sklearn.metrics import rand_score

    rng = np.random.default_rng(6)
    a, b = rng.integers(3, size=(2, 20))
    assert pair_agreement(a, b) == pytest.approx(rand_score(a, b))
    draws = [[0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 0, 1]]
    summary = summarise_partitions(draws)
    assert summary.labels.tolist() == [0, 0, 1, 1]
    assert summary.expected_loss == pytest.approx(0.5 / 3)
    assert summarise_partitions([[0], [0]]).labels.tolist() == [0]
    with pytest.raises(ValueError, match="same rows"):
        pair_agreement([0, 1], [0])
    with pytest.raises(ValueError, match="table of labels"):
        summarise_partitions([0, 1])


def test_chains_that_disagree_are_seen():
    rng = np.random.default_rng(7)
    together = rng.normal(size=(4, 400))
    assert split_r_hat(together) == pytest.approx(1, abs=0.03)
    assert split_r_hat(together + [[0], [0], [0], [3]]) > 1.3
    assert split_r_hat(together + np.linspace(0, 4, 400)) > 1.3  # one that still climbs
    assert split_r_hat(np.ones((2, 10))) == 1.0
    assert split_r_hat(np.array([[1.0] * 4, [2.0] * 4])) > 1e10
    assert np.isnan(split_r_hat(np.ones((2, 3))))
    by_hand = np.array([[0.0, 1.0, 2.0, 3.0]])  # halves of mean 1/2 and 5/2, variance 1/2
    assert split_r_hat(by_hand) == pytest.approx(np.sqrt(0.5 + 2 / 0.5))


def test_held_out_density_beats_one_gaussian():
    X, _ = groups(8, n=30)
    train, test = X[::2], X[1::2]
    gaussian = stats.multivariate_normal(train.mean(axis=0), np.cov(train.T)).logpdf(test).mean()
    assert model().fit(train).score_samples(test).mean() > gaussian + 1


def test_a_saved_chain_goes_on_and_a_forged_one_is_refused(tmp_path):
    import corollary

    X, _ = groups(9, n=6)
    fit = model(n_draws=4, warm_start=True).fit(X)
    corollary.save(fit, tmp_path / "chains")
    loaded = corollary.load(tmp_path / "chains")
    np.testing.assert_array_equal(loaded.score_samples(X), fit.score_samples(X))
    np.testing.assert_array_equal(loaded.fit(X).partitions_, fit.fit(X).partitions_)
    fit.sizes_ = fit.sizes_ + 100
    with pytest.raises(TypeError, match="more rows"):
        corollary.save(fit, tmp_path / "forged")


def test_rows_have_the_same_bits_however_they_lie_in_memory():
    X = np.random.default_rng(8).normal(size=(40, 3))
    options = {"burn_in": 5, "n_draws": 5, "random_state": 0}
    density = DirichletProcessMixture(**options).fit(X).score_samples(X)
    same = DirichletProcessMixture(**options).fit(np.asfortranarray(X))
    assert np.array_equal(same.score_samples(X), density)
