"""ADMM, and its consensus form in memory and over Dask."""

import numpy as np
import pytest

from corollary.optimize import (
    ADMM,
    L1,
    Ball,
    Box,
    Consensus,
    EmpiricalRisk,
    Function,
    Quadratic,
    Stop,
    admm,
    certify_minimum,
    consensus,
    coordinate_descent,
    iterate,
    proximal_point,
    row_blocks,
    soft_threshold,
)


def rows(seed, n=30, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ np.r_[3.0, -2.0, np.zeros(d - 2)] + rng.normal(size=n)


def lasso(X, y):
    return Quadratic(X.T @ X, -X.T @ y, 0.5 * y @ y)


@pytest.mark.parametrize("rho", [0.1, 1.0, 1000.0])
def test_the_lasso_agrees_with_coordinate_descent(rho):
    X, y = rows(0)
    best = coordinate_descent(X, y, 8.0, tol=1e-13)
    solution = admm(lasso(X, y), np.zeros(5), L1(8.0), rho=rho, tol=1e-9)
    assert solution.status == "optimal"
    assert solution.x == pytest.approx(best.x, abs=1e-4)
    assert np.array_equal(solution.x == 0, best.x == 0)  # zeros are zeros
    assert solution.n_iter < 300
    assert 0 <= solution.value - best.value + 1e-9 <= solution.gap + 2e-9


def test_one_step_by_hand():
    # |x| + (z - 3)^2 / 2 from z = 2 with rho = 1/2: x = S(2, 2) = 0, z = (3 + 0) / 1.5 = 2.
    method = ADMM(
        lambda v, rho: soft_threshold(-v, 1 / rho),
        lambda v, rho: (3 + rho * v) / (1 + rho),
        rho=0.5,
        n_adapt=0,
        value=lambda x: float(abs(x[0])),
    )
    first = iterate(method, [2.0], max_iter=1)
    assert first.state[:3] == (pytest.approx([0.0]), pytest.approx([2.0]), pytest.approx([-2.0]))
    assert (first.history.primal[0], first.history.dual[0]) == (2.0, 0.0)
    # Then x = S(4, 2) = 2 and z = (3 + (2 - 2) / 2) / 1.5 = 2: solved.
    second = iterate(method, [2.0], max_iter=2)
    assert second.state.x == pytest.approx([2.0])
    assert second.state.z == pytest.approx([2.0])
    assert second.history.primal[1] == pytest.approx(0.0)
    assert second.history.step[1] == pytest.approx(2.0)
    assert second.history.value[1] == pytest.approx(2.0)
    moved = iterate(method, [4.0], max_iter=1)  # x = 2, z = 8/3: rho |dz| = 2/3
    assert moved.history.dual[0] == pytest.approx(2 / 3)
    assert moved.history.primal[0] == pytest.approx(2 / 3)
    assert moved.history.step[0] == pytest.approx(np.hypot(2, 4 / 3))


def test_general_constraints_reach_the_equality_solution():
    # |x - a|^2 / 2 + |z - b|^2 / 2 with Mx + Nz = c, whose solution is linear algebra.
    rng = np.random.default_rng(1)
    M, N, c = rng.normal(size=(2, 3)), rng.normal(size=(2, 2)), rng.normal(size=2)
    a, b = rng.normal(size=3), rng.normal(size=2)
    method = ADMM(
        lambda v, rho: np.linalg.solve(np.eye(3) + rho * M.T @ M, a - rho * M.T @ v),
        lambda v, rho: np.linalg.solve(np.eye(2) + rho * N.T @ N, b - rho * N.T @ v),
        M,
        N,
        c,
    )
    run = iterate(method, np.zeros(2), stop=Stop(residual=1e-12), max_iter=5000)
    assert run.status == "converged"
    both = np.hstack([M, N])
    start = np.append(a, b)
    exact = start - both.T @ np.linalg.solve(both @ both.T, both @ start - c)
    assert np.append(run.state.x, run.state.z) == pytest.approx(exact, abs=1e-9)
    # Multipliers are scaled by rho, whatever it has become.
    assert run.state.rho * M.T @ run.state.u == pytest.approx(a - run.state.x, abs=1e-9)
    before = iterate(method, np.zeros(2), max_iter=1)
    change = N @ before.state.z
    assert before.history.dual[0] == pytest.approx(np.linalg.norm(M.T @ change))


def test_the_strength_is_adapted_at_first_only():
    X, y = rows(2)
    f = lasso(X, y)
    update = (lambda v, rho: L1(8.0).prox(-v, 1 / rho), lambda v, rho: proximal_point(f, v, rho))
    weak = iterate(ADMM(*update, rho=1e-3), np.zeros(5), max_iter=50)
    assert weak.state.rho > 1e-3
    strong = iterate(ADMM(*update, rho=1e4), np.zeros(5), max_iter=50)
    assert strong.state.rho < 1e4
    fixed = iterate(ADMM(*update, rho=1e4, n_adapt=0), np.zeros(5), max_iter=50)
    assert fixed.state.rho == 1e4
    lower = iterate(ADMM(*update, rho=1e4, n_adapt=3), np.ones(5), max_iter=3).state
    assert lower.rho in (1e4 / 2, 1e4 / 4, 1e4 / 8)


@pytest.mark.parametrize(
    ("rho", "start", "factor"),
    [
        (0.4, 2.0, 2.0),  # x = 0, z = 15/7: 15/7 over 1/7 is 15
        (0.3, 2.0, 1.0),  # x = 0, z = 30/13: 30/13 over 4/13 is 7.5
        (0.5, 4.0, 1.0),  # x = 2, z = 8/3: dual 2/3 of 1/3, primal 2/3 of 8/3, one over 8
        (0.55, 4.0, 0.5),  # x = 24/11, z = 84/31: one over 12.5
    ],
)
def test_one_adaptation_by_hand(rho, start, factor):
    # |x| + (z - 3)^2 / 2: the strength follows the residuals relative to their terms.
    update = (
        lambda v, rho: soft_threshold(-v, 1 / rho),
        lambda v, rho: (3 + rho * v) / (1 + rho),
    )
    once = iterate(ADMM(*update, rho=rho, n_adapt=1), [start], max_iter=1).state
    never = iterate(ADMM(*update, rho=rho, n_adapt=0), [start], max_iter=1).state
    assert once.rho == rho * factor
    assert once.u == pytest.approx(never.u / factor)  # rho * u, the multipliers, stay


def test_units_of_the_objective_do_not_matter():
    X, y = rows(2)
    runs = [
        admm(lasso(c * X, c * y), np.zeros(5), L1(8.0 * c**2), rho=30 * c**2, max_iter=60, tol=0)
        for c in (1.0, 1000.0)
    ]
    assert runs[1].x == pytest.approx(runs[0].x, rel=1e-9)
    assert runs[1].state.inner.rho == 1e6 * runs[0].state.inner.rho
    signs = Quadratic(1e4 * np.diag(np.arange(1.0, 17.0)), -1e4 * np.ones(16))
    assert admm(signs, np.zeros(16), Box(0.0, np.inf), rho=1e5).n_iter <= 60


def test_other_functions_and_sets():
    X, y = rows(3)
    risk = EmpiricalRisk(X, np.where(y > 0, 1, -1), alpha=0.1)
    inside = admm(risk, np.ones(5), Ball(0.5), tol=1e-9)
    assert inside.status == "optimal"
    assert np.linalg.norm(inside.x) == pytest.approx(0.5)
    v = np.arange(5.0)
    near = proximal_point(risk, v, 2.0)
    assert risk.gradient(near) + 2 * (near - v) == pytest.approx(np.zeros(5), abs=1e-9)
    assert proximal_point(Quadratic([[3.0]], [-2.0]), [4.0], 2.0) == pytest.approx([2.0])
    onward = admm(risk, None, Ball(0.5), state=admm(risk, np.ones(5), Ball(0.5), max_iter=5).state)
    assert onward.x == pytest.approx(inside.x, abs=1e-3)


def test_bad_input_is_refused():
    f = Quadratic([[1.0]])
    for rho in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="ADMM needs a positive, finite rho"):
            admm(f, [0.0], L1(), rho=rho)
        with pytest.raises(ValueError, match="A proximal point needs a positive, finite rho"):
            proximal_point(f, [0.0], rho)
        with pytest.raises(ValueError, match="Consensus needs a positive, finite rho"):
            consensus([f], [0.0], rho=rho)
    with pytest.raises(ValueError, match="f is not convex"):
        admm(Quadratic([[-2.0]]), [1.0], L1())
    for functions, weights in (([], None), ([f], [1.0, 1.0]), ([f], [0.0]), ([f], [np.nan])):
        with pytest.raises(ValueError, match="at least one function"):
            consensus(functions, [0.0], weights=weights)
    for X, y, n in (([[1.0]], [1.0], 2), ([[1.0]], [1.0], 0), ([[1.0]], [1.0, 2.0], 1)):
        with pytest.raises(ValueError, match="row_blocks needs"):
            row_blocks(X, y, n_blocks=n)
    broken = Function(lambda x: np.nan, lambda x: x * np.nan, lambda x: np.eye(1), convex=True)
    assert admm(broken, [1.0], L1(), max_iter=5).status == "diverged"


def test_consensus_equals_the_central_solution():
    X, y = rows(4)
    central = coordinate_descent(X, y, 8.0, tol=1e-13)
    functions, weights = row_blocks(X, y, n_blocks=4)
    assert weights == pytest.approx([8 / 30, 8 / 30, 7 / 30, 7 / 30])
    # The mean of squares is 2/30 of half their sum.
    solution = consensus(functions, np.zeros(5), L1(8.0 * 2 / 30), weights=weights, tol=1e-10)
    assert solution.status == "optimal"
    assert solution.x == pytest.approx(central.x, abs=1e-4)
    assert solution.value == pytest.approx(central.value * 2 / 30, abs=1e-9)
    least = consensus(functions, np.zeros(5), weights=weights, tol=1e-12)
    assert least.x == pytest.approx(np.linalg.lstsq(X, y)[0], abs=1e-5)
    # The whole objective, and its constants, at any point.
    mixture = Consensus(functions, weights=weights).objective
    whole = EmpiricalRisk(X, y, "square")
    w = np.arange(5.0)
    assert mixture.value(w) == pytest.approx(whole.value(w))
    assert mixture.gradient(w) == pytest.approx(whole.gradient(w))
    assert mixture.convex
    assert mixture.smoothness >= whole.smoothness - 1e-9
    assert 0 < mixture.strong_convexity <= whole.strong_convexity + 1e-9
    assert mixture.floor == pytest.approx(weights @ [f.floor for f in functions])
    assert 0 <= mixture.floor <= least.value


def test_a_step_of_consensus_by_hand():
    # x^2 / 2 and (x - 4)^2 / 2 with weights 3/4 and 1/4, rho = 1, h = |z| / 2.
    pair = [Quadratic([[1.0]]), Quadratic([[1.0]], [-4.0])]
    run = iterate(Consensus(pair, L1(0.5), [3.0, 1.0]), [2.0], max_iter=1)
    # Copies 1 and 3; their mean 3/2 is shrunk by 1/2.
    assert run.state.copies.ravel() == pytest.approx([1.0, 3.0])
    assert run.state.x == pytest.approx([1.0])
    assert run.state.u.ravel() == pytest.approx([0.0, 2.0])
    assert run.history.primal[0] == pytest.approx(1.0)  # sqrt(3/4 * 0 + 1/4 * 4)
    assert (run.history.dual[0], run.history.step[0]) == pytest.approx((1.0, 1.0))
    strong = iterate(Consensus(pair, L1(0.5), [3.0, 1.0], rho=2.0), [2.0], max_iter=1)
    assert strong.state.copies.ravel() == pytest.approx([4 / 3, 8 / 3])
    assert strong.history.dual[0] == pytest.approx(2 * strong.history.step[0])
    assert strong.state.x == pytest.approx([0.75 * 4 / 3 + 0.25 * 8 / 3 - 0.25])


@pytest.mark.parametrize("loss", ["square", "logistic"])
def test_dask_blocks_give_the_bits_of_memory(loss):
    da = pytest.importorskip("dask.array")
    import dask

    X, y = rows(5)
    truth = y if loss == "square" else np.where(y > 0, 1, -1)
    functions, weights = row_blocks(X, truth, loss, n_blocks=3)
    penalty, options = L1(0.05), {"weights": weights, "tol": 1e-5, "max_iter": 20}
    memory = consensus(functions, np.zeros(5), penalty, **options)
    with dask.config.set(scheduler="synchronous"):
        lazy, shares = row_blocks(
            da.from_array(X, chunks=(10, 2)), da.from_array(truth, chunks=15), loss
        )
        blocks = consensus(lazy, np.zeros(5), penalty, **options)
        mixed, _ = row_blocks(da.from_array(X, chunks=(10, 5)), truth, loss)
        first = dask.compute(mixed[1])[0]
    assert np.array_equal(shares, weights)
    assert np.array_equal(blocks.x, memory.x)
    assert (blocks.value, blocks.gap, blocks.n_iter) == (memory.value, memory.gap, memory.n_iter)
    assert first.value(np.ones(5)) == functions[1].value(np.ones(5))
    if loss == "logistic":
        whole = EmpiricalRisk(X, truth, loss)
        assert blocks.value == pytest.approx(whole.value(blocks.x) + penalty.value(blocks.x))
        assert blocks.value >= admm(whole, np.zeros(5), penalty, max_iter=100).value - 1e-6


def test_what_one_block_does_not_prove_no_sum_does():
    convex = Function(lambda x: float(x @ x), lambda x: 2 * x, lambda x: 2 * np.eye(1), convex=True)
    bare = Function(lambda x: float(x @ x), lambda x: 2 * x, lambda x: 2 * np.eye(1))
    solution = consensus([convex, bare], [1.0], tol=1e-8)
    assert solution.status == "stopped"
    assert solution.gap == np.inf
    assert solution.x == pytest.approx([0.0], abs=1e-6)
    vouched = Consensus([convex, convex]).objective
    assert len(vouched.assumptions) == 1
    assert certify_minimum(vouched, [0.0]).gap == 0.0
