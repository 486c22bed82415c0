"""The answer of a checker: do the axioms hold, and if not, which fails and where."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AxiomCheck:
    """Whether a structure satisfies its axioms, with a witness if it does not.

    It counts as true exactly if the axioms hold, so that it can be used in conditions.

    Parameters
    ----------
    holds : bool
        Whether all axioms hold.
    axiom : str, default=""
        The first axiom that fails; empty if all hold.
    witness : tuple, default=()
        The points, sets or vectors that violate it.
    message : str, default=""
        The violation in words.
    """

    holds: bool
    axiom: str = ""
    witness: tuple[Any, ...] = ()
    message: str = ""

    def __bool__(self) -> bool:
        return self.holds


#: All axioms hold.
SATISFIED = AxiomCheck(True)
