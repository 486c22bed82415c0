"""Which rows belong together, and what the report makes of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from corollary.reporting._settings import Settings
    from corollary.reporting._settle import Settled
    from corollary.reporting.models._familiar import Familiarity
    from corollary.reporting.table._dependence import Examined
    from corollary.validation import Unit

#: Chance that a fact of a table without structure is told.
LEVEL = 0.001
#: A unit that is worth less than this share of the error is not worth a line.
LEAST_WORTH = 0.07


@dataclass(frozen=True)
class UnitFact:
    """A way in which rows belong together."""

    kind: Literal["copies", "near copies", "joined", "owner", "time", "order"]
    columns: tuple[str, ...]  # that say it
    n_units: int
    n_rows: int
    told: bool  # whether the user named it
    asked: bool  # whether it matters
    worth: float  # share of the error that knowing the unit is worth, as strong trees measure it

    @property
    def in_time(self) -> bool:
        """Whether its rows follow each other, rather than belong to someone."""
        return self.kind in ("time", "order")


@dataclass(frozen=True)
class Structure:
    """Which rows belong together, and what that is worth."""

    headline: UnitFact | None = None  # the unit of which the report speaks of new ones
    familiarity: "Familiarity | None" = None  # what the model owes to having seen the unit
    copies: UnitFact | None = None  # rows of which one was kept
    facts: tuple[UnitFact, ...] = ()  # other units that strong trees gain by
    n_twins: int = 0  # rows that have an identical twin, as chance would have it
    twins_apart: bool = False  # whether twins may lie on different sides of the split
    vouched: bool = False  # whether the user said that rows do not depend on each other


def describe_structure(examined: "Examined", settled: "Settled", settings: "Settings") -> Structure:
    """Describe what was found, told and decided."""
    units = [unit for unit in examined.dependence.units if unit is not settled.unit]
    facts = [_fact(unit) for unit in units if not is_trait(unit, settled.unit)]
    facts = [fact for fact in facts if fact.worth >= LEAST_WORTH]
    return Structure(
        headline=None if settled.unit is None else _fact(settled.unit),
        familiarity=settled.familiarity,
        copies=None if examined.copies is None else _fact(examined.copies),
        facts=tuple(facts),
        n_twins=settled.split.n_twins,
        twins_apart=settled.split.twins_apart,
        vouched=settings.independent,
    )


def is_trait(unit: "Unit", owner: "Unit | None") -> bool:
    """Whether a column is fixed for each owner, as an age is, and costs no more than new owners.

    New owners bring new values of it, so that the headline speaks of them already. A clinic of many
    patients is fixed for each of them, too, but new clinics cost more than new patients.
    """
    if owner is None or unit.kind != "owner" or owner.kind != "owner":
        return False
    pairs = np.unique(np.column_stack([owner.codes, unit.codes]), axis=0)
    return len(pairs) == owner.n_units and _fact(unit).worth <= _fact(owner).worth


def _fact(unit: "Unit") -> UnitFact:
    worth, effect = 0.0, unit.effect
    if effect is not None:  # only what chance does not explain
        sizes = [(effect.cost.value, effect.p_cost), (effect.hint, effect.p_hint)]
        sizes += [(effect.later or 0.0, 1.0 if effect.p_later is None else effect.p_later)]
        worth = max((size for size, p in sizes if p < LEVEL), default=0.0)
    return UnitFact(
        unit.kind, unit.columns, unit.n_units, len(unit.codes), unit.told, unit.matters, worth
    )
