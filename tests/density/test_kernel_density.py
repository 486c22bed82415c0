"""Sums of kernels against naive sums, and the estimator against scikit-learn and SciPy."""

import math

import matplotlib
import numpy as np
import pytest
import sklearn.neighbors
from scipy import stats
from scipy.integrate import quad
from scipy.special import logsumexp
from threadpoolctl import threadpool_limits

import corollary
from corollary.density import (
    DensityDisplay,
    KernelDensity,
    KernelSum,
    draw_from_kernel,
    log_kernel_integral,
    mass_levels,
    smoothed_log_density,
    smoothed_score,
)

matplotlib.use("Agg")

KERNELS = {
    "gaussian": lambda r: np.exp(-(r**2) / 2),
    "exponential": lambda r: np.exp(-r),
    "tophat": lambda r: (r < 1) * 1.0,
    "epanechnikov": lambda r: np.maximum(1 - r**2, 0) * (r < 1),
    "linear": lambda r: np.maximum(1 - r, 0),
    "cosine": lambda r: np.cos(np.pi * r / 2) * (r < 1),
}
RNG = np.random.default_rng(0)
X, Q, W = RNG.normal(size=(700, 3)), 1.5 * RNG.normal(size=(40, 3)), RNG.uniform(size=700)


def distance(Q, X, p=2.0):
    gaps = np.abs(Q[:, None] - X)
    return gaps.max(axis=2) if math.isinf(p) else (gaps**p).sum(axis=2) ** (1 / p)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("p", [2.0, 1.0, 3.0, math.inf])
def test_sums_equal_the_naive_ones(kernel, p):
    radius = RNG.uniform(0.5, 2.0, 700)
    for h in (None, radius):
        sums = KernelSum(X, W, h, kernel, p).log_values(Q)
        units = distance(Q, X, p) / (1.0 if h is None else h)
        naive = (W * KERNELS[kernel](units)).sum(axis=1)
        np.testing.assert_allclose(np.exp(sums), naive, rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize("width", [1e-3, 0.05, 1.0, 100.0])
def test_no_width_loses_digits(width):
    """Boxes much wider than kernels, and kernels much wider than all rows."""
    rows, asked = X / width, np.concatenate([Q, X[:5], 50 * Q[:5]]) / width
    sums = KernelSum(rows, W).log_values(asked)
    naive = logsumexp(-(distance(asked, rows) ** 2) / 2, b=W, axis=1)
    np.testing.assert_allclose(sums, naive, rtol=1e-13, atol=2e-14)
    exponential = KernelSum(rows, W, kernel="exponential").log_values(asked)
    naive = logsumexp(-distance(asked, rows), b=W, axis=1)
    np.testing.assert_allclose(exponential, naive, rtol=1e-13, atol=2e-14)


def test_leaving_out_is_a_sum_over_the_others():
    radius = RNG.uniform(0.5, 2.0, 700)
    for kernel in KERNELS:
        sums = KernelSum(X, W, radius, kernel).log_leave_one_out()
        values = W * KERNELS[kernel](distance(X, X) / radius)
        np.fill_diagonal(values, 0)
        np.testing.assert_allclose(np.exp(sums), values.sum(axis=1), rtol=1e-10)
    alone = KernelSum(np.array([[0.0], [1e5]]), np.ones(2)).log_leave_one_out()
    np.testing.assert_allclose(alone, -0.5e10, rtol=1e-15)
    assert KernelSum(np.zeros((1, 2)), np.ones(1)).log_leave_one_out()[0] == -np.inf


def test_errors_that_are_allowed_are_kept():
    exact = np.exp(KernelSum(X * 4, W).log_values(Q * 4))
    for rtol in (1e-3, 0.1):
        rough = np.exp(KernelSum(X * 4, W).log_values(Q * 4, rtol=rtol))
        assert (rough <= exact).all()
        assert (rough >= (1 - rtol) * exact).all()
    assert (rough < exact).any()
    rough = np.exp(KernelSum(X * 4, W).log_values(Q * 4, atol=0.01))
    assert (np.abs(rough - exact) <= 0.01).all()
    assert (rough < exact).any()


def test_threads_and_batches_change_no_bit():
    model = KernelDensity(bandwidth="reference").fit(X)
    together = model.score_samples(np.tile(Q, (5, 1)))
    np.testing.assert_array_equal(together[:40], together[160:])
    with threadpool_limits(1):
        np.testing.assert_array_equal(together[:40], [model.score_samples(q[None])[0] for q in Q])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_kernels_integrate_to_what_they_say(kernel, d):
    reach = 40.0 if kernel in ("gaussian", "exponential") else 1.0

    def moment(r):
        return r ** (d - 1) * float(KERNELS[kernel](np.float64(r)))

    radial = quad(moment, 0, reach, limit=200)[0]
    for p in (1.0, 2.0, 3.0, math.inf):
        volume = (2 * math.gamma(1 + 1 / p)) ** d / math.gamma(1 + d / p)
        ours = math.exp(log_kernel_integral(kernel, d, p=p))
        assert ours == pytest.approx(d * volume * radial, rel=1e-7)
    assert math.exp(log_kernel_integral("tophat", 2)) == pytest.approx(math.pi)
    assert math.exp(log_kernel_integral("tophat", 2, p=math.inf)) == pytest.approx(4)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("p", [1.0, 2.0, math.inf])
def test_draws_follow_kernels(kernel, p):
    d, n = 2, 20_000
    Z = draw_from_kernel(kernel, n, d, p=p, random_state=0)
    r = distance(Z, np.zeros((1, d)), p)[:, 0]
    reach = 40.0 if kernel in ("gaussian", "exponential") else 1.0
    norm = quad(lambda t: t * float(KERNELS[kernel](np.float64(t))), 0, reach)[0]
    for t in np.quantile(r, [0.1, 0.5, 0.9]):
        share = quad(lambda u: u * float(KERNELS[kernel](np.float64(u))), 0, t)[0] / norm
        assert abs(np.mean(r < t) - share) < 5 * math.sqrt(0.25 / n)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=5 * r.std() / math.sqrt(n) + 0.02)
    # Signs and sizes of columns do not depend on each other's order.
    ratio = np.abs(Z[:, 0]) / np.abs(Z).sum(axis=1)
    assert np.mean(ratio < 0.5) == pytest.approx(0.5, abs=0.02)
    expected = {1.0: 0.25, 2.0: 2 / math.pi * math.atan(1 / 3), math.inf: 1 / 6}[p]
    assert np.mean(ratio < 0.25) == pytest.approx(expected, abs=0.02)


# -- the estimator ---------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("bandwidth", [0.8, "scott", "silverman"])
def test_scikit_learns_densities(kernel, bandwidth):
    weight = None if isinstance(bandwidth, str) else W
    ours = KernelDensity(kernel=kernel, bandwidth=bandwidth).fit(X, sample_weight=weight)
    theirs = sklearn.neighbors.KernelDensity(kernel=kernel, bandwidth=bandwidth)
    theirs.fit(X, sample_weight=weight)
    assert ours.bandwidth_ == pytest.approx(theirs.bandwidth_)
    mine, peer = np.exp(ours.score_samples(Q)), np.exp(theirs.score_samples(Q))
    # scikit-learn adds logarithms of sums with a loss of a few digits.
    np.testing.assert_allclose(mine, peer, rtol=1e-7, atol=1e-14)
    assert ours.score(Q[:3]) == pytest.approx(ours.score_samples(Q[:3]).sum())


def test_scipys_density_after_whitening():
    rows = X @ np.array([[2.0, 0.0, 0.0], [1.5, 1.0, 0.0], [0.0, 0.3, 0.1]]) + 1e6
    asked = rows[:20] + 0.05
    ours = KernelDensity(bandwidth="reference").fit(rows)
    theirs = stats.gaussian_kde(rows.T, bw_method="silverman")
    np.testing.assert_allclose(ours.score_samples(asked), theirs.logpdf(asked.T), rtol=1e-7)
    weighted = KernelDensity(bandwidth="reference").fit(rows, sample_weight=np.full(700, 2.0))
    copied = KernelDensity(bandwidth="reference").fit(np.repeat(rows, 2, axis=0))
    np.testing.assert_allclose(weighted.score_samples(asked), copied.score_samples(asked))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "minkowski"])
@pytest.mark.parametrize("bandwidth", [0.7, [0.4, 0.9], "reference", "likelihood", "neighbors"])
def test_densities_integrate_to_one(metric, bandwidth):
    rows = X[:60, :2]
    params = {"p": 3.0} if metric == "minkowski" else None
    model = KernelDensity(
        bandwidth=bandwidth, metric=metric, metric_params=params, kernel="linear", n_neighbors=5
    )
    if bandwidth == "likelihood":
        model.set_params(kernel="gaussian")
    grid = np.linspace(-8, 8, 201)
    points = np.stack([axis.ravel() for axis in np.meshgrid(grid, grid)], axis=1)
    mass = np.exp(model.fit(rows).score_samples(points)).sum() * (grid[1] - grid[0]) ** 2
    assert mass == pytest.approx(1.0, abs=0.005)


def test_each_row_its_own_width_by_hand():
    rows = np.array([[0.0], [1.0], [5.0]])
    model = KernelDensity(bandwidth="neighbors", n_neighbors=1).fit(rows)
    np.testing.assert_allclose(model.bandwidth_, [1.0, 1.0, 4.0])
    asked = np.array([[0.5], [3.0]])
    expected = np.mean([stats.norm(m, s).pdf(asked[:, 0]) for m, s in zip([0, 1, 5], [1, 1, 4])], 0)
    np.testing.assert_allclose(np.exp(model.score_samples(asked)), expected, rtol=1e-12)
    weighted = KernelDensity(bandwidth="neighbors", n_neighbors=1)
    weighted.fit(rows, sample_weight=[1, 0, 1])
    expected = (stats.norm(0, 1).pdf(0.5) + stats.norm(5, 4).pdf(0.5)) / 2
    assert np.exp(weighted.score_samples([[0.5]])[0]) == pytest.approx(expected)
    assert len(KernelDensity(bandwidth="neighbors").fit(X).bandwidth_) == 700


def test_tolerances_are_of_the_density():
    exact = np.exp(KernelDensity(bandwidth=0.05).fit(X).score_samples(X))
    rough = np.exp(KernelDensity(bandwidth=0.05, rtol=0.05).fit(X).score_samples(X))
    assert (rough >= 0.95 * exact).all()
    assert (rough < exact).any()
    rough = np.exp(KernelDensity(bandwidth=0.05, atol=0.01).fit(X).score_samples(X))
    assert (exact - rough <= 0.01).all()
    assert (rough < exact).any()


@pytest.mark.parametrize("bandwidth", [0.3, [0.1, 0.5], "reference", "neighbors"])
def test_draws_have_the_moments_of_the_density(bandwidth):
    rows = X[:200, :2] @ np.array([[1.0, 0.0], [0.7, 0.5]]) + [3.0, -2.0]
    weight = W[:200]
    model = KernelDensity(bandwidth=bandwidth).fit(rows, sample_weight=weight)
    draws = model.sample(20_000, random_state=0)
    np.testing.assert_array_equal(draws, model.sample(20_000, random_state=0))
    mean = np.average(rows, axis=0, weights=weight)
    spread = np.cov(rows.T, aweights=weight, ddof=0)
    if bandwidth == "reference":
        spread = spread + model.scale_ @ model.scale_.T
    elif bandwidth == "neighbors":
        spread = spread + np.average(model.bandwidth_**2, weights=weight) * np.eye(2)
    else:
        spread = spread + np.diag(np.broadcast_to(bandwidth, 2) ** 2.0)
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=0.05)
    np.testing.assert_allclose(np.cov(draws.T), spread, rtol=0.06, atol=0.02)


def test_a_saved_model_answers_alike(tmp_path):
    for bandwidth in ("reference", "neighbors", [0.1, 0.2, 0.3]):
        model = KernelDensity(bandwidth=bandwidth, kernel="exponential").fit(X, sample_weight=W)
        corollary.save(model, tmp_path / "model.corollary")
        loaded = corollary.load(tmp_path / "model.corollary")
        np.testing.assert_array_equal(loaded.score_samples(Q), model.score_samples(Q))
        np.testing.assert_array_equal(loaded.sample(3, 0), model.sample(3, 0))


def test_bad_settings_are_told():
    with pytest.raises(ValueError, match="must be a positive number, or 3 of them"):
        KernelDensity(bandwidth=[1.0, 2.0]).fit(X)
    with pytest.raises(ValueError, match="must be a positive number, or 3 of them"):
        KernelDensity(bandwidth=[1.0, 2.0, 0.0]).fit(X)
    with pytest.raises(ValueError, match="takes 'p', a number from 1 on"):
        KernelDensity(metric="minkowski", metric_params={"p": 0.5}).fit(X)
    with pytest.raises(ValueError, match="takes 'p', a number from 1 on"):
        KernelDensity(metric_params={"V": 1.0}).fit(X)
    with pytest.raises(ValueError, match="singular"):
        KernelDensity(bandwidth="reference").fit(np.column_stack([X, X[:, 0]]))
    with pytest.raises(ValueError, match="'metric' parameter"):
        KernelDensity(metric="haversine").fit(X)
    one = KernelDensity().fit([[2.0]])
    assert one.score_samples([[2.0]])[0] == pytest.approx(-0.5 * math.log(2 * math.pi))


# -- smoothed data ---------------------------------------------------------------------------


def test_smoothed_densities_and_scores_are_those_of_a_mixture():
    import jax
    import jax.numpy as jnp

    rows, asked, sigma = X[:30], Q[:6], 0.7

    def log_density(x):
        logs = -((x - rows) ** 2).sum(axis=1) / (2 * sigma**2)
        norm = 1.5 * math.log(2 * math.pi * sigma**2)
        return jax.scipy.special.logsumexp(logs) - math.log(30) - norm

    with jax.enable_x64(True):
        logs = np.array([float(log_density(jnp.asarray(q))) for q in asked])
        scores = np.array([np.asarray(jax.grad(log_density)(jnp.asarray(q))) for q in asked])
    np.testing.assert_allclose(smoothed_log_density(asked, rows, sigma), logs, rtol=1e-12)
    np.testing.assert_allclose(smoothed_score(asked, rows, sigma), scores, rtol=1e-9, atol=1e-12)
    kernels = KernelDensity(bandwidth=sigma).fit(rows)
    np.testing.assert_allclose(kernels.score_samples(asked), logs, rtol=1e-12)


def test_smoothed_scores_far_away_and_of_no_queries():
    assert smoothed_score(np.empty((0, 3)), X, 0.5).shape == (0, 3)
    far = smoothed_score([[1e4]], [[0.0], [1.0]], 0.5)  # to the nearest row alone
    assert far[0, 0] == pytest.approx((1 - 1e4) / 0.25)
    with pytest.raises(ValueError, match="of one width"):
        smoothed_score([[0.0]], X, 1.0)
    with pytest.raises(ValueError, match="'sigma' parameter of smoothed_score"):
        smoothed_score(Q, X, 0.0)


# -- pictures --------------------------------------------------------------------------------


def test_pictures():
    import matplotlib.pyplot as plt

    curve = DensityDisplay.from_estimator(KernelDensity().fit(X[:, :1]), X[:, :1])
    assert len(curve.ax_.lines) == 2
    assert len(curve.levels_) == 0
    model = KernelDensity(bandwidth=0.4).fit(X[:, :2])
    picture = DensityDisplay.from_estimator(model, X[:, :2], grid_resolution=60)
    assert len(picture.levels_) == 3
    share = np.mean(np.exp(model.score_samples(model.sample(4000, 0))) > picture.levels_[0])
    assert share == pytest.approx(0.95, abs=0.02)
    with pytest.raises(ValueError, match="1 or 2 columns"):
        DensityDisplay.from_estimator(model, X)
    plt.close("all")


def test_levels_by_hand():
    density = [[0.1, 0.4], [0.3, 0.2]]
    np.testing.assert_allclose(mass_levels(density, [0.4, 0.7, 0.71, 1.0]), [0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize("bandwidth", ["scott", "reference", "likelihood", "neighbors"])
def test_rows_have_the_same_bits_however_they_lie_in_memory(bandwidth):
    rows = RNG.normal(size=(60, 3))
    density = KernelDensity(bandwidth=bandwidth).fit(rows).score_samples(Q)
    for same in (np.asfortranarray(rows), np.repeat(rows, 2, axis=1)[:, ::2]):
        assert np.array_equal(
            KernelDensity(bandwidth=bandwidth).fit(same).score_samples(Q), density
        )


@pytest.mark.parametrize("bandwidth", ["reference", "likelihood", "neighbors"])
def test_bandwidths_of_rows_without_squares_are_refused(bandwidth):
    with pytest.raises(ValueError, match="KernelDensity needs features whose squares"):
        KernelDensity(bandwidth=bandwidth).fit(1e200 * X[:50])
