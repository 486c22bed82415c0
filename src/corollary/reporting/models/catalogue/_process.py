"""Gaussian processes, for few rows."""

from typing import Any

import numpy as np

from corollary.reporting.models._candidates import Situation, register_candidate

#: A Gaussian process costs the cube of the rows and takes part up to this many.
PROCESS_ROWS = 500
#: It learns one kernel for each class, by a search that passes over all features.
PROCESS_FEATURES, PROCESS_CLASSES = 100, 5
#: Where the search for the kernel of classes starts: in logits squared, and in units of the width.
AMPLITUDE, STRETCH = 100.0, 2.0


def _wants_process(situation: Situation) -> bool:
    return (
        not situation.fast
        and situation.n <= PROCESS_ROWS
        and situation.d <= PROCESS_FEATURES
        and situation.n_classes <= PROCESS_CLASSES
    )


def width(X: np.ndarray) -> float:
    """Choose the factor of squared distances in the kernel."""
    return 0.5 / max(1, int((X.max(axis=0) > X.min(axis=0)).sum()))


_PROCESS = "Gaussian process whose kernel is learnt by its evidence"


@register_candidate(
    "process",
    "Gaussian process",
    f"{_PROCESS}; logistic link.",
    tasks=("classification",),
    applies=_wants_process,
    learnt=("X_", "slopes_"),
    article="a",
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
    learnt=("alpha_",),
    article="a",
)
@register_candidate(
    "process-log",
    "Gaussian process of the logarithm",
    f"{_PROCESS}, fitted to the logarithm of the target.",
    tasks=("regression",),
    applies=_wants_process,
    log=True,
    learnt=("alpha_",),
    article="a",
)
def _process_regressor(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.gp import GaussianProcessRegressor

    return GaussianProcessRegressor(max_iter=30, random_state=situation.seed).fit(X, y)
