import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import corollary
from corollary.datasets import LowRankTable
from corollary.decomposition import (
    SoftImpute,
    SquaredErrorOnSeen,
    soft_impute,
    soft_impute_alpha_max,
    soft_impute_path,
    soft_impute_step,
)


def table(seed, n=30, d=12, rank=2, seen=0.6, noise=0.0):
    rng = np.random.default_rng(seed)
    return LowRankTable(rng.normal(size=(d, rank)), noise, seen).sample(n, random_state=seed)


def objective(X, M, alpha):
    return np.nansum((X - M) ** 2) + alpha * np.linalg.svd(X, compute_uv=False).sum()


def test_a_whole_table_has_its_singular_values_lowered_by_half_the_penalty(seed):
    M = table(seed, seen=1.0)[1]
    left, sizes, right = np.linalg.svd(M, full_matrices=False)
    expected = (left * np.maximum(sizes - 1.5, 0)) @ right
    np.testing.assert_allclose(soft_impute_step(M, np.zeros(M.shape), 3.0), expected, atol=1e-9)
    np.testing.assert_allclose(soft_impute(M, 3.0, tol=1e-12).x, expected, atol=1e-5)


def test_steps_never_raise_the_objective(seed):
    M = table(seed, noise=0.1)[0]
    X, values = np.zeros(M.shape), []
    for _ in range(30):
        values.append(objective(X, M, 1.0))
        X = soft_impute_step(M, X, 1.0)
    assert (np.diff(values) <= 1e-9).all()
    assert values[-1] < values[0]


def test_the_minimum_is_proved(seed):
    M, alpha = table(seed, noise=0.1)[0], 2.0
    solution = soft_impute(M, alpha, tol=1e-8, max_iter=5000)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(objective(solution.x, M, alpha))
    assert 0 <= solution.certificate.gap <= 1e-7 * solution.value
    # 2 P(M - X) is alpha times a subgradient of the nuclear norm.
    left, sizes, right = np.linalg.svd(solution.x, full_matrices=False)
    rank = int(np.sum(sizes > 1e-6))
    G = 2 * np.nan_to_num(M - solution.x) / alpha
    np.testing.assert_allclose(left[:, :rank].T @ G @ right[:rank].T, np.eye(rank), atol=1e-3)
    assert np.linalg.norm(G, 2) <= 1 + 1e-3


def test_a_peer_finds_the_same_minimum():
    cvxpy = pytest.importorskip("cvxpy")
    M, alpha = table(3, n=8, d=5, noise=0.1)[0], 1.0
    X = cvxpy.Variable(M.shape)
    seen = (~np.isnan(M)).astype(float)
    errors = cvxpy.multiply(seen, X - np.nan_to_num(M))
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(errors) + alpha * cvxpy.normNuc(X)))
    value = problem.solve(solver="CLARABEL")
    solution = soft_impute(M, alpha, tol=1e-9, max_iter=10_000)
    assert solution.value == pytest.approx(value, rel=1e-5)
    np.testing.assert_allclose(solution.x, X.value, atol=1e-2)


def test_the_path_starts_at_zero_and_its_rank_grows(seed):
    M = table(seed, noise=0.1)[0]
    path = soft_impute_path(M, 6, eps=0.01)
    assert path.alphas[0] == soft_impute_alpha_max(M)
    np.testing.assert_allclose(path.alphas[1:] / path.alphas[:-1], 0.01 ** (1 / 5))
    np.testing.assert_allclose(path.solutions[0].x, 0, atol=1e-12)
    assert path.ranks[0] == 0
    assert path.ranks[-1] >= path.ranks[1] >= 1
    above = soft_impute(M, 0.99 * path.alphas[0], tol=1e-10)
    assert np.linalg.matrix_rank(above.x, rtol=1e-3) == 1
    assert soft_impute_path(M, [0.5, 2.0]).alphas.tolist() == [2.0, 0.5]


def test_a_low_rank_table_is_recovered(seed):
    M, truth = table(seed, n=60, d=20, rank=1, seen=0.6)
    completed = SoftImpute(0.05, max_iter=5000).fit_transform(M)
    unseen = np.isnan(M)
    assert np.mean((completed - truth)[unseen] ** 2) < 0.01 * np.mean(truth[unseen] ** 2)
    np.testing.assert_array_equal(completed[~unseen], M[~unseen])


def test_the_penalty_is_chosen_by_what_was_held_out(seed):
    M, truth = table(seed, n=60, d=15, noise=0.3)
    model = SoftImpute(n_alphas=8, random_state=seed, tol=1e-5).fit(M)
    assert model.alpha_ == model.alphas_[np.argmin(model.errors_)]
    assert len(model.errors_) == 8
    # Held-out errors of the largest penalty are those of zero.
    assert model.errors_[0] == pytest.approx(np.nanmean(M**2), rel=0.5)
    unseen = np.isnan(M)
    error = np.mean((model.transform(M) - truth)[unseen] ** 2)
    assert error < 0.6 * np.mean(truth[unseen] ** 2)
    model.set_params(alpha=1.0).fit(M)
    assert not hasattr(model, "alphas_")


def test_training_rows_get_the_completion_back(seed):
    M = table(seed, noise=0.2)[0]
    model = SoftImpute(1.5, tol=1e-11, max_iter=20_000).fit(M)
    completion = soft_impute(M, 1.5, tol=1e-11, max_iter=20_000).x
    unseen = np.isnan(M)
    np.testing.assert_allclose(model.transform(M)[unseen], completion[unseen], atol=1e-3)
    rank = len(model.singular_values_)
    assert rank == np.linalg.matrix_rank(completion, rtol=1e-9) < 12
    assert model.gap_ >= 0
    np.testing.assert_allclose(
        model.singular_values_, np.linalg.svd(completion, compute_uv=False)[:rank], atol=1e-3
    )


def test_a_row_of_weight_k_counts_like_k_rows(seed):
    M = table(seed, noise=0.2)[0]
    weight = np.random.default_rng(seed).integers(0, 3, size=len(M))
    options = {"alpha": 1.5, "tol": 1e-11, "max_iter": 20_000}
    one = SoftImpute(**options).fit(M, sample_weight=weight).transform(M)
    many = SoftImpute(**options).fit(np.repeat(M, weight, axis=0)).transform(M)
    np.testing.assert_allclose(one, many, atol=1e-3)


def test_nothing_seen_in_a_row_gives_zero_and_files_keep_a_model(seed, tmp_path):
    M = table(seed, noise=0.2)[0]
    model = SoftImpute(1.0).fit(M)
    np.testing.assert_array_equal(model.transform(np.full((1, 12), np.nan)), 0)
    corollary.save(model, tmp_path / "model")
    np.testing.assert_array_equal(
        corollary.load(tmp_path / "model").transform(M), model.transform(M)
    )
    zero = SoftImpute(1e6).fit(M)
    np.testing.assert_array_equal(zero.transform(M), np.nan_to_num(M))


def test_the_error_and_its_gradient():
    error = SquaredErrorOnSeen([[1.0, np.nan], [2.0, 0.0]])
    X = np.array([[2.0, 7.0], [0.0, 1.0]])
    assert error.value(X) == 1 + 4 + 1
    assert error.gradient(X).tolist() == [[2.0, 0.0], [-4.0, 2.0]]
    assert error.value_and_gradient(X)[0] == 6.0
    assert soft_impute_alpha_max([[3.0, np.nan], [4.0, np.nan]]) == pytest.approx(10.0)


def test_a_run_that_is_cut_short_is_warned_about(seed):
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        SoftImpute(0.01, max_iter=2).fit(table(seed)[0])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: soft_impute(np.full((2, 2), np.nan), 1.0), "at least one number"),
        (lambda: soft_impute([[np.inf, 1.0]], 1.0), "with infinity"),
        (lambda: soft_impute([1.0, 2.0], 1.0), "needs a table"),
        (lambda: soft_impute([[1.0]], -1.0), "alpha"),
        (lambda: SoftImpute(1.0).fit(np.full((2, 2), np.nan)), "NaN only"),
        (lambda: SoftImpute().fit([[1.0, np.nan]]), "others to hold out"),
    ],
)
def test_bad_input_is_told(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_columns_with_means_are_asked_to_be_standardised():
    """By hand: a rank of one about column means of 60, 2 and 400 is lost in the means."""
    rng = np.random.default_rng(3)
    X = np.outer(rng.normal(size=200), [2.0, 0.3, 20.0]) + [60.0, 2.0, 400.0]
    X[rng.random(X.shape) < 0.2] = np.nan
    X = X[~np.isnan(X).all(axis=1)]
    with pytest.warns(UserWarning, match="worse than the means of their columns"):
        SoftImpute(random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SoftImpute(random_state=0).fit((X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0))
        for seed in range(5):  # noise about zero: no completion is better than its means
            SoftImpute(random_state=seed).fit(np.random.default_rng(seed).normal(size=(60, 4)))
