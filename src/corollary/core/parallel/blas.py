"""One thread for BLAS, so that results do not depend on how many there are.

A matrix product or a factorisation split over threads rounds differently from one that is not.
Code whose results must not depend on the machine's threads runs such products inside
:func:`one_blas_thread`.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any


class _Limit:
    """The limit in force, and how many blocks count on it."""

    def __init__(self) -> None:
        self.lock, self.blocks = threading.Lock(), 0
        self.limiter: Any = None


_limit = _Limit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run the block with one BLAS thread, and give back the others after it.

    The limit belongs to the process: the first block to be entered sets it, and the last to be
    left, in whichever thread, gives back what was before.

    Examples
    --------
    >>> from corollary.core.parallel import one_blas_thread
    >>> with one_blas_thread():
    ...     pass
    """
    with _limit.lock:
        if _limit.blocks == 0:
            controller = _controller(len(sys.modules))
            with _control():
                _limit.limiter = controller.limit(limits=1, user_api="blas")
        _limit.blocks += 1
    try:
        yield
    finally:
        with _limit.lock:
            _limit.blocks -= 1
            if _limit.blocks == 0:
                with _control():
                    _limit.limiter.restore_original_limits()


@contextmanager
def _control() -> Iterator[None]:
    """Let this thread set the limit, which threadpoolctl reserves for the last that did."""
    from threadpoolctl import OpenBLASController

    OpenBLASController.clear_controlling_thread(force=True)
    yield
    OpenBLASController.clear_controlling_thread(force=True)


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> Any:
    """Find the BLAS libraries, which takes a millisecond, once for each set of loaded modules."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
