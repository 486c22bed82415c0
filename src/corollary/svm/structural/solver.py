r"""Machines for outputs with structure, trained by cutting planes.

With joint features :math:`\psi(x, y)`, a score :math:`\langle w, \psi(x, y) \rangle` and a loss
:math:`\Delta(\text{truth}, \text{prediction})`, minimises

.. math:: \tfrac12 \|w\|^2 + C \sum_i \max_y \bigl\{ \Delta(y_i, y) - \langle w, \psi(x_i, y_i)
          - \psi(x_i, y) \rangle \bigr\},

where :math:`y = y_i` is allowed, so that no slack is negative. There are as many constraints as
structures; only those that a loss-augmented argmax finds violated enter the program.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from corollary.core.progress import track
from corollary.kernels import PrecomputedTiles
from corollary.svm.dual._descent import minimise
from corollary.svm.structural.problem import StructuredProblem

#: Steps of the program within a round, for each constraint; features of very different sizes could
#: take for ever, and the next round tells how far it got.
STEPS_EACH = 10_000


class StructuralSolution(NamedTuple):
    """A structural machine.

    Parameters
    ----------
    w : ndarray of shape (size,)
        Weights of the joint features.
    slack : ndarray of shape (n_samples,)
        Largest violation of each row's margin.
    objective : float
        Value of the primal problem.
    gap : float
        How much smaller the minimum may be.
    n_constraints : int
        Constraints that entered the program.
    n_iter : int
        Rounds of the loss-augmented argmax over all rows.
    converged : bool
        Whether no constraint was violated by more than the tolerance.
    """

    w: np.ndarray
    slack: np.ndarray
    objective: float
    gap: float
    n_constraints: int
    n_iter: int
    converged: bool


def structural_svm(
    problem: StructuredProblem,
    X: Sequence[Any],
    y: Sequence[Any],
    *,
    C: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 1000,
) -> StructuralSolution:
    """Train a structural machine by cutting planes.

    Parameters
    ----------
    problem : StructuredProblem
        Features, loss and argmax.
    X : sequence of n_samples inputs
        Inputs.
    y : sequence of n_samples outputs
        Outputs.
    C : float, default=1.0
        Price of slack.
    tol : float, default=1e-3
        Largest violation of a constraint that is not in the program.
    max_iter : int, default=1000
        Largest number of rounds.

    Returns
    -------
    solution : StructuralSolution
        Weights, slacks, objective, gap and size of the program.

    References
    ----------
    .. [1] I. Tsochantaridis, T. Joachims, T. Hofmann, Y. Altun (2005). Large margin methods for
       structured and interdependent output variables. JMLR 6, 1453-1484.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import LabelChain, structural_svm
    >>> chain = LabelChain(n_labels=2, n_features=1)
    >>> X = [np.array([[1.0], [2.0], [-1.0]]), np.array([[-1.0], [-2.0]])]
    >>> solution = structural_svm(chain, X, [np.array([1, 1, 0]), np.array([0, 0])], C=10.0)
    >>> chain.argmax(solution.w, X[0])
    array([1, 1, 0])
    """
    n = len(X)
    if n == 0 or len(y) != n:
        raise ValueError(
            "structural_svm needs as many outputs as inputs, and at least one. Got "
            f"{n} inputs and {len(y)} outputs."
        )
    if not 0 < C < np.inf:
        raise ValueError(
            f"The 'C' parameter of structural_svm must be positive and finite. Got {C!r} instead."
        )
    truth = np.array([problem.joint_feature(x, t) for x, t in zip(X, y)], dtype=np.float64)
    # One variable for each constraint, and one for "no constraint" of each row: the variables of a
    # row sum to C.
    differences = [np.zeros(problem.size) for _ in range(n)]
    losses, rows, alpha = [0.0] * n, list(range(n)), np.full(n, float(C))
    w, converged, rounds = np.zeros(problem.size), False, 0
    slack, bound = np.zeros(n), 0.0
    with track("structural machine") as progress:
        while True:
            rounds += 1
            enforced = np.zeros(n)
            if len(rows) > n:
                margins = np.array(losses) - np.array(differences) @ w
                np.maximum.at(enforced, np.array(rows), margins)
            worst = 0.0
            added = 0
            for i in range(n):
                rival = problem.argmax(w, X[i], y[i])
                difference = truth[i] - problem.joint_feature(X[i], rival)
                loss = float(problem.loss(y[i], rival))
                slack[i] = max(0.0, loss - float(difference @ w))
                violation = slack[i] - enforced[i]
                worst = max(worst, violation)
                if violation > tol and rounds <= max_iter:
                    differences.append(difference)
                    losses.append(loss)
                    rows.append(i)
                    added += 1
            progress(violation=worst, constraints=len(rows) - n)
            objective = 0.5 * float(w @ w) + C * float(slack.sum())
            converged = worst <= tol
            if converged or not added or rounds > max_iter:
                break
            stacked = np.array(differences)
            result = minimise(
                PrecomputedTiles(stacked @ stacked.T),
                np.array(losses),
                np.zeros(len(rows)),
                np.full(len(rows), float(C)),
                groups=np.array(rows),
                start=np.concatenate([alpha, np.zeros(added)]),
                tol=0.1 * tol,
                max_iter=STEPS_EACH * len(rows),
            )
            alpha = result.beta
            w = alpha @ stacked
            bound = -result.objective
    return StructuralSolution(
        w,
        slack,
        objective,
        max(0.0, objective - bound),
        len(rows) - n,
        rounds,
        converged,
    )
