"""Threads: work that is cut into pieces and merged in order, with the same bits for any number.

:func:`ordered_map` and :class:`Team` share out our own loops; joblib serves estimators of users.
:func:`one_blas_thread` keeps products from being split, which would round them differently, and
:func:`row_products` and :func:`row_solves` a row from being rounded by the rows beside it.
"""

from corollary.core.parallel.blas import one_blas_thread
from corollary.core.parallel.products import row_products, row_solves
from corollary.core.parallel.threads import Team, available_cores, in_blocks, ordered_map

__all__ = [
    "Team",
    "available_cores",
    "in_blocks",
    "one_blas_thread",
    "ordered_map",
    "row_products",
    "row_solves",
]
