"""Facts about the test rows that several sections quote, and conversions to plain values."""

import math
from typing import Any

import numpy as np
from scipy import special

from corollary.reporting._records import Candidate, Evidence
from corollary.reporting.page._format import aligned, label, number, percent, without_zeros
from corollary.validation import Estimate


def plain(value: Any) -> Any:
    """Turn a value into something JSON can hold."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    text = str(value)
    return None if text in ("NaT", "<NA>", "nan") else text


def estimate(value: Estimate) -> dict[str, Any]:
    """Turn an estimate into a dictionary."""
    ends = {key: plain(getattr(value, key)) for key in ("value", "low", "high")}
    return {**ends, "n": int(value.n)}


def cell(value: Any) -> str:
    """Write a raw value of the data for a table."""
    value = plain(value)
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value).replace("-", "−")
    if isinstance(value, float):
        return without_zeros(number(value))
    return label(value, 40)


def cells(values: list[Any]) -> list[str]:
    """Write raw values that stand below each other."""
    known = [plain(v) for v in values]
    numbers = [v for v in known if isinstance(v, int | float) and not isinstance(v, bool)]
    if not any(isinstance(v, float) for v in numbers):
        return [cell(v) for v in values]
    texts = iter(aligned(numbers))
    return [
        next(texts) if isinstance(v, int | float) and not isinstance(v, bool) else cell(v)
        for v in known
    ]


def chosen(evidence: Evidence) -> Candidate:
    """Find the chosen model."""
    return next(c for c in evidence.candidates if c.chosen)


def class_name(evidence: Evidence, index: int) -> str:
    """Name a class."""
    name = label(evidence.classes[int(index)], 40)
    return f"class {name}" if name.lstrip("−-").replace(".", "", 1).isdigit() else name


def confidence_words(evidence: Evidence) -> str:
    """Write the confidence of intervals on scores."""
    return f"{100 * evidence.confidence:.6g}%"


def loss_words(evidence: Evidence) -> tuple[str, str]:
    """Give the name of the loss, and the remark that it may carry."""
    loss = evidence.loss
    return loss.name, f", {loss.remark}" if loss.remark else ""


def model_words(candidate: Candidate) -> str:
    """Name a model inside a sentence, with its article."""
    return label(candidate.words or candidate.label, 160)


def widened(rise: Estimate, looks: int, confidence: float) -> Estimate:
    """Widen an interval so that it holds for all of many looks together.

    The column that is named first was picked because its estimate is the largest; an interval
    that holds singly would be too narrow for it.
    """
    level = (1 - confidence) / 2
    factor = float(special.ndtri(level / max(looks, 1)) / special.ndtri(level))
    low = rise.value - factor * (rise.value - rise.low)
    return rise._replace(low=low, high=rise.value + factor * (rise.high - rise.value))


def matters(rise: Estimate, looks: int, confidence: float) -> bool:
    """Tell whether a rise of the loss is more than chance, corrected for many looks."""
    return bool(widened(rise, looks, confidence).low > 0)


def guess_words(evidence: Evidence) -> str:
    """Say what the baseline does on the test rows."""
    guesses = np.unique(evidence.test.baseline)
    if len(guesses) != 1:
        return "Guessing without the columns"
    if evidence.task == "classification":
        return f"Always guessing {class_name(evidence, guesses[0])}"
    return f"Always guessing {number(float(guesses[0]))}"


def wrong(evidence: Evidence) -> np.ndarray:
    """Mark the test rows whose class is predicted wrongly."""
    return np.asarray(evidence.test.truth) != np.asarray(evidence.test.prediction)


def absolute_errors(evidence: Evidence) -> np.ndarray:
    """Compute the sizes of a regression's errors."""
    return np.abs(np.asarray(evidence.test.truth) - np.asarray(evidence.test.prediction))


def direction(truth: float, prediction: float) -> str:
    """Name the direction of a regression error."""
    if prediction == truth:
        return "exact"
    return "too high" if prediction > truth else "too low"


def share_words(k: int, n: int) -> str:
    """Write a count as a share."""
    return f"{k:,} of {n:,}" + (f" ({percent(k / n)})" if n else "")


def target_name(evidence: Evidence) -> str:
    """Name the target."""
    return label(evidence.target, 40)
