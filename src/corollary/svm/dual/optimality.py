"""What the solver reached, and how far from its minimum an objective is at most."""

from typing import Any, NamedTuple

import numpy as np


class SMOResult(NamedTuple):
    """The solution of a support vector machine's quadratic program.

    Parameters
    ----------
    beta : ndarray of shape (n_samples,)
        Signed dual weights.
    scores : ndarray of shape (n_samples,)
        ``K @ beta``.
    intercepts : ndarray of shape (n_groups,)
        Lagrange multiplier of each group's sum: the offset of the decision function.
    objective : float
        Minimum reached.
    violation : float
        Largest violation of the optimality conditions, in units of the scores.
    gap : float
        Duality gap: the objective exceeds the minimum by this much at most. Infinite if a variable
        without bound has a slope left, however small.
    n_iter : int
        Pair steps made.
    converged : bool
        Whether the violation is at most the tolerance, and the gap at most a tenth of it relative
        to the objective, here or at the start (or the violation a thousandth of it, or rounding in
        the way).

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import smo
    >>> smo(np.eye(2), [1.0, -1.0], [0.0, -5.0], [5.0, 0.0]).objective
    -1.0
    """

    beta: np.ndarray
    scores: np.ndarray
    intercepts: np.ndarray
    objective: float
    violation: float
    gap: float
    n_iter: int
    converged: bool


def duality_gap(
    rest: np.ndarray,
    beta: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    epsilon: float,
    intercept: Any,
) -> float:
    r"""Return by how much the objective exceeds its minimum at most.

    With multipliers b of the sums and :math:`g_i=\ell_i-(K\beta)_i-b` the gap is
    :math:`\sum_i\bigl(\max_{l_i\le\gamma\le u_i}(g_i\gamma-\varepsilon|\gamma|)
    -(g_i\beta_i-\varepsilon|\beta_i|)\bigr)`; every term is non-negative. For a machine with the
    hinge loss this is the primal value with intercept b minus the dual one.

    Parameters
    ----------
    rest : ndarray of shape (n_samples,)
        ``linear - K @ beta``.
    beta : ndarray of shape (n_samples,)
        Feasible weights.
    lower : ndarray of shape (n_samples,)
        Lower bounds.
    upper : ndarray of shape (n_samples,)
        Upper bounds.
    epsilon : float
        Weight of the absolute values.
    intercept : float or ndarray of shape (n_samples,)
        Multiplier of the sum that each variable belongs to; any number gives a valid gap.

    Returns
    -------
    gap : float
        Infinite if a variable can move without bound along a slope.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import duality_gap
    >>> duality_gap(np.array([1.0, -1.0]), np.zeros(2), np.array([0.0, -2.0]),
    ...             np.array([2.0, 0.0]), 0.0, 0.0)
    4.0
    """
    from corollary.svm._loops.optimality import gap_of

    offsets, groups = np.unique(np.broadcast_to(intercept, len(beta)), return_inverse=True)
    return float(gap_of(rest, beta, lower, upper, epsilon, groups, offsets))
