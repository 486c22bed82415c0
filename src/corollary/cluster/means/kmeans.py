"""k-means as an estimator, for rows in memory, in files and on clusters of machines."""

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from corollary.cluster._centers import MeansClusterer
from corollary.cluster._checks import refuse_few_rows
from corollary.cluster.means._descent import LloydRun, descend, draw_seed
from corollary.cluster.means._rows import ArrayRows, SourceRows, Spread
from corollary.core.compat import fit_context
from corollary.core.estimator import Count, NoEffect, NonNegative, read_source


class KMeans(MeansClusterer):
    """Cluster rows around means, at a cost that no step of Lloyd's iteration raises.

    Minimises the weighted sum of squared distances of rows from the nearest of ``n_clusters``
    centres. Sums over rows run in threads over fixed blocks, and labels are decided by distances in
    double precision: the answer depends neither on threads nor, with :meth:`fit_source`, on where
    the rows are.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most that of rows.
    random_state : int, RandomState instance or None, default=None
        Determines where to start, and which rows move to empty clusters.
    init : {"k-means++", "k-means||", "random"}, callable or array-like of shape \
            (n_clusters, n_features), default="k-means++"
        Where to start. "k-means++" draws centres far from each other, each the best of several
        candidates, and passes over the rows once for each; "k-means||" needs seven passes for any
        number of centres, and :meth:`fit_source` takes it in place of "k-means++". "random" draws
        rows. A callable is given X, ``n_clusters`` and ``random_state`` and returns centres.
    n_init : "auto" or int, default="auto"
        How often to start, of which the least cost counts; "auto" is 10 for "random" and
        callables, else 1.
    max_iter : int, default=300
        Largest number of steps.
    tol : float, default=1e-4
        The iteration ends when the squared movements of the centres sum to no more than this times
        the mean variance of the columns.
    verbose : int, default=0
        Changes nothing: a fit has little to tell.
    copy_x : bool, default=True
        Changes nothing: rows are never written to.
    algorithm : {"lloyd", "elkan"}, default="lloyd"
        Changes nothing: bounds on distances spare most of them in any case, and the partition is
        the same.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres.
    labels_ : ndarray of shape (n_samples,)
        The nearest centre of each training row, of equally near ones the first.
    inertia_ : float
        The cost: weighted sum of squared distances of training rows from their centres.
    n_iter_ : int
        Steps made.

    Notes
    -----
    Guarantee: no step raises the cost, refilling of empty clusters included
    (:func:`lloyd_step`). The fixed point may cost many times the optimum
    (:func:`corollary.datasets.lloyd_trap`); :func:`kmeans_plusplus_factor` bounds the factor for
    a start by k-means++, :func:`certify_least_cost` for given rows. For few rows, or one column,
    :func:`exact_kmeans` and :func:`kmeans_1d` find the optimum.

    A cluster that no row is nearest to takes a random row from a cluster that keeps at least one.
    Rows of weight zero get labels and count for nothing else. ``transform`` returns the Euclidean
    distances of rows from all centres. :class:`MiniBatchKMeans` learns from batches as they come.

    References
    ----------
    .. [1] S. P. Lloyd, "Least squares quantization in PCM", IEEE Transactions on Information
       Theory 28 (1982), 129-137.
    .. [2] B. Bahmani, B. Moseley, A. Vattani, R. Kumar, S. Vassilvitskii, "Scalable k-means++",
       VLDB 2012.
    .. [3] G. Hamerly, "Making k-means even faster", SDM 2010.

    Examples
    --------
    >>> from corollary.cluster import KMeans
    >>> X = [[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]]
    >>> model = KMeans(n_clusters=2, random_state=0).fit(X)
    >>> model.inertia_, model.cluster_centers_[model.predict([[0, 0]])]
    (16.0, array([[1., 2.]]))
    """

    _: KW_ONLY
    max_iter: Count = 300
    tol: NonNegative = 1e-4
    verbose: NoEffect = 0
    copy_x: NoEffect = True
    algorithm: Literal["lloyd", "elkan"] = "lloyd"

    def _fit(self, X: Any, sample_weight: np.ndarray | None) -> None:
        refuse_few_rows("KMeans", X.shape[0], self.n_clusters)
        rows = ArrayRows(X, sample_weight)
        self._descend(rows, rows.reduce(Spread()), X.dtype)

    @fit_context(prefer_skip_nested_validation=True)
    def fit_source(
        self,
        data: Any,
        *,
        columns: Sequence[str] | None = None,
        sample_weight: str | None = None,
        labels: bool = True,
    ) -> Self:
        """Fit the model to data that need not fit in memory.

        Every step is a pass over the data, and so is each of the seven of "k-means||", which takes
        the place of "k-means++". From equal starts the model is that of ``fit``, bit for bit. With
        ``labels=False`` no ``labels_`` are kept, which take four bytes a row.

        See :func:`corollary.core.summary.open_source` for data. Arrays and chunks hold ``(X,)``,
        ``(X, y)``, where y is not used, or ``(X, y, sample_weight)``, where y may be None; a
        generator will not do, since it can be read only once. Columns are the names of features, by
        default all but that of ``sample_weight``.
        """
        if callable(self.init):
            raise ValueError(
                "KMeans.fit_source cannot hand rows to a function. Got a callable init; give the "
                "centres that it returns for some of the rows."
            )
        names: Any = {"columns": columns, "sample_weight": sample_weight}
        source, spread = read_source(
            self, data, lambda _: Spread(), **names, several_passes=True, supervised=False
        )
        refuse_few_rows("KMeans.fit_source", spread.n_rows, self.n_clusters)
        if not spread.weight > 0:
            raise ValueError(
                "KMeans.fit_source needs rows of positive weight. All weights are zero."
            )
        self._descend(SourceRows(source), spread, labels=labels)
        return self

    def _descend(
        self, rows: SourceRows, spread: Spread, dtype: Any = np.float64, labels: bool = True
    ) -> None:
        """Start as often as asked for, and keep the best of the runs."""
        random, tol = check_random_state(self.random_state), spread.tolerance(self.tol)

        def run() -> LloydRun:
            centres = self._start(rows, np.size(spread.mean), random)
            how: Any = {"max_iter": self.max_iter, "tol": tol, "dtype": dtype, "labels": labels}
            return descend(rows, centres, seed=draw_seed(random), **how)

        runs = (run() for _ in range(self._n_runs(several=10)))
        best = min(runs, key=lambda run: run.cost)
        n_distinct = np.count_nonzero(best.counts)
        if n_distinct < self.n_clusters:
            warnings.warn(
                f"Number of distinct clusters ({n_distinct}) found smaller than n_clusters "
                f"({self.n_clusters}). Possibly due to duplicate points in X. Ask for fewer.",
                ConvergenceWarning,
                stacklevel=5,
            )
        self.cluster_centers_ = best.centers.astype(dtype)
        self.inertia_, self.n_iter_ = best.cost, best.n_iter
        self.__dict__.pop("labels_", None)
        if labels:
            self.labels_ = best.labels
