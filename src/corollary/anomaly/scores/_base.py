"""What a score of anomalies is: fitted to rows, it says how unusual others are, and why.

A score is a frozen object. Before ``fit`` its models are None; ``fit`` returns the score with
fitted models, which the detector keeps. It is given complete rows of numbers in comparable units.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from corollary.anomaly._rows import Rows, precision_of
from corollary.core.parallel import row_products


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


class ReplacementScore(Score):
    """A score without an exact split: a column adds what replacing it takes off.

    Its value is replaced by its conditional mean given the other columns of the row, under one
    Gaussian.
    """

    mean: np.ndarray | None
    covariance: np.ndarray | None

    def contributions(self, X: np.ndarray) -> np.ndarray:
        """Return by how much the score falls where a column is as the others predict it."""
        assert self.mean is not None
        assert self.covariance is not None
        precision = precision_of(self.covariance)
        steps = row_products(X - self.mean, precision) / np.diag(precision)
        scores, found = self.scores(X), np.empty(X.shape)
        for j in range(X.shape[1]):
            replaced = X.copy()
            replaced[:, j] -= steps[:, j]
            found[:, j] = scores - self.scores(replaced)
        return found


def seed_of(random: np.random.RandomState) -> int:
    """Draw the seed of a model."""
    return int(random.randint(2**31 - 1))


def refuse_source(rows: Rows, who: str, instead: str) -> None:
    """Raise unless the rows are in memory."""
    if not rows.in_memory:
        raise ValueError(f"{who} needs all rows in memory. Got a source; {instead}.")


def problem_of(models: tuple[Any, ...]) -> str | None:
    """Say that a loaded score has some of its models only, or None."""
    fitted = [model is not None for model in models]
    return None if all(fitted) or not any(fitted) else "some of its models are missing"
