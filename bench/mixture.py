"""Gaussian mixtures by equal steps of EM, and sweeps of a Dirichlet-process mixture.

scikit-learn's mixture and ours start with the same components and take the same number of steps;
quality is the log-likelihood that they reach. Sweeps are compared with the same sampler in plain
NumPy, which computes the predictive law of every cluster from its sums; quality is the mean log
joint density of the last sweeps, which is the same up to chance. scikit-learn has a variational
approximation instead of a sampler; there quality is the log density of 2,000 further rows.
"""

import math
import warnings
from typing import Any

import numpy as np

from bench.harness import Contest, Peer, Row, run

ROWS, COLUMNS, COMPONENTS, STEPS = 100_000, 16, 8, 10


def make() -> np.ndarray:
    random = np.random.default_rng(0)
    centres = 2 * random.normal(size=(COMPONENTS, COLUMNS))
    z = random.integers(COMPONENTS, size=ROWS)
    A = random.normal(size=(COMPONENTS, COLUMNS, COLUMNS)) / 4
    return centres[z] + np.einsum("nij,nj->ni", A[z], random.normal(size=(ROWS, COLUMNS)))


def settings(X: np.ndarray) -> dict[str, Any]:
    return {
        "n_components": COMPONENTS,
        "max_iter": STEPS,
        "tol": 0,
        "weights_init": np.full(COMPONENTS, 1 / COMPONENTS),
        "means_init": X[:COMPONENTS],
        "precisions_init": np.tile(np.eye(COLUMNS), (COMPONENTS, 1, 1)),
        "init_params": "random_from_data",
        "random_state": 0,
    }


def ours(X: np.ndarray) -> Any:
    from corollary.mixture import GaussianMixture

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GaussianMixture(**settings(X)).fit(X)


def with_scikit_learn(X: np.ndarray) -> Any:
    from sklearn.mixture import GaussianMixture

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GaussianMixture(**settings(X)).fit(X)


SWEEPS, CONCENTRATION = 4, 1.0


def make_clusters() -> np.ndarray:
    random = np.random.default_rng(1)
    centres = 6 * random.normal(size=(10, 4))
    return centres[random.integers(10, size=1000)] + random.normal(size=(1000, 4))


def prior(X: np.ndarray) -> Any:
    from corollary.mixture import NormalInverseWishart

    return NormalInverseWishart(X.mean(axis=0), 0.1, 6.0, np.diag(X.var(axis=0)) / 10)


def sweeps(X: np.ndarray) -> float:
    from corollary.mixture.process._sampler import Chain

    chain = Chain(X, prior(X), CONCENTRATION, 0)
    state = chain.init((np.arange(len(X)) % 10, 0))
    values = []
    for _ in range(SWEEPS):
        state, _ = chain.step(state)
        values.append(state.log_joint)
    return float(np.mean(values[-2:]))


def sweeps_in_numpy(X: np.ndarray) -> float:
    """Algorithm 3 of Neal (2000) with arrays over clusters."""
    from scipy.special import gammaln

    law, random, (n, d) = prior(X), np.random.default_rng(0), X.shape
    labels = np.arange(n) % 10
    counts = np.bincount(labels).astype(float)
    sums = np.array([X[labels == k].sum(axis=0) for k in range(len(counts))])
    squares = np.array([X[labels == k].T @ X[labels == k] for k in range(len(counts))])
    kappa0, nu0, m0 = law.mean_precision, law.degrees_of_freedom, law.mean
    fresh = law.log_predictive(X)

    def predictive(x: np.ndarray) -> np.ndarray:
        kappa, nu = kappa0 + counts, nu0 + counts
        means = (kappa0 * m0 + sums) / kappa[:, None]
        scales = law.scale + squares + kappa0 * np.outer(m0, m0)
        scales = scales - kappa[:, None, None] * means[:, :, None] * means[:, None]
        gaps = x - means
        lengths = np.einsum("ki,ki->k", gaps, np.linalg.solve(scales, gaps[:, :, None])[:, :, 0])
        height = gammaln((nu + 1) / 2) - gammaln((nu + 1 - d) / 2)
        height -= 0.5 * d * np.log(math.pi * (kappa + 1) / kappa)
        height -= 0.5 * np.linalg.slogdet(scales)[1]
        return height - (nu + 1) / 2 * np.log1p(lengths * kappa / (kappa + 1))

    values = []
    for _ in range(SWEEPS):
        for i in random.permutation(n):
            k, x = labels[i], X[i]
            counts[k] -= 1
            sums[k] -= x
            squares[k] -= np.outer(x, x)
            if counts[k] == 0:
                counts, sums, squares = (np.delete(a, k, axis=0) for a in (counts, sums, squares))
                labels[labels > k] -= 1
            scores = np.append(np.log(counts) + predictive(x), math.log(CONCENTRATION) + fresh[i])
            weights = np.exp(scores - scores.max())
            k = int(random.choice(len(weights), p=weights / weights.sum()))
            if k == len(counts):
                counts = np.append(counts, 0.0)
                sums = np.concatenate([sums, np.zeros((1, d))])
                squares = np.concatenate([squares, np.zeros((1, d, d))])
            labels[i] = k
            counts[k] += 1
            sums[k] += x
            squares[k] += np.outer(x, x)
        values.append(joint(X, law, labels))
    return float(np.mean(values[-2:]))


def joint(X: np.ndarray, law: Any, labels: np.ndarray) -> float:
    from corollary.mixture import partition_log_probability

    blocks = [X[labels == k] for k in range(labels.max() + 1)]
    value = partition_log_probability([len(block) for block in blocks], CONCENTRATION)
    return value + sum(law.log_evidence(block) for block in blocks)


def make_halves() -> np.ndarray:
    random = np.random.default_rng(0)
    centres = 4 * random.normal(size=(6, 4))
    return centres[random.integers(6, size=3000)] + random.normal(size=(3000, 4))


def ten_draws(X: np.ndarray) -> Any:
    from corollary.mixture import DirichletProcessMixture

    model = DirichletProcessMixture(burn_in=10, n_draws=10, n_chains=1, random_state=0)
    return model.fit(X[:1000])


def variational(X: np.ndarray) -> Any:
    from sklearn.mixture import BayesianGaussianMixture

    return BayesianGaussianMixture(n_components=20, random_state=0).fit(X[:1000])


CONTESTS = [
    Contest(
        name=f"Gaussian mixture, {ROWS:,} x {COLUMNS}, {COMPONENTS} components, {STEPS} steps",
        data=make,
        ours=ours,
        peers=[Peer("scikit-learn", with_scikit_learn, goal=8.0)],
        quality=lambda X, model: -float(model.lower_bound_),
        tolerance=1e-9,
        rounds=3,
    ),
    Contest(
        name=f"Dirichlet-process mixture, 1,000 x 4, {SWEEPS} sweeps",
        data=make_clusters,
        ours=sweeps,
        peers=[Peer("plain NumPy", sweeps_in_numpy, goal=50.0)],
        quality=lambda X, value: -value,
        tolerance=0.05,
        rounds=3,
        cold=False,
    ),
    Contest(
        name="Dirichlet-process mixture, 1,000 x 4, density of further rows",
        data=make_halves,
        ours=ten_draws,
        peers=[Peer("scikit-learn", variational, goal=1.0)],
        quality=lambda X, model: -model.score(X[1000:]),
        tolerance=0.0,
        rounds=3,
        cold=False,
    ),
]


def rows() -> list[Row]:
    return [row for each in CONTESTS for row in run(each)]
