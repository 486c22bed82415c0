"""The register of models that take part in the comparison.

A family plugs in by one decorated function that fits its estimator::

    @register_candidate(
        "forest", "random forest", "Average of many trees.", tasks=("classification",)
    )
    def forest(situation, X, y):
        return RandomForestClassifier(random_state=situation.seed).fit(X, y)

X holds encoded features, y class indices or numbers. The baseline is not registered: it always
takes part.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.report.evidence import Task

#: A positive target whose logarithm is clearly less skewed is also tried on the log scale.
SKEWED = 1.0
#: Beyond this skewness a few rows decide every squared error; the comparison moves to logarithms.
SEVERE = 4.0
#: Networks see at most this many rows, drawn at random, and are not tried beyond this many
#: features: they would take minutes.
NETWORK_ROWS, NETWORK_FEATURES = 50_000, 1_000
#: Rows x features x squared classes up to which a sparse logistic regression takes seconds.
SPARSE_WORK = 2_000_000


@dataclass(frozen=True)
class Situation:
    """What a candidate is to be fitted to.

    Parameters
    ----------
    task : {"classification", "regression"}
        Kind of prediction.
    n : int
        Training rows.
    d : int
        Features.
    n_classes : int
        Classes; 0 for a number.
    log : bool
        Whether the target is positive and skewed, so that its logarithm is worth predicting.
    severe : bool
        Whether it is so skewed that losses are those of the logarithm.
    seed : int
        Seed.
    fast : bool
        Whether speed matters more than the last bit of quality.
    """

    task: Task
    n: int
    d: int
    n_classes: int
    log: bool
    severe: bool
    seed: int
    fast: bool


Fit = Callable[[Situation, np.ndarray, np.ndarray], Any]


@dataclass(frozen=True)
class Entry:
    """A registered candidate.

    Parameters
    ----------
    name : str
        Machine-readable name.
    label : str
        Name for readers.
    description : str
        One sentence: what it is.
    task : {"classification", "regression"}
        Task it serves.
    fit : callable
        ``fit(situation, X, y)`` gives a fitted estimator.
    applies : callable
        ``applies(situation)`` says whether it takes part.
    log : bool
        Whether it is fitted to the logarithm of the target.
    settings : tuple of str
        Fitted attributes worth telling the reader.
    family : str
        Candidates of one family make similar errors; averages are taken over families.
    """

    name: str
    label: str
    description: str
    task: str
    fit: Fit
    applies: Callable[[Situation], bool]
    log: bool
    settings: tuple[str, ...]
    family: str


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
    family: str = "",
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
    family : str, default=""
        Candidates that make similar errors share a family, and the best of each family enter the
        average; empty for a family of its own.

    Returns
    -------
    decorator : callable
        Takes ``fit(situation, X, y)``, which gives a fitted estimator that
        :func:`corollary.save` can save.

    Examples
    --------
    >>> from corollary.linear import Ridge
    >>> from corollary.report import register_candidate
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
                name, label, description, task, fit, applies, log, tuple(settings), family or name
            )
        return fit

    return decorate


def candidates(situation: Situation) -> list[Entry]:
    """List the candidates for a situation, in the order of registration.

    Parameters
    ----------
    situation : Situation
        What they are to be fitted to.

    Returns
    -------
    entries : list of Entry
        Those that take part.
    """
    return [
        entry
        for entry in _ENTRIES.values()
        if situation.task == entry.task
        and (situation.log or not entry.log)
        and entry.applies(situation)
    ]


def is_skewed(y: np.ndarray) -> bool:
    """Tell whether a target is worth predicting on the log scale.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Training targets.

    Returns
    -------
    skewed : bool
        Whether all are positive, their skewness exceeds one, and that of the logarithms is less
        than half of it.
    """
    if len(y) < 20 or y.min() <= 0:
        return False
    return bool(skewness(y) > SKEWED and abs(skewness(np.log(y))) < 0.5 * skewness(y))


def skewness(values: np.ndarray) -> float:
    """Compute the third central moment in units of the spread.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Numbers.

    Returns
    -------
    skewness : float
        0 for symmetric values, 2 for exponential ones.
    """
    centred = values - values.mean()
    return float((centred**3).mean() / max((centred**2).mean() ** 1.5, np.finfo(float).tiny))


def fitted_size(estimator: Any) -> int:
    """Count the fitted numbers of an estimator: its coefficients or weights that are not zero.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator.

    Returns
    -------
    size : int
        How many.
    """
    total = 0
    for name in ("coef_", "intercept_", "coefs_", "intercepts_"):
        value = getattr(estimator, name, None)
        parts = value if isinstance(value, list | tuple) else [] if value is None else [value]
        total += sum(int(np.count_nonzero(np.asarray(part))) for part in parts)
    return total


def _inner_folds(situation: Situation) -> int:
    work = situation.n * situation.d * max(situation.n_classes, 1)
    return 3 if situation.fast or work > 200_000 else max(2, min(5, situation.n // 2))


def _wants_networks(situation: Situation) -> bool:
    return not situation.fast and situation.n >= 30 and situation.d <= NETWORK_FEATURES


def _fit_logistic(
    situation: Situation,
    X: np.ndarray,
    y: np.ndarray,
    strengths: tuple[float, ...],
    **settings: Any,
) -> Any:
    """Choose the penalty on the rows of classes that every fold can hold, then fit all rows."""
    from corollary.linear import LogisticRegression, LogisticRegressionCV

    counts = np.bincount(y)
    folds = max(2, min(_inner_folds(situation), int(np.sort(counts)[-2])))
    rows = counts[y] >= folds
    l1 = settings.pop("l1_ratio", 0.0)
    search = LogisticRegressionCV(Cs=strengths, l1_ratios=(l1,), cv=folds, **settings)
    try:
        strength = float(search.fit(X[rows], y[rows]).C_)
    except ValueError:  # fewer than two classes have rows enough
        strength = 1.0
    return LogisticRegression(C=strength, l1_ratio=l1, **settings).fit(X, y)


@register_candidate(
    "logistic",
    "logistic regression",
    "Linear scores turned into probabilities, with a squared penalty chosen by cross-validation.",
    tasks=("classification",),
    settings=("C",),
    family="linear",
)
def _logistic(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    strengths = (0.003, 0.03, 0.3, 3.0) if situation.fast else tuple(10.0 ** np.arange(-3, 3))
    return _fit_logistic(situation, X, y, strengths, max_iter=200)


@register_candidate(
    "sparse-logistic",
    "sparse logistic regression",
    "Logistic regression whose penalty sets weak coefficients to zero.",
    tasks=("classification",),
    applies=lambda s: not s.fast and s.d > 1 and s.n * s.d * s.n_classes**2 <= SPARSE_WORK,
    settings=("C",),
    family="linear",
)
def _sparse_logistic(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    strengths = tuple(10.0 ** np.arange(-2.0, 2.0, 0.5))
    return _fit_logistic(situation, X, y, strengths, l1_ratio=1.0, tol=1e-3, max_iter=200)


_RIDGE = "Linear model with a squared penalty chosen by leave-one-out error"
_LASSO = "Linear model whose penalty, chosen by cross-validation, sets weak coefficients to zero"


@register_candidate(
    "ridge",
    "ridge regression",
    f"{_RIDGE}.",
    tasks=("regression",),
    settings=("alpha_",),
    family="linear",
)
@register_candidate(
    "ridge-log",
    "ridge regression of the logarithm",
    f"{_RIDGE}, fitted to the logarithm of the target.",
    tasks=("regression",),
    log=True,
    settings=("alpha_",),
    family="linear",
)
def _ridge(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.linear import RidgeCV

    return RidgeCV(alphas=tuple(10.0 ** np.arange(-3.0, 6.0))).fit(X, y)


@register_candidate(
    "lasso",
    "lasso",
    f"{_LASSO}.",
    tasks=("regression",),
    applies=lambda s: not s.fast and s.d > 1 and not s.log,
    settings=("alpha_",),
    family="linear",
)
@register_candidate(
    "lasso-log",
    "lasso of the logarithm",
    f"{_LASSO}, fitted to the logarithm of the target.",
    tasks=("regression",),
    applies=lambda s: not s.fast and s.d > 1,
    log=True,
    settings=("alpha_",),
    family="linear",
)
def _lasso(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.linear import LassoCV

    return LassoCV(cv=_inner_folds(situation)).fit(X, y)


def _network_shape(situation: Situation) -> dict[str, Any]:
    """Choose depth and weight decay by the number of rows: more rows bear more freedom."""
    return {
        "hidden_layer_sizes": (64, 64) if situation.n >= 2_000 else (100,),
        "alpha": float(min(1.0, 300.0 / situation.n)),
        "random_state": situation.seed,
    }


def _network_rows(situation: Situation) -> Any:
    """Choose the rows a network sees: all, or as many as it can in seconds."""
    if situation.n <= NETWORK_ROWS:
        return slice(None)
    rng = np.random.default_rng(situation.seed)
    return np.sort(rng.permutation(situation.n)[:NETWORK_ROWS])


_NETWORK = (
    "Average of five small networks, each stopped early by rows it holds out (of at most 50,000)"
)


@register_candidate(
    "network",
    "neural network",
    f"{_NETWORK}.",
    tasks=("classification",),
    applies=_wants_networks,
    settings=("n_iter_",),
    family="network",
)
def _network_classifier(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.neural import MLPClassifier

    rows = _network_rows(situation)
    return MLPClassifier(**_network_shape(situation)).fit(X[rows], y[rows])


@register_candidate(
    "network",
    "neural network",
    f"{_NETWORK}.",
    tasks=("regression",),
    applies=lambda s: _wants_networks(s) and not s.log,
    settings=("n_iter_",),
    family="network",
)
@register_candidate(
    "network-log",
    "neural network of the logarithm",
    f"{_NETWORK}, fitted to the logarithm of the target.",
    tasks=("regression",),
    applies=_wants_networks,
    log=True,
    settings=("n_iter_",),
    family="network",
)
def _network_regressor(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.neural import MLPRegressor

    rows = _network_rows(situation)
    return MLPRegressor(**_network_shape(situation)).fit(X[rows], y[rows])
