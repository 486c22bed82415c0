"""Online linear learners in one pass against river, scikit-learn and Vowpal Wabbit.

Everyone sees the rows once, in their order, and learns logistic regression; quality is the error
on fresh rows. river takes one Python call for each row, so it is measured on fewer rows, and so
are we in that contest. Vowpal Wabbit reads its own text format from a file that is written before
the clock starts (its Python interface would be timed row by row), which includes its parsing; with
a cache file, in a contest of its own, it reads its binary form.
"""

import atexit
import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bench.harness import Contest, Peer, Row, run

FEATURES, TEST = 50, 50_000
# The error of the best linear rule is about 10%; all contenders come within this share of it.
TOLERANCE = 0.03


class Data:
    """Rows to learn from and fresh rows to test on."""

    def __init__(self, n: int) -> None:
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(n + TEST, FEATURES))
        weights = rng.normal(size=FEATURES) / np.sqrt(FEATURES)
        chance = 1 / (1 + np.exp(-6 * (rows @ weights)))
        labels = (rng.uniform(size=n + TEST) < chance).astype(np.int64)
        self.X, self.y = rows[:n], labels[:n]
        self.X_test, self.y_test = rows[n:], labels[n:]
        self.folder: Path | None = None

    def file(self) -> Path:
        """Return the rows in Vowpal Wabbit's format, written on first use."""
        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp())
            atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
            pattern = "{} | " + " ".join(f"{j}:{{:.6g}}" for j in range(FEATURES)) + "\n"
            with (self.folder / "rows.vw").open("w") as file:
                for x, label in zip(self.X, self.y):
                    file.write(pattern.format(2 * label - 1, *x))
        return self.folder / "rows.vw"


def make_million() -> Data:
    return Data(1_000_000)


def make_200_000() -> Data:
    return Data(200_000)


def make_200_000_with_cache() -> Data:
    data = Data(200_000)
    with contextlib.suppress(ImportError):
        vowpal_wabbit(data, cache=True)  # writes the cache
    return data


def ours(data: Data) -> Any:
    from corollary.online import OnlineClassifier

    return OnlineClassifier(step="sqrt", n_passes=1, shuffle=False).fit(data.X, data.y)


def ours_adagrad(data: Data) -> Any:
    from corollary.online import OnlineClassifier

    return OnlineClassifier(n_passes=1, shuffle=False).fit(data.X, data.y)


def scikit_learn(data: Data) -> Any:
    from sklearn.linear_model import SGDClassifier

    # The step of ours; with its own default step its error is half as large again.
    step = {"learning_rate": "invscaling", "eta0": 0.2, "power_t": 0.5, "penalty": None}
    model = SGDClassifier(loss="log_loss", max_iter=1, tol=None, shuffle=False, **step)
    return model.fit(data.X, data.y)


def river(data: Data) -> Any:
    from river import linear_model, optim

    model = linear_model.LogisticRegression(optim.SGD(0.05), l2=0.0)
    for x, label in zip(data.X.tolist(), data.y.tolist()):
        model.learn_one(dict(enumerate(x)), label)
    return np.array([model.weights[j] for j in range(FEATURES)]), model.intercept


def vowpal_wabbit(data: Data, cache: bool = False) -> Any:
    from vowpalwabbit import Workspace

    path = data.file()
    options = "--cache " if cache else ""
    workspace = Workspace(
        f"--data {path} {options}--loss_function logistic --quiet --no_stdin -b 12"
    )
    weights = np.array([workspace.get_weight_from_name(str(j), " ") for j in range(FEATURES)])
    constant = workspace.get_weight_from_name("Constant", "")
    workspace.finish()
    return weights, constant


def vowpal_wabbit_cached(data: Data) -> Any:
    return vowpal_wabbit(data, cache=True)


def error(data: Data, model: Any) -> float:
    """Share of fresh rows mislabelled, computed in the same way for all."""
    if isinstance(model, tuple):
        weights, intercept = model
    else:
        weights, intercept = model.coef_[0], model.intercept_[0]
    return float(np.mean((data.X_test @ weights + intercept > 0) != (data.y_test == 1)))


CONTESTS = [
    Contest(
        name="online logistic regression, 1,000,000 x 50, one pass",
        data=make_million,
        ours=ours,
        peers=[Peer("scikit-learn SGDClassifier", scikit_learn, goal=1.5)],
        quality=error,
        tolerance=TOLERANCE,
    ),
    Contest(
        name="online logistic regression with AdaGrad, 1,000,000 x 50, one pass",
        data=make_million,
        ours=ours_adagrad,
        peers=[Peer("scikit-learn SGDClassifier", scikit_learn, goal=1.0)],
        quality=error,
        tolerance=TOLERANCE,
        cold=False,
    ),
    Contest(
        name="online logistic regression, 200,000 x 50, one pass",
        data=make_200_000,
        ours=ours,
        peers=[Peer("river", river, goal=100.0, requires="river")],
        quality=error,
        tolerance=TOLERANCE,
        cold=False,
        rounds=3,
    ),
    Contest(
        name="online logistic regression with AdaGrad, 200,000 x 50, one pass (peer reads a file)",
        data=make_200_000,
        ours=ours_adagrad,
        peers=[Peer("Vowpal Wabbit, text", vowpal_wabbit, goal=1.5, requires="vowpalwabbit")],
        quality=error,
        tolerance=TOLERANCE,
        cold=False,
        rounds=3,
    ),
    Contest(
        name="online logistic regression with AdaGrad, 200,000 x 50, one pass (peer's cache)",
        data=make_200_000_with_cache,
        ours=ours_adagrad,
        peers=[
            Peer("Vowpal Wabbit, cache", vowpal_wabbit_cached, goal=1.5, requires="vowpalwabbit")
        ],
        quality=error,
        tolerance=TOLERANCE,
        cold=False,
        rounds=3,
    ),
]


def rows() -> list[Row]:
    return [row for contest in CONTESTS for row in run(contest)]
