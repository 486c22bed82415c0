"""The stages of a report by name, and the time that each took."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from corollary.core.progress import track


class Stage(StrEnum):
    """A stage of a report, by the words that tell of it.

    Examples
    --------
    >>> from corollary.reporting import Stage
    >>> print(Stage.COMPARING)
    comparing models
    """

    READING = "reading"
    PROFILING = "profiling"
    EXAMINING = "looking for rows that belong together"
    ENCODING = "encoding"
    COMPARING = "comparing models"
    FITTING = "fitting the chosen model"
    CALIBRATING = "calibrating"
    TESTING = "testing"
    JUDGING = "looking for unusual rows"
    EXPLAINING = "explaining"
    WRITING = "writing"


class Clock:
    """Time per stage, in order."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[None]:
        """Announce a stage and measure it."""
        start = time.perf_counter()
        with track(stage):
            yield
        spent = time.perf_counter() - start
        self.seconds[str(stage)] = self.seconds.get(str(stage), 0.0) + spent
