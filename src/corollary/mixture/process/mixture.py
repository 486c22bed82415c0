"""The Dirichlet-process mixture as an estimator."""

from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import fit_context
from corollary.core.estimator import (
    ArrayLike,
    Count,
    CountFromZero,
    Density,
    Positive,
    RandomSeed,
    check_squares,
    fitted,
)
from corollary.core.parallel import ordered_map
from corollary.core.schema import Array, Number
from corollary.mixture.bayesian.restaurant import chinese_restaurant
from corollary.mixture.process._predictive import clusters_of, log_mixture
from corollary.mixture.process._sampler import Chain, Draws, split_r_hat
from corollary.mixture.process.normal_inverse_wishart import NormalInverseWishart
from corollary.mixture.process.partitions import summarise_partitions


class DirichletProcessMixture(Density):
    r"""A Gaussian mixture with a law of the number of clusters, by collapsed Gibbs sampling.

    Weights follow a Dirichlet process, means and covariances of clusters a normal-inverse-Wishart
    law. All of them are integrated out; what is sampled is the partition of the rows. A sweep moves
    each row in turn, to a cluster with a probability proportional to its size and to the density of
    the row given its members, or to a new one; proposals to split and merge clusters follow.

    Parameters
    ----------
    concentration : float, default=1.0
        Concentration :math:`\alpha` of the process: before rows are seen,
        :func:`expected_tables` clusters are expected.
    mean_prior : array-like of shape (n_features,) or None, default=None
        Expectation of the mean of a cluster; None for the mean of the rows.
    mean_precision_prior : float, default=0.1
        How many rows that expectation is worth.
    degrees_of_freedom_prior : float or None, default=None
        Of the law of covariances, above n_features + 1; None for n_features + 2.
    covariance_prior : array-like of shape (n_features, n_features) or None, default=None
        Expectation of the covariance of a cluster; None for a tenth of the variance of each column.
    burn_in : int, default=200
        Sweeps of each chain that are not kept.
    n_draws : int, default=200
        Partitions that are kept of each chain.
    thin : int, default=1
        Sweeps for each of them.
    n_chains : int, default=2
        Chains; the first begins with one cluster, the others with a draw of the restaurant process.
    split_merge : int, default=5
        Proposals to split or merge after each sweep.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.
    warm_start : bool, default=False
        Whether ``fit``, to the same rows, goes on with the chains and adds to their draws.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The partition that stands for the draws, see :func:`summarise_partitions`; clusters are
        numbered in the order of their first row.
    expected_loss_ : float
        Share of pairs of rows about which it and a draw disagree, on average.
    partitions_ : ndarray of shape (n_chains, n_kept, n_samples)
        The draws.
    n_clusters_trace_ : ndarray of shape (n_chains, n_sweeps)
        Number of clusters after every sweep.
    log_joint_trace_ : ndarray of shape (n_chains, n_sweeps)
        Log density of rows and partition after every sweep.
    r_hat_ : float
        Potential scale reduction of the kept part of the latter; near 1 if the chains agree, about
        1.05 or more if they have not mixed. NaN with fewer than four kept sweeps.
    mean_prior_ : ndarray of shape (n_features,)
        Expectation of means that was used.
    scale_prior_ : ndarray of shape (n_features, n_features)
        Scale matrix of the law of covariances that was used.
    degrees_of_freedom_prior_ : float
        Its degrees of freedom.
    streams_ : ndarray of shape (n_chains,)
        Where the random numbers of each chain go on.
    sizes_, locations_, factors_ : ndarray
        Size, posterior mean and Cholesky factor of the posterior scale of the clusters of all kept
        draws, by which new rows are judged.

    See Also
    --------
    GaussianMixture : With a given number of components.

    References
    ----------
    Neal (2000), Markov chain sampling methods for Dirichlet process mixture models, algorithm 3.
    Dahl (2003), An improved merge-split sampler for conjugate Dirichlet process mixture models.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import DirichletProcessMixture
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 1)) + np.repeat([[-9.0], [0.0], [9.0]], 30, axis=0)
    >>> model = DirichletProcessMixture(0.1, burn_in=50, n_draws=50, random_state=0).fit(X)
    >>> len(np.unique(model.labels_)), int(model.n_clusters_distribution().argmax())
    (3, 3)
    """

    concentration: Positive = 1.0
    _: KW_ONLY
    mean_prior: ArrayLike | None = None
    mean_precision_prior: Positive = 0.1
    degrees_of_freedom_prior: Positive | None = None
    covariance_prior: ArrayLike | None = None
    burn_in: CountFromZero = 200
    n_draws: Count = 200
    thin: Count = 1
    n_chains: Count = 2
    split_merge: CountFromZero = 5
    random_state: RandomSeed = None
    warm_start: bool = False

    labels_: np.ndarray = fitted(Array("i", "n", low=0, below="n"))
    expected_loss_: float = fitted(Number(0, 1))
    partitions_: np.ndarray = fitted(Array("i", "m", "*", "n", low=0, below="n"))
    n_clusters_trace_: np.ndarray = fitted(Array("i", "m", "s", low=1))
    log_joint_trace_: np.ndarray = fitted(Array("f", "m", "s"))
    r_hat_: float = fitted(Number(0, nan=True))
    mean_prior_: np.ndarray = fitted(Array("f", "d"))
    scale_prior_: np.ndarray = fitted(Array("f", "d", "d"))
    degrees_of_freedom_prior_: float = fitted(Number(0))
    streams_: np.ndarray = fitted(Array("u", "m"))
    sizes_: np.ndarray = fitted(Array("i", "c", low=1))
    locations_: np.ndarray = fitted(Array("f", "c", "d"))
    factors_: np.ndarray = fitted(Array("f", "c", "d", "d"))

    _training_rows: ClassVar[dict[str, Any]] = {"order": "C"}  # one order of sums for all memory

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Sample partitions of the rows."""
        goes_on = self.warm_start and hasattr(self, "partitions_")
        X, _, _ = self._check(X, None, None)
        check_squares(self, X)
        if goes_on and len(X) != self.partitions_.shape[2]:
            raise ValueError(
                f"DirichletProcessMixture goes on with chains over {self.partitions_.shape[2]} "
                f"rows. Got {len(X)} rows; set warm_start=False to begin anew."
            )
        self._fit(X, goes_on)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Sample partitions of the rows X, and return ``labels_``, which counts all draws.

        See :class:`DirichletProcessMixture`; :meth:`predict` asks for each row by itself which
        cluster of that partition it fits best.
        """
        return self.fit(X).labels_

    def _fit(self, X: np.ndarray, goes_on: bool) -> None:
        law = self._law(X)
        self.mean_prior_, self.scale_prior_ = law.mean, law.scale
        self.degrees_of_freedom_prior_ = float(law.degrees_of_freedom)
        starts = self._starts(len(X), goes_on)

        def sample(start: tuple[np.ndarray, int]) -> Draws:
            chain = Chain(X, law, self.concentration, self.split_merge)
            return chain.sample(start, 0 if goes_on else self.burn_in, self.n_draws, self.thin)

        chains = list(ordered_map(sample, starts))
        kept = np.stack([chain.partitions for chain in chains])
        counts = np.stack([chain.n_clusters for chain in chains])
        joints = np.stack([chain.log_joint for chain in chains])
        if goes_on:
            kept = np.concatenate([self.partitions_, kept], axis=1)
            counts = np.concatenate([self.n_clusters_trace_, counts], axis=1)
            joints = np.concatenate([self.log_joint_trace_, joints], axis=1)
        self.partitions_, self.n_clusters_trace_, self.log_joint_trace_ = kept, counts, joints
        self.streams_ = np.array([chain.state.stream[0] for chain in chains], dtype=np.uint64)
        self.r_hat_ = split_r_hat(joints[:, self.burn_in :])
        summary = summarise_partitions(kept.reshape(-1, len(X)))
        self.labels_, self.expected_loss_ = summary.labels, summary.expected_loss
        partitions = [*kept.reshape(-1, len(X)), self.labels_]
        self.sizes_, self.locations_, self.factors_ = clusters_of(X, partitions, law)

    def n_clusters_distribution(self) -> np.ndarray:
        """Return the posterior probabilities of 0, 1, ... clusters, among the kept draws."""
        check_is_fitted(self)
        counts = self.partitions_.max(axis=2).ravel() + 1
        return np.bincount(counts) / len(counts)

    def co_clustering(self) -> np.ndarray:
        """Return the share of the kept draws in which two rows share a cluster, for all pairs."""
        check_is_fitted(self)
        draws = self.partitions_.reshape(-1, self.partitions_.shape[2])
        shared = np.zeros((draws.shape[1], draws.shape[1]))
        for labels in draws:
            shared += labels[:, None] == labels
        return shared / len(draws)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable cluster of ``labels_`` for every row of X.

        See :class:`DirichletProcessMixture`.
        """
        X = self._new(X)
        k = int(self.labels_.max()) + 1  # these clusters are the last ones kept
        places = range(len(self.sizes_) - k, len(self.sizes_))
        scores = [self._log_mixture(X, [place], [0.0]) for place in places]
        return (np.column_stack(scores) + np.log(self.sizes_[-k:])).argmax(axis=1)

    def _log_density(self, X: np.ndarray) -> np.ndarray:
        draws = self.partitions_.shape[0] * self.partitions_.shape[1]
        n, k = self.partitions_.shape[2], int(self.labels_.max()) + 1
        places = np.arange(len(self.sizes_) - k)
        shares = np.log(self.sizes_[:-k]) - np.log(draws * (n + self.concentration))
        new = np.log(self.concentration / (n + self.concentration))
        return np.logaddexp(
            self._log_mixture(X, places, shares), new + self._prior.log_predictive(X)
        )

    def _log_mixture(self, X: np.ndarray, places: Any, log_shares: Any) -> np.ndarray:
        """Return the log density of a mixture of the predictive laws of kept clusters."""
        clusters = self.sizes_[places], self.locations_[places], self.factors_[places]
        return log_mixture(X, clusters, log_shares, self._prior, self.partitions_.shape[2])

    def _fits_together(self) -> str | None:
        if self.sizes_.max() > len(self.labels_) or self.labels_.max() >= len(self.sizes_):
            return "clusters have more rows, or labels more clusters, than there are"
        if (self.factors_.diagonal(axis1=1, axis2=2) <= 0).any():
            return "factors of clusters have no positive diagonal"
        return None

    @property
    def _prior(self) -> NormalInverseWishart:
        return NormalInverseWishart(
            self.mean_prior_,
            self.mean_precision_prior,
            self.degrees_of_freedom_prior_,
            self.scale_prior_,
        )

    def _law(self, X: np.ndarray) -> NormalInverseWishart:
        """Return the law of a cluster's parameters."""
        d = X.shape[1]
        mean = X.mean(axis=0) if self.mean_prior is None else np.asarray(self.mean_prior, float)
        dof = d + 2 if self.degrees_of_freedom_prior is None else self.degrees_of_freedom_prior
        if not dof > d + 1:
            raise ValueError(
                f"degrees_of_freedom_prior must be above n_features + 1 = {d + 1}, so that "
                f"covariances have an expectation. Got {dof}."
            )
        if self.covariance_prior is None:
            variances = X.var(axis=0)
            least = 1e-6 * (variances.max() or 1.0)  # for columns that do not vary
            covariance = np.diag(np.maximum(variances, least)) / 10
        else:
            covariance = np.asarray(self.covariance_prior, dtype=float)
        if mean.shape != (d,) or covariance.shape != (d, d):
            raise ValueError(
                f"DirichletProcessMixture needs a mean_prior of {d} numbers and a covariance_prior "
                f"of {d} by {d}. Got shapes {mean.shape} and {covariance.shape}."
            )
        scale = covariance * (dof - d - 1)
        return NormalInverseWishart(mean, self.mean_precision_prior, float(dof), scale)

    def _starts(self, n: int, goes_on: bool) -> list[tuple[np.ndarray, int]]:
        """Return labels and a seed for each chain."""
        if goes_on:
            return [(p[-1], int(s)) for p, s in zip(self.partitions_, self.streams_)]
        random = check_random_state(self.random_state)
        seeds = random.randint(2**63 - 1, size=self.n_chains, dtype=np.int64)
        labels = [np.zeros(n, dtype=np.int64)]
        labels += [
            chinese_restaurant(n, self.concentration, random) for _ in range(self.n_chains - 1)
        ]
        return [(start, int(seed)) for start, seed in zip(labels, seeds)]
