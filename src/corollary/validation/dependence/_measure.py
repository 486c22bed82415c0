"""What a unit is worth: rows dealt at random against whole units left out."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from corollary.validation.dependence._folds import FOLDS, Losses, Problem, deal
from corollary.validation.dependence._hashes import number_units
from corollary.validation.dependence._search.candidate import Candidate
from corollary.validation.dependence._search.table import Reading, rank_correlation
from corollary.validation.dependence._units import unit_means
from corollary.validation.dependence.excess import unit_excess
from corollary.validation.dependence.records import MOMENTS, UnitEffect
from corollary.validation.dependence.residuals import (
    intraclass_correlation,
    intraclass_p_value,
    sibling_correction,
)
from corollary.validation.dependence.slopes import slope_correction, slope_p_values

#: p-value of an effect of time below which the excess on later rows is measured again and again,
#: and how often.
SUSPECTED, REPEATS = 0.02, 6
#: Excess on later rows that is compared with placebos even if residuals do not know the time.
STRIKING, PLACEBOS = 0.1, 8
#: Successive rows of one owner that form a stretch.
SUCCESSIVE = 4
#: Rows that the latest quarter must have.
LEAST_LATER_ROWS = 20


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
            apart.loss[inner], base.loss[inner], codes[inner], **_floor(problem)
        )
        blocks = number_units(finer[rows] * (codes.max() + 1) + codes)
        p_added = intraclass_p_value(apart.residual[inner], codes[inner], blocks=blocks[inner])
        added = excess.value
    else:
        random, added, p_added = base, None, 1.0
    loss, residual, where = apart.loss[inner], apart.residual[inner], codes[inner]
    cost, p_cost = unit_excess(loss, random.loss[inner], where, **_floor(problem))
    hint, correlation, p_hint = _hint(problem, residual, where)
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


def _floor(problem: Problem) -> dict[str, float]:
    """Name the least denominator; above zero even for constant targets."""
    return {"floor": max(problem.floor, 1e-12)}


def _hint(problem: Problem, residual: np.ndarray, codes: np.ndarray) -> tuple[float, float, float]:
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


def add_later(
    problem: Problem,
    table: Reading,
    measurement: Measurement,
    base: Losses,
    finer: np.ndarray | None,
    rng: np.random.Generator,
) -> Measurement:
    """Measure the excess on the latest quarter, and whether residuals know the time."""
    candidate, rows = measurement.candidate, measurement.rows
    last = _latest(candidate, rows)
    if last is None:
        return measurement
    codes = number_units(candidate.unit.codes[rows])
    blocks = np.arange(len(rows)) if finer is None else number_units(finer[rows])
    columns = timeless(table, candidate)
    blind = problem.out_of_fold(rows, deal(blocks, rng), columns)
    inside = None if finer is None else number_units(blocks * (codes.max() + 1) + codes)
    p_levels = intraclass_p_value(blind.residual, codes, blocks=inside)
    ranks = table.ranks[np.ix_(rows, columns)]
    p_values = slope_p_values(blind.residual, ranks, codes, blocks=inside)
    p_slopes = min(1.0, len(p_values) * float(p_values.min()))
    p_later = min(1.0, 2 * min(p_levels, p_slopes))
    suspected = p_later < SUSPECTED
    # One forest differs from the next by as much as a drift is worth; their mean does not.
    again = [problem.reseeded(k) for k in range(1, REPEATS if suspected else 1)]
    before = [base.loss, *(p.out_of_fold(rows, deal(blocks, rng)).loss for p in again[::2])]
    first = _latest(candidate, rows, reverse=True)
    quarters = [last] if first is None or not suspected else [last, first]
    difference = []
    for quarter in quarters:
        folds = np.where(quarter, 0, -1)
        ahead = [p.out_of_fold(rows, folds).loss[quarter] for p in (problem, *again)]
        losses = np.mean(ahead, axis=0), np.mean(before, axis=0)[quarter]
        excess, _ = unit_excess(*losses, np.arange(quarter.sum()), **_floor(problem))
        difference.append(excess.value)
    if not suspected and difference[0] >= STRIKING:
        placebo = _placebo_p_value(problem, rows, last, columns, rng)
        p_later = min(1.0, 2 * min(p_later, placebo))
    effect = replace(measurement.effect, later=difference[0], p_later=p_later)
    if candidate.unit.kind == "time" and finer is None:
        corrected = problem.loss(slope_correction(blind.residual, ranks, codes)).mean()
        gain = float(blind.loss.mean() / max(corrected, problem.floor, 1e-12)) - 1
        if gain > effect.hint:
            effect = replace(effect, hint=gain, p_hint=p_slopes)
    return measurement._replace(effect=effect, ends=float(np.mean(difference)))


def _placebo_p_value(
    problem: Problem,
    rows: np.ndarray,
    last: np.ndarray,
    columns: np.ndarray,
    rng: np.random.Generator,
) -> float:
    """Compare the excess on later rows with that of quarters drawn at random, without the time.

    It sees changes of what columns mean that leave the mean of the residuals where it was. A model
    that knew the time would extrapolate it on later rows, and seem to err by that.
    """
    from scipy.special import stdtr

    base = problem.out_of_fold(rows, deal(np.arange(len(rows)), rng), columns).loss

    def excess(quarter: np.ndarray, k: int) -> float:
        loss = problem.reseeded(k).out_of_fold(rows, np.where(quarter, 0, -1), columns).loss
        before = base[quarter].mean()
        return float((loss[quarter].mean() - before) / max(before, problem.floor, 1e-12))

    later = np.mean([excess(last, k) for k in range(REPEATS)])
    null = [excess(rng.permutation(last), k) for k in range(PLACEBOS)]
    spread = float(np.std(null, ddof=1)) * np.sqrt(1 + 1 / PLACEBOS)
    return float(stdtr(PLACEBOS - 1, -(later - np.mean(null)) / max(spread, 1e-12)))


def add_panel(
    problem: Problem,
    table: Reading,
    measurement: Measurement,
    owner: Measurement,
    rng: np.random.Generator,
) -> Measurement:
    """Measure whether time matters within owners, whose effect would hide it."""
    candidate, rows, effect = measurement.candidate, owner.rows, measurement.effect
    moments = candidate.unit.moments
    assert moments is not None
    owners = number_units(owner.candidate.unit.codes[rows])
    runs = _successive(owners, moments[rows])
    hint, correlation, p_hint = _hint(
        problem, owner.apart.residual - unit_means(owner.apart.residual, owners), runs
    )
    if hint > effect.hint:
        effect = replace(effect, hint=hint, correlation=correlation, p_hint=p_hint)
    last = _latest(candidate, rows)
    if last is not None:
        blind = problem.out_of_fold(rows, deal(owners, rng), timeless(table, candidate)).residual
        deviation = blind - unit_means(blind, owners)
        p_values = [
            intraclass_p_value(deviation, codes)
            for codes in (number_units(candidate.unit.codes[rows]), runs)
        ]
        within = _later_within(problem, blind, owners, last, rng)
        if effect.later is not None and effect.p_later is not None:
            within, p_values = max(within, effect.later), [*p_values, effect.p_later]
        effect = replace(effect, later=within, p_later=min(1.0, len(p_values) * min(p_values)))
    return measurement._replace(effect=effect)


def timeless(table: Reading, candidate: Candidate) -> np.ndarray:
    """List the columns that do not tell the time."""
    from scipy.stats import rankdata

    moments = candidate.unit.moments
    assert moments is not None
    present = ~np.isnan(moments)
    ranks = np.zeros(len(moments))
    ranks[present] = rankdata(moments[present]) - (present.sum() + 1) / 2
    columns = [
        j
        for j in range(len(table.names))
        if j not in candidate.columns and abs(rank_correlation(table.ranks[:, j], ranks)) <= 0.9
    ]
    return np.array(columns or range(len(table.names)), dtype=np.int64)


def _latest(candidate: Candidate, rows: np.ndarray, *, reverse: bool = False) -> np.ndarray | None:
    """Mark the latest quarter of the rows, or the earliest; None where moments allow none."""
    from scipy.stats import rankdata

    moments = candidate.unit.moments
    if moments is None or not candidate.forward:
        return None
    values = -moments[rows] if reverse else moments[rows]
    values = np.where(np.isnan(values), -np.inf, values)
    last = rankdata(values, "min") / len(values) > 1 - 1 / FOLDS
    return last if LEAST_LATER_ROWS <= last.sum() <= len(rows) / 2 else None


def _successive(owners: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """Give units to stretches of successive rows of one owner."""
    order = np.lexsort((moments, owners))
    size = np.bincount(owners)
    place = np.empty(len(owners), dtype=np.int64)
    place[order] = np.arange(len(owners)) - np.repeat(np.cumsum(size) - size, size)
    return number_units(owners * len(owners) + place // SUCCESSIVE)


def _later_within(
    problem: Problem,
    residual: np.ndarray,
    owners: np.ndarray,
    last: np.ndarray,
    rng: np.random.Generator,
) -> float:
    """Excess on later rows if the owner's effect is known from earlier rows.

    The residuals are those of a model that knows neither owner nor time. The latest quarter is
    corrected by the mean of the owner's earlier rows, and in comparison by that of as many of its
    rows at random.
    """
    folds = deal(np.arange(len(owners)), rng)
    at_random = np.zeros_like(residual)
    for fold in range(FOLDS):
        means, _ = _means(residual, owners, folds != fold)
        at_random[folds == fold] = (residual - means[owners])[folds == fold]
    means, known = _means(residual, owners, ~last)
    rows = last & known[owners]
    if rows.sum() < LEAST_LATER_ROWS:
        return 0.0
    ahead = problem.loss((residual - means[owners])[rows]).mean()
    before = problem.loss(at_random[rows]).mean()
    return float((ahead - before) / max(before, problem.floor, 1e-12))


def _means(
    values: np.ndarray, owners: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean of the rows of each owner, zero where it has none; and whether it has any."""
    n = int(owners.max()) + 1
    size = np.bincount(owners[rows], minlength=n)
    sums = [np.bincount(owners[rows], weights=column[rows], minlength=n) for column in values.T]
    return np.column_stack(sums) / np.maximum(size, 1)[:, None], size > 0
