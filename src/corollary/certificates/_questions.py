"""What is asked of the theorems, and what the rows let one assume.

Rows are independent draws, or they have owners or moments; theorems about the former say nothing
about the latter, and are not asked.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np

from corollary.certificates._dependence import Dependence, list_owners
from corollary.core.certificate import Assumption, Population
from corollary.core.guard import (
    count_different,
    is_suspicious,
    look_up,
    refuse_training_groups,
    refuse_training_rows,
)
from corollary.core.protocols import HasCalibrationCells, PredictsRegions


class Question(NamedTuple):
    """Which theorems are asked, and about what."""

    needs: str  # which rows they need
    # what the rows let one assume; None for theorems that state it all
    assumptions: tuple[Assumption, ...] | None
    population: Population = Population()

    def vouched(self) -> tuple[Assumption, ...]:
        """Return the assumptions, those that are not about draws as checked."""
        return tuple(a if a.about == "draws" else a.vouched() for a in self.assumptions or ())


def ask_independent(
    model: Any, X: Any, y: np.ndarray, *, seen: bool, anytime: bool, kept_aside: bool
) -> list[Question]:
    """Ask about rows drawn like these."""
    remembered = Question("model", None)
    regions = isinstance(model, PredictsRegions)
    if seen:
        # Thresholds come from other rows than the model; no theorem speaks of both.
        return (
            [remembered]
            if regions
            else [Question("seen", _check_seen(model, X, len(y))), remembered]
        )
    if regions:
        _refuse_calibration_rows(model, X, y)
    needs = "anytime" if anytime else "unseen"
    return [Question(needs, _check_unseen(model, X, len(y), kept_aside)), remembered]


def ask_dependent(
    model: Any, X: Any, y: np.ndarray, dependence: Dependence, *, kept_aside: bool
) -> list[Question]:
    """Ask about rows of new owners, or about a period."""
    if isinstance(model, PredictsRegions):
        _refuse_calibration_rows(model, X, y)
    unused = _check_unseen(model, X, len(y), kept_aside)[1]
    questions = []
    if dependence.owners is not None:
        population = dependence.owners
        told = _check_owners(model, X, dependence)
        new = f"No row of these {population.pieces} trained, tuned or calibrated the model."
        questions.append(
            Question(
                "units",
                (
                    Assumption(_drawn(dependence, len(y)), "draws"),
                    unused,
                    # To keep rows aside does not keep their owners aside.
                    Assumption(new, "draws", checked=told),
                ),
                population,
            )
        )
    if dependence.period is not None:
        fixed = Assumption(
            "The model was fixed before the first of these rows, and rows were not selected by "
            "their targets; they may depend on each other in any way.",
            "rows",
        )
        questions.append(Question("period", (fixed, unused), dependence.period))
    return questions


def _drawn(dependence: Dependence, n: int) -> str:
    population = dependence.owners
    assert population is not None
    given = "" if dependence.period is None else ", given what the period did to all of them"
    return (
        f"The {population.count(dependence.n_owners)}, with {n:,} rows, are independent draws from "
        f"those the claim is about{given}; rows of one {population.piece} may depend on each other "
        "in any way."
    )


def _check_owners(model: Any, X: Any, dependence: Dependence) -> bool:
    """Refuse owners with training rows; say whether these were known."""
    population = dependence.owners
    assert population is not None
    repair = f"Pass rows of other {population.pieces}"
    repair += ", or leave 'groups' out and certify the period by 'time'."
    if dependence.training_groups is not None:
        trained = list_owners(dependence.training_groups, "training_groups")
        _check_same_kind(trained, dependence.labels)
        shared = [label for label in dict.fromkeys(dependence.labels) if label in set(trained)]
        if shared:
            raise ValueError(
                f"certify with 'groups' needs rows of {population.pieces} that "
                f"{type(model).__name__} was not trained on. Found {len(shared)} of "
                f"{dependence.n_owners} among 'training_groups', such as {shared[0]!r}. {repair}"
            )
    remembers = refuse_training_groups(
        model, X, dependence.given, who="certify", unit=population.piece, repair=repair
    )
    return remembers or dependence.training_groups is not None


def _check_same_kind(trained: list, tested: list) -> None:
    """Refuse text on one side and numbers on the other: they never agree."""
    kinds = [{isinstance(label, str) for label in labels} for labels in (trained, tested)]
    if kinds[0].isdisjoint(kinds[1]):
        raise ValueError(
            "The 'groups' and 'training_groups' parameters of certify must name owners alike. Got "
            f"{tested[0]!r} in one and {trained[0]!r} in the other, of which no two can agree."
        )


def _refuse_calibration_rows(model: Any, X: Any, y: np.ndarray) -> None:
    """Raise if rows that should be new to a wrapper are those that calibrated it."""
    if isinstance(model, HasCalibrationCells) and model.calibrated_on(X, y):
        raise ValueError(
            f"certify needs rows that {type(model).__name__} was not calibrated on. Got rows with "
            "the scores of its calibration rows. Pass rows kept aside, or seen=True to ask what "
            "the calibration rows prove."
        )


def _check_unseen(model: Any, X: Any, n: int, kept_aside: bool) -> tuple[Assumption, ...]:
    overlaps = refuse_training_rows(
        model,
        X,
        who="certify",
        repair="Pass rows kept aside, or seen=True to ask for theorems about training rows.",
    )
    drawn = "The row is a draw from the population the claim is about."
    if n > 1:
        drawn = (
            f"The {n:,} rows{_repeats(X, n)} are independent draws from the population the claim "
            "is about."
        )
    repeated = max((overlap.seen for overlap in overlaps), default=0)
    if not overlaps and kept_aside:
        unused = "The rows were kept aside from the training and from every choice of the model."
    elif not overlaps:
        _warn_of_no_record(model)
        unused = (
            "The rows were used neither to train the model, which keeps no record of its training "
            "rows, nor to choose it."
        )
    elif repeated:
        unused = (
            "The rows were used neither to train nor to choose the model "
            f"({repeated} equal a training row, no more than repeated rows explain)."
        )
    else:
        unused = (
            "The rows were not used to choose the model (that it was not trained on them was "
            "checked)."
        )
    return Assumption(drawn, "draws"), Assumption(unused, "rows")


def _warn_of_no_record(model: Any) -> None:
    warnings.warn(
        f"{type(model).__name__} keeps no record of its training rows, so certify cannot check "
        "that these rows are new to it; from training rows the certificates would be false. If "
        "the rows were kept aside from training and from every choice, pass kept_aside=True.",
        UserWarning,
        stacklevel=6,
    )


def _repeats(X: Any, n: int) -> str:
    """Say how many rows are different where most of them are copies."""
    different = count_different(X)
    return "" if different is None or 2 * different > n else f", {different:,} of them different,"


def _check_seen(model: Any, X: Any, n: int) -> tuple[Assumption, ...]:
    drawn = f"The {n:,} training rows{_repeats(X, n)} are independent draws from the population."
    overlaps = look_up(model, X)
    if not overlaps:
        same = "The rows are exactly those the model was trained on."
        return Assumption(drawn, "draws"), Assumption(same, "rows")
    for fingerprint, overlap in overlaps:
        if fingerprint.n_rows == n and overlap.seen == overlap.compared:
            return (Assumption(drawn, "draws"),)
    best = max((overlap for _, overlap in overlaps), key=lambda overlap: overlap.seen)
    note = "" if is_suspicious(best) else " Leave seen=True out to certify from new rows."
    raise ValueError(
        f"seen=True needs exactly the rows that {type(model).__name__} was trained on. Got {n} "
        f"rows, of which {best.seen} of {best.compared} compared are among its "
        f"{max(fingerprint.n_rows for fingerprint, _ in overlaps)} training rows.{note}"
    )
