"""Split, compare and choose so that the headline speaks of the right rows.

If a unit was found, or told, the comparison leaves whole units out. Beside it models are compared
with rows dealt at random: what the best of them does better is what there is to gain by having seen
the unit. A unit that was found and that is worth nothing to them is taken back: it becomes a fact,
and the next one is tried. The mere order of a file is judged by two quick models first, on training
rows of the plain split, whose comparison can then go on from theirs.
"""

from dataclasses import dataclass, replace

from corollary.reporting._clock import Clock
from corollary.reporting._errors import ReportError
from corollary.reporting._settings import Settings
from corollary.reporting.models._familiar import Familiarity, familiarity, random_folds
from corollary.reporting.models._selection import Comparison, compare_models, complete
from corollary.reporting.table._dependence import Examined, divide, noun_of
from corollary.reporting.table._profile import Subject
from corollary.reporting.table._split import Split
from corollary.validation import Unit, split_latest


@dataclass(frozen=True, eq=False)
class Settled:
    """The rows and the models of a report, settled."""

    subject: Subject
    split: Split
    comparison: Comparison
    unit: Unit | None = None  # what the headline speaks of new ones of; None for rows drawn alike
    familiarity: Familiarity | None = None  # what the model owes to having seen it


#: Models that judge whether the mere order of a file deserves the others: a plane and a local one.
SCOUTS = frozenset({"logistic", "ridge", "ridge-log", "forest", "forest-log"})
#: Share of the rows that models of the earlier ones are judged by.
LATE = 1 / 3


def settle(examined: Examined, settings: Settings, clock: Clock) -> Settled:
    """Choose the unit that bears the headline, and the model."""
    dependence, scouts = examined.dependence, None
    while (unit := dependence.unit) is not None:
        bears = True
        # Every file has an order, and most orders mean nothing.
        if unit.kind == "order" and not unit.told and not settings.fast:
            scouts = _compare(examined.subject, examined.alike, settings, clock, SCOUTS)
            bears = _bears(unit, _scout(examined, unit, scouts, settings, clock))
        if bears:
            careful = _judge(examined, unit, settings, clock)
            if careful.familiarity is not None and _bears(unit, careful.familiarity):
                return careful
        # A trend that the model continues is no reason to forget the owners.
        left = tuple(other for other in dependence.units if other is not unit)
        dependence = replace(dependence, units=left)
    if scouts is None:
        return _attempt(examined, None, settings, clock)
    subject, split = examined.subject, examined.alike
    y = subject.target.values[split.train]
    return Settled(subject, split, complete(scouts, y, clock))


def _scout(
    examined: Examined, unit: Unit, scouts: Comparison, settings: Settings, clock: Clock
) -> Familiarity:
    """Compare quick models of rows as dealt with the same models of the earlier rows."""
    subject, split = examined.subject, examined.alike
    assert unit.moments is not None
    folds = (split_latest(unit.moments[split.train], LATE),)
    ahead = _compare(subject, replace(split, folds=folds), settings, clock, SCOUTS)
    y, codes = subject.target.values[split.train], unit.codes[split.train]
    return familiarity(ahead, scouts, y, codes, dated=False)


def _judge(examined: Examined, unit: Unit, settings: Settings, clock: Clock) -> Settled:
    """Compare models with the unit left out, and with rows dealt at random."""
    careful = _attempt(examined, unit, settings, clock)
    split, comparison = careful.split, careful.comparison
    folds = random_folds(len(split.train), comparison.n_folds, settings.seed)
    # A model that has seen the owners may use their names.
    dealt = _compare(examined.subject, replace(split, folds=folds), settings, clock)
    y, codes = examined.subject.target.values[split.train], unit.codes[split.train]
    judged = familiarity(comparison, dealt, y, codes, dated=unit.kind == "time")
    return replace(careful, familiarity=judged)


def _bears(unit: Unit, judged: Familiarity) -> bool:
    """Tell whether the headline must speak of new ones of a unit."""
    # The order of a file without dates may mean anything: errors that change slowly along it
    # count only if later rows are harder as well.
    alike = judged.alike and (unit.kind != "order" or judged.excess > 0)
    return unit.told or judged.harder or alike


def _attempt(
    examined: Examined,
    unit: Unit | None,
    settings: Settings,
    clock: Clock,
) -> Settled:
    """Split by a unit and compare models."""
    subject, split = examined.subject, divide(examined, unit, settings)
    if unit is not None and unit.moments is None:
        subject = _without_names(subject, examined, unit)
    return Settled(subject, split, _compare(subject, split, settings, clock), unit)


def _compare(
    subject: Subject,
    split: Split,
    settings: Settings,
    clock: Clock,
    names: frozenset[str] | None = None,
) -> Comparison:
    """Compare models by the folds of a split."""
    if not subject.used.columns:
        raise ReportError(
            "data",
            f"No column of {subject.table.name} can be used: every one is empty, constant or an "
            "identifier.",
        )
    return compare_models(
        subject.used,
        subject.target,
        split,
        seed=settings.seed,
        fast=settings.fast,
        clock=clock,
        names=names,
    )


def _without_names(subject: Subject, examined: Examined, unit: Unit) -> Subject:
    """Leave out columns that name owners: new rows bring names that no model has seen."""
    names = {
        other.columns[0]
        for other in examined.dependence.units
        if other.kind == "owner" and other.matters and len(other.columns) == 1
    } | set(unit.columns if unit.kind == "owner" else ())
    why = "it names the {}, and the report speaks of new ones"
    plans = {
        name: replace(plan, why=plan.why or why.format(noun_of(name))) if name in names else plan
        for name, plan in subject.plans.items()
    }
    used = subject.used.select([name for name in subject.used.names if name not in names])
    return replace(subject, plans=plans, used=used)
