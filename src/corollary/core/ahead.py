"""Compile kernels ahead of their first call, in processes of their own, from recorded types.

A kernel is compiled when it is first called, for the types of its arguments, and Numba keeps the
result on the disk. Whoever knows which kernels a long job will need can have them compiled while
the job still reads its data: a record names kernels and types, and processes that run this module
take its pieces from a common queue on their standard input::

    python -m corollary.core.ahead kernels.json "gradient boosting" < queue

Nothing but Numba, NumPy and the kernels' own files is imported, so work begins at once. Numbers
never pass between such a process and the job; a record that is out of date costs time, no more.
"""

import importlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

#: What is written to the common queue: one byte for each piece, at most.
QUEUE = bytes(range(256))


@dataclass(frozen=True)
class Piece:
    """A kernel to be compiled for the types of its arguments.

    Parameters
    ----------
    kernel : str
        Module and name, such as ``"corollary.tree._binning.bin_column"``.
    types : list
        Types of the arguments, as :func:`write_type` writes them.
    users : tuple of str
        Who calls it.
    """

    kernel: str
    types: list[Any]
    users: tuple[str, ...]


def write_type(given: Any) -> Any:
    """Write a Numba type as plain data.

    Parameters
    ----------
    given : numba.types.Type
        Scalar, None, array, tuple or named tuple.

    Returns
    -------
    plain : str, list or dict
        ``"float64"``, ``"float64 2C"`` for an array with its dimensions and layout (``"float64 2C
        read"`` for one that is not written to), a list for a tuple, and a dictionary with one key
        for a named tuple (from its class to such a list) and for an array of records (from
        ``"record 1C"`` to names and types).

    Examples
    --------
    >>> from numba import types
    >>> from corollary.core.ahead import write_type
    >>> write_type(types.Tuple([types.int64, types.float64[:, ::1]]))
    ['int64', 'float64 2C']
    """
    from numba.core import types
    from numba.np.numpy_support import as_dtype

    if isinstance(given, types.Array):
        shape = f"{given.ndim}{given.layout}{'' if given.mutable else ' read'}"
        if isinstance(given.dtype, types.Record):
            return {f"record {shape}": [list(part) for part in as_dtype(given.dtype).descr]}
        return f"{given.dtype} {shape}"
    if isinstance(given, types.BaseTuple):
        whole: Any = given  # tuples of every kind list their types; their base does not say so
        parts = [write_type(part) for part in whole.types]
        kind = getattr(given, "instance_class", None)
        return parts if kind is None else {f"{kind.__module__}.{kind.__qualname__}": parts}
    return str(given)


def read_type(plain: Any) -> Any:
    """Read a Numba type from plain data.

    Parameters
    ----------
    plain : str, list or dict
        From :func:`write_type`.

    Returns
    -------
    type : numba.types.Type
        The type.

    Examples
    --------
    >>> from corollary.core.ahead import read_type
    >>> read_type("float64 2C")
    Array(float64, 2, 'C', False, aligned=True)
    """
    import numpy as np
    from numba.core import types
    from numba.np.numpy_support import from_dtype

    if isinstance(plain, list):
        return types.BaseTuple.from_types([read_type(part) for part in plain])
    parts: list[Any] = []
    found: Any
    if isinstance(plain, dict):
        ((plain, parts),) = plain.items()
    name, *shape = plain.split()
    if name == "record":
        found = from_dtype(np.dtype([tuple(part) for part in parts]))
    elif parts:
        return types.BaseTuple.from_types([read_type(part) for part in parts], _find(name))
    else:
        found = types.boolean if name == "bool" else getattr(types, name)
    if not shape:
        return found
    return types.Array(found, int(shape[0][:-1]), shape[0][-1], readonly="read" in shape)


def compile_piece(piece: Piece) -> None:
    """Compile a kernel, or load it if the disk has it.

    Parameters
    ----------
    piece : Piece
        What to compile.

    Raises
    ------
    Exception
        Whatever Numba or an import says, if the record is out of date.
    """
    _find(piece.kernel).compile(tuple(read_type(plain) for plain in piece.types))


def list_compiled(prefix: str = "corollary.") -> dict[str, list[list[Any]]]:
    """List the kernels that this process has compiled or loaded, and for which types.

    Parameters
    ----------
    prefix : str, default="corollary."
        How the names of their modules begin.

    Returns
    -------
    found : dict of str to list of list
        For each kernel the types of its arguments, as :func:`write_type` writes them.
    """
    found: dict[str, list[list[Any]]] = {}
    for name, module in sorted(sys.modules.items()):
        if not name.startswith(prefix):
            continue
        for kernel, value in sorted(vars(module).items()):
            signatures = getattr(value, "nopython_signatures", None)
            if signatures and value.py_func.__module__ == name:
                types = [[write_type(t) for t in signature.args] for signature in signatures]
                found[f"{name}.{kernel}"] = sorted(types, key=json.dumps)
    return found


@contextmanager
def compile_seconds() -> Iterator[dict[str, float]]:
    """Measure what the kernels that Python calls take to compile in a block.

    Yields
    ------
    seconds : dict of str to float
        For each of them seconds of the processor, with those of the kernels that it calls.
    """
    import time

    from numba.core import event

    seconds: dict[str, float] = {}
    begun: list[float] = []

    class Watch(event.Listener):
        def on_start(self, event: Any) -> None:
            begun.append(time.process_time())

        def on_end(self, event: Any) -> None:
            start = begun.pop()
            if not begun:
                function = event.data["dispatcher"].py_func
                name = f"{function.__module__}.{function.__qualname__}"
                seconds[name] = seconds.get(name, 0.0) + time.process_time() - start

    watch = Watch()
    event.register("numba:compile", watch)
    try:
        yield seconds
    finally:
        event.unregister("numba:compile", watch)


def read_record(path: str | os.PathLike[str], users: Iterable[str]) -> list[Piece]:
    """Read the pieces that some users need.

    Parameters
    ----------
    path : str or path-like
        A JSON file: a list of kernels, each with its types and its users.
    users : iterable of str
        Who will call kernels, in the order in which they will.

    Returns
    -------
    pieces : list of Piece
        Those of the first user first, otherwise in the order of the file; at most as many as the
        queue holds.
    """
    place = {user: k for k, user in enumerate(users)}
    pieces = [
        Piece(entry["kernel"], entry["types"], tuple(set(entry["users"]).intersection(place)))
        for entry in json.loads(Path(path).read_text(encoding="utf-8"))
    ]
    wanted = [piece for piece in pieces if piece.users]
    return sorted(wanted, key=lambda p: min(place[user] for user in p.users))[: len(QUEUE)]


def compile_queue(
    pieces: list[Piece], take: Callable[[], bytes], tell: Callable[[str], object]
) -> None:
    """Compile pieces whose numbers a queue gives, until it is empty.

    Parameters
    ----------
    pieces : list of Piece
        What can be compiled.
    take : callable
        Gives one byte, the number of a piece; nothing at the end.
    tell : callable
        Told the number of every piece that is done.
    """
    while (number := take()) and number[0] < len(pieces):
        with suppress(Exception):  # the record is out of date: the job will compile for itself
            compile_piece(pieces[number[0]])
        tell(f"{number[0]}\n")


def _find(name: str) -> Any:
    """Import what a dotted name in a kernel's file means."""
    module, _, inner = name.rpartition(".")
    return getattr(importlib.import_module(module), inner)


def _leave_out_families(pieces: Iterable[Piece]) -> None:
    """Let kernels be imported without the public modules around them.

    Those import scikit-learn, which takes longer than to compile a kernel. Only for a process that
    does nothing else.
    """
    for piece in pieces:
        package = piece.kernel.rpartition(".")[0].rpartition(".")[0]
        if package not in sys.modules:
            bare = ModuleType(package)
            bare.__path__ = [str(Path(__file__).parents[1] / package.rpartition(".")[2])]
            sys.modules[package] = bare


def main() -> None:
    """Compile what a record holds for the users named on the command line."""

    def tell(line: str) -> None:
        sys.stdout.write(line)
        sys.stdout.flush()

    pieces = read_record(sys.argv[1], sys.argv[2:])
    _leave_out_families(pieces)
    compile_queue(pieces, lambda: os.read(sys.stdin.fileno(), 1), tell)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        main()
