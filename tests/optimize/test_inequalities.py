"""Inequalities of smooth functions, drawn as bounds on worlds, and the gradient step."""

import numpy as np
import pytest

from corollary.optimize import (
    EmpiricalRisk,
    Function,
    GradientDescent,
    GradientMap,
    Quadratic,
    co_coercivity,
    descent_bound,
    expand_descent,
    guaranteed_decrease,
    quadratic_descent,
    step_distance,
    step_expansion,
    trace_points,
)


def worlds():
    """Quadratics, logistic and squared-hinge risks of few rows, with pairs of points."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        d, n = rng.integers(1, 5), rng.integers(1, 9)
        A = rng.normal(size=(n, d))
        y = np.where(rng.random(n) < 0.5, 1, -1)
        losses = ["logistic", "squared_hinge"]
        f = (
            Quadratic(A.T @ A + 0.1 * np.eye(d), rng.normal(size=d))
            if seed % 3 == 0
            else EmpiricalRisk(A, y, losses[seed % 3 - 1], alpha=0.1 * (seed % 2))
        )
        scale = 10.0 ** rng.uniform(-1, 1)
        yield f, scale * rng.normal(size=d), scale * rng.normal(size=d), rng


def no_larger(small, large):
    return small <= large + 1e-10 * max(1.0, abs(small), abs(large))


def test_the_descent_lemma_holds_and_a_step_earns_its_decrease():
    for f, x, y, _ in worlds():
        assert no_larger(f.value(y), descent_bound(f, x, y))
        after = f.value(x - f.gradient(x) / f.smoothness)
        assert no_larger(after, f.value(x) - guaranteed_decrease(f, x))


def test_the_descent_lemma_is_attained():
    f = Quadratic(3.0 * np.eye(2), [1.0, 0.0])
    x, y = np.array([1.0, 2.0]), np.array([-1.0, 0.5])
    assert descent_bound(f, x, y) == pytest.approx(f.value(y))
    assert f.value(x) - guaranteed_decrease(f, x) == pytest.approx(f.value(f.minimiser()))
    # 3/2 * 1 + (3 + 1) * 1 + 3/2 * 1 at x = 1, y = 2 on the first axis
    assert descent_bound(f, [1.0, 0.0], [2.0, 0.0]) == pytest.approx(2.5 + 4 + 1.5)
    assert guaranteed_decrease(f, [1.0, 0.0]) == pytest.approx(16 / 6)


def test_gradients_are_co_coercive():
    ratios = []
    for f, x, y, _ in worlds():
        for form in ("gradients", "values"):
            smaller, larger = co_coercivity(f, x, y, form=form)
            assert no_larger(smaller, larger)
            ratios.append(smaller / larger if larger else 1.0)
    assert max(ratios) > 0.99
    f = Quadratic(np.diag([1.0, 4.0]))
    assert co_coercivity(f, [1.0, 1.0], [0.0, 0.0]) == pytest.approx((17 / 4, 5.0))
    assert co_coercivity(f, [1.0, 1.0], [0.0, 0.0], form="values") == pytest.approx((17 / 8, 2.5))


def test_steps_never_stretch_distances_and_shrink_them_by_their_factor():
    for f, x, y, rng in worlds():
        rate = rng.uniform(0, 2) / f.smoothness
        G = GradientMap(f, rate)
        before, after = np.linalg.norm(x - y), np.linalg.norm(G(x) - G(y))
        m = f.strong_convexity
        factor = step_expansion(rate=rate, smoothness=f.smoothness, strong_convexity=m)
        assert factor <= 1
        assert no_larger(after, step_distance(f, x, y, rate=rate))
        assert no_larger(step_distance(f, x, y, rate=rate), before)
        assert no_larger(after, factor * before)
        if m > 0 and rate <= 2 / (m + f.smoothness):
            harmonic = m * f.smoothness / (m + f.smoothness)
            assert no_larger(factor, np.sqrt(1 - 2 * rate * harmonic))
            assert no_larger(factor, 1 - rate * harmonic)


def test_quadratics_attain_the_expansion_factor():
    P = np.array([[2.0, 1.0], [1.0, 2.0]])
    for rate in (0.1, 0.4, 0.5, 2 / 3, 1.0):
        G = GradientMap(Quadratic(P, [1.0, 2.0]), rate)
        largest = max(abs(1 - rate), abs(1 - 3 * rate))
        assert G.largest_expansion() == pytest.approx(largest)
        pairs = ([1.0, 1.0], [0.0, 0.0]), ([1.0, -1.0], [0.0, 0.0])
        assert max(G.expansion(*p) for p in pairs) == pytest.approx(largest)
        if rate <= 2 / 3:
            assert step_expansion(rate=rate, smoothness=3.0, strong_convexity=1.0) == (
                pytest.approx(largest)
            )
    assert GradientMap(Quadratic(P), 1.0).expansion([1.0, 1.0], [0.0, 0.0]) > 1  # above 2 / L
    assert step_distance(Quadratic([[4.0]]), [3.0], [1.0], rate=0.125) == pytest.approx(1.0)


def test_descent_on_a_quadratic_has_a_closed_form():
    f = Quadratic([[2.0, 1.0], [1.0, 2.0]], [1.0, -1.0])
    path = trace_points(GradientDescent(f, rate=0.3), [3.0, 1.0], 7)
    power = np.linalg.matrix_power(np.eye(2) - 0.3 * f.P, 7)
    x = f.minimiser()
    assert quadratic_descent(f, [3.0, 1.0], rate=0.3, n_steps=7) == pytest.approx(path[-1])
    assert path[-1] == pytest.approx(x + power @ (np.array([3.0, 1.0]) - x))
    assert quadratic_descent(f, [3.0, 1.0], rate=0.3, n_steps=0) == pytest.approx([3.0, 1.0])
    flat = Quadratic(np.diag([0.0, 2.0]), [1.0, 2.0])
    assert quadratic_descent(flat, [5.0, 0.0], rate=0.25, n_steps=3) == pytest.approx(
        [5 - 0.75, -1 + 0.125]
    )
    # Curvatures are flat only beside larger ones: 1 - 3 / 4 is what a step leaves of this.
    tiny = Quadratic([[1e-16]], [-1e-16])
    assert quadratic_descent(tiny, [0.0], rate=0.75e16, n_steps=2) == pytest.approx([15 / 16])


def test_the_end_point_is_the_start_plus_the_steps():
    f = EmpiricalRisk([[1.0, 2.0], [0.5, -1.0]], [1, -1])
    rates = [0.5, 0.25, 1.0]
    expansion = expand_descent(f, [1.0, 1.0], rates=rates)
    x = np.array([1.0, 1.0])
    for rate, term, point in zip(rates, expansion.terms, expansion.points[1:], strict=True):
        assert term == pytest.approx(-rate * f.gradient(x))
        x = x - rate * f.gradient(x)
        assert point == pytest.approx(x)
    assert expansion.start + expansion.terms.sum(axis=0) == pytest.approx(x)
    assert expansion.points[0] == pytest.approx([1.0, 1.0])
    assert len(trace_points(GradientDescent(f), [0.0, 0.0], 4)) == 5


def test_what_lies_outside_the_assumptions_is_refused():
    rough = Function(np.sum, np.ones_like)
    saddle = Quadratic(np.diag([1.0, -1.0]))
    for call in (
        lambda: descent_bound(rough, [0.0], [1.0]),
        lambda: guaranteed_decrease(rough, [0.0]),
        lambda: step_distance(rough, [0.0], [1.0], rate=0.1),
    ):
        with pytest.raises(ValueError, match="smoothness is known, positive and finite"):
            call()
    with pytest.raises(ValueError, match="needs a convex function"):
        co_coercivity(saddle, [0.0, 0.0], [1.0, 1.0])
    with pytest.raises(ValueError, match="between 0 and 2 / smoothness = 2"):
        step_expansion(rate=2.1, smoothness=1.0)
    with pytest.raises(ValueError, match="between 0 and 2 / smoothness"):
        step_distance(Quadratic([[4.0]]), [1.0], [0.0], rate=0.6)
    with pytest.raises(ValueError, match="strong_convexity <= smoothness"):
        step_expansion(rate=0.1, smoothness=1.0, strong_convexity=2.0)
    with pytest.raises(TypeError, match="exact for a Quadratic only"):
        GradientMap(rough, 0.1).largest_expansion()
    with pytest.raises(ValueError, match="two different points"):
        GradientMap(saddle, 0.1).expansion([1.0, 1.0], [1.0, 1.0])
