"""Tables whose rows depend on each other, and tables whose rows do not: how to draw and judge."""

from typing import Any

import numpy as np
import pandas as pd

from tests.validation.dependence import clean_worlds, dependent_worlds
from tests.validation.dependence.world import WORLDS

__all__ = ["WORLDS", "called", "clean_worlds", "dependent_worlds", "draw"]


def draw(name: str, seed: int) -> tuple[pd.DataFrame, pd.Series]:
    """Make columns and targets of a world."""
    frame = WORLDS[name].make(np.random.default_rng(seed))
    return frame.drop(columns="y"), frame["y"]


def called(name: str, dependence: Any) -> bool:
    """Whether a unit was called: one of the right ones if there are such, else any."""
    kinds, columns = WORLDS[name].kinds or WORLDS[name].wrong, WORLDS[name].columns
    return any(
        unit.matters
        and (not kinds or unit.kind in kinds)
        and (not columns or bool(set(columns) & set(unit.columns)))
        for unit in dependence.units
    )
