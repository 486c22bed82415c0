"""What a score of anomalies is: fitted to rows, it says how unusual others are, and why.

A score is a frozen object. Before ``fit`` its models are None; ``fit`` returns the score with
fitted models, which the detector keeps. It is given complete rows of numbers in comparable units.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from corollary.anomaly._rows import Rows


class Score(ABC):
    """How unusual rows are."""

    #: Whether scores grow like squared distances, so that their roots are to be compared.
    squared: ClassVar[bool] = True

    @abstractmethod
    def fit(self, rows: Rows, random: np.random.RandomState) -> Self:
        """Return this score with models fitted to rows."""

    @abstractmethod
    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the score of each row, large for unusual ones."""

    @abstractmethod
    def contributions(self, X: np.ndarray) -> np.ndarray:
        """Return what each column adds to the score of each row."""


def seed_of(random: np.random.RandomState) -> int:
    """Draw the seed of a model."""
    return int(random.randint(2**31 - 1))


def problem_of(models: tuple[Any, ...]) -> str | None:
    """Say that a loaded score has some of its models only, or None."""
    fitted = [model is not None for model in models]
    return None if all(fitted) or not any(fitted) else "some of its models are missing"
