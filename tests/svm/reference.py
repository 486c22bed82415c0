"""Slow and obvious solutions of the quadratic programs, by SciPy."""

import numpy as np
from scipy.optimize import minimize


def solve_qp(K, linear, lower, upper, sums):
    """Minimise b' K b / 2 - linear' b with bounds and rows of ``sums`` (A, value) kept.

    SLSQP finds the active set; one linear system on it gives the solution to rounding.
    """
    A, value = np.atleast_2d(sums[0]), np.atleast_1d(sums[1])
    start = np.linalg.lstsq(A, value, rcond=None)[0]
    start = np.clip(start, lower, np.minimum(upper, 1e6))
    found = minimize(
        lambda b: 0.5 * b @ K @ b - linear @ b,
        start,
        jac=lambda b: K @ b - linear,
        bounds=[(lo, hi if np.isfinite(hi) else None) for lo, hi in zip(lower, upper)],
        constraints={"type": "eq", "fun": lambda b: A @ b - value, "jac": lambda b: A},
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-15},
    ).x
    room = 1e-5 * np.abs(found).max()
    free = (found > lower + room) & (found < upper - room)
    fixed = np.where(found <= lower + room, lower, np.where(np.isfinite(upper), upper, 0.0))
    n = int(free.sum())
    system = np.block(
        [[K[np.ix_(free, free)], A[:, free].T], [A[:, free], np.zeros((len(A), len(A)))]]
    )
    right = np.concatenate(
        [
            linear[free] - K[np.ix_(free, ~free)] @ fixed[~free],
            value - A[:, ~free] @ fixed[~free],
        ]
    )
    polished = fixed.copy()
    polished[free] = np.linalg.lstsq(system, right, rcond=None)[0][:n]
    if (polished < lower - 1e-9).any() or (polished > upper + 1e-9).any():
        return found
    return polished
