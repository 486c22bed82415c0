"""What a user can choose about a report, checked once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from corollary.reporting._errors import ReportError


@dataclass(frozen=True)
class Settings:
    """What a user can choose about a report."""

    task: str = "auto"
    confidence: float = 0.95
    coverage: float = 0.9
    seed: int = 0
    fast: bool = False
    group: tuple[str, ...] = ()  # columns that say whose a row is
    time: str = ""  # column that says when a row was
    horizon: str = ""  # how far ahead predictions reach, such as "4w" or "28"
    order: bool = False  # whether the rows are in order of time
    independent: bool = False  # whether the user vouches that rows do not depend on each other

    @classmethod
    def of(cls, group: str | Sequence[str] = (), **options: Any) -> "Settings":
        """Take options as users pass them: one group or several."""
        return cls(group=(group,) if isinstance(group, str) else tuple(group), **options)

    def __post_init__(self) -> None:
        if self.task not in ("auto", "classification", "regression"):
            raise ReportError(
                "usage",
                f"The task must be auto, classification or regression. Got {self.task!r} instead.",
            )
        for name in ("confidence", "coverage"):
            value = getattr(self, name)
            if not 0 < value < 1:
                raise ReportError(
                    "usage", f"The {name} must lie strictly between 0 and 1. Got {value} instead."
                )
        if not 0 <= self.seed < 2**32:
            raise ReportError("usage", f"The seed must be in [0, 2**32). Got {self.seed} instead.")
        told = [f"--{name}" for name in ("group", "time", "order") if getattr(self, name)]
        if self.independent and told:
            raise ReportError(
                "usage",
                f"--independent says that rows do not depend on each other, {told[0]} that they "
                "do. Leave one of them out.",
            )
        if self.time and self.order:
            raise ReportError(
                "usage",
                f"--time {self.time} and --order both say when a row was. Leave one of them out.",
            )
        if self.horizon and not (self.time or self.order):
            raise ReportError(
                "usage", f"--horizon {self.horizon} needs --time COLUMN, in whose unit it is."
            )
