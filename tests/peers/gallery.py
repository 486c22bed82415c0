"""scikit-learn's gallery, run with our classes.

The scripts are in the folder ``examples`` of scikit-learn's source distribution, which has to be
there: no wheel holds them. A script counts if it names a class that we have too; those that fetch
data are left out, and so are those that fail or are too slow with scikit-learn's own classes.
"""

import os
import re
import resource
import runpy
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.peers import search_path, shared, swap

#: Seconds of processor time that a script may take.
LONGEST = 120
_FETCHES = re.compile(r"\bfetch_\w+")
#: Scripts that are about what is not offered here, and what that is.
NOT_OFFERED = {
    "plot_gpr_on_structured_data.py": "kernels of texts: rows of Gaussian processes are numbers",
    "plot_release_highlights_1_9_0.py": "set_callbacks, an experiment of scikit-learn's",
}
OUTCOMES = ("passed", "failed", "skipped", "excluded")


@dataclass(frozen=True)
class Script:
    """How one script of the gallery ended."""

    path: Path
    outcome: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.outcome:8} {self.path.parent.name}/{self.path.name}  {self.why}".rstrip()


def scripts(folder: Path) -> list[Path]:
    """Return the scripts of a folder that name a shared class."""
    names = re.compile(rf"\b({'|'.join(shared())})\b")
    return [path for path in sorted(folder.rglob("plot_*.py")) if names.search(path.read_text())]


def judge(path: Path) -> Script:
    """Run one script with our classes, and with scikit-learn's if that fails."""
    if reason := NOT_OFFERED.get(path.name):
        return Script(path, "excluded", reason)
    fetched = _FETCHES.search(path.read_text())
    if fetched:
        return Script(path, "skipped", f"needs {fetched[0]}")
    error = _error(path, "ours")
    if not error:
        return Script(path, "passed")
    if theirs := _error(path, "theirs"):
        return Script(path, "skipped", f"with scikit-learn's classes: {theirs}")
    return Script(path, "failed", error)


def _error(path: Path, classes: str) -> str:
    """Return the last line of the error with which a script ended; empty if it did not."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", __name__, classes, str(path.resolve())],
            cwd=folder,
            env={**os.environ, "MPLBACKEND": "agg", "PYTHONPATH": search_path()},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode == -signal.SIGXCPU:
        return f"over {LONGEST} s"
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return (lines[-1][:300] if lines else "no error") if done.returncode else ""


def run(folder: Path, expression: str | None = None) -> bool:
    """Run the gallery in a folder, print how each script ended, and say whether none failed."""
    paths = [path for path in scripts(folder) if re.search(expression or "", str(path))]
    results = []
    for path in paths:
        script = judge(path)
        print(script, flush=True)
        results.append(script.outcome)
    counts = ", ".join(f"{results.count(end)} {end}" for end in OUTCOMES)
    print(f"{len(results)} scripts name a shared class: {counts}")
    return "failed" not in results


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST))
    if sys.argv[1] == "ours":
        swap()
    runpy.run_path(sys.argv[2], run_name="__main__")
