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
"""
_children: list[subprocess.Popen[bytes]] = []


def compile_aside() -> bool:
    """Start to compile if nothing is compiled yet.

    Returns
    -------
    started : bool
        Whether a child process was started.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    usual = (Path(__file__).parents[1] / "tree", Path.home() / ".cache" / "numba")
    folders = [Path(chosen)] if chosen else usual
    if any(next(folder.rglob("*.nbi"), None) for folder in folders if folder.is_dir()):
        return False
    words, nowhere = [sys.executable, "-c", _TINY_FORESTS], subprocess.DEVNULL
    _children.append(subprocess.Popen(words, stdout=nowhere, stderr=nowhere))
    return True


def wait_until_compiled() -> None:
    """Wait for the child process, if there is one."""
    while _children:
        _children.pop().wait()
