"""Which plan a column gets, and what plans are in model files, today's and earlier ones."""

import dataclasses
from typing import Any

import numpy as np

from corollary.core.schema import Schema, Sizes, Spec
from corollary.representation.table.column import Column
from corollary.representation.table.date_plan import DatePlan
from corollary.representation.table.level_plans import IndicatorPlan, LevelPlan
from corollary.representation.table.number_plan import NumberPlan
from corollary.representation.table.plan import ColumnPlan, UnusedPlan
from corollary.representation.table.text_plan import TextPlan


def learn_plan(
    column: Column, target: np.ndarray | None, *, max_levels: int, dimensions: int, seed: int
) -> ColumnPlan:
    """Learn how to encode a column."""
    content = column.content
    if content.kind in ("numeric", "boolean"):
        return NumberPlan.learn(column)
    if content.kind == "date":
        return DatePlan.learn(column)
    if content.kind == "text":
        return TextPlan.learn(column, dimensions, seed)
    if content.kind == "category":
        if len(column.strings[1]) <= max_levels:
            return IndicatorPlan.learn(column)
        return LevelPlan.learn(column, target, max_levels)
    return UnusedPlan(column.name, content.kind, content.notes, content.why)


def read_plan(saved: Any) -> ColumnPlan:
    """Return a plan from a model file; those of earlier versions are dictionaries."""
    if isinstance(saved, ColumnPlan):
        return saved
    fields = dict(saved)
    kind, features = fields["kind"], fields.pop("features")
    if kind in ("numeric", "boolean"):
        return NumberPlan(**fields)
    if kind == "date":
        return DatePlan(date_format=fields.pop("format"), **fields)
    if kind == "text":
        return TextPlan(**fields)
    if kind != "category":
        return UnusedPlan(**fields)
    if "statistics" not in fields:
        return IndicatorPlan(**fields)
    described = features[1 : 1 + fields["statistics"].shape[1]]
    return LevelPlan(
        statistic_names=[name for name, _ in described],
        of_target=("each" in {scaled for _, scaled in described}),
        **fields,
    )


class PlanSpec(Spec):
    """What a saved plan must look like; a file's plan is believed in nothing."""

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`corollary.core.schema.Spec`."""
        if isinstance(value, ColumnPlan):
            return True  # files check every object by its own schema
        try:
            plan = read_plan(value)
        except (AttributeError, LookupError, TypeError, ValueError):
            return False
        schema: Schema = vars(type(plan))["_schema"]
        fields = {f.name: getattr(plan, f.name) for f in dataclasses.fields(plan)}
        fits = schema.problem({}, fields) is None
        return fits and (schema.check is None or schema.check(plan) is None)
