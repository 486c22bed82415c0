"""One target, one penalty after another: the loop behind paths and their cross-validation."""

import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from corollary.core.progress import track
from corollary.linear.sparse._records import Path


def solve_path(
    prepared: Any,
    target: int,
    alphas: np.ndarray,
    l1_ratio: float,
    *,
    tol: float,
    max_iter: int,
    positive: bool = False,
    start: np.ndarray | None = None,
) -> Path:
    """Solve for every penalty in turn, each warm-started by the ones before."""
    from corollary.optimize import WorkingSetSolver

    n, p = prepared.design.shape
    solver = WorkingSetSolver(
        prepared.design, prepared.Y[:, target], positive=positive, start=start
    )
    # One row per penalty while we write, so that each solution is one contiguous copy.
    coefs = np.zeros((len(alphas), p))
    gaps, n_iters = np.zeros(len(alphas)), np.zeros(len(alphas), dtype=np.int64)
    converged = np.zeros(len(alphas), dtype=bool)
    with track("lasso path", total=len(alphas)) as step:
        for k, alpha in enumerate(alphas):
            l1, l2 = n * alpha * l1_ratio, n * alpha * (1.0 - l1_ratio)
            solution = solver.solve(l1, l2, tol=tol, max_iter=max_iter)
            coefs[k], gaps[k], n_iters[k], converged[k] = solution
            step()
    return Path(coefs.T, gaps / n, n_iters, converged)


def alpha_grid(
    alpha_max: float, l1_ratio: float, eps: float, alphas: int | Sequence[float] | np.ndarray
) -> np.ndarray:
    """Return decreasing penalties: those given, or a geometric grid below the largest."""
    if isinstance(alphas, Integral):
        if l1_ratio == 0.0:
            raise ValueError(
                "Automatic alpha grid generation is not supported for l1_ratio=0: no penalty makes "
                "all coefficients zero. Give the penalties in alphas, or use RidgeCV."
            )
        top = alpha_max / l1_ratio
        # A constant target has a zero maximum; any positive penalty gives its (zero) path.
        least = float(np.finfo(np.float64).resolution)
        if top <= least:
            return np.full(int(alphas), least)
        return np.geomspace(top, top * eps, int(alphas))
    grid = np.sort(np.asarray(alphas, dtype=np.float64).ravel())[::-1]
    if len(grid) == 0 or not (np.isfinite(grid).all() and grid[-1] > 0.0):
        raise ValueError(
            "alphas must be a number of penalties or positive, finite penalties. Got "
            f"{alphas!r} instead."
        )
    return grid


def warn_of_unfinished(who: str, path: Path, alphas: np.ndarray, max_iter: int) -> None:
    """Say which penalties did not reach the tolerance."""
    if path.converged.all():
        return
    worst = alphas[~path.converged]
    warnings.warn(
        f"{who} did not reach its tolerance within max_iter={max_iter} epochs for {len(worst)} of "
        f"{len(alphas)} penalties (from alpha={worst[0]:.3g} down; largest duality gap "
        f"{path.dual_gaps.max():.3g}). Raise max_iter or tol, or stop at larger penalties.",
        ConvergenceWarning,
        stacklevel=4,
    )
