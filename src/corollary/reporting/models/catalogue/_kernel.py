"""Kernel machines: support vector machines, and random features on many rows."""

from typing import Any

import numpy as np

from corollary.reporting.models._candidates import Situation, register_candidate
from corollary.reporting.models.catalogue._process import PROCESS_ROWS, width

#: A support vector machine costs the square of the rows: it takes over from processes, up to this
#: many.
MACHINE_ROWS = 8_000
#: Random features stand in for the kernel above that, on at most so many rows.
FEATURE_ROWS, FREQUENCIES = 50_000, 300
#: Many features mean many products for each pair of rows.
MOST_FEATURES = 500
#: One machine for each pair of classes: beyond this they are too many.
MACHINE_CLASSES = 12
#: Beyond so many rows each setting that is tried costs seconds.
FEW_ROWS = 1_500


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


_MACHINE = "Support vector machine with a Gaussian kernel"
_VECTORS = ("support_vectors_", "dual_coef_", "intercept_")


@register_candidate(
    "machine",
    "support vector machine",
    f"{_MACHINE}; a logistic regression of held-out margins gives the probabilities.",
    tasks=("classification",),
    applies=_wants_machine,
    settings=("C_",),
    learnt=(*(f"machine.{name}" for name in _VECTORS), "link.coef_", "link.intercept_"),
    article="a",
)
def _machine_classifier(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.linear import LogisticRegression
    from corollary.svm import SVC, calibrate_machine

    prices = (1.0, 10.0) if situation.n <= FEW_ROWS else (3.0,)
    factors = (0.3, 1.0) if situation.n <= FEW_ROWS else (1.0,)
    machines = [SVC(C=C, gamma=factor * width(X)) for factor in factors for C in prices]
    # The regression of margins is nearly free: there are as many margins as classes.
    link = LogisticRegression(C=10.0, max_iter=200)
    return calibrate_machine(machines, link, X, y, random_state=situation.seed)


@register_candidate(
    "machine",
    "support vector machine",
    f"{_MACHINE}.",
    tasks=("regression",),
    applies=lambda s: _wants_machine(s) and not s.log,
    learnt=_VECTORS,
    article="a",
)
@register_candidate(
    "machine-log",
    "support vector machine of the logarithm",
    f"{_MACHINE}, fitted to the logarithm of the target.",
    tasks=("regression",),
    applies=_wants_machine,
    log=True,
    learnt=_VECTORS,
    article="a",
)
def _machine_regressor(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.svm import SVR

    spread = float(y.std()) or 1.0
    # Errors below a tenth of the spread cost nothing, which keeps support vectors few.
    return SVR(C=10.0 * spread, epsilon=0.1 * spread, gamma=width(X)).fit(X, y)


_WEIGHTS = tuple(
    f"named_steps.{name}" for name in ("waves.frequencies_", "model.coef_", "model.intercept_")
)
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
    learnt=_WEIGHTS,
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
    learnt=_WEIGHTS,
)
@register_candidate(
    "waves-log",
    "kernel ridge regression of the logarithm by random features",
    f"{_FEATURES}, fitted to the logarithm of the target.",
    tasks=("regression",),
    applies=_wants_features,
    log=True,
    learnt=_WEIGHTS,
)
def _waves_regressor(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.pipeline import Pipeline

    from corollary.linear import Ridge

    rows = _rows(situation)
    steps = [("waves", _waves(situation, X)), ("model", Ridge(alpha=1e-2))]
    return Pipeline(steps).fit(X[rows], y[rows])
