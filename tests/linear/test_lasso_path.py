"""Paths: against LARS, against single fits, and piecewise linear."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from corollary.linear import ElasticNet, Lasso, enet_path, lasso_dual_gap, lasso_path


def problem(seed, n=60, p=15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, 1] += X[:, 0]
    return X, X[:, :4] @ [2.0, -1.0, 0.5, 1.0] + rng.normal(size=n)


def test_equals_lars_everywhere(seed):
    """Least-angle regression gives the kinks; between them the path is linear."""
    from sklearn.linear_model import lars_path

    X, y = problem(seed)
    kinks, _, exact = lars_path(X, y, method="lasso")
    grid = np.geomspace(kinks[0] * 0.999, kinks[0] * 0.01, 40)
    _, coefs, _ = lasso_path(X, y, alphas=grid, tol=1e-13, max_iter=20_000)
    for j in range(X.shape[1]):
        expected = np.interp(grid, kinks[::-1], exact[j, ::-1])
        np.testing.assert_allclose(coefs[j], expected, atol=1e-5)


def test_piecewise_linear_between_kinks(seed):
    from sklearn.linear_model import lars_path

    X, y = problem(seed)
    kinks = lars_path(X, y, method="lasso")[0]
    high, low = kinks[3], kinks[4]
    grid = np.linspace(high, low, 5)
    _, coefs, _ = lasso_path(X, y, alphas=grid, tol=1e-14, max_iter=20_000)
    np.testing.assert_allclose(np.diff(coefs, 2, axis=1), 0.0, atol=1e-5)
    # and not across one
    wide = np.linspace(kinks[0], kinks[-1] + 1e-3, 5)
    _, bent, _ = lasso_path(X, y, alphas=wide, tol=1e-14, max_iter=20_000)
    assert np.abs(np.diff(bent, 2, axis=1)).max() > 1e-3


def test_starts_at_lambda_max_with_zero_and_support_grows_from_one(seed):
    X, y = problem(seed)
    alphas, coefs, _ = lasso_path(X, y, alphas=50)
    assert alphas[0] == pytest.approx(np.abs(X.T @ y).max() / len(y))
    assert alphas[-1] == pytest.approx(1e-3 * alphas[0])
    assert not coefs[:, 0].any()
    assert np.count_nonzero(coefs[:, 1]) >= 1


def test_coefficients_reach_zero_and_stay(seed):
    """A lasso coefficient is zero over intervals of the penalty; ridge's is never zero."""
    X, y = problem(seed)
    alphas, coefs, _ = lasso_path(X, y, alphas=200, tol=1e-10, max_iter=20_000)
    zero = coefs == 0.0
    runs = (zero[:, 1:] & zero[:, :-1]).sum()
    assert runs > 100
    Z = [np.linalg.solve(X.T @ X + 60 * a * np.eye(15), X.T @ y) for a in alphas]
    assert np.all(np.array(Z) != 0.0)


@pytest.mark.parametrize("l1_ratio", [0.2, 0.9])
@pytest.mark.parametrize("shape", [(50, 10), (30, 400)])
def test_path_equals_single_fits(seed, l1_ratio, shape):
    X, y = problem(seed, *shape)
    alphas, coefs, gaps = enet_path(
        X, y, l1_ratio=l1_ratio, alphas=8, eps=0.02, tol=1e-12, max_iter=50_000
    )
    for k, alpha in enumerate(alphas):
        model = ElasticNet(
            alpha=alpha, l1_ratio=l1_ratio, fit_intercept=False, tol=1e-12, max_iter=50_000
        ).fit(X, y)
        np.testing.assert_allclose(coefs[:, k], model.coef_, atol=1e-4)
        assert gaps[k] <= 1e-12 * (y @ y) / len(y)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_wide_path_equals_scikit_learn(seed, positive, layout):
    from sklearn.linear_model import lasso_path as peer

    X, y = problem(seed, 50, 600)
    container = sparse.csc_matrix if layout == "sparse" else np.asarray
    options = {"eps": 0.05, "alphas": 12, "positive": positive}
    alphas, coefs, gaps = lasso_path(container(X), y, **options, tol=1e-10, max_iter=50_000)
    theirs, expected, _ = peer(X, y, **options, tol=1e-10, max_iter=50_000)
    np.testing.assert_allclose(alphas, theirs)
    np.testing.assert_allclose(coefs, expected, atol=1e-3)
    for k in range(12):
        gap = lasso_dual_gap(X, y, coefs[:, k], alpha=alphas[k], positive=positive)
        assert gaps[k] == pytest.approx(gap, abs=1e-12 * (y @ y))
        assert gap <= 1.01e-10 * (y @ y) / len(y)


def test_intercept_and_weights(seed):
    X, y = problem(seed, 50, 8)
    weight = np.random.default_rng(seed).random(50)
    alphas, coefs, _ = lasso_path(
        X, y + 7, alphas=5, fit_intercept=True, sample_weight=weight, tol=1e-12, max_iter=10_000
    )
    for k, alpha in enumerate(alphas):
        model = Lasso(alpha=alpha, tol=1e-12, max_iter=10_000).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(coefs[:, k], model.coef_, atol=1e-5)


def test_several_targets(seed):
    X, y = problem(seed)
    alphas, coefs, gaps, n_iters = lasso_path(
        X, np.column_stack([y, 2 * y]), alphas=6, return_n_iter=True, tol=1e-10
    )
    assert coefs.shape == (2, 15, 6)
    assert gaps.shape == n_iters.shape == (2, 6)
    _, single, _ = lasso_path(X, y, alphas=alphas, tol=1e-10)
    np.testing.assert_array_equal(coefs[0], single)


def test_any_order_of_penalties_is_answered_from_large_to_small(seed):
    X, y = problem(seed)
    alphas, coefs, _ = lasso_path(X, y, alphas=[0.01, 1.0, 0.1], tol=1e-12)
    assert alphas.tolist() == [1.0, 0.1, 0.01]
    _, alone, _ = lasso_path(X, y, alphas=[0.1], tol=1e-12)
    np.testing.assert_allclose(coefs[:, 1], alone[:, 0], atol=1e-5)


def test_start_changes_the_work_not_the_answer(seed):
    X, y = problem(seed, 40, 500)
    options = {"alphas": [0.05], "tol": 1e-12, "max_iter": 50_000, "return_n_iter": True}
    _, cold, _, long = lasso_path(X, y, **options)
    _, warm, _, short = lasso_path(X, y, coef_init=cold[:, 0], **options)
    np.testing.assert_allclose(warm, cold, atol=1e-5)
    assert short[0] < long[0]


def test_constant_target_has_a_zero_path():
    alphas, coefs, gaps = lasso_path([[1.0], [2.0]], [0.0, 0.0], alphas=3)
    assert not coefs.any()
    assert np.all(alphas > 0)
    assert not gaps.any()


def test_unfinished_paths_are_reported(seed):
    X, y = problem(seed, 40, 500)
    with pytest.warns(ConvergenceWarning, match=r"within max_iter=5 epochs for \d+ of 20"):
        lasso_path(X, y, alphas=20, tol=1e-12, max_iter=5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alphas": [1.0, -1.0]}, "positive, finite penalties"),
        ({"alphas": 0}, "'alphas' parameter of lasso_path must be"),
        ({"eps": 2.0}, "'eps' parameter of lasso_path must be a float"),
        ({"coef_init": [1.0, 2.0]}, "coef_init must have one entry per column of X, 1"),
    ],
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        lasso_path([[1.0], [2.0]], [1.0, 2.0], **options)
