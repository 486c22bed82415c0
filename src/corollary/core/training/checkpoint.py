"""Checkpoint files: the state of a long computation as data.

A checkpoint is a NumPy ``.npz`` archive of plain arrays and one JSON text that says what they
belong to. Reading one never runs code (``allow_pickle=False``), and a file is replaced in one
step, so that a run that is killed leaves either the old checkpoint or the new one, never half.
"""

import json
import os
import time
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from corollary.core.files import atomic_write

FORMAT = "corollary checkpoint"
VERSION = 1


def write_checkpoint(
    path: str | os.PathLike[str],
    arrays: Mapping[str, np.ndarray],
    identity: Mapping[str, Any],
) -> None:
    """Write arrays and what they belong to, atomically.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from corollary.core.training import read_checkpoint, write_checkpoint
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "state.npz"
    ...     write_checkpoint(path, {"weights": np.arange(3)}, {"seed": 0})
    ...     read_checkpoint(path, {"seed": 0})["weights"]
    array([0, 1, 2])
    """
    header = json.dumps({"format": FORMAT, "version": VERSION, "identity": dict(identity)})
    with atomic_write(path) as file:
        np.savez(file, allow_pickle=False, header=np.array(header), **arrays)


def read_checkpoint(
    path: str | os.PathLike[str], identity: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """Read the arrays of a checkpoint that belongs to ``identity``."""
    repair = "Choose another path, or delete the file to start afresh."
    try:
        # Opened here, because NumPy leaves a file it cannot read open.
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            header = json.loads(str(file["header"][()]))
            arrays = {name: file[name] for name in file.files if name != "header"}
        known = header["format"] == FORMAT and header["version"] == VERSION
        theirs = dict(header["identity"])
    except (ValueError, KeyError, TypeError, EOFError, OSError, zipfile.BadZipFile) as error:
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise
        raise ValueError(f"{os.fspath(path)!r} is not a readable checkpoint. {repair}") from error
    if not known:
        raise ValueError(
            f"{os.fspath(path)!r} must be a checkpoint of format version {VERSION}. "
            f"Got {header['format']!r}, version {header['version']!r}. {repair}"
        )
    # Compared as JSON, since a tuple comes back from a file as a list.
    ours = json.loads(json.dumps(dict(identity)))
    for name in sorted(ours.keys() | theirs.keys()):
        if ours.get(name) != theirs.get(name):
            raise ValueError(
                f"The checkpoint {os.fspath(path)!r} belongs to other work: its {name!r} is "
                f"{theirs.get(name)!r}, this run's is {ours.get(name)!r}. {repair}"
            )
    return arrays


class Checkpoint:
    """A checkpoint file that a loop writes to as it goes.

    Parameters
    ----------
    path : str or path-like
        The file; its folder must exist.
    identity : mapping of str to JSON values
        What the state belongs to.
    """

    # Writing may take this share of the time: large states are written less often.
    SHARE = 0.05

    def __init__(self, path: str | os.PathLike[str], identity: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.identity = identity
        self._next_write = 0.0
        if not self.path.parent.is_dir():
            raise FileNotFoundError(
                f"The folder of the checkpoint {os.fspath(path)!r} does not exist. Create it first."
            )

    def read(self) -> dict[str, np.ndarray] | None:
        """Return the arrays written last."""
        return read_checkpoint(self.path, self.identity) if self.path.exists() else None

    def write(self, arrays: Mapping[str, np.ndarray], *, now: bool = False) -> None:
        """Write the arrays, unless the last write is too recent to be worth another."""
        start = time.monotonic()
        if not now and start < self._next_write:
            return
        write_checkpoint(self.path, arrays, self.identity)
        end = time.monotonic()
        self._next_write = end + (end - start) / self.SHARE


def match_arrays(
    arrays: Mapping[str, np.ndarray], expected: Sequence[Any], prefix: str
) -> list[np.ndarray]:
    """Pick ``prefix0, prefix1, ...`` out of a checkpoint, checked against what they replace."""
    found = []
    for number, example in enumerate(expected):
        name = f"{prefix}{number}"
        wanted = (np.shape(example), np.asarray(example).dtype)
        got = arrays.get(name)
        if got is None or (got.shape, got.dtype) != wanted:
            raise ValueError(
                f"A checkpoint's array {name!r} must have shape {wanted[0]} and dtype {wanted[1]}."
                f" Got {'none' if got is None else f'{got.shape} and {got.dtype}'}."
                " Delete the file to start afresh."
            )
        found.append(got)
    return found
