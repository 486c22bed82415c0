"""What the files of theorems share: how a proof ends in a certificate, and how rows are counted."""

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from corollary.certificates.register import Evidence, _page_of
from corollary.core.certificate import Assumption, Certificate, Population, Quantity
from corollary.core.protocols import PredictsRegions, PredictsSets

R = TypeVar("R")

# Tables with more cells than this are not copied to be certified.
LARGEST_TABLE = 2 * 10**8
# Levels 2^j of margins at which bounds are evaluated, in the order in which they are paid for.
EXPONENTS = sorted(range(-24, 25), key=lambda j: (abs(j), j > 0))

# What a certificate that is vacuous still lacks is looked for up to so many rows.
LONGEST_SEARCH = 2**14


def conclude(
    theorem: str,
    quantity: Quantity,
    bound: float,
    *,
    empirical: float,
    n_samples: int,
    confidence: float,
    observed: str | None = None,
    assumptions: tuple[Assumption, ...] = (),
    rows_missing: float = 0,
    population: Population | None = None,
    recompute: Callable[[float], Certificate] | None = None,
) -> Certificate:
    """Make a certificate of one of this library's theorems; the bound is cut at the range."""
    return Certificate(
        quantity=quantity,
        empirical=empirical,
        bound=min(bound, quantity.high),
        confidence=confidence,
        theorem=theorem,
        n_samples=n_samples,
        observed=quantity.observed(empirical, n_samples) if observed is None else observed,
        assumptions=assumptions,
        vacuous=bound >= quantity.high,
        rows_missing=rows_missing,
        population=population or Population(),
        page=_page_of(theorem),
        recompute=recompute,
    )


def once(function: Callable[[Evidence], R]) -> Callable[[Evidence], R]:
    """Remember what a function made of a piece of evidence, as long as there is that evidence."""
    results: WeakKeyDictionary[Evidence, R] = WeakKeyDictionary()

    @wraps(function)
    def remembered(evidence: Evidence) -> R:
        if evidence not in results:
            results[evidence] = function(evidence)
        return results[evidence]

    return remembered


def rows_missing(n_samples: int, bound_at: Callable[[int], float]) -> float:
    """Count the rows that a vacuous bound lacks if more of them look like those at hand."""
    if bound_at(n_samples) < 1:
        return 0
    low, high = n_samples, 2 * n_samples
    while bound_at(high) >= 1:
        low, high = high, 4 * high
        if high > 10**12:
            return math.inf
    # Three digits are enough, and the lower end is the honest one.
    while high - low > 1 + low // 1000:
        middle = (low + high) // 2
        low, high = (middle, high) if bound_at(middle) >= 1 else (low, middle)
    return low + 1 - n_samples


def repetitions_missing(n: int, enough: Callable[[int], bool], possible: bool) -> float:
    """Count what a vacuous bound lacks if what was observed came again and again."""
    if not possible:
        return math.inf
    most = n
    while not enough(most):
        if most > LONGEST_SEARCH:
            return math.inf
        most *= 2
    least = most // 2
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if enough(middle) else (middle, most)
    return most - n


def losses_in_range(evidence: Evidence) -> list[tuple[np.ndarray, Quantity]]:
    """List what is known to lie in a range: whether regions miss, and the losses of predictions."""
    pairs = (evidence.misses, evidence.region), (evidence.losses, evidence.quantity)
    return [(losses, what) for losses, what in pairs if losses is not None and what is not None]


def observed_mean(quantity: Quantity, mean: float) -> str:
    """Write a mean that was seen, a share of rows as a percentage."""
    return f"{100 * mean:.3g}% on average" if quantity.kind == "share" else f"a mean of {mean:.4g}"


def is_error_of_two_classes(evidence: Evidence) -> bool:
    """Tell whether the evidence is about the error rate of a classifier of two classes."""
    return (
        evidence.kind == "classifier"
        and evidence.losses is not None
        and evidence.quantity == Quantity()
        and evidence.y.ndim == 1
        and len(getattr(evidence.model, "classes_", ())) == 2
    )


def signs_of(evidence: Evidence) -> np.ndarray:
    """Return targets as signs, -1 for the first class."""
    # A label that the model does not know is an error on either side; its row counts as wrong.
    second = evidence.y == evidence.model.classes_[1]
    signs = np.where(second, 1.0, -1.0)
    unknown = ~second & (evidence.y != evidence.model.classes_[0])
    predicted = np.where(evidence.prediction == evidence.model.classes_[1], 1.0, -1.0)
    return np.where(unknown, -predicted, signs)


def as_table(X: Any) -> np.ndarray | None:
    """Return rows as a table of finite numbers; None if they are none, or too many."""
    if math.prod(np.shape(X)) > LARGEST_TABLE:
        return None
    try:
        rows = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return rows if rows.ndim == 2 and np.isfinite(rows).all() else None


def miss_rate(model: PredictsRegions, rows: str = "") -> Quantity:
    """Name the share of targets that lie outside the intervals or sets of a wrapper."""
    # A class may offer sets for models of classes only, which the protocol does not tell.
    sets = isinstance(model, PredictsSets) and hasattr(model, "predict_set")
    region, verb = ("set", "have labels") if sets else ("interval", "lie")
    level = f"{100 * model.confidence:.6g}%"
    where = f" {rows}" if rows else ""
    return Quantity(
        name=f"miss rate of {level} {region}s{where}",
        predicate=f"{rows} {verb} outside their {level} {region}".lstrip(),
    )
