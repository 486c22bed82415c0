"""Classification by the votes of the nearest rows."""

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from corollary.neighbors import _base
from corollary.neighbors._nearest import NearestModel
from corollary.neighbors._targets import NeighborLabels


class KNeighborsClassifier(NearestModel, NeighborLabels):
    r"""Predict the most frequent class among the nearest training rows.

    With :math:`I_x` the k nearest rows, the posterior estimate is
    :math:`\hat p(c \mid x) = |\{i \in I_x : y_i = c\}| / k`.

    Parameters
    ----------
    n_neighbors : int or "consistent", default=5
        Neighbours k; "consistent" for :func:`consistent_k` of the number of training rows, with
        which the error tends to the Bayes error.
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
        Weights of votes: equal (None as well), by inverse distance, or a function of an array of
        distances, with which the model cannot be saved.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    codes_ : ndarray of int of shape (n_samples_fit,)
        Class of each training row, as a position in ``classes_``.
    index_ : NeighborIndex, SparseNeighborIndex or MetricIndex
        The rows, prepared for searches.
    effective_metric_ : str or callable
        The distance used, by its simplest name.
    effective_metric_params_ : dict
        Its arguments.
    outputs_2d_ : bool
        Whether there are several targets; False here.
    n_neighbors_ : int
        Neighbours used.
    n_samples_fit_ : int
        Training rows of positive weight.
    weight_ : ndarray of shape (n_samples_fit,) or None
        Their weights.

    See Also
    --------
    cover_hart_chain : What one neighbour achieves with many rows.
    consistent_k : How many neighbours to take.

    Notes
    -----
    Rows at equal distance are ordered by their number, and equally frequent classes by
    ``classes_``; so with labels 0 and 1 a tie is 0. A training row of weight w counts as w rows:
    neighbours are taken until their weights sum to k, the last one in part.

    Several targets are not offered; use scikit-learn's ``MultiOutputClassifier``.

    Examples
    --------
    >>> from corollary.neighbors import KNeighborsClassifier
    >>> model = KNeighborsClassifier(n_neighbors=3).fit([[0.0], [1.0], [2.0], [9.0]], [0, 0, 1, 1])
    >>> model.predict([[1.1], [8.0]]), model.predict_proba([[1.1]]).round(2)
    (array([0, 1]), array([[0.67, 0.33]]))
    """

    _: KW_ONLY
    weights: _base.VoteWeights = "uniform"

    def _probabilities(self, X: Any) -> np.ndarray:
        n_classes = len(self.classes_)
        pieces, places = [], []
        for votes in self._votes(X, self.weights):
            codes = self.codes_[votes.neighbors]
            counts = np.zeros((len(codes), n_classes))
            # Neighbour by neighbour, nearest first, so that sums do not depend on blocks.
            for j in range(codes.shape[1]):
                counts[np.arange(len(codes)), codes[:, j]] += votes.weights[:, j]
            total = counts.sum(axis=1, keepdims=True)
            if not (total > 0).all():
                raise ValueError(
                    "The function 'weights' of KNeighborsClassifier gave all neighbours of a row "
                    "the weight zero. Let one of them count."
                )
            pieces.append(counts / total)
            places.append(votes.queries)
        return _base.in_place(pieces, places)
