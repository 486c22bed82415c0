"""Facts about the test rows that several sections quote, and conversions to plain values."""

import math
from numbers import Integral, Real
from typing import Any

from corollary.reporting._records import Candidate, Estimate, Evidence
from corollary.reporting.page._format import aligned, label, number, percent, without_zeros


def plain(value: Any) -> Any:
    """Turn a value into something JSON can hold."""
    if value is None or isinstance(value, str | bool):
        return value
    if getattr(value, "dtype", None) == "bool":
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
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


def six_digits(value: float) -> float:
    """Keep six digits: more cannot be seen, and would only make the file larger."""
    return float(f"{value:.6g}")


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


def row_names(evidence: Evidence) -> list[str]:
    """List the column by which a reader knows a row, if there is one."""
    return [
        c.name for c in evidence.profile.columns if c.names_rows and c.name in evidence.test.table
    ][:1]


def row_words(evidence: Evidence, place: int) -> str:
    """Name a test row by its number in the file and by its identifier."""
    text = f"row {int(evidence.test.positions[place]) + 1:,}"
    for name in row_names(evidence):
        text += f" ({label(name, 40)} {cell(evidence.test.table[name][place])})"
    return text


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


def guess_words(evidence: Evidence) -> str:
    """Say what the baseline does on the test rows."""
    guesses = set(evidence.test.baseline.tolist())
    if len(guesses) != 1:
        return "Guessing without the columns"
    guess = guesses.pop()
    if evidence.task == "classification":
        return f"Always guessing {class_name(evidence, guess)}"
    return f"Always guessing {number(float(guess))}"


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
