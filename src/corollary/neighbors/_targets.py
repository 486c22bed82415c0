"""What neighbours are asked for: labels or numbers, remembered beside the index."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import MultiOutputMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from corollary.core.estimator import ProbabilisticClassifier, Regressor, fitted
from corollary.core.schema import Array, Labels
from corollary.neighbors._base import NeighborsModel


class NeighborLabels(NeighborsModel, ProbabilisticClassifier):
    """Remember the labels of the rows of an index."""

    classes_: np.ndarray = fitted(Labels("c"))
    codes_: np.ndarray = fitted(Array("i", "n", low=0, below="c"))

    @property
    def outputs_2d_(self) -> bool:
        """Whether there are several targets; False here."""
        check_is_fitted(self)
        return False

    def _code(self, y: np.ndarray) -> np.ndarray:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)  # one class is enough
        return codes

    def _fit(self, X: Any, codes: np.ndarray, sample_weight: np.ndarray | None) -> None:
        self._build(X)
        self.codes_ = codes.astype(np.int64)


class NeighborNumbers(MultiOutputMixin, NeighborsModel, Regressor):
    """Remember the targets of the rows of an index, one or several for each."""

    targets_: np.ndarray = fitted(Array("f", "n") | Array("f", "n", "o"))

    _training_rows: ClassVar[dict[str, Any]] = {"multi_output": True}

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        self._build(X)
        self.targets_ = y
