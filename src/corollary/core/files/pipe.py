"""Reading from where bytes come only once: a pipe is read into a file, a device is refused."""

import errno
import os
import select
import stat
import tempfile
from typing import Any

#: Seconds after which a pipe that nobody has opened for writing is given up.
PATIENCE = 5.0
#: Bytes that are taken from a pipe at most; it may be endless.
MOST_BYTES = 2**33


def spooled(path: str | os.PathLike[str]) -> Any:
    """Read a pipe into a temporary file, which goes away when it is closed.

    Parameters
    ----------
    path : str or path-like
        A file, or a pipe such as ``/dev/stdin``.

    Returns
    -------
    file : file object or None
        What came through the pipe, under a name of its own; None for a file, which can be read
        as often as one likes.

    Raises
    ------
    OSError
        If there is no such file, if it is a device, if nobody writes to the pipe, or if more comes
        through it than fits into `MOST_BYTES`.

    Examples
    --------
    >>> from corollary.core.files import spooled
    >>> spooled("/dev/zero")
    Traceback (most recent call last):
        ...
    OSError: [Errno 22] it is a device, not a file: '/dev/zero'
    """
    mode = os.stat(path).st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise OSError(errno.EINVAL, "it is a device, not a file", os.fspath(path))
    if not stat.S_ISFIFO(mode):
        return None
    # Opened in the ordinary way, a pipe without a writer would block for ever.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(handle, "rb", buffering=0) as pipe:
        block = _first_block(pipe)
        os.set_blocking(handle, True)
        spool = tempfile.NamedTemporaryFile(prefix="corollary-")  # noqa: SIM115 (for the caller)
        while block:
            spool.write(block)
            if spool.tell() > MOST_BYTES:
                spool.close()
                raise OSError(errno.EFBIG, f"more than {MOST_BYTES:,} bytes came through it")
            block = pipe.read(2**20)
    spool.flush()
    return spool


def _first_block(pipe: Any) -> bytes:
    """Wait for the first bytes: for a writer that is slow as long as it takes."""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    while True:
        ended = any(event & select.POLLHUP for _, event in poll.poll(1000 * PATIENCE))
        block = pipe.read(2**20)  # None: somebody has opened it and not written yet
        if block or (block is not None and ended):
            return block
        if block is not None:
            raise OSError(errno.ETIMEDOUT, "nobody writes to it")
