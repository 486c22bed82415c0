"""Proximal operators, projections and conjugates: their laws, and values by hand."""

import math

import numpy as np
import pytest

from corollary.optimize import (
    L1,
    Affine,
    Ball,
    Box,
    ElasticNetPenalty,
    Ellipsoid,
    GroupNorm,
    HalfSpace,
    L1Ball,
    LargestModulus,
    NuclearNorm,
    PositiveSemidefinite,
    Simplex,
    Zero,
    project_l1_ball,
    project_simplex,
    soft_threshold,
)

SHAPE = {NuclearNorm: (3, 2), PositiveSemidefinite: (3, 3)}
PENALTIES = [
    Zero(),
    L1(0.7),
    LargestModulus(0.7),
    GroupNorm(0.7, (0, 1, 0, 1)),
    GroupNorm(0.7),
    NuclearNorm(0.7),
    ElasticNetPenalty(0.3, 0.8),
]
SETS = [
    Affine([[1.0, 2.0, 0.0, 1.0], [2.0, 4.0, 0.0, 2.0]], [1.0, 2.0]),
    HalfSpace([1.0, -2.0, 0.5, 0.0], -1.0),
    Box(-0.5, [0.5, 1.0, 2.0, 0.1]),
    Ball(1.3, [1.0, 0.0, 0.0, -1.0]),
    L1Ball(1.3),
    Simplex(2.0),
    Ellipsoid(np.diag([4.0, 1.0, 0.25, 0.01]) + 0.05, [0.3, 0.0, 0.0, 0.0]),
    PositiveSemidefinite(),
]


def draw(rng, h, scale=2.0):
    point = scale * rng.normal(size=SHAPE.get(type(h), (4,)))
    return (point + point.T) / 2 if isinstance(h, PositiveSemidefinite) else point


@pytest.mark.parametrize("h", PENALTIES + SETS, ids=lambda h: type(h).__name__)
def test_the_proximal_point_minimises_its_objective(h):
    rng = np.random.default_rng(0)
    for _ in range(20):
        v, step = draw(rng, h), rng.uniform(0.1, 2.0)
        x = h.prox(v, step)
        best = h.value(x) + np.sum((x - v) ** 2) / (2 * step)
        for size in (1e-4, 1e-2, 1.0):
            # Other points of the domain: proximal points of points nearby.
            z = h.prox(v + size * draw(rng, h), step)
            assert h.value(z) + np.sum((z - v) ** 2) / (2 * step) >= best - 1e-12


@pytest.mark.parametrize("h", PENALTIES + SETS, ids=lambda h: type(h).__name__)
def test_the_operator_is_firmly_non_expansive(h):
    rng = np.random.default_rng(1)
    for _ in range(20):
        u, v, step = draw(rng, h), draw(rng, h), rng.uniform(0.1, 2.0)
        x, z = h.prox(u, step), h.prox(v, step)
        assert np.sum((x - z) ** 2) <= np.sum((x - z) * (u - v)) + 1e-12


@pytest.mark.parametrize("h", PENALTIES + SETS, ids=lambda h: type(h).__name__)
def test_moreau_and_fenchel(h):
    # With z = (v - prox(v)) / step: z is a subgradient at x = prox(v), where Fenchel's inequality
    # h(x) + h*(z) >= z'x is an equality. By it the dual proximal point of Moreau's identity is z.
    rng = np.random.default_rng(2)
    for _ in range(20):
        v, step = draw(rng, h), rng.uniform(0.1, 2.0)
        x = h.prox(v, step)
        z = (v - x) / step
        assert h.value(x) + h.conjugate(z) == pytest.approx(np.sum(z * x), abs=1e-7)
        other, dual = h.prox(draw(rng, h), step), draw(rng, h, 0.3)
        assert h.value(other) + h.conjugate(dual) >= np.sum(other * dual) - 1e-9


@pytest.mark.parametrize("h", [L1(0.7), LargestModulus(0.7), GroupNorm(0.7), NuclearNorm(0.7)])
def test_the_conjugate_of_a_norm_over_a_ball(h):
    rng = np.random.default_rng(3)
    for _ in range(20):
        z = draw(rng, h)
        points = [draw(rng, h) for _ in range(200)]
        inside = [2.5 * x / h.value(x) for x in points]  # h(x) = 2.5
        bound = h.conjugate(z, 2.5)
        assert 0 <= bound < math.inf
        assert max(np.sum(z * x) - 2.5 for x in inside) <= bound + 1e-12
    # On the rim the bound is attained: z = 3 lambda in the first entry, dual norm 2.1.
    assert L1(0.7).conjugate([2.1, 0.0], 2.5) == pytest.approx(2.5 * 2.1 / 0.7 - 2.5)


@pytest.mark.parametrize("C", SETS, ids=lambda C: type(C).__name__)
def test_projections_obey_the_variational_inequality(C):
    rng = np.random.default_rng(4)
    for _ in range(20):
        v = draw(rng, C)
        x, z = C.project(v), C.project(draw(rng, C))
        assert C.contains(x)
        assert C.value(x) == 0.0
        assert C.project(x) == pytest.approx(x, abs=1e-9)
        assert np.sum((v - x) * (z - x)) <= 1e-9
        assert C.distance(v) == pytest.approx(np.linalg.norm(v - x))
        if C.distance(v) > 1e-6:
            assert not C.contains(v)
            assert C.value(v) == math.inf


def test_values_by_hand():
    assert L1(2.0).value([1.0, -3.0]) == 8.0
    assert LargestModulus(2.0).value([1.0, -3.0]) == 6.0
    assert GroupNorm(2.0, (0, 0, 5)).value([3.0, 4.0, -1.0]) == pytest.approx(12.0)
    assert NuclearNorm(2.0).value(np.diag([3.0, -1.0])) == pytest.approx(8.0)
    assert ElasticNetPenalty(2.0, 4.0).value([1.0, -3.0]) == pytest.approx(8.0 + 20.0)
    assert ElasticNetPenalty(2.0, 4.0).conjugate([4.0, 1.0]) == pytest.approx(0.5)
    assert soft_threshold([-3.0, 0.5, 2.0], 1.0).tolist() == [-2.0, 0.0, 1.0]
    assert LargestModulus(1.0).prox([3.0, 1.0], 1.5).tolist() == [1.5, 1.0]
    assert project_simplex([0.9, 0.5, -1.0]) == pytest.approx([0.7, 0.3, 0.0])
    assert project_l1_ball([3.0, -1.0], 2.0) == pytest.approx([2.0, 0.0])
    assert project_l1_ball([0.3, -0.1], 2.0).tolist() == [0.3, -0.1]
    assert project_l1_ball([3.0, -1.0], 0.0).tolist() == [0.0, 0.0]
    assert Affine([[1.0, 1.0]], [2.0]).conjugate([3.0, 3.0]) == pytest.approx(6.0)
    assert Affine([[1.0, 1.0]], [2.0]).conjugate([3.0, 1.0]) == math.inf
    assert HalfSpace([2.0, 0.0], 2.0).conjugate([3.0, 0.0]) == pytest.approx(3.0)
    assert HalfSpace([2.0, 0.0], 2.0).conjugate([-3.0, 0.0]) == math.inf
    assert Box(-1.0, [2.0, math.inf]).conjugate([3.0, -1.0]) == pytest.approx(7.0)
    assert Box(-1.0, [2.0, math.inf]).conjugate([3.0, 1.0]) == math.inf
    assert Ball(2.0, [1.0, 0.0]).conjugate([3.0, 4.0]) == pytest.approx(13.0)
    assert L1Ball(2.0).conjugate([3.0, -4.0]) == 8.0
    assert Simplex(2.0).conjugate([3.0, -4.0]) == 6.0
    assert Ellipsoid(np.diag([4.0, 9.0]), [1.0, 0.0]).conjugate([2.0, 0.0]) == pytest.approx(6.0)
    assert Ellipsoid(np.diag([4.0, 1.0])).project([3.0, 0.0]) == pytest.approx([2.0, 0.0])
    assert PositiveSemidefinite().conjugate(np.diag([-1.0, 0.0])) == 0.0
    assert PositiveSemidefinite().conjugate(np.diag([-1.0, 1.0])) == math.inf


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: L1(-1.0), "'strength' of L1 must be"),
        (lambda: ElasticNetPenalty(1.0, 0.0), "without l2 it is L1"),
        (lambda: L1().prox([1.0], 0.0), "'step' of a proximal operator"),
        (lambda: soft_threshold([1.0], -1.0), "'threshold' parameter"),
        (lambda: GroupNorm(1.0, (0, 1)).value([1.0]), "one label for each entry"),
        (lambda: NuclearNorm().value([1.0]), "needs a matrix"),
        (lambda: Affine([[1.0], [1.0]], [1.0, 2.0]), "has none"),
        (lambda: Affine([[1.0]], [1.0, 2.0]), "one entry of b"),
        (lambda: HalfSpace([0.0]), "not zero"),
        (lambda: Box(1.0, 0.0), "lower bounds"),
        (lambda: Ball(-1.0), "radius of at least 0"),
        (lambda: L1Ball(-1.0), "'radius' parameter"),
        (lambda: Simplex(-1.0), "total of at least 0"),
        (lambda: Ellipsoid(np.diag([1.0, 0.0])), "positive definite"),
    ],
)
def test_bad_arguments_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
