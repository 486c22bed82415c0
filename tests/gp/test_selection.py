"""Scores, ranking and the teacher-student matrix against closed forms and simulation."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

from corollary.gp import (
    GaussianLaw,
    gaussian_divergence,
    gp_posterior,
    normal_scores,
    rank_kernels,
    sample_prior,
    teacher_student,
)
from corollary.kernels import RBF, Matern

KERNELS = {
    "short": RBF(0.4),
    "long": RBF(2.0),
    "rough": Matern(1.0, nu=0.5),
}


@pytest.mark.parametrize(("y", "mean", "std"), [(0.3, 0.0, 1.0), (-2.0, 1.0, 0.5), (4.0, 4.0, 3.0)])
def test_scores_against_their_definitions(y, mean, std):
    scores = normal_scores([y], [mean], [std])
    assert scores.squared_error == pytest.approx((y - mean) ** 2)
    assert scores.log_density == pytest.approx(norm(mean, std).logpdf(y))
    below, _ = quad(lambda t: norm(mean, std).cdf(t) ** 2, -60, y, points=[mean], limit=200)
    above, _ = quad(lambda t: norm(mean, std).sf(t) ** 2, y, 60, points=[mean], limit=200)
    assert scores.crps == pytest.approx(below + above, rel=1e-6)


def test_proper_scores_prefer_the_truth(seed):
    y = np.random.default_rng(seed).normal(1.0, 2.0, size=20_000)
    truth = normal_scores(y, np.full(20_000, 1.0), np.full(20_000, 2.0))
    for mean, std in ((1.0, 1.0), (1.0, 4.0), (2.0, 2.0)):
        other = normal_scores(y, np.full(20_000, mean), np.full(20_000, std))
        assert other.log_density < truth.log_density
        assert other.crps > truth.crps


@pytest.mark.parametrize("by", ["evidence", "log_density", "crps", "squared_error"])
def test_ranking_recovers_the_generating_kernel(by, seed):
    X = np.random.default_rng(seed).uniform(0, 20, size=(250, 1))
    y = sample_prior(RBF(0.6), X, noise=0.01, random_state=seed).ravel()
    kernels = {"short": RBF(0.1), "true": RBF(0.6), "long": RBF(4.0)}
    settings = {"by": by, "alpha": 0.01, "optimizer": None}
    ranking = rank_kernels(kernels, X, y, **settings)
    assert ranking[0].name == "true"
    held_out = (X[200:], y[200:])
    ranking = rank_kernels(kernels, X[:200], y[:200], held_out=held_out, **settings)
    assert ranking[0].name == "true"
    mean, std = ranking[0].model.predict(X[200:], return_std=True, noisy=True)
    assert ranking[0].scores.log_density == pytest.approx(norm(mean, std).logpdf(y[200:]).mean())


def test_divergence_against_simulation_and_itself(seed):
    rng = np.random.default_rng(seed)
    A, B = (rng.normal(size=(3, 6)) for _ in range(2))
    p, q = GaussianLaw(rng.normal(size=3), A @ A.T), GaussianLaw(rng.normal(size=3), B @ B.T)
    assert gaussian_divergence(p, p) == pytest.approx(0.0, abs=1e-10)
    x = rng.multivariate_normal(p.mean, p.covariance, size=100_000)
    log_ratio = multivariate_normal(*p).logpdf(x) - multivariate_normal(*q).logpdf(x)
    spread = 6 * log_ratio.std() / np.sqrt(len(x))
    assert abs(log_ratio.mean() - gaussian_divergence(p, q)) < spread


def test_teacher_student_matrix(seed):
    rng = np.random.default_rng(seed)
    X, new = rng.uniform(0, 4, size=(6, 1)), rng.uniform(0, 4, size=(3, 1))
    lost = teacher_student(KERNELS, X, new, noise=0.1)
    assert np.array_equal(np.diag(lost), np.zeros(3))
    assert (lost + np.eye(3) > 0).all()  # the teacher is its own best student
    # simulated: log score of the teacher less that of the student
    teacher, student = KERNELS["short"], KERNELS["rough"]
    both = np.concatenate([X, new])
    draws = sample_prior(teacher, both, 4000, noise=0.1, random_state=seed)

    def log_scores(kernel):
        K = kernel.gram(both)
        mean = K[6:, :6] @ np.linalg.solve(K[:6, :6] + 0.1 * np.eye(6), draws[:6])
        law = gp_posterior(K[:6, :6], np.zeros(6), 0.1, K[6:, :6], K[6:, 6:])
        predictive = multivariate_normal(np.zeros(3), law.covariance + 0.1 * np.eye(3))
        return predictive.logpdf((draws[6:] - mean).T)

    gain = (log_scores(teacher) - log_scores(student)) / 3
    assert abs(gain.mean() - lost[0, 2]) < 6 * gain.std() / np.sqrt(4000)
    # Points so far apart that nothing is learnt: normal laws of variance 1 + 1 and 4 + 1.
    apart = teacher_student({"a": RBF(), "b": 4.0 * RBF()}, [[0.0]], [[99.0], [-99.0]], noise=1.0)
    assert apart[0, 1] == pytest.approx(0.5 * (np.log(2.5) + 2 / 5 - 1))
    assert apart[1, 0] == pytest.approx(0.5 * (np.log(0.4) + 5 / 2 - 1))


def test_errors():
    with pytest.raises(ValueError, match="positive standard deviations"):
        normal_scores([0.0], [0.0], [0.0])
    with pytest.raises(ValueError, match="at least one kernel"):
        rank_kernels({}, [[0.0]], [0.0])
    with pytest.raises(ValueError, match="'by' parameter of rank_kernels"):
        rank_kernels(KERNELS, [[0.0]], [0.0], by="luck")
    with pytest.raises(ValueError, match="'noise' parameter of teacher_student"):
        teacher_student(KERNELS, np.zeros((1, 1)), np.ones((1, 1)), noise=0.0)
    with pytest.raises(ValueError, match="at least one new point"):
        teacher_student(KERNELS, np.zeros((1, 1)), np.ones((0, 1)))
