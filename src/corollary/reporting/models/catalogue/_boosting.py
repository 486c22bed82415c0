"""Gradient boosting of trees."""

from typing import Any

import numpy as np

from corollary.reporting.models._candidates import Situation, register_candidate

#: Boosting needs rows enough for its leaves.
BOOSTING_ROWS = 500
#: Under ``fast`` its loops are compiled only for tables on which this pays.
FAST_ROWS = 2_000
#: One tree for each class and step.
BOOSTING_CLASSES = 20


def _wants_boosting(situation: Situation) -> bool:
    fewest = FAST_ROWS if situation.fast else BOOSTING_ROWS
    return situation.n > fewest and situation.n_classes <= BOOSTING_CLASSES


def _boosting_settings(situation: Situation) -> dict[str, Any]:
    """Take many small steps; fewer and larger ones where each costs many trees or time is short."""
    slow = not situation.fast and situation.n_classes <= 3
    return {
        "max_iter": 300 if slow else 100,
        "learning_rate": 0.05 if slow else 0.12,
        "random_state": situation.seed,
    }


_BOOSTING = "Sum of trees, each fitted to what the trees before it left unexplained"


@register_candidate(
    "boosting",
    "gradient boosting",
    f"{_BOOSTING}; stopped early by rows held out.",
    tasks=("classification",),
    applies=_wants_boosting,
    settings=("n_iter_",),
    learnt=("trees_.value", "trees_.feature"),
)
def _boosting_classifier(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.ensemble import HistGradientBoostingClassifier

    settings = _boosting_settings(situation)
    return HistGradientBoostingClassifier(early_stopping=True, **settings).fit(X, y)


@register_candidate(
    "boosting",
    "gradient boosting",
    f"{_BOOSTING}.",
    tasks=("regression",),
    applies=lambda s: _wants_boosting(s) and not s.log,
    settings=("n_iter_",),
    learnt=("trees_.value", "trees_.feature"),
)
@register_candidate(
    "boosting-log",
    "gradient boosting of the logarithm",
    f"{_BOOSTING}, for the logarithm of the target.",
    tasks=("regression",),
    applies=_wants_boosting,
    log=True,
    settings=("n_iter_",),
    learnt=("trees_.value", "trees_.feature"),
)
def _boosting_regressor(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.ensemble import HistGradientBoostingRegressor

    settings = _boosting_settings(situation)
    return HistGradientBoostingRegressor(early_stopping=False, **settings).fit(X, y)
