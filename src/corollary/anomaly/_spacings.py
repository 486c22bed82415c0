"""How fast scores thin out below their ninth decile, by the spacings between them."""

from typing import NamedTuple

import numpy as np

#: The last rank, as a share, whose spacing measures the rate; scores beyond are judged by it.
_STOP = 0.9


class Spacings(NamedTuple):
    """Normalised spacings up to the score of rank `stop`; `assumption` is a p-value of the rate."""

    start: float
    stop: int
    mean: float
    number: int
    assumption: float

    def decay(self, scores: np.ndarray) -> np.ndarray:
        """Return how much rarer scores at or beyond the start are than the start, at most."""
        with np.errstate(over="ignore"):
            excess = (scores - self.start) / (self.number * self.mean)
            return np.exp(-self.number * np.log1p(excess))


def measure_spacings(ordered: np.ndarray, first: float, *, further: int = 0) -> Spacings | None:
    """Measure scores from a share of the ranks on; None where they have no spread there.

    A rate that does not fall makes the upper half of the spacings no larger than the lower half,
    which an F-test judges. `further` rows lie above every spacing, beside those that are here.
    """
    from scipy.special import fdtrc

    n = len(ordered)
    a, b = max(1, int(first * n)), int(_STOP * n)
    if b - a < 2 or not np.isfinite(ordered[b - 1]) or ordered[b - 1] == ordered[a - 1]:
        return None
    with np.errstate(over="ignore"):
        spacings = (n + further - np.arange(a, b)) * np.diff(ordered[a - 1 : b])
        if not np.isfinite(spacings.sum()):
            return None
    middle = (b - a) // 2
    lower, upper = spacings[:middle].mean(), spacings[middle:].mean()
    ratio = upper / lower if lower > 0 else np.inf
    assumption = float(fdtrc(2 * (b - a - middle), 2 * middle, ratio))
    return Spacings(float(ordered[b - 1]), b, float(spacings.mean()), b - a, assumption)
