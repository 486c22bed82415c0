"""Labels of trees and forests: one class is enough, and rows may have labels of several kinds."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets

from corollary.core.estimator import ProbabilisticClassifier, fitted
from corollary.core.schema import Array, Integer, Labels, List


class TreeClassifier(ProbabilisticClassifier):
    """Base of classifiers that answer by trees, for labels of one or several kinds.

    A subclass writes ``_shares``: the shares of the classes, those of all targets side by side.

    See Also
    --------
    DecisionTreeClassifier : A single tree.

    Examples
    --------
    >>> from corollary.tree import DecisionTreeClassifier, TreeClassifier
    >>> issubclass(DecisionTreeClassifier, TreeClassifier)
    True
    """

    classes_: Any = fitted(Labels("k") | List(Labels("*")))
    n_classes_: Any = fitted(Integer(1) | Array("i", "*", low=1))

    @abstractmethod
    def _shares(self, X: Any) -> np.ndarray:
        """Return the shares of the classes of all targets for validated rows."""

    def _code(self, y: np.ndarray) -> np.ndarray:
        check_classification_targets(y)
        pairs = [np.unique(column, return_inverse=True) for column in y.reshape(len(y), -1).T]
        if y.ndim == 1:
            self.classes_, codes = pairs[0]
            self.n_classes_ = len(self.classes_)
            return codes
        self.classes_ = [labels for labels, _ in pairs]
        self.n_classes_ = np.array([len(labels) for labels in self.classes_])
        return np.column_stack([codes for _, codes in pairs])

    def _with_class_weights(
        self, class_weight: Any, codes: np.ndarray, sample_weight: np.ndarray | None
    ) -> np.ndarray | None:
        """Multiply weights of rows by those of their classes."""
        if class_weight is None:
            return sample_weight
        labels = self.classes_[codes] if codes.ndim == 1 else self._decode(codes)
        by_class = compute_sample_weight(class_weight, labels)
        return by_class if sample_weight is None else sample_weight * by_class

    def _decode(self, codes: np.ndarray) -> np.ndarray:
        """Return labels of several kinds, a column for each."""
        columns = [labels[column] for labels, column in zip(self.classes_, codes.T)]
        alike = len({column.dtype.kind for column in columns}) == 1
        return np.column_stack(columns if alike else [c.astype(object) for c in columns])

    def _by_target(self, flat: np.ndarray) -> list[np.ndarray]:
        """Cut the shares of all classes by target."""
        return np.split(flat, np.cumsum(self.n_classes_)[:-1], axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of the highest share; of equal ones the first.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Labels from ``classes_``.
        """
        shares = self._shares(self._new(X))
        if not isinstance(self.classes_, list):
            return self._choose(shares)
        return self._decode(np.column_stack([p.argmax(axis=1) for p in self._by_target(shares)]))

    def _probabilities(self, X: Any) -> Any:
        shares = self._shares(X)
        return self._by_target(shares) if isinstance(self.classes_, list) else shares

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of the probability of every class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_probability : ndarray of shape (n_samples, n_classes), or a list of such
            Columns in the order of ``classes_``; one array for each of several targets.
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(p) for p in shares] if isinstance(shares, list) else np.log(shares)
