"""What a unit is worth: rows dealt at random against whole units left out."""

from typing import NamedTuple

import numpy as np

from corollary.validation.dependence._folds import Losses, Problem, deal
from corollary.validation.dependence._hashes import number_units
from corollary.validation.dependence._search.candidate import Candidate
from corollary.validation.dependence.excess import unit_excess
from corollary.validation.dependence.records import MOMENTS, UnitEffect
from corollary.validation.dependence.residuals import (
    intraclass_correlation,
    intraclass_p_value,
    sibling_correction,
)


class Measurement(NamedTuple):
    """The worth of a candidate, and what later candidates need to know of it."""

    candidate: Candidate
    effect: UnitEffect
    rows: np.ndarray
    apart: Losses
    added: float | None = None  # excess over a finer unit that matters, if there is one
    p_added: float = 1.0
    ends: float = 0.0  # mean excess of the latest quarter and of the earliest, from the others


def measure(
    problem: Problem,
    candidate: Candidate,
    rows: np.ndarray,
    base: Losses,
    finer: np.ndarray | None,
    rng: np.random.Generator,
) -> Measurement:
    """Measure a candidate on some rows; `finer` are units within it that matter, `base` theirs."""
    unit = candidate.unit
    codes = number_units(unit.codes[rows])
    apart = problem.out_of_fold(rows, deal(codes, rng))
    inner = _inner(candidate, rows, codes)
    if finer is not None:
        random = problem.out_of_fold(rows, deal(np.arange(len(rows)), rng))
        excess, _ = unit_excess(
            apart.loss[inner], base.loss[inner], codes[inner], **floor_of(problem)
        )
        blocks = number_units(finer[rows] * (codes.max() + 1) + codes)
        p_added = intraclass_p_value(apart.residual[inner], codes[inner], blocks=blocks[inner])
        added = excess.value
    else:
        random, added, p_added = base, None, 1.0
    loss, residual, where = apart.loss[inner], apart.residual[inner], codes[inner]
    cost, p_cost = unit_excess(loss, random.loss[inner], where, **floor_of(problem))
    hint, correlation, p_hint = hint_of(problem, residual, where)
    effect = UnitEffect(
        cost=cost,
        hint=hint,
        correlation=correlation,
        p_cost=p_cost,
        p_hint=p_hint,
        loss_random=float(random.loss.mean()),
        loss_apart=float(apart.loss.mean()),
    )
    return Measurement(candidate, effect, rows, apart, added, p_added)


def floor_of(problem: Problem) -> dict[str, float]:
    """Name the least denominator; above zero even for constant targets."""
    return {"floor": max(problem.floor, 1e-12)}


def hint_of(
    problem: Problem, residual: np.ndarray, codes: np.ndarray
) -> tuple[float, float, float]:
    """Say what a model that knows the unit could gain; correlation within units and its p-value."""
    correlation = intraclass_correlation(residual, codes)
    corrected = problem.loss(sibling_correction(residual, codes, correlation)).mean()
    gain = problem.loss(residual).mean() - corrected
    p_value = intraclass_p_value(residual, codes)
    return float(gain / max(corrected, problem.floor, 1e-12)), correlation, p_value


def _inner(candidate: Candidate, rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Leave out the ends of a scale: they are extrapolated, which is no sign of dependence."""
    unit = candidate.unit
    scale = unit.moments if unit.kind in MOMENTS else None
    if scale is None and candidate.scale is not None and not unit.signs and not unit.told:
        scale = candidate.scale
    if scale is None or np.isnan(scale[rows]).all():
        return np.ones(len(rows), dtype=bool)
    ends = codes[[np.nanargmin(scale[rows]), np.nanargmax(scale[rows])]]
    inner = ~np.isin(codes, ends)
    return inner if inner.sum() > len(rows) / 3 else np.ones(len(rows), dtype=bool)
