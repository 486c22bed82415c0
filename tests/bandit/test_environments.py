"""Loss matrices: fixed before the game, and with the law they claim."""

import numpy as np
import pytest

from corollary.bandit import (
    UCB1,
    AlternatingArms,
    BernoulliArms,
    DriftingArms,
    GaussianArms,
    LinearArms,
    LossMatrix,
    PythonArms,
    play,
)
from corollary.core.simulate import assert_share_equals


def test_one_seed_is_one_matrix_wherever_it_is_read():
    arms = BernoulliArms([0.3, 0.5, 0.9], random_state=3)
    whole = arms.losses(100)
    assert np.array_equal(arms.losses(30, start=50), whole[50:80])
    assert not np.array_equal(BernoulliArms(arms.mean, random_state=4).losses(100), whole)


def test_coins_have_their_chances_and_are_independent(seed):
    losses = BernoulliArms([0.25, 0.5, 0.0, 1.0], random_state=seed).losses(20_000)
    assert set(np.unique(losses)) == {0.0, 1.0}
    assert_share_equals(int(losses[:, 0].sum()), 20_000, 0.25)
    assert losses[:, 2:].mean(axis=0).tolist() == [0.0, 1.0]
    both = (losses[:, 0] == 1) & (losses[:, 1] == 1)
    assert_share_equals(int(both.sum()), 20_000, 0.125)
    again = (losses[1:, 1] == 1) & (losses[:-1, 1] == 1)
    assert_share_equals(int(again[::2].sum()), 10_000, 0.25)


def test_gaussian_losses_are_gaussian(seed):
    from scipy.stats import kstest

    losses = GaussianArms([2.0, -1.0], scale=3.0, random_state=seed).losses(20_000)
    for column, mean in zip(losses.T, (2.0, -1.0)):
        assert kstest(column, "norm", args=(mean, 3.0)).pvalue > 1e-6
    assert abs(np.corrcoef(losses.T)[0, 1]) < 5 / np.sqrt(20_000)


def test_drifting_means_move_and_jump():
    table = [[0.0, 1.0], [1.0, 0.5], [0.5, 0.0]]
    smooth = DriftingArms(table, segment=10).means(31)
    knots = np.vstack([table, table[:1]])
    for j in (0, 1):
        wanted = np.interp(np.arange(31), [0, 10, 20, 30], knots[:, j])
        assert smooth[:, j] == pytest.approx(wanted)
    jump = DriftingArms(table, segment=10, smooth=False).means(40)
    assert jump == pytest.approx(np.repeat([*table, table[0]], 10, axis=0))


def test_drifting_losses_follow_their_means(seed):
    arms = DriftingArms([[0.0], [1.0]], segment=5000, random_state=seed)
    losses = arms.losses(10_000)[:, 0]
    assert_share_equals(
        int(losses[2000:3000].sum()), 1000, float(arms.means(1000, start=2000).mean())
    )


def test_alternating_arms_take_turns():
    losses = AlternatingArms(3, period=2).losses(12)
    assert losses.sum(axis=1).tolist() == [2.0] * 12
    assert losses.argmin(axis=1).tolist() == [0, 0, 1, 1, 2, 2] * 2


def test_a_matrix_is_read_as_given(seed):
    matrix = np.random.default_rng(seed).normal(size=(7, 3))
    assert np.array_equal(LossMatrix(matrix).losses(7), matrix)


@pytest.mark.parametrize(
    "arms",
    [
        BernoulliArms([0.2, 0.4, 0.6], random_state=1),
        DriftingArms([[0.2, 0.9], [0.9, 0.2]], segment=70, random_state=2),
        AlternatingArms(4, period=3),
    ],
    ids=lambda a: type(a).__name__,
)
def test_regret_against_a_fixed_matrix_is_exact(arms):
    losses = arms.losses(500)
    result = play(UCB1(), arms, 500, 4, records=13, random_state=0)
    best = np.cumsum(losses, axis=0)[result.rounds - 1].min(axis=1)
    assert result.regret_kind == "regret"
    assert result.regret == pytest.approx(result.loss - best)


def test_regret_of_a_stochastic_world_counts_means(seed):
    mean = np.array([0.2, 0.5, 0.9])
    result = play(UCB1(), BernoulliArms(mean), 400, 5, random_state=seed)
    assert result.regret_kind == "pseudo-regret"
    assert result.regret[:, -1] == pytest.approx(result.pulls @ (mean - mean.min()))
    drift = DriftingArms([[0.2, 0.9], [0.9, 0.2]], segment=70)
    result = play(UCB1(), drift, 400, 5, records=400, random_state=seed)
    steps = np.diff(result.regret + np.cumsum(drift.means(400), axis=0).min(axis=1), prepend=0.0)
    distance = np.abs(drift.means(400)[None] - steps[:, :, None]).min(axis=2)
    assert distance.max() < 1e-9


def test_contexts_are_fixed_unit_vectors_without_a_preferred_direction(seed):
    contexts = LinearArms(np.zeros((2, 3)), random_state=seed).contexts(4000)
    assert np.linalg.norm(contexts, axis=1) == pytest.approx(np.ones(4000))
    assert np.abs(contexts.mean(axis=0)).max() < 5 / np.sqrt(3 * 4000)
    assert np.cov(contexts.T) == pytest.approx(np.eye(3) / 3, abs=0.03)


def test_python_arms_play_like_compiled_ones(seed):
    matrix = np.random.default_rng(seed).uniform(size=(300, 3))
    slow = PythonArms(lambda t, arm, random: matrix[t, arm], n_arms=3)
    fast = play(UCB1(), LossMatrix(matrix), 300, 2, random_state=seed)
    result = play(UCB1(), slow, 300, 2, random_state=seed)
    assert np.array_equal(result.pulls, fast.pulls)
    assert result.loss == pytest.approx(fast.loss)
    assert result.regret is None
    with pytest.raises(ValueError, match="Give PythonArms the parameter mean"):
        result.mean_regret  # noqa: B018


def test_python_arms_with_known_means(seed):
    def draw(t, arm, random):
        return float(random.uniform() < (0.2, 0.6)[arm])

    result = play(UCB1(), PythonArms(draw, 2, mean=[0.2, 0.6]), 300, 3, random_state=seed)
    assert result.regret[:, -1] == pytest.approx(0.4 * result.pulls[:, 1])
    assert np.unique(result.loss[:, -1]).size > 1


def test_errors_say_what_to_repair():
    with pytest.raises(
        ValueError, match=r"'mean' parameter of BernoulliArms must be finite numbers in \[0, 1\]"
    ):
        BernoulliArms([1.2])
    with pytest.raises(ValueError, match="Give random_state an integer"):
        BernoulliArms([0.5]).losses(3)
    with pytest.raises(ValueError, match="Give random_state an integer"):
        LinearArms([[0.5]]).contexts(3)
    with pytest.raises(ValueError, match="'period' parameter of AlternatingArms must be an int"):
        AlternatingArms(2, period=0)
    with pytest.raises(ValueError, match="'random_state' parameter of GaussianArms"):
        GaussianArms([0.0], random_state=-1)
    with pytest.raises(ValueError, match="'draw' parameter of PythonArms must be a function"):
        PythonArms(3, 2)
    with pytest.raises(ValueError, match=r"must have 2 entries. Got 1"):
        PythonArms(lambda t, a, r: 0.0, 2, mean=[0.1])
    with pytest.raises(ValueError, match="must be numbers"):
        LossMatrix([["a", "b"]])
