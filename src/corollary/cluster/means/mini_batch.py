"""k-means that learns from batches of rows."""

import math
import warnings
from dataclasses import KW_ONLY
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from corollary.cluster._centers import CenterModel, Init, Runs, runs_of
from corollary.cluster._checks import checked_centres, refuse_few_rows
from corollary.cluster.means._rows import ArrayRows, Assignment, ClusterSums, rows_of
from corollary.cluster.means._seeds import draw_seeds, draw_seeds_in_passes
from corollary.core.compat import fit_context
from corollary.core.estimator import (
    Count,
    CountFromZero,
    Fraction,
    NoEffect,
    NonNegative,
    RandomSeed,
    fitted,
)
from corollary.core.schema import Array, Integer
from corollary.core.summary import reduce


class BatchState(NamedTuple):
    """Centres, the weight that each has seen, and rows since the last reassignment."""

    centres: np.ndarray
    totals: np.ndarray
    since: int = 0


def _batch_step(state: BatchState, X: Any, weight: np.ndarray | None) -> tuple[BatchState, float]:
    """Move each centre to the mean of all rows it has been given; return the cost before."""
    step = ClusterSums.of(state.centres).update((X, None, weight))
    cost = Assignment(state.centres, keep=False).update((X, None, weight)).cost
    totals = state.totals + step.totals
    heavy = (totals > 0)[:, None]
    moved = step.sums - step.totals[:, None] * state.centres
    centres = state.centres + moved / np.where(heavy, totals[:, None], 1.0)
    return BatchState(centres, totals, state.since + X.shape[0]), cost


def _reassign(state: BatchState, X: Any, ratio: float, random: Any) -> BatchState:
    """Move centres that have seen little to rows of a batch, at most half as many as rows."""
    light = np.flatnonzero(state.totals < ratio * state.totals.max())
    most = int(0.5 * X.shape[0])
    light = np.sort(light[np.argsort(state.totals[light], kind="stable")[:most]])
    if not len(light):
        return state._replace(since=0)
    chosen = random.choice(X.shape[0], size=len(light), replace=False)
    centres, totals = state.centres.copy(), state.totals.copy()
    centres[light] = X[chosen].toarray() if sparse.issparse(X) else X[chosen]
    heavy = np.delete(totals, light)
    totals[light] = heavy.min(initial=np.inf) if len(heavy) else 1.0
    return BatchState(centres, totals)


class MiniBatchKMeans(CenterModel):
    """Cluster rows around means that follow batches of rows.

    A step assigns the rows of a batch to their nearest centres and moves each centre to the mean of
    all rows that it has been given so far. :class:`KMeans` passes over all rows in every step, in
    files and on clusters, too.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : {"k-means++", "k-means||", "random"}, callable or array-like of shape \
            (n_clusters, n_features), default="k-means++"
        Where to start, as in :class:`KMeans`, on ``init_size`` rows.
    max_iter : int, default=100
        Largest number of passes over the rows.
    batch_size : int, default=1024
        Rows of a batch.
    verbose : int, default=0
        Changes nothing: a fit has little to tell.
    compute_labels : bool, default=True
        Whether to label all training rows in the end, which takes a pass.
    random_state : int, RandomState instance or None, default=None
        Determines starts and batches.
    tol : float, default=0.0
        Training ends when the squared movements of the centres in a step sum to no more than this
        times the mean variance of the columns; 0 for no such rule.
    max_no_improvement : int or None, default=10
        Training ends after so many steps in which the smoothed cost did not fall; None for no such
        rule.
    init_size : int or None, default=None
        Rows to start from; None for three batches, and at least three for each cluster.
    n_init : "auto" or int, default="auto"
        Starts that are compared on other rows; "auto" is 3 for "random" and callables, else 1.
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

    n_clusters: Count = 8
    _: KW_ONLY
    init: Init = "k-means++"
    max_iter: Count = 100
    batch_size: Count = 1024
    verbose: NoEffect = 0
    compute_labels: bool = True
    random_state: RandomSeed = None
    tol: NonNegative = 0.0
    max_no_improvement: CountFromZero | None = 10
    init_size: Count | None = None
    n_init: Runs = "auto"
    reassignment_ratio: Fraction = 0.01

    n_steps_: int = fitted(Integer(0))
    counts_: np.ndarray = fitted(Array("f", "c"))
    init_size_: int = fitted(Integer(1))
    unmoved_: int = fitted(Integer(0))

    _unsaved = ("_random",)

    def _fit(self, X: Any, sample_weight: np.ndarray | None) -> None:
        n, dtype = X.shape[0], X.dtype
        refuse_few_rows("MiniBatchKMeans", n, self.n_clusters)
        random = check_random_state(self.random_state)
        state = self._first(X, sample_weight, random)
        size = min(self.batch_size, n)
        rule = _Stopping(self.tol * _mean_variance(X), self.max_no_improvement, size / n)
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
        self._keep(state, dtype)
        self.inertia_ = rule.smoothed * n
        if self.compute_labels:
            self._label(X, sample_weight)
        elif hasattr(self, "labels_"):
            del self.labels_

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one batch of rows; the first call chooses where to start.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : None, default=None
            Not used.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights.

        Returns
        -------
        self : MiniBatchKMeans
            The model.
        """
        first = not hasattr(self, "cluster_centers_")
        earlier = getattr(self, "fingerprint_", None)
        X, _, weight = self._check(X, None, sample_weight, reset=first)
        if earlier is not None and hasattr(self, "fingerprint_"):
            self.fingerprint_ = earlier.union(self.fingerprint_)
        if first or not hasattr(self, "_random"):  # new, or loaded from a file
            self._random = check_random_state(self.random_state)
        if first:
            refuse_few_rows("MiniBatchKMeans", X.shape[0], self.n_clusters)
            state, self.n_steps_ = self._first(X, weight, self._random), 0
        else:
            state = BatchState(self._centers(), self.counts_, self.unmoved_)
        state, _ = self._step(state, X, weight, self._random)
        self.n_steps_ += 1
        self._keep(state, X.dtype)
        if self.compute_labels:
            self._label(X, weight)
        return self

    def _step(
        self, state: BatchState, X: Any, weight: np.ndarray | None, random: Any
    ) -> tuple[BatchState, float]:
        """Learn from a batch, and now and then move centres that have seen little."""
        X, _ = rows_of((X,))
        since = state.since + X.shape[0]
        state, cost = _batch_step(state, X, weight)
        if self.reassignment_ratio and ((state.totals == 0).any() or since >= 10 * self.n_clusters):
            state = _reassign(state, X, self.reassignment_ratio, random)
        return state, cost

    def _first(self, X: Any, weight: np.ndarray | None, random: Any) -> BatchState:
        """Return the best of some starts, compared on rows of their own."""
        n = X.shape[0]
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
        runs = runs_of(self.n_init, self.init, several=3)
        if runs > 1 and not (callable(self.init) or isinstance(self.init, str)):
            warnings.warn(
                "Explicit initial center position passed: performing only one init in "
                f"MiniBatchKMeans instead of n_init={runs}. Leave n_init at 'auto'.",
                RuntimeWarning,
                stacklevel=5,
            )
            runs = 1
        best, least = None, np.inf
        for _ in range(runs):
            rows = random.permutation(n)[:size] if size < n else np.arange(n)
            centres = self._start(rows_of((X[rows],))[0], _of(weight, rows), random)
            judge = (X[judged], None, _of(weight, judged))
            cost = reduce(Assignment(centres, keep=False), judge).cost if runs > 1 else 0.0
            if cost < least:
                best, least = centres, cost
        assert best is not None
        return BatchState(best, np.zeros(self.n_clusters))

    def _start(self, X: Any, weight: np.ndarray | None, random: Any) -> np.ndarray:
        """Return centres to start from."""
        k = self.n_clusters
        if not isinstance(self.init, str):
            given = self.init(X, k, random_state=random) if callable(self.init) else self.init
            return checked_centres("MiniBatchKMeans", given, X, k)
        if weight is not None and not weight.any():
            weight = None  # none of these rows counts: any will do to start from
        if self.init == "k-means++":
            return draw_seeds(X, weight, k, random).centers
        if self.init == "k-means||":
            return draw_seeds_in_passes(ArrayRows(X, weight), k, X.shape[1], random)
        chance = None if weight is None else weight / weight.sum()
        several = chance is not None and np.count_nonzero(chance) < k
        rows = random.choice(X.shape[0], size=k, replace=several, p=chance)
        return X[rows].toarray() if sparse.issparse(X) else X[rows]

    def _keep(self, state: BatchState, dtype: Any) -> None:
        self.cluster_centers_ = state.centres.astype(dtype)
        self.counts_, self.unmoved_ = state.totals, state.since

    def _label(self, X: Any, weight: np.ndarray | None) -> None:
        last = reduce(Assignment(self._centers()), (X, None, weight))
        self.labels_, self.inertia_ = np.concatenate(last.labels), last.cost


class _Stopping:
    """Ends training when centres rest, or when the smoothed cost of batches no longer falls."""

    def __init__(self, tol: float, patience: int | None, share: float) -> None:
        self.tol, self.patience = tol, patience
        self.pace = min(1.0, 2.0 * share)  # weight of the latest batch
        self.smoothed, self.least, self.steps, self.idle = math.nan, math.inf, 0, 0

    def ends(self, cost: float, shift: float) -> bool:
        """Tell whether this step was the last one."""
        self.steps += 1
        if self.steps == 1:  # the start is judged by no earlier step
            self.smoothed = cost
            return False
        self.smoothed += self.pace * (cost - self.smoothed)
        if self.tol > 0 and shift <= self.tol:
            return True
        self.idle = 0 if self.smoothed < self.least else self.idle + 1
        self.least = min(self.least, self.smoothed)
        return self.patience is not None and self.idle >= self.patience


def _of(weight: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    return None if weight is None else weight[rows]


def _mean_variance(X: Any) -> float:
    if sparse.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        return float(np.mean(np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2))
    return float(np.var(X, axis=0).mean())
