"""Kernel support vector machines against scikit-learn and scikit-learn-intelex."""

from typing import Any

import numpy as np

from bench.harness import Contest, Peer, Row, run

Data = tuple[np.ndarray, np.ndarray]


def make(n: int) -> Data:
    from sklearn.datasets import make_classification

    return make_classification(
        n, 20, n_informative=10, n_clusters_per_class=4, flip_y=0.05, random_state=0
    )


def make_10_000() -> Data:
    return make(10_000)


def make_50_000() -> Data:
    return make(50_000)


def ours(data: Data) -> Any:
    from corollary.svm import SVC

    return SVC().fit(*data)


def theirs(data: Data) -> Any:
    from sklearn.svm import SVC

    return SVC().fit(*data)


def intelex(data: Data) -> Any:
    from sklearnex.svm import SVC

    return SVC().fit(*data)


def ours_tight(data: Data) -> Any:
    from corollary.svm import SVC

    return SVC(C=30.0).fit(*data)


def theirs_tight(data: Data) -> Any:
    from sklearn.svm import SVC

    return SVC(C=30.0).fit(*data)


def intelex_tight(data: Data) -> Any:
    from sklearnex.svm import SVC

    return SVC(C=30.0).fit(*data)


def dual_objective(data: Data, model: Any) -> float:
    """Compute the dual value to be minimised in the same way for both."""
    from corollary.kernels import RBF, length_scale_from_gamma

    X, _ = data
    gamma = 1.0 / (X.shape[1] * X.var())
    kernel, beta = RBF(length_scale_from_gamma(gamma)), model.dual_coef_[0]
    rows, total = X[model.support_], 0.0
    for i in range(0, len(rows), 2000):
        total += float(beta[i : i + 2000] @ (kernel.gram(rows[i : i + 2000], rows) @ beta))
    return 0.5 * total - float(np.abs(beta).sum())


CONTESTS = [
    Contest(
        name="SVC, RBF, 10,000 x 20, C = 1",
        data=make_10_000,
        ours=ours,
        peers=[
            Peer("scikit-learn", theirs, goal=4.0),
            Peer("scikit-learn-intelex", intelex, goal=1.2, requires="sklearnex"),
        ],
        quality=dual_objective,
        tolerance=1e-4,
        rounds=9,
    ),
    Contest(
        name="SVC, RBF, 10,000 x 20, C = 30",
        data=make_10_000,
        ours=ours_tight,
        peers=[
            Peer("scikit-learn", theirs_tight, goal=4.0),
            Peer("scikit-learn-intelex", intelex_tight, goal=1.2, requires="sklearnex"),
        ],
        quality=dual_objective,
        tolerance=1e-4,
        cold=False,
    ),
    Contest(
        name="SVC, RBF, 50,000 x 20, C = 1",
        data=make_50_000,
        ours=ours,
        peers=[
            Peer("scikit-learn", theirs, goal=4.0),
            Peer("scikit-learn-intelex", intelex, goal=1.2, requires="sklearnex"),
        ],
        quality=dual_objective,
        tolerance=1e-4,
        cold=False,
        rounds=1,
    ),
]


def rows() -> list[Row]:
    return [row for contest in CONTESTS for row in run(contest)]
