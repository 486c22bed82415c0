"""What hostile arrays have found, by hand: each gave NaN, an error from the depths, or no end."""

import numpy as np
import pytest

from corollary.ensemble import RandomForestRegressor
from corollary.kernels import Nystroem, PositiveRandomFeatures, RandomFourierFeatures
from corollary.tree import DecisionTreeRegressor

ROWS = np.arange(24.0).reshape(12, 2)


@pytest.mark.parametrize("model", [DecisionTreeRegressor(), RandomForestRegressor(5)])
def test_targets_that_cannot_be_averaged_are_refused(model):
    with pytest.raises(ValueError, match="targets whose squares have a finite sum"):
        model.fit(ROWS, np.full(12, 1e308))


def test_landmarks_that_overflow_are_refused():
    with pytest.raises(ValueError, match="features whose squares have a finite sum"):
        Nystroem().fit(np.full((12, 3), 1e308))


@pytest.mark.parametrize("model", [RandomFourierFeatures(), PositiveRandomFeatures()])
def test_rows_whose_features_overflow_are_refused(model):
    model.fit(ROWS)
    with pytest.raises(ValueError, match="features whose squares have a finite sum"):
        model.transform(np.full((1, 2), 1e308))
