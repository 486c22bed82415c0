"""Population risk, conditional risk and the finite world."""

from dataclasses import dataclass

import numpy as np
import pytest

from corollary.core.world import World
from corollary.risk import (
    FiniteWorld,
    SquareLoss,
    conditional_risk,
    empirical_risk,
    population_risk,
)


def random_world(rng, n_inputs=5, outcomes=(0.0, 1.0, 3.0)):
    joint = rng.dirichlet(np.ones(n_inputs * len(outcomes))).reshape(n_inputs, -1)
    return FiniteWorld(joint, outcomes, rng.normal(size=(n_inputs, 2)))


@dataclass(frozen=True)
class Line(World):
    """y = x + standard normal noise, x uniform on [0, 1]."""

    def sample(self, n_samples, random_state=None):
        x = random_state.uniform(size=n_samples)
        return x[:, None], x + random_state.normal(size=n_samples)


def test_risk_is_the_double_sum(seed):
    rng = np.random.default_rng(seed)
    world = random_world(rng)
    f = rng.normal(size=5)
    by_hand = sum(
        world.joint[i, k] * (world.outcomes[k] - f[i]) ** 2 for i in range(5) for k in range(3)
    )
    predictor = lambda X: f[world.locate(X)]  # noqa: E731
    assert np.isclose(world.risk(predictor, "square"), by_hand)
    assert population_risk(world, predictor, "square") == (world.risk(predictor, "square"), 0.0)
    pointwise = conditional_risk(f, world.posterior, world.outcomes, SquareLoss())
    assert np.isclose(world.marginal @ pointwise, by_hand)


def test_square_risk_of_bits_is_the_error_rate(seed):
    world = random_world(np.random.default_rng(seed), outcomes=(0, 1))
    predictor = lambda X: (X[:, 0] > 0).astype(int)  # noqa: E731
    assert np.isclose(world.risk(predictor, "square"), world.risk(predictor, "zero_one"))


def test_any_elementwise_loss_serves(seed):
    world = random_world(np.random.default_rng(seed))
    cubed = lambda y, f: np.abs(y - f) ** 3  # noqa: E731
    by_hand = (world.joint * np.abs(world.outcomes - 1.0) ** 3).sum()
    assert np.isclose(world.risk(lambda X: np.ones(len(X)), cubed), by_hand)


def test_empirical_risk_is_unbiased_on_a_finite_world(seed):
    world = random_world(np.random.default_rng(seed))
    predictor = lambda X: X[:, 0]  # noqa: E731
    rng = np.random.RandomState(seed)
    means = []
    for _ in range(2000):
        X, y = world.sample(5, rng)
        means.append(empirical_risk(y, predictor(X), "square"))
    error = np.std(means, ddof=1) / np.sqrt(2000)
    assert abs(np.mean(means) - world.risk(predictor, "square")) < 5 * error


def test_monte_carlo_agrees_with_the_integral(seed):
    # E(y - c)^2 = 1 + Var(x) + (1/2 - c)^2 with x uniform on [0, 1]
    found = population_risk(Line(), lambda X: np.zeros(len(X)), "square", random_state=seed)
    assert abs(found.value - (1 + 1 / 12 + 1 / 4)) < 5 * found.standard_error
    assert 0 < found.standard_error < 0.02


def test_samples_follow_the_table(seed):
    world = FiniteWorld([[0.1, 0.2], [0.3, 0.4]], ["no", "yes"], [[0.0, 1.0], [1.0, 0.0]])
    X, y = world.sample(20_000, seed)
    rows, columns = world.locate(X), (y == "yes").astype(int)
    counts = np.zeros((2, 2))
    np.add.at(counts, (rows, columns), 1)
    error = np.sqrt(world.joint * (1 - world.joint) / 20_000)
    assert np.all(np.abs(counts / 20_000 - world.joint) < 5 * error)


def test_parts_of_the_table():
    world = FiniteWorld([[0.125, 0.375], [0.5, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(world.marginal, [0.5, 0.5, 0])
    np.testing.assert_allclose(world.prior, [0.625, 0.375])
    np.testing.assert_allclose(world.posterior, [[0.25, 0.75], [1, 0], [0.5, 0.5]])
    np.testing.assert_allclose(world.likelihood, [[0.2, 1], [0.8, 0], [0, 0]])
    np.testing.assert_allclose(world.noise_variance([[0.0], [1.0]]), [0.1875, 0])
    with pytest.raises(ValueError, match="read-only"):
        world.joint[0, 0] = 1


def test_infinite_losses_of_impossible_outcomes_cost_nothing():
    world = FiniteWorld([[0.5, 0.0], [0.25, 0.25]], outcomes=[-1, 1])
    rule = world.bayes_rule(world.inputs, "exponential")
    assert np.isneginf(rule[0])
    # inf_f E exp(-y f) at p = 1/2 is 1, at p = 0 it is 0
    assert np.isclose(world.bayes_risk("exponential"), 0.5)
    assert np.isclose(FiniteWorld(world.joint).bayes_risk("cross_entropy"), 0.5 * np.log(2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: FiniteWorld([0.5, 0.5]), r"must be a table of shape .* Got shape \(2,\)"),
        (lambda: FiniteWorld([[0.5, 0.6]]), r"sum to 1. Got smallest entry 0.5 and sum 1.1"),
        (lambda: FiniteWorld([[1.5, -0.5]]), "must be non-negative"),
        (
            lambda: FiniteWorld([[0.5, 0.5]], [1, 1]),
            "'outcomes' parameter of FiniteWorld must hold 2",
        ),
        (lambda: FiniteWorld([[0.5, 0.5]], None, [0, 1]), "'inputs' parameter of FiniteWorld must"),
        (
            lambda: FiniteWorld([[0.5, 0.5]]).bayes_rule([[7.0]]),
            "Row 0 is not an input of this world",
        ),
        (
            lambda: FiniteWorld([[0.5, 0.5]]).locate([[1.0, 2.0]]),
            r"have 1 features. Got shape \(1, 2\)",
        ),
        (lambda: conditional_risk([1], [[0.5, 0.5]] * 2, [0, 1]), "one prediction for each row"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_impossible_inputs_have_even_odds():
    world = FiniteWorld([[0.0, 0.0, 0.0, 0.0], [0.5, 0.25, 0.25, 0.0]])
    assert world.posterior.tolist() == [[0.25] * 4, [0.5, 0.25, 0.25, 0.0]]
    assert world.likelihood[:, 3].tolist() == [0.5, 0.5]
