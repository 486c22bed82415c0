"""Chains of the collapsed Gibbs sampler as iterations of sweeps, and whether they agree."""

from typing import NamedTuple

import numpy as np

from corollary.mixture.process.normal_inverse_wishart import NormalInverseWishart
from corollary.optimize import Info


class Prior(NamedTuple):
    """The law of a cluster's parameters, as loops read it."""

    mean: np.ndarray
    factor: np.ndarray
    log_det: float
    kappa: float
    dof: float

    @classmethod
    def of(cls, law: NormalInverseWishart) -> "Prior":
        """Factorise the scale matrix."""
        factor = np.linalg.cholesky(law.scale)
        log_det = float(np.log(factor.diagonal()).sum())
        return cls(
            law.mean, factor, log_det, float(law.mean_precision), float(law.degrees_of_freedom)
        )


class Tables(NamedTuple):
    """What depends on the size of a cluster only, and the density of rows on their own."""

    heights: np.ndarray
    evidences: np.ndarray
    log_gammas: np.ndarray
    fresh: np.ndarray
    log_alpha: float


class Clusters(NamedTuple):
    """Room for clusters, see ``_loops/gibbs.py``."""

    counts: np.ndarray
    means: np.ndarray
    factors: np.ndarray
    log_dets: np.ndarray
    active: np.ndarray
    place: np.ndarray
    size: np.ndarray

    @classmethod
    def room(cls, capacity: int, d: int) -> "Clusters":
        """Return room for a number of clusters."""
        return cls(
            np.zeros(capacity, dtype=np.int64),
            np.zeros((capacity, d)),
            np.zeros((capacity, d, d)),
            np.zeros(capacity),
            np.arange(capacity),
            np.arange(capacity),
            np.zeros(1, dtype=np.int64),
        )


def predictive_heights(prior: Prior, n: int) -> np.ndarray:
    """Return the log of the largest predictive density, times the scale, of clusters of 0 to n."""
    from scipy.special import gammaln

    d, sizes = len(prior.mean), np.arange(n + 1)
    nu, kappa = prior.dof + sizes, prior.kappa + sizes
    heights = gammaln((nu + 1) / 2) - gammaln((nu + 1 - d) / 2)
    return heights - 0.5 * d * np.log(np.pi * (kappa + 1) / kappa)


def _evidences(prior: Prior, n: int) -> np.ndarray:
    """Return the log evidence of clusters of 0 to n rows without the determinant of their scale."""
    from scipy.special import gammaln

    d, sizes = len(prior.mean), np.arange(n + 1)
    gammas = gammaln((prior.dof + sizes - np.arange(d)[:, None]) / 2).sum(axis=0)
    shrink = 0.5 * d * np.log(prior.kappa / (prior.kappa + sizes))
    constant = prior.dof * prior.log_det - gammas[0]
    return gammas + shrink + constant - 0.5 * d * sizes * np.log(np.pi)


class ChainState(NamedTuple):
    """Labels and stream of a chain, with the joint density there and the number of clusters.

    Labels and stream are all that the next sweep reads: a chain that goes on from them has the bits
    of one that was never interrupted.
    """

    labels: np.ndarray
    stream: np.ndarray
    log_joint: float
    n_clusters: int


class Draws(NamedTuple):
    """What one chain leaves: its state, the trace of all sweeps, and the kept partitions."""

    state: ChainState
    n_clusters: np.ndarray
    log_joint: np.ndarray
    partitions: np.ndarray


class Chain:
    """Sweeps over rows, with proposals to split and merge after each."""

    def __init__(
        self, X: np.ndarray, law: NormalInverseWishart, concentration: float, moves: int
    ) -> None:
        from scipy.special import gammaln

        n = len(X)
        self.X, self.prior, self.moves = np.ascontiguousarray(X), Prior.of(law), moves
        sizes = np.arange(n + 1)
        self.tables = Tables(
            predictive_heights(self.prior, n),
            _evidences(self.prior, n),
            gammaln(np.maximum(sizes, 1)),
            law.log_predictive(X),
            float(np.log(concentration)),
        )
        self.clusters = Clusters.room(1, X.shape[1])
        # The joint density lacks the constant of the restaurant process.
        self.constant = float(gammaln(concentration) - gammaln(n + concentration))

    def init(self, start: tuple[np.ndarray, int]) -> ChainState:
        """Begin with labels and a seed."""
        labels = np.array(start[0], dtype=np.int64)
        self._rebuild(labels)
        return self._state(labels, np.array([start[1]], dtype=np.uint64))

    def step(self, state: ChainState) -> tuple[ChainState, Info]:
        """Sweep over all rows once, then propose splits and merges."""
        from corollary.mixture._loops.gibbs import split_merge, sweep

        labels, stream = state.labels.copy(), state.stream.copy()
        n, at = len(labels), 0
        order = np.arange(n)
        self._rebuild(labels)
        while at < n:
            scores = np.empty(len(self.clusters.counts) + 1)
            at = sweep(
                self.X, labels, order, at, self.prior, self.tables, self.clusters, scores, stream
            )
            if at < n:  # no room for another cluster
                self._rebuild(labels)
        rows, sides = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        for _ in range(self.moves if n > 1 else 0):
            if self.clusters.size[0] + 3 > len(self.clusters.counts):
                self._rebuild(labels)
            split_merge(self.X, labels, rows, sides, self.prior, self.tables, self.clusters, stream)
        after = self._state(labels, stream)
        return after, Info(value=after.log_joint)

    def sample(self, start: tuple[np.ndarray, int], burn_in: int, n_draws: int, thin: int) -> Draws:
        """Run the chain, and keep every so many-th partition after those that are burnt in."""
        state = self.init(start)
        counts, joints, partitions = [], [], []
        for sweep in range(1, burn_in + n_draws * thin + 1):
            state, _ = self.step(state)
            counts.append(state.n_clusters)
            joints.append(state.log_joint)
            if sweep > burn_in and (sweep - burn_in) % thin == 0:
                partitions.append(state.labels)
        return Draws(state, np.array(counts), np.array(joints), np.array(partitions))

    def _state(self, labels: np.ndarray, stream: np.ndarray) -> ChainState:
        """Return labels and stream with the joint density of the present clusters."""
        from corollary.mixture._loops.gibbs import log_joint

        value = log_joint(self.prior, self.tables, self.clusters) + self.constant
        return ChainState(labels, stream, value, int(self.clusters.size[0]))

    def _rebuild(self, labels: np.ndarray) -> None:
        """Compute clusters from labels alone, with room for more."""
        from corollary.mixture._loops.gibbs import rebuild

        occupied = int(np.count_nonzero(np.bincount(labels)))
        self.clusters = Clusters.room(2 * occupied + 16, self.X.shape[1])
        rebuild(self.X, labels, self.prior, self.clusters)


def split_r_hat(traces: np.ndarray) -> float:
    """Return the potential scale reduction of chains that are cut in halves; NaN for short ones."""
    half = traces.shape[1] // 2
    if half < 2:
        return float("nan")
    halves = np.concatenate([traces[:, :half], traces[:, -half:]])
    within = halves.var(axis=1, ddof=1).mean()
    between = halves.mean(axis=1).var(ddof=1)
    if within == 0:
        return 1.0 if between == 0 else float(np.finfo(float).max)
    return float(np.sqrt((half - 1) / half + between / within))
