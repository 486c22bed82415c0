"""The collapsed Gibbs sampler: against all partitions, the restaurant, and calibration."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from corollary.mixture import (
    NormalInverseWishart,
    partition_log_probability,
    tables_distribution,
)
from corollary.mixture.process._sampler import Chain
from tests.mixture.partitions import in_order, partitions

PRIOR = NormalInverseWishart([0.3, -0.2], 0.5, 4.5, [[1.0, 0.3], [0.3, 0.8]])


def sampled(X, law, alpha, sweeps, moves, seed=0):
    """Return the partitions that a chain visits."""
    chain = Chain(np.asarray(X, dtype=float), law, alpha, moves)
    state = chain.init((np.zeros(len(X), dtype=np.int64), seed))
    visited = []
    for _ in range(sweeps):
        state, _ = chain.step(state)
        visited.append(state)
    return visited


def posterior(X, law, alpha):
    """Return the probability of every partition, by enumeration."""
    logs = {}
    for labels in partitions(len(X)):
        blocks = np.array(labels)
        value = partition_log_probability(np.bincount(blocks), alpha)
        logs[labels] = value + sum(
            law.log_evidence(X[blocks == k]) for k in range(blocks.max() + 1)
        )
    total = np.logaddexp.reduce(list(logs.values()))
    return logs, {labels: np.exp(value - total) for labels, value in logs.items()}


# Draws of a chain depend on each other; every fifth sweep of these chains hardly does.
@pytest.mark.parametrize("moves", [0, 3])
def test_partitions_are_visited_as_often_as_their_posterior_says(moves):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4, 2)) + [[-1.0, 0], [-1.0, 0], [1.0, 0], [1.0, 0]]
    logs, law = posterior(X, PRIOR, 0.8)
    visited = sampled(X, PRIOR, 0.8, 10_000, moves)[::5]
    counts = Counter(in_order(state.labels.tolist()) for state in visited)
    names = sorted(law)
    expected = np.array([law[name] for name in names]) * len(visited)
    observed = np.array([counts[name] for name in names])
    assert stats.chisquare(observed, expected).pvalue > 1e-4
    for state in visited[:50]:
        name = in_order(state.labels.tolist())
        assert state.log_joint == pytest.approx(logs[name], rel=1e-9)
        assert state.n_clusters == max(name) + 1


def test_rows_that_say_nothing_leave_the_restaurant():
    # Mean and covariance are known, so that no row says anything about another.
    law = NormalInverseWishart([0.0], 1e9, 1e9, [[1e9]])
    X = np.zeros((12, 1))
    visited = sampled(X, law, 1.5, 8_000, 2)[::4]
    counts = np.bincount([state.n_clusters for state in visited], minlength=13)
    expected = tables_distribution(12, 1.5) * len(visited)
    kept = expected > 5
    observed = np.append(counts[kept], counts[~kept].sum())
    right = np.append(expected[kept], expected[~kept].sum())
    assert stats.chisquare(observed, right).pvalue > 1e-4


def test_the_sampler_is_calibrated():
    # Draw partition and parameters from the prior, rows given them, and chains given these: the
    # rank of the truth among draws is uniform.
    law = NormalInverseWishart([0.0], 0.2, 5.0, [[3.0]])
    random, ranks = np.random.RandomState(2), []
    n, alpha, draws = 8, 1.2, 19
    from corollary.mixture import chinese_restaurant

    for _ in range(160):
        z = chinese_restaurant(n, alpha, random)
        clusters = [law.sample(random) for _ in range(z.max() + 1)]
        X = np.array([[random.normal(clusters[k][0][0], np.sqrt(clusters[k][1][0, 0]))] for k in z])
        visited = sampled(X, law, alpha, 20 + 6 * draws, 2, int(random.randint(2**31)))[20::6]
        chain = Chain(X, law, alpha, 0)
        truth = chain.init((z, 0))
        for statistic in (0, 1):
            values = np.array([(s.log_joint, s.n_clusters)[statistic] for s in visited], float)
            values += 1e-7 * random.uniform(size=len(values))  # breaks ties
            value = (truth.log_joint, truth.n_clusters)[statistic] + 1e-7 * random.uniform()
            ranks.append((values < value).sum())
    for statistic in (0, 1):
        counts = np.bincount(ranks[statistic::2], minlength=draws + 1).reshape(5, 4).sum(axis=1)
        assert stats.chisquare(counts).pvalue > 1e-4


def test_many_clusters_find_room():
    X = 1000.0 * np.arange(60)[:, None]
    law = NormalInverseWishart([0.0], 1e-6, 1e6, [[1e6]])  # clusters of spread one
    assert sampled(X, law, 50.0, 3, 1)[-1].n_clusters == 60


def test_a_chain_goes_on_from_its_state():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2)) * 2
    chain = Chain(X, PRIOR, 1.0, 2)
    state = chain.init((np.arange(30), 5))
    whole = []
    for _ in range(12):
        state, _ = chain.step(state)
        whole.append(state)
    other = Chain(X, PRIOR, 1.0, 2)
    state = whole[4]
    for step in range(5, 12):
        state, _ = other.step(state)
        np.testing.assert_array_equal(state.labels, whole[step].labels)
        assert state.log_joint == whole[step].log_joint
