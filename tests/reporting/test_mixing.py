"""The weighted mean of candidates: its weights, and that no row judges what it helped to learn."""

import numpy as np
import pytest

from corollary.ensemble import mean_weights
from corollary.reporting.models._mixing import LEAST_WEIGHT, MOST_MEMBERS, mix
from corollary.reporting.models._trials import Fold, Trial
from corollary.risk import SquareLoss
from corollary.validation import log_score as log_loss

squared_error = SquareLoss()


def _trial(name, prediction, y, loss=squared_error, error=""):
    return Trial(name, name, "", (), prediction, loss(y, prediction), 1.0, error, size=3)


def _folds(n, k=5):
    empty = np.empty((0, 1))
    return [Fold(empty, empty, empty, np.arange(i, n, k)) for i in range(k)]


def _numbers(seed, n=600):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    return rng, y, [y + s * rng.normal(size=n) for s in (1.0, 2.0)]


def test_weights_are_those_of_inverse_variances(seed):
    _, y, predictions = _numbers(seed, 200_000)
    weights = mean_weights(np.stack(predictions), y)
    np.testing.assert_allclose(weights, [0.8, 0.2], atol=0.01)


def test_weights_of_probabilities_beat_every_grid_point(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 500)
    stack = rng.dirichlet(np.ones(3), size=(2, 500))
    stack[:, np.arange(500), y] += [[0.6], [0.3]]
    stack /= stack.sum(axis=2, keepdims=True)

    def loss(w):
        mean = w * stack[0] + (1 - w) * stack[1]
        # Each model has one row more, in which it alone is right.
        return log_loss(y, mean).sum() - np.log(max(w, 1e-15)) - np.log(max(1 - w, 1e-15))

    weights = mean_weights(stack, y)
    assert weights.sum() == pytest.approx(1)
    assert loss(weights[0]) <= min(loss(w) for w in np.linspace(0, 1, 501)) + 1e-6


def test_few_rows_leave_weights_near_equal_ones():
    y = np.array([1.0, 2.0])
    weights = mean_weights(np.stack([y + [0.1, -0.1], y + [0.11, -0.1]]), y)
    assert abs(weights[0] - 0.5) < 0.1


def test_numbers_judged_by_logarithms(seed):
    rng = np.random.default_rng(seed)
    logs = rng.normal(size=5_000)
    parts = [logs + s * rng.normal(size=5_000) for s in (1.0, 2.0)]
    trials = [_trial(str(i), np.exp(p), np.exp(logs)) for i, p in enumerate(parts)]
    mean = mix(trials, _folds(len(logs)), np.exp(logs), squared_error, log=True)
    np.testing.assert_allclose(mean.weights, mean_weights(np.stack(parts), logs), atol=1e-9)


def test_the_mean_is_judged_by_weights_of_other_folds(seed):
    _, y, predictions = _numbers(seed)
    trials = [_trial(str(i), p, y) for i, p in enumerate(predictions)]
    folds = _folds(len(y))
    mean = mix(trials, folds, y, squared_error, log=False)
    fold = folds[2].rows
    others = np.setdiff1d(np.arange(len(y)), fold)
    by_hand = mean_weights(np.stack(predictions)[:, others], y[others])
    expected = by_hand @ np.stack(predictions)[:, fold]
    np.testing.assert_allclose(mean.prediction[fold], expected)
    assert not np.allclose(by_hand, mean.weights, atol=1e-6)
    np.testing.assert_allclose(mean.weights, mean_weights(np.stack(predictions), y))
    assert mean.loss.mean() < min(t.loss.mean() for t in trials)
    assert (mean.seconds, mean.size, mean.label) == (2.0, 6, "weighted mean of 2 models")
    assert list(mean.settings) == ["0", "1"]


def test_targets_of_a_fold_do_not_move_its_own_weights(seed):
    _, y, predictions = _numbers(seed)
    folds = _folds(len(y))
    before = mix(
        [_trial(str(i), p, y) for i, p in enumerate(predictions)],
        folds,
        y,
        squared_error,
        log=False,
    )
    changed = y.copy()
    changed[folds[0].rows] += 5.0
    after = mix(
        [_trial(str(i), p, changed) for i, p in enumerate(predictions)],
        folds,
        changed,
        squared_error,
        log=False,
    )
    np.testing.assert_array_equal(after.prediction[folds[0].rows], before.prediction[folds[0].rows])


def test_few_members_of_some_weight(seed):
    rng, y, _ = _numbers(seed)
    trials = [_trial(str(i), y + rng.normal(size=len(y)), y) for i in range(9)]
    trials.append(_trial("failed", np.zeros(len(y)), y, error="it failed"))
    mean = mix(trials, _folds(len(y)), y, squared_error, log=False)
    assert len(mean.weights) <= MOST_MEMBERS
    assert mean.weights.min() >= LEAST_WEIGHT / 2
    assert mean.weights.sum() == pytest.approx(1)
    assert "failed" not in mean.settings


def test_one_that_is_right_needs_no_company(seed):
    rng, y, _ = _numbers(seed)
    trials = [_trial("exact", y + 1e-9 * rng.normal(size=len(y)), y), _trial("off", y + 3.0, y)]
    assert mix(trials, _folds(len(y)), y, squared_error, log=False) is None
    assert mix(trials[:1], _folds(len(y)), y, squared_error, log=False) is None
