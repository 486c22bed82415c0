"""The information that queries give, at points of a view."""

import numpy as np

from corollary.active.gaussian.growing import View
from corollary.active.gaussian.information import conditional_variance, query_information


def information_in(view: View, queries: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return mutual information for points of a view, with what it imagines."""
    variance = view.variance(imagined=True)
    after = np.zeros(len(queries))
    outside = ~np.isin(queries, targets)
    if outside.any():
        queried = queries[outside]
        after[outside] = conditional_variance(
            view.covariance(targets, targets, imagined=True),
            view.covariance(targets, queried, imagined=True),
            variance[queried],
        )
    # Knowing more cannot make a variance larger; rounding can.
    after = np.minimum(after, variance[queries])
    return query_information(variance[queries], after, view.posterior.prior.noise)
