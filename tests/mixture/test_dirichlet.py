"""Beta, Dirichlet and stick-breaking, against SciPy, closed forms and moments."""

import numpy as np
import pytest
from scipy import stats

from corollary.mixture import (
    beta_log_density,
    dirichlet_by_sticks,
    dirichlet_log_density,
    dirichlet_posterior,
    dirichlet_process_marginals,
    draw_bayesian_mixture,
    draw_dirichlet_process,
    draw_process_mixture,
    gem_weights,
    stick_weights,
    tables_distribution,
)


def test_beta_equals_scipy_and_a_value_by_hand():
    x = np.linspace(0.01, 0.99, 9)
    for a, b in ((2.0, 5.0), (0.5, 0.5), (1.0, 3.0)):
        np.testing.assert_allclose(beta_log_density(x, a, b), stats.beta(a, b).logpdf(x))
    assert np.exp(beta_log_density(0.5, 2.0, 3.0)) == pytest.approx(12 * 0.5 * 0.25)
    np.testing.assert_array_equal(beta_log_density([-0.1, 1.1], 1.0, 1.0), [-np.inf, -np.inf])
    np.testing.assert_array_equal(beta_log_density([0.0, 1.0], 1.0, 1.0), [0.0, 0.0])
    with pytest.raises(ValueError, match="'a' parameter"):
        beta_log_density(0.5, 0.0, 1.0)


def test_dirichlet_equals_scipy_and_beta():
    rng = np.random.default_rng(0)
    alpha = np.array([0.5, 2.0, 3.0])
    x = rng.dirichlet(alpha, size=7)
    right = [stats.dirichlet(alpha).logpdf(point) for point in x]
    np.testing.assert_allclose(dirichlet_log_density(x, alpha), right)
    two = np.column_stack([x[:, 0], 1 - x[:, 0]])
    beta = stats.beta(2.0, 3.0).logpdf(x[:, 0])
    np.testing.assert_allclose(dirichlet_log_density(two, [2.0, 3.0]), beta)
    for point, parameters, message in (
        ([0.5, 0.6], [1.0, 1.0], "simplex"),
        ([1.5, -0.5], [1.0, 1.0], "simplex"),
        ([1.0], [1.0, 1.0], "simplex"),
        ([0.5, 0.5], [0.0, 1.0], "positive"),
        ([0.5, 0.5], [], "positive"),
    ):
        with pytest.raises(ValueError, match=message):
            dirichlet_log_density(point, parameters)


def test_counting_is_conjugate():
    alpha, counts = np.array([0.5, 2.0, 3.0]), np.array([4, 0, 1])
    after = dirichlet_posterior(alpha, counts)
    np.testing.assert_array_equal(after, [4.5, 2.0, 4.0])
    x = np.random.default_rng(1).dirichlet(alpha, size=5)
    # Prior times likelihood over posterior is the same number everywhere.
    ratio = dirichlet_log_density(x, alpha) + np.log(x) @ counts - dirichlet_log_density(x, after)
    np.testing.assert_allclose(ratio, ratio[0])
    for bad in ([1, 2], [-1, 0, 0]):
        with pytest.raises(ValueError, match="counts must be"):
            dirichlet_posterior(alpha, bad)


def test_sticks_by_hand():
    np.testing.assert_allclose(stick_weights([0.3, 0.5, 0.2]), [0.3, 0.35, 0.07])
    np.testing.assert_allclose(stick_weights([[1.0, 0.5], [0.0, 1.0]]), [[1, 0], [0, 1]])
    with pytest.raises(ValueError, match="from 0 to 1"):
        stick_weights([1.2])


def test_sticks_have_the_law_of_a_dirichlet():
    alpha = np.array([0.5, 2.0, 3.0])
    draws = dirichlet_by_sticks(alpha, 40_000, random_state=0)
    np.testing.assert_allclose(draws.sum(axis=1), 1)
    law = stats.dirichlet(alpha)
    np.testing.assert_allclose(draws.mean(axis=0), [0.0909, 0.3636, 0.5455], atol=0.004)
    np.testing.assert_allclose(draws.var(axis=0), law.var(), rtol=0.04)
    np.testing.assert_allclose(np.cov(draws.T), law.cov(), atol=0.0015)
    # What is left, renormalised, is a Dirichlet law, and independent of the first piece.
    rest = draws[:, 1:] / (1 - draws[:, :1])
    assert stats.kstest(rest[:2000, 0], stats.beta(2.0, 3.0).cdf).pvalue > 1e-4
    assert abs(np.corrcoef(rest[:, 0], draws[:, 0])[0, 1]) < 0.02
    assert dirichlet_by_sticks([2.0], 3).tolist() == [[1.0]] * 3


def test_gem_weights_have_their_moments():
    random, alpha = np.random.RandomState(0), 2.0
    draws = [gem_weights(alpha, 1e-6, random) for _ in range(4000)]
    for i in range(4):  # the mean of piece i is a geometric sequence
        mean = np.mean([w[i] for w in draws])
        assert mean == pytest.approx((alpha / (1 + alpha)) ** i / (1 + alpha), abs=0.01)
    left = [1 - w[:3].sum() for w in draws]
    assert np.mean(left) == pytest.approx((2 / 3) ** 3, abs=0.012)
    first = [w[0] for w in draws]
    assert stats.kstest(first, stats.beta(1.0, alpha).cdf).pvalue > 1e-4
    lengths = [len(w) - 1 for w in draws]
    assert np.mean(lengths) == pytest.approx(1 + alpha * np.log(1e6), rel=0.02)
    for w in draws[:100]:
        assert w.sum() == pytest.approx(1)
        assert w[-1] < 1e-6
        assert w[-2] + w[-1] >= 1e-6


def test_a_draw_of_a_process_has_dirichlet_marginals():
    random = np.random.RandomState(1)
    alpha, cuts = 2.0, [0.2, 0.7]
    marginals = dirichlet_process_marginals(alpha, [0.2, 0.5, 0.3])
    masses = []
    for _ in range(2500):
        G = draw_dirichlet_process(
            alpha, lambda n, r: r.uniform(size=n), tol=1e-4, random_state=random
        )
        cells = np.searchsorted(cuts, G.atoms)
        masses.append(np.bincount(cells, weights=G.weights, minlength=3))
    masses = np.array(masses)
    np.testing.assert_allclose(masses.mean(axis=0), marginals.mean, atol=0.015)
    np.testing.assert_allclose(masses.var(axis=0), marginals.variance, rtol=0.1)
    for j in range(3):
        a = marginals.alpha[j]
        assert stats.kstest(masses[:, j], stats.beta(a, alpha - a).cdf).pvalue > 1e-4


def test_marginals_by_hand():
    marginals = dirichlet_process_marginals(4.0, [0.25, 0.75])
    np.testing.assert_allclose(marginals.alpha, [1.0, 3.0])
    np.testing.assert_allclose(marginals.mean, [0.25, 0.75])
    np.testing.assert_allclose(marginals.variance, [0.1875 / 5] * 2)
    np.testing.assert_allclose(marginals.variance, stats.dirichlet(marginals.alpha).var())
    for bad in ([0.5, 0.6], [0.0, 1.0], [[1.0]]):
        with pytest.raises(ValueError, match="positive numbers of sum one"):
            dirichlet_process_marginals(1.0, bad)


def test_a_drawn_mixture_has_its_moments():
    random = np.random.RandomState(2)
    alpha = np.array([1.0, 2.0, 5.0])
    options = {"prior_mean": [1.0, -1.0], "prior_spread": 3.0, "spread": 0.5}
    draws = [draw_bayesian_mixture(20, alpha, random_state=random, **options) for _ in range(3000)]
    weights = np.array([draw.weights for draw in draws])
    np.testing.assert_allclose(weights.mean(axis=0), alpha / 8, atol=0.01)
    labels = np.array([np.bincount(draw.z, minlength=3) / 20 for draw in draws])
    np.testing.assert_allclose(labels.mean(axis=0), alpha / 8, atol=0.012)
    means = np.concatenate([draw.means for draw in draws])
    np.testing.assert_allclose(means.mean(axis=0), [1.0, -1.0], atol=0.15)
    np.testing.assert_allclose(means.std(axis=0), 3.0, rtol=0.03)
    noise = np.concatenate([draw.X - draw.means[draw.z] for draw in draws])
    np.testing.assert_allclose(noise.std(axis=0), 0.5, rtol=0.02)
    assert abs(np.corrcoef(noise.T)[0, 1]) < 0.02
    assert abs(np.corrcoef(noise[::20, 0], noise[1::20, 0])[0, 1]) < 0.09
    assert abs(np.corrcoef(means.T)[0, 1]) < 0.05


def test_a_drawn_process_mixture_has_the_clusters_of_the_restaurant():
    random = np.random.RandomState(3)
    n, alpha = 15, 1.5
    options = {"prior_mean": [2.0, -2.0], "prior_spread": 3.0, "spread": 0.5}
    draws = [draw_process_mixture(n, alpha, random_state=random, **options) for _ in range(3000)]
    counts = np.bincount([len(np.unique(draw.z)) for draw in draws], minlength=n + 1)
    law = tables_distribution(n, alpha)
    kept = law * 3000 > 5
    observed = np.append(counts[kept], counts[~kept].sum())
    expected = np.append(law[kept], law[~kept].sum()) * 3000
    assert stats.chisquare(observed, expected).pvalue > 1e-4
    noise = np.array([draw.X - draw.means[draw.z] for draw in draws])
    assert noise.std() == pytest.approx(0.5, rel=0.02)
    # Rows and columns have noise of their own, and so do the means.
    assert abs(np.corrcoef(noise[:, 0, 0], noise[:, 1, 0])[0, 1]) < 0.09
    assert abs(np.corrcoef(noise[:, 0, 0], noise[:, 0, 1])[0, 1]) < 0.09
    means = np.array([draw.means[0] for draw in draws])
    np.testing.assert_allclose(means.mean(axis=0), [2.0, -2.0], atol=0.25)
    np.testing.assert_allclose(means.std(axis=0), 3.0, rtol=0.06)
    assert abs(np.corrcoef(means.T)[0, 1]) < 0.09
