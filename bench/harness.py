"""A contest: one workload, ours against peers, at equal quality.

A bench module lists its contests in ``CONTESTS`` and offers ``rows()``::

    CONTESTS = [
        Contest(
            name="ridge, 1,000,000 x 50",
            data=make_data,
            ours=fit_ours,
            peers=[Peer("scikit-learn", fit_theirs, goal=1.5)],
            quality=objective,
            tolerance=1e-8,
        )
    ]


    def rows() -> list[Row]:
        return [row for contest in CONTESTS for row in run(contest)]

Rules. Contenders run in turn, round after round, in one process with the same threads, so that a
busy moment of the machine hits all of them; each one's best round counts. Contenders import what
they use inside their function, so that the cold start (first call in a fresh process with an
empty Numba cache, imports included) is measured honestly. Peak memory is measured in a fresh
process too: the data plus the largest growth of the resident set during a second call, over the
size of the data.
"""

import argparse
import gc
import importlib
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Peer:
    """Another library's way to do the same work.

    Parameters
    ----------
    name : str
        The library.
    run : callable
        ``run(data)`` does the work and returns what ``quality`` looks at.
    goal : float
        How many times faster than it we want to be.
    requires : str or None, default=None
        Module that must be installed; the peer is skipped, and the row says so, if it is not.
    once : bool, default=False
        Whether the first run is the one that is timed: for work that takes minutes, where nothing
        is left to warm up.
    """

    name: str
    run: Callable[[Any], Any]
    goal: float
    requires: str | None = None
    once: bool = False


@dataclass(frozen=True)
class Contest:
    """One workload.

    Parameters
    ----------
    name : str
        What is done, with its size.
    data : callable
        ``data()`` makes the data, the same at every call.
    ours : callable
        ``ours(data)`` does the work with this library.
    peers : list of Peer
        The others.
    quality : callable
        ``quality(data, result)``: a loss or objective, smaller is better.
    tolerance : float
        Ours may exceed the peer's quality by this much, relative to its magnitude.
    size : callable or None, default=None
        ``size(data)`` in bytes; None if memory is not part of the contest.
    memory_goal : float or None, default=None
        Largest wanted peak memory over the size of the data.
    cold : bool, default=True
        Whether to measure the first call in a fresh process.
    rounds : int, default=5
        Timed rounds.
    """

    name: str
    data: Callable[[], Any]
    ours: Callable[[Any], Any]
    peers: list[Peer]
    quality: Callable[[Any, Any], float]
    tolerance: float
    size: Callable[[Any], int] | None = None
    memory_goal: float | None = None
    cold: bool = True
    rounds: int = 5

    def contender(self, name: str) -> Callable[[Any], Any]:
        """Return the function of one contender by its name; ours is "ours"."""
        if name == "ours":
            return self.ours
        return next(peer.run for peer in self.peers if peer.name == name)


@dataclass(frozen=True)
class Row:
    """The outcome of one contest against one peer."""

    workload: str
    peer: str
    ours_seconds: float = math.nan
    peer_seconds: float = math.nan
    goal: float = math.nan
    ours_quality: float = math.nan
    peer_quality: float = math.nan
    quality_holds: bool = True
    ours_memory: float = math.nan
    peer_memory: float = math.nan
    memory_goal: float | None = None
    ours_cold: float = math.nan
    peer_cold: float = math.nan
    note: str = field(default="")

    @property
    def ratio(self) -> float:
        """The peer's time over ours."""
        return self.peer_seconds / self.ours_seconds


def run(contest: Contest) -> list[Row]:
    """Hold a contest.

    Parameters
    ----------
    contest : Contest
        The workload.

    Returns
    -------
    rows : list of Row
        One per peer.
    """
    module = sys.modules[contest.ours.__module__].__spec__.name  # type: ignore[union-attr]
    present = [p for p in contest.peers if p.requires is None or _installed(p.requires)]
    names = ["ours", *(p.name for p in present)]
    # Before the timed rounds: a process that holds the data would disturb the fresh ones.
    memory = {n: _fresh("memory", module, contest.name, n) for n in names if contest.size}
    once = {p.name for p in present if p.once}
    cold = {
        n: _fresh("cold", module, contest.name, n) for n in names if contest.cold and n not in once
    }

    data = contest.data()
    quality: dict[str, float] = {}
    best = dict.fromkeys(names, math.inf)
    for name in names:  # compile, fill caches, and look at the answer
        start = time.perf_counter()
        result = contest.contender(name)(data)
        if name in once:
            best[name] = time.perf_counter() - start
        quality[name] = float(contest.quality(data, result))
    for _ in range(contest.rounds):
        for name in names:
            if name in once:
                continue
            gc.collect()
            start = time.perf_counter()
            contest.contender(name)(data)
            best[name] = min(best[name], time.perf_counter() - start)

    rows = []
    for peer in contest.peers:
        if peer not in present:
            rows.append(Row(contest.name, peer.name, goal=peer.goal, note="not installed"))
            continue
        allowed = quality[peer.name] + contest.tolerance * max(1e-300, abs(quality[peer.name]))
        rows.append(
            Row(
                contest.name,
                peer.name,
                best["ours"],
                best[peer.name],
                peer.goal,
                quality["ours"],
                quality[peer.name],
                quality["ours"] <= allowed,
                memory.get("ours", math.nan),
                memory.get(peer.name, math.nan),
                contest.memory_goal,
                cold.get("ours", math.nan),
                cold.get(peer.name, math.nan),
            )
        )
    return rows


def _installed(module: str) -> bool:
    from importlib.util import find_spec

    return find_spec(module) is not None


def _fresh(what: str, module: str, contest: str, contender: str) -> float:
    """Measure one contender in a process of its own."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-m", "bench.harness", what, module, contest, contender],
            cwd=ROOT,
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"{contender} failed in {contest!r} ({what}):\n{done.stderr}")
    return float(json.loads(done.stdout.splitlines()[-1]))


def _peak_growth(work: Callable[[], Any]) -> int:
    """Return by how many bytes the resident set grew at most while working."""
    import psutil

    process = psutil.Process()
    marker = Path("/proc/self/clear_refs")
    if marker.exists():  # Linux keeps the peak itself and forgets it on request
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)
        marker.write_text("5")
        before = process.memory_info().rss
        work()
        lines = Path("/proc/self/status").read_text().splitlines()
        peak = next(line for line in lines if line.startswith("VmHWM"))
        return 1024 * int(peak.split()[1]) - before
    import threading

    done = threading.Event()
    before = process.memory_info().rss
    seen = [before]

    def watch() -> None:
        while not done.wait(0.001):
            seen.append(process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    work()
    done.set()
    watcher.join()
    return max(seen) - before


def _measure(what: str, module: str, name: str, contender: str) -> float:
    contests: list[Contest] = importlib.import_module(module).CONTESTS
    contest = next(c for c in contests if c.name == name)
    if what == "cold":
        data = contest.data()
        start = time.perf_counter()
        contest.contender(contender)(data)
        return time.perf_counter() - start
    assert contest.size is not None
    data = contest.data()
    contest.contender(contender)(data)  # imports and compiled code are not the workload's memory
    growth = _peak_growth(lambda: contest.contender(contender)(data))
    return 1 + growth / contest.size(data)


def table(rows: list[Row]) -> str:
    """Render rows as a Markdown table.

    Parameters
    ----------
    rows : list of Row
        Outcomes.

    Returns
    -------
    text : str
        The table.
    """
    lines = [
        "| workload | peer | ours | peer's | peer / ours | goal | quality, ours / peer's "
        "| memory over data, ours / peer's | cold, ours / peer's |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        if row.note:
            lines.append(
                f"| {row.workload} | {row.peer} | {row.note} |  |  | {row.goal} |  |  |  |"
            )
            continue
        speed = "met" if row.ratio >= row.goal else "missed"
        quality = "" if row.quality_holds else " (WORSE)"
        memory = ""
        if not math.isnan(row.ours_memory):
            memory = f"{row.ours_memory:.2f} / {row.peer_memory:.2f}"
            if row.memory_goal is not None:
                verdict = "met" if row.ours_memory <= row.memory_goal else "missed"
                memory += f" (goal {row.memory_goal}: {verdict})"
        peer_cold = "-" if math.isnan(row.peer_cold) else f"{row.peer_cold:.2f} s"
        cold = "" if math.isnan(row.ours_cold) else f"{row.ours_cold:.2f} s / {peer_cold}"
        lines.append(
            f"| {row.workload} | {row.peer} | {row.ours_seconds:.4g} s | {row.peer_seconds:.4g} s "
            f"| {row.ratio:.2f} | {row.goal}: {speed} "
            f"| {row.ours_quality:.10g} / {row.peer_quality:.10g}{quality} | {memory} | {cold} |"
        )
    return "\n".join(lines)


def machine() -> str:
    """Describe what the numbers were measured on.

    Returns
    -------
    text : str
        Processor, cores, memory and versions; nothing that identifies the machine.
    """
    from importlib.metadata import PackageNotFoundError, version

    from corollary.core.parallel import available_cores

    processor = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [x for x in info.read_text().splitlines() if x.startswith("model name")]
        processor = models[0].split(":", 1)[1].strip() if models else processor
    versions = []
    for package in ("numpy", "scipy", "scikit-learn", "numba", "celer", "skglm"):
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return (
        f"{processor}, {available_cores()} cores, {platform.system()}, "
        f"Python {platform.python_version()}, {', '.join(versions)}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure one contender in this process.")
    for argument in ("what", "module", "contest", "contender"):
        parser.add_argument(argument)
    options = parser.parse_args()
    # Through the imported module, so that Contest is one class and not two.
    measure = importlib.import_module("bench.harness")._measure
    print(json.dumps(measure(options.what, options.module, options.contest, options.contender)))
