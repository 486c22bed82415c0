r"""Convex combinations and weighted votes.

Real-valued predictors are averaged, :math:`f=\sum_bp_bf_b` with :math:`p\ge0`,
:math:`\sum_bp_b=1`; classifiers vote, :math:`c(x)=\mathrm{sign}\sum_b\alpha_bc_b(x)` for labels
-1 and +1, and for any labels the one with the largest total weight.

A tie between -1 and +1 is +1, as everywhere in this library; among other labels the smallest
wins, as in scikit-learn.
"""

from typing import Any

import numpy as np

from corollary.ensemble._members import winners
from corollary.risk import check_signs, sign


def convex_weights(weights: Any, n_members: int) -> np.ndarray:
    """Return weights of members that are non-negative and sum to one.

    Parameters
    ----------
    weights : array-like of shape (n_members,) or None
        Non-negative weights, divided by their sum; None for equal ones.
    n_members : int
        How many there must be.

    Returns
    -------
    weights : ndarray of shape (n_members,)
        A probability vector.

    Raises
    ------
    ValueError
        If there are not that many, one is negative or not finite, or all are zero.

    Examples
    --------
    >>> from corollary.ensemble import convex_weights
    >>> convex_weights([1, 3], 2)
    array([0.25, 0.75])
    """
    if n_members < 1:
        raise ValueError("A combination needs at least one member. Got none.")
    if weights is None:
        return np.full(n_members, 1 / n_members)
    p = np.asarray(weights, dtype=float)
    if p.shape != (n_members,):
        raise ValueError(
            f"There must be one weight for each of the {n_members} members. Got weights of shape "
            f"{p.shape} instead."
        )
    if not np.isfinite(p).all() or np.any(p < 0) or not p.any():
        raise ValueError(
            "The weights of members must be finite, non-negative and not all zero. "
            f"Got {p.tolist()} instead."
        )
    p = p / p.max()  # the sum of huge weights would be infinite
    return p / p.sum()


def convex_combination(predictions: Any, weights: Any = None) -> np.ndarray:
    r"""Average the predictions of several members.

    Parameters
    ----------
    predictions : array-like of shape (n_members, ...)
        Predictions :math:`f_b`, one entry of the first axis per member: numbers, or
        probabilities of classes.
    weights : array-like of shape (n_members,) or None, default=None
        Non-negative weights, divided by their sum; None for the plain mean.

    Returns
    -------
    prediction : ndarray of shape (...)
        :math:`\sum_bp_bf_b`.

    Examples
    --------
    >>> from corollary.ensemble import convex_combination
    >>> convex_combination([[0.0, 1.0], [4.0, 1.0]], weights=[3, 1])
    array([1., 1.])
    """
    values = np.asarray(predictions, dtype=float)
    if values.ndim < 1:
        raise ValueError(
            "convex_combination needs one row of predictions per member. Got a number."
        )
    return np.tensordot(convex_weights(weights, len(values)), values, axes=1)


def sign_vote(votes: Any, weights: Any = None) -> np.ndarray:
    r"""Combine votes -1 and +1 by the sign of their weighted sum.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_samples)
        Labels -1 and +1 given by each member.
    weights : array-like of shape (n_members,) or None, default=None
        Real weights :math:`\alpha_b`, which may be negative; None for a plain majority.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        :math:`\mathrm{sign}\sum_b\alpha_bc_b`; a tie is +1.

    See Also
    --------
    weighted_vote : The same for any labels.

    Examples
    --------
    >>> from corollary.ensemble import sign_vote
    >>> sign_vote([[1, 1, -1], [-1, 1, -1], [-1, -1, -1]], weights=[2, 1, 1])
    array([ 1,  1, -1])
    """
    votes = check_signs("sign_vote", votes)
    if votes.ndim != 2 or not len(votes):
        raise ValueError(
            f"sign_vote needs votes of shape (n_members, n_samples). Got shape {votes.shape}."
        )
    alpha = np.ones(len(votes)) if weights is None else np.asarray(weights, dtype=float)
    if alpha.shape != (len(votes),) or not np.isfinite(alpha).all():
        raise ValueError(
            f"sign_vote needs one finite weight for each of the {len(votes)} members. Got shape "
            f"{alpha.shape}."
        )
    return sign(alpha @ votes)


def vote_shares(codes: Any, n_classes: int, weights: Any = None) -> np.ndarray:
    """Return the share of the weight that each class gets.

    Parameters
    ----------
    codes : array-like of int, shape (n_members, n_samples)
        Position of the class that each member votes for.
    n_classes : int
        Number of classes.
    weights : array-like of shape (n_members,) or None, default=None
        Non-negative weights, divided by their sum; None for equal ones.

    Returns
    -------
    shares : ndarray of shape (n_samples, n_classes)
        Rows sum to one.

    Examples
    --------
    >>> from corollary.ensemble import vote_shares
    >>> vote_shares([[0, 1], [0, 0], [2, 1]], 3).round(2)
    array([[0.67, 0.  , 0.33],
           [0.33, 0.67, 0.  ]])
    """
    codes = np.asarray(codes)
    if codes.ndim != 2 or codes.dtype.kind not in "iu":
        raise ValueError(
            "vote_shares needs positions of classes of shape (n_members, n_samples). Got shape "
            f"{codes.shape} of dtype {codes.dtype}."
        )
    if codes.size and not 0 <= codes.min() <= codes.max() < n_classes:
        raise ValueError(
            f"vote_shares needs positions from 0 to {n_classes - 1}. Got {codes.min()} to "
            f"{codes.max()}."
        )
    shares = np.zeros((codes.shape[1], n_classes))
    rows = np.arange(codes.shape[1])
    for p, votes in zip(convex_weights(weights, len(codes)), codes):
        shares[rows, votes] += p
    return shares


def weighted_vote(labels: Any, weights: Any = None) -> np.ndarray:
    """Return for every row the label with the largest total weight.

    Parameters
    ----------
    labels : array-like of shape (n_members, n_samples)
        The label given by each member: numbers or strings.
    weights : array-like of shape (n_members,) or None, default=None
        Non-negative weights; None for a plain majority.

    Returns
    -------
    winners : ndarray of shape (n_samples,)
        The winning labels; of several with equal weight, the smallest.

    See Also
    --------
    VotingClassifier : Members and their vote as one estimator.

    Examples
    --------
    >>> from corollary.ensemble import weighted_vote
    >>> weighted_vote([["a", "b"], ["b", "b"], ["c", "a"]], weights=[2, 1, 1])
    array(['a', 'b'], dtype='<U1')
    """
    labels = np.asarray(labels)
    if labels.ndim != 2:
        raise ValueError(
            f"weighted_vote needs labels of shape (n_members, n_samples). Got shape {labels.shape}."
        )
    classes, codes = np.unique(labels, return_inverse=True)
    shares = vote_shares(codes.reshape(labels.shape), len(classes), weights)
    return classes[winners(shares)]
