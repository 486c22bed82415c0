"""From training rows to the chosen model: encode, compare, choose, fit."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from corollary.core.progress import track
from corollary.reporting.models._candidates import (
    SEVERE,
    Situation,
    candidates,
    is_skewed,
    skewness,
)
from corollary.reporting.models._compare import choose, compare
from corollary.reporting.models._losses import Loss, choose_loss
from corollary.reporting.models._predictor import Predictor
from corollary.reporting.models._trials import Trial, describe_fit, encode_folds, fit_predictor
from corollary.reporting.table._split import Split
from corollary.reporting.table._target import Target
from corollary.representation import ColumnTable, TableEncoder

#: Training rows and encoded numbers that the comparison uses, at most; the chosen model is then
#: fitted to all training rows.
COMPARED_ROWS, COMPARED_NUMBERS = 20_000, 20_000_000


@dataclass
class Clock:
    """Time per stage.

    Parameters
    ----------
    seconds : dict of str to float
        By name of the stage, in order.
    """

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Announce a stage and measure it."""
        start = time.perf_counter()
        with track(name):
            yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


@dataclass
class Selection:
    """The chosen model, fitted to all training rows, and how it was chosen.

    Parameters
    ----------
    encoder : TableEncoder
        From columns to features.
    predictor : Predictor
        The chosen model.
    features : ndarray of shape (n_train, d)
        The training rows, encoded.
    chosen : Trial
        Its cross-validation.
    trials : list of Trial
        All of them, the baseline first.
    n_folds : int
        Folds.
    compared : ndarray of shape (n_compared,)
        Training rows that the comparison used.
    loss : callable
        ``loss(y, prediction)`` by row.
    loss_name : str
        Its name for readers.
    severe : bool
        Whether the loss is that of the logarithm.
    """

    encoder: TableEncoder
    predictor: Predictor
    features: np.ndarray
    chosen: Trial
    trials: list[Trial]
    n_folds: int
    compared: np.ndarray
    loss: Loss
    loss_name: str
    severe: bool


def select_model(
    table: ColumnTable,
    goal: Target,
    split: Split,
    *,
    seed: int,
    fast: bool,
    notes: list[str],
    clock: Clock | None = None,
) -> Selection:
    """Compare the candidates on training rows and fit the chosen one to all of them."""
    clock = Clock() if clock is None else clock
    rows, y = split.train, goal.values[split.train]
    log = goal.task == "regression" and is_skewed(y)
    severe = log and skewness(y) > SEVERE
    loss, loss_name = choose_loss(goal.task, y, severe)
    if severe:
        notes.append(
            f"{goal.name!r} is so skewed that a few rows would decide every squared error; models "
            "were compared by the error of its logarithm."
        )
    kind = "classes" if goal.task == "classification" else "number"
    encoder = TableEncoder(target=kind, random_state=seed)
    with clock.stage("encoding"):
        train = table.take(rows)
        features = encoder.fit_transform(train, y)
        d = features.shape[1]
        compared = _compared_rows(len(rows), d, seed, notes)
        folds = encode_folds(train.take(compared), y[compared], split.folds[compared], encoder)
    situation = Situation(
        task=goal.task,
        n=len(rows),
        d=d,
        n_classes=len(goal.classes),
        log=log,
        severe=severe,
        seed=seed,
        fast=fast,
    )
    with clock.stage("comparing models"):
        trials = compare(candidates(situation), folds, y[compared], situation, loss)
        chosen = choose(trials, len(folds))
    with clock.stage("fitting the chosen model"):
        predictor = fit_predictor(chosen.entries, situation, features, y, chosen.weights)
        describe_fit(chosen, predictor)
    return Selection(
        encoder, predictor, features, chosen, trials, len(folds), compared, loss, loss_name, severe
    )


def _compared_rows(n: int, d: int, seed: int, notes: list[str]) -> np.ndarray:
    most = min(COMPARED_ROWS, max(1_000, COMPARED_NUMBERS // max(d, 1)))
    if n <= most:
        return np.arange(n)
    notes.append(
        f"Models were compared on {most:,} of the {n:,} training rows, drawn at random; the "
        "chosen one was fitted to all of them."
    )
    return np.sort(np.random.default_rng(seed).permutation(n)[:most])
