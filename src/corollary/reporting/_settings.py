"""What a user can choose about a report, checked once."""

from dataclasses import dataclass

from corollary.reporting._errors import ReportError


@dataclass(frozen=True)
class Settings:
    """What a user can choose about a report."""

    task: str = "auto"
    confidence: float = 0.95
    coverage: float = 0.9
    seed: int = 0
    fast: bool = False

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
