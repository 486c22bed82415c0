"""What linear classifiers have in common: coefficients, intercepts, and scores from them."""

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from corollary.core.estimator import (
    ProbabilisticClassifier,
    ScoringClassifier,
    fitted,
    probabilities_of,
)
from corollary.core.parallel import row_products
from corollary.core.schema import Array, Sparse


class LinearClassifier(ScoringClassifier):
    """A classifier with one row of coefficients for two classes, else one for every class."""

    coef_: Any = fitted(Array("f", "r", "d") | Sparse("r", "d"))
    intercept_: np.ndarray = fitted(Array("f", "r"))

    _rows: ClassVar[dict[str, Any]] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}

    def _scores(self, X: Any) -> np.ndarray:
        scores = row_products(X, self.coef_.T) + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def sparsify(self) -> Self:
        """Keep the coefficients as a sparse matrix, which saves memory if most of them are zero.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        check_is_fitted(self)
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep the coefficients as an array again.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        check_is_fitted(self)
        if sparse.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    def _fits_together(self) -> str | None:
        n_classes, n_rows = len(self.classes_), self.coef_.shape[0]
        if n_classes < 2 or n_rows != (1 if n_classes == 2 else n_classes):
            return f"{n_rows} rows of coefficients do not fit {n_classes} classes"
        return None


class ProbabilisticLinearClassifier(LinearClassifier, ProbabilisticClassifier):
    """A linear classifier whose scores are log odds."""

    def _probabilities(self, X: Any) -> np.ndarray:
        return probabilities_of(self._scores(X))

    def _log_probabilities(self, X: Any) -> np.ndarray:
        from scipy.special import log_expit, log_softmax

        scores = self._scores(X)
        if scores.ndim == 1:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        return log_softmax(scores, axis=1)
