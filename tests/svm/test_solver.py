"""The solver against a reference, its laws, and bad input."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corollary.kernels import RBF, Kernel, Matern, PrecomputedTiles
from corollary.kernels._tiles import KernelTiles, RBFTiles
from corollary.svm import duality_gap, smo, svm_pair
from corollary.svm.dual import _descent as solver
from corollary.svm.dual._descent import minimise
from corollary.svm.dual._row_cache import (
    ChangedTiles,
    RowCache,
)
from tests.svm.reference import solve_qp


def problem(seed, n=None):
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(4, 14))
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    K = RBF(float(rng.uniform(0.5, 2.0))).gram(X) + 1e-3 * np.eye(n)
    return rng, K, y


@pytest.mark.parametrize("seed", range(50))
def test_dual_agrees_with_a_reference_solver(seed):
    rng, K, y = problem(seed)
    C = float(10 ** rng.uniform(-1, 2)) * rng.uniform(0.5, 2.0, size=len(y))
    lower, upper = np.where(y < 0, -C, 0.0), np.where(y > 0, C, 0.0)
    result = smo(K, y, lower, upper, tol=1e-11)
    expected = solve_qp(K, y, lower, upper, (np.ones(len(y)), 0.0))
    value = 0.5 * expected @ K @ expected - y @ expected
    assert result.converged
    assert result.objective == pytest.approx(value, abs=1e-8 * (1 + abs(value)))
    assert result.objective <= value + 1e-9 * (1 + abs(value))
    np.testing.assert_allclose(result.beta, expected, atol=1e-6 * (1 + C.max()))


@pytest.mark.parametrize("seed", range(20))
def test_regression_dual_agrees_with_a_reference_solver(seed):
    rng, K, _ = problem(seed)
    n = len(K)
    target, C, epsilon = rng.normal(size=n), float(10 ** rng.uniform(-1, 1)), 0.2
    result = smo(K, target, np.full(n, -C), np.full(n, C), epsilon=epsilon, tol=1e-11)
    # Two variables for each row: beta = a - a'.
    twice = np.block([[K, -K], [-K, K]])
    linear = np.concatenate([target - epsilon, -target - epsilon])
    sums = (np.concatenate([np.ones(n), -np.ones(n)]), 0.0)
    both = solve_qp(twice, linear, np.zeros(2 * n), np.full(2 * n, C), sums)
    value = 0.5 * both @ twice @ both - linear @ both
    assert result.objective == pytest.approx(value, abs=1e-6 * (1 + abs(value)))
    assert result.objective <= value + 1e-9 * (1 + abs(value))
    np.testing.assert_allclose(result.beta, both[:n] - both[n:], atol=2e-5 * (1 + C))


@pytest.mark.parametrize("seed", range(10))
def test_sums_of_groups_are_kept_and_optimal(seed):
    _, K, y = problem(seed, 10)
    groups = (y < 0).astype(int)
    start = np.zeros(10)
    start[np.argmax(y > 0)], start[np.argmax(y < 0)] = 1.0, -1.0
    lower, upper = np.where(y < 0, -1.0, 0.0), np.where(y > 0, 1.0, 0.0)
    result = smo(K, np.zeros(10), lower, upper, groups=groups, start=start, tol=1e-11)
    sums = (np.array([y > 0, y < 0], dtype=float), np.array([1.0, -1.0]))
    expected = solve_qp(K, np.zeros(10), lower, upper, sums)
    np.testing.assert_allclose(result.beta, expected, atol=1e-6)
    assert result.beta[y > 0].sum() == pytest.approx(1.0)
    assert result.beta[y < 0].sum() == pytest.approx(-1.0)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("seed", range(5))
def test_primal_equals_dual(seed, loss):
    _, K, y = problem(seed)
    solution = svm_pair(K, y, C=3.0, loss=loss, tol=1e-10)
    f = K @ solution.beta + solution.intercept
    slack = np.maximum(0.0, 1.0 - y * f)
    paid = 3.0 * (slack.sum() if loss == "hinge" else slack @ slack)
    primal = 0.5 * solution.beta @ K @ solution.beta + paid
    assert primal == pytest.approx(solution.dual, rel=1e-7)
    assert solution.gap == pytest.approx(primal - solution.dual, abs=1e-9)
    # A reference minimum of the primal: no other (w, b) is better.
    rng = np.random.default_rng(seed)
    for _ in range(200):
        beta = solution.beta + 0.1 * rng.normal(size=len(y))
        intercept = solution.intercept + 0.1 * rng.normal()
        slack = np.maximum(0.0, 1.0 - y * (K @ beta + intercept))
        paid = 3.0 * (slack.sum() if loss == "hinge" else slack @ slack)
        assert 0.5 * beta @ K @ beta + paid >= primal - 1e-9


def test_the_objective_never_rises():
    _, K, y = problem(3, 40)
    lower, upper = np.where(y < 0, -5.0, 0.0), np.where(y > 0, 5.0, 0.0)
    values = [smo(K, y, lower, upper, max_iter=m, tol=1e-9).objective for m in range(60)]
    assert (np.diff(values) <= 1e-12).all()
    assert values[-1] < values[0]


def test_max_iter_stops_and_warm_restart_goes_on():
    _, K, y = problem(4, 60)
    lower, upper = np.where(y < 0, -50.0, 0.0), np.where(y > 0, 50.0, 0.0)
    first = smo(K, y, lower, upper, max_iter=20, tol=1e-6)
    assert not first.converged
    assert first.n_iter == 20
    assert first.violation > 1e-6
    whole = smo(K, y, lower, upper, tol=1e-6)
    rest = smo(K, y, lower, upper, start=first.beta, tol=1e-6)
    assert rest.converged
    assert rest.objective == pytest.approx(whole.objective, rel=1e-9)
    again = smo(K, y, lower, upper, start=whole.beta, tol=1e-6)
    assert again.n_iter == 0


def blobs(n, seed=0, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y


def test_blocks_and_a_tiny_cache_change_nothing(monkeypatch):
    # Blocks of 64 of 500 variables, rows cached and evicted, against one block.
    X, y = blobs(500)
    gram = RBF(1.5).tiles(X)
    lower, upper = np.where(y < 0, -10.0, 0.0), np.where(y > 0, 10.0, 0.0)
    whole = minimise(gram, y, lower, upper, tol=1e-9)
    for name, value in (("_BLOCK", 64), ("_LARGEST_BLOCK", 96), ("_SMALLEST_BLOCK", 16)):
        monkeypatch.setattr(f"corollary.svm.dual._descent.{name}", value)
    monkeypatch.setattr("corollary.svm.dual._row_cache.TILE_COLUMNS", 128)
    small = minimise(gram, y, lower, upper, tol=1e-9, cache_size=0.4)
    assert small.converged
    assert small.objective == pytest.approx(whole.objective, rel=1e-11)
    np.testing.assert_allclose(small.scores, RBF(1.5).gram(X) @ small.beta, atol=1e-9)
    np.testing.assert_allclose(small.scores, whole.scores, atol=1e-7)


@pytest.mark.parametrize("rough_rows", [500, 5000])
def test_same_bits_for_any_number_of_threads(monkeypatch, rough_rows):
    X, y = blobs(1100)
    lower, upper = np.where(y < 0, -3.0, 0.0), np.where(y > 0, 3.0, 0.0)
    monkeypatch.setattr("corollary.svm.dual._row_cache.TILE_COLUMNS", 256)
    monkeypatch.setattr("corollary.svm.dual._descent._ROUGH_ROWS", rough_rows)
    found = []
    for cores in (1, 4):
        monkeypatch.setattr(
            "corollary.svm.dual._row_cache.available_cores", lambda cores=cores: cores
        )
        found.append(minimise(RBF(1.5).tiles(X), y, lower, upper))
    assert found[0].beta.tobytes() == found[1].beta.tobytes()
    assert found[0].scores.tobytes() == found[1].scores.tobytes()


@settings(max_examples=15, deadline=None)
@given(scale=st.floats(1e-3, 1e3), seed=st.integers(0, 1000))
def test_scaling_the_kernel_scales_the_weights(scale, seed):
    # K -> s K and C -> C / s: weights scale by 1 / s, scores stay.
    _, K, y = problem(seed, 8)
    one = svm_pair(K, y, C=2.0, tol=1e-10)
    other = svm_pair(scale * K, y, C=2.0 / scale, tol=1e-10)
    np.testing.assert_allclose(scale * other.beta, one.beta, atol=1e-6)
    assert other.intercept == pytest.approx(one.intercept, abs=1e-6)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000))
def test_order_of_rows_does_not_matter(seed):
    rng, K, y = problem(seed, 9)
    order = rng.permutation(9)
    one = svm_pair(K, y, tol=1e-10)
    other = svm_pair(K[np.ix_(order, order)], y[order], tol=1e-10)
    np.testing.assert_allclose(other.beta, one.beta[order], atol=1e-6)


@pytest.mark.parametrize("cheap_columns", [0, 32])
@pytest.mark.parametrize(("C", "tol"), [(1.0, 1e-3), (1e4, 1e-3), (30.0, 1e-8)])
def test_rows_in_single_precision_change_nothing(monkeypatch, C, tol, cheap_columns):
    # Blocks of 200 of 800 variables: single precision, with and without kept rows, then exact.
    X, y = blobs(800)
    kernel = RBF(1.5)
    K = kernel.gram(X)
    lower, upper = np.where(y < 0, -C, 0.0), np.where(y > 0, C, 0.0)
    exact = minimise(kernel.tiles(X), y, lower, upper, tol=tol)
    for name, value in (("_BLOCK", 200), ("_LARGEST_BLOCK", 300), ("_ROUGH_ROWS", 700)):
        monkeypatch.setattr(f"corollary.svm.dual._descent.{name}", value)
    monkeypatch.setattr("corollary.kernels._tiles.CHEAP_COLUMNS", cheap_columns)
    seen = []
    descend = solver._descend
    monkeypatch.setattr(solver, "_descend", lambda *a: seen.append(a[0].dtype) or descend(*a))
    rough = minimise(kernel.tiles(X), y, lower, upper, tol=tol)
    assert seen == [np.float32, np.float64]
    assert rough.converged
    assert rough.violation <= tol
    assert rough.objective == pytest.approx(exact.objective, rel=0.2 * tol)
    # What is reported belongs to the weights, to rounding in double precision.
    np.testing.assert_allclose(rough.scores, K @ rough.beta, atol=1e-12 * np.abs(rough.beta).sum())
    value = 0.5 * rough.beta @ K @ rough.beta - y @ rough.beta
    assert rough.objective == pytest.approx(value, rel=1e-10)
    expected = duality_gap(y - K @ rough.beta, rough.beta, lower, upper, 0.0, rough.intercepts[0])
    assert rough.gap == pytest.approx(expected, rel=1e-4, abs=1e-9 * abs(value))


def test_steps_in_single_precision_count(monkeypatch):
    X, y = blobs(400)
    monkeypatch.setattr(solver, "_ROUGH_ROWS", 100)
    lower, upper = np.where(y < 0, -9.0, 0.0), np.where(y > 0, 9.0, 0.0)
    gram = RBF(1.5).tiles(X)
    stopped = minimise(gram, y, lower, upper, max_iter=50)
    assert stopped.n_iter == 50
    assert not stopped.converged
    whole = minimise(gram, y, lower, upper)
    again = minimise(gram, y, lower, upper, start=whole.beta)
    assert whole.n_iter > 50
    assert again.n_iter == 0


def test_powers_of_two():
    from corollary.kernels._loops.powers import powers_of_two

    x = np.concatenate([np.linspace(-126.0, 0.0, 50_000), -np.arange(127) / 2, [1e-7, -1e30]])
    values = x.astype(np.float32)[None]
    expected = np.exp2(np.clip(values.astype(float), -126.0, 0.0))
    powers_of_two(values)
    np.testing.assert_allclose(values, expected, rtol=2e-7)


def test_rows_far_away_stay_in_double_precision():
    # Single precision would leave fewer than four digits.
    X, _ = blobs(50)
    near, far = RBF().tiles(X), RBF().tiles(30.0 * X)
    assert near.single().dtype == np.float32
    assert far.single() is far


def test_gram_sources_agree():
    X, _ = blobs(300)
    kernel = RBF([1.0, 2.0, 0.5, 3.0, 1.5])
    K = kernel.gram(X)
    rows = np.array([5, 250, 17])
    fast, general, given_K = kernel.tiles(X), Kernel.tiles(kernel, X), PrecomputedTiles(K)
    assert isinstance(fast, RBFTiles)
    assert isinstance(Matern().tiles(X), KernelTiles)
    assert isinstance(RBF().tiles(1e6 * X), KernelTiles)  # inner products lose digits there
    signs = np.where(np.arange(300) % 2, 1.0, -1.0)
    for gram in (fast, general, given_K):
        tile = gram.tile(gram.rows(rows), gram.columns(slice(10, 290)))
        np.testing.assert_allclose(tile, K[rows, 10:290], atol=1e-14)
        with RowCache(gram, 1.0) as cache:
            np.testing.assert_allclose(
                cache.block(rows, precise=True), K[np.ix_(rows, rows)], atol=1e-14
            )
            big = cache.block(np.arange(299, -1, -1), precise=True)
            np.testing.assert_array_equal(big, big.T)
            rough = cache.block(np.arange(299, -1, -1), precise=False)
            np.testing.assert_allclose(rough, K[::-1, ::-1], rtol=1e-5, atol=1e-30)
            for _ in range(3):  # computed, stored, read
                rest = np.ones(300)
                cache.subtract_product(rest, rows, np.array([1.0, -2.0, 0.5]))
                expected = 1.0 - np.array([1.0, -2.0, 0.5]) @ K[rows]
                np.testing.assert_allclose(rest, expected, atol=1e-13)
        changed = ChangedTiles(gram, signs=signs, addition=np.full(300, 0.25))
        other = K * signs[:, None] * signs + 0.25 * np.eye(300)
        tile = changed.tile(changed.rows(rows), changed.columns(slice(0, 300)))
        np.testing.assert_allclose(tile, other[rows], atol=1e-14)


def test_indefinite_matrix_gives_a_stationary_point():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 20))
    K = A + A.T
    y = np.where(np.arange(20) % 2, 1.0, -1.0)
    result = smo(K, y, np.where(y < 0, -1.0, 0.0), np.where(y > 0, 1.0, 0.0))
    assert result.converged
    assert np.isfinite(result.beta).all()


@pytest.mark.parametrize("C", [1e6, 1e10])
def test_huge_price_and_duplicate_rows(C):
    X = np.array([[0.0], [0.0], [1.0], [1.0], [3.0], [3.0], [4.0], [3.0]])
    y = np.array([-1.0, -1, -1, -1, 1, 1, 1, 1])
    solution = svm_pair(X @ X.T, y, C=C, tol=1e-8)
    assert float(X[:, 0] @ solution.beta) == pytest.approx(1.0, abs=1e-6)
    assert solution.intercept == pytest.approx(-2.0, abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((2, 3)), [1, 1], [0, 0], [1, 1]), "'K' parameter of smo must be a square"),
        ((np.eye(2), [1.0], [0, 0], [1, 1]), "'linear' parameter of smo must be an array of 2"),
        ((np.eye(2), [1.0, np.nan], [0, 0], [1, 1]), "'linear' .* with NaN"),
        ((np.eye(2), [1, 1], [0.5, 0], [1, 1]), "'start' parameter of smo must lie within"),
    ],
)
def test_bad_input_of_the_solver(arguments, message):
    with pytest.raises(ValueError, match=message):
        smo(*arguments)


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ([1, 1], {}, "both present"),
        ([1, -1], {"C": 0.0}, "'C' parameter of svm_pair must be positive"),
        ([1, -1], {"loss": "hings"}, "must be 'hinge' or 'squared_hinge'"),
    ],
)
def test_bad_input_of_a_pair(y, options, message):
    with pytest.raises(ValueError, match=message):
        svm_pair(np.eye(2), y, **options)


def test_the_loop_returns_to_python_while_it_works(monkeypatch):
    # Ctrl-C is seen between compiled calls: each is limited in steps.
    from corollary.svm._loops import smo as _smo

    X, y = blobs(300)
    calls = []
    original = _smo.solve_block

    def spy(*arguments):
        calls.append(arguments[-1])
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(_smo, "solve_block", spy)
    with pytest.raises(KeyboardInterrupt), warnings.catch_warnings():
        minimise(RBF(9.0).tiles(X), y, np.minimum(1e9 * y, 0), np.maximum(1e9 * y, 0), tol=1e-9)
    assert max(calls) <= 20_000


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3]), st.integers(0, 30))
@settings(max_examples=40, deadline=None)
def test_gap_bounds_the_distance_to_the_minimum(entropy, epsilon, steps):
    rng, K, y = problem(entropy)
    C = 10 ** rng.uniform(-1, 2)
    lower, upper = (np.where(y < 0, -C, 0.0), np.where(y > 0, C, 0.0))
    if epsilon:
        lower, upper = np.full(len(y), -C), np.full(len(y), C)
    early = smo(K, y, lower, upper, epsilon=epsilon, max_iter=steps)
    best = smo(K, y, lower, upper, epsilon=epsilon, tol=1e-11)
    slack = 1e-8 * (1 + abs(best.objective))
    assert early.objective - best.objective <= early.gap + slack
    assert best.gap <= slack
    # Any intercept gives a bound.
    rest, b = y - K @ early.beta, float(rng.normal())
    assert early.objective - best.objective <= slack + duality_gap(
        rest, early.beta, lower, upper, epsilon, b
    )


def test_gap_is_primal_minus_dual(seed):
    _, K, y = problem(seed, n=30)
    pair = svm_pair(K, y, C=5.0, max_iter=20)
    slack = np.maximum(0.0, 1.0 - y * (K @ pair.beta + pair.intercept))
    primal = 0.5 * pair.beta @ K @ pair.beta + 5.0 * slack.sum()
    assert pair.result.gap == pytest.approx(primal - pair.dual, rel=1e-9)
    assert pair.gap == pytest.approx(pair.result.gap, rel=1e-9)


@pytest.mark.parametrize("C", [0.1, 1e2, 1e5])
def test_the_solver_stops_by_its_gap(C, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] + rng.normal(size=200) > 0, 1.0, -1.0)
    K = RBF(2.0).gram(X)
    result = svm_pair(K, y, C=C, tol=1e-2).result
    assert result.converged
    assert result.violation <= 1e-2
    assert result.gap <= 1e-3 * abs(result.objective)
