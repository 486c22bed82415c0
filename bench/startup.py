"""How long a user waits for the first sign of life, each in a fresh process.

The goal stands where a peer would: the ratio is the time allowed over the time taken.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.harness import Row

COMMAND = [sys.executable, "-m", "corollary"]
NAMES = {
    "import corollary": ([sys.executable, "-c", "import corollary"], 0.15),
    "corollary --help": ([*COMMAND, "--help"], 0.5),
    "corollary report, first line": ([*COMMAND, "report", "--fast"], 1.0),
    "corollary report, breast cancer, empty caches": ([*COMMAND, "report"], 10.0),
    "corollary report --fast, breast cancer": ([*COMMAND, "report", "--fast"], 3.0),
}

# What the first fit of a process costs beyond the next one.
FOREST = """
import time
import corollary.ensemble
from bench.forest import make_10_000, ours
data, times = make_10_000(), []
for _ in range(4):
    start = time.perf_counter()
    ours(data)
    times.append(time.perf_counter() - start)
print(times[0] - min(times[1:]))
"""


def rows() -> list[Row]:
    commands = [
        Row(name, "the goal", _best(name, command), allowed, goal=1.0)
        for name, (command, allowed) in NAMES.items()
    ]
    with tempfile.TemporaryDirectory() as folder:
        empty = _first_forest(folder)
        warm = min(_first_forest(folder) for _ in range(5))
    return [
        *commands,
        Row("first forest of a process, empty cache", "the goal", empty, 3.0, goal=1.0),
        Row("first forest of a process, warm cache", "the goal", warm, 0.3, goal=1.0),
    ]


def _first_forest(cache: str) -> float:
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, "-c", FOREST], env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def _best(name: str, command: list[str], rounds: int = 3) -> float:
    return min(_once(command, first_line=name.endswith("first line")) for _ in range(rounds))


def _once(command: list[str], *, first_line: bool) -> float:
    with tempfile.TemporaryDirectory() as folder:
        where = ["--out", str(Path(folder) / "out")] if "report" in command else []
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        start = time.perf_counter()
        with subprocess.Popen(
            [*command, *where], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            seen = time.perf_counter() - start
            process.stdout.read()
        return seen if first_line else time.perf_counter() - start
