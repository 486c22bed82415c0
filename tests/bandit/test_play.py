"""The simulation: reproducible, the same for any number of threads, drawn."""

import numpy as np
import pytest

from corollary.bandit import (
    EXP3,
    UCB1,
    ArmPullDisplay,
    BernoulliArms,
    BernoulliThompson,
    EpsilonGreedy,
    GaussianThompson,
    LinearArms,
    LinearThompson,
    LinUCB,
    RegretDisplay,
    play,
)

BERNOULLI = BernoulliArms(np.linspace(0.2, 0.8, 7))
LINEAR = LinearArms(np.eye(3, 2), noise=0.2)
PAIRS = [
    (EXP3(), BERNOULLI),
    (UCB1(), BERNOULLI),
    (EpsilonGreedy(), BERNOULLI),
    (BernoulliThompson(), BERNOULLI),
    (GaussianThompson(), BERNOULLI),
    (LinUCB(), LINEAR),
    (LinearThompson(), LINEAR),
]


@pytest.mark.parametrize(("policy", "arms"), PAIRS, ids=lambda x: type(x).__name__)
def test_threads_do_not_change_a_bit(policy, arms, seed, monkeypatch):
    module = __import__("sys").modules["corollary.bandit.play"]
    first = play(policy, arms, 500, 40, random_state=seed, n_jobs=1)
    second = play(policy, arms, 500, 40, random_state=seed, n_jobs=3)
    monkeypatch.setattr(module, "STEPS_PER_CALL", 50)  # many returns to Python
    third = play(policy, arms, 500, 40, random_state=seed, n_jobs=2)
    for other in (second, third):
        assert first.regret.tobytes() == other.regret.tobytes()
        assert first.loss.tobytes() == other.loss.tobytes()
        assert np.array_equal(first.pulls, other.pulls)
    assert (first.pulls.sum(axis=1) == 500).all()
    assert len(np.unique(first.loss[:, -1])) > 5
    different = play(policy, arms, 500, 40, random_state=seed + 1, n_jobs=1)
    assert first.loss.tobytes() != different.loss.tobytes()


def test_repetitions_do_not_depend_on_their_number(seed):
    few = play(EXP3(), BERNOULLI, 300, 3, random_state=seed)
    many = play(EXP3(), BERNOULLI, 300, 20, random_state=seed)
    assert np.array_equal(few.loss, many.loss[:3])


def test_records_are_thinned(seed):
    result = play(UCB1(), BERNOULLI, 1003, 2, records=10, random_state=seed)
    assert len(result.rounds) == 10
    assert result.rounds[-1] == 1003
    full = play(UCB1(), BERNOULLI, 1003, 2, records=5000, random_state=seed)
    assert full.rounds.tolist() == list(range(1, 1004))
    assert np.array_equal(full.regret[:, result.rounds - 1], result.regret)


def test_memory_does_not_grow_with_rounds(seed):
    result = play(EXP3(), BERNOULLI, 30_000, 2, records=5, random_state=seed)
    arrays = [result.loss, result.regret, result.pulls, result.pathwise_bound]
    assert sum(a.size for a in arrays) < 100


def test_the_pictures_show_what_was_recorded(seed):
    import matplotlib.pyplot as plt

    plays = [play(p, BERNOULLI, 300, 10, random_state=seed) for p in (EXP3(), UCB1(), UCB1(1.0))]
    display = RegretDisplay.from_plays(plays)
    assert np.array_equal(display.lines_[1].get_ydata(), plays[1].mean_regret)
    assert np.array_equal(display.bounds_[0].get_ydata(), plays[0].bound.values)
    assert len(display.bounds_) == 2
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["EXP3", "EXP3, bound", "UCB1", "UCB1, bound", "UCB1 (2)"]
    pulls = ArmPullDisplay.from_plays({"one": plays[0], "two": plays[1]})
    heights = [bar.get_height() for bar in pulls.bars_[0]]
    assert heights == pytest.approx(plays[0].pulls.mean(axis=0) / 300)
    without = RegretDisplay.from_plays(plays[0], bounds=False)
    assert without.bounds_ == []
    other = play(UCB1(), BernoulliArms([0.5, 0.6]), 50, random_state=seed)
    with pytest.raises(ValueError, match="same arms"):
        ArmPullDisplay.from_plays([plays[0], other])
    plt.close("all")
