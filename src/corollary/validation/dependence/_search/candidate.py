"""A unit that may matter."""

from dataclasses import dataclass

import numpy as np

from corollary.validation.dependence.records import Unit


@dataclass(frozen=True, eq=False)
class Candidate:
    """A unit that may matter, with what the measurement needs to know about it."""

    unit: Unit
    scale: np.ndarray | None = None  # an owner's number, whose extremes are extrapolated
    columns: tuple[int, ...] = ()  # positions of the columns that say it
    forward: bool = False  # whether later rows can be told from earlier ones
    rank: int = 0  # what else speaks for it
