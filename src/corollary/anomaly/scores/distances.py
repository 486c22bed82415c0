"""Scores by distances: from the subspace of the leading directions, and from the nearest centre."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from corollary.anomaly._rows import Rows, residuals
from corollary.anomaly.measures import cluster_distances, reconstruction_scores
from corollary.anomaly.scores._base import Score, seed_of
from corollary.cluster import KMeans, nearest_centers
from corollary.core.schema import Instance, Integer, Nullable, Number, Schema
from corollary.decomposition import PCA


@dataclass(frozen=True, eq=False)
class Reconstruction(Score):
    """Squared distance from the subspace of the leading directions (:func:`reconstruction_scores`).

    :class:`PCAMixture` has it together with a density along the subspace.

    Parameters
    ----------
    n_directions : int or float, default=0.9
        Directions to keep: a number, or the least that explain more than a share of the variance,
        but not all of them.
    pca : PCA or None, default=None
        The projection; set by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.anomaly import AnomalyDetector, Reconstruction
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1)) * [1.0, 2.0] + 0.1 * rng.normal(size=(200, 2))
    >>> model = AnomalyDetector(Reconstruction(1), random_state=0).fit(X)
    >>> model.predict([[3.0, 6.0], [1.0, -2.0]])
    array([ 1, -1])
    """

    n_directions: int | float = 0.9
    pca: Any = None

    _schema: ClassVar[Schema] = Schema(
        n_directions=Number(0), pca=Nullable(Instance("transform", "inverse_transform"))
    )

    def fit(self, rows: Rows, random: np.random.RandomState) -> Self:
        """Fit the projection."""
        seed = seed_of(random)
        pca = rows.teach(PCA(self.n_directions, random_state=seed))
        if pca.n_components_ == pca.n_features_in_ > 1 and isinstance(self.n_directions, float):
            pca = rows.teach(PCA(pca.n_features_in_ - 1, random_state=seed))
        if pca.n_components_ == pca.n_features_in_:
            raise ValueError(
                "Reconstruction needs a direction to drop: with all of them no row has an error. "
                f"Got n_directions={self.n_directions!r}, which keeps all {pca.n_components_}; "
                "take fewer."
            )
        return replace(self, pca=pca)

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return squared distances from the subspace."""
        return reconstruction_scores(X, self.pca.mean_, self.pca.components_)

    def contributions(self, X: np.ndarray) -> np.ndarray:
        """Return squared residuals of the columns, which sum to the score."""
        return residuals(X, self.pca.mean_, self.pca.components_) ** 2


@dataclass(frozen=True, eq=False)
class ClusterDistance(Score):
    """Distance from the nearest centre of k-means, as :func:`cluster_distances` has it.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of centres.
    kmeans : KMeans or None, default=None
        The clusters; set by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.anomaly import AnomalyDetector, ClusterDistance
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) + np.repeat([[0.0, 0.0], [9.0, 9.0]], 100, axis=0)
    >>> model = AnomalyDetector(ClusterDistance(2), random_state=0).fit(X)
    >>> model.predict([[9.0, 9.0], [4.5, 4.5]])  # the mean of all rows is between the clusters
    array([ 1, -1])
    """

    n_clusters: int = 8
    kmeans: Any = None

    squared: ClassVar[bool] = False
    _schema: ClassVar[Schema] = Schema(
        n_clusters=Integer(1), kmeans=Nullable(Instance("transform", "predict"))
    )

    def fit(self, rows: Rows, random: np.random.RandomState) -> Self:
        """Find the centres, by the start that sources and arrays share."""
        kmeans = KMeans(self.n_clusters, init="k-means||", random_state=seed_of(random))
        return replace(self, kmeans=rows.teach(kmeans))

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the distances."""
        return cluster_distances(X, self.kmeans.cluster_centers_)

    def contributions(self, X: np.ndarray) -> np.ndarray:
        """Return squared deviations over the distance, which sum to it."""
        centers = self.kmeans.cluster_centers_
        squares = (X - centers[nearest_centers(X, centers)]) ** 2
        distances = np.sqrt(squares.sum(axis=1, keepdims=True))
        return squares / np.where(distances > 0, distances, 1.0)
