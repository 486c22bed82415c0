"""Run scikit-learn's own tests on our classes and say, for each package, how many pass.

``python -m tests.peers [PACKAGE ...] [-k EXPRESSION]``: packages are scikit-learn's (``svm``); all
if none is named. With ``--failures FOLDER`` the failing tests of each are written there with their
errors. ``python -m tests.peers --gallery FOLDER`` runs the scripts of scikit-learn's gallery in a
folder instead, the ``examples`` of its source distribution.

The exit code is 1 if a package has less than 95% of its tests passing, a test module that cannot be
loaded, or an exclusion that no failing test needs; or if a script fails with our classes only.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.peers import HOUSE, ROOT, files, gallery, search_path

#: Least share of tests that must pass.
SHARE = 0.95


@dataclass
class Result:
    """How the tests of one package ended."""

    package: str
    records: list[dict[str, str]] = field(repr=False)

    @property
    def outcomes(self) -> Counter[str]:
        """Tests by how they ended."""
        return Counter(record["outcome"] for record in self.records)

    @property
    def reasons(self) -> Counter[str]:
        """Excluded tests by the reason."""
        return Counter(r["why"] for r in self.records if r["outcome"] == "excluded")

    @property
    def share(self) -> float:
        """The share of tests that pass among those that were not excluded."""
        passed, failed = self.outcomes["passed"], self.outcomes["failed"]
        return passed / max(1, passed + failed)

    @property
    def holds(self) -> bool:
        """Whether enough tests pass, and nothing else is wrong."""
        wrong = self.outcomes["not loaded"] + self.outcomes["no longer excluded"]
        return self.share >= SHARE and not wrong

    def row(self) -> str:
        """Return a row of the table."""
        reasons = ("private", "another class", "skipped by scikit-learn", "other words", "listed")
        counts = [f"{self.outcomes['passed']:,}", f"{self.outcomes['failed']:,}"]
        cells = [f"{self.reasons[reason]:,}" for reason in reasons]
        return (
            f"| `{self.package}` | {' | '.join(counts)} | {self.share:.1%} | {' | '.join(cells)} |"
        )


HEAD = (
    "| package | passed | failed | share | private | another class | skipped | other words "
    "| listed |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
)


def exclusions(package: str) -> list[str]:
    """Return the tests of a package that are listed as not held."""
    text = Path(__file__).with_name("exclusions.toml").read_text("utf-8")
    return [pattern for tests in tomllib.loads(text)[package].values() for pattern in tests]


def run(package: str, paths: list[Path], options: list[str], listed: list[str]) -> Result:
    """Run the test files of one package in a process of their own."""
    with tempfile.TemporaryDirectory() as folder:
        out, settings = Path(folder, "out.jsonl"), Path(folder, "pytest.ini")
        settings.write_text("[pytest]\n")
        quiet = ["-q", "--tb=no", "--assert=plain", "--continue-on-collection-errors"]
        where = ["-c", str(settings), "--rootdir", str(ROOT), "-p", "no:cacheprovider"]
        swapped = [*quiet, *where, "-p", "tests.peers.plugin", *options, *map(str, paths)]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *swapped],
            cwd=HOUSE,
            env={
                **os.environ,
                "PEERS_OUT": str(out),
                "PEERS_LISTED": json.dumps(listed),
                "PYTHONPATH": search_path(),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        if not out.exists():
            raise SystemExit(f"{package} did not run:\n{done.stdout}\n{done.stderr}")
        lines = out.read_text().splitlines()
    return Result(package, [json.loads(line) for line in lines[1:]])


def report(result: Result) -> str:
    """Return one line for each test that is not as it should be."""
    odd = ("failed", "not loaded", "no longer excluded")
    lines = [
        f"{record['test']}\n    {record['outcome']}: {record['why']}"
        for record in result.records
        if record["outcome"] in odd
    ]
    return "\n".join([f"{result.share:.1%} pass: {dict(result.outcomes)}", *lines, ""])


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.peers", description=__doc__)
    parser.add_argument("packages", nargs="*", help=", ".join(files()))
    parser.add_argument("-k", help="run tests whose names match only, as in pytest")
    parser.add_argument("--failures", type=Path, help="a folder for lists of failing tests")
    parser.add_argument("--gallery", type=Path, help="a folder with scikit-learn's examples")
    asked = parser.parse_args()
    if asked.gallery:
        return 0 if gallery.run(asked.gallery, asked.k) else 1
    if asked.failures:
        asked.failures.mkdir(parents=True, exist_ok=True)
    options = ["-k", asked.k] if asked.k else []
    print(HEAD, flush=True)
    results = []
    for package in asked.packages or files():
        results.append(run(package, files()[package], options, exclusions(package)))
        print(results[-1].row(), flush=True)
        if asked.failures:
            (asked.failures / f"own-tests-{package}.txt").write_text(report(results[-1]))
        elif not results[-1].holds:
            print(report(results[-1]), file=sys.stderr)
    return 0 if all(result.holds for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
