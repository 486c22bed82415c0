r"""One quadratic function that falls along several linear systems.

If :math:`P\succ0` and :math:`A_i^\top P+PA_i\prec0` for all i, then :math:`x^\top Px` falls along
every solution of :math:`\dot x=A_{i(t)}x`, however the system switches between the matrices.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from corollary.optimize.conic.no_solution import Infeasible
from corollary.optimize.conic.solve import solve
from corollary.optimize.program._cones import Semidefinite
from corollary.optimize.program.constraints import matrix_inequality
from corollary.optimize.program.program import Program
from corollary.optimize.solution import Solution


class CommonLyapunov(NamedTuple):
    r"""A common Lyapunov matrix, or a proof that there is none.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        The matrix P; NaN where there is none.
    rate : float
        Largest :math:`\alpha` with :math:`A_i^\top P+PA_i\preceq-2\alpha P` for all i, computed
        from P: :math:`\sqrt{x^\top Px}` falls at least like :math:`e^{-\alpha t}`. NaN where there
        is no P, or one that is not positive definite.
    solution : Solution
        The semidefinite program behind it. Where there is no common matrix, its certificate is an
        :class:`Infeasible` proof, with the plants that contradict each other.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import common_lyapunov
    >>> common_lyapunov([-np.eye(2)]).exists, common_lyapunov([np.eye(2)]).exists
    (True, False)
    """

    matrix: np.ndarray
    rate: float
    solution: Solution

    @property
    def exists(self) -> bool | None:
        """Whether there is a common matrix; None if neither that nor the contrary is proved."""
        if self.rate > 0:
            return True
        return False if isinstance(self.solution.certificate, Infeasible) else None


def common_lyapunov(plants: Sequence[Any], *, tol: float = 1e-7) -> CommonLyapunov:
    r"""Look for one Lyapunov matrix of several linear systems.

    The program minimises the trace of P subject to :math:`P\succeq I` and :math:`-A_i^\top
    P-PA_i\succeq I`. Multiples of a common matrix are common matrices, so that there is one if and
    only if the program has a feasible point. For one plant that is so if all its eigenvalues have
    negative real parts. A ray of Farkas consists of :math:`Z_i\succeq0` with
    :math:`\sum_i(A_iZ_i+Z_iA_i^\top)\succeq0` (Boyd, El Ghaoui, Feron and Balakrishnan, Linear
    Matrix Inequalities in System and Control Theory, SIAM, 1994, section 5.1).

    See :class:`CommonLyapunov`; ``plants`` are the matrices :math:`A_i` of :math:`\dot x=A_ix`, and
    ``tol`` is the tolerance of the program. Matrix and rate are checked from the plants.

    Examples
    --------
    >>> from corollary.optimize import common_lyapunov
    >>> swinging = [[[-1.0, 2.0], [0.0, -1.0]], [[-1.0, 0.0], [-1.0, -1.0]]]
    >>> common = common_lyapunov(swinging)
    >>> common.exists, bool(common.rate > 0.2)
    (True, True)
    """
    matrices = [np.array(A, dtype=float) for A in plants]
    shapes = {A.shape for A in matrices}
    square = len(shapes) == 1 and matrices[0].ndim == 2 and len(set(matrices[0].shape)) == 1
    if not square or not all(np.isfinite(A).all() for A in matrices):
        raise ValueError(
            "common_lyapunov needs at least one plant, and square matrices of one shape with "
            f"finite numbers. Got shapes {sorted(shapes)}."
        )
    n = len(matrices[0])
    cone = Semidefinite.of_order(n)
    basis = [cone.unpack(e) for e in np.eye(cone.size)]
    eye = np.eye(n)
    constraints = [matrix_inequality(-eye, basis, name="positive")]
    for i, A in enumerate(matrices):
        falls = [-(A.T @ E + E @ A) for E in basis]
        constraints.append(matrix_inequality(-eye, falls, name=f"plant {i}"))
    solution = solve(Program(cone.centre(), constraints), tol=tol)
    P = cone.unpack(solution.x)
    return CommonLyapunov(P, _rate(P, matrices), solution)


def _rate(P: np.ndarray, matrices: list[np.ndarray]) -> float:
    """Return half the least eigenvalue of -A'P - PA in units of P."""
    try:
        return min(float(linalg.eigvalsh(-(A.T @ P + P @ A), P)[0]) for A in matrices) / 2
    except (linalg.LinAlgError, ValueError):
        return float("nan")
