"""From training rows to the chosen model: encode, compare, choose, fit."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from corollary.reporting._clock import Clock, Stage
from corollary.reporting.models._candidates import (
    SEVERE,
    Situation,
    candidates,
    is_skewed,
    skewness,
)
from corollary.reporting.models._compare import SELECTION_RULE, SMALL_RULE, choose, compare
from corollary.reporting.models._losses import ComparedLoss, choose_loss
from corollary.reporting.models._predictor import Predictor
from corollary.reporting.models._trials import (
    Fold,
    Trial,
    describe_fit,
    encode_folds,
    fit_predictor,
    predicted_rows,
)
from corollary.reporting.table._split import Folds, Split
from corollary.reporting.table._target import Target
from corollary.representation import ColumnTable, TableEncoder

#: Training rows and encoded numbers that the comparison uses, at most; the chosen model is then
#: fitted to all training rows.
COMPARED_ROWS, COMPARED_NUMBERS = 20_000, 20_000_000


@dataclass(frozen=True, eq=False)
class Comparison:
    """What the candidates did on the training rows, and which of them is chosen."""

    encoder: TableEncoder  # from columns to features, fitted to all training rows
    features: np.ndarray  # the training rows, encoded
    compared: np.ndarray  # training rows that the comparison predicted
    folds: tuple[Fold, ...]  # how it predicted them
    units: np.ndarray | None  # the units of these rows, where not every row is its own
    trials: tuple[Trial, ...]  # cross-validations, that of the baseline first
    chosen: Trial  # the one that was chosen
    n_folds: int  # folds
    loss: ComparedLoss  # what was compared
    situation: Situation  # what candidates were fitted to
    notes: tuple[str, ...]  # what had to be decided, in sentences
    rule: str = SELECTION_RULE  # by which it was chosen


def compare_models(
    table: ColumnTable,
    target: Target,
    split: Split,
    *,
    seed: int,
    fast: bool,
    clock: Clock,
    names: Collection[str] | None = None,
) -> Comparison:
    """Encode the training rows, compare the candidates on them, or those named, and choose one."""
    y = target.values[split.train]
    log = target.task == "regression" and is_skewed(y)
    severe = log and skewness(y) > SEVERE
    loss = choose_loss(target.task, y, severe)
    notes = []
    if severe:
        notes.append(
            f"{target.name!r} is so skewed that a few rows would decide every squared error; "
            "models were compared by the error of its logarithm."
        )
    classes = target.task == "classification"
    encoder = TableEncoder(target="classes" if classes else "number", random_state=seed)
    with clock.stage(Stage.ENCODING):
        train = table.take(split.train)
        features = encoder.fit_transform(train, y)
        n, d = features.shape
        drawn = _drawn_rows(n, d, seed)
        if len(drawn) < n:
            notes.append(
                f"Models were compared on {len(drawn):,} of the {n:,} training rows, drawn at "
                "random; the chosen one was fitted to all of them."
            )
        pairs = _restrict(split.folds, drawn)
        folds, compared = encode_folds(train, y, pairs, encoder), predicted_rows(pairs)
    situation = Situation(
        task=target.task,
        n=n,
        d=d,
        n_classes=len(target.classes),
        log=log,
        severe=severe,
        seed=seed,
        fast=fast,
    )
    with clock.stage(Stage.COMPARING):
        entries = [e for e in candidates(situation) if names is None or e.name in names]
        trials = compare(entries, folds, y[compared], situation, loss)
        units = split.units_of(split.train[compared])
        chosen = choose(trials, len(folds), units, cautious=not split.in_turn)
    return Comparison(
        encoder,
        features,
        compared,
        tuple(folds),
        units,
        tuple(trials),
        chosen,
        len(folds),
        loss,
        situation,
        tuple(notes),
        SMALL_RULE if split.in_turn else SELECTION_RULE,
    )


def complete(comparison: Comparison, y: np.ndarray, clock: Clock) -> Comparison:
    """Let those candidates take part that a comparison of named ones left out."""
    situation = comparison.situation
    with clock.stage(Stage.COMPARING):
        trials = compare(
            candidates(situation),
            comparison.folds,
            y[comparison.compared],
            situation,
            comparison.loss,
            comparison.trials,
        )
        chosen = choose(trials, comparison.n_folds, comparison.units)
    return replace(comparison, trials=tuple(trials), chosen=chosen)


def fit_chosen(comparison: Comparison, y: np.ndarray) -> tuple[Predictor, Comparison]:
    """Fit the chosen model to all training rows; note what it became."""
    chosen = comparison.chosen
    predictor = fit_predictor(
        chosen.entries, comparison.situation, comparison.features, y, chosen.weights
    )
    fitted = describe_fit(chosen, predictor)
    trials = tuple(fitted if trial is chosen else trial for trial in comparison.trials)
    return predictor, replace(comparison, chosen=fitted, trials=trials)


def _restrict(folds: Folds, rows: np.ndarray) -> Folds:
    """Keep of every fold the rows that were drawn."""
    return tuple((train[np.isin(train, rows)], held[np.isin(held, rows)]) for train, held in folds)


def _drawn_rows(n: int, d: int, seed: int) -> np.ndarray:
    most = min(COMPARED_ROWS, max(1_000, COMPARED_NUMBERS // max(d, 1)))
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).permutation(n)[:most])
