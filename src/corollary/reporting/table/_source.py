"""A file of data, its beginning kept, its bytes hashed while they are read."""

import gzip
import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from corollary.core.files import spooled
from corollary.reporting._errors import ReportError

#: Bytes of a file that are kept; a smaller file is read from the disk once.
HEAD = 2**22


def first_line(error: BaseException) -> str:
    """Give the first line of an error's message."""
    return (str(error).splitlines() or [type(error).__name__])[0]


class _Hashing(io.RawIOBase):
    """Bytes of another stream, hashed as they pass."""

    def __init__(self, raw: Any) -> None:
        super().__init__()
        self.raw, self.digest = raw, hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n = self.raw.readinto(buffer) or 0
        self.digest.update(memoryview(buffer)[:n])
        return n


class Source:
    """A file to be read, or a pipe, which is read once into a file."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, path.name
        try:
            self._spool = spooled(path)
            self.place = path if self._spool is None else Path(self._spool.name)
            with self._open() as file:
                self.head = file.read(HEAD)
        except OSError as error:
            why = error.strerror or error
            raise ReportError("data", f"{path} cannot be read: {why}.") from None
        self._whole = len(self.head) < HEAD
        self._sha256 = hashlib.sha256(self.head).hexdigest() if self._whole else ""

    def _open(self) -> Any:
        return open(self.place, "rb")

    @property
    def sha256(self) -> str:
        """Hash of the bytes; it costs a pass over a large file that was not read yet."""
        if not self._sha256:
            with self._open() as file:
                self._sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return self._sha256

    def _unpacked(self, raw: Any) -> Any:
        packed = self.head[:2] == b"\x1f\x8b"
        return gzip.GzipFile(fileobj=raw) if packed else raw

    def start(self) -> bytes:
        """Give the first bytes, unpacked."""
        try:
            return self._unpacked(io.BytesIO(self.head)).read(4096)
        except (EOFError, OSError) as error:
            raise ReportError("data", f"{self.path} cannot be read: {first_line(error)}.") from None

    @contextmanager
    def text(self, encoding: str, *, errors: str = "strict", hashed: bool = False) -> Iterator[Any]:
        """Open the file as text; what is read with `hashed` and without an error is hashed."""
        with io.BytesIO(self.head) if self._whole else self._open() as file:
            hashing = _Hashing(file)
            raw = io.BufferedReader(hashing) if hashed else file
            yield io.TextIOWrapper(self._unpacked(raw), encoding, errors, newline="")
            if hashed:
                while raw.read(2**16):  # what the packing left unread
                    pass
                self._sha256 = hashing.digest.hexdigest()
