"""Learning a target region: the rule, its special case, and that it is worth it."""

import numpy as np
import pytest

from corollary.active import Box, GrowingPosterior, Prior, TransductiveLearner, UncertaintySampler
from corollary.kernels import RBF, Matern

PRIOR = Prior(Matern(0.4, nu=1.5), noise=0.01)


def dense_information(X, targets, D, noise=0.01):
    """Half the log ratio of variances for every query, by plain inverses."""
    kernel = PRIOR.kernel

    def covariance(P, Q):
        if not len(D):
            return kernel.gram(P, Q)
        inner = np.linalg.inv(kernel.gram(D) + noise * np.eye(len(D)))
        return kernel.gram(P, Q) - kernel.gram(P, D) @ inner @ kernel.gram(D, Q)

    variance = np.array([covariance(x[None], x[None])[0, 0] for x in X])
    K, k = covariance(targets, targets), covariance(targets, X)
    left = variance - np.einsum("ij,ij->j", k, np.linalg.solve(K, k))
    return 0.5 * np.log((variance + noise) / (left + noise))


def test_every_query_has_the_largest_information(seed):
    rng = np.random.default_rng(seed)
    pool, targets = rng.uniform(size=(30, 2)), 1.0 + rng.uniform(size=(5, 2))
    learner = TransductiveLearner(pool, PRIOR, targets=targets)
    for _ in range(6):
        expected = dense_information(pool, targets, learner.X_)
        query = learner.ask()
        assert expected[query.indices[0]] == pytest.approx(expected.max(), abs=1e-9)
        learner.tell(query, rng.normal(size=1))


def test_queries_inside_the_target_region_are_uncertainty_sampling(seed):
    """With S in A the general rule and the largest variance choose the same points."""
    rng = np.random.default_rng(seed)
    pool = rng.uniform(size=(40, 2))
    targets = np.concatenate([pool, rng.uniform(size=(10, 2))])[::-1]
    itl, plain = TransductiveLearner(pool, PRIOR, targets=targets), UncertaintySampler(pool, PRIOR)
    naive = GrowingPosterior(PRIOR, 2)
    for _ in range(12):
        query, other = itl.ask(), plain.ask()
        assert query.indices[0] == other.indices[0] == np.argmax(naive.predict(pool).std)
        value = rng.normal(size=1)
        for learner in (itl, plain):
            learner.tell(query, value)
        naive.observe(query.X, value)


def test_target_variance_falls_faster_than_with_random_queries(seed):
    rng = np.random.default_rng(seed)
    wins = 0
    for _ in range(20):
        pool, targets = rng.uniform(size=(60, 2)), [0.8, 0.0] + 0.4 * rng.uniform(size=(10, 2))
        learner = TransductiveLearner(pool, PRIOR, targets=targets)
        for _ in range(8):
            learner.tell(learner.ask(), [0.0])
        chance = GrowingPosterior(PRIOR, 2)
        chance.observe(pool[rng.choice(60, size=8)], np.zeros(8))
        ours, theirs = (p.predict(targets).std ** 2 for p in (learner.posterior_, chance))
        wins += ours.mean() < theirs.mean()
    assert wins >= 19  # a fair coin does this once in 50,000 runs


def test_a_batch_is_chosen_as_if_it_had_been_answered(seed):
    rng = np.random.default_rng(seed)
    pool, targets = rng.uniform(size=(50, 2)), rng.uniform(size=(6, 2))
    batch = TransductiveLearner(pool, PRIOR, targets=targets).ask(5).indices
    one_by_one = TransductiveLearner(pool, PRIOR, targets=targets)
    for index in batch:
        query = one_by_one.ask()
        assert query.indices[0] == index
        one_by_one.tell(query, rng.normal(size=1))
    pending = TransductiveLearner(pool, PRIOR, targets=targets)
    assert [pending.ask().indices[0] for _ in range(5)] == batch.tolist()


def test_in_a_box_the_search_finds_what_a_fine_grid_finds(seed):
    prior = Prior(RBF(0.3), 0.01)
    learner = TransductiveLearner(
        Box([(0.0, 1.0), (0.0, 1.0)]), prior, targets=[[1.2, 0.5], [0.3, 0.2]], random_state=seed
    )
    learner.tell([[0.9, 0.5]], [0.0])
    query = learner.ask().X
    fine = np.stack(np.meshgrid(*[np.linspace(0, 1, 101)] * 2), axis=-1).reshape(-1, 2)
    pool = TransductiveLearner(fine, prior, targets=[[1.2, 0.5], [0.3, 0.2]])
    pool.tell([[0.9, 0.5]], [0.0])
    assert np.abs(query - pool.ask().X).max() < 0.02


def test_box_batches_spread_out(seed):
    learner = UncertaintySampler(Box([(0.0, 1.0)]), Prior(RBF(0.1), 0.01), random_state=seed)
    points = np.sort(learner.ask(5).X[:, 0])
    assert np.diff(points).min() > 0.1
    few = UncertaintySampler(Box([(0.0, 1.0)]), PRIOR, n_candidates=7)
    assert (learner.n_candidates, few.n_candidates) == (1024, 7)


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match="'targets' of TransductiveLearner must not be empty"):
        TransductiveLearner([[0.0]], PRIOR, targets=np.empty((0, 1)))
    with pytest.raises(ValueError, match="targets needs rows of 1 features"):
        TransductiveLearner([[0.0]], PRIOR, targets=[[0.0, 1.0]])
    with pytest.raises(ValueError, match="targets needs rows of 2 features"):
        TransductiveLearner(Box([(0, 1), (0, 1)]), PRIOR, targets=[[0.0]])
    with pytest.raises(ValueError, match="needs a Prior"):
        UncertaintySampler([[0.0]], RBF())
    with pytest.raises(ValueError, match="'n_candidates' parameter of UncertaintySampler"):
        UncertaintySampler([[0.0]], PRIOR, n_candidates=0)
