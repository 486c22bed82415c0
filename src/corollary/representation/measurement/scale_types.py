"""Scale types: which transformations of a measurement change nothing that was measured.

========= ============================ ==========================================
scale     admissible transformations   statistics that respect them
========= ============================ ==========================================
nominal   bijections                   mode, counts
ordinal   strictly increasing maps     median, quantiles, rank correlation
interval  x -> a x + c, a > 0          mean, ratios of differences, correlation
ratio     x -> a x, a > 0              coefficient of variation
absolute  the identity                 everything
========= ============================ ==========================================

Each scale admits fewer transformations than the one above it, so more statistics make sense. A
statistic makes sense on a scale if it is invariant (its value stays) or equivariant (its value is
transformed like the data) under all admissible transformations.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.compat import is_missing

# Whole numbers 1, 2, ..., up to this many levels look like ratings or grades.
RATING_LEVELS = 10


class ScaleType(IntEnum):
    """Scale types in the order of how much they fix.

    Examples
    --------
    >>> from corollary.representation import ScaleType
    >>> ScaleType.ORDINAL < ScaleType.RATIO
    True
    >>> ScaleType["INTERVAL"].name
    'INTERVAL'
    """

    NOMINAL = 1
    ORDINAL = 2
    INTERVAL = 3
    RATIO = 4
    ABSOLUTE = 5


class ScaleGuess(NamedTuple):
    """A guess at the scale type of a column, with its reason.

    Parameters
    ----------
    scale : ScaleType
        The guess.
    reason : str
        What in the column suggests it.
    """

    scale: ScaleType
    reason: str


@dataclass(frozen=True, eq=False)
class InvarianceCheck:
    """Whether a statistic respects the admissible transformations of a scale.

    It counts as true exactly if no violation was found.

    Parameters
    ----------
    holds : bool
        Whether every transformation tried was respected.
    n_trials : int
        How many were tried; a violation ends the trials.
    transformed : ndarray or None, default=None
        The transformed data on which the statistic broke.
    expected : object, default=None
        What the statistic should have been there.
    found : object, default=None
        What it was.
    """

    holds: bool
    n_trials: int
    transformed: np.ndarray | None = None
    expected: Any = None
    found: Any = None

    def __bool__(self) -> bool:
        return self.holds


def classify_map(x: Any, image: Any, *, tol: float = 1e-9) -> ScaleType | None:
    """Return the finest scale for which a map is admissible.

    Parameters
    ----------
    x : array-like of shape (n,)
        Points at which the map is known.
    image : array-like of shape (n,)
        Their images.
    tol : float, default=1e-9
        Deviations up to this share of the largest value count as rounding.

    Returns
    -------
    scale : ScaleType or None
        ABSOLUTE for the identity, RATIO for ``a x``, INTERVAL for ``a x + c`` (a > 0), ORDINAL
        for other strictly increasing maps, NOMINAL for other one-to-one maps; None if two points
        have the same image. The map is admissible for this scale and all coarser ones.

    Raises
    ------
    ValueError
        If a point has two images.

    Examples
    --------
    >>> from corollary.representation import classify_map
    >>> classify_map([0.0, 10.0, 30.0], [32.0, 50.0, 86.0]).name
    'INTERVAL'
    >>> classify_map([1.0, 2.0, 3.0], [1.0, 4.0, 9.0]).name
    'ORDINAL'
    """
    x, image = np.asarray(x, dtype=float), np.asarray(image, dtype=float)
    if x.ndim != 1 or x.shape != image.shape or x.size == 0:
        raise ValueError(
            "classify_map needs points and as many images, at least one. "
            f"Got shapes {x.shape} and {image.shape}."
        )
    if not (np.isfinite(x).all() and np.isfinite(image).all()):
        raise ValueError("classify_map needs finite points and images.")
    points, first = np.unique(x, return_index=True)
    values = image[first]
    slack = tol * max(float(np.abs(x).max()), float(np.abs(image).max()))
    if np.any(np.abs(values[np.searchsorted(points, x)] - image) > slack):
        raise ValueError("classify_map needs a map: a point has two different images.")
    if len(np.unique(values)) < len(points):
        return None
    if np.all(np.abs(values - points) <= slack):
        return ScaleType.ABSOLUTE
    if np.any(np.diff(values) <= 0):
        return ScaleType.NOMINAL
    largest = np.abs(points).argmax()
    if points[largest] != 0:
        factor = values[largest] / points[largest]
        if factor > 0 and np.all(np.abs(values - factor * points) <= slack):
            return ScaleType.RATIO
    if len(points) == 1:
        return ScaleType.INTERVAL
    factor = (values[-1] - values[0]) / (points[-1] - points[0])
    line = values[0] + factor * (points - points[0])
    return ScaleType.INTERVAL if np.all(np.abs(values - line) <= slack) else ScaleType.ORDINAL


def random_transformation(
    scale: str | ScaleType, values: Any, random_state: Any = None
) -> Callable[[Any], np.ndarray]:
    """Draw an admissible transformation of a scale.

    Parameters
    ----------
    scale : {"nominal", "ordinal", "interval", "ratio", "absolute"} or ScaleType
        The scale.
    values : array-like
        Values at which the transformation is needed. A bijection of a nominal scale is defined
        on these alone and gives NaN elsewhere; all others are defined everywhere.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    transformation : callable
        Maps arrays of numbers to arrays of numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.representation import classify_map, random_transformation
    >>> x = np.array([1.0, 2.0, 5.0])
    >>> classify_map(x, random_transformation("ordinal", x, 0)(x)).name
    'ORDINAL'
    """
    scale, rng = _check_scale("random_transformation", scale), check_random_state(random_state)
    known = np.unique(np.asarray(values, dtype=float))
    spread = max(float(np.ptp(known)), float(np.abs(known).max()), 1.0)
    if scale is ScaleType.ABSOLUTE:
        return lambda x: np.array(x, dtype=float)
    if scale is ScaleType.RATIO or scale is ScaleType.INTERVAL:
        factor = np.exp(rng.normal())
        shift = spread * rng.normal() if scale is ScaleType.INTERVAL else 0.0
        return lambda x: factor * np.asarray(x, dtype=float) + shift
    if scale is ScaleType.NOMINAL:
        images = spread * rng.permutation(len(known)) + spread * rng.normal()

        def relabel(x: Any) -> np.ndarray:
            x = np.asarray(x, dtype=float)
            place = np.minimum(np.searchsorted(known, x), len(known) - 1)
            return np.where(known[place] == x, images[place], np.nan)

        return relabel
    # Strictly increasing: random heights at the values, curved in between, so that the middle of
    # two values does not go to the middle of their images.
    heights = spread * np.cumsum(rng.exponential(size=len(known)) + 0.01)
    power = 2 + rng.uniform()

    def stretch(x: Any) -> np.ndarray:
        x = np.asarray(x, dtype=float)
        left = np.clip(np.searchsorted(known, x, side="right") - 1, 0, max(len(known) - 2, 0))
        right = np.minimum(left + 1, len(known) - 1)
        gap = known[right] - known[left]
        share = np.divide(x - known[left], gap, out=np.zeros_like(x), where=gap > 0)
        inside = heights[left] + (heights[right] - heights[left]) * np.clip(share, 0, 1) ** power
        return inside + np.minimum(x - known[0], 0) + np.maximum(x - known[-1], 0)

    return stretch


def is_invariant(
    statistic: Callable[[np.ndarray], Any],
    scale: str | ScaleType,
    data: Any,
    *,
    relation: str = "invariant",
    columns: str = "together",
    n_trials: int = 50,
    tol: float = 1e-8,
    random_state: Any = None,
) -> InvarianceCheck:
    """Test whether a statistic or decision makes sense on a scale.

    Parameters
    ----------
    statistic : callable
        Maps an array like ``data`` to a number or an array.
    scale : {"nominal", "ordinal", "interval", "ratio", "absolute"} or ScaleType
        The scale on which the data were measured.
    data : array-like of shape (n,) or (n, n_columns)
        Data to try it on.
    relation : {"invariant", "equivariant"}, default="invariant"
        Whether the statistic must stay the same, or be transformed like the data.
    columns : {"together", "separately"}, default="together"
        Whether all columns measure the same thing and are transformed alike, or each gets a
        transformation of its own.
    n_trials : int, default=50
        How many random admissible transformations to try.
    tol : float, default=1e-8
        Relative difference that counts as rounding.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the transformations.

    Returns
    -------
    check : InvarianceCheck
        True if no transformation broke the relation; otherwise with the first that did.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.representation import is_invariant
    >>> x = [3.0, 1.0, 4.0, 1.5, 9.0]
    >>> bool(is_invariant(np.median, "ordinal", x, relation="equivariant", random_state=0))
    True
    >>> bool(is_invariant(np.mean, "ordinal", x, relation="equivariant", random_state=0))
    False
    """
    for name, value, options in (
        ("relation", relation, ("equivariant", "invariant")),
        ("columns", columns, ("separately", "together")),
    ):
        if value not in options:
            raise ValueError(
                f"The '{name}' parameter of is_invariant must be a str among {set(options)}. "
                f"Got {value!r} instead."
            )
    if relation == "equivariant" and columns == "separately":
        raise ValueError(
            "is_invariant cannot test equivariance when columns are transformed separately: it is "
            "not defined which transformation the statistic should follow."
        )
    scale, rng = _check_scale("is_invariant", scale), check_random_state(random_state)
    data = np.asarray(data, dtype=float)
    before = np.asarray(statistic(data), dtype=float)
    for trial in range(1, n_trials + 1):
        if columns == "separately" and data.ndim == 2:
            maps = [random_transformation(scale, column, rng) for column in data.T]
            moved = np.stack([m(c) for m, c in zip(maps, data.T)], axis=1)
            expected = before
        else:
            transformation = random_transformation(scale, data, rng)
            moved = transformation(data)
            expected = transformation(before) if relation == "equivariant" else before
        found = np.asarray(statistic(moved), dtype=float)
        size = max(1e-300, float(np.max(np.abs(expected), initial=0)))
        if found.shape != expected.shape or not np.all(np.abs(found - expected) <= tol * size):
            return InvarianceCheck(False, trial, moved, expected[()], found[()])
    return InvarianceCheck(True, n_trials)


def infer_scale_type(column: Any) -> ScaleGuess:
    """Guess the scale type of a column from its type and values.

    Parameters
    ----------
    column : array-like of shape (n,), pandas Series or polars Series
        The column; missing values are ignored.

    Returns
    -------
    guess : ScaleGuess
        The scale and the reason for it. Only the person who measured knows for sure.

    Notes
    -----
    Labels, booleans and numbered rows are nominal; ordered categories and whole numbers 1, 2, ...
    with at most ten levels ordinal; dates and numbers with negative values interval; durations
    and non-negative numbers ratio; other counts absolute.

    Examples
    --------
    >>> from corollary.representation import infer_scale_type
    >>> infer_scale_type([1, 5, 3, 3, 2, 4, 1]).scale.name
    'ORDINAL'
    >>> infer_scale_type([0.5, 12.25, 3.0])
    ScaleGuess(scale=<ScaleType.RATIO: 4>, reason='the values are non-negative quantities')
    """
    guess = _guess_by_type(column)
    if guess is not None:
        return guess
    values = _numbers(column)
    if values is None:
        return ScaleGuess(ScaleType.NOMINAL, "the values are labels")
    if values.size == 0:
        return ScaleGuess(ScaleType.NOMINAL, "all values are missing")
    return _guess_by_values(values)


def _guess_by_type(column: Any) -> ScaleGuess | None:
    """Guess from the type alone, or return None if it only says that there are numbers."""
    kind = str(getattr(column, "dtype", ""))
    if getattr(getattr(column, "dtype", None), "ordered", False) or kind.startswith("Enum"):
        return ScaleGuess(ScaleType.ORDINAL, "the categories are ordered")
    kind = kind.lower()
    if kind.startswith("bool"):
        return ScaleGuess(ScaleType.NOMINAL, "the values are true or false")
    if kind.startswith(("categor", "str", "large_string", "<u", "|s")):
        return ScaleGuess(ScaleType.NOMINAL, "the values are labels")
    if kind.startswith(("timedelta", "duration")):
        return ScaleGuess(ScaleType.RATIO, "the values are durations")
    if kind.startswith(("date", "time", "period")):
        return ScaleGuess(ScaleType.INTERVAL, "the values are points in time")
    return None


def _guess_by_values(values: np.ndarray) -> ScaleGuess:
    """Guess from finite numbers, at least one."""
    if values.min() < 0:
        return ScaleGuess(ScaleType.INTERVAL, "some values are negative")
    if not np.all(values == np.round(values)):
        return ScaleGuess(ScaleType.RATIO, "the values are non-negative quantities")
    levels = np.unique(values)
    if values.size >= 10 and np.all(np.diff(values) == 1) and values[0] in (0, 1):
        return ScaleGuess(ScaleType.NOMINAL, "the values number the rows")
    if levels.size <= 2 and set(levels.tolist()) <= {0.0, 1.0}:
        return ScaleGuess(ScaleType.NOMINAL, "the values are true or false")
    full = np.array_equal(levels, np.arange(1, levels.size + 1))
    if full and 2 < levels.size <= RATING_LEVELS and levels.size < values.size:
        return ScaleGuess(ScaleType.ORDINAL, f"the values are levels 1 to {levels.size}")
    return ScaleGuess(ScaleType.ABSOLUTE, "the values are counts")


def _numbers(column: Any) -> np.ndarray | None:
    """Return the finite values as floats, or None if they are not numbers."""
    array = np.asarray(column)
    if array.dtype.kind == "O":
        present = [v for v in array.tolist() if not is_missing(v)]
        if any(isinstance(v, str | bytes | bool) for v in present):
            return None
        try:
            array = np.array(present, dtype=float)
        except (TypeError, ValueError):
            return None
    if array.dtype.kind not in "iuf" or array.ndim != 1:
        return None
    values = array.astype(float)
    return values[np.isfinite(values)]


def _check_scale(name: str, scale: str | ScaleType) -> ScaleType:
    if isinstance(scale, ScaleType):
        return scale
    if isinstance(scale, str) and scale.upper() in ScaleType.__members__:
        return ScaleType[scale.upper()]
    names = [s.name.lower() for s in ScaleType]
    raise ValueError(
        f"The 'scale' parameter of {name} must be a ScaleType or a str among {names}. "
        f"Got {scale!r} instead."
    )
