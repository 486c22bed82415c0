"""What linear classifiers have in common: coefficients, intercepts, and scores from them."""

from typing import Any, ClassVar

import numpy as np

from corollary.core.estimator import (
    ProbabilisticClassifier,
    ScoringClassifier,
    fitted,
    probabilities_of,
)
from corollary.core.schema import Array


class LinearClassifier(ScoringClassifier):
    """A classifier with one row of coefficients for two classes, else one for every class."""

    coef_: np.ndarray = fitted(Array("f", "r", "d"))
    intercept_: np.ndarray = fitted(Array("f", "r"))

    _rows: ClassVar[dict[str, Any]] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}

    def _scores(self, X: Any) -> np.ndarray:
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _fits_together(self) -> str | None:
        n_classes = len(self.classes_)
        if n_classes < 2 or len(self.coef_) != (1 if n_classes == 2 else n_classes):
            return f"{len(self.coef_)} rows of coefficients do not fit {n_classes} classes"
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
