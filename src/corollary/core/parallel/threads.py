"""Threads that are kept, for work that is cut into pieces and merged in order.

Starting and joining threads costs as much as a pass over a small block, and an iterative solver
makes hundreds of passes; so the process keeps one pool of each size. Work that runs inside a
worker and asks for threads again is done in that worker: nothing waits for itself, and the cores
are not asked for twice.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_POOLS: dict[int, ThreadPoolExecutor] = {}
_LOCK = threading.Lock()
_HERE = threading.local()


def available_cores() -> int:
    """Return the number of cores this process may use."""
    from joblib import cpu_count

    return int(cpu_count())


def ordered_map(
    function: Callable[[T], R], items: Iterable[T], *, workers: int | None = None
) -> Iterator[R]:
    """Apply a function to items in threads and yield the results in the items' order.

    At most three items per worker are taken ahead of the result that is yielded, so a stream of
    blocks from a file is never held whole. If the function raises, or the caller stops early, the
    items not yet begun are dropped and the running ones are waited for.

    Examples
    --------
    >>> from corollary.core.parallel import ordered_map
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


def in_blocks(
    work: Callable[[int, int], Any], n: int, size: int, *, workers: int | None = None
) -> None:
    """Run ``work(start, stop)`` on fixed blocks of n items in threads, each with its own results.

    If workers are told, they get two ranges of whole blocks each: for work of some milliseconds
    that tells blocks apart itself, where counting cores and handing out blocks would cost as much.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.core.parallel import in_blocks
    >>> squares = np.arange(5)
    >>> def work(start, stop):
    ...     squares[start:stop] **= 2
    >>> in_blocks(work, 5, 2)
    >>> squares
    array([ 0,  1,  4,  9, 16])
    """
    if workers is not None:
        size *= max(1, -(-n // (2 * workers * size)))
    starts = range(0, n, size)
    workers = workers if len(starts) > 1 else 1
    for _ in ordered_map(lambda a: work(a, min(a + size, n)), starts, workers=workers):
        pass


class Team:
    """Threads for one piece of work that is made of thousands of short steps.

    Waking a thread of a pool costs about 70 microseconds; a member of a team waits on a queue of
    its own and starts within 15. The caller is a member: it does the first share itself. Use it
    as a context, so that the threads end with the work.

    Parameters
    ----------
    workers : int
        Members, the caller included.

    Examples
    --------
    >>> from corollary.core.parallel import Team
    >>> with Team(2) as team:
    ...     team.map(abs, [-3, 2])
    [3, 2]
    """

    def __init__(self, workers: int) -> None:
        self._jobs: list[SimpleQueue[Any]] = [SimpleQueue() for _ in range(max(0, workers - 1))]
        self._done: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()
        self._threads = [
            threading.Thread(target=self._serve, args=(jobs,), daemon=True) for jobs in self._jobs
        ]

    def __enter__(self) -> "Team":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for jobs in self._jobs:
            jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _serve(self, jobs: "SimpleQueue[Any]") -> None:
        _mark_worker()
        while (job := jobs.get()) is not None:
            place, function, item = job
            try:
                self._done.put((place, function(item), None))
            except BaseException as error:
                self._done.put((place, None, error))

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """Apply a function to items, one item per member at a time."""
        members = len(self._jobs) + 1
        results: list[Any] = [None] * len(items)
        for start in range(0, len(items), members):
            share = list(enumerate(items[start : start + members], start))
            for jobs, (place, item) in zip(self._jobs, share[1:]):
                jobs.put((place, function, item))
            failure: BaseException | None = None
            try:
                results[start] = function(items[start])
            except BaseException as error:
                failure = error
            for _ in share[1:]:
                place, results[place], error_there = self._done.get()
                failure = failure or error_there
            if failure is not None:
                raise failure
        return results


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
