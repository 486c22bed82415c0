"""Population: of which rows a claim speaks."""

from dataclasses import dataclass
from typing import Any, Literal

#: Rows drawn like those used; rows of owners that nobody has seen; the rows of one period.
PopulationKind = Literal["alike", "new units", "period"]


@dataclass(frozen=True)
class Population:
    """Of which rows a claim speaks.

    Parameters
    ----------
    kind : {"alike", "new units", "period"}, default="alike"
        Rows drawn like those that were used; rows of owners (persons, shops, copied rows) of which
        no row was used; or the rows of one period, given what came before each of them.
    unit : str or tuple of str, default=""
        For new units, what owns a row, in the singular, such as the name of a column; several
        names if an owner is a combination of columns; empty for "owner".
    start : str or float, default=""
        The first moment of the period; for new units, of that in which they were seen, if known.
    end : str or float, default=""
        Its last moment.

    See Also
    --------
    Certificate : Speaks of one population.

    Examples
    --------
    >>> from corollary.certificates import Population
    >>> Population().rows
    'such rows'
    >>> Population("new units", unit="person").rows
    'rows of new persons'
    >>> Population("new units", unit=("clinic", "patient")).rows
    'rows of new combinations of clinic and patient'
    >>> Population("period", start="2020-05-01", end="2020-07-31").rows
    'the rows from 2020-05-01 to 2020-07-31'
    """

    kind: PopulationKind = "alike"
    unit: str | tuple[str, ...] = ""
    start: str | float = ""
    end: str | float = ""

    def __str__(self) -> str:
        return self.rows

    @property
    def rows(self) -> str:
        """The rows in words, as they stand after "at most 5% of"."""
        if self.kind == "alike":
            return "such rows"
        whose = f"rows of new {self.pieces}" if self.kind == "new units" else "the rows"
        if self.start == "":
            return whose
        if self.start == self.end:
            return f"{whose} of {_moment(self.start)}"
        return f"{whose} from {_moment(self.start)} to {_moment(self.end)}"

    @property
    def piece(self) -> str:
        """What is counted as one piece of evidence, in the singular."""
        if self.kind != "new units":
            return "row"
        if isinstance(self.unit, str):
            return self.unit or "owner"
        return f"combination of {_listed(self.unit)}" if len(self.unit) > 1 else self.unit[0]

    @property
    def pieces(self) -> str:
        """What is counted as pieces of evidence, in the plural."""
        if self.kind == "new units" and not isinstance(self.unit, str) and len(self.unit) > 1:
            return f"combinations of {_listed(self.unit)}"
        return _plural(self.piece)

    @property
    def note(self) -> str:
        """What the reader of a claim must know about these rows; empty for rows drawn alike."""
        notes = []
        if self.kind == "new units":
            notes.append(f"Each {self.piece} counts the same, however many rows it has.")
        if self.kind != "alike" and self.start != "":
            notes.append("Nothing is proved about later rows.")
        return " ".join(notes)

    def count(self, number: int) -> str:
        """Write a number of pieces of evidence.

        Parameters
        ----------
        number : int
            How many there are.

        Returns
        -------
        text : str
            Such as "1 person" or "1,200 rows".
        """
        return f"{number:,} {self.piece if number == 1 else self.pieces}"

    def to_dict(self) -> dict[str, Any]:
        """Return a record that JSON can hold.

        Returns
        -------
        record : dict
            The fields, several names as a list, and the rows in words.
        """
        unit = self.unit if isinstance(self.unit, str) else list(self.unit)
        return {
            "kind": self.kind,
            "unit": unit,
            "start": self.start,
            "end": self.end,
            "rows": self.rows,
        }


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _plural(name: str) -> str:
    """Form the plural of a noun by the rules of spelling."""
    noun, of, rest = name.partition(" of ")
    if of:
        return f"{_plural(noun)} of {rest}"
    last = name[-2:].lower()
    if last.endswith("y") and last[:1] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}es" if last.endswith(("s", "x", "ch", "sh")) else f"{name}s"


def _moment(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.10g}"
