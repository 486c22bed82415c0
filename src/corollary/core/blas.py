"""One thread for BLAS, so that results do not depend on how many there are.

A matrix product or a factorisation split over threads rounds differently from one that is not.
Code whose results must not depend on the machine's threads runs such products inside
:func:`one_blas_thread`.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run the block with one BLAS thread, and give back the others after it.

    The limit belongs to the process. Enter it outside of a pool of threads, not in each of them.

    Examples
    --------
    >>> from corollary.core.blas import one_blas_thread
    >>> with one_blas_thread():
    ...     pass
    """
    with _controller(len(sys.modules)).limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> Any:
    # Finding the BLAS libraries takes a millisecond, as long as a whole fit of small data. A
    # library that was loaded since changes the number of modules, and we look again.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
