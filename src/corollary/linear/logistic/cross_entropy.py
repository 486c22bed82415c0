r"""Log loss as a distance between distributions.

For a true law p(x, y) and a model :math:`p_w(y \mid x)` the expected log loss splits into what
the model adds and what nobody can avoid:

.. math:: E[-\log p_w(y \mid x)]
          = E[\mathrm{KL}(p(\cdot \mid x) \,\|\, p_w(\cdot \mid x))] + H(Y \mid X).

The functions here compute the three terms on finite tables: rows are values of x, columns
classes. The logistic model is the case of two classes, :math:`p_w = (1 - \sigma(z), \sigma(z))`.
"""

from typing import Any

import numpy as np
from scipy.special import log_softmax, rel_entr, xlogy


def expected_log_loss(joint: Any, model: Any) -> float:
    """Return the expected log loss of a model under a joint law.

    Parameters
    ----------
    joint : array-like of shape (n_values, n_classes)
        Probabilities p(x, y); non-negative, sum one.
    model : array-like of shape (n_values, n_classes)
        Conditional probabilities of the model; each row sums to one.

    Returns
    -------
    risk : float
        Expected loss in nats; infinity if the model excludes what can happen.

    See Also
    --------
    expected_kl : What the model adds.
    conditional_entropy : What nobody can avoid.

    Examples
    --------
    >>> from corollary.linear import conditional_entropy, expected_kl, expected_log_loss
    >>> joint, model = [[0.1, 0.4], [0.3, 0.2]], [[0.5, 0.5], [0.5, 0.5]]
    >>> round(expected_log_loss(joint, model), 6)
    0.693147
    >>> round(expected_kl(joint, model) + conditional_entropy(joint), 6)
    0.693147
    """
    p, q = _tables("expected_log_loss", joint, model)
    with np.errstate(divide="ignore"):
        return float(-np.where(p > 0, p * np.log(np.where(p > 0, q, 1.0)), 0.0).sum())


def conditional_entropy(joint: Any) -> float:
    """Return the conditional entropy H(Y | X): the smallest possible expected log loss.

    Parameters
    ----------
    joint : array-like of shape (n_values, n_classes)
        Probabilities p(x, y); non-negative, sum one.

    Returns
    -------
    entropy : float
        In nats.

    Examples
    --------
    >>> from corollary.linear import conditional_entropy
    >>> conditional_entropy([[0.5, 0.0], [0.0, 0.5]])
    0.0
    """
    p, _ = _tables("conditional_entropy", joint)
    return float(xlogy(p.sum(axis=1), p.sum(axis=1)).sum() - xlogy(p, p).sum())


def expected_kl(joint: Any, model: Any) -> float:
    """Return the expected Kullback-Leibler divergence of the model from the true conditional.

    Parameters
    ----------
    joint : array-like of shape (n_values, n_classes)
        Probabilities p(x, y); non-negative, sum one.
    model : array-like of shape (n_values, n_classes)
        Conditional probabilities of the model; each row sums to one.

    Returns
    -------
    divergence : float
        In nats, non-negative; zero exactly if the model is the true conditional.

    Examples
    --------
    >>> from corollary.linear import expected_kl
    >>> expected_kl([[0.25, 0.25], [0.25, 0.25]], [[0.5, 0.5], [0.5, 0.5]])
    0.0
    """
    p, q = _tables("expected_kl", joint, model)
    # KL(p(.|x) || q(.|x)) p(x) = sum_y p(x, y) log(p(x, y) / (p(x) q(y|x)))
    return float(rel_entr(p, p.sum(axis=1, keepdims=True) * q).sum())


def softmax_model(X: Any, coef: Any, intercept: Any = 0.0) -> np.ndarray:
    """Return the conditional probabilities of a softmax (or logistic) model.

    Parameters
    ----------
    X : array-like of shape (n_values, n_features)
        Values of x.
    coef : array-like of shape (n_classes, n_features) or (1, n_features)
        Weights of each class; one row means two classes, the first with weight zero.
    intercept : array-like of shape (n_classes,) or float, default=0.0
        Intercepts.

    Returns
    -------
    model : ndarray of shape (n_values, n_classes)
        Rows sum to one.

    Examples
    --------
    >>> from corollary.linear import softmax_model
    >>> softmax_model([[0.0], [1.0]], [[2.0]]).round(3)
    array([[0.5  , 0.5  ],
           [0.119, 0.881]])
    """
    coef = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    scores = np.asarray(X, dtype=np.float64) @ coef.T + np.asarray(intercept, dtype=np.float64)
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    return np.exp(log_softmax(scores, axis=1))


def _tables(name: str, joint: Any, model: Any = None) -> tuple[np.ndarray, np.ndarray]:
    p = np.asarray(joint, dtype=np.float64)
    if p.ndim != 2 or not (p >= 0).all() or not np.isclose(p.sum(), 1.0, rtol=0, atol=1e-9):
        raise ValueError(
            f"The 'joint' parameter of {name} must be a table of non-negative probabilities with "
            f"sum 1. Got shape {p.shape} and sum {p.sum():.6g} instead."
        )
    if model is None:
        return p, p
    q = np.asarray(model, dtype=np.float64)
    if q.shape != p.shape or not (q >= 0).all() or not np.allclose(q.sum(axis=1), 1.0):
        raise ValueError(
            f"The 'model' parameter of {name} must be a table of shape {p.shape} whose rows are "
            f"probabilities with sum 1. Got shape {q.shape} instead, or rows that do not sum to 1."
        )
    return p, q
