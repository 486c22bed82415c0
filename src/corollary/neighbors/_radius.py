"""What the estimators of a radius share: everyone within it has a vote."""

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Any, NamedTuple

import numpy as np

from corollary.neighbors._base import BLOCK, NeighborsModel, Radius, VoteWeights, check_weights
from corollary.neighbors.search._within import Neighborhoods


class RadiusVotes(NamedTuple):
    """Neighbours within the radius of a block of queries."""

    alone: np.ndarray  # which queries have no neighbour
    queries: np.ndarray  # query of each neighbour, as a number in the block
    neighbors: np.ndarray  # numbers of the training rows
    weights: np.ndarray  # how much each of them counts


class RadiusModel(NeighborsModel):
    """Base of the estimators that look at all rows within a radius."""

    radius: Radius = 1.0
    _: KW_ONLY
    weights: VoteWeights = "uniform"

    def _build(self, X: Any) -> None:
        self._set_index(X, radius=float(self.radius))

    def _votes(self, X: Any) -> Iterator[RadiusVotes]:
        """Yield neighbours of validated rows and their weights, block by block.

        None stands for the training rows, of which none is its own neighbour.
        """
        rows = self.index_.original_rows() if X is None else X
        for start in range(0, rows.shape[0], BLOCK):
            part = rows[start : start + BLOCK]
            near = self.index_.query_radius(part, float(self.radius), n_jobs=self.n_jobs)
            if X is None:
                near = near.without(near.neighbors == near.queries + start)
            weights = radius_weights(near, self.weights)
            if self.weight_ is not None:
                weights = weights * self.weight_[near.neighbors]
            alone = np.diff(near.starts) == 0
            queries = near.queries
            total = np.bincount(queries, weights, minlength=len(alone))
            if not (total[~alone] > 0).all():
                raise ValueError(
                    f"The function 'weights' of {type(self).__name__} gave all neighbours of a row "
                    "the weight zero. Let one of them count."
                )
            yield RadiusVotes(alone, queries, near.neighbors, weights / total[queries])


def radius_weights(near: Neighborhoods, weights: Any) -> np.ndarray:
    """Turn distances within a radius into weights of votes."""
    distances = near.distances
    if callable(weights):
        values = np.asarray(weights(distances), dtype=float)
        check_weights(values, distances)
        infinite = np.isinf(values)
        if not infinite.any():
            return values
        alone = np.bincount(near.queries, infinite, minlength=len(near.starts) - 1) > 0
        return np.where(alone[near.queries], infinite, values)
    if weights in (None, "uniform") or not len(distances):
        return np.ones(distances.shape)
    counts = np.diff(near.starts)
    # In units of the nearest, so that the inverse of a tiny distance cannot overflow.
    nearest = np.minimum.reduceat(distances, near.starts[:-1][counts > 0])
    nearest = np.repeat(nearest, counts[counts > 0])
    values = np.ones(distances.shape)
    np.divide(nearest, distances, out=values, where=distances != nearest)
    return values
