"""Regression by the mean of all rows within a radius."""

import warnings
from typing import Any

import numpy as np

from corollary.neighbors._radius import RadiusModel
from corollary.neighbors._targets import NeighborNumbers


class RadiusNeighborsRegressor(RadiusModel, NeighborNumbers):
    """Predict the mean target of the training rows within a radius.

    Parameters
    ----------
    radius : float, default=1.0
        The largest distance of a row that counts.
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
    n_samples_fit_ : int
        Training rows of positive weight.
    weight_ : ndarray of shape (n_samples_fit,) or None
        Their weights.

    See Also
    --------
    KNeighborsRegressor : By a number of neighbours.

    Notes
    -----
    A training row of weight w counts as w rows. Rows without a neighbour are predicted as NaN, with
    a warning.

    Examples
    --------
    >>> from corollary.neighbors import RadiusNeighborsRegressor
    >>> model = RadiusNeighborsRegressor(1.5).fit([[0.0], [1.0], [5.0]], [0.0, 1.0, 4.0])
    >>> model.predict([[0.2], [4.0]])
    array([0.5, 4. ])
    """

    def _predict(self, X: Any) -> np.ndarray:
        targets = self.targets_.reshape(self.n_samples_fit_, -1)
        pieces, lonely = [], 0
        for votes in self._votes(X):
            size = len(votes.alone)
            means = [
                np.bincount(votes.queries, votes.weights * column[votes.neighbors], size)
                for column in targets.T
            ]
            # Without any neighbour the sums are of nothing, and whole numbers.
            block = np.stack(means, axis=1).astype(np.float64)
            block[votes.alone] = np.nan
            lonely += int(votes.alone.sum())
            pieces.append(block)
        if lonely:
            warnings.warn(
                f"RadiusNeighborsRegressor found no neighbour within radius = {self.radius:g} of "
                f"{lonely} rows and predicts NaN for them. Raise 'radius'.",
                stacklevel=3,
            )
        prediction = np.concatenate(pieces)
        return prediction[:, 0] if self.targets_.ndim == 1 else prediction
