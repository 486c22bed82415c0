"""Threads that are kept, for work that is cut into pieces and merged in order.

Starting and joining threads costs as much as a pass over a small block, and an iterative solver
makes hundreds of passes; so the process keeps one pool of each size. Work that runs inside a
worker and asks for threads again is done in that worker: nothing waits for itself, and the cores
are not asked for twice.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

_POOLS: dict[int, ThreadPoolExecutor] = {}
_LOCK = threading.Lock()
_HERE = threading.local()


def available_cores() -> int:
    """Return the number of cores this process may use.

    Returns
    -------
    cores : int
        At least 1; honours CPU affinity, cgroup limits and ``LOKY_MAX_CPU_COUNT``.
    """
    from joblib import cpu_count

    return int(cpu_count())


def ordered_map(
    function: Callable[[T], R], items: Iterable[T], *, workers: int | None = None
) -> Iterator[R]:
    """Apply a function to items in threads and yield the results in the items' order.

    At most three items per worker are taken ahead of the result that is yielded, so a stream of
    blocks from a file is never held whole. If the function raises, or the caller stops early, the
    items not yet begun are dropped and the running ones are waited for.

    Parameters
    ----------
    function : callable
        Should spend its time outside the interpreter's lock: compiled loops, BLAS, reading.
    items : iterable
        Its items are taken in the caller's thread.
    workers : int or None, default=None
        Threads; None means one per available core.

    Yields
    ------
    result : object
        ``function(item)`` of the next item.

    Examples
    --------
    >>> from corollary.core.threads import ordered_map
    >>> list(ordered_map(abs, [-3, 2, -1]))
    [3, 2, 1]
    """
    workers = available_cores() if workers is None else workers
    if workers <= 1 or getattr(_HERE, "is_worker", False):
        yield from map(function, items)
        return
    pool, waiting = _pool(workers), deque[Future[R]]()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
        wait(waiting)


def _pool(workers: int) -> ThreadPoolExecutor:
    with _LOCK:
        if workers not in _POOLS:
            _POOLS[workers] = ThreadPoolExecutor(
                workers, thread_name_prefix="corollary", initializer=_mark_worker
            )
        return _POOLS[workers]


def _mark_worker() -> None:
    _HERE.is_worker = True


def _forget_pools() -> None:
    # A forked child inherits the pools but not their threads.
    global _LOCK, _HERE
    _POOLS.clear()
    _LOCK, _HERE = threading.Lock(), threading.local()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pools)
