"""What must be true for a claim to hold."""

from dataclasses import dataclass, replace
from typing import Literal

#: What an assumption is about: how rows were drawn, which rows they are, what was chosen without
#: them, the range of the population, what the model is.
Subject = Literal["draws", "rows", "choice", "population", "model", "other"]


@dataclass(frozen=True)
class Assumption:
    """A sentence that must be true for a claim to hold.

    Parameters
    ----------
    text : str
        The sentence.
    about : {"draws", "rows", "choice", "population", "model", "other"}, default="other"
        What it is about: how rows were drawn; which rows they are; what was chosen without them;
        the range of the population; what the model is.
    checked : bool, default=False
        Whether it does not rest on the reader's judgement: it was computed from the rows, or the
        caller vouched for it.

    Examples
    --------
    >>> from corollary.core.certificate import Assumption
    >>> print(Assumption("The rows are independent draws.", "draws"))
    The rows are independent draws.
    """

    text: str
    about: Subject = "other"
    checked: bool = False

    def __str__(self) -> str:
        return self.text

    def vouched(self) -> "Assumption":
        """Return the same sentence as one that is checked.

        Returns
        -------
        assumption : Assumption
            With ``checked=True``.
        """
        return replace(self, checked=True)


def merge_assumptions(*groups: tuple[Assumption, ...]) -> tuple[Assumption, ...]:
    """Join lists of assumptions, each sentence once; it is checked if any list says so.

    Parameters
    ----------
    *groups : tuple of Assumption
        The lists, in order.

    Returns
    -------
    assumptions : tuple of Assumption
        In the order in which sentences come first.
    """
    merged: dict[str, Assumption] = {}
    for assumption in (one for group in groups for one in group):
        first = merged.setdefault(assumption.text, assumption)
        if assumption.checked and not first.checked:
            merged[assumption.text] = first.vouched()
    return tuple(merged.values())
