r"""What nearest neighbours achieve with infinitely many rows.

At a point with class probabilities :math:`p`, the label of the nearest row and the label to be
predicted are two independent draws from :math:`p` in the limit. With the Bayes error
:math:`e = 1 - \max_c p_c` and C classes,

.. math:: \sum_c p_c (1 - p_c) \le e \Bigl(2 - \frac{C}{C - 1} e\Bigr) \le (1 - p^*)(1 + p^*)
          \le 2 e.
"""

from typing import Any, NamedTuple

import numpy as np

from corollary.core.estimator import Count, checked


class CoverHartChain(NamedTuple):
    r"""The limit error of one neighbour between the Bayes error and twice that.

    Parameters
    ----------
    bayes : ndarray of shape (n_points,)
        Bayes error :math:`e = 1 - p^*`.
    one_neighbor : ndarray of shape (n_points,)
        Limit error of one neighbour, :math:`\sum_c p_c (1 - p_c)`.
    cover_hart : ndarray of shape (n_points,)
        :math:`e (2 - \frac{C}{C - 1} e)`, reached when the other classes are equally likely.
    product : ndarray of shape (n_points,)
        :math:`(1 - p^*)(1 + p^*) = e (2 - e)`.
    twice : ndarray of shape (n_points,)
        :math:`2 e`.
    """

    bayes: np.ndarray
    one_neighbor: np.ndarray
    cover_hart: np.ndarray
    product: np.ndarray
    twice: np.ndarray


def cover_hart_chain(probabilities: Any) -> CoverHartChain:
    r"""Compute the chain of bounds on the limit error of one neighbour.

    Parameters
    ----------
    probabilities : array-like of shape (n_classes,) or (n_points, n_classes)
        Class probabilities :math:`p(c \mid x)` at one or several points.

    Returns
    -------
    chain : CoverHartChain
        Five numbers, or arrays with one for each point, in increasing order.

    See Also
    --------
    knn_limit_error : For more neighbours and two classes.

    Notes
    -----
    Guarantee: the chain holds for every law; averaged over points it bounds the limit of the
    error of one neighbour as rows become many. It says nothing of a finite number of rows.
    Checked by ``tests/neighbors/test_cover_hart.py``.

    References
    ----------
    Cover, T. and Hart, P. (1967). Nearest neighbor pattern classification. IEEE Transactions on
    Information Theory 13.

    Examples
    --------
    >>> from corollary.neighbors import cover_hart_chain
    >>> chain = cover_hart_chain([[0.9, 0.1], [0.5, 0.5]])
    >>> chain.bayes.round(2), chain.one_neighbor.round(2)
    (array([0.1, 0.5]), array([0.18, 0.5 ]))
    """
    p = _check_laws("cover_hart_chain", probabilities)
    classes = p.shape[-1]
    error = 1 - p.max(axis=-1)
    factor = classes / (classes - 1) if classes > 1 else 0.0
    return CoverHartChain(
        error,
        (p * (1 - p)).sum(axis=-1),
        error * (2 - factor * error),
        error * (2 - error),
        2 * error,
    )


@checked
def knn_limit_error(probability: Any, n_neighbors: Count) -> Any:
    r"""Compute the limit error of k neighbours for two classes.

    The neighbours are k independent coins; with :math:`\eta` the probability of class 1,

    .. math:: \eta\, P(B \le k/2) + (1 - \eta)\, P(B > k/2), \qquad B \sim \mathrm{Bin}(k, \eta).

    Parameters
    ----------
    probability : float or array-like
        Probability :math:`\eta` of class 1 at a point.
    n_neighbors : int
        Neighbours k; ties, with k even, go to class 0.

    Returns
    -------
    error : float or ndarray
        The limit error; for odd k it falls with k from the value of one neighbour towards the
        Bayes error.

    Examples
    --------
    >>> from corollary.neighbors import knn_limit_error
    >>> [round(knn_limit_error(0.2, k), 3) for k in (1, 3, 101)]
    [0.32, 0.262, 0.2]
    """
    from scipy.special import bdtr

    eta = np.asarray(probability, dtype=float)
    if not ((eta >= 0) & (eta <= 1)).all():
        raise ValueError(
            "The 'probability' parameter of knn_limit_error must lie in [0, 1]. Got "
            f"{probability!r} instead."
        )
    minority = bdtr(n_neighbors // 2, n_neighbors, eta)
    error = eta * minority + (1 - eta) * (1 - minority)
    return float(error) if error.ndim == 0 else error


def _check_laws(who: str, probabilities: Any) -> np.ndarray:
    p = np.asarray(probabilities, dtype=float)
    fine = p.ndim in (1, 2) and p.size > 0 and bool(np.isfinite(p).all())
    if not fine or p.min() < 0 or np.abs(p.sum(axis=-1) - 1).max() > 1e-9:
        raise ValueError(
            f"The 'probabilities' parameter of {who} must be non-negative numbers that sum to 1 "
            f"over the classes, one row for each point. Got shape {p.shape}"
            + (f" with sums from {p.sum(axis=-1).min():g} on." if fine else ".")
        )
    return p
