"""The clusters of drawn partitions, and the density of new rows under them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from corollary.core.parallel import in_blocks
from corollary.mixture.process._sampler import Clusters, Prior, predictive_heights
from corollary.mixture.process.normal_inverse_wishart import NormalInverseWishart


def clusters_of(X: np.ndarray, partitions: Sequence[np.ndarray], law: NormalInverseWishart) -> Any:
    """Return sizes, posterior means and factors of the posterior scales of all clusters."""
    from corollary.mixture._loops.gibbs import rebuild

    prior, kept = Prior.of(law), []
    for labels in partitions:
        clusters = Clusters.room(int(labels.max()) + 1, X.shape[1])
        k = rebuild(X, labels, prior, clusters)  # numbers clusters by their first row
        kept.append((clusters.counts[:k], clusters.means[:k], clusters.factors[:k]))
    return map(np.concatenate, zip(*kept))


def log_mixture(
    X: np.ndarray, clusters: Any, log_shares: Any, law: NormalInverseWishart, n: int
) -> np.ndarray:
    """Return the log density of a mixture of the predictive laws of clusters of up to n rows."""
    from corollary.mixture._loops.gibbs import predictive_loop

    prior, (sizes, locations, factors) = Prior.of(law), clusters
    room = Clusters.room(0, X.shape[1])._replace(
        counts=sizes,
        means=locations,
        factors=factors,
        log_dets=np.log(factors.diagonal(axis1=1, axis2=2)).sum(axis=1),
    )
    heights, shares = predictive_heights(prior, n), np.asarray(log_shares, dtype=float)
    X, out = np.ascontiguousarray(X), np.empty(len(X))

    def work(start: int, stop: int) -> None:
        predictive_loop(X[start:stop], shares, prior, heights, room, out[start:stop])

    in_blocks(work, len(X), 1024)
    return out
