"""What was called unusual among many rows, at which rate of false calls."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from corollary.core.display import Tabular
from corollary.validation import benjamini_hochberg

#: Share by which a p-value may miss the level by rounding alone.
_ROUNDING = 1e-12
#: Below this p-value of what is assumed of the tail, rows are not judged by it.
_REFUTED = 0.01


@dataclass(frozen=True, eq=False, repr=False)
class Discoveries(Tabular):
    """Rows that are called unusual, where the share of false calls is bounded.

    Each row has one of ``scores``, how unusual it is, and of ``p_values``, how often a normal row
    would be as unusual. At most the share ``level`` of the called rows is normal, in expectation.
    The p-values come from ``n_calibration`` rows; the ``least`` that a row could have had is 1 /
    (n_calibration + 1) where calibration rows counted, and not bounded where rows were judged among
    themselves. The procedure of Benjamini and Hochberg calls rows, unless they are ``chosen``. The
    ``assumption`` is a p-value of what was assumed of the tail, 1 by default, and small where no
    p-value could be computed but ranks. See :class:`AnomalyDetector`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.anomaly import Discoveries
    >>> few = Discoveries(np.array([1.0, 9.0]), np.array([0.8, 0.2]), 0.1, 4, 0.2)
    >>> few.rows, few.rows_missing
    (array([], dtype=int64), 15)
    >>> print(few)
    No row can be called at a false-discovery rate of 10%: 4 calibration rows are too few. With 15 \
more, one unusual row among 2 could be.
    """

    scores: np.ndarray
    p_values: np.ndarray
    level: float
    n_calibration: int
    least: float
    chosen: np.ndarray | None = None
    assumption: float = 1.0

    @property
    def refuted(self) -> bool:
        """Whether the rows refute what was assumed of their tail, so that p-values are ranks."""
        return self.assumption < _REFUTED

    @cached_property
    def adjusted(self) -> np.ndarray:
        """P-values by Benjamini and Hochberg: the least level at which a row would be called."""
        return benjamini_hochberg(self.p_values)

    @cached_property
    def called(self) -> np.ndarray:
        """Whether each row is called."""
        if self.chosen is not None:
            return self.chosen
        return self.adjusted <= self.level * (1 + _ROUNDING)

    @property
    def rows(self) -> np.ndarray:
        """Positions of the called rows, the most unusual first."""
        rows = np.flatnonzero(self.called)
        return rows[np.argsort(-self.scores[rows], kind="stable")]

    @property
    def fewest(self) -> int:
        """How many rows must be unusual at once, at least, before any of them can be called."""
        return max(1, math.ceil(self.least * len(self.scores) / self.level * (1 - _ROUNDING)))

    @property
    def rows_missing(self) -> int:
        """Calibration rows that are missing before a single unusual row could be called."""
        if self.fewest == 1:
            return 0
        needed = math.ceil(len(self.scores) / self.level * (1 - _ROUNDING)) - 1
        return max(0, needed - self.n_calibration)

    def __str__(self) -> str:
        n, rate = len(self.scores), f"a false-discovery rate of {100 * self.level:.3g}%"
        count, missing = int(self.called.sum()), self.rows_missing
        if count:
            rows = "row is" if count == 1 else "rows are"
            # Only rows that were judged among themselves can have p-values of 0.
            proviso = (
                "" if self.least > 0 else ", if distances thin out at a rate that does not fall"
            )
            return f"{count:,} of {n:,} {rows} unusual, at {rate}{proviso}."
        if self.refuted:
            return (
                f"No row is called at {rate}: distances thin out ever more slowly (p = "
                f"{self.assumption:.2g}), so that the farthest rows need not be strange."
            )
        if self.fewest > n:
            calibration = "row is" if self.n_calibration == 1 else "rows are"
            return (
                f"No row can be called at {rate}: {self.n_calibration:,} calibration {calibration} "
                f"too few. With {missing:,} more, one unusual row among {n:,} could be."
            )
        if missing:
            return (
                f"No row is called at {rate}. Fewer than {self.fewest:,} unusual rows among {n:,} "
                f"cannot be; with {missing:,} more calibration rows one could."
            )
        return f"No row is called at {rate}."

    def _columns(self) -> dict[str, Any]:
        order = np.argsort(-self.scores, kind="stable")
        return {
            "row": order,
            "score": self.scores[order],
            "p_value": self.p_values[order],
            "adjusted": self.adjusted[order],
            "called": self.called[order],
        }
