"""What later rows cost: a model of earlier rows against one of rows dealt at random."""

from dataclasses import dataclass, replace

import numpy as np

from corollary.validation.dependence._folds import FOLDS, Losses, Problem, deal
from corollary.validation.dependence._hashes import number_units
from corollary.validation.dependence._measure import Measurement, floor_of, hint_of
from corollary.validation.dependence._search.candidate import Candidate
from corollary.validation.dependence._search.table import Reading, rank_correlation
from corollary.validation.dependence._units import unit_means
from corollary.validation.dependence.excess import unit_excess
from corollary.validation.dependence.residuals import intraclass_p_value
from corollary.validation.dependence.slopes import slope_correction, slope_p_values

#: p-value of an effect of time below which the excess on later rows is measured again, how often,
#: and excesses so near to what is worth a question that twice do not suffice.
SUSPECTED, REPEATS, UNCLEAR = 0.02, 6, (-0.05, 0.17)
#: Excess on later rows that is compared with placebos even if residuals do not know the time.
STRIKING, PLACEBOS = 0.1, 8
#: Strata of rows that are equally likely to be late.
STRATA = 8
#: Successive rows of one owner that form a stretch.
SUCCESSIVE = 4
#: Rows that the latest quarter must have.
LEAST_LATER_ROWS = 20


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
    # Where no column tells the time the base is blind to it.
    is_blind = len(columns) == problem.features.shape[1]
    blind = base if is_blind else problem.out_of_fold(rows, deal(blocks, rng), columns)
    inside = None if finer is None else number_units(blocks * (codes.max() + 1) + codes)
    p_levels = intraclass_p_value(blind.residual, codes, blocks=inside)
    ranks = table.ranks[np.ix_(rows, columns)]
    p_values = slope_p_values(blind.residual, ranks, codes, blocks=inside)
    p_slopes = min(1.0, len(p_values) * float(p_values.min()))
    p_later = min(1.0, 2 * min(p_levels, p_slopes))
    forests = _Forests(problem, rows, blocks, [base.loss], rng)
    if p_later < SUSPECTED:
        later, ends = _repeated(forests, candidate, last)
    else:
        later = ends = forests.excess(last, [], 1)
        if later >= STRIKING:
            strata = _strata(table.ranks[:, columns], rows, last, problem.seed, rng)
            placebo = _placebo_p_value(problem, rows, last, columns, blind.loss, strata, rng)
            p_later = min(1.0, 2 * min(p_later, placebo))
    effect = replace(measurement.effect, later=later, p_later=p_later)
    if candidate.unit.kind == "time" and finer is None:
        corrected = problem.loss(slope_correction(blind.residual, ranks, codes)).mean()
        gain = float(blind.loss.mean() / max(corrected, problem.floor, 1e-12)) - 1
        if gain > effect.hint:
            effect = replace(effect, hint=gain, p_hint=p_slopes)
    return measurement._replace(effect=effect, ends=ends)


@dataclass(frozen=True, eq=False)
class _Forests:
    """Models of several seeds: one differs from the next by as much as a drift is worth."""

    problem: Problem
    rows: np.ndarray
    blocks: np.ndarray
    before: list[np.ndarray]  # losses with blocks dealt at random
    rng: np.random.Generator

    def excess(self, quarter: np.ndarray, ahead: list[np.ndarray], n: int) -> float:
        """Compare losses of a quarter that was left out with those before; add to both lists."""
        for k in range(len(ahead), n):
            losses = self.problem.reseeded(k).out_of_fold(self.rows, np.where(quarter, 0, -1)).loss
            ahead.append(losses[quarter])
        for k in range(len(self.before), 1 + n // 2):
            folds = deal(self.blocks, self.rng)
            self.before.append(self.problem.reseeded(k).out_of_fold(self.rows, folds).loss)
        losses = np.mean(ahead, axis=0), np.mean(self.before, axis=0)[quarter]
        excess, _ = unit_excess(*losses, np.arange(quarter.sum()), **floor_of(self.problem))
        return excess.value


def _repeated(forests: _Forests, candidate: Candidate, last: np.ndarray) -> tuple[float, float]:
    """Measure the excess on the latest quarter, and its mean with that on the earliest.

    Two models suffice where no threshold is near.
    """
    ahead: list[np.ndarray] = []
    later = forests.excess(last, ahead, 2)
    if not UNCLEAR[0] < later < UNCLEAR[1]:
        return later, later
    later = forests.excess(last, ahead, REPEATS)
    first = _latest(candidate, forests.rows, reverse=True)
    if first is None or candidate.unit.kind != "time":
        return later, later
    return later, (later + forests.excess(first, [], REPEATS)) / 2


def _placebo_p_value(
    problem: Problem,
    rows: np.ndarray,
    last: np.ndarray,
    columns: np.ndarray,
    base: np.ndarray,
    strata: np.ndarray,
    rng: np.random.Generator,
) -> float:
    """Compare the excess over the base on later rows with that on quarters drawn within strata.

    It sees changes of what columns mean that leave the mean of the residuals where it was. The
    columns do not tell the time, which a model would extrapolate, and seem to err by that.
    """
    from scipy.special import stdtr

    def excess(quarter: np.ndarray, k: int) -> float:
        loss = problem.reseeded(k).out_of_fold(rows, np.where(quarter, 0, -1), columns).loss
        before = base[quarter].mean()
        return float((loss[quarter].mean() - before) / max(before, problem.floor, 1e-12))

    later = np.mean([excess(last, k) for k in range(REPEATS)])
    null = [excess(_dealt_within(strata, last, rng), k) for k in range(PLACEBOS)]
    spread = float(np.std(null, ddof=1)) * np.sqrt(1 + 1 / PLACEBOS)
    return float(stdtr(PLACEBOS - 1, -(later - np.mean(null)) / max(spread, 1e-12)))


def _strata(
    columns: np.ndarray, rows: np.ndarray, last: np.ndarray, seed: int, rng: np.random.Generator
) -> np.ndarray:
    """Group rows that by their columns are equally likely to be late (Rosenbaum's propensity).

    Later rows may be harder because earlier ones of their kind are few, as in the second half of a
    year. Placebos of the same kinds are as hard.
    """
    from scipy.stats import rankdata

    late = np.zeros(len(columns), dtype=np.int64)
    late[rows] = last
    problem = Problem(columns.astype(np.float32), late, 2, 0.0, None, seed)
    folds = deal(np.arange(len(rows)), rng)
    chance = last - problem.out_of_fold(rows, folds).residual[:, 1]
    return ((rankdata(chance) - 1) * STRATA / len(rows)).astype(np.int64)


def _dealt_within(strata: np.ndarray, marks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Deal the marks of each stratum to its rows anew."""
    shuffled = rng.permutation(len(marks))
    places = shuffled[np.argsort(strata[shuffled], kind="stable")]
    dealt = np.empty_like(marks)
    dealt[places] = marks[np.argsort(strata, kind="stable")]
    return dealt


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
    hint, correlation, p_hint = hint_of(
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
