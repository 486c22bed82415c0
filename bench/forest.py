"""Random forests against scikit-learn and scikit-learn-intelex.

All contenders grow 100 trees to the end on the same rows with the same number of threads; quality
is the error rate on rows that none of them has seen.
"""

from typing import Any

import numpy as np

from bench.harness import Contest, Peer, Row, run

Data = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
TREES = 100


def make(n: int, d: int) -> Data:
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n + 20_000, d, n_informative=d // 2, n_clusters_per_class=4, flip_y=0.05, random_state=0
    )
    return X[:n], y[:n], X[n:], y[n:]


def make_10_000() -> Data:
    return make(10_000, 20)


def make_200_000() -> Data:
    return make(200_000, 28)


def threads() -> int:
    from corollary.core.parallel import available_cores

    return available_cores()


def ours(data: Data) -> Any:
    from corollary.ensemble import RandomForestClassifier

    return RandomForestClassifier(TREES, n_jobs=threads(), random_state=0).fit(*data[:2])


def theirs(data: Data) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(TREES, n_jobs=threads(), random_state=0).fit(*data[:2])


def intelex(data: Data) -> Any:
    from sklearnex.ensemble import RandomForestClassifier

    return RandomForestClassifier(TREES, n_jobs=threads(), random_state=0).fit(*data[:2])


def error_rate(data: Data, model: Any) -> float:
    return float(np.mean(model.predict(data[2]) != data[3]))


PEERS = [
    Peer("scikit-learn", theirs, goal=5.0),
    Peer("scikit-learn-intelex", intelex, goal=1.2, requires="sklearnex"),
]

CONTESTS = [
    Contest(
        name="random forest, 10,000 x 20, 100 trees",
        data=make_10_000,
        ours=ours,
        peers=PEERS,
        quality=error_rate,
        # Forests differ by their seeds by about this much.
        tolerance=0.03,
        rounds=3,
    ),
    Contest(
        name="random forest, 200,000 x 28, 100 trees",
        data=make_200_000,
        ours=ours,
        peers=PEERS,
        quality=error_rate,
        tolerance=0.03,
        cold=False,
        rounds=1,
    ),
]


def rows() -> list[Row]:
    return [row for contest in CONTESTS for row in run(contest)]
