"""What is bounded, in words."""

import math
from dataclasses import dataclass
from typing import Literal

from corollary.core.certificate._numbers import Direction, format_number, format_share
from corollary.core.population import Population

_ALIKE = Population()


@dataclass(frozen=True)
class Quantity:
    """What is bounded: a mean loss or a quantile of errors, its range and its wording.

    Parameters
    ----------
    name : str, default="error rate"
        Name of the quantity.
    low : float, default=0.0
        Smallest possible value.
    high : float, default=1.0
        Largest possible value.
    predicate : str or None, default="are classified wrongly"
        For a share of rows, what these rows do; None for any other quantity.
    level : float or None, default=None
        For a quantile of the absolute error, its level; None for a mean.
    per_unit : bool, default=False
        For a quantile, whether it is one of owners, each with the median of its own errors, and
        not of rows.

    Examples
    --------
    >>> from corollary.certificates import Population, Quantity
    >>> Quantity().claim(0.0434)
    'at most 4.4% of such rows are classified wrongly'
    >>> Quantity("mean of min(|error|, 10)", 0, 10, None).claim(3.2)
    'the mean of min(|error|, 10) over such rows is at most 3.2'
    >>> Quantity.error_quantile(0.9).claim(3.2)
    'at least 90% of such rows have an absolute error of at most 3.2'
    >>> Quantity().claim(0.12, population=Population("new units", unit="person"))
    'at most 12.0% of rows of new persons are classified wrongly'
    """

    name: str = "error rate"
    low: float = 0.0
    high: float = 1.0
    predicate: str | None = "are classified wrongly"
    level: float | None = None
    per_unit: bool = False

    def __str__(self) -> str:
        return self.name

    @classmethod
    def error_quantile(cls, level: float) -> "Quantity":
        """Name a quantile of the absolute error.

        Parameters
        ----------
        level : float
            Share of rows whose error it bounds, strictly between 0 and 1.

        Returns
        -------
        quantity : Quantity
            Without an upper end.
        """
        name = f"{100 * level:.6g}% quantile of the absolute error"
        return cls(name, 0.0, math.inf, None, level)

    @classmethod
    def median_of_units(cls) -> "Quantity":
        """Name the median over owners of the median absolute error of each.

        Returns
        -------
        quantity : Quantity
            Without an upper end.
        """
        name = "median over owners of their median absolute error"
        return cls(name, 0.0, math.inf, None, 0.5, per_unit=True)

    @property
    def kind(self) -> Literal["share", "mean", "quantile"]:
        """Whether it is a share of rows, a mean over rows or a quantile of errors."""
        if self.level is not None:
            return "quantile"
        return "mean" if self.predicate is None else "share"

    def claim(
        self,
        bound: float,
        direction: Direction = "upper",
        population: Population = _ALIKE,
    ) -> str:
        """Say that the quantity is at most, or at least, a bound.

        Parameters
        ----------
        bound : float
            The bound.
        direction : {"upper", "lower"}, default="upper"
            Which of the two.
        population : Population, default=Population()
            Of which rows.

        Returns
        -------
        text : str
            The claim, rounded outwards.
        """
        limit = "at most" if direction == "upper" else "at least"
        share = self.predicate is not None
        number = format_share(bound, direction) if share else format_number(bound, direction)
        if population.kind == "period":
            # What happened in a period is known; what was to be expected of its rows is bounded.
            return (
                f"on average over {population.rows}, the {self.name} to be expected of a row given "
                f"those before it is {limit} {number}"
            )
        if share:
            return f"{limit} {number} of {population.rows} {self.predicate}"
        if self.level is None:
            return f"the {self.name} over {population.rows} is {limit} {number}"
        error = "a median absolute error" if self.per_unit else "an absolute error"
        whose = f"new {population.pieces}" if self.per_unit else population.rows
        return f"at least {100 * self.level:.6g}% of {whose} have {error} of {limit} {number}"

    def observed(self, value: float, n_samples: int) -> str:
        """Say what was seen.

        Parameters
        ----------
        value : float
            Empirical value of the quantity.
        n_samples : int
            Rows used.

        Returns
        -------
        text : str
            A count for a share of rows, otherwise the value.
        """
        if self.predicate is not None:
            return f"{round(value * n_samples)} of {n_samples}"
        rows = "row" if n_samples == 1 else "rows"
        text = f"{value:.4g} on {n_samples} {rows}"
        return text if self.level is None else f"a {100 * self.level:.6g}% quantile of {text}"
