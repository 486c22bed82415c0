"""Functions and their constants."""

import numpy as np
import pytest

from corollary.optimize import EmpiricalRisk, Function, Quadratic


def test_a_quadratic_by_hand():
    f = Quadratic([[2.0, 1.0], [1.0, 2.0]], [1.0, 0.0], 5.0)
    # 1/2 (2 + 2 * 2 + 8) + 1 + 5 at (1, 2)
    assert f.value([1.0, 2.0]) == pytest.approx(7.0 + 1.0 + 5.0)
    assert f.gradient([1.0, 2.0]) == pytest.approx([5.0, 5.0])
    assert (f.smoothness, f.strong_convexity, f.convex) == (
        pytest.approx(3),
        pytest.approx(1),
        True,
    )
    assert f.minimiser() == pytest.approx([-2 / 3, 1 / 3])


def test_saddles_and_flat_directions():
    saddle = Quadratic(np.diag([1.0, -3.0]))
    assert (saddle.convex, saddle.smoothness, saddle.strong_convexity) == (False, 3.0, 0.0)
    flat = Quadratic(np.ones((2, 2)), [1.0, 1.0])
    assert (flat.convex, flat.strong_convexity) == (True, 0.0)
    assert flat.minimiser() == pytest.approx([-0.5, -0.5])
    for f in (saddle, Quadratic(np.ones((2, 2)), [1.0, -1.0])):
        with pytest.raises(ValueError, match="no minimum"):
            f.minimiser()


def test_derivatives_by_jax_are_exact_in_double_precision():
    import jax.numpy as jnp

    f = Function(lambda x: (x**4).sum() + jnp.exp(x[0] * x[1]))
    x = np.array([0.3, -1.2])
    product, e = x[0] * x[1], np.exp(x[0] * x[1])
    assert f.value(x) == pytest.approx((x**4).sum() + e, rel=1e-15)
    assert f.gradient(x) == pytest.approx(4 * x**3 + e * x[::-1], rel=1e-14)
    cross = e * (1 + product)
    second = np.diag(12 * x**2 + e * x[::-1] ** 2) + cross * np.eye(2)[::-1]
    assert f.hessian(x) == pytest.approx(second, rel=1e-14)


def test_what_a_caller_vouches_for_is_written_down():
    f = Function(np.sum, np.ones_like, strong_convexity=0.5, smoothness=2.0)
    assert f.convex
    assert " ".join(map(str, f.assumptions)) == (
        "The function is strongly convex with constant 0.5. "
        "Its gradient has the Lipschitz constant 2."
    )
    assert not any(a.checked for a in f.assumptions)
    assert Function(np.sum, np.ones_like).assumptions == ()


def test_bad_functions_are_refused():
    with pytest.raises(ValueError, match="square matrix"):
        Quadratic(np.ones((2, 3)))
    with pytest.raises(ValueError, match="symmetric"):
        Quadratic([[0.0, 1.0], [0.0, 0.0]])
    with pytest.raises(ValueError, match="one entry of q"):
        Quadratic(np.eye(2), [1.0])
    with pytest.raises(ValueError, match="finite"):
        Quadratic([[np.nan]])
    with pytest.raises(ValueError, match="strong_convexity <= smoothness"):
        Function(np.sum, smoothness=1.0, strong_convexity=2.0)
    with pytest.raises(ValueError, match="denies it"):
        Function(np.sum, convex=False, strong_convexity=1.0)
    with pytest.raises(ValueError, match=r"gradient must have shape \(2,\). Got shape \(\)"):
        Function(np.sum, np.sum).gradient([1.0, 2.0])
    with pytest.raises(TypeError, match="has no Hessian"):
        Function(np.sum, np.ones_like).hessian([1.0])


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_columns_that_depend_on_each_other_are_not_strongly_convex(unit):
    X = unit * np.random.default_rng(5).normal(size=(30, 4))
    X = np.hstack([X, X[:, :1] + X[:, 1:2]])
    assert EmpiricalRisk(X, np.ones(30), "square").strong_convexity == 0.0
    assert EmpiricalRisk(X[:, :4], np.ones(30), "square").strong_convexity > 0.1 * unit**2
