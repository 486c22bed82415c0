"""How derivatives share the bits of a word, and features the lines of a histogram."""

import math
from typing import NamedTuple

import numpy as np

from corollary.tree import Bins

# Rows whose derivatives fit in one word of a histogram: 14 bits count them, 22 hold second and 28
# first derivatives.
ROOM = 2**14 - 1
# Words of fewer rows have bits to spare, and rounding to the nearest keeps equal rows equal.
DITHER_ABOVE = 1024


class Word(NamedTuple):
    """How derivatives of rows share 64 bits."""

    room: int  # words that may be added up
    c_bits: int  # bits of the count
    h_bits: int  # bits of second derivatives
    shift: int  # bits of the count in a line of a histogram
    g_limit: float  # largest absolute first derivative, as a whole number
    h_limit: float  # largest second derivative, as a whole number


def divide_word(n_rows: int) -> Word:
    """Divide the bits of a word so that the sums of all rows fit."""
    room = max(1, min(n_rows, ROOM))
    c_bits = room.bit_length()
    h_bits = (64 - c_bits) * 22 // 50
    shift = n_rows.bit_length()
    g_limit = (2.0 ** (63 - c_bits - h_bits) - 1) / room - 1
    h_limit = min((2.0**h_bits - 1) / room - 1, 2.0 ** (62 - shift) / max(n_rows, 1) - 1)
    return Word(room, c_bits, h_bits, shift, g_limit, h_limit)


def scale_of(limit: float, peak: float) -> float:
    """Return the largest power of two that keeps ``peak`` within ``limit``."""
    if not 0.0 < peak < math.inf:
        return 1.0
    if peak < limit * 2.0**-1000:
        return 2.0**1000
    # 2^(e - 1) <= limit / peak < 2^e
    return math.ldexp(1.0, max(math.frexp(limit / peak)[1] - 1, -1000))


def worth_a_split(bins: Bins) -> np.ndarray:
    """Return the features that have more than one value."""
    return np.flatnonzero((bins.n_bins > 1) | bins.missing)


def lay_out(bins: Bins) -> np.ndarray:
    """Place the lines of features in a histogram."""
    from corollary.ensemble._loops.records import COLUMN

    features = worth_a_split(bins)
    n_bins = np.asarray(bins.n_bins, dtype=np.int64)[features]
    columns = np.zeros(len(features), dtype=COLUMN)
    columns["feature"], columns["n_bins"] = features, n_bins
    columns["is_set"] = bins.categorical[features]
    columns["line"] = 2 * (np.cumsum(n_bins + 1) - n_bins - 1)  # missing values come last
    return columns


def width_of(columns: np.ndarray) -> int:
    """Return how many numbers a histogram of these features has."""
    return 2 * int((columns["n_bins"] + 1).sum())


def as_read(array: np.ndarray) -> np.ndarray:
    """Return an array that is not written to, so that kernels are compiled for one type."""
    view = array.view()
    view.flags.writeable = False
    return view
