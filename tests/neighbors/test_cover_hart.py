"""The Cover-Hart chain, consistency and the curse, on laws that are known."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from corollary.datasets import LogisticWorld
from corollary.neighbors import (
    KNeighborsClassifier,
    ball_volume,
    ball_volume_ratio,
    consistent_k,
    cover_hart_chain,
    knn_limit_error,
    rows_to_cover,
)


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_random_laws_satisfy_the_chain(classes, seed):
    random = np.random.default_rng(seed)
    p = np.concatenate([random.dirichlet(np.full(classes, a), size=2000) for a in (0.1, 1.0, 10.0)])
    chain = cover_hart_chain(p)
    assert chain.bayes == pytest.approx(1 - p.max(axis=1))
    pairs = sum(p[:, a] * p[:, b] for a, b in itertools.permutations(range(classes), 2))
    assert chain.one_neighbor == pytest.approx(pairs)
    for smaller, larger in itertools.pairwise(chain):
        assert (smaller <= larger + 1e-12).all()


def test_the_chain_is_tight_where_it_should_be():
    # Equal other classes: one neighbour reaches the second bound; no doubt: all are zero.
    chain = cover_hart_chain([0.4, 0.2, 0.2, 0.2])
    assert chain.one_neighbor == pytest.approx(float(chain.cover_hart))
    assert all(x == 0 for x in cover_hart_chain([1.0, 0.0]))
    assert all(x == 0 for x in cover_hart_chain([1.0]))
    two = cover_hart_chain([0.999, 0.001])
    assert float(two.one_neighbor / two.bayes) > 1.99
    assert cover_hart_chain([0.5, 0.5]).one_neighbor == 0.5


@pytest.mark.parametrize("k", [1, 2, 3, 9, 10])
def test_limit_error_of_k_neighbours_by_enumeration(k):
    for eta in (0.0, 0.2, 0.5, 0.9, 1.0):
        error = 0.0
        for ones in range(k + 1):
            vote = 1 if ones > k - ones else 0
            error += binom.pmf(ones, k, eta) * ((1 - eta) if vote == 1 else eta)
        assert knn_limit_error(eta, k) == pytest.approx(error)


def test_more_neighbours_help_in_the_limit():
    eta = np.linspace(0, 1, 101)
    errors = [knn_limit_error(eta, k) for k in (1, 3, 5, 21, 201)]
    for more, fewer in zip(errors[1:], errors[:-1]):
        assert (more <= fewer + 1e-12).all()
    assert errors[0] == pytest.approx(2 * eta * (1 - eta))
    assert (errors[-1] >= np.minimum(eta, 1 - eta) - 1e-12).all()
    assert np.abs(errors[-1] - np.minimum(eta, 1 - eta)).max() < 0.03


def error_of(world, k, rows, tests, seed):
    X, y = world.sample(rows, seed)
    X_new, y_new = world.sample(tests, seed + 1)
    return float((KNeighborsClassifier(k).fit(X, y).predict(X_new) != y_new).mean())


@pytest.mark.parametrize("k", [1, 5])
def test_error_tends_to_the_limit_between_bayes_and_twice_bayes(k, seed):
    world = LogisticWorld(np.array([1.5, 0.0]))
    X, _ = world.sample(40_000, seed + 2)
    eta = world.posterior(X)
    limit = float(np.mean(knn_limit_error(eta, k)))
    chain = cover_hart_chain(np.c_[eta, 1 - eta])
    found = np.mean([error_of(world, k, 10_000, 10_000, seed + 10 * r) for r in range(3)])
    noise = 5 * math.sqrt(0.25 / 30_000) + 5 * math.sqrt(0.25 / 60_000)
    assert abs(found - limit) < noise
    assert world.bayes_risk - noise < found < float(chain.twice.mean()) + noise
    if k == 1:
        assert found < float(chain.cover_hart.mean()) + noise


def test_the_consistent_schedule_approaches_the_bayes_error_and_one_neighbour_does_not(seed):
    world = LogisticWorld(np.array([2.0, 0.0]))
    sizes = (100, 10_000)
    excess = []
    for m in sizes:
        found = [error_of(world, "consistent", m, 10_000, seed + r) for r in range(2)]
        excess.append(np.mean(found) - world.bayes_risk)
    noise = 5 * math.sqrt(0.25 / 20_000)
    assert excess[-1] < 0.006 + noise
    assert excess[-1] < excess[0]
    one = np.mean([error_of(world, 1, 10_000, 10_000, seed + r) for r in range(2)])
    assert one - world.bayes_risk > 0.05


def test_the_schedule_grows_but_slower_than_the_rows():
    sizes = [10**e for e in range(1, 10)]
    for power in (0.2, 0.5, 0.8):
        ks = [consistent_k(m, power=power) for m in sizes]
        assert all(later > earlier for earlier, later in itertools.pairwise(ks))
        shares = [k / m for k, m in zip(ks, sizes)]
        assert all(later < earlier for earlier, later in itertools.pairwise(shares))
    assert consistent_k(1) == 1
    assert consistent_k(1_000_000, power=1 / 3) == 100
    assert consistent_k(26) == 6
    with pytest.raises(ValueError, match="'power' parameter of consistent_k"):
        consistent_k(10, power=1.0)


def test_ball_volumes():
    assert ball_volume([1, 2, 3]) == pytest.approx([2, np.pi, 4 / 3 * np.pi])
    assert ball_volume(4, 0.5) == pytest.approx(np.pi**2 / 2 / 16)
    assert ball_volume(3, 0.0) == 0.0
    # V_d = V_{d-2} 2 pi / d
    assert ball_volume(20) == pytest.approx(ball_volume(18) * 2 * np.pi / 20)


@pytest.mark.parametrize("d", [1, 2, 5, 8])
def test_the_volume_ratio_is_the_share_of_points(d, seed):
    random = np.random.default_rng(seed)
    points = random.normal(size=(100_000, d))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    points *= random.uniform(size=(100_000, 1)) ** (1 / d)
    inside = (np.linalg.norm(points, axis=1) < 0.5).mean()
    share = ball_volume_ratio(d)
    assert share == pytest.approx(ball_volume(d, 0.5) / ball_volume(d))
    assert abs(inside - share) < 6 * math.sqrt(share / 100_000)


def test_covering_takes_exponentially_many_rows(seed):
    assert rows_to_cover(7) == 128
    assert rows_to_cover(3, 0.1) == 1000
    assert rows_to_cover(5000) == np.inf
    # Fewer rows than that leave part of the ball uncovered, whatever the rows are.
    random = np.random.default_rng(seed)
    d, rows = 6, 60
    points = random.normal(size=(20_000, d))
    points *= random.uniform(size=(20_000, 1)) ** (1 / d) / np.linalg.norm(points, axis=1)[:, None]
    centres = points[:rows]
    nearest = np.sqrt(((points[:, None] - centres[None]) ** 2).sum(axis=2)).min(axis=1)
    assert (nearest < 0.5).mean() <= rows * ball_volume_ratio(d) + 6 * math.sqrt(0.25 / 20_000)


def test_neighbours_suffer_from_useless_columns(seed):
    random = np.random.default_rng(seed)
    errors = []
    for d in (1, 10, 100):
        X = random.normal(size=(1500, d))
        y = X[:, 0] > 0
        model = KNeighborsClassifier(15).fit(X[:1000], y[:1000])
        errors.append(1 - model.score(X[1000:], y[1000:]))
    assert errors[0] < 0.05 < errors[1] < errors[2]


def test_errors_say_what_to_repair():
    with pytest.raises(ValueError, match="sum to 1 over the classes"):
        cover_hart_chain([0.5, 0.4])
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\]. Got 1.5"):
        knn_limit_error(1.5, 3)
    with pytest.raises(ValueError, match="'dimension' parameter of ball_volume"):
        ball_volume(0)
    with pytest.raises(ValueError, match="whole numbers"):
        ball_volume_ratio([1.5])
    with pytest.raises(ValueError, match="'radius' parameter of rows_to_cover"):
        rows_to_cover(3, 1.0)
