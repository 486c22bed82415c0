"""Lower bounds of a minimum, computed at one point."""

import math

import numpy as np
import pytest

from corollary.optimize import (
    L1,
    Ball,
    Box,
    ElasticNetPenalty,
    Function,
    GroupNorm,
    LargestModulus,
    Quadratic,
    Simplex,
    Zero,
    certify_minimum,
    proximal_gradient,
)

PENALTIES = [
    Zero(),
    L1(0.5),
    LargestModulus(0.5),
    GroupNorm(0.5),
    ElasticNetPenalty(0.2, 0.5),
    Ball(0.7),
    Box(-0.3, 0.4),
    Simplex(),
]


def bowl(rng, rank):
    A = rng.normal(size=(rank, 3))
    return Quadratic(A.T @ A, A.T @ rng.normal(size=rank))


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda h: type(h).__name__)
@pytest.mark.parametrize("rank", [2, 5])  # convex, and strongly convex
def test_no_bound_exceeds_the_least_value(penalty, rank):
    rng = np.random.default_rng(rank)
    for _ in range(10):
        f = bowl(rng, rank)
        best = proximal_gradient(f, np.zeros(3), penalty, tol=1e-11, max_iter=20000)
        least = f.value(best.x) + penalty.value(best.x)
        for size in (0.0, 1e-3, 0.1, 1.0):
            x = penalty.prox(best.x + size * rng.normal(size=3), 1e-12)
            certificate = certify_minimum(f, x, penalty)
            assert certificate.lower_bound <= least + 1e-10
            assert certificate.value == pytest.approx(f.value(x) + penalty.value(x))
            if rank == 5 or not isinstance(penalty, Zero):
                assert math.isfinite(certificate.gap)


def test_bounds_by_hand():
    # f = (x - 3)^2 / 2 at x = 1: gradient -2, m = 1, f = 2, least value 0 = 2 - 4 / 2.
    f = Quadratic([[1.0]], [-3.0], 4.5)
    assert certify_minimum(f, [1.0]).lower_bound == pytest.approx(0.0)
    # With |x| added, at x = 1: F = 3. Over the ball |z| <= F - inf f = 3 convexity gives
    # f - g x - sup (2z - |z|) = 2 + 2 - 3 = 1; strong convexity is exact: 2 + 1/2 = 2.5 at z = 2.
    assert certify_minimum(f, [1.0], L1(1.0)).lower_bound == pytest.approx(2.5)
    flat = Function(lambda x: 0.5 * (x[0] - 3) ** 2, lambda x: x - 3, convex=True, floor=0.0)
    certificate = certify_minimum(flat, [1.0], L1(1.0))
    assert certificate.lower_bound == pytest.approx(1.0)
    assert certificate.proof == "duality"
    # On [-1, 1] at x = 0: f = 4.5, g = -3, Frank-Wolfe's gap 3, the least value is 2.
    assert certify_minimum(flat, [0.0], Box(-1.0, 1.0)).gap == pytest.approx(3.0)
    # A minimiser within 4: f - 4 |g| = 2 - 8.
    near = certify_minimum(flat, [1.0], radius=4.0)
    assert (near.lower_bound, near.proof) == (pytest.approx(-6.0), "bounded set")
    assert "A minimiser lies within 4 of the point." in str(near)


def test_nothing_is_proved_without_convexity_or_a_floor():
    saddle = Quadratic(np.diag([1.0, -1.0]))
    assert certify_minimum(saddle, [0.0, 0.0]).gap == math.inf
    assert certify_minimum(saddle, [0.0, 0.0], Ball()).gap == math.inf
    unknown = Function(lambda x: x @ x, lambda x: 2 * x)
    assert certify_minimum(unknown, [0.0]).gap == math.inf
    convex = Function(lambda x: x @ x, lambda x: 2 * x, convex=True)
    assert certify_minimum(convex, [1.0], L1(1.0)).gap == math.inf
    assert certify_minimum(convex, [1.0]).residuals["gradient"] == pytest.approx(2.0)
    broken = Function(lambda x: np.nan, lambda x: np.nan * x, convex=True, strong_convexity=1.0)
    assert certify_minimum(broken, [1.0]).gap == math.inf


def test_a_point_outside_its_set_has_no_value():
    certificate = certify_minimum(Quadratic([[1.0]]), [2.0], Ball(1.0))
    assert certificate.value == math.inf
    assert not certificate.is_optimal()
