"""Try faults: one process imports the library and collects the tests, each fork tries one fault.

The parent never runs a test, so that a fork finds no cache, compiled function or thread of an
earlier one. A fault is planted by exchanging the code of a function, which every importer sees.
"""

import builtins
import contextlib
import gc
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.faults import SCALED, Fault, scaled_value
from tests.mutants.rows import ROOT, Row, chosen_faults

SURVIVED, KILLED, NO_NUMBER = 0, 1, 3
#: Most faults of a row that are tried. A method has many lines that only prepare or hand on.
MOST = {"BOUND": 12, "QUANTITY": 12, "IDENTITY": 12, "CONSTRUCTION": 8, "METHOD": 6}


@dataclass
class Verdict:
    """What became of the faults of one row."""

    row: Row
    killed: list[str] = field(default_factory=list)
    survived: list[str] = field(default_factory=list)
    #: Objects that no test of the row calls.
    idle: list[str] = field(default_factory=list)
    #: Why nothing could be tried: the tests fail by themselves.
    broken: str = ""
    #: Processor time of the tests as they are, and with the faults.
    seconds: tuple[float, float] = (0.0, 0.0)
    #: Runs with faults that are still to come.
    waiting: int = 0

    @property
    def tried(self) -> int:
        return len(self.killed) + len(self.survived)


def try_rows(
    rows: list[Row],
    *,
    workers: int,
    most: dict[str, int] = MOST,
    say: Callable[[str], None] = print,
    keep: Callable[[Verdict], None] = lambda verdict: None,
) -> list[Verdict]:
    """Try the faults of rows and return a verdict on each, which is kept as soon as it is known."""
    if not rows:
        return []
    trial = _Trial(rows, most, workers, say, keep)
    arguments = ["-s", "-qq", "--tb=line"]
    arguments += [f"-pno:{plugin}" for plugin in ("cacheprovider", "xdist", "faulthandler")]
    arguments += ["-o", "addopts=", "--import-mode=importlib", "--strict-markers"]
    arguments += ["-m", "not verify", "--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml")]
    named = {test for row in rows for test in (*row.tests, *row.elsewhere)}
    files = sorted({test.partition("::")[0] for test in named})
    code = pytest.main([*arguments, *(str(ROOT / file) for file in files)], plugins=[trial])
    if code != pytest.ExitCode.OK:
        raise RuntimeError(f"The tests that the rows name could not be collected ({code!r}).")
    return trial.verdicts


class _Trial:
    """The plugin that takes the place of pytest's loop over tests."""

    def __init__(
        self,
        rows: list[Row],
        most: dict[str, int],
        workers: int,
        say: Callable[[str], None],
        keep: Callable[[Verdict], None],
    ):
        self.rows, self.most, self.workers, self.say, self.keep = rows, most, workers, say, keep
        self.verdicts: list[Verdict] = []
        self.failed = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: Any) -> None:
        from hypothesis import Phase, settings

        # A found failure is enough: no smaller one is looked for, none is remembered.
        settings.register_profile(
            "mutants",
            settings.get_profile("house"),
            database=None,
            phases=[Phase.explicit, Phase.generate],
        )
        settings.load_profile("mutants")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        if session.testsfailed:
            raise session.Interrupted("errors during collection")
        from numba.core.registry import cpu_target

        cpu_target.typing_context.refresh()  # the forks need not start the compiler again
        cpu_target.target_context.refresh()
        gc.freeze()  # memory that no fork sweeps is shared by all
        with tempfile.TemporaryDirectory() as folder:
            self._try(session.items, Path(folder))
        return True

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed = f"{report.nodeid}: {str(report.longrepr)[-400:]}"

    def _try(self, items: list[Any], folder: Path) -> None:
        """Run the tests of each row as they are, and then with each of its faults."""
        self.verdicts = [Verdict(row) for row in self.rows]
        queue: deque[_Job] = deque()
        for number, verdict in enumerate(self.verdicts):
            tests, file = _tests_of(verdict.row, items), folder / str(number)
            run = partial(self._baseline, verdict.row, tests, file)
            more = [
                item for item in items if item.nodeid.partition("[")[0] in verdict.row.elsewhere
            ]
            queue.append(_Job(run, 300.0, verdict, tests=tests, elsewhere=more, file=file))
        for job, status, seconds in _forked(queue, self.workers):
            verdict, fault = job.verdict, job.fault
            plain, changed = verdict.seconds
            if fault is None:
                verdict.seconds = seconds, 0.0
                jobs = self._fault_jobs(job)
                verdict.waiting = len(jobs)
                queue.extendleft(jobs)
            else:
                verdict.seconds = plain, changed + seconds
                verdict.waiting -= 1
                if status == SURVIVED:
                    verdict.survived.append(fault.name)
                elif status != NO_NUMBER:
                    verdict.killed.append(fault.name)
            if not verdict.waiting:
                self.say(_sentence(verdict))
                self.keep(verdict)

    def _fault_jobs(self, job: "_Job") -> list["_Job"]:
        """Return a run for each fault of a row whose tests have been run as they are."""
        verdict, row = job.verdict, job.verdict.row
        if not job.file.exists():
            verdict.broken = "its tests end the process or take five minutes"
            return []
        failed, seconds, lines_of = pickle.loads(job.file.read_bytes())
        verdict.broken = failed or ("" if seconds else "none of its tests is collected")
        reached: dict[str, set[int]] = {}
        for test in lines_of.values():
            for name, lines in test.items():
                reached.setdefault(name, set()).update(lines)
        verdict.idle = sorted(row.called - set(reached))
        total = sum(seconds.values())
        jobs = []
        for fault in [] if verdict.broken else chosen_faults(row, reached, self.most[row.kind]):
            if fault.lines & reached[fault.function_name]:
                # What several rows name is tried with the tests of all of them.
                more = job.elsewhere if fault.function_name in row.shared else []
                order = sorted(job.tests, key=partial(_merit, fault, lines_of, seconds))
                run = partial(self._with_fault, fault, order, more)
                jobs.append(_Job(run, 5 + 3 * total, verdict, fault=fault))
            else:
                verdict.survived.append(fault.name)
        return jobs

    def _baseline(self, row: Row, items: list[Any], file: Path) -> int:
        """Run the tests as they are: how long they take, and which lines they reach."""
        codes = {function.__code__: name for name, function in row.functions.items()}
        lines_of: dict[str, dict[str, set[int]]] = {item.nodeid: {} for item in items}
        reached: dict[str, set[int]] = {}
        nested = {code: name for outer, name in codes.items() for code in _inner_codes(outer)}

        def line(frame: Any, event: str, argument: Any) -> Any:
            reached.setdefault(nested[frame.f_code], set()).add(frame.f_lineno)
            return line

        def call(frame: Any, event: str, argument: Any) -> Any:
            if frame.f_code in nested:
                reached.setdefault(nested[frame.f_code], set()).add(frame.f_lineno)
                return line
            return None

        durations = {}
        threading.settrace(call)
        for position, item in enumerate(items):
            start, reached = time.process_time(), lines_of[item.nodeid]
            sys.settrace(call)
            self._run(item, items[position + 1 : position + 2])
            sys.settrace(None)
            durations[item.nodeid] = time.process_time() - start
            if self.failed:
                break
        file.write_bytes(pickle.dumps((self.failed, durations, lines_of)))
        return 0

    def _with_fault(self, fault: Fault, own: list[Any], elsewhere: list[Any]) -> int:
        """Plant a fault and run tests until one fails; those of other rows have their own time."""
        applied = fault.kind != "value"

        def scaled(value: Any, factor: float) -> Any:
            nonlocal applied
            changed = scaled_value(value, factor)
            if changed is not value and not (isinstance(value, int | float) and changed == value):
                applied = True
            return changed

        setattr(builtins, SCALED, scaled)
        if not fault.plant():
            return NO_NUMBER
        for items in (own, elsewhere):
            for position, item in enumerate(items):
                self._run(item, items[position + 1 : position + 2])
                if self.failed:
                    return KILLED
            signal.setitimer(signal.ITIMER_PROF, 60.0)
        return SURVIVED if applied else NO_NUMBER

    def _run(self, item: Any, following: list[Any]) -> None:
        item.repr_failure = lambda failure, style=None: repr(failure.value)  # quicker than a page
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=(following or [None])[0])


def _merit(
    fault: Fault, lines_of: dict[str, Any], seconds: dict[str, float], item: Any
) -> tuple[bool, float]:
    """Tests that reach the changed lines come first, the quick ones before the slow ones."""
    lines = lines_of[item.nodeid].get(fault.function_name, set())
    return not fault.lines & lines, seconds[item.nodeid]


def _sentence(verdict: Verdict) -> str:
    """Say how a row did, and which faults survived."""
    plain, changed = verdict.seconds
    counts = f"{len(verdict.killed)} of {verdict.tried} killed, {plain:.1f} + {changed:.1f} s"
    lines = [f"{verdict.row.name}: {verdict.broken or counts}"]
    return "\n".join([*lines, *(f"  survived: {name}" for name in verdict.survived)])


@dataclass
class _Job:
    """What one fork does, for at most so many seconds: the tests of a row, perhaps with a fault."""

    run: Callable[[], int]
    seconds: float
    verdict: Verdict
    fault: Fault | None = None
    tests: list[Any] = field(default_factory=list)
    elsewhere: list[Any] = field(default_factory=list)
    file: Path = Path()


def _forked(queue: deque[_Job], workers: int) -> Iterator[tuple[_Job, int, float]]:
    """Run jobs in forks, so many at a time, and yield what they return; the queue may grow.

    A job that dies or takes too long has a negative status.
    """
    running: dict[int, _Job] = {}
    try:
        while queue or running:
            while queue and len(running) < workers:
                job = queue.popleft()
                running[_fork(job.run, job.seconds)] = job
            pid, status, usage = os.wait3(0)
            if pid in running:
                _end(pid)  # processes that the tests left behind
                code = os.waitstatus_to_exitcode(status)
                yield running.pop(pid), code, usage.ru_utime + usage.ru_stime
    finally:
        for pid in running:
            _end(pid)


def _end(group: int) -> None:
    """End the processes of a fork that are still there."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _fork(run: Callable[[], int], seconds: float) -> int:
    """Start a job in a fork of this process, without its output, and return its number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # JAX fears its threads, which this process never started
        pid = os.fork()
    if pid:
        return pid
    status = KILLED
    try:
        os.setpgid(0, 0)
        for number in (signal.SIGALRM, signal.SIGPROF):
            signal.signal(number, signal.SIG_DFL)
        # Processor time, whatever else the machine does; a process that sleeps is woken, too.
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, 60 + 20 * seconds)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        status = run()
    finally:
        os._exit(status)


def _tests_of(row: Row, items: list[Any]) -> list[Any]:
    """Return the collected tests that a row names, and the simulations of its claims."""
    return [item for item in items if row.owns(item.nodeid, _theorem(item))]


def _theorem(item: Any) -> str | None:
    """Return the theorem that a collected simulation is about."""
    claim = getattr(item, "callspec", None) and item.callspec.params.get("claim")
    return getattr(claim, "theorem", None)


def _inner_codes(code: Any) -> Iterator[Any]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, type(code)):
            yield from _inner_codes(inner)
