"""Compiled loops: one decorator for their doors, one for their parts.

``@jit`` is Numba's ``njit`` with the flags this library stands for: compiled code is cached on
disk, releases the GIL, and may reassociate sums but never assumes that NaN or infinity cannot
occur (under ``fastmath=True``, ``np.isnan`` returns False for NaN). ``@part`` marks a piece of a
loop: it becomes part of its caller, without a call.

How a loop is written (``tests/test_house.py`` checks what a machine can see):

* it lives in ``_loops.py`` or ``_loops/`` of its package, and is imported inside the function that
  needs it, so that importing a family does not import Numba; loops may call parts of other files;
* it takes arrays, numbers and a few NamedTuples of arrays, at most twelve arguments; elements of
  arrays that belong together are a :func:`record`, whose fields have names;
* it unpacks what it needs from a NamedTuple before the loop: ``work.sums[i]`` inside a loop that
  also calls parts counts references in every round;
* what a fit does not need is an argument that is None, and is then not compiled;
* a formula whose last bit matters is a ``@part(strict=True)``: products are rounded before they are
  added, wherever the part lands;
* ``np.isfinite`` of an expression may be compiled away, because Numba asks whether x - x is a
  number and reassociation makes that 0; compare sizes, or test a value that was loaded as it is;
* it runs in one thread; callers share out blocks of a fixed size and merge them in order
  (``core.parallel``), so that the result does not depend on the number of threads;
* it runs without the compiler (``NUMBA_DISABLE_JIT=1``), where a debugger can step through it.
"""

import gc
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

# Numba makes many objects that stay. Looking for garbage among them takes a third of its start.
_collecting = gc.isenabled()
gc.disable()
try:
    import numba
    from numba.core import caching
    from numba.core.registry import cpu_target

    cpu_target.target_context.refresh()  # as the first loop would
finally:
    if _collecting:
        gc.enable()

# Reassociation and contraction only: `nnan` and `ninf` would make NaN checks disappear.
FASTMATH = {"nsz", "arcp", "contract", "afn", "reassoc"}

_PACKAGE = Path(__file__).parents[1]


def loop_files() -> list[Path]:
    """Return all files of loops, and those of the numbers by which loops know losses and rules."""
    files = [Path(__file__)]
    # One walk: three searches by pattern take 30 ms, which every report would pay.
    for folder, _, names in os.walk(_PACKAGE):
        inside = os.path.basename(folder) == "_loops"
        chosen = [
            n for n in names if n in ("_loops.py", "_codes.py") or (inside and n[-3:] == ".py")
        ]
        files += [Path(folder, name) for name in chosen]
    return sorted(files)


#: Hash of all loops: any of them may be part of any other, which Numba's own stamp does not see.
SOURCES = hashlib.sha256(b"".join(path.read_bytes() for path in loop_files())).hexdigest()


def _stamped(place: Any) -> Any:
    """Let a place for compiled code ask for the content of all loops, not for the age of a file."""

    class Stamped(place):
        def get_source_stamp(self) -> str:
            return SOURCES

        @classmethod
        def from_function(cls, function: Any, file: str) -> Any:
            ours = Path(file).is_relative_to(_PACKAGE)
            return super().from_function(function, file) if ours else None

    return Stamped


# NUMBA_CACHE_DIR, __pycache__ or, where that cannot be written to, the user's cache: as always.
_places = caching.CacheImpl._locator_classes
_places[:0] = [_stamped(place) for place in _places[:3]]


def jit(function: Callable[..., Any] | None = None, *, counted: bool = True) -> Any:
    """Compile a loop with the flags of the house.

    Parameters
    ----------
    function : callable or None, default=None
        The loop; None when the decorator is used with arguments.
    counted : bool, default=True
        Whether references to arrays are counted. A loop that neither makes nor returns arrays
        needs no counts and is faster without.

    Returns
    -------
    loop : callable
        The compiled loop, or the decorator when ``function`` is None.
    """
    options: dict[str, Any] = {"no_cfunc_wrapper": True}  # nothing calls loops from C
    if not counted:
        options["_nrt"] = False
    decorator = numba.njit(cache=True, nogil=True, fastmath=FASTMATH, **options)

    def compiled(function: Callable[..., Any]) -> Any:
        loop = decorator(function)
        # Numba reads the types in an index, with the names of our classes, before it looks at the
        # stamp, and would fail where a class has moved; an index of another version it lets be.
        if hasattr(loop, "_cache"):
            loop._cache._cache_file._version += f" {SOURCES}"
        return loop

    return compiled if function is None else compiled(function)


def part(function: Callable[..., Any] | None = None, *, strict: bool = False) -> Any:
    """Compile a piece of a loop, which loops call and Python does not.

    Arrays are borrowed from the caller, so a part may neither make nor return any.

    Parameters
    ----------
    function : callable or None, default=None
        The piece; None when the decorator is used with arguments.
    strict : bool, default=False
        Whether sums and products are rounded as they are written.

    Returns
    -------
    piece : callable
        The compiled piece, or the decorator when ``function`` is None.
    """
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
    fastmath = False if strict else FASTMATH
    decorator = numba.njit(nogil=True, fastmath=fastmath, forceinline=True, **options)
    return decorator if function is None else decorator(function)


def record(*fields: Any) -> Any:
    """Return the type of records whose fields are attributes, with and without the compiler.

    Parameters
    ----------
    *fields : types and str in turn
        A type and the names of the fields that have it, separated by blanks.

    Returns
    -------
    dtype : dtype
        The type of one record; arrays of it are made with ``np.zeros(n, dtype)``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.core.jit import record
    >>> nodes = np.zeros(3, record(np.int64, "left right", np.float64, "gain"))
    >>> nodes[1].left, nodes.dtype.names
    (np.int64(0), ('left', 'right', 'gain'))
    """
    pairs = [
        (name, kind) for kind, names in zip(fields[::2], fields[1::2]) for name in names.split()
    ]
    if taken := [name for name, _ in pairs if hasattr(np.record, name)]:
        raise ValueError(f"Without the compiler {taken} would not be fields: NumPy has such names.")
    return np.dtype((np.record, np.dtype(pairs, align=True)))
