"""Regression by the mean of the nearest rows."""

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from corollary.neighbors import _base
from corollary.neighbors._nearest import NearestModel
from corollary.neighbors._targets import NeighborNumbers


class KNeighborsRegressor(NearestModel, NeighborNumbers):
    r"""Predict the mean target of the nearest training rows, :math:`\frac1k \sum_{i \in I_x} y_i`.

    Parameters
    ----------
    n_neighbors : int or "consistent", default=5
        Neighbours k; "consistent" for :func:`consistent_k` of the number of training rows.
    algorithm : {"auto", "ball_tree", "brute", "kd_tree"}, default="auto"
        How to search; the result is the same to the last bit. "auto" measures how many rows a
        tree would look at; "ball_tree" is the k-d tree. Sparse rows are all searched.
    leaf_size : int, default=30
        Largest number of rows in a leaf of the tree.
    p : float, default=2
        Power of the metric "minkowski"; below 1 every pair is measured.
    metric : str or callable, default="minkowski"
        The distance: "minkowski" ("p"), "euclidean" ("l2"), "manhattan" ("cityblock", "l1"),
        "chebyshev" ("infinity") or "cosine", one minus the cosine of the angle. Every pair is
        measured by scikit-learn's "braycurtis", "canberra", "correlation", "dice", "hamming",
        "haversine", "jaccard", "mahalanobis", "nan_euclidean", "rogerstanimoto", "russellrao",
        "seuclidean", "sokalmichener", "sokalsneath", "sqeuclidean" and "yule", and by a function of
        two rows, with which the model cannot be saved; with "precomputed" X holds the distances to
        the training rows.
    metric_params : dict or None, default=None
        Further arguments of the distance.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores. They do not change the result.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        Weights in the mean: equal (None as well), by inverse distance, or a function of an array of
        distances, with which the model cannot be saved.

    Attributes
    ----------
    targets_ : ndarray of shape (n_samples_fit,) or (n_samples_fit, n_outputs)
        Targets of the training rows.
    index_ : NeighborIndex, SparseNeighborIndex or MetricIndex
        The rows, prepared for searches.
    effective_metric_ : str or callable
        The distance used, by its simplest name.
    effective_metric_params_ : dict
        Its arguments.
    n_neighbors_ : int
        Neighbours used.
    n_samples_fit_ : int
        Training rows of positive weight.
    weight_ : ndarray of shape (n_samples_fit,) or None
        Their weights.

    See Also
    --------
    KNeighborsClassifier : For classes.

    Notes
    -----
    Rows at equal distance are ordered by their number. A training row of weight w counts as w
    rows: neighbours are taken until their weights sum to k, the last one in part.

    Examples
    --------
    >>> from corollary.neighbors import KNeighborsRegressor
    >>> model = KNeighborsRegressor(n_neighbors=2).fit([[0.0], [1.0], [5.0]], [0.0, 1.0, 4.0])
    >>> model.predict([[0.2], [4.0]])
    array([0.5, 2.5])
    """

    _: KW_ONLY
    weights: _base.VoteWeights = "uniform"

    def _predict(self, X: Any) -> np.ndarray:
        pieces, places = [], []
        for votes in self._votes(X, self.weights):
            weights = votes.weights
            total = weights.sum(axis=1)
            if not (total > 0).all():
                raise ValueError(
                    "The function 'weights' of KNeighborsRegressor gave all neighbours of a row "
                    "the weight zero. Let one of them count."
                )
            targets = self.targets_[votes.neighbors]
            sums = np.einsum("ij,ij...->i...", weights, targets)
            pieces.append(sums / total.reshape(-1, *[1] * (sums.ndim - 1)))
            places.append(votes.queries)
        return _base.in_place(pieces, places)
