"""How cost grows with work: fit times and memory against rows, columns and classes, beside a peer.

``python -m bench.growth [MODEL ...]`` prints a table for each of the three. A series ends for a
contender where its next fit would take longer than ``--cap`` seconds. Exponents are the log-log
slopes of the last two sizes. Memory is the largest growth of the resident set during the last fit.
"""

import argparse
import gc
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bench.harness import _peak_growth, machine

#: model -> our class and its parameters, scikit-learn's class and its parameters, most rows
MODELS: dict[str, tuple[str, dict[str, Any], str, dict[str, Any], int]] = {
    "LinearRegression": ("linear.LinearRegression", {}, "linear_model.LinearRegression", {}, 10**6),
    "Ridge": ("linear.Ridge", {}, "linear_model.Ridge", {}, 10**6),
    "Lasso": ("linear.Lasso", {"alpha": 0.1}, "linear_model.Lasso", {"alpha": 0.1}, 10**6),
    "LogisticRegression": (
        *("linear.LogisticRegression", {}),
        *("linear_model.LogisticRegression", {}, 10**6),
    ),
    "LinearSVC": ("svm.LinearSVC", {}, "svm.LinearSVC", {}, 10**5),
    "SVC": ("svm.SVC", {}, "svm.SVC", {}, 10**4),
    "KernelRidge": ("kernels.KernelRidge", {}, "kernel_ridge.KernelRidge", {}, 4000),
    "DecisionTree": (
        *("tree.DecisionTreeClassifier", {}),
        *("tree.DecisionTreeClassifier", {}, 10**5),
    ),
    "RandomForest": (
        *("ensemble.RandomForestClassifier", {"n_estimators": 20}),
        *("ensemble.RandomForestClassifier", {"n_estimators": 20}, 10**5),
    ),
    "HistGradientBoosting": (
        *("ensemble.HistGradientBoostingClassifier", {"early_stopping": False}),
        *("ensemble.HistGradientBoostingClassifier", {"early_stopping": False}, 10**5),
    ),
    "KNeighbors": (
        *("neighbors.KNeighborsClassifier", {}),
        *("neighbors.KNeighborsClassifier", {}, 10**6),
    ),
    "MLP": (
        *("neural.MLPClassifier", {"max_iter": 20}),
        *("neural_network.MLPClassifier", {"max_iter": 20}, 10**5),
    ),
}
REGRESSORS = ("LinearRegression", "Ridge", "Lasso", "KernelRidge")
ROWS, COLUMNS, CLASSES = (1000, 10_000, 100_000, 1_000_000), (10, 100, 1000, 5000), (2, 10, 100)


@dataclass
class Series:
    """Seconds of one contender at each size, until the next would take too long."""

    sizes: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    memory: float = math.nan

    @property
    def exponent(self) -> float:
        """The slope between the last two sizes, on logarithmic scales."""
        if len(self.sizes) < 2:
            return math.nan
        return math.log(self.seconds[-1] / self.seconds[-2]) / math.log(
            self.sizes[-1] / self.sizes[-2]
        )

    def expected(self, size: int) -> float:
        """Return the seconds that a fit of this size would take, if growth is at least linear."""
        if not self.sizes:
            return 0.0
        growth = self.exponent if len(self.sizes) > 1 else 1.0
        return self.seconds[-1] * (size / self.sizes[-1]) ** max(1.0, growth)


def table_of(model: str, n: int, d: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of Gaussian columns, and targets or classes that a line and noise decide."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    if model in REGRESSORS:
        return X, X @ rng.normal(size=d) + rng.normal(size=n)
    informative = min(d, 20)
    directions = rng.normal(size=(informative, k))
    return X, (X[:, :informative] @ directions + rng.gumbel(size=(n, k))).argmax(axis=1)


def contender(package: str, path: str, parameters: dict[str, Any]) -> Any:
    """Return a model that has not been fitted."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"{package}.{module}"), name)(**parameters)


def measure(make: Callable[[], Any], data: tuple[np.ndarray, np.ndarray]) -> tuple[float, float]:
    """Return the best of up to three fits in seconds, and the peak memory of one in MiB."""
    best, memory = math.inf, math.nan
    for attempt in range(3):
        gc.collect()
        start = time.perf_counter()
        if attempt == 1:
            memory = _peak_growth(lambda: make().fit(*data)) / 2**20
        else:
            make().fit(*data)
        best = min(best, time.perf_counter() - start)
        if best > 5.0:
            break
    return best, memory


def grow(model: str, shapes: dict[int, tuple[int, int, int]], cap: float) -> list[Series]:
    """Fit ours and the peer's model to tables that grow, in turn."""
    ours, our_parameters, theirs, their_parameters, _ = MODELS[model]
    makers = [
        lambda: contender("corollary", ours, our_parameters),
        lambda: contender("sklearn", theirs, their_parameters),
    ]
    series = [Series(), Series()]
    for size, shape in shapes.items():
        data = table_of(model, *shape)
        for one, make in zip(series, makers):
            if one.expected(size) <= cap and len(one.sizes) == list(shapes).index(size):
                seconds, one.memory = measure(make, data)
                one.sizes.append(size)
                one.seconds.append(seconds)
    return series


def row(model: str, sizes: list[int], series: list[Series]) -> str:
    """Return a row of the table: ours / peer's at each size, exponents, memory."""
    cells = []
    for place in range(len(sizes)):
        times = [f"{s.seconds[place]:.3g}" if place < len(s.sizes) else "–" for s in series]
        cells.append(" / ".join(times))
    exponents = " / ".join(f"{s.exponent:.2f}" for s in series)
    memory = " / ".join(f"{s.memory:.0f}" for s in series)
    return f"| {model} | {' | '.join(cells)} | {exponents} | {memory} |"


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument("models", nargs="*", help=", ".join(MODELS))
    parser.add_argument("--cap", type=float, default=5.0, help="longest fit, in seconds")
    parser.add_argument("--largest", type=int, default=10**6, help="most rows, columns or classes")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # 20 epochs of a network are not all
    axes: dict[str, tuple[tuple[int, ...], Callable[[int], tuple[int, int, int]]]] = {
        "rows, 20 columns": (ROWS, lambda n: (n, 20, 2)),
        "columns, 1,000 rows": (COLUMNS, lambda d: (1000, d, 2)),
        "classes, 10,000 rows, 20 columns": (CLASSES, lambda k: (10_000, 20, k)),
    }
    for title, (sizes, shape) in axes.items():
        sizes = tuple(size for size in sizes if size <= asked.largest)
        print(f"\n## {title}: seconds of a fit, ours / scikit-learn's\n")
        print(f"| model | {' | '.join(f'{s:,}' for s in sizes)} | exponents | MiB |")
        print("| --- " * (len(sizes) + 3) + "|", flush=True)
        for model in asked.models or MODELS:
            if "classes" in title and model in REGRESSORS:
                continue
            shapes = {s: shape(s) for s in sizes if shape(s)[0] <= MODELS[model][4]}
            if shapes:
                print(row(model, list(sizes), grow(model, shapes, asked.cap)), flush=True)
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
