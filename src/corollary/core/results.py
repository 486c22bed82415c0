"""What results of all families can do: print as a sentence, show as a table, become a frame."""

from abc import abstractmethod
from collections.abc import Mapping
from html import escape
from typing import Any

from corollary.core.display import html_table


class Tabular:
    """A result that prints as a sentence, shows as a table in notebooks and becomes a frame."""

    @abstractmethod
    def _columns(self) -> Mapping[str, Any]:
        """Return the columns of the table by their names."""

    def to_frame(self) -> Any:
        """Return the result as a data frame of pandas.

        Returns
        -------
        frame : DataFrame
            The table that notebooks show.
        """
        import pandas as pd

        return pd.DataFrame(dict(self._columns()))

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>{html_table(self._columns())}"


class Difference(Tabular):
    """The risk of one model less that of another, with an interval and a p-value."""

    difference: float
    lower: float
    upper: float
    p_value: float
    confidence: float

    @property
    def distinguishable(self) -> bool:
        """Whether the interval excludes zero."""
        return self.lower > 0 or self.upper < 0

    def __str__(self) -> str:
        shown = "Neither is shown to be better"
        if self.distinguishable:
            shown = f"The {'second' if self.difference > 0 else 'first'} is better"
        return (
            f"{shown}: the risk of the first less that of the second is {self.difference:.4g} "
            f"({100 * self.confidence:.6g}% interval {self.lower:.4g} to {self.upper:.4g}, "
            f"p = {self.p_value:.2g})."
        )

    def _columns(self) -> dict[str, list[float]]:
        names = ("difference", "lower", "upper", "p_value", "confidence")
        return {name: [getattr(self, name)] for name in names}
