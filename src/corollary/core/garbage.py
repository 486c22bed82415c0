"""Suspending garbage collection where many objects are made and none is garbage."""

import gc
from threading import Lock


class KeepGarbage:
    """Suspend the search for reference cycles; objects without references are freed as always.

    Several threads may enter at the same time, and it may be nested: what was in force before
    the first came is in force again when the last has left. The process needs one of them,
    ``keep_garbage``.

    Examples
    --------
    >>> import gc
    >>> from corollary.core.garbage import keep_garbage
    >>> with keep_garbage:
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """

    def __init__(self) -> None:
        self._lock, self._holders, self._resume = Lock(), 0, False

    def __enter__(self) -> None:
        with self._lock:
            if self._holders == 0:
                self._resume = gc.isenabled()
                gc.disable()
            self._holders += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders == 0 and self._resume:
                # What was made counts as old, or it would be looked through right away.
                if not gc.get_freeze_count():
                    gc.freeze()
                    gc.unfreeze()
                gc.enable()


keep_garbage = KeepGarbage()
