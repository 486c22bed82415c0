"""The headline number lies within its own interval of the truth, as often as it says.

The truth is computed on a large fresh sample of the same world, for the very model that the report
chose: an interval that is right on paper and wrong after the choice of a model would be caught.
"""

import numpy as np
import pandas as pd
import pytest

from corollary.core.simulate import assert_bound_holds
from corollary.reporting import _measure, from_memory, measure
from corollary.reporting.page.verdict import _verdict as verdict
from corollary.reporting.trust._coverage import promised_coverage
from corollary.reporting.trust._unusual import UnusualRows


@pytest.fixture(autouse=True)
def no_stage_after_the_test(monkeypatch):
    """Leave out what comes after the headline's number, which it has no part in."""
    explained = _measure.Explained((), (), (), "absolute error")
    monkeypatch.setattr(_measure, "explain", lambda *parts: explained)
    monkeypatch.setattr(_measure, "judge_rows", lambda *parts: (UnusualRows("few rows"), None))


def draw(world, n, seed):
    """Rows of a world: what is predicted, and how long its tails are."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=[f"x{i}" for i in range(4)])
    score = 2 * frame["x0"].to_numpy() - frame["x1"].to_numpy()
    noise = rng.normal(size=n)
    if world == "classes":
        y = np.where(score + noise > 0, "yes", "no")
    elif world == "mislabelled":
        y = np.where((score + noise > 0) ^ (rng.random(n) < 0.1), "yes", "no")
    elif world == "three classes":
        y = np.array(["a", "b", "c"])[np.digitize(score + rng.standard_t(2, n), [-1, 1.5])]
    elif world == "normal":
        y = score + noise
    elif world == "infinite variance":
        y = score + rng.standard_t(2, n)
    elif world == "rare blunders":
        y = score + noise * np.where(rng.random(n) < 0.01, 30, 1)
    elif world == "log-normal":
        y = np.exp(0.5 * score + noise)
    else:
        assert world == "severe"
        y = np.exp(1.2 * score + noise)
    return frame.assign(y=y)


CLASSES = ("classes", "mislabelled", "three classes")
NUMBERS = ("normal", "infinite variance", "rare blunders", "log-normal", "severe")


def misses(world, fresh, seed, *, n=120, card=verdict.how_good, fast=True):
    """Whether the interval of the first card misses the truth."""
    table = from_memory(draw(world, n, seed))
    evidence, model = measure(table, "y", seed=seed, fast=fast)
    strip = card(evidence)["strip"]
    features = model.encoder.transform(fresh[list(model.columns)])
    predicted = model.predictor.predict(features)
    if evidence.task == "classification":
        truth = np.mean(np.asarray(evidence.classes)[predicted] != fresh["y"].to_numpy())
    else:
        truth = np.median(np.abs(predicted - fresh["y"].to_numpy()))
    high = np.inf if strip["high"] is None else strip["high"]
    return not strip["low"] <= truth <= high


def breaks_promise(world, fresh, seed, *, n=120):
    """Whether sets or intervals hold more rarely than the calibration rows are said to prove."""
    evidence, model = measure(from_memory(draw(world, n, seed)), "y", seed=seed, fast=True)
    features = model.encoder.transform(fresh[list(model.columns)])
    y = fresh["y"].to_numpy()
    if evidence.task == "classification":
        sets = model.calibration.sets(model.predictor.predict_proba(features))
        held = sets[np.arange(len(y)), np.searchsorted(evidence.classes, y)]
    else:
        low, high = model.calibration.intervals(features, model.predictor.predict(features))
        held = (low <= y) & (y <= high)
    return held.mean() < promised_coverage(evidence)


def count_misses(world, repeats, *, n_fresh=8_000, **settings):
    fresh = draw(world, n_fresh, 10**6)
    return sum(misses(world, fresh, seed, **settings) for seed in range(repeats))


@pytest.mark.parametrize("world", NUMBERS)
def test_the_headline_error_holds(world):
    assert_bound_holds(count_misses(world, 40), 40, 0.05)


@pytest.mark.parametrize("world", CLASSES)
def test_the_headline_error_rate_holds(world):
    assert_bound_holds(count_misses(world, 12), 12, 0.05)


@pytest.mark.parametrize("world", ["three classes", "rare blunders"])
def test_what_calibration_proves_holds(world):
    fresh = draw(world, 8_000, 10**6)
    assert_bound_holds(sum(breaks_promise(world, fresh, seed) for seed in range(15)), 15, 0.05)


@pytest.mark.verify
@pytest.mark.parametrize("n", [120, 900])
@pytest.mark.parametrize("world", [*CLASSES, *NUMBERS])
def test_what_calibration_proves_holds_in_200_repeats(world, n):
    fresh = draw(world, 40_000, 10**6)
    broken = sum(breaks_promise(world, fresh, seed, n=n) for seed in range(200))
    assert_bound_holds(broken, 200, 0.05, level=1e-3)


def test_the_simulation_notices_an_interval_of_a_mean(monkeypatch):
    """Rare blunders break the interval of the average: a report that stated it would be caught."""
    from corollary.validation import mean_interval

    def average(evidence):
        _, low, high, _ = mean_interval(evidence.test.errors, evidence.confidence)
        return {"strip": {"low": low, "high": high}}

    monkeypatch.setattr(np, "median", np.mean)  # the truth is that of the average, too
    with pytest.raises(AssertionError):
        assert_bound_holds(count_misses("rare blunders", 60, card=average), 60, 0.05)


@pytest.mark.verify
@pytest.mark.parametrize("n", [40, 400])
@pytest.mark.parametrize("world", [*CLASSES, *NUMBERS])
def test_the_headline_holds_in_200_repeats(world, n):
    missed = count_misses(world, 200, n=n, n_fresh=40_000)
    assert_bound_holds(missed, 200, 0.05, level=1e-3)


@pytest.mark.verify
@pytest.mark.parametrize("world", ["classes", "rare blunders"])
def test_the_headline_holds_whatever_model_is_chosen(world):
    """All candidates take part, so that the choice has more room to flatter itself."""
    missed = count_misses(world, 100, fast=False, n_fresh=40_000)
    assert_bound_holds(missed, 100, 0.05, level=1e-3)
