"""Make a report: measure, render, and write its three files whole or not at all."""

import hashlib
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from corollary.core.progress import track
from corollary.report.errors import ReportError
from corollary.report.evidence import Evidence
from corollary.report.model import ReportModel
from corollary.report.pipeline import check_settings, measure
from corollary.report.read import Table, from_memory, list_columns, read_demo, read_table

#: The files of a report, in the order in which they appear.
FILES = ("model.corollary", "report.json", "report.html")
_WORKPLACE = ".corollary-report-"


@dataclass(frozen=True, eq=False)
class Report:
    """A finished report.

    Parameters
    ----------
    evidence : Evidence
        What was measured.
    model : ReportModel
        The model it describes.
    paths : dict of str to Path
        Its files by name; empty if nothing was written.

    Examples
    --------
    >>> from corollary.report import read_demo, report
    >>> made = report(read_demo("iris"), out=None, fast=True)
    >>> made.model.label, made.paths
    ('logistic regression', {})
    """

    evidence: Evidence
    model: ReportModel
    paths: dict[str, Path]


def report(
    data: Any = None,
    target: str | None = None,
    *,
    task: str = "auto",
    confidence: float = 0.95,
    coverage: float = 0.9,
    out: str | os.PathLike[str] | None = "report",
    seed: int = 0,
    fast: bool = False,
    date: str | None = None,
) -> Report:
    """Train, compare, calibrate, certify and explain models of a table, and write the report.

    Parameters
    ----------
    data : str, path-like, data frame, Table or None, default=None
        CSV or Parquet file, or a table in memory; None takes the breast cancer data that ship
        with scikit-learn.
    target : str or None, default=None
        Target column; may be left out for data that come with one.
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of prediction.
    confidence : float, default=0.95
        Confidence of certificates and of intervals on scores.
    coverage : float, default=0.9
        Wanted coverage of prediction sets and intervals.
    out : str, path-like or None, default="report"
        Directory for ``report.html``, ``report.json`` and ``model.corollary``; made if absent,
        files of an earlier report are replaced. None writes nothing.
    seed : int, default=0
        The same seed gives the same report, apart from times and date.
    fast : bool, default=False
        Whether to compare fewer models by fewer folds.
    date : str or None, default=None
        Date for the title; None means today, and an empty string none.

    Returns
    -------
    report : Report
        Evidence, model, and where the files are.

    Raises
    ------
    ReportError
        When data, target or directory cannot be used; its ``kind`` says which.

    Examples
    --------
    >>> from corollary.report import report
    >>> made = report(out=None, fast=True)  # the bundled breast cancer data
    >>> made.evidence.verdict
    'shown'
    """
    check_settings(task, confidence, coverage, seed)
    with _output(out):
        with track("reading"):
            table = _table_of(data)
        if target is None:
            if not table.target:
                raise ReportError(
                    "usage",
                    f"Name the column of {table.name} to predict (--target). {list_columns(table)}",
                )
            target = table.target
        settings: dict[str, Any] = {
            "task": task,
            "confidence": confidence,
            "coverage": coverage,
            "seed": seed,
            "fast": fast,
        }
        command = reproduce_command(table, data, target, **settings)
        evidence, model = measure(table, target, command=command, **settings)
        if date is None:
            import datetime

            date = datetime.datetime.now(datetime.UTC).date().isoformat()
        evidence = replace(evidence, date=date)
        if out is None:
            return Report(evidence, model, {})
        with track("writing"):
            evidence, paths = write_report(evidence, model, out)
        return Report(evidence, model, paths)


@contextmanager
def _output(out: str | os.PathLike[str] | None) -> Iterator[None]:
    """Prove that the directory can be written to; leave no trace of it if nothing was."""
    if out is None:
        yield
        return
    path = Path(os.path.abspath(out))
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        check_writable(out)
        yield
    except BaseException:  # Ctrl-C too
        for folder in made:
            try:
                folder.rmdir()
            except OSError:  # not empty, or never made
                break
        raise


def _table_of(data: Any) -> Table:
    if data is None:
        return read_demo("breast_cancer")
    if isinstance(data, Table):
        return data
    if isinstance(data, str | os.PathLike):
        return read_table(data)
    return from_memory(data)


def reproduce_command(
    table: Table,
    data: Any,
    target: str,
    *,
    task: str,
    confidence: float,
    coverage: float,
    seed: int,
    fast: bool,
) -> str:
    """Write down the command that makes this report again."""
    words = ["corollary", "report"]
    if isinstance(data, str | os.PathLike):
        words += [os.fspath(data), "--target", target]
    elif table.target:
        demo = table.name.removesuffix(" (bundled)").replace(" ", "_")
        words += ["--demo", demo] if demo != "breast_cancer" else []
        words += ["--target", target] if target != table.target else []
    else:
        words += [table.name, "--target", target]
    defaults = {"task": "auto", "confidence": 0.95, "coverage": 0.9}
    given = {"task": task, "confidence": confidence, "coverage": coverage}
    for name, value in given.items():
        words += [f"--{name}", str(value)] if value != defaults[name] else []
    words += ["--seed", str(seed)] + ["--fast"] * fast
    return shlex.join(words)


def check_writable(out: str | os.PathLike[str]) -> Path:
    """Make the output directory and prove that files can be written there."""
    path = Path(out)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path, prefix=_WORKPLACE):
            pass
    except FileExistsError:
        raise ReportError("output", f"{path} is a file; --out must be a directory.") from None
    except OSError as error:
        raise ReportError(
            "output",
            f"Nothing can be written to {path}: {error.strerror or error}. Choose another --out.",
        ) from None
    return path


def write_report(
    evidence: Evidence, model: ReportModel, out: str | os.PathLike[str]
) -> tuple[Evidence, dict[str, Path]]:
    """Write the three files of a report.

    They are written to a hidden directory inside ``out``, flushed to the disk, and then take
    their names one after the other. A run that is killed leaves earlier files as they were, or
    whole new ones.
    """
    path = check_writable(out)
    try:
        with _alone(path):
            for left_over in path.glob(f"{_WORKPLACE}*"):  # of runs that were killed
                shutil.rmtree(left_over, ignore_errors=True)
            evidence = _write_files(evidence, model, path)
    except OSError as error:
        raise ReportError(
            "output", f"The report could not be written to {path}: {error.strerror or error}."
        ) from None
    return evidence, {name: path / name for name in FILES}


def _write_files(evidence: Evidence, model: ReportModel, path: Path) -> Evidence:
    from corollary.core.files import save
    from corollary.report.render import render_data, render_page, to_dict

    workplace = Path(tempfile.mkdtemp(dir=path, prefix=_WORKPLACE))
    try:
        save(model, workplace / "model.corollary")
        digest = hashlib.sha256((workplace / "model.corollary").read_bytes()).hexdigest()
        evidence = replace(evidence, hashes={**evidence.hashes, "model": digest})
        content = to_dict(evidence)
        _write(workplace / "report.json", render_data(content))
        _write(workplace / "report.html", render_page(content))
        for name in FILES:
            os.replace(workplace / name, path / name)
    finally:
        shutil.rmtree(workplace, ignore_errors=True)
    return evidence


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Wait until no other run writes to the directory, so that its files belong together."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # disks that know no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _write(path: Path, text: str) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
