"""What neighbours are asked for: labels or numbers, remembered beside the index."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets

from corollary.core.compat import fit_context


class NeighborLabels(ClassifierMixin):
    """Remember the labels of the rows of an index."""

    _fit_index: Any

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Remember the rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            How many rows each row counts for.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        y = self._fit_index(X, y, sample_weight)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.codes_ = codes.astype(np.int64)
        self._settle()
        return self

    def _settle(self) -> None:
        """Finish a fit, once classes are known."""


class NeighborNumbers(RegressorMixin):
    """Remember the targets of the rows of an index, one or several for each."""

    _fit_index: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Remember the rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            How many rows each row counts for.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        y = self._fit_index(X, y, sample_weight, multi_output=True, y_numeric=True)
        self.targets_ = np.asarray(y, dtype=np.float64)
        return self
