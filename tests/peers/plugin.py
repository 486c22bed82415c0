"""The pytest plugin under which scikit-learn's tests run: swaps imports, selects, records.

An error of the right type with other words than scikit-learn's is not counted: the words are ours.
"""

import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.peers import swap
from tests.peers.rules import reason_to_exclude

#: Seconds that a test may take.
LONGEST = 120


class OtherWordsError(AssertionError):
    """An error or warning is of the right type and says other words."""


class _Checked:
    """``pytest.raises`` or ``pytest.warns`` that tells a wrong type from other words."""

    def __init__(self, context: Any, match: Any) -> None:
        self.context, self.match = context, match

    def __enter__(self) -> Any:
        self.seen = self.context.__enter__()
        return self.seen

    def __exit__(self, *error: Any) -> Any:
        answer = self.context.__exit__(*error)
        if error[0] is not None and not answer:
            return answer
        words = [str(self.seen.value)] if hasattr(self.seen, "value") else self._warnings()
        if not any(re.search(self.match, text) for text in words):
            raise OtherWordsError(f"{words} instead of {self.match!r}")
        return answer

    def _warnings(self) -> list[str]:
        return [str(w.message) for w in self.seen]


def _without_words(check: Any) -> Any:
    def changed(expected: Any, *args: Any, match: Any = None, **options: Any) -> Any:
        context = check(expected, *args, **options)
        return context if match is None or args else _Checked(context, match)

    return changed


def pytest_configure(config: Any) -> None:
    """Swap the import, and tell a wrong type of error from other words."""
    swap()
    pytest.raises, pytest.warns = map(_without_words, (pytest.raises, pytest.warns))
    listed = json.loads(os.environ.get("PEERS_LISTED", "[]"))
    config.pluginmanager.register(Recorder(Path(os.environ["PEERS_OUT"]), listed))


def _compiled(pattern: str) -> re.Pattern[str]:
    """Return a line of the list, in which a star stands for any text, as an expression."""
    return re.compile("::" + ".*".join(map(re.escape, pattern.split("*"))) + "$")


class Recorder:
    """Selects tests by the rules and writes how each ended, a line of JSON each."""

    def __init__(self, path: Path, patterns: list[str]) -> None:
        self.path = path
        self.listed = {pattern: _compiled(pattern) for pattern in patterns}
        self.needed: set[str] = set()
        self._record("", "started")

    def _record(self, test: str, outcome: str, why: str = "") -> None:
        with self.path.open("a") as file:
            print(json.dumps({"test": test, "outcome": outcome, "why": why}), file=file)

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        """Leave out what the rules leave out."""
        kept, left_out = [], []
        for item in items:
            reason = reason_to_exclude(item)
            (left_out if reason else kept).append(item)
            if reason:
                self._record(item.nodeid, "excluded", reason)
        items[:] = kept
        config.hook.pytest_deselected(items=left_out)

    def pytest_collectreport(self, report: Any) -> None:
        """Record a module that cannot be loaded with our classes."""
        if report.failed:
            lines = [line for line in report.longreprtext.splitlines() if line.strip()]
            self._record(report.nodeid, "not loaded", lines[-1][:300])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        """End a test that takes too long."""

        def end(*_: Any) -> None:
            raise TimeoutError(f"over {LONGEST} s")

        signal.signal(signal.SIGALRM, end)
        signal.alarm(LONGEST)
        try:
            return (yield)
        finally:
            signal.alarm(0)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        """Record how a test ended."""
        report = yield
        if report.when == "call" or (report.when == "setup" and not report.passed):
            self._record(item.nodeid, *self._judge(item.nodeid, report, call))
        return report

    def _judge(self, test: str, report: Any, call: Any) -> tuple[str, str]:
        """Return how a test ended, and why it is not counted or failed."""
        if report.skipped:
            return "excluded", "skipped by scikit-learn"
        if report.passed:
            return "passed", ""
        if call.excinfo.errisinstance(OtherWordsError):
            return "excluded", "other words"
        matching = {p for p, expression in self.listed.items() if expression.search(test)}
        self.needed |= matching
        error = call.excinfo.exconly().replace("\n", " ")[:300]
        return ("excluded", "listed") if matching else ("failed", error)

    def pytest_sessionfinish(self, session: Any) -> None:
        """Record lines of the list that no failing test needs, if all tests ran."""
        if not session.config.option.keyword:
            for pattern in self.listed.keys() - self.needed:
                self._record(pattern, "no longer excluded")
