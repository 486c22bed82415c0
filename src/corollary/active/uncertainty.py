"""Uncertainty of class probabilities, to choose which rows to label next."""

from typing import Annotated, Any

import numpy as np
from scipy.special import xlogy

from corollary.active._checks import check_indices
from corollary.active.domain import ExhaustedError
from corollary.core.compat import HasMethods, StrOptions
from corollary.core.estimator import Count, checked


def entropy(probabilities: Any) -> np.ndarray:
    r"""Return the entropy of class probabilities.

    Parameters
    ----------
    probabilities : array-like of shape (n, n_classes)
        Probabilities of the classes, such as from ``predict_proba``.

    Returns
    -------
    uncertainty : ndarray of shape (n,)
        :math:`-\sum_kp_k\log p_k` in nats, between 0 and the logarithm of the number of classes.

    Examples
    --------
    >>> from corollary.active import entropy
    >>> entropy([[0.5, 0.5], [1.0, 0.0]]).round(3)
    array([0.693, 0.   ])
    """
    P = _probabilities("entropy", probabilities)
    return np.maximum(-xlogy(P, P).sum(axis=1), 0.0)


def margin(probabilities: Any) -> np.ndarray:
    r"""Return one minus the gap between the two most probable classes.

    Parameters
    ----------
    probabilities : array-like of shape (n, n_classes)
        Probabilities of the classes.

    Returns
    -------
    uncertainty : ndarray of shape (n,)
        :math:`1-(p_{(1)}-p_{(2)})`, between 0 and 1; 1 for a tie.

    Examples
    --------
    >>> from corollary.active import margin
    >>> margin([[0.5, 0.5, 0.0], [0.7, 0.2, 0.1]]).round(3)
    array([1. , 0.5])
    """
    P = _probabilities("margin", probabilities)
    if P.shape[1] < 2:
        return np.zeros(len(P))
    top = np.partition(P, -2, axis=1)
    return 1.0 - (top[:, -1] - top[:, -2])


def least_confidence(probabilities: Any) -> np.ndarray:
    r"""Return the probability that the most probable class is wrong.

    Parameters
    ----------
    probabilities : array-like of shape (n, n_classes)
        Probabilities of the classes.

    Returns
    -------
    uncertainty : ndarray of shape (n,)
        :math:`1-\max_kp_k`, between 0 and one minus one over the number of classes.

    Examples
    --------
    >>> from corollary.active import least_confidence
    >>> least_confidence([[0.5, 0.5], [0.9, 0.1]]).round(3)
    array([0.5, 0.1])
    """
    return 1.0 - _probabilities("least_confidence", probabilities).max(axis=1)


_MEASURES = {"entropy": entropy, "margin": margin, "least_confidence": least_confidence}


@checked
def query_uncertain(
    estimator: Annotated[Any, HasMethods(["predict_proba"])],
    X: Any,
    n: Count = 1,
    *,
    measure: Annotated[str, StrOptions(set(_MEASURES))] = "entropy",
    labelled: Any = None,
) -> np.ndarray:
    """Choose the rows of a pool that a classifier is least sure about.

    Parameters
    ----------
    estimator : classifier
        Fitted, with ``predict_proba``.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The pool.
    n : int, default=1
        How many rows.
    measure : {"entropy", "margin", "least_confidence"}, default="entropy"
        What uncertainty is; for two classes all three choose the same rows.
    labelled : array-like of int or None, default=None
        Indices of rows not to be asked again.

    Returns
    -------
    indices : ndarray of shape (n,)
        Rows, the most uncertain first; of equal ones the first.

    Raises
    ------
    ExhaustedError
        If fewer than n rows are left.

    See Also
    --------
    greedy_ball_coverage : A batch that does not depend on a classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.active import query_uncertain
    >>> from corollary.linear import LogisticRegression
    >>> X = np.arange(10.0)[:, None]
    >>> model = LogisticRegression().fit(X[[0, 1, 8, 9]], [0, 0, 1, 1])
    >>> np.sort(query_uncertain(model, X, 2))  # nearest to the boundary at 4.5
    array([4, 5])
    """
    scores = _MEASURES[measure](estimator.predict_proba(X))
    labelled = np.unique(check_indices("query_uncertain", labelled, len(scores)))
    if n > len(scores) - len(labelled):
        raise ExhaustedError(
            f"query_uncertain has {len(scores) - len(labelled)} rows left to ask for. Got n={n}."
        )
    scores[labelled] = -np.inf
    return np.argsort(-scores, kind="stable")[:n]


def _probabilities(who: str, values: Any) -> np.ndarray:
    P = np.asarray(values, dtype=float)
    if P.ndim != 2 or not P.shape[1]:
        raise ValueError(
            f"{who} needs one row of class probabilities for each point. "
            f"Got an array of shape {P.shape}."
        )
    # Written so that NaN fails too; single precision sums to one only roughly.
    if not ((P >= 0).all() and (np.abs(P.sum(axis=1) - 1.0) <= 1e-4).all()):
        raise ValueError(f"{who} needs non-negative probabilities that sum to 1 in each row.")
    return P
