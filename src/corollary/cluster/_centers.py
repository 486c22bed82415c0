"""What all models with centres do: assign rows, measure distances, and say what clusters cost."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from corollary.cluster.means._rows import Assignment, nearest_labels, rows_of, squared_distances
from corollary.core.compat import check_sample_weight
from corollary.core.estimator import ArrayLike, Clusterer, Count, Transformer, fitted
from corollary.core.schema import Array, Integer, Number, Optional
from corollary.core.summary import reduce

Init = Literal["k-means++", "k-means||", "random"] | Callable[..., Any] | ArrayLike
Runs = Literal["auto"] | Count


class CenterModel(ClassNamePrefixFeaturesOutMixin, Transformer, Clusterer):
    """A clusterer by nearest centres, which transforms rows to Euclidean distances from them."""

    cluster_centers_: np.ndarray = fitted(Array("f", "c", "d"))
    labels_: np.ndarray = fitted(Optional(Array("i", "n")))
    inertia_: float = fitted(Optional(Number(0)))
    n_iter_: int = fitted(Integer(0))

    _rows = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C"}

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _centers(self) -> np.ndarray:
        return np.ascontiguousarray(self.cluster_centers_, dtype=np.float64)

    def _predict(self, X: Any) -> np.ndarray:
        return nearest_labels(rows_of((X,))[0], self._centers())

    def _transform(self, X: Any) -> np.ndarray:
        squares = squared_distances(rows_of((X,))[0], self._centers())
        return np.sqrt(squares).astype(X.dtype, copy=False)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the cost of rows at the centres of the model.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : None, default=None
            Not used.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights.

        Returns
        -------
        score : float
            Minus the weighted sum of squared distances from the nearest centres.
        """
        X = self._new(X)
        chunk: Any = (X,)
        if sample_weight is not None:
            chunk = (X, None, check_sample_weight(sample_weight, X, ensure_non_negative=True))
        return -reduce(Assignment(self._centers(), keep=False), chunk).cost


def runs_of(n_init: Any, init: Any, several: int) -> int:
    """Return how often to start: several times where a start is left to chance alone."""
    if n_init != "auto":
        return int(n_init)
    return several if callable(init) or (isinstance(init, str) and init == "random") else 1
