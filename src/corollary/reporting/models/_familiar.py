"""What a model owes to having seen the unit of a row, and whether that matters."""

from dataclasses import dataclass

import numpy as np

from corollary.reporting.models._compare import per_unit
from corollary.reporting.models._selection import Comparison
from corollary.reporting.models._trials import Trial
from corollary.reporting.table._split import Folds, as_folds
from corollary.validation import (
    intraclass_correlation,
    sibling_correction,
    slope_correction,
    unit_excess,
)

#: Below these shares of the error a unit is a fact and no question: what a model owes to having
#: seen it, and what residuals of a unit tell about each other.
LEAST_EXCESS, LEAST_SHARED = 0.05, 0.07
#: Chance that an excess is called one.
LEVEL = 0.01
#: Excess is measured against at least this share of the loss of guessing: where a model makes
#: hardly any error, ratios say nothing.
LEAST_SHARE = 0.03
#: Folds that fit on a smaller share of the rows say more about few rows than about new ones.
LEAST_TRAINED = 0.6


@dataclass(frozen=True)
class Familiarity:
    """The errors of the best models on the same rows, with their units seen and unseen."""

    seen: float  # error rate, or median error, where rows were dealt at random
    unseen: float  # the same where whole units were left out
    excess: float  # of the comparison's loss, relative
    p_value: float  # of no excess, counting units
    shared: float  # fall of that loss if the other residuals of a unit were known, relative

    @property
    def harder(self) -> bool:
        """Whether new units are harder by more than a trifle and more than chance."""
        return self.excess >= LEAST_EXCESS and self.p_value < LEVEL

    @property
    def alike(self) -> bool:
        """Whether rows of a unit err alike by more than a trifle."""
        return self.shared >= LEAST_SHARED


def familiarity(
    apart: Comparison, dealt: Comparison, y: np.ndarray, units: np.ndarray, *, dated: bool
) -> Familiarity:
    """Compare the model that is chosen with units left out with the one chosen on rows as dealt.

    Both were compared on the same training rows, whose targets and units these are. In stretches
    of dated rows slopes may change, too: a boundary that turns leaves levels where they were.
    """
    rows = np.intersect1d(_well_trained(apart), dealt.compared)
    codes, truth = units[rows], y[rows]
    here, there = (np.searchsorted(c.compared, rows) for c in (apart, dealt))
    floor = max(LEAST_SHARE * float(apart.trials[0].loss[here].mean()), np.finfo(float).tiny)
    excess, p_value = unit_excess(
        apart.chosen.loss[here], dealt.chosen.loss[there], codes, floor=floor
    )
    shared = _shared(_residuals(apart.chosen.prediction[here], truth), codes, None)
    if dated:
        every = dealt.compared
        residuals = _residuals(dealt.chosen.prediction, y[every])
        shared = max(shared, _shared(residuals, units[every], dealt.features[every]))
    return Familiarity(
        seen=_error(dealt.chosen, there, truth, codes),
        unseen=_error(apart.chosen, here, truth, codes),
        excess=excess.value,
        p_value=p_value,
        shared=shared,
    )


def _well_trained(comparison: Comparison) -> np.ndarray:
    """List the rows that were predicted by a fit to most of the training rows."""
    n = len(comparison.features)
    folds = [fold.rows for fold in comparison.folds if len(fold.y) >= LEAST_TRAINED * n]
    rows = comparison.compared
    return rows[np.sort(np.concatenate(folds))] if folds else rows


def _error(trial: Trial, places: np.ndarray, y: np.ndarray, units: np.ndarray) -> float:
    """Compute the error rate, or the median error."""
    prediction = trial.prediction[places]
    if prediction.ndim == 2:
        return float(per_unit((prediction.argmax(axis=1) != y) * 1.0, units).mean())
    return float(np.median(np.abs(y - prediction)))


def _residuals(prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return residuals of numbers, or of the indicators of classes."""
    return (np.eye(prediction.shape[1])[y.astype(int)] if prediction.ndim == 2 else y) - prediction


def _shared(residuals: np.ndarray, units: np.ndarray, features: np.ndarray | None) -> float:
    """Compute how much absolute or squared residuals fall if those of siblings were known.

    Siblings tell a level, or the slopes on features.
    """
    if features is None:
        rho = intraclass_correlation(residuals, units)
        corrected = sibling_correction(residuals, units, rho)
    else:
        corrected = slope_correction(residuals, features, units)
    power = residuals.ndim
    total, left = (float((np.abs(r) ** power).sum()) for r in (residuals, corrected))
    return total / max(left, LEAST_SHARE * total) - 1 if total else 0.0


def random_folds(n: int, n_folds: int, seed: int) -> Folds:
    """Deal rows to folds at random."""
    return as_folds(np.random.default_rng(seed).permutation(n) % n_folds)
