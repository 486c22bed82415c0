"""The solver's parts against plain NumPy, and its two models against each other."""

import numpy as np
import pytest
from scipy import sparse

from corollary.optimize import WorkingSetSolver, prepare_columns
from corollary.optimize._loops.coordinate_descent import (
    correlate,
    dense_epochs,
    gram_epochs,
    sparse_epochs,
)
from corollary.optimize.coordinate._designs import DenseDesign, Shrinkage, SparseDesign


def naive_epochs(X, y, w, epochs, l1, l2, positive):
    """Coordinate descent as one would write it on a board."""
    w, trace = w.copy(), []
    for _ in range(epochs):
        for j in range(X.shape[1]):
            z = X[:, j] @ (y - X @ w + X[:, j] * w[j])
            shrunk = np.sign(z) * max(abs(z) - l1, 0.0)
            w[j] = (max(shrunk, 0.0) if positive else shrunk) / (X[:, j] @ X[:, j] + l2)
        trace.append(w.copy())
    return np.array(trace)


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.normal(size=(12, 5)))
    return X, rng.normal(size=12) * 3, rng.normal(size=5)


@pytest.mark.parametrize("penalty", [(1.0, 0.0, False), (0.5, 2.0, False), (0.5, 0.3, True)])
def test_kernels_equal_the_naive_loop(data, penalty):
    X, y, w = data
    w = np.abs(w) if penalty[2] else w
    expected = naive_epochs(X, y, w, 3, *penalty)

    iterates, weights = np.zeros((3, 5)), w.copy()
    gram = np.zeros((7, 7))  # a buffer larger than the working set
    gram[:5, :5] = X.T @ X
    correlation = X.T @ (y - X @ w)
    gram_epochs(gram, correlation, weights, iterates, *penalty)
    np.testing.assert_allclose(iterates, expected, atol=1e-10)
    np.testing.assert_allclose(correlation, X.T @ (y - X @ weights), atol=1e-10)

    residual, weights = y - X @ w, w.copy()
    squares = (X**2).sum(0)
    dense_epochs(X, squares, np.arange(5), residual, weights, iterates, *penalty)
    np.testing.assert_allclose(iterates, expected, atol=1e-10)
    np.testing.assert_allclose(residual, y - X @ weights, atol=1e-10)


@pytest.mark.parametrize("penalty", [(1.0, 0.0, False), (0.5, 2.0, False), (0.5, 0.3, True)])
def test_sparse_kernel_equals_the_naive_loop_on_centred_columns(data, penalty):
    X, y, w = data
    w = np.abs(w) if penalty[2] else w
    X[np.abs(X) < 0.7] = 0.0
    vector = np.sqrt(np.linspace(0.5, 1.5, 12))
    mean = (vector @ X) / (vector @ vector)
    centred = X - np.outer(vector, mean)
    expected = naive_epochs(centred, y, w, 3, *penalty)
    columns = sparse.csc_matrix(X)
    residual, weights, iterates = y - centred @ w, w.copy(), np.zeros((3, 5))
    sparse_epochs(
        (columns.data, columns.indices, columns.indptr),
        (mean, vector),
        (centred**2).sum(0),
        np.arange(5),
        residual,
        weights,
        iterates,
        *penalty,
    )
    np.testing.assert_allclose(iterates, expected, atol=1e-10)
    np.testing.assert_allclose(residual, y - centred @ weights, atol=1e-10)


def test_correlate_touches_only_what_it_is_told(data):
    X, y, _ = data
    out = np.full(5, np.nan)
    correlate(X, y, np.array([1, 3]), out)
    np.testing.assert_allclose(out[[1, 3]], X[:, [1, 3]].T @ y)
    assert np.isnan(out[[0, 2, 4]]).all()


def test_objective_never_rises(data):
    X, y, _ = data
    trace = naive_epochs(X, y, np.zeros(5), 20, 1.0, 0.0, False)
    iterates, weights = np.zeros((20, 5)), np.zeros(5)
    gram_epochs(X.T @ X, X.T @ y, weights, iterates, 1.0, 0.0, False)
    values = [0.5 * np.sum((y - X @ w) ** 2) + np.abs(w).sum() for w in iterates]
    assert np.all(np.diff(values) <= 1e-12)
    np.testing.assert_allclose(iterates, trace, atol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_sparse_and_dense_designs_agree(seed, weighted, fit_intercept):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 9)) * (rng.random((20, 9)) < 0.4)
    Y = rng.normal(size=(20, 1))
    weight = rng.random(20) if weighted else None
    dense = prepare_columns(X, Y, weight, fit_intercept)
    thin = prepare_columns(sparse.csr_matrix(X), Y, weight, fit_intercept)
    assert isinstance(dense.design, DenseDesign)
    assert isinstance(thin.design, SparseDesign)
    np.testing.assert_allclose(dense.design.squares, thin.design.squares, atol=1e-12)
    np.testing.assert_allclose(dense.Y, thin.Y)
    features = np.array([4, 0, 7])
    for design in (dense.design, thin.design):
        design.take(features[:2])
        design.take(features[2:])
    plain = dense.design.X[:, features]
    for design in (dense.design, thin.design):
        np.testing.assert_allclose(design.products(1), plain.T @ plain[:, 2:], atol=1e-12)
        w = np.array([1.0, -2.0, 0.5])
        np.testing.assert_allclose(design.combine_taken(w), plain @ w, atol=1e-12)
        np.testing.assert_allclose(design.combine(features, w), plain @ w, atol=1e-12)
        out = np.zeros(9)
        design.correlate(dense.Y[:, 0].copy(), np.arange(9), out)
        np.testing.assert_allclose(out, dense.design.X.T @ dense.Y[:, 0], atol=1e-12)


def path(design, y, positive=False, gram_order=4096, l2=0.0):
    solver = WorkingSetSolver(design, y, positive=positive, gram_order=gram_order)
    reach = solver.correlation if positive else np.abs(solver.correlation)
    grid = np.geomspace(reach.max(), reach.max() * 0.02, 12)
    found = [solver.solve(l1, l2 * l1, tol=1e-12, max_iter=100_000) for l1 in grid]
    assert all(f.converged for f in found)
    return solver, np.array([f.coef for f in found])


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("l2", [0.0, 0.5])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_gram_and_column_models_agree(seed, positive, l2, layout):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 400)) * (rng.random((40, 400)) < 0.5)
    y = X[:, :20].sum(1) + rng.normal(size=40)
    container = sparse.csc_matrix if layout == "sparse" else np.asarray
    design, Y, *_ = prepare_columns(container(X), y[:, None], None, True)
    # The square root of the data's size in doubles is 126: a limit of the data, not the caller's.
    design.nbytes = 0
    first, gram = path(design, Y[:, 0], positive, l2=l2)
    second, columns = path(design, Y[:, 0], positive, gram_order=10, l2=l2)
    assert type(first.model).__name__ == "GramModel"
    assert type(second.model).__name__ == "ColumnModel"
    np.testing.assert_allclose(gram, columns, atol=2e-5)


def test_newton_step_finds_the_solution_of_a_settled_support(seed):
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.normal(size=(60, 6)))
    y = X @ [3.0, -2.0, 2.0, 0, 0, 0] + 0.1 * rng.normal(size=60)
    solver = WorkingSetSolver(DenseDesign(X), y)
    w = np.array([2.5, -1.5, 1.7, 0.0, 0.0, 0.0])  # right signs, wrong sizes
    solver.model.move_to(w)
    assert solver.model.newton(w, Shrinkage(4.0))
    S = X[:, :3]
    expected = np.linalg.solve(S.T @ S, S.T @ y - 4.0 * np.array([1.0, -1.0, 1.0]))
    np.testing.assert_allclose(w[:3], expected, rtol=1e-6)
    np.testing.assert_allclose(solver.model.state, X.T @ (y - X @ w), atol=1e-8)


def test_newton_line_search_stops_at_the_lowest_point_of_the_kinked_line(seed):
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.normal(size=(30, 8)))
    y = rng.normal(size=30) * 2

    def objective(w):
        return 0.5 * np.sum((y - X @ w) ** 2) + 3.0 * np.abs(w).sum()

    solver = WorkingSetSolver(DenseDesign(X), y)
    for _ in range(20):
        before = rng.normal(size=8)
        w = before.copy()
        solver.model.move_to(w)
        assert solver.model.newton(w, Shrinkage(3.0))
        line = [objective(before + t * (w - before)) for t in np.linspace(0.0, 2.0, 2001)]
        assert objective(w) <= min(line) + 1e-9


def test_skipped_correlations_cannot_hide_a_violation(seed):
    """The screening of a path leaves every solution optimal for the full problem."""
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.normal(size=(50, 1000)))
    y = X[:, :5].sum(1) + rng.normal(size=50)
    solver = WorkingSetSolver(DenseDesign(X), y)
    looks = []
    inner = solver.design.correlate

    def counting(residual, features, out):
        looks.append(len(features))
        inner(residual, features, out)

    solver.design.correlate = counting
    top = np.abs(X.T @ y).max()
    for l1 in np.geomspace(top, 0.1 * top, 30):
        coef = solver.solve(l1, 0.0, tol=1e-10, max_iter=10_000).coef
        assert np.abs(X.T @ (y - X @ coef)).max() <= l1 * (1 + 1e-3)
    assert min(looks) < 500  # something was skipped
