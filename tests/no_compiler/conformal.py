"""Loops of conformal prediction."""

import numpy as np

from corollary.conformal import aps_score, plus_intervals


def check_classes_are_ranked_by_their_probability():
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet(np.ones(4), size=6)
    expected = [[row[row >= p].sum() for p in row] for row in probabilities]
    np.testing.assert_allclose(aps_score(probabilities), expected)


def check_order_statistics_of_shifted_lists():
    rng = np.random.default_rng(1)
    predictions, folds = rng.normal(size=(3, 4)), np.arange(60) % 4
    residuals = np.abs(rng.normal(size=60))
    for confidence in (0.3, 0.6, 0.9):
        intervals = plus_intervals(predictions, residuals, folds, confidence)
        rank = int(np.ceil(61 * confidence - 1e-9))
        upper = np.sort(predictions[:, folds] + residuals, axis=1)[:, rank - 1]
        lower = np.sort(predictions[:, folds] - residuals, axis=1)[:, 60 - rank]
        np.testing.assert_allclose(intervals, np.column_stack([lower, upper]))
