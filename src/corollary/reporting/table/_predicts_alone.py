"""Whether one column alone predicts the target: then it may be a consequence of it."""

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

from corollary.reporting.table._target import Target
from corollary.representation import Column, ColumnContent

_WORD = re.compile(r"\w+")
#: A column predicts alone when it leaves at most this share of the baseline's errors; a code of few
#: levels, which may be entered wrongly now and then, at most this.
ALONE, ALONE_CODE = 0.03, 0.1
#: Levels up to which a column is a code.
CODE_LEVELS = 50
#: Words of a text column that are tried as predictors, the most frequent first, and the least and
#: largest share of rows that hold them.
MOST_WORDS, LEAST_SHARE, LARGEST_SHARE = 200, 0.02, 0.98
#: Rows on which single columns are tried as predictors.
ALONE_ROWS = 20_000


def predicts_alone(column: Column, plan: ColumnContent, target: Target) -> bool:
    """Tell whether one column leaves next to nothing of the target unexplained."""
    n = min(len(column), ALONE_ROWS)
    if n < 30:
        return False
    y = target.values[:n]
    if n < len(column):
        column = column.take(np.arange(n))
    if plan.kind == "text":
        return target.task == "classification" and any(
            _explains(codes, y, target) for codes in _frequent_words(*column.strings)
        )
    if plan.kind in ("numeric", "boolean", "date"):
        numbers = column.dates(plan.date_format) if plan.kind == "date" else column.numbers
        if target.task == "regression":
            return _follows(numbers, y)
        if len(np.unique(numbers[~np.isnan(numbers)])) > n // 10:
            wrong = _neighbour_errors(numbers, y, len(target.classes))
            return bool(wrong <= ALONE * (n - np.bincount(y).max()))
        codes = np.unique(numbers, return_inverse=True)[1]
    else:
        codes = column.strings[0]
    return _explains(codes, y, target)


def _explains(codes: np.ndarray, y: np.ndarray, target: Target) -> bool:
    """Tell whether levels, learnt on one half of the rows, explain the other half."""
    codes = np.where(codes < 0, codes.max() + 1, codes)
    half = np.arange(len(y)) % 2 == 0
    left, total = 0.0, 0.0
    for learn in (half, ~half):
        left += _table_errors(codes[learn], y[learn], codes[~learn], y[~learn], target)
        total += _table_errors(
            np.zeros(learn.sum(), int), y[learn], np.zeros((~learn).sum(), int), y[~learn], target
        )
    code = target.task == "classification" and len(np.unique(codes)) <= CODE_LEVELS
    return bool(total > 0 and left <= (ALONE_CODE if code else ALONE) * total)


def _frequent_words(codes: np.ndarray, texts: list[str]) -> Iterator[np.ndarray]:
    """Give for each frequent word of a text which rows hold it: 1, 0, or -1 for no text."""
    words = [set(_WORD.findall(text.lower())) for text in texts]
    frequency = np.bincount(codes[codes >= 0], minlength=len(texts))
    shares: Counter[str] = Counter()
    for here, n in zip(words, frequency):
        shares.update(dict.fromkeys(here, int(n)))
    for word, n in shares.most_common(MOST_WORDS):
        if LEAST_SHARE <= n / len(codes) <= LARGEST_SHARE:
            yield np.asarray([*(word in here for here in words), -1], dtype=np.int64)[codes]


def _follows(numbers: np.ndarray, y: np.ndarray) -> bool:
    """Tell whether the target is nearly a monotone, or a linear, function of the column."""
    known = ~np.isnan(numbers)
    if known.sum() < 30 or len(np.unique(numbers[known])) < 10:
        return False
    from scipy.stats import spearmanr

    if abs(spearmanr(numbers[known], y[known]).statistic) >= 0.995:
        return True
    x, t = (values - np.median(values) for values in (numbers[known], y[known]))
    scale = float(np.abs(x).max()), float(np.abs(t).max())
    if not min(scale):
        return False
    return bool(np.corrcoef(x / scale[0], t / scale[1])[0, 1] ** 2 >= 1 - ALONE)


def _neighbour_errors(numbers: np.ndarray, y: np.ndarray, n_classes: int) -> int:
    """Rows whose class differs from that of most of their two neighbours on either side."""
    order = np.argsort(np.where(np.isnan(numbers), np.inf, numbers), kind="stable")
    labels = y[order]
    votes = np.zeros((len(y), n_classes))
    for shift in (1, 2):
        votes[np.arange(len(y) - shift), labels[shift:]] += 1.0
        votes[np.arange(shift, len(y)), labels[:-shift]] += 1.0
    return int((votes.argmax(axis=1) != labels).sum())


def _table_errors(
    codes: np.ndarray, y: np.ndarray, new_codes: np.ndarray, new_y: np.ndarray, target: Target
) -> float:
    """Errors (squared errors) on new rows of the best constant per level, learnt on others."""
    n_codes = int(max(codes.max(initial=0), new_codes.max(initial=0))) + 1
    if target.task == "regression":
        sums = np.bincount(codes, weights=y, minlength=n_codes)
        counts = np.bincount(codes, minlength=n_codes)
        best = np.where(counts > 0, sums / np.maximum(counts, 1), y.mean())
        return float(((new_y - best[new_codes]) ** 2).sum())
    k = len(target.classes)
    counts = np.bincount(codes * k + y, minlength=n_codes * k).reshape(n_codes, k)
    best_class = np.where(counts.sum(axis=1) > 0, counts.argmax(axis=1), np.bincount(y).argmax())
    return float((new_y != best_class[new_codes]).sum())
