"""What is odd about a table, in sentences a reader can check.

A finding asks the reader to act only when values are wrong under any reading we can think of (a
length of zero among lengths, a code such as 9999 among measurements). Everything else is a
question or a harmless fact.
"""

from collections.abc import Sequence

import numpy as np

from corollary.reporting._records import Finding
from corollary.reporting.table._odd_values import (
    codes_as_numbers,
    impossible_zeros,
    isolated_values,
    lone_negatives,
    sentinel_values,
)
from corollary.reporting.table._predicts_alone import predicts_alone
from corollary.reporting.table._target import Target
from corollary.representation import (
    ColumnContent,
    ColumnTable,
)


def find_oddities(
    table: ColumnTable, plans: dict[str, ColumnContent], target: Target
) -> list[Finding]:
    """List what a reader should know about the data."""
    from pandas.api import types

    act, ask, know = [], [], []
    numeric = {
        column.name: column.numbers
        for column in table.columns
        if plans[column.name].kind == "numeric" and not plans[column.name].why
    }
    for column in table.columns:
        name, plan = column.name, plans[column.name]
        if name in numeric:
            zeros = impossible_zeros(name, numeric[name], target.rows, numeric)
            act += [finding for finding in zeros if finding.act]
            ask += [finding for finding in zeros if not finding.act]
            act += sentinel_values(name, numeric[name], target.rows)
            negatives = lone_negatives(name, numeric[name], target.rows)
            ask += negatives or isolated_values(name, numeric[name], target.rows)
            ask += codes_as_numbers(name, numeric[name])
        if not plan.why and predicts_alone(column, plan, target):
            ask.append(
                Finding(
                    "predicts-alone",
                    f"{name!r} alone predicts {target.name!r} almost perfectly. Is it known before "
                    "the target is? If it is a consequence of the target, leave it out.",
                    columns=(name,),
                )
            )
        # Notes of a column of numbers that did not arrive as such are about its other words.
        mixed = plan.kind == "numeric" and not types.is_numeric_dtype(column.values.dtype)
        know += [
            Finding(
                "mixed-column" if mixed else "column-note",
                f"{name!r}: {note}.",
                columns=(name,),
            )
            for note in plan.notes
        ]
        if plan.kind == "category" and not plan.why:
            ask += alike_values(name, column.strings[1])
    ask += alike_values(target.name, target.classes)
    know += _missing(table, plans, target)
    know += _unused(plans)
    know += _rare_classes(target)
    know += [Finding("target-note", note, columns=(target.name,)) for note in target.notes]
    return act + ask + know


def _missing(table: ColumnTable, plans: dict[str, ColumnContent], target: Target) -> list[Finding]:
    found = []
    if target.n_dropped:
        n = target.n_dropped
        sentence = (
            f"{n:,} row{'s' * (n > 1)} without {_value(target)} {target.name!r} "
            f"{'were' if n > 1 else 'was'} left out."
        )
        found.append(Finding("missing-target", sentence, columns=(target.name,)))
    gaps = {column.name: int(column.values.isna().sum()) for column in table.columns}
    gaps = {name: n for name, n in gaps.items() if n and plans[name].kind != "empty"}
    if gaps:
        worst = max(gaps, key=lambda c: gaps[c])
        n = gaps[worst]
        sentence = f"{len(gaps)} columns have missing values; most of all {worst!r}"
        if len(gaps) == 1:
            sentence = f"{worst!r} has missing values"
        sentence += f" ({n:,} row{'s' * (n > 1)}, {_share(n / len(table))})."
        if any(plans[name].kind in ("numeric", "boolean", "date") for name in gaps):
            sentence += (
                " Missing numbers were filled by what the other numbers of the row tell, or by the "
                "median, and marked."
            )
        found.append(Finding("missing-values", sentence, columns=tuple(gaps)))
    return found


def _share(share: float) -> str:
    return f"{share:.0%}" if share >= 0.1 else f"{100 * share:.2g}%"


def _value(target: Target) -> str:
    return "a value of" if target.classes else "a number in"


def _unused(plans: dict[str, ColumnContent]) -> list[Finding]:
    kinds = {"empty": "empty-column", "constant": "constant-column", "identifier": "identifier"}
    return [
        Finding(
            kinds.get(plan.kind, "row-number"),
            f"{name!r} is not used: {plan.why}.",
            columns=(name,),
        )
        for name, plan in plans.items()
        if plan.why
    ]


def alike_values(name: str, values: Sequence[str]) -> list[Finding]:
    """Find categories that differ in nothing but capitals and spaces."""
    alike: dict[str, list[str]] = {}
    for value in values:
        alike.setdefault(" ".join(value.split()).casefold(), []).append(value)
    groups = [group for group in alike.values() if len(group) > 1]
    if not groups:
        return []
    pairs = "; ".join(", ".join(map(repr, group)) for group in groups[:3])
    more = f" and {len(groups) - 3} more" * (len(groups) > 3)
    sentence = (
        f"{name!r} holds values that differ in nothing but capitals and spaces: {pairs}{more}. "
        "Should they be one? They were read as different."
    )
    return [Finding("alike-values", sentence, columns=(name,))]


def _rare_classes(target: Target) -> list[Finding]:
    if target.task != "classification":
        return []
    counts = np.bincount(target.values, minlength=len(target.classes))
    rare = [(target.classes[i], int(c)) for i, c in enumerate(counts) if c < 10]
    if not rare:
        return []
    names = ", ".join(f"{name!r} ({c})" for name, c in rare[:5]) + ", ..." * (len(rare) > 5)
    sentence = f"Classes with fewer than 10 rows: {names}. Little can be said about them."
    return [Finding("rare-class", sentence, columns=(target.name,))]
