"""Writing files so that nobody ever sees half of one."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name only when complete.

    The bytes go to a hidden file in the same folder, are flushed to the disk, and take the name
    in one step. After a crash or a kill the old file, if any, is still there, whole. A link keeps
    pointing to its file, and a pipe or a device, such as ``/dev/stdout``, is written to as it is.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from corollary.core.files import atomic_write
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "answer.txt"
    >>> with atomic_write(path) as file:
    ...     _ = file.write(b"42")
    >>> path.read_bytes()
    b'42'
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
        return
    path = Path(os.path.realpath(path))
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes private files; a finished one gets the permissions any new file would.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
