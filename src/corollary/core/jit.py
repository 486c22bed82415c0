"""One decorator for every compiled loop.

``@jit`` is Numba's ``njit`` with the flags this library stands for: compiled code is cached on
disk, releases the GIL, and may reassociate sums but never assumes that NaN or infinity cannot
occur (under ``fastmath=True``, ``np.isnan`` returns False for NaN).

Rules for kernels, checked by ``tests/test_house.py``:

* they are private, top-level functions of a module named ``_*.py`` that imports this one; the
  public module imports the kernel module inside the function that needs it, so that importing a
  family does not import Numba;
* arrays and scalars in, arrays or tuples out; more than about eight arguments means that a
  NamedTuple of arrays is missing;
* a kernel calls only kernels of its own file: Numba's cache does not notice a change in a
  function of another file;
* ``np.isfinite`` of an expression may be compiled away, because Numba asks whether x - x is a
  number and reassociation makes that 0; compare sizes, or test a value that was loaded as it is;
* parallel sums accumulate per fixed-size block and are reduced in block order, so that the
  result does not depend on the number of threads.
"""

from collections.abc import Callable
from typing import Any

from corollary.core.garbage import keep_garbage

# Numba's import and its tables of types are tens of thousands of objects, none of them garbage;
# looking for some would take as long as making them. The tables would otherwise be filled by the
# first call of a kernel.
with keep_garbage:
    import numba
    from numba.core import event
    from numba.core.registry import cpu_target

    cpu_target.target_context.refresh()

# Reassociation and contraction only: `nnan` and `ninf` would make NaN checks disappear.
FASTMATH = {"nsz", "arcp", "contract", "afn", "reassoc"}


class _Undisturbed(event.Listener):
    """Suspend garbage collection while our kernels are compiled."""

    def on_start(self, event: Any) -> None:
        if self._is_ours(event):
            keep_garbage.__enter__()

    def on_end(self, event: Any) -> None:
        if self._is_ours(event):
            keep_garbage.__exit__()

    def _is_ours(self, event: Any) -> bool:
        return str(event.data["dispatcher"].py_func.__module__).startswith("corollary.")


event.register("numba:compile", _Undisturbed())


def jit(
    function: Callable[..., Any] | None = None, *, parallel: bool = False, helper: bool = False
) -> Any:
    """Compile a kernel with the flags of the house.

    Parameters
    ----------
    function : callable or None, default=None
        The kernel; None when the decorator is used with arguments.
    parallel : bool, default=False
        Whether ``prange`` loops run on several threads.
    helper : bool, default=False
        Whether only kernels call it: what Python would need to is then not compiled.

    Returns
    -------
    kernel : callable
        The compiled kernel, or the decorator when ``function`` is None.
    """
    # Calls from C, which the last option is for, there are none.
    options: dict[str, Any] = {"no_cpython_wrapper": helper, "no_cfunc_wrapper": True}
    decorator = numba.njit(cache=True, nogil=True, fastmath=FASTMATH, parallel=parallel, **options)
    return decorator if function is None else decorator(function)
