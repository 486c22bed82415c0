"""Arrays that no careful user would hand to an estimator, and what estimators make of them."""

import inspect
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier

from corollary.linear import LogisticRegression, Ridge
from tests.fuzz.outcome import gives_nan, outcome
from tests.registry import META, PARAMETERS, estimators

#: What only the common checks ask for; here an estimator takes its usual time.
EXACT = {"tol", "max_iter"}
METHODS = ("predict", "predict_proba", "decision_function", "transform", "predict_interval")
#: Few shapes, since networks are compiled for each.
ROWS, COLUMNS = (1, 2, 12, 25), (1, 3)


@cache
def models() -> dict[str, Any]:
    """Every public estimator by name, with its usual accuracy."""
    found = {type(e).__name__: e for e in estimators()}
    for name, estimator in found.items():
        if name not in META and "Structural" not in name and "PACBayes" not in name:
            kept = {k: v for k, v in PARAMETERS.get(name, {}).items() if k not in EXACT}
            found[name] = type(estimator)(**kept)
    # Those of the common checks wrap models of scikit-learn, which are not saved.
    found["SplitConformalClassifier"].set_params(estimator=LogisticRegression())
    found["SplitConformalRegressor"].set_params(estimator=Ridge())
    return found


def name_of(seed: int) -> str:
    """Name the estimator of a case."""
    names = list(models())
    return names[seed % len(names)]


def run(seed: int) -> str | None:
    """Try one estimator on one set of arrays."""
    name = name_of(seed)
    rng = np.random.default_rng([seed, 1])
    X = hostile_rows(rng)
    y = hostile_targets(rng, X.shape[0], is_classifier(models()[name]))
    weight = hostile_weights(rng, X.shape[0]) if rng.random() < 0.4 else None
    fault = outcome(lambda: _try(name, X, y, weight))
    return fault and f"{name}: {fault}"


def _try(name: str, X: Any, y: Any, weight: Any) -> str | None:
    model = clone(models()[name])
    weights = {} if weight is None or not _takes_weights(model) else {"sample_weight": weight}
    model.fit(X, y, **weights)
    for method in METHODS:
        if hasattr(model, method) and gives_nan(getattr(model, method), X):
            return f"{method} gives NaN"
    return None


def _takes_weights(model: Any) -> bool:
    return "sample_weight" in inspect.signature(model.fit).parameters


def hostile_rows(rng: np.random.Generator) -> Any:
    """Make rows of one or two strange properties."""
    n, d = int(rng.choice(ROWS, p=[0.1, 0.1, 0.4, 0.4])), int(rng.choice(COLUMNS, p=[0.3, 0.7]))
    X = rng.normal(size=(n, d))
    for _ in range(rng.integers(1, 3)):
        X = _spoiled(rng, X)
    if X.dtype == np.float64 and rng.random() < 0.1:
        return sparse.csr_matrix(np.where(rng.random(X.shape) < 0.5, 0.0, X))
    return X


def _spoiled(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    n, d = X.shape
    if X.dtype != np.float64 or not X.size:
        return X
    with np.errstate(all="ignore"):
        match rng.integers(15):
            case 0:
                return np.zeros((n, d))
            case 1:
                return np.full((n, d), rng.choice([1.0, -1e10, 1e308, 5e-324]))
            case 2:
                return X * rng.choice([1e308, 1e200, 1e100, 1e20, 1e-20, 1e-200, 1e-310])
            case 3:
                return X * 10.0 ** rng.integers(-100, 100, d)
            case 4:
                return X + rng.choice([1e6, 1e15, -1e300])
            case 5:
                return X[rng.integers(0, max(1, n // 4), n)]
            case 6:
                return np.repeat(X[:, :1], d, axis=1)
            case 7:
                X = X.copy()
                X[rng.integers(n), rng.integers(d)] = rng.choice([np.nan, np.inf, 1e308, 1e155])
                return X
            case 8:
                return np.round(X).astype(rng.choice(["int64", "int8", "bool", "float32"]))
            case 9:
                return X.astype(object)
            case 10:
                return X.astype("U6")
            case 11:
                return np.asfortranarray(X)[::-1]
            case 12:
                return X[:, :0] if rng.random() < 0.3 else X[:0]
            case 13:
                return rng.choice([5e-324, 1e-310, 0.0], (n, d))
            case _:
                return X


def hostile_targets(rng: np.random.Generator, n: int, classes: bool) -> Any:
    """Make targets, now and then of the wrong kind."""
    if classes != (rng.random() < 0.05):
        k = int(rng.choice([1, 2, 3, n], p=[0.1, 0.5, 0.3, 0.1]))
        codes = rng.integers(0, max(1, k), n)
        labels = [codes, codes.astype(str), codes == 0, codes - 0.5, codes.astype(object)]
        return labels[int(rng.integers(len(labels)))]
    y = rng.normal(size=n)
    with np.errstate(all="ignore"):
        match rng.integers(8):
            case 0:
                return np.full(n, rng.choice([0.0, 3.0, 1e308, 5e-324]))
            case 1:
                return y * rng.choice([1e300, 1e150, 1e-150, 1e-310])
            case 2:
                y[: n // 2] = rng.choice([np.nan, np.inf, 1e308])
                return y
            case 3:
                return np.round(y).astype(int)
            case 4:
                return np.column_stack([y, -y])
            case _:
                return y


def hostile_weights(rng: np.random.Generator, n: int) -> np.ndarray:
    """Make weights of rows."""
    ones = np.ones(n)
    match rng.integers(9):
        case 0:
            return 0.0 * ones
        case 1:
            return ones * rng.choice([1e300, 1e-310, 1e-5])
        case 2:
            return 10.0 ** rng.integers(-20, 20, n)
        case 3:
            return np.where(np.arange(n) == 0, 1.0, 0.0)
        case 4:
            return -ones
        case 5:
            return np.where(rng.random(n) < 0.5, np.nan, 1.0)
        case 6:
            return ones[: n // 2]
        case _:
            return rng.integers(0, 3, n).astype(float)
