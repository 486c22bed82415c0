"""Split, compare and choose so that the headline speaks of the right rows.

If a unit was found, or told, the comparison leaves whole units out. A unit that was found and that
the chosen model owes nothing to is taken back: it becomes a fact. But the model that is chosen with
units left out is one that cannot use them; so rows are dealt at random once more, and the unit is
taken back only if the model that is chosen then owes nothing to it either.
"""

from dataclasses import dataclass, replace

import numpy as np

from corollary.reporting._clock import Clock, Stage
from corollary.reporting._errors import ReportError
from corollary.reporting._settings import Settings
from corollary.reporting.models._familiar import Familiarity, familiarity, random_folds
from corollary.reporting.models._selection import Comparison, compare_models
from corollary.reporting.table._dependence import Examined, divide, noun_of
from corollary.reporting.table._profile import Subject
from corollary.reporting.table._split import Folds, Split, as_folds
from corollary.validation import Unit, forward_folds, unit_folds


@dataclass(frozen=True, eq=False)
class Settled:
    """The rows and the models of a report, settled."""

    subject: Subject
    split: Split
    comparison: Comparison
    unit: Unit | None = None  # what the headline speaks of new ones of; None for rows drawn alike
    familiarity: Familiarity | None = None  # what the model owes to having seen it


def settle(examined: Examined, settings: Settings, clock: Clock) -> Settled:
    """Choose the unit that bears the headline, and the model."""
    subject, unit = examined.subject, examined.dependence.unit
    if unit is None:
        return _attempt(examined, None, settings, clock)
    careful = _attempt(examined, unit, settings, clock)
    rows, n_folds = careful.comparison.compared, careful.comparison.n_folds
    with clock.stage(Stage.COMPARING):
        # A model that has seen the owners may use their names.
        dealt = random_folds(rows, n_folds, settings.seed)
        careful = _judge(careful, unit, subject, dealt, other_seen=True)
    assert careful.familiarity is not None
    if unit.told or careful.familiarity.matters:
        return careful
    plain = _attempt(examined, None, settings, clock)
    with clock.stage(Stage.COMPARING):
        apart = _unit_folds(unit, plain, settings)
        plain = _judge(plain, unit, subject, apart, other_seen=False)
    assert plain.familiarity is not None
    if not plain.familiarity.matters:
        return plain
    # What the unit is worth shows in the model that can use it.
    return replace(careful, familiarity=plain.familiarity)


def _attempt(examined: Examined, unit: Unit | None, settings: Settings, clock: Clock) -> Settled:
    """Split by a unit and compare models."""
    subject, split = examined.subject, divide(examined, unit, settings)
    if unit is not None and unit.moments is None:
        subject = _without_names(subject, examined, unit)
    if not subject.used.columns:
        raise ReportError(
            "data",
            f"No column of {subject.table.name} can be used: every one is empty, constant or an "
            "identifier.",
        )
    comparison = compare_models(
        subject.used, subject.target, split, seed=settings.seed, fast=settings.fast, clock=clock
    )
    return Settled(subject, split, comparison, unit)


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


def _unit_folds(unit: Unit, plain: Settled, settings: Settings) -> Folds:
    """Divide the compared training rows so that whole units are left out."""
    rows = plain.comparison.compared
    positions = plain.split.train[rows]
    n_folds = plain.comparison.n_folds
    if unit.moments is not None:
        folds = tuple(forward_folds(unit.moments[positions], n_folds))
    else:
        codes = unit.codes[positions]
        n_folds = min(n_folds, len(np.unique(codes)))
        folds = as_folds(unit_folds(codes, n_folds, random_state=settings.seed))
    return tuple((rows[train], rows[held]) for train, held in folds)


def _judge(
    settled: Settled, unit: Unit, subject: Subject, other: Folds, *, other_seen: bool
) -> Settled:
    """Measure what the chosen model owes to having seen the unit."""
    train = settled.split.train
    judged = familiarity(
        subject.used.take(train),
        settled.subject.target.values[train],
        unit.codes[train],
        settled.comparison,
        other,
        other_seen=other_seen,
    )
    return replace(settled, familiarity=judged)
