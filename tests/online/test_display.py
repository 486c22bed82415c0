"""The picture of a run."""

import numpy as np
import pytest

from corollary.online import (
    Hedge,
    OnlinePerceptron,
    OnlineRegressor,
    RegretDisplay,
    hedge_adversary,
    perceptron_adversary,
)


def test_truth_and_bound_are_drawn():
    record = OnlinePerceptron().run(perceptron_adversary(5), comparator=np.ones(5))
    display = RegretDisplay.from_record(record, name="perceptron")
    np.testing.assert_array_equal(display.lines_["perceptron"].get_ydata(), [1, 2, 3, 4, 5])
    np.testing.assert_allclose(display.bounds_["perceptron"].get_ydata(), np.full(5, 5.0))
    assert display.ax_.get_ylabel() == "mistakes"
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["perceptron", "perceptron, bound"]


def test_several_runs_per_round():
    losses = hedge_adversary(50)
    runs = {"known": Hedge(horizon=50).run(losses), "unknown": Hedge().run(losses)}
    display = RegretDisplay(runs, mean=True).plot()
    expected = runs["known"].regret / np.arange(1, 51)
    np.testing.assert_allclose(display.lines_["known"].get_ydata(), expected)
    assert display.ax_.get_ylabel() == "regret per round"
    colours = [display.lines_["unknown"].get_color(), display.bounds_["unknown"].get_color()]
    assert colours[0] == colours[1]


def test_a_run_without_theorem_has_no_bound():
    record = OnlineRegressor().run((np.eye(3), [1.0, 2.0, 3.0]))
    display = RegretDisplay.from_record(record)
    assert display.bounds_ == {}
    assert display.ax_.get_ylabel() == "cumulative loss"


def test_measures_are_not_mixed():
    runs = {
        "a": Hedge().run(hedge_adversary(5)),
        "b": OnlinePerceptron().run(perceptron_adversary(5)),
    }
    with pytest.raises(ValueError, match="one measure"):
        RegretDisplay(runs).plot()
