"""What the predictions lean on: permuted columns, stand-ins, effect curves.

All features of a column are shuffled together among the test rows, which is the same as shuffling
the column itself since rows are encoded one by one.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from corollary.ensemble import grouped_importance
from corollary.reporting._records import Effect, Importance
from corollary.reporting.models._losses import Loss
from corollary.reporting.models._predictor import Predictor
from corollary.reporting.models._trials import predict_with
from corollary.representation import Column, ColumnPlan, ColumnTable, DatePlan, TableEncoder
from corollary.validation import Estimate

REPEATS = 5
#: Test rows that importances and effects are computed on, at most.
MOST_ROWS = 2_000
#: Columns beyond which few rows screen them, those rows, and the columns that all rows then judge.
MANY_COLUMNS, SCREENING_ROWS, FOREMOST = 100, 100, 50
#: Seconds of a day.
DAY = 86400
#: Rows each effect curve is averaged over, its points, and the columns that get one.
EFFECT_ROWS, EFFECT_POINTS, EFFECT_COLUMNS = 300, 21, 6
#: Columns whose best correlated features reach this carry nearly the same information.
STAND_IN = 0.9
#: How far a mean may lie beyond all predictions, in units of their range, until it is impossible.
SLACK = 0.1


def column_importances(
    predict: Callable[[np.ndarray], np.ndarray],
    encoder: TableEncoder,
    features: np.ndarray,
    y: np.ndarray,
    loss: Loss,
    *,
    predicted: np.ndarray,
    stand_ins: dict[str, tuple[str, ...]],
    confidence: float,
    repeats: int,
    seed: int,
    inflation: float = 1.0,
) -> tuple[Importance, ...]:
    """Measure how much the loss rises when a column is shuffled in the test rows.

    `inflation` widens the intervals where rows are not independent.
    """
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(len(y))
    used = np.array([j for j, plan in enumerate(encoder.plans_) if plan.width], dtype=int)

    def rises_of(columns: np.ndarray, most: int, n_repeats: int) -> list[Estimate]:
        """Shuffle some of the columns among some of the rows."""
        rows = np.sort(drawn[:most])
        found = grouped_importance(
            predict,
            features[rows],
            y[rows],
            [np.flatnonzero(encoder.feature_columns_ == j) for j in columns],
            loss,
            predicted=predicted[rows],
            n_repeats=n_repeats,
            confidence=confidence,
            random_state=rng,
        )
        return [
            Estimate(
                one.rise,
                one.rise - inflation * (one.rise - one.low),
                one.rise + inflation * (one.high - one.rise),
                one.n,
            )
            for one in found
        ]

    foremost: np.ndarray = np.arange(len(used))
    rises: list[Estimate] = []
    if len(used) > MANY_COLUMNS:
        # A few rows tell which of many columns deserve a closer look; the others keep what those
        # rows say of them, with its wide interval.
        rises = rises_of(used, SCREENING_ROWS, 1)
        foremost = np.argsort([-rise.value for rise in rises], kind="stable")[:FOREMOST]
    closer = dict(zip(foremost.tolist(), rises_of(used[foremost], MOST_ROWS, repeats)))
    order = sorted(closer, key=lambda k: -closer[k].value)
    order += sorted(set(range(len(used))) - set(closer), key=lambda k: -rises[k].value)
    importances = []
    for k in order:
        name, rise = encoder.plans_[used[k]].name, closer.get(k) or rises[k]
        importances.append(Importance(name, rise, stand_ins.get(name, ())))
    return tuple(importances)


def find_stand_ins(encoder: TableEncoder, features: np.ndarray) -> dict[str, tuple[str, ...]]:
    """Find columns that carry nearly the same information."""
    from scipy.stats import rankdata

    features = features[:5_000]
    ranks = np.column_stack([rankdata(feature) for feature in features.T])
    spread = ranks.std(axis=0)
    varies = spread > 0
    scaled = (ranks - ranks.mean(axis=0)) / np.where(varies, spread, 1.0)
    correlation = np.abs(scaled.T @ scaled) / len(features)
    columns = encoder.feature_columns_
    names = [plan.name for plan in encoder.plans_]
    strongest = np.zeros((len(names), len(names)))
    for a, b in np.argwhere(np.triu(correlation >= STAND_IN, 1)):
        i, j = columns[a], columns[b]
        if i != j:
            value = max(strongest[i, j], correlation[a, b])
            strongest[i, j] = strongest[j, i] = value
    found = {}
    for i, name in enumerate(names):
        order = np.argsort(-strongest[i], kind="stable")
        mates = [names[j] for j in order if strongest[i, j] > 0][:5]
        if mates:
            found[name] = tuple(mates)
    return found


def column_effects(
    predictor: Predictor,
    encoder: TableEncoder,
    table: ColumnTable,
    features: np.ndarray,
    columns: list[str],
    of_class: tuple[int, str],
    seed: int,
    *,
    predicted: np.ndarray,
) -> tuple[Effect, ...]:
    """Trace the mean prediction as one column moves and all others stay.

    Where that leads beyond all predictions for real rows, no row is like those moved ones; the
    curve is then the mean prediction of the rows that have about the value.
    """
    rng = np.random.default_rng(seed)
    real = predicted[:, of_class[0]] if predictor.classification else predicted
    rows = np.sort(rng.permutation(len(features))[:EFFECT_ROWS])
    names = [plan.name for plan in encoder.plans_]
    effects = []
    for column in columns:
        j = names.index(column)
        made = _grid(encoder.plans_[j], table[column])
        if made is None:
            continue
        shown, values, near = made
        mine = np.flatnonzero(encoder.feature_columns_ == j)
        blocks = encoder.transform_column(j, values)
        stacked = np.repeat(features[rows][None], len(blocks), axis=0)
        stacked[:, :, mine] = blocks[:, None, :]
        prediction = predict_with(predictor, stacked.reshape(-1, features.shape[1]))
        if predictor.classification:
            prediction = prediction[:, of_class[0]]
        mean = prediction.reshape(len(blocks), -1).mean(axis=1)
        counts = np.bincount(near[near >= 0], minlength=len(shown))
        density = counts / len(near)
        if together := _impossible(mean, real):
            kept = np.flatnonzero(counts)
            mean = np.array([real[near == k].mean() for k in kept])
            shown, density = [shown[k] for k in kept], density[kept]
        dated = isinstance(encoder.plans_[j], DatePlan)
        effects.append(
            Effect(column, shown, mean.tolist(), density.tolist(), of_class[1], dated, together)
        )
    return tuple(effects)


def _impossible(mean: np.ndarray, real: np.ndarray) -> bool:
    """Tell whether a curve runs clearly beyond all predictions for real rows."""
    low, high = real.min(), real.max()
    slack = SLACK * (high - low)
    return bool(mean.min() < low - slack or mean.max() > high + slack)


def _grid(plan: ColumnPlan, column: Column) -> tuple[list[Any], Any, np.ndarray] | None:
    """Choose the values a column is moved to: shown, as data, and which one each row is nearest."""
    import pandas as pd

    if plan.kind in ("numeric", "date"):
        is_date = plan.kind == "date"
        numbers = column.dates(plan.date_format) if isinstance(plan, DatePlan) else column.numbers
        present = ~np.isnan(numbers)
        nearest = np.full(len(numbers), -1)
        numbers = numbers[present]
        if len(numbers) == 0:
            return None
        distinct = np.unique(numbers)
        points = distinct
        if len(distinct) > EFFECT_POINTS:
            # The outer percent is left out: curves there rest on a handful of rows.
            low, high = np.quantile(numbers, [0.01, 0.99])
            points = np.unique(np.linspace(low, high, EFFECT_POINTS))
            if is_date and not np.any(numbers % DAY):
                points = np.unique(np.floor(points / DAY) * DAY)  # whole days have no hours
        if len(points) < 2:
            return None
        nearest[present] = np.searchsorted((points[1:] + points[:-1]) / 2, numbers, side="right")
        if is_date:
            stamps = points.astype(np.int64).astype("datetime64[s]")
            size = 10 if not np.any(points % DAY) else 19
            days = [str(s)[:size] for s in stamps]
            return days, pd.Series(pd.DatetimeIndex(stamps)), nearest
        return points.tolist(), pd.Series(points), nearest
    if plan.kind in ("category", "boolean"):
        codes, levels = column.strings
        counts = np.bincount(codes[codes >= 0], minlength=len(levels))
        top = [int(i) for i in np.argsort(-counts, kind="stable")[:12]]
        if len(top) < 2:
            return None
        shown, rank = [levels[i] for i in top], np.full(len(levels) + 1, -1)
        rank[top] = np.arange(len(top))  # missing values have the last entry
        return shown, pd.Series(shown, dtype=object), rank[codes]
    return None
