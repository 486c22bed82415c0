"""Trees: random forests and gradient boosting."""

from typing import Any

import numpy as np

from corollary.report.candidates import Situation, register_candidate

FOREST_TREES = 100
#: Draws for each tree, at most: a forest of full trees on many rows would fill the disk.
FOREST_DRAWS = 10_000
#: Boosting needs rows enough for its leaves.
BOOSTING_ROWS = 500
#: Under ``fast`` its loops are compiled only for tables on which this pays.
FAST_ROWS = 2_000
#: One tree for each class and step.
BOOSTING_CLASSES = 20


def _wants_forest(situation: Situation) -> bool:
    return not situation.fast and situation.n >= 30


def _forest_settings(situation: Situation) -> dict[str, Any]:
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
)
@register_candidate(
    "forest-log",
    "random forest of the logarithm",
    f"{_FOREST}, fitted to the logarithm of the target.",
    tasks=("regression",),
    applies=_wants_forest,
    log=True,
)
def _forest_regressor(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.ensemble import RandomForestRegressor

    settings = _forest_settings(situation)
    return RandomForestRegressor(max_features=0.7, min_samples_leaf=2, **settings).fit(X, y)


def _wants_boosting(situation: Situation) -> bool:
    fewest = FAST_ROWS if situation.fast else BOOSTING_ROWS
    return situation.n > fewest and situation.n_classes <= BOOSTING_CLASSES


def _boosting_settings(situation: Situation) -> dict[str, Any]:
    """Take many small steps; fewer and larger ones where each costs many trees or time is short."""
    slow = not situation.fast and situation.n_classes <= 3
    return {
        "n_estimators": 300 if slow else 100,
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
)
def _boosting_classifier(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.ensemble import GradientBoostingClassifier

    settings = _boosting_settings(situation)
    return GradientBoostingClassifier(early_stopping=True, **settings).fit(X, y)


@register_candidate(
    "boosting",
    "gradient boosting",
    f"{_BOOSTING}.",
    tasks=("regression",),
    applies=lambda s: _wants_boosting(s) and not s.log,
    settings=("n_iter_",),
)
@register_candidate(
    "boosting-log",
    "gradient boosting of the logarithm",
    f"{_BOOSTING}, for the logarithm of the target.",
    tasks=("regression",),
    applies=_wants_boosting,
    log=True,
    settings=("n_iter_",),
)
def _boosting_regressor(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.ensemble import GradientBoostingRegressor

    return GradientBoostingRegressor(**_boosting_settings(situation)).fit(X, y)
