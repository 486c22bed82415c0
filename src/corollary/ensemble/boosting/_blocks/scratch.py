"""Scratch files: arrays that are kept on the disk while a fit runs, and vanish with it."""

import errno
import mmap
import os
import shutil
import tempfile
from os import PathLike
from typing import Any

import numpy as np

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class ScratchFile:
    """A nameless file for bytes that are written once and read often, from any thread.

    The file has no name where the system allows that (everywhere but on Windows), so it vanishes
    when the process ends, however it ends. Use it as a context.
    """

    def __init__(self, directory: str | PathLike[str] | None = None, *, size: int = 0) -> None:
        self.directory = tempfile.gettempdir() if directory is None else os.fspath(directory)
        if not os.path.isdir(self.directory):
            raise FileNotFoundError(f"There is no folder {self.directory!r} for scratch files.")
        if shutil.disk_usage(self.directory).free < size:
            raise self._full(size)
        self._file: Any = tempfile.TemporaryFile(dir=self.directory, buffering=0)  # noqa: SIM115
        self.size = 0

    def __enter__(self) -> "ScratchFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def append(self, array: np.ndarray) -> int:
        """Write the bytes of an array after all others."""
        data: Any = array.ravel(order="K").view(np.uint8)
        place = self.size
        gap = bytes(-array.nbytes % mmap.ALLOCATIONGRANULARITY)  # arrays begin with a page
        try:
            for part in (memoryview(data), memoryview(gap)):
                done = 0
                while done < len(part):
                    done += self._file.write(part[done:])
        except OSError as error:
            if error.errno not in _FULL:
                raise
            raise self._full(place + array.nbytes) from error
        self.size += array.nbytes + len(gap)
        return place

    def _full(self, size: int) -> OSError:
        return OSError(
            errno.ENOSPC,
            f"The disk is full: a scratch file of {size / 1e6:.1f} MB does not fit in "
            f"{self.directory!r}. Choose a scratch_directory with more room",
        )

    def read(self, place: int, size: int) -> np.ndarray:
        """Return bytes that were written, in memory that the system may take back."""
        pages = mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_READ, offset=place)
        return np.frombuffer(pages, dtype=np.uint8)
