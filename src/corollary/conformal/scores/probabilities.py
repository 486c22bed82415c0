"""Class probabilities of any fitted classifier."""

from typing import Any

import numpy as np
from scipy.special import expit, softmax


def class_probabilities(model: Any, X: Any) -> np.ndarray:
    """Return class probabilities of a fitted classifier, from logits if it has no others.

    Parameters
    ----------
    model : estimator
        A fitted classifier with ``predict_proba`` or ``decision_function``.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows, passed to the model as they come.

    Returns
    -------
    probabilities : ndarray of shape (n_samples, n_classes)
        Rows of non-negative numbers that sum to one.

    Raises
    ------
    TypeError
        If the model has neither method.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from corollary.conformal import class_probabilities
    >>> model = LinearSVC().fit([[0.0], [1.0]], [0, 1])
    >>> class_probabilities(model, [[0.5]]).round(2)
    array([[0.48, 0.52]])
    """
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=float)
    if not hasattr(model, "decision_function"):
        raise TypeError(
            f"{type(model).__name__} has neither predict_proba nor decision_function, and sets of "
            "classes need one of them. Wrap it in a calibrated classifier."
        )
    logits = np.asarray(model.decision_function(X), dtype=float)
    if logits.ndim == 1:
        positive = expit(logits)
        return np.column_stack([1 - positive, positive])
    return softmax(logits, axis=1)
