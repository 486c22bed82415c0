"""k-means on 100,000 rows, and on a file that is read in pieces.

All contenders of the first contest start from the same rows; scikit-learn and we end by the same
rule, faiss and the accelerated scikit-learn by as many steps or as small a movement. Quality is the
cost of the centres, in double precision. The second contest is the whole fit with its start. In the
third the rows are in a Parquet file: ours passes over it seven times for its start and once in
each of 15 steps, scikit-learn's MiniBatchKMeans is given the batches of ten passes. Starts decide
where they end, by more than what the two differ in: quality is the mean cost of three fits.
"""

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.harness import Contest, Peer, Row, run

ROWS, COLUMNS, K, STARTS = 100_000, 16, 50, 3


class Data(NamedTuple):
    """Rows, centres to start from, and a file with the rows."""

    X: np.ndarray
    start: np.ndarray
    path: str = ""


def make() -> Data:
    random = np.random.default_rng(0)
    centres = random.uniform(-10, 10, size=(K, COLUMNS))
    X = centres[random.integers(0, K, ROWS)] + 4.0 * random.normal(size=(ROWS, COLUMNS))
    return Data(X, X[random.choice(ROWS, K, replace=False)])


def make_file() -> Data:
    import pandas as pd

    data = make()
    path = Path(tempfile.gettempdir(), "corollary-bench-cluster.parquet")
    frame = pd.DataFrame(data.X, columns=[f"x{c}" for c in range(COLUMNS)])
    frame.to_parquet(path, row_group_size=10_000)
    return data._replace(path=str(path))


def ours(data: Data) -> np.ndarray:
    from corollary.cluster import KMeans

    return KMeans(K, init=data.start).fit(data.X).cluster_centers_


def with_scikit_learn(data: Data) -> np.ndarray:
    from sklearn.cluster import KMeans

    return KMeans(K, init=data.start, n_init=1).fit(data.X).cluster_centers_


def with_intelex(data: Data) -> np.ndarray:
    from sklearnex.cluster import KMeans

    return KMeans(K, init=data.start, n_init=1).fit(data.X).cluster_centers_


def with_faiss(data: Data) -> np.ndarray:
    import faiss

    X, start = data.X.astype(np.float32), data.start.astype(np.float32)
    model = faiss.Kmeans(COLUMNS, K, niter=60, max_points_per_centroid=ROWS)
    model.train(X, init_centroids=start)
    return np.asarray(model.centroids, dtype=np.float64)


def ours_with_start(data: Data) -> np.ndarray:
    from corollary.cluster import KMeans

    return KMeans(K, random_state=0).fit(data.X).cluster_centers_


def scikit_learn_with_start(data: Data) -> np.ndarray:
    from sklearn.cluster import KMeans

    return KMeans(K, random_state=0).fit(data.X).cluster_centers_


def ours_from_a_file(data: Data) -> list[np.ndarray]:
    from corollary.cluster import KMeans

    models = [KMeans(K, max_iter=15, random_state=seed) for seed in range(STARTS)]
    return [model.fit_source(data.path, labels=False).cluster_centers_ for model in models]


def batches_from_a_file(data: Data) -> list[np.ndarray]:
    import pyarrow.parquet as pq
    from sklearn.cluster import MiniBatchKMeans

    def fit(seed: int) -> np.ndarray:
        model = MiniBatchKMeans(K, n_init=1, compute_labels=False, random_state=seed)
        for _ in range(10):
            for batch in pq.ParquetFile(data.path).iter_batches(1024):
                rows = np.column_stack([column.to_numpy() for column in batch.columns])
                if len(rows) > K:
                    model.partial_fit(rows)
        return model.cluster_centers_

    return [fit(seed) for seed in range(STARTS)]


def mean_cost(data: Data, starts: list[np.ndarray]) -> float:
    return float(np.mean([cost(data, centres) for centres in starts]))


def cost(data: Data, centres: Any) -> float:
    squares = (data.X**2).sum(axis=1)[:, None] - 2 * data.X @ centres.T + (centres**2).sum(axis=1)
    return float(squares.min(axis=1).sum())


SIZE = f"k-means, {ROWS:,} x {COLUMNS}, k = {K}"
CONTESTS = [
    Contest(
        name=f"{SIZE}, equal starts",
        data=make,
        ours=ours,
        peers=[
            Peer("scikit-learn", with_scikit_learn, goal=2.5),
            Peer("scikit-learn-intelex", with_intelex, goal=1.0, requires="sklearnex"),
            Peer("faiss, 60 steps (single precision)", with_faiss, goal=1.0, requires="faiss"),
        ],
        quality=cost,
        tolerance=1e-3,
    ),
    Contest(
        name=f"{SIZE}, with k-means++",
        data=make,
        ours=ours_with_start,
        peers=[Peer("scikit-learn", scikit_learn_with_start, goal=2.5)],
        quality=cost,
        tolerance=0.01,
        cold=False,
    ),
    Contest(
        name=f"{SIZE}, from a file, {STARTS} fits",
        data=make_file,
        ours=ours_from_a_file,
        peers=[Peer("MiniBatchKMeans.partial_fit", batches_from_a_file, goal=1.0)],
        quality=mean_cost,
        tolerance=1e-3,
        cold=False,
        rounds=3,
    ),
]


def rows() -> list[Row]:
    return [row for contest in CONTESTS for row in run(contest)]
