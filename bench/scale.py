"""What one pass of k-means over a Dask cluster costs, by a model and by the clock.

``python -m bench.scale`` prints the table of docs/scale.md. A pass over n rows of d features has
B = n d / 2**19 blocks of 4 MB; a block is one task, and so is every merge of two summaries. On W
workers the pass takes

    seconds = c n d / W + t (2 B - 1)        bytes sent = s + s (B - 1) (1 - 1 / W)

where c is the time of one number on one core, t that of one task at the scheduler, and s the size
of a summary, 8 k (d + 2) bytes of sums and 8 k d of centres for k clusters. c comes from one block
in this process and t from tasks that do nothing; neither is fitted to what it predicts.
"""

import pickle
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.harness import machine
from corollary.cluster.means._rows import ClusterSums
from corollary.core.summary import BLOCK_BYTES, Source, block_rows, open_source

K = 20
#: Rows and features: four times the rows, and four times the features.
SIZES = [(250_000, 32), (1_000_000, 32), (250_000, 128)]
#: What the page asks about: rows, features, machines, and cores of each.
FAR = (10**9, 1000, 100, 16)
#: Tasks that do nothing, to time the scheduler.
_TASKS = 400


def best(work: Callable[[], Any], rounds: int = 3) -> float:
    """Return the shortest time of some rounds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def n_blocks(n: int, d: int) -> int:
    """Return how many blocks so many rows have."""
    return -(-n // block_rows((np.empty((0, d)),)))


def per_number(d: int) -> float:
    """Time one number of a block on one core."""
    X = np.random.default_rng(0).normal(size=(block_rows((np.empty((0, d)),)), d))
    start = ClusterSums.of(X[:K].copy())
    start.update((X,))
    return best(lambda: start.update((X,))) / X.size


def per_task() -> float:
    """Time one empty task at the scheduler."""
    import dask

    def work() -> None:
        parts = [dask.delayed(abs, pure=False)(i) for i in range(_TASKS)]
        dask.compute(dask.delayed(sum)(parts))

    return best(work) / _TASKS


def weigh_summaries() -> None:
    """Tell a worker how many bytes a summary has."""
    from dask.sizeof import sizeof

    sizeof.register(ClusterSums, lambda summary: len(pickle.dumps(summary)))


def sent(client: Any) -> int:
    """Return the bytes that workers have sent to each other so far."""
    totals = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return sum(totals.values())


def measure(n: int, d: int, client: Any) -> tuple[float, float]:
    """Return seconds and bytes sent in one pass over rows that the workers hold."""
    import dask.array as da

    rows = block_rows((np.empty((0, d)),))
    X = da.random.default_rng(0).normal(size=(n, d), chunks=(rows, d)).persist()
    source: Source = open_source((X,), supervised=False)
    random, passes = np.random.default_rng(0), 3

    def work() -> None:  # other centres every time, since Dask remembers results
        source.reduce(ClusterSums.of(random.normal(size=(K, d))))

    work()
    moved = sent(client)
    seconds = best(work, passes)
    return seconds, (sent(client) - moved) / passes


def predict(n: int, d: int, workers: int, c: float, t: float) -> tuple[float, float]:
    """Return seconds and bytes sent in one pass, by the model."""
    blocks = n_blocks(n, d)
    summary = len(pickle.dumps(ClusterSums.of(np.zeros((K, d)))))
    seconds = c * n * d / workers + t * (2 * blocks - 1)
    return seconds, summary + (blocks - 1) * (1 - 1 / workers) * summary


def main() -> None:
    import distributed

    print("| rows | features | workers | seconds, model / measured | MB sent, model / measured |")
    print("| --- | --- | --- | --- | --- |")
    costs = {d: per_number(d) for d in sorted({d for _, d in SIZES})}
    for workers in (1, 2):
        options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
            client.run(weigh_summaries)
            t = per_task()
            for n, d in SIZES:
                seconds, moved = predict(n, d, workers, costs[d], t)
                real, between = measure(n, d, client)
                print(
                    f"| {n:,} | {d} | {workers} | {seconds:.3f} / {real:.3f} "
                    f"| {moved / 1e6:.2f} / {between / 1e6:.2f} |"
                )
    n, d, machines, cores = FAR
    blocks = n_blocks(n, d)
    arithmetic = costs[max(costs)] * n * d / (machines * cores)
    _, moved = predict(n, d, machines, 0.0, 0.0)
    print(f"\nOne number: {', '.join(f'{c * 1e9:.2f} ns (d = {d})' for d, c in costs.items())}.")
    print(f"One task: {t * 1e6:.0f} microseconds. Block: {BLOCK_BYTES >> 20} MB.")
    print(
        f"{n:.0e} rows x {d:,} features, {machines} machines of {cores} cores: {blocks:,} blocks, "
        f"arithmetic {arithmetic:.0f} s, scheduler {t * (2 * blocks - 1):.0f} s, "
        f"sent {moved / 1e9:.0f} GB, rows {8e-12 * n * d:.0f} TB."
    )
    print(machine())


if __name__ == "__main__":
    main()
