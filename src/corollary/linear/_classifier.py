"""What every linear classifier shares: scores, predictions and, for some, probabilities."""

from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin

from corollary.core.estimator import check_new_data
from corollary.core.schema import Array, Instance, Labels, Optional, Size, Strings

# What a saved linear classifier holds; k classes, r rows of coefficients, d features.
FITTED_CLASSIFIER = {
    "classes_": Labels("k"),
    "coef_": Array("f", "r", "d"),
    "intercept_": Array("f", "r"),
    "n_features_in_": Size("d"),
    "feature_names_in_": Optional(Strings("d")),
    "fingerprint_": Optional(Instance("merge", "overlap")),
}


def scores_fit_classes(model: Any) -> str | None:
    """Say what is wrong between the coefficients and the classes of a loaded model."""
    if not hasattr(model, "coef_"):
        return None
    n_classes = len(model.classes_)
    rows = 1 if n_classes == 2 else n_classes
    if n_classes < 2 or model.coef_.shape[0] != rows:
        return f"{model.coef_.shape[0]} rows of coefficients do not fit {n_classes} classes"
    if not (np.isfinite(model.coef_).all() and np.isfinite(model.intercept_).all()):
        return "the coefficients are not finite"
    return None


class LinearClassifier(ClassifierMixin, BaseEstimator):
    """Scores and labels from ``coef_``, ``intercept_`` and ``classes_``."""

    coef_: np.ndarray
    intercept_: np.ndarray
    classes_: np.ndarray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one score, positive for the second class; else one per class.
        """
        X = check_new_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Return the label with the highest score; a zero score means the first class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels from ``classes_``.
        """
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]


class ProbabilisticLinearClassifier(LinearClassifier):
    """A linear classifier whose scores are log odds."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``; rows sum to one.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return softmax(scores, axis=1)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithm of the probability of every class, exact where it is tiny.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_probability : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        from scipy.special import log_expit, log_softmax

        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        return log_softmax(scores, axis=1)
