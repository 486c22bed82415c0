"""Neighbour searches as an estimator without targets."""

from numbers import Real
from typing import Any, Self

from corollary.core.compat import Interval, fit_context
from corollary.core.schema import Schema
from corollary.neighbors.nearest import (
    NEAREST_CONSTRAINTS,
    NEAREST_FITTED,
    NearestModel,
    nearest_fits_together,
)


class NearestNeighbors(NearestModel):
    """Remember rows and find the nearest of them.

    Parameters
    ----------
    n_neighbors : int or "consistent", default=5
        Neighbours that searches return unless told otherwise; "consistent" for
        :func:`consistent_k` of the number of rows.
    radius : float, default=1.0
        Distance within which :meth:`radius_neighbors` looks unless told otherwise.
    algorithm : {"auto", "brute", "kd_tree"}, default="auto"
        How to search; the result is the same to the last bit. Sparse rows are all searched.
    leaf_size : int, default=30
        Largest number of rows in a leaf of the tree.
    p : float, default=2
        Power of the metric "minkowski", at least 1.
    metric : str, default="minkowski"
        The distance: "minkowski", "euclidean" ("l2"), "manhattan" ("cityblock", "l1"),
        "chebyshev" ("infinity") or "cosine", one minus the cosine of the angle.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores.

    Attributes
    ----------
    index_ : NeighborIndex or SparseNeighborIndex
        The rows, prepared for searches.
    n_neighbors_ : int
        Neighbours used.
    n_samples_fit_ : int
        Training rows.
    weight_ : None
        Rows have no weights here.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they have names.
    fingerprint_ : Fingerprint
        Memory of the rows.

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

    _parameter_constraints: dict = {
        **NEAREST_CONSTRAINTS,
        "radius": [Interval(Real, 0, None, closed="both")],
    }
    _schema = Schema(nearest_fits_together, None, **NEAREST_FITTED)

    def __init__(
        self,
        n_neighbors: Any = 5,
        *,
        radius: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: str = "minkowski",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.n_jobs = n_jobs

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
        self._fit_index(X)
        return self
