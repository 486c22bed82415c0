"""Kernel machines: Gaussian processes on few rows, support vector machines, random features."""

from typing import Any

import numpy as np

from corollary.report.candidates import Situation, register_candidate
from corollary.report.margins import fit_margins

#: A Gaussian process costs the cube of the rows and takes part up to this many; a support vector
#: machine costs their square and takes over from there.
PROCESS_ROWS, MACHINE_ROWS = 500, 8_000
#: A process learns one kernel for each class, by a search that passes over all features.
PROCESS_FEATURES, PROCESS_CLASSES = 100, 5
#: Random features stand in for the kernel above that, on at most so many rows.
FEATURE_ROWS, FREQUENCIES = 50_000, 300
#: Many features mean many products for each pair of rows.
MOST_FEATURES = 500
#: One machine for each pair of classes: beyond this they are too many.
MACHINE_CLASSES = 12
#: Beyond so many rows each setting that is tried costs seconds.
FEW_ROWS = 1_500
#: Where the search for the kernel of classes starts: in logits squared, and in units of the width.
AMPLITUDE, STRETCH = 100.0, 2.0


def _wants_process(situation: Situation) -> bool:
    return (
        not situation.fast
        and situation.n <= PROCESS_ROWS
        and situation.d <= PROCESS_FEATURES
        and situation.n_classes <= PROCESS_CLASSES
    )


def _wants_machine(situation: Situation) -> bool:
    return (
        not situation.fast
        and PROCESS_ROWS < situation.n <= MACHINE_ROWS
        and situation.d <= MOST_FEATURES
        and situation.n_classes <= MACHINE_CLASSES
    )


def _wants_features(situation: Situation) -> bool:
    return (
        not situation.fast
        and (situation.n > MACHINE_ROWS or situation.n_classes > MACHINE_CLASSES)
        and situation.d <= MOST_FEATURES
        and situation.n_classes * situation.n <= 100 * MACHINE_ROWS
    )


def width(X: np.ndarray) -> float:
    """Choose the factor of squared distances in the kernel.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features.

    Returns
    -------
    gamma : float
        One over twice the number of features that vary: two rows that differ by one spread in each
        of them have similarity exp(-1).
    """
    return 0.5 / max(1, int((X.max(axis=0) > X.min(axis=0)).sum()))


_PROCESS = "Gaussian process whose kernel is learnt by its evidence"


@register_candidate(
    "process",
    "Gaussian process",
    f"{_PROCESS}; logistic link.",
    tasks=("classification",),
    applies=_wants_process,
)
def _process_classifier(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.gp import GaussianProcessClassifier
    from corollary.kernels import RBF

    kernel = AMPLITUDE * RBF(STRETCH * float(np.sqrt(0.5 / width(X))))
    return GaussianProcessClassifier(kernel, max_iter=20, random_state=situation.seed).fit(X, y)


@register_candidate(
    "process",
    "Gaussian process",
    f"{_PROCESS}.",
    tasks=("regression",),
    applies=lambda s: _wants_process(s) and not s.log,
)
@register_candidate(
    "process-log",
    "Gaussian process of the logarithm",
    f"{_PROCESS}, fitted to the logarithm of the target.",
    tasks=("regression",),
    applies=_wants_process,
    log=True,
)
def _process_regressor(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.gp import GaussianProcessRegressor

    return GaussianProcessRegressor(max_iter=30, random_state=situation.seed).fit(X, y)


_MACHINE = "Support vector machine with a Gaussian kernel"


@register_candidate(
    "machine",
    "support vector machine",
    f"{_MACHINE}; a logistic regression of held-out margins gives the probabilities.",
    tasks=("classification",),
    applies=_wants_machine,
    settings=("C_",),
)
def _machine_classifier(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.svm import SVC

    prices = (1.0, 10.0) if situation.n <= FEW_ROWS else (3.0,)
    factors = (0.3, 1.0) if situation.n <= FEW_ROWS else (1.0,)
    machines = [SVC(C=C, gamma=factor * width(X)) for factor in factors for C in prices]
    return fit_margins(machines, X, y, seed=situation.seed)


@register_candidate(
    "machine",
    "support vector machine",
    f"{_MACHINE}.",
    tasks=("regression",),
    applies=lambda s: _wants_machine(s) and not s.log,
)
@register_candidate(
    "machine-log",
    "support vector machine of the logarithm",
    f"{_MACHINE}, fitted to the logarithm of the target.",
    tasks=("regression",),
    applies=_wants_machine,
    log=True,
)
def _machine_regressor(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.svm import SVR

    spread = float(y.std()) or 1.0
    # Errors below a tenth of the spread cost nothing, which keeps support vectors few.
    return SVR(C=10.0 * spread, epsilon=0.1 * spread, gamma=width(X)).fit(X, y)


_FEATURES = f"Linear model of {2 * FREQUENCIES} random waves, which stand in for a Gaussian kernel"


def _waves(situation: Situation, X: np.ndarray) -> Any:
    from corollary.kernels import RBF, RandomFourierFeatures

    kernel = RBF(float(np.sqrt(0.5 / (0.5 * width(X)))))
    return RandomFourierFeatures(kernel, n_components=FREQUENCIES, random_state=situation.seed)


def _rows(situation: Situation) -> Any:
    if situation.n <= FEATURE_ROWS:
        return slice(None)
    rng = np.random.default_rng(situation.seed)
    return np.sort(rng.permutation(situation.n)[:FEATURE_ROWS])


@register_candidate(
    "waves",
    "kernel logistic regression by random features",
    f"{_FEATURES}.",
    tasks=("classification",),
    applies=_wants_features,
)
def _waves_classifier(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.pipeline import Pipeline

    from corollary.linear import LogisticRegression

    rows = _rows(situation)
    model = LogisticRegression(C=30.0, max_iter=50, tol=1e-3)
    return Pipeline([("waves", _waves(situation, X)), ("model", model)]).fit(X[rows], y[rows])


@register_candidate(
    "waves",
    "kernel ridge regression by random features",
    f"{_FEATURES}.",
    tasks=("regression",),
    applies=lambda s: _wants_features(s) and not s.log,
)
@register_candidate(
    "waves-log",
    "kernel ridge regression of the logarithm by random features",
    f"{_FEATURES}, fitted to the logarithm of the target.",
    tasks=("regression",),
    applies=_wants_features,
    log=True,
)
def _waves_regressor(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.pipeline import Pipeline

    from corollary.linear import Ridge

    rows = _rows(situation)
    steps = [("waves", _waves(situation, X)), ("model", Ridge(alpha=1e-2))]
    return Pipeline(steps).fit(X[rows], y[rows])
