"""Every world draws what it says and knows what it claims to know."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron, Ridge
from sklearn.metrics import zero_one_loss

from corollary.datasets import (
    AdditiveNoise,
    Circle,
    Confounded,
    Equicorrelated,
    Feedback,
    GaussianShift,
    HighDimensionalLogistic,
    Hypercube,
    LinearGaussian,
    LogisticWorld,
    LowRankTable,
    Owners,
    RareEvent,
    ReverseCausation,
    Rings,
    RisingRisk,
    SeparableMargin,
    Shortcut,
    Sinusoid,
    SinusoidTasks,
    Xor,
    degenerate_pair,
    design_with_singular_values,
    kolmogorov_distance,
    lloyd_trap,
    ols_total_variance,
    partial_correlation,
    perceptron_not_max_margin,
    unsigned_margin,
)
from corollary.kernels import monomial_map

ANGLES = np.linspace(0, 2 * np.pi, 20001)
DIRECTIONS = np.stack([np.cos(ANGLES), np.sin(ANGLES)])


def squared(y, prediction):
    return (y - prediction) ** 2


def zero_one(y, prediction):
    return (y != prediction).astype(float)


def assert_close_to(estimate, truth, errors=5):
    value, standard_error = estimate
    assert abs(value - truth) <= errors * standard_error + 1e-12, (estimate, truth)


WORLDS = [
    LinearGaussian(np.array([1.0, -2.0, 0.5]), 0.3, 0.7, np.diag([1.0, 2.0, 0.5])),
    AdditiveNoise(lambda X: np.sin(3 * X[:, 0]), lambda X: 0.1 + X[:, 0]),
    Equicorrelated(np.ones(3), 0.8),
    LogisticWorld(np.array([1.0, -1.0]), 0.5),
    Hypercube(4),
    SeparableMargin(np.array([1.0, 2.0, -1.0]), 0.2, 2.0),
    LowRankTable(np.array([[1.0, 0.0], [0.5, 2.0], [-1.0, 1.0]])),
    Circle(),
    Xor(),
    Rings(),
    RareEvent(0.1),
    ReverseCausation(),
    Confounded(),
    Feedback(),
    GaussianShift(np.array([0.5, 0.0])),
    Shortcut(),
    Sinusoid(2.0, 1.0),
    Owners(),
    Owners(sizes="larger worse", n_rows=50, per_cluster=3),
]


@pytest.mark.parametrize("world", WORLDS, ids=lambda w: type(w).__name__)
def test_draws_have_the_right_shape_and_follow_the_seed(world, seed):
    X, y = world.sample(17, random_state=seed)
    again = world.sample(17, random_state=seed)
    other = world.sample(17, random_state=seed + 1)
    assert X.ndim == 2
    assert X.shape[0] == y.shape[0] == 17
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(y, again[1])
    assert not (np.array_equal(X, other[0]) and np.array_equal(y, other[1]))
    assert world.sample(0, random_state=seed)[0].shape == (0, X.shape[1])


@pytest.mark.parametrize(
    "world", [w for w in WORLDS if hasattr(w, "bayes_risk")], ids=lambda w: type(w).__name__
)
def test_the_bayes_rule_has_the_bayes_risk(world, seed):
    labels = set(np.unique(world.sample(500, random_state=seed)[1])) <= {-1, 1}
    loss = zero_one if labels else squared
    risk = world.estimate_risk(world.bayes_rule, loss, n_samples=200_000, random_state=seed)
    assert_close_to(risk, world.bayes_risk)


def test_linear_gaussian_knows_the_risk_of_any_linear_predictor(seed):
    world = WORLDS[0]
    w, b = np.array([0.0, 1.0, 1.0]), 0.1
    estimate = world.estimate_risk(lambda X: X @ w + b, squared, random_state=seed)
    assert_close_to(estimate, world.risk(w, b))


def test_linear_gaussian_residuals_have_the_stated_law(seed):
    world = WORLDS[0]
    X, y = world.sample(5000, random_state=seed)
    z = (y - world.bayes_rule(X)) / 0.7
    assert stats.kstest(z, "norm").pvalue > 1e-6
    assert np.cov(X.T) == pytest.approx(np.diag([1.0, 2.0, 0.5]), abs=0.25)
    expected = stats.norm.logpdf(y, world.bayes_rule(X), 0.7)
    np.testing.assert_allclose(world.logdensity(X, y), expected)


def test_additive_noise_mean_at_a_point_converges(seed):
    world = AdditiveNoise(lambda X: 3 * X[:, 0], 0.5, low=1.0, high=1.0)
    _, y = world.sample(100_000, random_state=seed)
    assert y.mean() == pytest.approx(3.0, abs=5 * 0.5 / np.sqrt(100_000))
    assert y.var() == pytest.approx(0.25, rel=0.05)


def test_collinear_columns_make_variance_explode(seed):
    variances = []
    gaps = [1e-1, 1e-2, 1e-3]
    for gap in gaps:
        X = design_with_singular_values(40, np.array([1.0, gap]), random_state=seed)
        np.testing.assert_allclose(np.linalg.svd(X, compute_uv=False), [1.0, gap], rtol=1e-9)
        exact = np.trace(np.linalg.inv(X.T @ X))
        assert ols_total_variance(X, 2.0) == pytest.approx(4 * exact, rel=1e-6)
        variances.append(exact)
    slope = np.polyfit(np.log(gaps), np.log(variances), 1)[0]
    assert slope == pytest.approx(-2, abs=0.01)
    assert ols_total_variance(np.ones((5, 2))) == np.inf
    assert ols_total_variance(np.ones((1, 2))) == np.inf


def test_ols_total_variance_is_what_simulation_shows(seed):
    X = design_with_singular_values(30, np.array([2.0, 0.5, 0.2]), random_state=seed)
    noise = np.random.RandomState(seed).standard_normal((20_000, 30))
    coefs = noise @ np.linalg.pinv(X).T
    assert coefs.var(axis=0).sum() == pytest.approx(ols_total_variance(X), rel=0.05)


def test_ridge_beats_least_squares_on_correlated_features(seed):
    world = Equicorrelated(np.ones(20), 0.999)
    excess = {"ols": [], "ridge": []}
    for repetition in range(20):
        X, y = world.sample(30, random_state=seed + repetition)
        for name, model in (("ols", LinearRegression()), ("ridge", Ridge(alpha=1.0))):
            fit = model.fit(X, y)
            excess[name].append(world.linear.risk(fit.coef_, fit.intercept_))
    assert np.mean(excess["ridge"]) < np.mean(excess["ols"])


def test_equicorrelated_features_have_the_correlation(seed):
    X, _ = Equicorrelated(np.zeros(3), 0.7).sample(50_000, random_state=seed)
    np.testing.assert_allclose(np.corrcoef(X.T), 0.3 * np.eye(3) + 0.7, atol=0.02)
    with pytest.raises(ValueError, match="'correlation' parameter of Equicorrelated"):
        Equicorrelated(np.ones(2), 1.5)


def test_high_dimensional_logistic_fit_is_too_large_and_over_confident(seed):
    def fit(ratio, n):
        X, y, coef = HighDimensionalLogistic(ratio).draw(n, random_state=seed)
        model = LogisticRegression(C=np.inf, fit_intercept=False, max_iter=1000).fit(X, y)
        active = coef != 0
        slope = (model.coef_[0, active] @ coef[active]) / (coef[active] @ coef[active])
        fresh = np.random.RandomState(seed + 1).standard_normal((5000, len(coef)))
        said = model.predict_proba(fresh)[:, 1]
        true = LogisticWorld(coef).posterior(fresh)
        confident = said > 0.9
        return slope, said[confident].mean() - true[confident].mean()

    many, over_confidence = fit(0.2, 1500)
    few, little = fit(0.01, 2000)
    assert many > 1.25
    assert abs(few - 1) < 0.15
    assert over_confidence > 0.03
    assert abs(little) < over_confidence / 2


def test_projections_become_gaussian_except_along_an_axis(seed):
    distances = [
        kolmogorov_distance(Hypercube(d).sample(40_000, random_state=seed)[1]) for d in (1, 2, 16)
    ]
    assert distances[0] > 0.05 > distances[1] > distances[2]
    axis = np.eye(16)[0]
    assert kolmogorov_distance(Hypercube(16, axis).sample(40_000, random_state=seed)[1]) > 0.05
    sample = np.random.RandomState(seed).standard_normal(100)
    assert kolmogorov_distance(sample) == pytest.approx(stats.kstest(sample, "norm").statistic)


@pytest.mark.parametrize("d", [1, 2, 5, 60])
@pytest.mark.parametrize(("margin", "radius"), [(0.0, 1.0), (0.3, 1.0), (1.9, 2.0)])
def test_separable_data_keep_margin_and_radius(d, margin, radius, seed):
    world = SeparableMargin(np.arange(1.0, d + 1), margin, radius)
    X, y = world.sample(500, random_state=seed)
    assert (y * (X @ world.unit)).min() >= margin
    assert np.linalg.norm(X, axis=1).max() <= radius * (1 + 1e-9)
    np.testing.assert_array_equal(world.bayes_rule(X), y)


def test_separable_data_are_uniform(seed):
    world = SeparableMargin(np.array([1.0, 0.0]), 0.2)
    X, _ = world.sample(4000, random_state=seed)
    # Rejection from the square is the obvious way to draw the same law.
    random = np.random.RandomState(seed + 1)
    Z = random.uniform(-1, 1, size=(20_000, 2))
    Z = Z[(np.linalg.norm(Z, axis=1) <= 1) & (np.abs(Z[:, 0]) >= 0.2)]
    for j in range(2):
        assert stats.ks_2samp(np.abs(X[:, j]), np.abs(Z[:, j])).pvalue > 1e-6
    with pytest.raises(ValueError, match="'margin' parameter of SeparableMargin"):
        SeparableMargin(np.ones(2), 1.0)


def separators(X, y):
    """Directions on a fine grid that separate through the origin with sgn(0) = +1."""
    scores = X @ DIRECTIONS
    scores[np.abs(scores) < 1e-9] = 0
    return DIRECTIONS[:, ((scores >= 0) == (y[:, None] > 0)).all(axis=0)]


@pytest.mark.parametrize("which", ["a", "b", "c"])
def test_degenerate_pairs(which):
    X, y, facts = degenerate_pair(which)
    found = separators(X, y)
    assert (found.shape[1] > 0) == facts["separable"]
    if facts["separable"]:
        assert np.abs(X @ found).min(axis=0).max() == pytest.approx(facts["margin"], abs=1e-9)
    # The perceptron goes on making mistakes for ever.
    w = np.zeros(2)
    for _ in range(100):
        mistakes = 0
        for x, label in zip(X, y):
            if label * (w @ x) <= 0:
                w, mistakes = w + label * x, mistakes + 1
        assert mistakes > 0
    with pytest.raises(ValueError, match="must be one of 'a', 'b', 'c'"):
        degenerate_pair("d")


@pytest.mark.parametrize("height", [0.05, 0.5])
def test_unsigned_margin(height):
    X, y, facts = unsigned_margin(height)
    distances = np.abs(X @ DIRECTIONS).min(axis=0)
    signed = (y[:, None] * (X @ DIRECTIONS)).min(axis=0)
    assert distances.max() == pytest.approx(facts["unsigned_margin"], abs=1e-4)
    assert signed.max() == pytest.approx(facts["margin"], abs=1e-4)
    with pytest.raises(ValueError, match="'height'"):
        unsigned_margin(0.0)


@pytest.mark.parametrize("depth", [0.01, 0.3])
def test_perceptron_is_not_max_margin(depth):
    X, y, facts = perceptron_not_max_margin(depth)
    model = Perceptron(fit_intercept=False, shuffle=False, eta0=1.0, tol=None, max_iter=10)
    w = model.fit(X, y).coef_[0]
    assert w.tolist() == [0.0, 1.0]
    assert (y * (X @ w)).min() == pytest.approx(facts["perceptron_margin"])
    best = np.array(facts["best_direction"])
    assert (y * (X @ best)).min() / np.linalg.norm(best) == pytest.approx(facts["margin"])
    assert (y[:, None] * (X @ DIRECTIONS)).min(axis=0).max() == pytest.approx(
        facts["margin"], abs=1e-4
    )
    with pytest.raises(ValueError, match="'depth'"):
        perceptron_not_max_margin(1.0)


def test_circle_needs_the_degree_two_map(seed):
    world = Circle(1.2)
    X, y = world.sample(1000, random_state=seed)
    np.testing.assert_array_equal(y > 0, np.linalg.norm(X, axis=1) >= 1)
    linear = LogisticRegression(C=1e6).fit(X, y)
    mapped = LogisticRegression(C=1e6, max_iter=5000).fit(monomial_map(X, 2), y)
    assert zero_one_loss(y, linear.predict(X)) > 0.2
    assert zero_one_loss(y, mapped.predict(monomial_map(X, 2))) < 0.01


def test_xor_and_rings_are_not_linear_but_quadratic(seed):
    for world in (Xor(0.1), Rings(spread=0.05)):
        X, y = world.sample(600, random_state=seed)
        linear = LogisticRegression().fit(X, y)
        mapped = LogisticRegression(C=100, max_iter=2000).fit(monomial_map(X, 2), y)
        assert linear.score(X, y) < 0.8
        assert mapped.score(monomial_map(X, 2), y) > 0.99


def test_rare_event_is_missed_as_often_as_stated(seed):
    world = RareEvent(0.02)
    missed = sum(not world.sample(100, random_state=seed + i)[0].any() for i in range(3000))
    p = stats.binomtest(missed, 3000, world.probability_unseen(100)).pvalue
    assert p > 1e-6
    assert world.probability_unseen(100) <= np.exp(-2)
    with pytest.raises(ValueError, match="'probability' parameter of RareEvent"):
        RareEvent(0.0)


def lloyd_step(X, labels):
    centres = np.array([X[labels == k].mean(axis=0) for k in (0, 1)])
    return ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)


def test_lloyd_traps():
    costs = {"empty": (2.0, 0.5), "rectangle": (4.0, 1.0), "triangle": (50.0, 17.0)}
    for which, (start, best) in costs.items():
        trap = lloyd_trap(which)
        assert (trap.start_cost, trap.best_cost) == (start, best)
        step = lloyd_step(trap.X, trap.start)
        if which == "empty":
            assert len(set(step)) == 1
        else:
            np.testing.assert_array_equal(step, trap.start)
    with pytest.raises(ValueError, match="'which' parameter of lloyd_trap"):
        lloyd_trap("square")


def test_causal_fallacies(seed):
    n = 20_000
    for world in (ReverseCausation(), Confounded(), Feedback()):
        X, y = world.sample(n, random_state=seed)
        assert np.corrcoef(X[:, 0], y)[0, 1] > 0.3
        low = world.intervene(-3.0, n, random_state=seed + 1).mean()
        high = world.intervene(3.0, n, random_state=seed + 2).mean()
        if isinstance(world, Feedback):
            assert high - low == pytest.approx(6 * world.effect, abs=0.1)
            assert np.polyfit(X[:, 0], y, 1)[0] == pytest.approx(world.slope, abs=0.05)
        else:
            assert abs(high - low) < 0.1
    X, y, z = Confounded().sample_all(n, random_state=seed)
    assert abs(partial_correlation(X[:, 0], y, z)) < 5 / np.sqrt(n)
    with pytest.raises(ValueError, match="'effect' parameter of Feedback"):
        Feedback(1.0)


def test_domain_shift_hurts_a_model_fitted_elsewhere(seed):
    train, test = GaussianShift(np.zeros(2)), GaussianShift(np.array([2.0, 0.0]))
    X, y = train.sample(2000, random_state=seed)
    model = LinearRegression().fit(X, y)
    held_out = train.estimate_risk(model.predict, squared, random_state=seed)
    shifted = test.estimate_risk(model.predict, squared, random_state=seed)
    assert shifted.value > 2 * held_out.value
    # The density ratio turns training rows into test rows.
    near = GaussianShift(np.array([0.5, 0.0]))
    X, y = train.sample(200_000, random_state=seed)
    ratio = train.density_ratio(near, X)
    assert ratio.mean() == pytest.approx(1.0, abs=0.02)
    weighted = (ratio * squared(y, model.predict(X))).mean()
    truth = near.estimate_risk(model.predict, squared, n_samples=200_000, random_state=seed)
    assert weighted == pytest.approx(truth.value, rel=0.05)


def test_a_shortcut_collapses_when_it_flips(seed):
    train, test = Shortcut(0.95), Shortcut(0.05)
    X, y = train.sample(4000, random_state=seed)
    both, cause = LogisticRegression().fit(X, y), LogisticRegression().fit(X[:, :1], y)
    fresh, truth = test.sample(4000, random_state=seed + 1)
    assert both.score(X, y) > 0.9
    assert both.score(fresh, truth) < 0.4
    assert abs(cause.score(fresh[:, :1], truth) - (1 - test.error_of_cause)) < 0.03
    for world in (train, test):
        Z, labels = world.sample(100_000, random_state=seed)
        assert zero_one(labels, np.sign(Z[:, 1])).mean() == pytest.approx(
            world.error_of_background, abs=0.01
        )
        best = zero_one(labels, world.bayes_rule(Z)).mean()
        assert best <= min(world.error_of_cause, world.error_of_background) + 0.005


def test_sinusoid_tasks_have_the_stated_risks(seed):
    tasks = SinusoidTasks()
    assert tasks.risk_without_task == pytest.approx(3.005669, abs=1e-6)
    assert tasks.risk_of_zero == pytest.approx(4.251667, abs=1e-6)
    assert tasks.mean_function(np.zeros((1, 1)))[0] == pytest.approx(1.623380, abs=1e-6)
    zero, mean = [], []
    for i, task in enumerate(tasks.draw(20_000, random_state=seed)):
        X, y = task.sample(1, random_state=seed + i)
        zero.append(y[0] ** 2)
        mean.append((y[0] - tasks.mean_function(X)[0]) ** 2)
    for losses, truth in ((zero, 4.251667), (mean, 3.005669)):
        assert abs(np.mean(losses) - truth) < 5 * np.std(losses) / np.sqrt(len(losses))


@pytest.mark.parametrize("sizes", ["equal", "unequal", "larger worse"])
@pytest.mark.parametrize("per_cluster", [1, 5])
def test_owners_know_the_error_of_a_new_owner(sizes, per_cluster, seed):
    world = Owners(sizes=sizes, n_rows=200, per_cluster=per_cluster)
    rows = world.draw(2000, random_state=seed)
    wrong = world.bayes_rule(rows.X) != rows.y
    counts = np.bincount(rows.groups)
    assert 1 <= counts.min() <= counts.max() <= 200
    assert (counts.min() == counts.max()) == (sizes == "equal")
    owners = np.bincount(rows.groups, weights=wrong) / counts
    clusters = owners.reshape(-1, per_cluster).mean(axis=1)
    error = clusters.std(ddof=1) / np.sqrt(len(clusters))
    assert_close_to((clusters.mean(), error), world.bayes_risk)
    np.testing.assert_array_equal(rows.clusters, rows.groups // per_cluster)
    if per_cluster == 1:
        assert wrong.mean() == pytest.approx(world.risk_per_row, abs=0.05)
    if sizes == "larger worse":
        assert wrong.mean() > world.bayes_risk + 0.05


def test_owners_resemble_themselves_more_than_each_other(seed):
    rows = Owners(n_rows=50, per_cluster=10).draw(1000, random_state=seed)
    wrong = (np.sign(rows.X[:, 0]) != rows.y).reshape(1000, 50).mean(axis=1)
    # Beta variables with mean 0.2 and sum 4 have variance 0.032; nesting adds to that.
    assert wrong.var() > 0.03
    within = wrong.reshape(100, 10).var(axis=1, ddof=1).mean()
    assert 0.3 < within / wrong.var() < 0.9
    with pytest.raises(ValueError, match=r"range \(0.0, 0.5\)"):
        Owners(error=0.5)


def test_rising_risk_knows_what_is_to_be_expected(seed):
    world = RisingRisk()
    draws = [world.draw(80, random_state=seed + i) for i in range(500)]
    wrong = np.array([world.rule(rows.X) != rows.y for rows in draws])
    risks = np.array([rows.risks for rows in draws])
    gaps = (wrong - risks).mean(axis=1)
    assert_close_to((gaps.mean(), gaps.std(ddof=1) / np.sqrt(500)), 0.0)
    # Errors come in bursts: an early one raises what is expected of the next row.
    assert risks[wrong[:, 0], 1].mean() == pytest.approx(0.05 + 0.2 / 80 + 0.05)
    assert risks[~wrong[:, 0], 1].mean() == pytest.approx(0.05 + 0.2 / 80)
    np.testing.assert_array_equal(draws[0].time, np.arange(80))
    np.testing.assert_array_equal(draws[0].y, world.draw(80, random_state=seed).y)
    with pytest.raises(ValueError, match="add up to 1"):
        RisingRisk(start=0.9)
