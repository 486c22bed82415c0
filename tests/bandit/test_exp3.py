"""EXP3: Hedge on hallucinated losses, its pathwise inequality and its expected regret."""

import numpy as np
import pytest

from corollary.bandit import (
    EXP3,
    AlternatingArms,
    BernoulliArms,
    DriftingArms,
    LossMatrix,
    exp3_anytime_bound,
    exp3_learning_rate,
    exp3_pathwise_bound,
    exp3_regret_bound,
    hallucinated_loss,
    play,
)


def hedge_weights(losses, rate):
    """Weights of Hedge after a matrix of losses, from the definition."""
    v = np.full(losses.shape[1], 1 / losses.shape[1])
    for row in losses:
        v = v * np.exp(-rate * row)
        v = v / v.sum()
    return v


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13])
def test_exp3_is_hedge_on_hallucinated_losses(n, seed):
    rate, rounds = 0.05, 400
    losses = np.random.default_rng(seed).uniform(size=(rounds, n))
    player = EXP3(learning_rate=rate).start(n, random_state=seed)
    v, hallucinated = np.full(n, 1 / n), []
    for t in range(rounds):
        arm = player.ask()
        assert player.probability == pytest.approx(v[arm], rel=1e-9)
        player.tell(arm, losses[t, arm])
        hallucinated.append(hallucinated_loss(losses[t, arm], arm, v))
        v = v * np.exp(-rate * hallucinated[-1])
        v /= v.sum()
    assert v == pytest.approx(hedge_weights(np.array(hallucinated), rate))


def test_arms_are_drawn_with_their_probabilities(seed):
    # One round, many players: weights that are far from uniform, and a number of arms that is
    # not a power of two.
    player = EXP3(learning_rate=1.0).start(5, random_state=seed)
    for arm, loss in ((0, 0.9), (1, 0.1), (3, 0.5)):
        player.tell(arm, loss, probability=0.5)
    player.ask()
    weights = np.exp(-2.0 * np.array([0.9, 0.1, 0.0, 0.5, 0.0]))
    counts = np.zeros(5)
    for _ in range(20_000):
        counts[player.ask()] += 1
    expected = 20_000 * weights / weights.sum()
    assert (((counts - expected) ** 2) / expected).sum() < 45  # chi-square, 4 degrees: p < 1e-8


def test_a_hopeless_arm_may_return(seed):
    # The best arm pays for thousands of rounds; weights must not be stuck at zero.
    matrix = np.ones((6000, 3))
    matrix[:2000, 0] = 0.0
    matrix[2000:, 1] = 0.0
    result = play(EXP3(learning_rate=0.5), LossMatrix(matrix), 6000, 20, random_state=seed)
    assert (result.pulls[:, 1] > 2500).all()


def test_rates_of_the_anytime_version(seed):
    n, rounds = 4, 300
    player = EXP3().start(n, random_state=seed)
    losses = np.random.default_rng(seed).uniform(size=(rounds, n))
    total, end = np.zeros(n), 0
    for t in range(1, rounds + 1):
        if t > end:
            end = t + t // 16
        v = np.exp(-np.sqrt(np.log(n) / (n * end)) * (total - total.min()))
        v /= v.sum()
        arm = player.ask()
        assert player.probability == pytest.approx(v[arm], rel=1e-9)
        player.tell(arm, losses[t - 1, arm])
        total[arm] += losses[t - 1, arm] / v[arm]


WORLDS = [
    BernoulliArms([0.1, 0.5, 0.9], random_state=0),
    DriftingArms([[0.1, 0.9, 0.5], [0.9, 0.1, 0.5]], segment=100, random_state=1),
    DriftingArms([[0.0, 1.0], [1.0, 0.0]], segment=333, smooth=False, random_state=2),
    AlternatingArms(2),
    AlternatingArms(5, period=40),
    LossMatrix(np.ones((1, 3))),
]


@pytest.mark.parametrize("policy", [EXP3(), EXP3(horizon=1000), EXP3(learning_rate=2.0)])
@pytest.mark.parametrize("arms", WORLDS, ids=lambda a: type(a).__name__)
def test_the_pathwise_inequality_always_holds(policy, arms, seed):
    result = play(policy, arms, 1000, 60, random_state=seed)
    assert (result.pathwise_regret <= result.pathwise_bound * (1 + 1e-12)).all()


def test_the_recorded_inequality_is_that_of_the_theorem(seed):
    rate, n = 0.1, 3
    player = EXP3(learning_rate=rate).start(n, random_state=seed)
    losses = np.random.default_rng(seed).uniform(size=(200, n))
    paid, chance, total = [], [], np.zeros(n)
    for t in range(200):
        arm = player.ask()
        paid.append(losses[t, arm])
        chance.append(player.probability)
        total += losses[t, arm] / player.probability * (np.arange(n) == arm)
        player.tell(arm, losses[t, arm])
    bound = exp3_pathwise_bound(paid, chance, n_arms=n, learning_rate=rate)
    assert sum(paid) - total.min() <= bound
    squares = sum(x * x / p for x, p in zip(paid, chance))
    assert bound == pytest.approx(np.log(n) / rate + rate / 2 * squares)

    # `play` with the same stream records the same numbers.
    from corollary.bandit import PythonArms

    slow = play(EXP3(learning_rate=rate), LossMatrix(losses), 200, 1, random_state=seed)
    again = play(
        EXP3(learning_rate=rate),
        PythonArms(lambda t, a, r: losses[t, a], n),
        200,
        1,
        random_state=seed,
    )
    assert np.array_equal(again.pulls, slow.pulls)
    seen = []

    def note(t, arm, random):
        seen.append((t, arm))
        return losses[t, arm]

    play(EXP3(learning_rate=rate), PythonArms(note, n), 200, 1, random_state=seed)
    assert len(seen) == 200
    total, squares, paid = np.zeros(n), 0.0, 0.0
    for k, (t, arm) in enumerate(seen):
        v = np.exp(-rate * (total - total.min()))
        v /= v.sum()
        paid += losses[t, arm]
        squares += losses[t, arm] ** 2 / v[arm]
        total[arm] += losses[t, arm] / v[arm]
        assert slow.pathwise_bound[0, k] == pytest.approx(np.log(n) / rate + rate / 2 * squares)
        assert slow.pathwise_regret[0, k] == pytest.approx(paid - total.min())


def test_the_pathwise_inequality_is_nearly_tight_somewhere(seed):
    # A bound that could be halved would not tell a wrong constant from a right one.
    result = play(EXP3(learning_rate=1e-3), LossMatrix([[0.0, 1.0]]), 4000, 20, random_state=seed)
    assert (result.pathwise_regret / result.pathwise_bound).max() > 0.6


def assert_expected_regret(result):
    slack = 5 * result.standard_error
    assert (result.mean_regret <= result.bound.values + slack).all()


@pytest.mark.parametrize("horizon", [1, 7, 30, 2000])
@pytest.mark.parametrize("arms", WORLDS, ids=lambda a: type(a).__name__)
def test_expected_regret_is_below_the_bound(arms, horizon, seed):
    result = play(EXP3(horizon=horizon), arms, horizon, 300, random_state=seed)
    assert_expected_regret(result)
    assert result.bound.values[-1] == pytest.approx(
        np.sqrt(2 * horizon * arms.n_arms * np.log(arms.n_arms))
    )
    assert_expected_regret(play(EXP3(), arms, horizon, 300, random_state=seed))


@pytest.mark.verify
@pytest.mark.parametrize("n", [2, 10, 50])
def test_expected_regret_in_long_games(n, seed):
    random = np.random.default_rng(seed)
    for arms in (
        BernoulliArms(random.uniform(size=n), random_state=seed),
        DriftingArms(random.uniform(size=(7, n)), segment=3000, random_state=seed),
        AlternatingArms(n, period=100),
    ):
        for policy in (EXP3(), EXP3(horizon=50_000)):
            result = play(policy, arms, 50_000, 400, random_state=seed)
            assert_expected_regret(result)
            assert (result.pathwise_regret <= result.pathwise_bound * (1 + 1e-12)).all()


def test_regret_comes_within_reach_of_the_bound(seed):
    # Arms that barely differ are the hard case: the measured share of the bound is no accident.
    gap = np.sqrt(10 / 4000)
    arms = BernoulliArms(0.5 - gap * np.eye(10)[0])
    result = play(EXP3(horizon=4000), arms, 4000, 200, random_state=seed)
    assert result.mean_regret[-1] > 0.15 * result.bound.values[-1]


def test_bounds_are_their_formulas():
    assert exp3_learning_rate(8, 100) == pytest.approx(np.sqrt(2 * np.log(8) / 800))
    best = exp3_regret_bound(100, 8)
    assert best == pytest.approx(
        exp3_regret_bound(100, 8, learning_rate=exp3_learning_rate(8, 100))
    )
    for rate in (0.01, 0.3):
        assert exp3_regret_bound(100, 8, learning_rate=rate) >= best
    end, total = 0, 0.0
    for t in range(1, 501):
        if t > end:
            end = t + t // 16
        rate = np.sqrt(np.log(8) / (8 * end))
        total += rate
        if t in (1, 2, 17, 100, 500):
            assert exp3_anytime_bound(t, 8) == pytest.approx(np.log(8) / rate + 4 * total)
    assert exp3_anytime_bound(np.array([1, 5]), 1).tolist() == [0.0, 0.0]
    assert exp3_anytime_bound(10**6, 8) < 1.02 * 2 * np.sqrt(8e6 * np.log(8))


def test_errors_say_what_to_repair():
    with pytest.raises(ValueError, match="a horizon or a learning_rate, not both"):
        EXP3(horizon=10, learning_rate=0.1)
    with pytest.raises(ValueError, match="'horizon' parameter of EXP3 must be an int in the range"):
        EXP3(horizon=0)
    with pytest.raises(ValueError, match="whole numbers, at least 1"):
        exp3_regret_bound([0.5], 3)
    with pytest.raises(ValueError, match="one positive probability for each loss"):
        exp3_pathwise_bound([1.0], [0.0], n_arms=2, learning_rate=0.1)


def test_negative_losses_are_refused_because_the_inequality_fails_for_them():
    eta, total, paid, chance = 0.5, np.zeros(2), [], []
    for arm in (0,) * 6 + (1,):
        v = np.exp(-eta * (total - total.min()))
        v /= v.sum()
        paid.append(-1.0)
        chance.append(v[arm])
        total[arm] += -1 / v[arm]
    right = np.log(2) / eta + eta / 2 * sum(1 / p for p in chance)
    assert sum(paid) - total.min() > 2 * right
    with pytest.raises(ValueError, match=r"'losses' .* must be finite numbers in \[0, inf\]"):
        exp3_pathwise_bound(paid, chance, n_arms=2, learning_rate=eta)
