"""Candidates in cross-validation: fits, out-of-fold predictions, losses by row."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from corollary.core.estimator import without_memory
from corollary.core.progress import track
from corollary.reporting.models._candidates import Entry, Situation, fitted_size
from corollary.reporting.models._losses import Loss
from corollary.reporting.models._predictor import Predictor, baseline, retransformation_factor
from corollary.reporting.table._split import Folds
from corollary.representation import ColumnTable, TableEncoder


@dataclass(frozen=True)
class Fold:
    """One fold, encoded."""

    train: np.ndarray  # features of the rows to fit on
    y: np.ndarray  # their targets
    held: np.ndarray  # features of the rows to predict
    rows: np.ndarray  # their places among the rows that some fold predicts
    encoder: TableEncoder = field(default_factory=TableEncoder)  # what made the features


@dataclass(frozen=True, eq=False)
class Trial:
    """What a candidate did in cross-validation."""

    name: str  # the candidate
    label: str
    description: str
    # what is fitted: one entry, several for an average, none for the baseline
    entries: tuple[Entry, ...]
    prediction: np.ndarray  # out-of-fold predictions or probabilities
    loss: np.ndarray  # out-of-fold losses
    seconds: float  # time of all its fits
    error: str = ""  # why it could not take part
    # what the reader may want to know of its last fit
    settings: dict[str, Any] = field(default_factory=dict)
    size: int = 0  # fitted numbers of its last fit
    weights: np.ndarray | None = None  # weights of the entries in a mean
    oob: float | None = None  # mean out-of-bag loss of its last fit, if it has one
    words: str = ""  # name inside a sentence


def predicted_rows(folds: Folds) -> np.ndarray:
    """List the rows that some fold predicts; folds that look ahead never predict the earliest."""
    return np.sort(np.concatenate([held for _, held in folds]))


def encode_folds(
    table: ColumnTable, y: np.ndarray, folds: Folds, encoder: TableEncoder
) -> list[Fold]:
    """Encode every fold by an encoder fitted to the rows that the fold fits on."""
    from sklearn.base import clone

    rows, encoded = predicted_rows(folds), []
    for train, held in folds:
        mine = clone(encoder)
        features = mine.fit_transform(table.take(train), y[train])
        places = np.searchsorted(rows, held)
        encoded.append(Fold(features, y[train], mine.transform(table.take(held)), places, mine))
    return encoded


def fit_predictor(
    entries: Sequence[Entry],
    situation: Situation,
    features: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None = None,
) -> Predictor:
    """Fit a candidate."""
    from sklearn.exceptions import ConvergenceWarning

    constant = baseline(y, situation.n_classes, features.shape[1], log=situation.severe)
    if situation.n_classes and len(np.unique(y)) < 2:
        entries, weights = (), None  # one class only: there is nothing to tell apart
    situation = replace(situation, n=len(y), d=features.shape[1])
    estimators, factors = [], []
    for entry in entries:
        with warnings.catch_warnings():
            # A candidate that stopped early is judged by its loss like any other.
            warnings.simplefilter("ignore", ConvergenceWarning)
            estimator = entry.fit(situation, features, np.log(y) if entry.log else y)
        factor = 1.0
        if entry.log and not situation.severe:
            factor = retransformation_factor(y, np.asarray(estimator.predict(features)).ravel())
        estimators.append(estimator)
        factors.append(factor)
    return Predictor(
        tuple(estimators),
        np.array([entry.log for entry in entries], dtype=bool),
        np.array(factors, dtype=np.float64),
        constant.limits,
        constant.constant,
        constant.classification,
        features.shape[1],
        weights,
    )


def predict_with(predictor: Predictor, features: np.ndarray) -> np.ndarray:
    """Give what the loss is computed from: probabilities or numbers."""
    return (
        predictor.predict_proba(features)
        if predictor.classification
        else predictor.predict(features)
    )


def run_trial(
    entries: tuple[Entry, ...],
    folds: Sequence[Fold],
    y: np.ndarray,
    situation: Situation,
    loss: Loss,
    *,
    name: str,
    label: str,
    description: str,
    words: str = "",
    weights: np.ndarray | None = None,
) -> Trial:
    """Cross-validate one candidate, or a mean of several with these weights."""
    shape = (len(y), situation.n_classes) if situation.n_classes else (len(y),)
    prediction, start, error = np.zeros(shape), time.perf_counter(), ""
    bags: list[np.ndarray] = []
    with track(label, total=len(folds)) as step:
        for k, fold in enumerate(folds, start=1):
            try:
                with without_memory():
                    predictor = fit_predictor(entries, situation, fold.train, fold.y, weights)
                prediction[fold.rows] = predict_with(predictor, fold.held)
                bags.append(out_of_bag_losses(predictor, fold.y, loss))
            except (ValueError, ArithmeticError, np.linalg.LinAlgError) as failure:
                error = f"{type(failure).__name__}: {(str(failure).splitlines() or [''])[0][:200]}"
                break
            if k == len(folds):
                step(loss=float(loss(y, prediction).mean()))
            else:
                step()
    losses = loss(y, prediction) if not error else np.full(len(y), np.inf)
    if not error and not np.isfinite(losses).all():
        error, losses = "its predictions were not finite", np.full(len(y), np.inf)
    seconds = time.perf_counter() - start
    trial = Trial(
        name, label, description, entries, prediction, losses, seconds, error, words=words
    )
    if error:
        return trial
    if all(len(bag) for bag in bags):
        trial = replace(trial, oob=float(np.mean([bag.mean() for bag in bags])))
    return describe_fit(trial, predictor)


def out_of_bag_losses(predictor: Predictor, y: np.ndarray, loss: Loss) -> np.ndarray:
    """Judge every training row by those members of a bag that have not seen it."""
    if len(predictor.estimators) != 1:
        return np.empty(0)
    (estimator,) = predictor.estimators
    name = "oob_decision_function_" if predictor.classification else "oob_prediction_"
    raw = getattr(estimator, name, None)
    if raw is None or len(raw) != len(y):
        return np.empty(0)
    known = np.isfinite(raw).reshape(len(y), -1).all(axis=1)
    return loss(y[known], predictor.combine([np.asarray(raw)[known]]))


def describe_fit(trial: Trial, predictor: Predictor) -> Trial:
    """Note size and settings of a fit for the reader."""
    fits = zip(trial.entries, predictor.estimators)  # no estimators where one class was seen
    size = sum(fitted_size(fit, entry.learnt) for entry, fit in fits) or len(predictor.constant)
    if len(trial.entries) != 1 or not predictor.estimators:
        return replace(trial, size=size)  # of a mean the weights are told, which no fit changes
    settings = {}
    for name in trial.entries[0].settings:
        value = getattr(predictor.estimators[0], name, None)
        if value is not None and np.size(value) == 1:
            plain = float(np.ravel(value)[0])
            settings[name.rstrip("_")] = int(plain) if plain.is_integer() else plain
    return replace(trial, size=size, settings=settings)
