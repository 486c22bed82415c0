"""Diagnosis of linear systems, and exact interpolation."""

import numpy as np
import pytest

from corollary.linear import (
    diagnose,
    interpolate,
    ols_covariance,
    residual_variance,
    ridge_dof,
)


def test_interpolation_is_numpys_solution(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(6, 6)), rng.normal(size=6)
    np.testing.assert_allclose(interpolate(X, y), np.linalg.solve(X, y), rtol=1e-9)
    np.testing.assert_allclose(X @ interpolate(X, y), y, atol=1e-10)


def test_interpolation_refuses_what_has_no_unique_answer():
    with pytest.raises(ValueError, match=r"as many rows as columns. Got shape \(3, 2\)"):
        interpolate(np.ones((3, 2)), np.ones(3))
    with pytest.raises(ValueError, match=r"linearly independent rows. Got rank 1 for 2 rows"):
        interpolate([[1.0, 2.0], [2.0, 4.0]], [1.0, 2.0])


@pytest.mark.parametrize(("smallest", "rank"), [(2e-14, 2), (2e-13, 3)])
def test_all_functions_of_a_design_judge_its_rank_alike(smallest, rank, seed):
    rng = np.random.default_rng(seed)
    U, V = np.linalg.qr(rng.normal(size=(30, 3)))[0], np.linalg.qr(rng.normal(size=(3, 3)))[0]
    X = U * [1.0, 0.5, smallest] @ V
    y = rng.normal(size=30)
    assert diagnose(X).rank == rank  # the rule: ten roundings for each of 30 rows, 7e-14
    assert ridge_dof(X, 0.0) == rank
    assert np.trace(ols_covariance(X)) == pytest.approx(5 + (rank == 3) / smallest**2, rel=0.1)
    residual = y - U[:, :rank] @ (U[:, :rank].T @ y)
    expected = residual @ residual / (30 - rank)
    # Rounding turns the third direction of X, known to two digits only, a little.
    assert residual_variance(X, y) == pytest.approx(expected, rel=1e-9 if rank == 2 else 0.1)


@pytest.mark.parametrize(("n", "d"), [(5, 5), (9, 4), (4, 9)])
@pytest.mark.parametrize("rank", [2, 4])
def test_rank_uniqueness_existence(n, d, rank, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d))
    inside = diagnose(X, X @ rng.normal(size=d))
    outside = diagnose(X, rng.normal(size=n))
    assert inside.rank == outside.rank == rank
    assert inside.exists
    assert outside.exists == (rank == n)
    assert inside.unique == (rank == d)
    assert np.isinf(inside.condition_number) == (rank < d)
    assert diagnose(X).exists is None
    best = np.linalg.lstsq(X, y := rng.normal(size=n), rcond=1e-10)[0]
    expected = np.linalg.norm(y - X @ best) / np.linalg.norm(y)
    assert diagnose(X, y).residual == pytest.approx(expected, abs=1e-12)


def test_condition_number_is_numpys_and_a_penalty_lowers_it(seed):
    X = np.random.default_rng(seed).normal(size=(20, 4)) * [1.0, 1.0, 1.0, 1e-9]
    plain = diagnose(X)
    assert plain.condition_number == pytest.approx(np.linalg.cond(X), rel=1e-6)
    assert not plain.stable
    assert not plain.well_posed
    penalised = diagnose(X, alpha=2.0)
    augmented = np.vstack([X, np.sqrt(2.0) * np.eye(4)])
    assert penalised.condition_number == pytest.approx(np.linalg.cond(augmented))
    assert np.sqrt(np.linalg.cond(X.T @ X + 2.0 * np.eye(4))) == pytest.approx(
        penalised.condition_number
    )
    assert penalised.well_posed
    singular = diagnose(X[:, [0, 0]], alpha=1e-3)
    assert singular.unique
    assert np.isfinite(singular.condition_number)


def test_diagnosis_reads_as_a_sentence():
    text = str(diagnose(np.eye(2), [1.0, 2.0]))
    assert text == (
        "2 equations in 2 unknowns, rank 2; solvable exactly; unique minimiser; condition number 1"
    )
    assert "not solvable exactly" in str(diagnose([[1.0], [1.0]], [0.0, 1.0]))
    with pytest.raises(ValueError, match=r"one target per row. Got 3 for 2 rows"):
        diagnose(np.eye(2), [1.0, 2.0, 3.0])


def test_zero_targets_are_solved_by_zero():
    assert diagnose(np.eye(2), [0.0, 0.0]).exists
