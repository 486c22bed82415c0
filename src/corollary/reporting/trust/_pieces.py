"""Pieces of evidence: the test rows themselves, the units that own them, or the rows of a period.

Rows of one unit resemble each other, so that units are counted and not rows: each unit gives one
number, the mean of its rows, and counts the same however many rows it has. Rows that were predicted
in turn by models that share training rows err alike, for which intervals are widened.
"""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from corollary.theory import period_risk_bound
from corollary.validation import (
    Estimate,
    mean_interval,
    overlap_inflation,
    quantile_interval,
    share_interval,
    share_upper,
    unit_mean_interval,
    unit_means,
    unit_quantile_interval,
    unit_share_upper,
)

if TYPE_CHECKING:
    from corollary.reporting._records import Evidence, TestRows


@dataclass(frozen=True, eq=False)
class Pieces:
    """What counts as one piece of evidence among some rows."""

    n_rows: int
    units: np.ndarray | None = None  # number of the unit of each row; None: each row is one
    period: bool = False  # whether rows may depend on the rows before them
    seed: int = 0  # for draws of one row from each unit
    folds: int = 0  # by which rows were predicted in turn; 0 for rows that were kept aside

    @classmethod
    def of(cls, evidence: "Evidence") -> "Pieces":
        """Say what counts among the test rows."""
        rows = evidence.test
        period = evidence.population.kind == "period"
        return cls(len(rows.truth), rows.units, period, evidence.seed, rows.folds)

    def take(self, rows: np.ndarray | slice) -> "Pieces":
        """Say what counts among some of the rows."""
        if self.units is not None:
            units = np.asarray(self.units)[rows]
            return replace(self, n_rows=len(units), units=units)
        return replace(self, n_rows=len(np.arange(self.n_rows)[rows]))

    @property
    def inflation(self) -> float:
        """By how much shared training rows widen intervals."""
        return overlap_inflation(self.folds) if self.folds else 1.0

    @property
    def n(self) -> int:
        """How many pieces there are."""
        return self.n_rows if self.units is None else len(np.unique(self.units))

    def values(self, values: np.ndarray) -> np.ndarray:
        """Give one number for each piece: the value of a row, or the mean of a unit's rows."""
        if self.units is None:
            return np.asarray(values, dtype=float)
        return unit_means(values, self.units)

    def mean(self, values: np.ndarray) -> float:
        """Average over pieces."""
        return float(np.mean(self.values(values)))

    def mean_interval(self, values: np.ndarray, confidence: float) -> Estimate:
        """Estimate the mean over pieces."""
        if self.units is None:
            return self._mean(np.asarray(values, dtype=float), confidence)
        return unit_mean_interval(values, self.units, confidence)

    def _mean(self, values: np.ndarray, confidence: float) -> Estimate:
        """Estimate a mean of rows; of those predicted in turn fewer count, for the spread, too."""
        n, inflation = len(values), self.inflation
        fewer = n / inflation**2 - 1
        if inflation > 1 and fewer > 0:
            level = (1 + confidence) / 2
            inflation *= float(special.stdtrit(fewer, level) / special.stdtrit(n - 1, level))
        return mean_interval(values, confidence, inflation=inflation)

    def share_upper(self, hits: np.ndarray, confidence: float) -> float:
        """Bound the probability of a hit from above."""
        if self.units is not None:
            return unit_share_upper(hits, self.units, confidence)
        if self.period:
            if self.n_rows == 0:
                return 1.0
            return period_risk_bound(hits, 1 - confidence, method="azuma")
        return share_upper(int(np.sum(hits)), self.n_rows, confidence, inflation=self.inflation)

    def share_interval(self, hits: np.ndarray, confidence: float) -> tuple[float, float]:
        """Bound the probability of a hit from both sides."""
        if self.units is None and not self.period:
            hit = int(np.sum(hits))
            return share_interval(hit, self.n_rows, confidence, inflation=self.inflation)
        each = (1 + confidence) / 2  # either bound fails with half of the probability
        misses = ~np.asarray(hits, dtype=bool)
        return 1 - self.share_upper(misses, each), self.share_upper(hits, each)

    def quantile_interval(
        self, values: np.ndarray, level: float, confidence: float
    ) -> tuple[float, float | None, float | None]:
        """Estimate a quantile over pieces; without ends for a period, where none is proved."""
        if self.units is not None:
            value, *ends, _ = unit_quantile_interval(
                values, self.units, level, confidence, random_state=self.seed
            )
            low, high = (end if math.isfinite(end) else None for end in ends)
            return value, low, high
        value, low, high = quantile_interval(values, level, confidence, inflation=self.inflation)
        return (value, None, None) if self.period else (value, low, high)


def measure_worth(evidence: "Evidence") -> Estimate:
    """Estimate which share of what guessing loses the model takes away; for squared errors, R².

    The interval is that of a ratio of means, by linearisation; it says of zero what that of the
    gain says, and no share exceeds one, since no loss is negative.
    """
    rows, gain = evidence.test, evidence.gain
    pieces = counted_pieces(rows)
    model, guess = pieces.values(rows.loss), pieces.values(rows.baseline_loss)
    unit = float(np.mean(guess))
    if unit <= 0:
        return gain._replace(value=math.nan, low=math.nan, high=math.nan)
    share = gain.value / unit
    ratio = share + (guess - model - share * guess) / unit
    found = replace(pieces, units=None)._mean(ratio, evidence.confidence)
    low = found.low if (found.low > 0) == (gain.low > 0) else gain.low / unit
    high = found.high if (found.high < 0) == (gain.high < 0) else gain.high / unit
    return Estimate(share, min(low, share), max(min(high, 1.0), share), gain.n)


def counted_units(rows: "TestRows") -> np.ndarray | None:
    """Say what paired differences count: units, stretches of a period, or rows (None)."""
    return rows.units if rows.stretches is None else rows.stretches


def counted_pieces(rows: "TestRows") -> Pieces:
    """Say what paired differences count, as pieces of evidence."""
    return Pieces(len(rows.truth), counted_units(rows), folds=rows.folds)


def measure_gain(rows: "TestRows", confidence: float) -> Estimate:
    """Estimate by how much the loss of the model is smaller than that of guessing."""
    return counted_pieces(rows).mean_interval(rows.baseline_loss - rows.loss, confidence)


def rows_to_show(evidence: "Evidence") -> int | None:
    """Estimate how many rows in all would show a gain such as was measured; None for no gain."""
    gain = evidence.gain
    if not 0 < gain.value < math.inf or not math.isfinite(gain.low):
        return None
    # Intervals shrink with the square root of the rows.
    needed = ((gain.value - gain.low) / gain.value) ** 2 * evidence.profile.n_rows
    return math.ceil(needed - 1e-9)
