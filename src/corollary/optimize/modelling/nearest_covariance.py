r"""Nearest covariance and correlation matrices.

.. math:: \min_X\|X-S\|_F^2\quad\text{subject to}\quad X\succeq\lambda I,\quad X_{ii}=d_i

Without the diagonal the eigenvalues are clipped. With it, a multiplier :math:`y_i` for each entry
leaves a problem of the first kind, :math:`X(y)=\lambda I+(S-\lambda I+\mathrm{diag}(y))_+`, and the
best y minimises a convex function with Lipschitz gradient 1: the diagonal of X(y) less d.
"""

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from scipy import linalg

from corollary.core.estimator import Count, NonNegative, Positive, checked
from corollary.optimize.conic.solve import solve
from corollary.optimize.iteration.certified import solve_by
from corollary.optimize.optimality import Optimality
from corollary.optimize.problem.functions import Quadratic, Smooth
from corollary.optimize.problem.sets import PositiveSemidefinite
from corollary.optimize.program._cones import Semidefinite
from corollary.optimize.program.constraints import Constraint, LinearConstraint, linear_equality
from corollary.optimize.program.program import Program
from corollary.optimize.smooth.descent import GradientDescent, Nesterov
from corollary.optimize.solution import Solution

_CONE = PositiveSemidefinite()


class _DiagonalDual(Smooth):
    r"""The function :math:`\tfrac12\|(S+\mathrm{diag}(y))_+\|^2-d^\top y` of the multipliers."""

    convex = True
    smoothness = 1.0

    def __init__(self, S: np.ndarray, d: np.ndarray) -> None:
        self.S, self.d = S, d

    def matrix(self, y: np.ndarray) -> np.ndarray:
        """Return the nearest semidefinite matrix for these multipliers."""
        return _CONE.project(self.S + np.diag(y))

    def _value(self, y: np.ndarray) -> float:
        values = linalg.eigvalsh(self.S + np.diag(y))
        return 0.5 * float(np.sum(np.maximum(values, 0.0) ** 2)) - float(self.d @ y)

    def _gradient(self, y: np.ndarray) -> np.ndarray:
        return np.diag(self.matrix(y)) - self.d


@checked
def nearest_covariance(
    S: Any,
    *,
    diagonal: Any = None,
    least: NonNegative = 0.0,
    method: Literal["accelerated", "projections", "program"] = "accelerated",
    tol: Positive = 1e-6,
    max_iter: Count = 10000,
) -> Solution:
    r"""Return the covariance matrix that is nearest to a symmetric matrix.

    For every y the number :math:`\|S'\|^2-\|(S'+\mathrm{diag}(y))_+\|^2+2y^\top d'` is a lower
    bound of the squared distance, with :math:`S'=S-\lambda I` and :math:`d'=d-\lambda`. Dykstra's
    correction of the alternating projections (Higham, IMA Journal of Numerical Analysis, 2002) only
    ever changes the diagonal of S, so that each round is the step
    :math:`y\leftarrow y+d'-\mathrm{diag}(S'+\mathrm{diag}(y))_+`. The matrix ``x`` is feasible up
    to rounding (but for "program"), and ``value`` its squared distance from S, which the
    certificate compares with the dual function at the multipliers ``dual["diagonal"]``.

    Parameters
    ----------
    S : array-like of shape (n, n)
        Symmetric matrix, such as an estimate with holes or one that was edited by hand.
    diagonal : array-like of shape (n,), float or None, default=None
        Variances :math:`d` that the matrix must have; 1.0 asks for a correlation matrix. None
        leaves them free.
    least : float, default=0.0
        Least eigenvalue :math:`\lambda` that is allowed; no variance may be smaller.
    method : {"accelerated", "projections", "program"}, default="accelerated"
        For a fixed diagonal: Nesterov's steps on the multipliers; plain steps, which are Higham's
        alternating projections; or a semidefinite program for :func:`solve`.
    tol : float, default=1e-6
        Proved gap of the squared distance to stop at, relative to the larger of 1 and its size.
    max_iter : int, default=10000
        Largest number of steps.

    Examples
    --------
    >>> from corollary.optimize import nearest_covariance
    >>> S = [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]]  # of no three variables
    >>> solution = nearest_covariance(S, diagonal=1.0)
    >>> solution.x[0].round(3), solution.status
    (array([1.   , 0.761, 0.157]), 'optimal')
    """
    S = _symmetric(S)
    eye = least * np.eye(len(S))
    if diagonal is None:
        x = eye + _CONE.project(S - eye)
        value = float(np.sum((x - S) ** 2))
        proof = Optimality(value=value, lower_bound=value, proof="duality")
        return Solution(x=x, value=value, certificate=proof, status="optimal", n_iter=0)
    d = _variances(diagonal, len(S), least)
    if method == "program":
        solution = solve(covariance_program(S, diagonal=d, least=least), tol=tol)
        return replace(solution, x=Semidefinite.of_order(len(S)).unpack(solution.x))
    dual = _DiagonalDual(S - eye, d - least)
    steps = Nesterov(dual) if method == "accelerated" else GradientDescent(dual)
    zeros = np.zeros(len(S))
    run = solve_by(steps, zeros, lambda y: _certify(dual, y), tol=tol, max_iter=max_iter)
    return replace(run, x=eye + _feasible(dual, run.x), dual={"diagonal": -2 * run.x})


def covariance_program(S: Any, *, diagonal: Any = None, least: float = 0.0) -> Program:
    r"""Return the search for the nearest covariance matrix as a semidefinite program.

    See :class:`Program`; the parameters are as in :func:`nearest_covariance`. Its variables are the
    upper triangle of X, column after column, with entries off the diagonal times :math:`\sqrt2`, so
    that the objective is the squared distance of vectors. Constraints are "semidefinite" and, where
    variances are set, "diagonal".

    Examples
    --------
    >>> from corollary.optimize import covariance_program, solve
    >>> solution = solve(covariance_program([[1.0, 2.0], [2.0, 1.0]]))  # eigenvalues 3 and -1
    >>> round(solution.value, 6)
    1.0
    """
    S = _symmetric(S)
    cone = Semidefinite.of_order(len(S))
    s = cone.pack(S)
    objective = Quadratic(2 * np.eye(len(s)), -2 * s, float(s @ s))
    limit = -least * cone.centre()
    constraints: list[Constraint] = [
        LinearConstraint(-np.eye(len(s)), limit, cone, "semidefinite"),
    ]
    if diagonal is not None:
        d = _variances(diagonal, len(S), least)
        entries = np.array([cone.pack(np.diag(row)) for row in np.eye(len(S))])
        constraints.append(linear_equality(entries, d, name="diagonal"))
    return Program(objective, constraints)


def _certify(dual: _DiagonalDual, y: np.ndarray) -> Optimality:
    """Compare the matrix that multipliers lead to with their lower bound."""
    value = float(np.sum((_feasible(dual, y) - dual.S) ** 2))
    bound = float(np.sum(dual.S**2)) - 2 * dual.value(y)
    miss = float(np.abs(dual.gradient(y)).max())
    return Optimality(value=value, lower_bound=bound, proof="duality", residuals={"diagonal": miss})


def _feasible(dual: _DiagonalDual, y: np.ndarray) -> np.ndarray:
    """Return the matrix of multipliers, scaled until its diagonal is right."""
    X = dual.matrix(y)
    variances = np.diag(X)
    # A variable without variance is made uncorrelated.
    scale = np.sqrt(dual.d / np.where(variances > 1e-12 * dual.d, variances, np.inf))
    X = scale[:, None] * X * scale
    np.fill_diagonal(X, dual.d)
    return X


def _symmetric(S: Any) -> np.ndarray:
    """Return S as an array, or say why it is none."""
    S = np.array(S, dtype=float)
    if S.ndim != 2 or S.shape[0] != S.shape[1] or not S.size or not np.isfinite(S).all():
        raise ValueError(
            f"A covariance matrix is fitted to a square matrix of finite numbers. Got shape "
            f"{S.shape}{', with NaN or infinity' if S.ndim == 2 else ''}."
        )
    if not np.allclose(S, S.T, rtol=1e-10, atol=1e-12 * np.abs(S).max()):
        raise ValueError(
            "A covariance matrix is fitted to a symmetric matrix. Pass (S + S.T) / 2, which is as "
            "near to every symmetric one, up to a constant."
        )
    return (S + S.T) / 2


def _variances(diagonal: Any, n: int, least: float) -> np.ndarray:
    """Return the diagonal that is asked for, one entry for each variable."""
    d = np.array(diagonal, dtype=float)
    if d.shape not in ((), (n,)) or not np.isfinite(d).all() or not (d > 0).all():
        raise ValueError(
            f"The diagonal needs one positive number, or one for each of {n} variables. Got shape "
            f"{d.shape} with least entry {d.min(initial=math.inf):.3g}."
        )
    if (d < least).any():
        raise ValueError(
            f"No matrix has eigenvalues of at least {least:g} and a diagonal entry of "
            f"{d.min():.3g}. Lower 'least'."
        )
    return np.broadcast_to(d, (n,)).copy()
