"""The register of models that take part in the comparison.

A family plugs in by one decorated function that builds its estimator for a situation::

    @register_candidate(
        "forest", "random forest", "Average of many trees.", tasks=("classification",)
    )
    def forest(situation):
        return RandomForestClassifier(random_state=situation.seed)

The estimator takes encoded features and, for classification, class indices. The baseline is not
registered: it always takes part.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.report.evidence import Task

#: A positive target whose logarithm is clearly less skewed is also tried on the log scale.
SKEWED = 1.0
#: Beyond this many training rows or features networks are not tried: they would take minutes.
NETWORK_ROWS, NETWORK_FEATURES = 100_000, 1_000


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
    smallest : int
        Rows of the rarest class in these training rows; 0 for a number.
    log : bool
        Whether the target is positive and skewed, so that its logarithm is worth predicting.
    seed : int
        Seed.
    fast : bool
        Whether speed matters more than the last bit of quality.
    """

    task: Task
    n: int
    d: int
    n_classes: int
    smallest: int
    log: bool
    seed: int
    fast: bool


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
    build : callable
        ``build(situation)`` gives an unfitted estimator.
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
    build: Callable[[Situation], Any]
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
) -> Callable[[Callable[[Situation], Any]], Callable[[Situation], Any]]:
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
        Takes ``build(situation)``, which gives an unfitted estimator.
    """

    def decorate(build: Callable[[Situation], Any]) -> Callable[[Situation], Any]:
        for task in tasks:
            _ENTRIES[name, task] = Entry(
                name, label, description, task, build, applies, log, tuple(settings), family or name
            )
        return build

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
    return bool(_skewness(y) > SKEWED and abs(_skewness(np.log(y))) < 0.5 * _skewness(y))


def _skewness(values: np.ndarray) -> float:
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
    most = 3 if situation.fast or situation.n > 5_000 else 5
    rows = situation.smallest if situation.smallest > 1 else situation.n // 2
    return max(2, min(most, rows))


def _wants_networks(situation: Situation) -> bool:
    small = situation.n <= NETWORK_ROWS and situation.d <= NETWORK_FEATURES
    return not situation.fast and situation.n >= 30 and small


@register_candidate(
    "logistic",
    "logistic regression",
    "Linear scores turned into probabilities, with a squared penalty chosen by cross-validation.",
    tasks=("classification",),
    settings=("C_",),
    family="linear",
)
def _logistic(situation: Situation) -> Any:
    from corollary.linear import LogisticRegressionCV

    strengths = (0.001, 0.01, 0.1, 1.0, 10.0) if situation.fast else tuple(10.0 ** np.arange(-4, 3))
    return LogisticRegressionCV(Cs=strengths, cv=_inner_folds(situation), tol=1e-4, max_iter=200)


@register_candidate(
    "sparse-logistic",
    "sparse logistic regression",
    "Logistic regression whose penalty sets weak coefficients to zero.",
    tasks=("classification",),
    applies=lambda s: not s.fast and s.d > 1 and s.n * s.d * s.n_classes <= 5_000_000,
    settings=("C_",),
    family="linear",
)
def _sparse_logistic(situation: Situation) -> Any:
    from corollary.linear import LogisticRegressionCV

    strengths = tuple(10.0 ** np.arange(-2.0, 2.0, 0.5))
    return LogisticRegressionCV(
        Cs=strengths, l1_ratios=(1.0,), cv=_inner_folds(situation), tol=1e-3, max_iter=200
    )


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
def _ridge(situation: Situation) -> Any:
    from corollary.linear import RidgeCV

    return RidgeCV(alphas=tuple(10.0 ** np.arange(-3.0, 6.0)))


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
def _lasso(situation: Situation) -> Any:
    from corollary.linear import LassoCV

    return LassoCV(cv=_inner_folds(situation))


_NETWORK = "Average of small networks with one hidden layer, each stopped early by held-out rows"


@register_candidate(
    "network",
    "neural network",
    f"{_NETWORK}.",
    tasks=("classification",),
    applies=_wants_networks,
    settings=("n_iter_",),
    family="network",
)
def _network_classifier(situation: Situation) -> Any:
    from corollary.neural import MLPClassifier

    return MLPClassifier(random_state=situation.seed)


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
def _network_regressor(situation: Situation) -> Any:
    from corollary.neural import MLPRegressor

    return MLPRegressor(random_state=situation.seed)
