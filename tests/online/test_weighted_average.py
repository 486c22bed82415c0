"""The weighted average forecaster: weights, identities and its constant regret."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from corollary.online import (
    WeightedAverage,
    entropic_loss,
    entropy_progress,
    exponential_weights,
    weighted_average_bound,
)


def test_entropic_loss_is_relative_entropy(seed):
    rng = np.random.default_rng(seed)
    y, p = rng.uniform(size=20), rng.uniform(size=20)
    expected = [entropy([a, 1 - a], [b, 1 - b]) for a, b in zip(y, p)]
    np.testing.assert_allclose(entropic_loss(y, p), expected, rtol=1e-10)
    np.testing.assert_allclose(entropic_loss(1, p), -np.log(p))
    np.testing.assert_allclose(entropic_loss(0, p), -np.log1p(-p))
    assert np.isinf(entropic_loss(1, 0.0))
    assert entropic_loss(0, 0.0) == 0
    assert (entropic_loss(y, p) >= 0).all()
    with pytest.raises(ValueError, match="'prediction' parameter of entropic_loss"):
        entropic_loss(1, 1.5)


@pytest.mark.parametrize("loss", ["square", "entropic"])
def test_recursion_equals_the_formula(loss, seed):
    rng = np.random.default_rng(seed)
    advice, y = rng.uniform(size=(30, 5)), rng.uniform(size=30)
    eta = {"square": 0.5, "entropic": 1.0}[loss]
    losses = (advice - y[:, None]) ** 2 if loss == "square" else entropic_loss(y[:, None], advice)
    v, guesses = np.full(5, 0.2), []
    weights = [v]
    for row, lost in zip(advice, losses):
        guesses.append(v @ row)
        v = v * np.exp(-eta * lost)
        v = v / v.sum()
        weights.append(v)
    record = WeightedAverage(loss).run((advice, y))
    np.testing.assert_allclose(record.predictions, guesses, rtol=1e-12)
    np.testing.assert_allclose(exponential_weights(losses, eta), weights, rtol=1e-10)
    learner = WeightedAverage(loss).partial_fit(advice, y)
    np.testing.assert_allclose(learner.predict(advice), advice @ weights[-1], rtol=1e-10)


@given(
    st.integers(0, 10_000),
    st.sampled_from(["square", "entropic"]),
    st.sampled_from(["random", "bits", "edges", "adversary"]),
)
def test_regret_never_exceeds_the_bound(seed, loss, kind):
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 80)), int(rng.integers(1, 10))
    advice, y = rng.uniform(size=(m, n)), rng.uniform(size=m)
    if kind == "bits":
        y = np.round(y)
    if kind == "edges":  # sure experts, some of them surely wrong: infinite entropic losses
        advice = np.where(rng.uniform(size=(m, n)) < 0.3, np.round(advice), advice)
        y = np.round(y)
        advice[:, 0] = 0.5
    learner = WeightedAverage(loss)
    if kind == "adversary":  # the truth is always far from the prediction
        truths = []
        probe = WeightedAverage(loss)
        for row in advice:
            truths.append(float(probe.predict(row[None])[0] < 0.5))
            probe.partial_fit(row[None], truths[-1:])
        y = np.array(truths)
    record = learner.run((advice, y))
    assert record.holds
    assert record.regret.max() <= np.log(n) / {"square": 0.5, "entropic": 1.0}[loss] + 1e-9


def test_the_entropic_bound_is_attained():
    # One expert is always right, the others are surely wrong at once: the regret is ln n.
    advice = np.zeros((1, 8))
    advice[0, 0] = 1.0
    record = WeightedAverage("entropic").run((advice, [1.0]))
    assert record.regret[-1] == pytest.approx(np.log(8))
    assert record.tightness == pytest.approx(1.0)


def test_too_large_a_rate_has_no_bound_and_breaks_the_old_one():
    assert np.isinf(weighted_average_bound(4, "square", eta=10.0))
    assert weighted_average_bound(4, "square", eta=0.25) == pytest.approx(np.log(4) / 0.25)
    # Two experts, 0 and 1; the truth is always the one that is behind: follow-the-leader loses.
    advice = np.tile([0.0, 1.0], (200, 1))
    y = np.arange(200) % 2 * 1.0
    record = WeightedAverage("square", eta=20.0).run((advice, y))
    assert np.isinf(record.bound).all()
    assert record.regret.max() > weighted_average_bound(2, "square")


def test_log_loss_is_the_code_length_of_the_mixture(seed):
    rng = np.random.default_rng(seed)
    advice, y = rng.uniform(0.05, 0.95, size=(25, 4)), rng.integers(0, 2, 25)
    likelihood = np.prod(np.where(y[:, None] == 1, advice, 1 - advice), axis=0)
    record = WeightedAverage("entropic").run((advice, y))
    assert record.cumulative_loss[-1] == pytest.approx(-np.log(likelihood.mean()))


@given(st.integers(0, 10_000))
def test_progress_is_regret(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    advice, y = rng.uniform(0.01, 0.99, size=(20, n)), rng.integers(0, 2, 20)
    u = rng.dirichlet(np.ones(n))
    losses = entropic_loss(y[:, None], advice)
    record = WeightedAverage("entropic").run((advice, y))
    progress = entropy_progress(u, exponential_weights(losses, 1.0))
    np.testing.assert_allclose(progress, record.losses - losses @ u, atol=1e-10)
    # For truths between 0 and 1 the progress is at least the regret.
    fractional = rng.uniform(size=20)
    losses = entropic_loss(fractional[:, None], advice)
    record = WeightedAverage("entropic").run((advice, fractional))
    progress = entropy_progress(u, exponential_weights(losses, 1.0))
    assert (progress >= record.losses - losses @ u - 1e-10).all()


def test_relative_entropy_of_a_vertex_to_the_uniform_law_is_log_n():
    # The progress of a law that ends in the vertex telescopes to d(e_i, uniform) = ln n.
    weights = np.array([np.full(5, 0.2), [1.0, 0, 0, 0, 0]])
    assert entropy_progress([1.0, 0, 0, 0, 0], weights)[0] == pytest.approx(np.log(5))
    with pytest.raises(ValueError, match="'u' parameter of entropy_progress"):
        entropy_progress([0.5, 0.2], weights[:, :2])


def test_rates_that_prefer_the_worst_are_refused():
    for eta in (-1.0, 0.0, float("nan")):
        with pytest.raises(ValueError, match="'eta' parameter of exponential_weights"):
            exponential_weights([[0.0, 1.0]], eta)


def test_experts_that_were_surely_wrong_are_out():
    learner = WeightedAverage("entropic")
    record = learner.run((np.array([[0.0, 0.6], [0.9, 0.6]]), [1.0, 1.0]))
    assert record.predictions[1] == 0.6
    assert np.isinf(learner.expert_losses_[0])
    # When all are out they count alike again, and nothing is NaN.
    record = learner.run((np.array([[0.0, 0.0], [0.2, 0.4]]), [1.0, 1.0]))
    assert record.predictions[1] == pytest.approx(0.3)


@pytest.mark.parametrize(("name", "value"), [("loss", "hinge"), ("eta", 0.0), ("eta", np.nan)])
def test_parameters_are_checked(name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of WeightedAverage"):
        WeightedAverage(**{name: value})


def test_before_any_round_experts_count_alike():
    assert WeightedAverage().predict([[0.2, 0.6], [1.0, 0.0]]) == pytest.approx([0.4, 0.5])
    for advice in ([[1.2, 0.0]], [[-0.2, 0.0]]):
        with pytest.raises(ValueError, match="WeightedAverage"):
            WeightedAverage().play(advice, [1.0])
    # One expert loses 0.25 and the other 1: their weights are as 1 to exp(-0.75 / 2).
    learner = WeightedAverage()
    learner.play([[0.5, 0.0]], [1.0])
    weight = 1 / (1 + np.exp(-0.375))
    assert learner.predict([[1.0, 0.0]]) == pytest.approx([weight])
