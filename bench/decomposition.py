"""Principal components: many rows of 50 features, and 20 of 5,000 directions.

Quality is the variance that the components explain, computed from the rows: the wide table has a
spectrum that falls slowly, of which approximate solvers lose a part.
"""

from typing import Any

import numpy as np

from bench.harness import Contest, Peer, Row, run


def tall() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(1_000_000, 50)) * np.linspace(3, 1, 50) + 1


def wide() -> np.ndarray:
    """Return a table whose singular values fall like those of natural images."""
    rng = np.random.default_rng(0)
    n, rank = 5_000, 200
    factors = rng.normal(size=(n, rank)) / np.arange(1, rank + 1) ** 0.7
    return factors @ rng.normal(size=(rank, n)) + 0.5 * rng.normal(size=(n, n)) + 1


def ours(X: np.ndarray) -> Any:
    from corollary.decomposition import PCA

    return PCA(20, random_state=0).fit(X)


def with_scikit_learn(X: np.ndarray) -> Any:
    from sklearn.decomposition import PCA

    return PCA(20, random_state=0).fit(X)


def unexplained(X: np.ndarray, model: Any) -> float:
    """Return the share of the variance that the components do not explain."""
    centred = X - X.mean(axis=0)
    return float(1 - np.sum((centred @ model.components_.T) ** 2) / np.sum(centred**2))


CONTESTS = [
    Contest(
        name=f"PCA, {title}, 20 components",
        data=data,
        ours=ours,
        peers=[Peer("scikit-learn", with_scikit_learn, goal=1.5)],
        quality=unexplained,
        tolerance=1e-6,
        rounds=5,
    )
    for title, data in (("1,000,000 x 50", tall), ("5,000 x 5,000", wide))
]


def rows() -> list[Row]:
    return [row for contest in CONTESTS for row in run(contest)]
