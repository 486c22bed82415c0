"""Least squares with coefficients that must not be negative."""

import numpy as np
import scipy.linalg

from corollary.linear.squares._factorisation import numerical_rank


def solve_nonnegative(A: np.ndarray, B: np.ndarray, alpha: float = 0.0) -> np.ndarray:
    """Minimise ``|B - A W|^2 + alpha |W|^2`` over ``W >= 0`` by active sets, one target at a time.

    The penalty is written as more rows, and columns are scaled to unit length, which changes no
    sign.
    """
    from scipy.optimize import nnls

    d = A.shape[1]
    if alpha > 0:
        A = np.vstack([A, np.sqrt(alpha) * np.eye(d)])
        B = np.vstack([B, np.zeros((d, B.shape[1]))])
    norms = np.linalg.norm(A, axis=0)
    norms[norms == 0] = 1.0
    unit = A / norms
    # Lawson and Hanson's method seldom admits a column twice.
    solutions = [nnls(unit, b, maxiter=30 * max(d, 1))[0] for b in B.T]
    return np.column_stack(solutions) / norms[:, np.newaxis]


def rows_of_equations(gram: np.ndarray, cross: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and targets that have these normal equations."""
    values, vectors = scipy.linalg.eigh(gram, check_finite=False)
    kept = slice(len(values) - numerical_rank(values, len(values)), None)
    root = np.sqrt(values[kept])[:, np.newaxis]
    return root * vectors[:, kept].T, vectors[:, kept].T @ cross / root
