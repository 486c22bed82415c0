"""What other libraries say of a file, and how they do on fresh rows.

A program of its own, which needs nothing of this repository: it may run under an interpreter that
has the other libraries. ``python bench/dependence_peers.py NAME TRAIN.csv FRESH.csv TASK`` prints
the error that a user is told and that on the fresh rows: share of wrong classes, or mean absolute
error. Column ``unit_`` of the fresh rows says whose they are; owners count alike.
"""

import importlib.util
import json
import sys
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

Told = tuple[float, Callable[[pd.DataFrame], Any]]

PACKAGES = {"scikit-learn": "sklearn", "mljar": "supervised", "AutoGluon": "autogluon"}
#: Seconds that a library may take.
MLJAR_SECONDS, AUTOGLUON_SECONDS = 60, 30


def as_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Give scikit-learn what it takes: dates as days, other words as numbers of their own."""
    out = {}
    for name, column in frame.items():
        if not pd.api.types.is_numeric_dtype(column):
            dates = pd.to_datetime(column, errors="coerce", format="ISO8601")
            known = dates.notna().mean() > 0.9
            column = dates.astype("int64") / 8.64e13 if known else column.map(hash) % 1009
        out[name] = column
    return pd.DataFrame(out)


def sklearn(X: pd.DataFrame, y: pd.Series, classes: bool) -> Told:
    """Cross-validate gradient boosting in five folds, shuffled, as its user would."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.model_selection import KFold, cross_val_score

    model = HistGradientBoostingClassifier() if classes else HistGradientBoostingRegressor()
    scoring = "accuracy" if classes else "neg_mean_absolute_error"
    folds = KFold(5, shuffle=True, random_state=0)
    score = cross_val_score(model, as_numbers(X), y, cv=folds, scoring=scoring).mean()
    model.fit(as_numbers(X), y)
    return 1 - score if classes else -score, lambda fresh: model.predict(as_numbers(fresh))


def mljar(X: pd.DataFrame, y: pd.Series, classes: bool) -> Told:
    """Run mljar-supervised in its mode for a first look."""
    from supervised import AutoML

    model = AutoML(
        results_path=f"{tempfile.mkdtemp()}/results",
        mode="Explain",
        total_time_limit=MLJAR_SECONDS,
        eval_metric="accuracy" if classes else "mae",
        explain_level=0,
        verbose=0,
        random_state=0,
    )
    model.fit(X, y)
    best = model.get_leaderboard()["metric_value"].abs()
    return 1 - best.max() if classes else best.min(), model.predict


def autogluon(X: pd.DataFrame, y: pd.Series, classes: bool) -> Told:
    """Run AutoGluon with its defaults and a small limit of time."""
    from autogluon.tabular import TabularPredictor

    folder = tempfile.mkdtemp()
    metric = "accuracy" if classes else "mean_absolute_error"
    model = TabularPredictor("y", path=folder, eval_metric=metric, verbosity=0)
    model.fit(X.assign(y=y), time_limit=AUTOGLUON_SECONDS)
    said = abs(model.leaderboard(silent=True)["score_val"].max())
    return 1 - said if classes else said, model.predict


PEERS = {"scikit-learn": sklearn, "mljar": mljar, "AutoGluon": autogluon}


def main() -> None:
    """Print what a library says, and the truth, as JSON."""
    name, train, fresh_file, task = sys.argv[1:]
    if importlib.util.find_spec(PACKAGES[name]) is None:
        print(json.dumps({"missing": True}))
        return
    warnings.simplefilter("ignore")
    frame, fresh = pd.read_csv(train), pd.read_csv(fresh_file)
    classes = task == "classification"
    said, predict = PEERS[name](frame.drop(columns="y"), frame["y"], classes)
    predicted = np.asarray(predict(fresh.drop(columns=["y", "unit_"]))).ravel()
    truth = fresh["y"].to_numpy()
    error = predicted != truth if classes else np.abs(predicted - truth)
    true = float(pd.Series(error * 1.0).groupby(fresh["unit_"].to_numpy()).mean().mean())
    print(json.dumps({"said": float(said), "true": true}))


if __name__ == "__main__":
    main()
