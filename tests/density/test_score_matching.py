"""Score matching: the identity, its failures, and closed forms."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize

from corollary.density import (
    ExponentialFamilyFit,
    GaussianDensity,
    Obstacle,
    ScoreMatchingSums,
    check_score_matching,
    feature_derivatives,
    fit_exponential_family,
    fit_gaussian_scores,
    gaussian_score_loss,
    score_matching_identity,
    score_matching_loss,
)

RNG = np.random.default_rng(0)


def normal(x):
    return -((x - 1) ** 2) / 8 - 0.5 * math.log(8 * math.pi)


FIELDS = {
    "linear": (lambda x: -x / 3, lambda x: -1 / 3),
    "cubic": (lambda x: 0.1 * x**3 - x, lambda x: 0.3 * x**2 - 1),
    "bump": (lambda x: jnp.exp(-(x**2)), lambda x: -2 * x * np.exp(-(x**2))),
}


@pytest.mark.parametrize("name", FIELDS)
def test_the_identity_holds_for_smooth_densities(name):
    field, slope = FIELDS[name]

    def expected(g):
        return quad(lambda x: math.exp(normal(x)) * g(x), -30, 30, limit=200)[0]

    sides = score_matching_identity(normal, field)
    distance = expected(lambda x: (-(x - 1) / 4 - float(field(x))) ** 2)
    parts = expected(lambda x: float(field(x)) ** 2 + 2 * slope(x) + ((x - 1) / 4) ** 2)
    assert sides.distance == pytest.approx(distance, rel=1e-5)
    assert sides.by_parts == pytest.approx(parts, rel=1e-5)
    assert sides.distance == pytest.approx(sides.by_parts, rel=1e-8)
    assert sides.boundary == 0.0


def test_jumps_leave_boundary_terms():
    # Exponential law, s = -1, f = -2: (s - f)^2 = 1, f^2 + 2 f' + s^2 = 5, [p f] = 2.
    sides = score_matching_identity(lambda x: -x, lambda x: -2 + 0 * x, 0.0, math.inf)
    np.testing.assert_allclose(sides, [1.0, 5.0, 2.0], rtol=1e-10)
    assert sides.distance == pytest.approx(sides.by_parts - 2 * sides.boundary)
    # Uniform on (0, 2), s = 0, f = x: E x^2 = 4/3, 4/3 + 2, [x / 2] = 1.
    sides = score_matching_identity(lambda x: 0 * x - math.log(2), lambda x: x, 0.0, 2.0)
    np.testing.assert_allclose(sides, [4 / 3, 10 / 3, 1.0], rtol=1e-10)
    # The mirrored exponential law has its jump at the upper end.
    sides = score_matching_identity(lambda x: x, lambda x: 3 + 0 * x, -math.inf, 0.0)
    np.testing.assert_allclose(sides, [4.0, 10.0, 3.0], rtol=1e-10)


def test_what_is_no_density_is_told():
    with pytest.raises(
        ValueError, match=r"integrates to 1 between low and high\. Its integral is 2"
    ):
        score_matching_identity(lambda x: normal(x) + math.log(2), lambda x: x)


def test_the_loss_of_rows_is_the_right_side_less_a_constant():
    X = RNG.normal(size=(20, 3))
    A = RNG.normal(size=(3, 3))
    loss = score_matching_loss(lambda x: A @ x + x**2, X)
    values = ((X @ A.T + X**2) ** 2).sum(axis=1) + 2 * (np.trace(A) + 2 * X.sum(axis=1))
    assert loss == pytest.approx(values.mean())
    weight = RNG.uniform(size=20)
    weighted = score_matching_loss(lambda x: A @ x + x**2, X, sample_weight=weight)
    assert weighted == pytest.approx(weight @ values / weight.sum())


# -- normal laws -----------------------------------------------------------------------------


def test_gradients_of_the_normal_loss_are_differences():
    X, theta, G = RNG.normal(size=(30, 2)), np.array([0.3, -0.2]), RNG.normal(size=(2, 2))
    weight = RNG.uniform(size=30)
    value, by_mean, by_precision = gaussian_score_loss(X, theta, G, sample_weight=weight)
    expected = score_matching_loss(lambda x: -G @ (x - theta), X, sample_weight=weight)
    assert value == pytest.approx(expected)
    step = 1e-6
    for i in range(2):
        shift = step * np.eye(2)[i]
        ends = [
            gaussian_score_loss(X, theta + s * shift, G, sample_weight=weight)[0] for s in (1, -1)
        ]
        assert by_mean[i] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6)
        for j in range(2):
            shift = step * np.outer(np.eye(2)[i], np.eye(2)[j])
            ends = [
                gaussian_score_loss(X, theta, G + s * shift, sample_weight=weight)[0]
                for s in (1, -1)
            ]
            assert by_precision[i, j] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-5)


def test_the_closed_form_is_the_likeliest_law_and_a_minimum():
    X = RNG.normal(size=(50, 3)) @ RNG.normal(size=(3, 3)) + 5
    weight = np.arange(50) % 4
    for w, rows in ((None, X), (weight, np.repeat(X, weight, axis=0))):
        fit = fit_gaussian_scores(X, sample_weight=w)
        covariance = np.cov(rows.T, ddof=0)
        np.testing.assert_allclose(fit.mean, rows.mean(axis=0), rtol=1e-10)
        np.testing.assert_allclose(fit.precision @ covariance, np.eye(3), atol=1e-9)
        value, by_mean, by_precision = gaussian_score_loss(
            X, fit.mean, fit.precision, sample_weight=w
        )
        assert fit.loss == pytest.approx(value)
        assert fit.loss == pytest.approx(-np.trace(fit.precision))
        np.testing.assert_allclose(by_mean, 0, atol=1e-6)
        np.testing.assert_allclose(by_precision, 0, atol=1e-7)
    model = GaussianDensity().fit(X)
    np.testing.assert_allclose(fit_gaussian_scores(X).mean, model.mean_, rtol=1e-12)


def test_unit_precision_by_hand():
    X = np.array([[1.0, 0.0], [3.0, 4.0]])
    value, _, _ = gaussian_score_loss(X, [2.0, 2.0], np.eye(2))
    assert value == pytest.approx(np.mean(((X - 2) ** 2).sum(axis=1)) - 2 * 2)


def test_rows_in_a_plane_are_refused():
    line = np.outer(RNG.normal(size=20), [1.0, 2.0]) + 3
    with pytest.raises(
        ValueError, match="fit_gaussian_scores cannot match scores: the rows lie in"
    ):
        fit_gaussian_scores(line)


# -- exponential families --------------------------------------------------------------------


def quadratic(x):
    return jnp.stack([x[0], x[0] ** 2])


def quartic(x):
    return jnp.stack([x[0] ** 2, x[0] ** 4])


def test_derivatives_of_features_by_hand():
    J, h = feature_derivatives(
        lambda x: jnp.stack([x[0] * x[1], x[0] ** 3 + x[1] ** 2]), [[2.0, 3.0]]
    )
    np.testing.assert_allclose(J, [[[3.0, 2.0], [12.0, 6.0]]])
    np.testing.assert_allclose(h, [[0.0, 14.0]])


def test_quadratic_features_give_the_likeliest_normal_law():
    x = RNG.normal(3, 2, size=(200, 1))
    fit = fit_exponential_family(quadratic, x)
    np.testing.assert_allclose(fit.theta, [x.mean() / x.var(), -0.5 / x.var()], rtol=1e-10)
    assert fit.loss == pytest.approx(-1 / x.var())
    assert fit.n_samples == 200
    np.testing.assert_allclose(fit.score(x[:3]), -(x[:3] - x.mean()) / x.var(), atol=1e-12)
    np.testing.assert_allclose(
        np.diff(fit.log_unnormalised(x[:3])),
        np.diff(-((x[:3, 0] - x.mean()) ** 2) / (2 * x.var())),
        rtol=1e-9,
    )
    loss = score_matching_loss(lambda t: fit.theta[0] + 2 * fit.theta[1] * t, x)
    assert loss == pytest.approx(fit.loss)


def test_a_quartic_is_found_as_the_likelihood_finds_it():
    grid = np.linspace(-4, 4, 4001)
    truth = np.array([1.0, -0.5])
    density = np.exp(truth[0] * grid**2 + truth[1] * grid**4)
    x = RNG.choice(grid, 20_000, p=density / density.sum())[:, None]
    fit = fit_exponential_family(quartic, x)
    means = np.array([np.mean(x**2), np.mean(x**4)])

    def negative(theta):
        return np.log(np.exp(theta[0] * grid**2 + theta[1] * grid**4).sum()) - theta @ means

    likeliest = minimize(negative, truth).x
    np.testing.assert_allclose(fit.theta, likeliest, atol=0.08)
    np.testing.assert_allclose(fit.theta, truth, atol=0.08)


def test_chunks_and_weights():
    x = RNG.normal(size=(60, 1))
    weight = np.arange(60) % 3
    whole = fit_exponential_family(quartic, x).theta
    chunks = fit_exponential_family(quartic, [(x[:25],), (x[25:],)]).theta
    np.testing.assert_allclose(chunks, whole, rtol=1e-12)
    weighted = fit_exponential_family(quartic, (x, None, weight.astype(float)))
    copied = fit_exponential_family(quartic, np.repeat(x, weight, axis=0))
    np.testing.assert_allclose(weighted.theta, copied.theta, rtol=1e-10)
    assert weighted.loss == pytest.approx(copied.loss)
    assert isinstance(weighted, ExponentialFamilyFit)
    sums = ScoreMatchingSums(quartic)
    parts = sums.update((x[:9],)).merge(sums.empty()).merge(sums.update((x[9:],)))
    np.testing.assert_allclose(parts.curvature, sums.update((x,)).curvature, rtol=1e-12)
    np.testing.assert_allclose(parts.laplacian, sums.update((x,)).laplacian, rtol=1e-12)
    assert parts.weight == 60
    assert parts.empty().weight == 0


def test_losses_without_a_minimum_are_refused():
    with pytest.raises(ValueError, match="the loss falls without limit"):
        fit_exponential_family(lambda x: x**2, np.zeros((5, 1)))
    with pytest.raises(ValueError, match="finite first and second derivatives"):
        fit_exponential_family(jnp.log, np.array([[0.0], [1.0]]))
    with pytest.raises(ValueError, match="the loss falls without limit"):
        fit_exponential_family(lambda x: jnp.stack([x[0], x[1] ** 2]), [[1.0, 0.0], [3.0, 0.0]])
    # A feature that is constant says nothing, and its parameter is zero.
    flat = fit_exponential_family(lambda x: jnp.stack([x[0] ** 2, 0 * x[0] + 1]), [[1.0], [3.0]])
    np.testing.assert_allclose(flat.theta, [-0.1, 0.0])
    # Features that repeat each other have many minima; the shortest one is returned.
    x = RNG.normal(size=(50, 1))
    twice = fit_exponential_family(lambda x: jnp.stack([x[0] ** 2, x[0] ** 2]), x).theta
    once = fit_exponential_family(lambda x: x**2, x).theta
    np.testing.assert_allclose(twice, once[0] / 2, rtol=1e-8)


# -- applicability ---------------------------------------------------------------------------


def test_ranks_and_obstacles():
    X = RNG.normal(size=(100, 3))
    found = check_score_matching(X)
    assert (found.n_features, found.rank, found.derivatives) == (3, 3, 2)
    assert found.applies
    found.require("anyone")
    plane = np.column_stack([X, X @ [1.0, 2.0, 3.0]]) + 1e3
    found = check_score_matching(plane)
    assert found.rank == 3
    assert found.obstacles == (Obstacle.PLANE,)
    assert not found.applies
    assert check_score_matching(np.column_stack([X, np.full(100, 7.0)])).rank == 3
    weight = np.zeros(100)
    weight[:2] = 1
    assert check_score_matching(X, sample_weight=weight).rank == 1
    with pytest.raises(ValueError, match="anyone cannot match scores: the rows lie in a plane"):
        found.require("anyone")


def test_jumps_are_seen_and_smooth_ends_are_not():
    def obstacles(x, support):
        return check_score_matching(x[:, None], support=[support]).obstacles

    n = 4000
    jumps = (Obstacle.JUMP,)
    assert obstacles(RNG.exponential(size=n), (0.0, math.inf)) == jumps
    assert obstacles(RNG.uniform(size=n), (0.0, 1.0)) == jumps
    assert obstacles(RNG.beta(3, 1, size=n), (0.0, 1.0)) == jumps
    assert obstacles(RNG.beta(3, 3, size=n), (0.0, 1.0)) == ()
    assert obstacles(RNG.gamma(3, size=n), (0.0, math.inf)) == ()
    assert obstacles(RNG.exponential(size=n), (-math.inf, math.inf)) == ()


def test_features_without_derivatives_are_seen():
    X = np.array([[0.0], [1.0], [4.0]])
    assert check_score_matching(X, features=jnp.sqrt).obstacles == (Obstacle.DERIVATIVES,)
    assert check_score_matching(X + 1, features=jnp.sqrt).applies
    with pytest.raises(ValueError, match="rows of finite numbers"):
        check_score_matching([[np.inf]])
