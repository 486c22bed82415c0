"""The register of models that take part in the comparison.

A family plugs in by one decorated function that fits its estimator::

    @register_candidate(
        "forest", "random forest", "Average of many trees.", tasks=("classification",)
    )
    def forest(situation, X, y):
        return RandomForestClassifier(random_state=situation.seed).fit(X, y)

X holds encoded features, y class indices or numbers. The baseline is not registered: it always
takes part. The models that ship with the library register in the folder ``catalogue``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from corollary.reporting._records import Task

#: A positive target whose logarithm is clearly less skewed is also tried on the log scale.
SKEWED = 1.0
#: Beyond this skewness a few rows decide every squared error; the comparison moves to logarithms.
SEVERE = 4.0


@dataclass(frozen=True)
class Situation:
    """What a candidate is to be fitted to."""

    task: Task  # kind of prediction
    n: int  # training rows
    d: int  # features
    n_classes: int  # classes; 0 for a number
    # whether the target is positive and skewed, so that its logarithm is worth predicting
    log: bool
    severe: bool  # whether it is so skewed that losses are those of the logarithm
    seed: int  # seed
    fast: bool  # whether speed matters more than the last bit of quality


Fit = Callable[[Situation, np.ndarray, np.ndarray], Any]


@dataclass(frozen=True)
class Entry:
    """A registered candidate."""

    name: str  # machine-readable name
    label: str  # name for readers
    description: str  # one sentence: what it is
    task: str  # task it serves
    fit: Fit  # ``fit(situation, X, y)`` gives a fitted estimator
    applies: Callable[[Situation], bool]  # ``applies(situation)`` says whether it takes part
    log: bool  # whether it is fitted to the logarithm of the target
    settings: tuple[str, ...]  # fitted attributes worth telling the reader
    learnt: tuple[str, ...] = ()  # fitted arrays that make its size; all that it holds if empty
    article: str = ""  # before the label inside a sentence


_ENTRIES: dict[tuple[str, str], Entry] = {}


def register_candidate(
    name: str,
    label: str,
    description: str,
    *,
    tasks: Sequence[str],
    applies: Callable[[Situation], bool] = lambda situation: True,
    log: bool = False,
    settings: Sequence[str] = (),
    learnt: Sequence[str] = (),
    article: str = "",
) -> Callable[[Fit], Fit]:
    """Let a model take part in the comparison of every report.

    Parameters
    ----------
    name : str
        Machine-readable name; registering a name again for a task replaces it.
    label : str
        Name for readers.
    description : str
        One sentence: what it is.
    tasks : sequence of {"classification", "regression"}
        Tasks it serves.
    applies : callable, default=always
        ``applies(situation)`` says whether it takes part.
    log : bool, default=False
        Whether it is fitted to the logarithm of the target; it then takes part only where the
        target is positive and skewed.
    settings : sequence of str, default=()
        Fitted attributes worth telling the reader, such as ``"alpha_"``.
    learnt : sequence of str, default=()
        Fitted arrays whose numbers make its size, such as ``"coef_"`` or ``"trees_.value"``. By
        default every array of real numbers that the estimator holds, also those that only document
        the fit.
    article : str, default=""
        Article before the label inside a sentence, such as ``"a"`` before "random forest".

    Returns
    -------
    decorator : callable
        Takes ``fit(situation, X, y)``, which gives a fitted estimator that
        :func:`corollary.save` can save. A classifier must have ``predict_proba``.

    Examples
    --------
    >>> from corollary.linear import Ridge
    >>> from corollary.reporting import register_candidate
    >>> @register_candidate(
    ...     "weak-ridge",
    ...     "ridge with a weak penalty",
    ...     "A linear model with a fixed penalty.",
    ...     tasks=("regression",),
    ...     applies=lambda situation: situation.n > 10**9,
    ... )
    ... def weak_ridge(situation, X, y):
    ...     return Ridge(alpha=0.1).fit(X, y)
    """

    def decorate(fit: Fit) -> Fit:
        for task in tasks:
            _ENTRIES[name, task] = Entry(
                name,
                label,
                description,
                task,
                fit,
                applies,
                log,
                tuple(settings),
                tuple(learnt),
                article,
            )
        return fit

    return decorate


def candidates(situation: Situation) -> list[Entry]:
    """List the candidates for a situation, in the order of registration."""
    return [
        entry
        for entry in _ENTRIES.values()
        if situation.task == entry.task
        and (situation.log or not entry.log)
        and entry.applies(situation)
    ]


def find(name: str, task: str) -> Entry | None:
    """Find a registered candidate."""
    return _ENTRIES.get((name, task))


def is_skewed(y: np.ndarray) -> bool:
    """Tell whether a target is worth predicting on the log scale."""
    if len(y) < 20 or y.min() <= 0:
        return False
    return bool(skewness(y) > SKEWED and abs(skewness(np.log(y))) < 0.5 * skewness(y))


def skewness(values: np.ndarray) -> float:
    """Compute the third central moment in units of the spread."""
    centred = values - values.mean()
    return float((centred**3).mean() / max((centred**2).mean() ** 1.5, np.finfo(float).tiny))


def fitted_size(estimator: Any, learnt: Sequence[str] = ()) -> int:
    """Count the numbers that an estimator has learnt: in the arrays named, or in all that it holds.

    Real numbers count where they are not zero, and integers, which are places such as the columns
    of splits, where they are not negative.
    """
    named = [attrgetter(path)(estimator) for path in learnt]
    arrays = list(_arrays_in(named or estimator))
    if not learnt:  # single numbers are prices and scores, integers are codes and counts
        arrays = [array for array in arrays if array.ndim and array.dtype.kind == "f"]
    return sum(int(np.count_nonzero(a >= 0 if a.dtype.kind == "i" else a)) for a in arrays)


def _arrays_in(holder: Any) -> Iterator[np.ndarray]:
    """Yield numbers, arrays and what lists, estimators and other parts of models hold of them."""
    if isinstance(holder, np.ndarray | np.floating | float):
        yield np.asarray(holder)
    elif isinstance(holder, list | tuple):
        for part in holder:
            yield from _arrays_in(part)
    elif hasattr(holder, "get_params") or hasattr(holder, "_schema"):
        yield from _arrays_in(list(vars(holder).values()))
