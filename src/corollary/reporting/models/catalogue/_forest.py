"""Random forests."""

from typing import Any

import numpy as np

from corollary._compiling import wait_until_compiled
from corollary.reporting.models._candidates import Situation, register_candidate

FOREST_TREES = 100
#: Draws for each tree, at most: a forest of full trees on many rows would fill the disk.
FOREST_DRAWS = 10_000


def _wants_forest(situation: Situation) -> bool:
    return not situation.fast and situation.n >= 30


def _forest_settings(situation: Situation) -> dict[str, Any]:
    wait_until_compiled(situation.n_classes)
    return {
        "n_estimators": FOREST_TREES,
        "max_samples": min(situation.n, FOREST_DRAWS),
        "oob_score": True,
        "random_state": situation.seed,
    }


_FOREST = f"Mean of {FOREST_TREES} deep trees, each grown on its own draw of rows and columns"


@register_candidate(
    "forest",
    "random forest",
    f"{_FOREST}.",
    tasks=("classification",),
    applies=_wants_forest,
    learnt=("trees_.value", "trees_.feature"),
    article="a",
)
def _forest_classifier(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.ensemble import RandomForestClassifier

    # Leaves of one row would give probabilities of zero too easily.
    return RandomForestClassifier(min_samples_leaf=3, **_forest_settings(situation)).fit(X, y)


@register_candidate(
    "forest",
    "random forest",
    f"{_FOREST}.",
    tasks=("regression",),
    applies=lambda s: _wants_forest(s) and not s.log,
    learnt=("trees_.value", "trees_.feature"),
    article="a",
)
@register_candidate(
    "forest-log",
    "random forest of the logarithm",
    f"{_FOREST}, fitted to the logarithm of the target.",
    tasks=("regression",),
    applies=_wants_forest,
    log=True,
    learnt=("trees_.value", "trees_.feature"),
    article="a",
)
def _forest_regressor(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.ensemble import RandomForestRegressor

    settings = _forest_settings(situation)
    return RandomForestRegressor(max_features=0.7, min_samples_leaf=2, **settings).fit(X, y)
