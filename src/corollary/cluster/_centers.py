"""What all models with centres do: assign rows, measure distances, and say what clusters cost."""

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from corollary.cluster._checks import checked_centres
from corollary.cluster.means._descent import draw_seed
from corollary.cluster.means._draws import draw_rows, draw_seeds, draw_seeds_in_passes
from corollary.cluster.means._rows import (
    ArrayRows,
    Assignment,
    SourceRows,
    nearest_labels,
    rows_of,
    squared_distances,
)
from corollary.core.compat import check_sample_weight
from corollary.core.estimator import ArrayLike, Clusterer, Count, RandomSeed, Transformer, fitted
from corollary.core.schema import Array, Integer, Number, Optional
from corollary.core.summary import reduce

Init = Literal["k-means++", "k-means||", "random"] | Callable[..., Any] | ArrayLike
Runs = Literal["auto"] | Count


class CenterClusterer(Clusterer):
    """A clusterer by nearest centres of any kind."""

    n_clusters: Count = 8
    _: KW_ONLY
    random_state: RandomSeed = None

    cluster_centers_: np.ndarray = fitted(Array("f", "c+", "d"))
    labels_: np.ndarray = fitted(Array("i", "n"))
    inertia_: float = fitted(Number(0))
    n_iter_: int = fitted(Integer(1))

    _rows: ClassVar[dict[str, Any]] = {"order": "C"}


class MeansClusterer(ClassNamePrefixFeaturesOutMixin, Transformer, CenterClusterer):
    """A clusterer by means, which transforms rows to Euclidean distances from them."""

    _: KW_ONLY
    init: Init = "k-means++"
    n_init: Runs = "auto"

    labels_: np.ndarray = fitted(Optional(Array("i", "n")))
    inertia_: float = fitted(Optional(Number(0)))
    n_iter_: int = fitted(Integer(0))

    _rows = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C"}
    _training_rows: ClassVar[dict[str, Any]] = {"finite_squares": True}

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
        """Return minus the cost of rows, which may have weights, at the centres; y is not used."""
        X = self._new(X)
        chunk: Any = (X,)
        if sample_weight is not None:
            chunk = (X, None, check_sample_weight(sample_weight, X, ensure_non_negative=True))
        return -reduce(Assignment(self._centers(), keep=False), chunk).cost

    def _n_runs(self, several: int) -> int:
        """Return how often to start: several times where a start is left to chance alone."""
        is_drawn = callable(self.init) or isinstance(self.init, str)
        if self.n_init == "auto":
            is_left_to_chance = is_drawn and self.init not in ("k-means++", "k-means||")
            return several if is_left_to_chance else 1
        if self.n_init > 1 and not is_drawn:
            warnings.warn(
                "Explicit initial center position passed: performing only one init in "
                f"{type(self).__name__} instead of n_init={self.n_init}. Leave n_init at 'auto'.",
                RuntimeWarning,
                stacklevel=6,
            )
            return 1
        return int(self.n_init)

    def _start(self, rows: SourceRows, n_features: int, random: Any) -> np.ndarray:
        """Return centres to start from."""
        k, init = self.n_clusters, self.init
        if callable(init):
            init = init(rows.X, k, random_state=random)
        if not isinstance(init, str):
            return checked_centres(type(self).__name__, init, n_features, k)
        if init == "random":
            return draw_rows(rows, k, n_features, draw_seed(random))
        if init == "k-means++" and isinstance(rows, ArrayRows):
            return draw_seeds(rows.X, rows.weight, k, random).centers
        return draw_seeds_in_passes(rows, k, n_features, random)
