"""k-means that learns from batches of rows."""

import math
import warnings
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from corollary.cluster._centers import MeansClusterer
from corollary.cluster._checks import refuse_few_rows
from corollary.cluster.means._batches import BatchState, Stopping, batch_step, reassign
from corollary.cluster.means._draws import dense
from corollary.cluster.means._rows import ArrayRows, Assignment, SourceRows, Spread, rows_of
from corollary.core.compat import fit_context
from corollary.core.estimator import Count, CountFromZero, Fraction, NoEffect, NonNegative, fitted
from corollary.core.schema import Array, Integer
from corollary.core.summary import reduce


class MiniBatchKMeans(MeansClusterer):
    """Cluster rows around means that follow batches of rows.

    A step assigns the rows of a batch to their nearest centres and moves each centre to the mean of
    all rows that it has been given so far. :class:`KMeans` passes over all rows in every step, in
    files and on clusters, too.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    random_state : int, RandomState instance or None, default=None
        Determines starts and batches.
    init : {"k-means++", "k-means||", "random"}, callable or array-like of shape \
            (n_clusters, n_features), default="k-means++"
        Where to start, as in :class:`KMeans`, on ``init_size`` rows.
    n_init : "auto" or int, default="auto"
        Starts that are compared on other rows; "auto" is 3 for "random" and callables, else 1.
    max_iter : int, default=100
        Largest number of passes over the rows.
    batch_size : int, default=1024
        Rows of a batch.
    verbose : int, default=0
        Changes nothing: a fit has little to tell.
    compute_labels : bool, default=True
        Whether to label all training rows in the end, which takes a pass.
    tol : float, default=0.0
        Training ends when the squared movements of the centres in a step sum to no more than this
        times the mean variance of the columns; 0 for no such rule.
    max_no_improvement : int or None, default=10
        Training ends after so many steps in which the smoothed cost did not fall; None for no such
        rule.
    init_size : int or None, default=None
        Rows to start from; None for three batches, and at least three for each cluster.
    reassignment_ratio : float, default=0.01
        A centre that has seen less than this share of what the busiest one has moves to a row.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres.
    labels_ : ndarray of shape (n_samples,)
        The nearest centre of each training row, or of each row of the last batch.
    inertia_ : float
        The cost of the training rows, or of those of the last batch.
    n_iter_ : int
        Passes over the rows, the last counted as whole.
    n_steps_ : int
        Batches.
    counts_ : ndarray of shape (n_clusters,)
        The weight that each centre has seen.
    init_size_ : int
        Rows that the start was drawn from.
    unmoved_ : int
        Rows since centres that had seen little were last moved.

    References
    ----------
    D. Sculley, "Web-scale k-means clustering", WWW 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.cluster import MiniBatchKMeans
    >>> X = np.random.default_rng(0).normal(size=(2000, 2)) + 10 * (np.arange(2000) % 2)[:, None]
    >>> model = MiniBatchKMeans(n_clusters=2, random_state=0).fit(X)
    >>> np.sort(model.cluster_centers_[:, 0]).round()
    array([-0., 10.])
    """

    _: KW_ONLY
    max_iter: Count = 100
    batch_size: Count = 1024
    verbose: NoEffect = 0
    compute_labels: bool = True
    tol: NonNegative = 0.0
    max_no_improvement: CountFromZero | None = 10
    init_size: Count | None = None
    reassignment_ratio: Fraction = 0.01

    n_steps_: int = fitted(Integer(0))
    counts_: np.ndarray = fitted(Array("f", "c"))
    init_size_: int = fitted(Integer(1))
    unmoved_: int = fitted(Integer(0))

    _unsaved = ("_random",)

    def _fit(self, X: Any, sample_weight: np.ndarray | None) -> None:
        n = X.shape[0]
        random = check_random_state(self.random_state)
        state = self._first(X, sample_weight, random)
        size = min(self.batch_size, n)
        tol = Spread().update((X,)).tolerance(self.tol)
        rule = Stopping(tol, self.max_no_improvement, size / n)
        steps = self.max_iter * n // size
        n_steps = 0
        while n_steps < steps:
            n_steps += 1
            rows = random.randint(0, n, size)
            before = state.centres
            state, cost = self._step(state, X[rows], _of(sample_weight, rows), random)
            if rule.ends(cost / size, float(((state.centres - before) ** 2).sum())):
                break
        self.n_steps_, self.n_iter_ = n_steps, math.ceil(n_steps * size / n)
        self.__dict__.pop("labels_", None)
        self._keep(state, X, sample_weight)
        if not self.compute_labels:
            self.inertia_ = rule.smoothed * n

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one batch of rows; the first call chooses where to start.

        Parameters are those of ``fit``. See :class:`MiniBatchKMeans`.
        """
        first = not hasattr(self, "cluster_centers_")
        earlier = getattr(self, "fingerprint_", None)
        X, _, weight = self._check(X, None, sample_weight, reset=first)
        if earlier is not None and hasattr(self, "fingerprint_"):
            self.fingerprint_ = earlier.union(self.fingerprint_)
        if first or not hasattr(self, "_random"):  # new, or loaded from a file
            self._random = check_random_state(self.random_state)
        if first:
            state, self.n_steps_ = self._first(X, weight, self._random), 0
        else:
            state = BatchState(self._centers(), self.counts_, self.unmoved_)
        state, _ = self._step(state, X, weight, self._random)
        self.n_steps_ += 1
        self._keep(state, X, weight)
        return self

    def _step(
        self, state: BatchState, X: Any, weight: np.ndarray | None, random: Any
    ) -> tuple[BatchState, float]:
        """Learn from a batch, and now and then move centres that have seen little."""
        X, _ = rows_of((X,))
        state, cost = batch_step(state, X, weight)
        is_due = (state.totals == 0).any() or state.since >= 10 * self.n_clusters
        if self.reassignment_ratio and is_due:
            state = reassign(state, X, self.reassignment_ratio, random)
        return state, cost

    def _first(self, X: Any, weight: np.ndarray | None, random: Any) -> BatchState:
        """Return the best of some starts, compared on rows of their own."""
        n = X.shape[0]
        refuse_few_rows("MiniBatchKMeans", n, self.n_clusters)
        size = 3 * self.batch_size if self.init_size is None else self.init_size
        if size < self.n_clusters:
            if self.init_size is not None:
                warnings.warn(
                    f"init_size={size} should be larger than n_clusters={self.n_clusters}. Took "
                    f"{3 * self.n_clusters} instead.",
                    RuntimeWarning,
                    stacklevel=5,
                )
            size = 3 * self.n_clusters
        self.init_size_ = size = min(size, n)
        judged = random.randint(0, n, size)
        judge = (X[judged], None, _of(weight, judged))
        runs = self._n_runs(several=3)
        best, least = None, np.inf
        for _ in range(runs):
            rows = random.permutation(n)[:size] if size < n else np.arange(n)
            part = ArrayRows(X[rows], _of(weight, rows))
            centres = self._start(part, X.shape[1], random)
            cost = reduce(Assignment(centres, keep=False), judge).cost if runs > 1 else 0.0
            if cost < least:
                best, least = centres, cost
        assert best is not None
        return BatchState(best, np.zeros(self.n_clusters))

    def _start(self, rows: SourceRows, n_features: int, random: Any) -> np.ndarray:
        """Return centres to start from, any rows where none of them counts."""
        X, weight, k = rows.X, rows.weight, self.n_clusters
        if weight is not None and not weight.any():
            weight = None
        if not (isinstance(self.init, str) and self.init == "random"):
            return super()._start(ArrayRows(X, weight), n_features, random)
        chance = None if weight is None else weight / weight.sum()
        several = chance is not None and np.count_nonzero(chance) < k
        return dense(X, random.choice(X.shape[0], size=k, replace=several, p=chance))

    def _keep(self, state: BatchState, X: Any, weight: np.ndarray | None) -> None:
        """Keep what was learnt and, if they are asked for, the labels of rows."""
        self.cluster_centers_ = state.centres.astype(X.dtype)
        self.counts_, self.unmoved_ = state.totals, state.since
        if self.compute_labels:
            last = reduce(Assignment(self._centers()), (X, None, weight))
            self.labels_, self.inertia_ = np.concatenate(last.labels), last.cost


def _of(weight: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    return None if weight is None else weight[rows]
