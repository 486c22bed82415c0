"""Reliability curves by hand, on worlds, and drawn."""

import matplotlib as mpl
import numpy as np
import pytest
import scipy.stats

from corollary.datasets import HighDimensionalLogistic, LogisticWorld
from corollary.linear import LogisticRegression
from corollary.validation import (
    ReliabilityDisplay,
    hold_out_interval,
    reliability_curve,
)

mpl.use("Agg")


def test_reliability_by_hand_and_with_pooling():
    y = np.array([0, 1, 0, 1, 1, 1])
    p = np.array([0.1, 0.1, 0.4, 0.6, 0.9, 0.9])
    curve = reliability_curve(y, p, n_bins=2, strategy="uniform", min_rows=1)
    assert curve.rows.tolist() == [3, 3]
    assert curve.observed == pytest.approx([1 / 3, 1.0])
    assert curve.predicted == pytest.approx([0.2, 0.8])
    assert curve.expected_error == pytest.approx(0.5 * (1 / 3 - 0.2) + 0.5 * 0.2)
    pooled = reliability_curve(y, p, n_bins=5, strategy="uniform", min_rows=4)
    assert pooled.rows.tolist() == [6]  # two rows are too few for a second bin
    three = reliability_curve(y, p, n_bins=5, strategy="uniform", min_rows=3)
    assert three.rows.tolist() == [3, 3]
    two = reliability_curve(y, p, n_bins=5, strategy="uniform", min_rows=2)
    assert two.rows.tolist() == [2, 2, 2]
    first = reliability_curve(y[:3], p[:3], n_bins=5, strategy="uniform", min_rows=5)
    assert first.rows.tolist() == [3]
    # One exact interval, by SciPy.
    exact = scipy.stats.binomtest(3, 3).proportion_ci(0.95)
    assert (curve.lower[1], curve.upper[1]) == pytest.approx((exact.low, exact.high))


def test_notebooks_show_a_row_for_each_bin():
    curve = reliability_curve([0, 1, 1, 1], [0.2, 0.2, 0.9, 0.9], n_bins=2, min_rows=1)
    assert curve._repr_html_().count("<tr>") == 3


def test_reliability_does_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    p = rng.choice([0.1, 0.3, 0.30001, 0.8], 200)
    y = (rng.random(200) < p).astype(int)
    order = rng.permutation(200)
    one, two = reliability_curve(y, p), reliability_curve(y[order], p[order])
    assert all(np.allclose(a, b) for a, b in zip(one, two))


def test_logistic_regression_with_many_features_is_too_sure():
    X, y, coef = HighDimensionalLogistic().draw(600, random_state=0)
    world = LogisticWorld(coef)
    X_new, y_new = world.sample(4000, 1)
    model = LogisticRegression(C=1e6, max_iter=1000).fit(X, y)
    happened = (y_new == 1).astype(int)
    curve = reliability_curve(happened, model.predict_proba(X_new)[:, 1])
    assert curve.overconfidence > 0.15
    honest = reliability_curve(happened, world.posterior(X_new))
    assert abs(honest.overconfidence) < 0.08
    inside = (honest.lower <= honest.predicted) & (honest.predicted <= honest.upper)
    assert inside.mean() >= 0.8


def test_reliability_picture():
    rng = np.random.default_rng(0)
    p = rng.random(300)
    display = ReliabilityDisplay.from_predictions(rng.random(300) < p, p, name="model")
    assert display.ax_.get_legend() is not None
    assert len(display.ax_.lines) >= 2
    mpl.pyplot.close("all")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reliability_curve([0, 2], [0.1, 0.2]), "0 or 1"),
        (lambda: reliability_curve([0, 1], [0.1, 1.2]), "lie in"),
        (lambda: reliability_curve(["no", "yes"], [0.1, 0.2]), "which one is the event"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_bins_of_owners_have_the_intervals_of_their_shares():
    y, p = np.array([0, 1, 1, 1]), np.array([0.2, 0.2, 0.9, 0.7])
    curve = reliability_curve(
        y, p, n_bins=2, strategy="uniform", min_rows=1, groups=[0, 1, 0, 1], confidence=0.8
    )
    assert curve.rows.tolist() == [2, 2]
    assert curve.observed == pytest.approx([0.5, 1.0])
    assert curve.predicted == pytest.approx([0.2, 0.8])
    for k, shares in enumerate(([0.0, 1.0], [1.0, 1.0])):
        limits = hold_out_interval(shares, 0.2, units=[0, 1])
        assert (curve.lower[k], curve.upper[k]) == pytest.approx(limits)
