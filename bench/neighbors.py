"""Nearest neighbours of 10,000 queries among 100,000 rows, exactly.

faiss computes in single precision and returns approximate distances, we in double precision with
exact ranks; its queries run on the same threads as ours. Quality is the mean distance to the
last neighbour, computed again in double precision for all.
"""

from typing import Any

import numpy as np

from bench.harness import Contest, Peer, Row, run

ROWS, QUERIES, K = 100_000, 10_000, 10
Data = tuple[np.ndarray, np.ndarray]


def make(d: int) -> Data:
    random = np.random.default_rng(0)
    return random.normal(size=(ROWS, d)), random.normal(size=(QUERIES, d))


def make_16() -> Data:
    return make(16)


def make_3() -> Data:
    return make(3)


def make_64() -> Data:
    return make(64)


def ours(data: Data) -> np.ndarray:
    from corollary.neighbors import nearest_neighbors

    return nearest_neighbors(*data, K)[1]


def with_scikit_learn(data: Data) -> np.ndarray:
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=K, n_jobs=-1).fit(data[0]).kneighbors(data[1])[1]


def with_faiss(data: Data) -> np.ndarray:
    import faiss

    X, Q = (np.ascontiguousarray(part, dtype=np.float32) for part in data)
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    return index.search(Q, K)[1]


def distance_to_last(data: Data, found: Any) -> float:
    X, Q = data
    last = np.sqrt(((X[found] - Q[:, None]) ** 2).sum(axis=2)).max(axis=1)
    return float(last.mean())


def contest(d: int, data: Any, sklearn: float, **options: Any) -> Contest:
    peers = [
        Peer("scikit-learn", with_scikit_learn, goal=sklearn),
        Peer("faiss (single precision)", with_faiss, goal=1.0, requires="faiss"),
    ]
    return Contest(
        name=f"{K} neighbours, {ROWS:,} x {d}, {QUERIES:,} queries",
        data=data,
        ours=ours,
        peers=peers,
        quality=distance_to_last,
        tolerance=1e-12,
        rounds=3,
        **options,
    )


CONTESTS = [
    contest(16, make_16, 2.0),
    contest(3, make_3, 1.5, cold=False),
    contest(64, make_64, 1.0, cold=False),
]


def rows() -> list[Row]:
    return [row for each in CONTESTS for row in run(each)]
