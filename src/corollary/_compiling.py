"""Compile the loops of forests aside, while the caller does something else.

The first forest after an installation waits some seconds for the compiler. A command that knows
that it will grow one starts a child process that grows a tiny one, which fills the cache.
"""

import os
import subprocess
import sys
from pathlib import Path

#: Trees of two classes are those of numbers; more classes take a loop of their own.
_TINY_FORESTS = """
import numpy as np
from corollary.ensemble import RandomForestClassifier
X = np.random.default_rng(0).random((60, 2))
for n_classes in (2, 3):
    RandomForestClassifier(2, random_state=0).fit(X, np.arange(60) % n_classes).predict(X)
    print(n_classes, flush=True)
"""
_children: list[subprocess.Popen[bytes]] = []
_compiled: set[int] = set()


def compile_aside() -> bool:
    """Start to compile if nothing is compiled yet."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    usual = (Path(__file__).parent / "tree", Path.home() / ".cache" / "numba")
    folders = [Path(chosen)] if chosen else usual
    if any(next(folder.rglob("*.nbi"), None) for folder in folders if folder.is_dir()):
        return False
    words = [sys.executable, "-c", _TINY_FORESTS]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    _children.append(child)
    return True


def wait_until_compiled(n_classes: int) -> None:
    """Wait for the child process, if there is one, until it can grow such forests."""
    needed = max(2, min(n_classes, 3))
    while _children and needed not in _compiled:
        news = _children[-1].stdout
        assert news is not None
        if line := news.readline():
            _compiled.add(int(line))
        else:  # it has ended, well or not
            _children.pop().communicate()
