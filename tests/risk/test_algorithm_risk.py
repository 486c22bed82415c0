from itertools import product

import numpy as np
import pytest
from sklearn.utils import check_random_state

from corollary.core.simulate import assert_bound_holds
from corollary.core.world import World
from corollary.risk import (
    AlgorithmRisk,
    FiniteWorld,
    algorithm_risk,
    estimate_randomised_risk,
    exact_algorithm_risk,
    minimise_finite,
    minimise_threshold,
    randomised_risk,
)

WORLD = FiniteWorld([[0.3, 0.1], [0.15, 0.1], [0.05, 0.3]], outcomes=[-1, 1])


def learn_threshold(X, y):
    return minimise_threshold(X[:, 0], y)


def test_exact_mean_is_the_sum_over_training_sets():
    found = exact_algorithm_risk(learn_threshold, WORLD, n_samples=2)
    total, mass = 0.0, 0.0
    cells = list(product(range(3), range(2)))
    for one, two in product(cells, repeat=2):
        x = np.array([one[0], two[0]], dtype=float)
        y = np.array([[-1, 1][one[1]], [-1, 1][two[1]]])
        labels = minimise_threshold(x, y).predict(np.arange(3.0))
        risk = sum(WORLD.joint[i, k] for i, k in cells if labels[i] != [-1, 1][k])
        p = WORLD.joint[one] * WORLD.joint[two]
        total, mass = total + p * risk, mass + p
    assert np.isclose(mass, 1)
    assert np.isclose(found.mean, total)
    assert found.standard_error == 0
    assert found.exact


def test_simulation_agrees_with_enumeration(seed):
    exact = exact_algorithm_risk(learn_threshold, WORLD, n_samples=3)
    found = algorithm_risk(learn_threshold, WORLD, n_samples=3, n_repeats=3000, random_state=seed)
    assert abs(found.mean - exact.mean) < 5 * found.standard_error
    for epsilon in (0.25, 0.3, 0.4, 0.5):
        p = exact.tail(epsilon)
        assert abs(found.tail(epsilon) - p) <= 5 * np.sqrt(p * (1 - p) / 3000) + 1e-12


def test_quantiles_and_tails_of_a_small_law():
    risk = AlgorithmRisk(np.array([0.4, 0.1, 0.2]), np.array([0.2, 0.5, 0.3]), exact=True)
    assert [risk.quantile(q) for q in (0.1, 0.5, 0.51, 0.8, 0.81, 1.0)] == [
        0.1,
        0.1,
        0.2,
        0.2,
        0.4,
        0.4,
    ]
    assert risk.tail(0.1) == 0.5
    assert risk.tail(0.4) == 0
    with pytest.raises(ValueError, match=r"'level' parameter of AlgorithmRisk\.quantile"):
        risk.quantile(0)


def test_tail_is_below_the_bound_for_finite_classes(seed):
    # P(R(h_S) > min R + 2 sqrt(log(2 |H| / delta) / (2 n))) <= delta, also for tiny n
    hypotheses = [
        lambda X, t=t, d=d: np.where(d * (X[:, 0] - t) >= 0, 1, -1)
        for t in (-0.5, 0.5, 1.5)
        for d in (-1, 1)
    ]
    best, delta = min(WORLD.risk(h) for h in hypotheses), 0.1
    for n in (5, 60):
        found = algorithm_risk(
            lambda X, y: minimise_finite(hypotheses, X, y).hypothesis,
            WORLD,
            n_samples=n,
            n_repeats=300,
            random_state=seed,
        )
        bound = best + 2 * np.sqrt(np.log(2 * 6 / delta) / (2 * n))
        assert_bound_holds(round(300 * found.tail(bound)), 300, delta)
        assert found.quantile(1 - delta) <= bound


def test_more_rows_lower_the_risk_of_the_learner(seed):
    means = [
        algorithm_risk(learn_threshold, WORLD, n_samples=n, random_state=seed).mean
        for n in (2, 10, 100)
    ]
    assert means[0] > means[1] > means[2] >= WORLD.bayes_risk()


def test_worlds_without_exact_risk_are_simulated(seed):
    class Plain(FiniteWorld.__mro__[1]):
        def sample(self, n_samples, random_state=None):
            return WORLD.sample(n_samples, random_state)

    rough = algorithm_risk(
        learn_threshold, Plain(), n_samples=3, n_repeats=300, n_test=500, random_state=seed
    )
    exact = exact_algorithm_risk(learn_threshold, WORLD, n_samples=3)
    assert abs(rough.mean - exact.mean) < 5 * rough.standard_error


# -- randomised learners ---------------------------------------------------------------------


def gibbs(costs, train_counts, beta):
    weights = np.exp(-beta * train_counts @ costs.T)
    return weights / weights.sum(axis=1, keepdims=True)


def test_nested_sum_by_loops_and_by_simulation(seed):
    rng = np.random.default_rng(seed)
    data = rng.dirichlet(np.ones(3), size=1)[0]
    costs = rng.uniform(size=(4, 3))  # four parameters, three data values
    pairs = list(product(range(3), repeat=2))  # training sets of two values
    train = np.array([data[a] * data[b] for a, b in pairs])
    counts = np.array([np.bincount(p, minlength=3) for p in pairs])
    posterior = gibbs(costs, counts, beta=3.0)
    by_loops = sum(
        train[s] * posterior[s, t] * data[v] * costs[t, v]
        for s in range(9)
        for t in range(4)
        for v in range(3)
    )
    exact = randomised_risk(train, posterior, data, costs)
    assert np.isclose(exact, by_loops)
    found = estimate_randomised_risk(
        lambda r: r.choice(9, p=train),
        lambda s, r: r.choice(4, p=posterior[s]),
        lambda s, r: r.choice(3, p=data),
        lambda t, v: costs[t, v],
        n_repeats=5000,
        random_state=seed,
    )
    assert abs(found.value - exact) < 5 * found.standard_error


def test_test_data_may_depend_on_training_data(seed):
    rng = np.random.default_rng(seed)
    train, posterior = np.array([0.4, 0.6]), rng.dirichlet(np.ones(3), size=2)
    test, costs = rng.dirichlet(np.ones(2), size=2), rng.uniform(size=(3, 2))
    by_loops = sum(
        train[a] * posterior[a, t] * test[a, b] * costs[t, b]
        for a in range(2)
        for t in range(3)
        for b in range(2)
    )
    assert np.isclose(randomised_risk(train, posterior, test, costs), by_loops)


def test_the_posterior_is_given_the_training_data_not_the_test_data():
    # Data that repeat exactly: with theta drawn given the test data the risk would be zero.
    train, same = np.array([0.5, 0.5]), np.eye(2)
    costs = 1 - np.eye(2)
    assert np.isclose(randomised_risk(train, same, [0.5, 0.5], costs), 0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: algorithm_risk(learn_threshold, WORLD, n_samples=3, n_repeats=1), "'n_repeats'"),
        (lambda: exact_algorithm_risk(learn_threshold, WORLD, n_samples=12), "2176782336 training"),
        (lambda: randomised_risk([1.0], [[1.0]], [1.0], [[1.0, 2.0]]), "costs \\(t, b\\)"),
        (lambda: randomised_risk([0.9], [[1.0]], [1.0], [[1.0]]), "'train_law' parameter"),
        (lambda: estimate_randomised_risk(len, len, len, len, n_repeats=1), "'n_repeats'"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


class Coins(World):
    """Fair coins as labels; no risk is known in closed form."""

    def sample(self, n_samples, random_state=None):
        labels = check_random_state(random_state).randint(2, size=n_samples)
        return np.zeros((n_samples, 1)), labels


def test_estimates_by_hand():
    drawn = AlgorithmRisk(np.array([0.3, 0.1]), np.array([0.5, 0.5]), exact=False)
    assert drawn.mean == pytest.approx(0.2)
    assert drawn.standard_error == pytest.approx(0.1)
    assert [drawn.quantile(level) for level in (0.5, 0.6, 1.0)] == [0.1, 0.3, 0.3]
    assert [drawn.tail(epsilon) for epsilon in (0.0, 0.1, 0.3)] == [1.0, 0.5, 0.0]
    assert drawn._replace(exact=True).standard_error == 0.0
    # Without a closed form each risk is a mean over fresh rows: of coins, near a half.
    simulated = algorithm_risk(
        lambda X, y: lambda rows: np.ones(len(rows)),
        Coins(),
        n_samples=3,
        n_repeats=5,
        n_test=4000,
        random_state=0,
    )
    assert simulated.risks == pytest.approx(np.full(5, 0.5), abs=5 * 0.5 / np.sqrt(4000))
    costs = iter([1.0, 3.0])
    estimate = estimate_randomised_risk(
        lambda rng: None,
        lambda train, rng: None,
        lambda train, rng: None,
        lambda parameter, test: next(costs),
        n_repeats=2,
    )
    assert tuple(estimate) == pytest.approx((2.0, 1.0))
