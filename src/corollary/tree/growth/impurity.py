r"""Impurities of a node and what a split gains.

A node with class shares :math:`p_1, \dots, p_K` has

* misclassification :math:`1 - \max_k p_k`,
* Gini index :math:`\sum_k p_k (1 - p_k)`,
* entropy :math:`\sum_k p_k \log(1/p_k)`, with :math:`0 \log \infty = 0`.

All are concave and zero only for a pure node, so a split never raises the mean impurity. The
first is linear between its corners and misses splits that help later: grow by one of the others.
"""

from typing import Annotated, Any

import numpy as np

from corollary.core.compat import StrOptions
from corollary.core.estimator import ArrayLike, checked


def misclassification(shares: Any) -> Any:
    """Return the error of the most frequent class.

    Parameters
    ----------
    shares : array-like of shape (..., n_classes)
        Shares of the classes, each set adding up to one.

    Returns
    -------
    impurity : float or ndarray of shape (...)
        One minus the largest share.

    Examples
    --------
    >>> from corollary.tree import misclassification
    >>> misclassification([0.25, 0.75])
    0.25
    """
    p = _shares(shares)
    return _plain(1.0 - p.max(axis=-1))


def gini_index(shares: Any) -> Any:
    """Return the probability that two draws from the node differ in class.

    Parameters
    ----------
    shares : array-like of shape (..., n_classes)
        Shares of the classes, each set adding up to one.

    Returns
    -------
    impurity : float or ndarray of shape (...)
        The Gini index; for two classes ``2 p (1 - p)``.

    Examples
    --------
    >>> from corollary.tree import gini_index
    >>> gini_index([0.25, 0.75])
    0.375
    """
    p = _shares(shares)
    return _plain((p * (1.0 - p)).sum(axis=-1))


def node_entropy(shares: Any) -> Any:
    """Return the entropy of the class of a row in the node, in nats.

    Parameters
    ----------
    shares : array-like of shape (..., n_classes)
        Shares of the classes, each set adding up to one.

    Returns
    -------
    impurity : float or ndarray of shape (...)
        The entropy; logarithm 2 for two equal classes.

    Examples
    --------
    >>> from corollary.tree import node_entropy
    >>> round(node_entropy([0.5, 0.5]), 4)
    0.6931
    """
    from scipy.special import entr

    return _plain(entr(_shares(shares)).sum(axis=-1))


_IMPURITIES = {
    "gini": gini_index,
    "entropy": node_entropy,
    "log_loss": node_entropy,
    "misclassification": misclassification,
}


@checked
def information_gain(
    y: ArrayLike,
    branches: ArrayLike,
    *,
    criterion: Annotated[str, StrOptions(set(_IMPURITIES))] = "entropy",
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Return how much a split lowers the mean impurity.

    It is :math:`H(S) - \sum_v \frac{|S_v|}{|S|} H(S_v)` for the branches :math:`S_v` of the rows
    :math:`S`.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    branches : array-like of shape (n_samples,)
        Branch of each row; any labels, two or more.
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="entropy"
        The impurity H.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights; a row of weight k counts like k rows.

    Returns
    -------
    gain : float
        Never negative, up to rounding.

    Examples
    --------
    >>> from corollary.tree import information_gain
    >>> information_gain(["no", "no", "yes", "yes"], [0, 0, 1, 1], criterion="gini")
    0.5
    """
    labels, branches = np.asarray(y).ravel(), np.asarray(branches).ravel()
    if len(labels) != len(branches) or not len(labels):
        raise ValueError(
            "information_gain needs one branch for each of at least one label. "
            f"Got {len(labels)} labels and {len(branches)} branches."
        )
    weight = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, float)
    _, codes = np.unique(labels, return_inverse=True)
    _, sides = np.unique(branches, return_inverse=True)
    table = np.zeros((sides.max() + 1, codes.max() + 1))
    np.add.at(table, (sides, codes), weight)
    impurity = _IMPURITIES[criterion]
    mass = table.sum(axis=1)
    held = mass > 0
    before = impurity(table.sum(axis=0) / mass.sum())
    after = np.sum(mass[held] * impurity(table[held] / mass[held, None])) / mass.sum()
    return float(before - after)


def _shares(shares: Any) -> np.ndarray:
    p = np.asarray(shares, dtype=np.float64)
    if p.ndim == 0 or not (p >= 0).all() or not np.allclose(p.sum(axis=-1), 1.0):
        raise ValueError(
            "Class shares must be non-negative and add up to one along the last axis. "
            f"Got {np.asarray(shares).tolist()!r}."
        )
    return p


def _plain(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else value
