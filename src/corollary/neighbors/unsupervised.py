"""Neighbour searches as an estimator without targets."""

from dataclasses import KW_ONLY
from typing import Any, Self

from corollary.core.compat import fit_context
from corollary.neighbors._base import Radius
from corollary.neighbors._nearest import NearestModel


class NearestNeighbors(NearestModel):
    """Remember rows and find the nearest of them.

    Parameters
    ----------
    n_neighbors : int or "consistent", default=5
        Neighbours that searches return unless told otherwise; "consistent" for
        :func:`consistent_k` of the number of rows.
    algorithm : {"auto", "ball_tree", "brute", "kd_tree"}, default="auto"
        How to search; the result is the same to the last bit. "ball_tree" is the k-d tree. Sparse
        rows are all searched.
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
        Threads; None or -1 for all cores.
    radius : float, default=1.0
        Distance within which :meth:`radius_neighbors` looks unless told otherwise.

    Attributes
    ----------
    index_ : NeighborIndex, SparseNeighborIndex or MetricIndex
        The rows, prepared for searches.
    effective_metric_ : str or callable
        The distance used, by its simplest name.
    effective_metric_params_ : dict
        Its arguments.
    n_neighbors_ : int
        Neighbours used.
    n_samples_fit_ : int
        Training rows.
    weight_ : None
        Rows have no weights here.

    See Also
    --------
    nearest_neighbors : The same as a function.

    Examples
    --------
    >>> from corollary.neighbors import NearestNeighbors
    >>> model = NearestNeighbors(n_neighbors=1).fit([[0.0], [1.0], [3.0]])
    >>> model.kneighbors()
    (array([[1.],
           [1.],
           [2.]]), array([[1],
           [0],
           [1]]))
    """

    _: KW_ONLY
    radius: Radius = 1.0

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Remember the rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : None, default=None
            Ignored.

        Returns
        -------
        self : NearestNeighbors
            The fitted model.
        """
        X, _, _ = self._check(X, None, None)
        self._build(X)
        return self
