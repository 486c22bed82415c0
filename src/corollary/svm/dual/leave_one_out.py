"""Exact leave-one-out errors, retraining only without support vectors."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from corollary.svm.dual.pair import svm_pair


class SVMLeaveOneOut(NamedTuple):
    """Leave-one-out errors of the machine for two classes.

    Parameters
    ----------
    wrong : ndarray of bool, shape (n_samples,)
        Whether each row is misclassified by the machine trained on the others.
    error : float
        Their share.
    refits : int
        Machines that had to be trained: one for each support vector.
    """

    wrong: np.ndarray
    error: float
    refits: int


def svm_leave_one_out(
    K: Any, y: Any, *, C: float = 1.0, loss: str = "hinge", tol: float = 1e-6
) -> SVMLeaveOneOut:
    r"""Return the leave-one-out error of the machine for two classes.

    Removing a row with :math:`\alpha_i = 0` leaves the solution as it is, and the row is on its
    right side: only support vectors need another training, which starts from the weights of all
    rows.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        Gram matrix.
    y : array-like of shape (n_samples,)
        Labels -1 and 1, at least two of each.
    C : float, default=1.0
        Price of slack; infinity for the hard margin.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Whether slack is paid linearly or squared.
    tol : float, default=1e-6
        Accuracy of the trainings, in units of the margin.

    Returns
    -------
    result : SVMLeaveOneOut
        Which rows are wrong, the error, and how many trainings it took.

    Notes
    -----
    Guarantee: the error is at most the number of support vectors over the number of rows; checked
    by ``tests/svm/test_leave_one_out.py::test_error_is_at_most_the_share_of_support_vectors``.
    Where no row lies strictly between its bounds, the intercept depends on all rows and all are
    retrained.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import svm_leave_one_out
    >>> x, y = np.array([[-3.0], [-2.0], [-1.0], [1.0], [2.0], [3.0]]), [-1, -1, -1, 1, 1, 1]
    >>> svm_leave_one_out(x @ x.T, y, C=10.0).error
    0.0
    """
    K, y = np.asarray(K, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if min(np.count_nonzero(y == 1), np.count_nonzero(y == -1)) < 2:
        raise ValueError(
            "svm_leave_one_out needs at least two rows of each label -1 and 1, so that both are "
            "left when one is removed."
        )
    whole = svm_pair(K, y, C=C, loss=loss, tol=tol)
    alpha = y * whole.beta
    bounded = loss == "hinge" and np.isfinite(C)
    free = (alpha > 0) & (alpha < C) if bounded else alpha > 0
    refit = np.flatnonzero(alpha > 0) if free.any() else np.arange(len(y))
    wrong = np.zeros(len(y), dtype=bool)
    for i in refit:
        rest = np.delete(np.arange(len(y)), i)
        start = None if np.isinf(C) else whole.beta[rest]
        part = svm_pair(K[np.ix_(rest, rest)], y[rest], C=C, loss=loss, start=start, tol=tol)
        wrong[i] = y[i] * (K[i, rest] @ part.beta + part.intercept) <= 0
    return SVMLeaveOneOut(wrong, float(wrong.mean()), len(refit))


def choose_C(K: Any, y: Any, Cs: Sequence[float], *, tol: float = 1e-6) -> tuple[float, np.ndarray]:
    """Choose the price of slack with the smallest leave-one-out error.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        Gram matrix.
    y : array-like of shape (n_samples,)
        Labels -1 and 1, at least two of each.
    Cs : sequence of float
        Candidates.
    tol : float, default=1e-6
        Accuracy of the trainings, in units of the margin.

    Returns
    -------
    C : float
        The smallest of the best candidates.
    errors : ndarray of shape (n_candidates,)
        Leave-one-out error of each.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import choose_C
    >>> x, y = np.array([[-3.0], [-2.0], [-1.0], [1.0], [2.0], [3.0]]), [-1, -1, -1, 1, 1, 1]
    >>> choose_C(x @ x.T, y, [0.1, 1.0])[0]
    0.1
    """
    candidates = np.asarray(Cs, dtype=np.float64)
    if candidates.ndim != 1 or candidates.size == 0:
        raise ValueError(f"The 'Cs' parameter of choose_C must list prices. Got {Cs!r} instead.")
    errors = np.array([svm_leave_one_out(K, y, C=C, tol=tol).error for C in candidates])
    best = candidates[errors == errors.min()]
    return float(best.min()), errors


def support_vector_bound(n_support: float, n_samples: int) -> float:
    r"""Return the bound on errors that the number of support vectors gives.

    Parameters
    ----------
    n_support : float
        Number of support vectors of the machine on m rows; or its expectation.
    n_samples : int
        m, number of rows.

    Returns
    -------
    bound : float
        ``n_support / n_samples``. It bounds the leave-one-out error on these rows. With the
        expected number of support vectors, it bounds the expected error rate of the machine trained
        on m - 1 independent rows.

    See Also
    --------
    corollary.theory.compression_bound : With high probability, for the machine at hand.

    Notes
    -----
    Guarantee: checked by ``tests/svm/test_bound.py::test_expected_error_is_bounded``. The number of
    support vectors of one sample does not bound the error of its machine: the second statement is
    about means over samples on both sides.

    Examples
    --------
    >>> from corollary.svm import support_vector_bound
    >>> support_vector_bound(7, 100)
    0.07
    """
    if not 0 <= n_support <= n_samples or n_samples < 1:
        raise ValueError(
            "support_vector_bound needs 0 <= n_support <= n_samples and at least one row. Got "
            f"n_support={n_support!r} and n_samples={n_samples!r}."
        )
    return n_support / n_samples
