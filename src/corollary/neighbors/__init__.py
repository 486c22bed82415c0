"""Nearest neighbours and what they promise.

A row is classified, or its target predicted, by the training rows nearest to it. Searches are
exact whatever the algorithm, ordered by distance and row number; with a number of neighbours that
grows with the training rows the error tends to the best possible one (:func:`consistent_k`), and
one neighbour alone errs at most twice as often in the limit (:func:`cover_hart_chain`). How many
rows that takes in many dimensions is the matter of :func:`rows_to_cover`. Instead of a number of
neighbours, a radius can say who votes; sparse rows are searched without filling them up.
"""

from corollary.core.moved import refuse_moved as _refuse_moved
from corollary.neighbors._base import neighbor_weights as neighbor_weights
from corollary.neighbors.classifier import KNeighborsClassifier as KNeighborsClassifier
from corollary.neighbors.limits.consistency import consistent_k as consistent_k
from corollary.neighbors.limits.cover_hart import cover_hart_chain as cover_hart_chain
from corollary.neighbors.limits.cover_hart import knn_limit_error as knn_limit_error
from corollary.neighbors.limits.curse import ball_volume as ball_volume
from corollary.neighbors.limits.curse import ball_volume_ratio as ball_volume_ratio
from corollary.neighbors.limits.curse import rows_to_cover as rows_to_cover
from corollary.neighbors.radius_classifier import (
    RadiusNeighborsClassifier as RadiusNeighborsClassifier,
)
from corollary.neighbors.radius_regressor import (
    RadiusNeighborsRegressor as RadiusNeighborsRegressor,
)
from corollary.neighbors.regressor import KNeighborsRegressor as KNeighborsRegressor
from corollary.neighbors.search._within import Neighborhoods as Neighborhoods
from corollary.neighbors.search.index import NeighborIndex as NeighborIndex
from corollary.neighbors.search.index import nearest_neighbors as nearest_neighbors
from corollary.neighbors.search.metric_index import MetricIndex as MetricIndex
from corollary.neighbors.search.sparse_index import SparseNeighborIndex as SparseNeighborIndex
from corollary.neighbors.unsupervised import NearestNeighbors as NearestNeighbors

__getattr__ = _refuse_moved(
    "corollary.neighbors", {"log_ball_volume": "corollary.theory.log_ball_volume"}
)
