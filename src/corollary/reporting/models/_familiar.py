"""What the chosen model owes to having seen the unit of a row, and whether that matters."""

from dataclasses import dataclass

import numpy as np

from corollary.reporting.models._compare import per_unit
from corollary.reporting.models._selection import Comparison
from corollary.reporting.models._trials import Trial, encode_folds, predicted_rows, run_trial
from corollary.reporting.table._split import Folds
from corollary.representation import ColumnTable
from corollary.validation import intraclass_correlation, sibling_correction

#: Below these shares of the error a unit is a fact and no question: what a model owes to having
#: seen it, and what residuals of a unit tell about each other.
LEAST_EXCESS, LEAST_SHARED = 0.05, 0.07
#: Excess is measured against at least this share of the loss of guessing: where a model makes
#: hardly any error, ratios say nothing.
LEAST_SHARE = 0.03
#: Folds that fit on a smaller share of the rows say more about few rows than about new ones.
LEAST_TRAINED = 0.6


@dataclass(frozen=True)
class Familiarity:
    """The error of one model on the same rows, with their units seen and unseen."""

    seen: float  # error rate, or median error, where rows were dealt at random
    unseen: float  # the same where whole units were left out
    excess: float  # of the comparison's loss, relative
    shared: float  # fall of that loss if the other residuals of a unit were known, relative

    @property
    def matters(self) -> bool:
        """Whether new units are harder, or rows of a unit err alike, by more than a trifle."""
        return self.excess >= LEAST_EXCESS or self.shared >= LEAST_SHARED


def familiarity(
    table: ColumnTable,
    y: np.ndarray,
    units: np.ndarray,
    comparison: Comparison,
    other: Folds,
    *,
    other_seen: bool,
) -> Familiarity:
    """Cross-validate the chosen model by other folds, and compare on the rows both predict.

    The folds of the comparison leave whole units out and the others deal rows at random
    (`other_seen`), or the other way round. The table may have columns that the comparison left out.
    """
    chosen = comparison.chosen
    again = run_trial(
        chosen.entries,
        encode_folds(table, y, other, comparison.encoder),
        y[predicted_rows(other)],
        comparison.situation,
        comparison.loss,
        name=chosen.name,
        label=chosen.label,
        description=chosen.description,
        weights=chosen.weights,
    )
    first, second = comparison.compared, predicted_rows(other)
    rows = np.intersect1d(_well_trained(comparison, first), second)
    trials = [(chosen, np.searchsorted(first, rows)), (again, np.searchsorted(second, rows))]
    (seen, at), (unseen, there) = reversed(trials) if other_seen else trials
    codes = units[rows]
    floor = LEAST_SHARE * float(comparison.trials[0].loss[trials[0][1]].mean())
    near, far = (per_unit(t.loss[p], codes).mean() for t, p in ((seen, at), (unseen, there)))
    return Familiarity(
        seen=_error(seen, at, y[rows], codes),
        unseen=_error(unseen, there, y[rows], codes),
        excess=float((far - near) / max(near, floor)),
        shared=_shared(unseen.prediction[there], y[rows], codes),
    )


def _shared(prediction: np.ndarray, y: np.ndarray, units: np.ndarray) -> float:
    """Compute how much absolute or squared residuals fall if those of siblings were known."""
    if prediction.ndim == 2:
        residuals = np.eye(prediction.shape[1])[y.astype(int)] - prediction
    else:
        residuals = (y - prediction)[:, None]
    rho = intraclass_correlation(residuals, units)
    size = np.square if prediction.ndim == 2 else np.abs
    total = float(size(residuals).sum())
    left = float(size(sibling_correction(residuals, units, rho)).sum())
    return total / max(left, LEAST_SHARE * total) - 1 if total else 0.0


def _well_trained(comparison: Comparison, rows: np.ndarray) -> np.ndarray:
    """List the rows that were predicted by a fit to most of the training rows."""
    n = len(comparison.features)
    folds = [f.rows for f in comparison.folds if len(f.y) >= LEAST_TRAINED * n]
    return rows[np.sort(np.concatenate(folds))] if folds else rows


def _error(trial: Trial, places: np.ndarray, y: np.ndarray, units: np.ndarray) -> float:
    """Compute the error rate, or the median error."""
    prediction = trial.prediction[places]
    if prediction.ndim == 2:
        return float(per_unit((prediction.argmax(axis=1) != y) * 1.0, units).mean())
    return float(np.median(np.abs(y - prediction)))


def random_folds(rows: np.ndarray, n_folds: int, seed: int) -> Folds:
    """Deal rows to folds at random."""
    fold = np.random.default_rng(seed).permutation(len(rows)) % n_folds
    return tuple((rows[fold != k], rows[fold == k]) for k in range(n_folds))
