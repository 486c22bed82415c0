"""The three files of a report, written whole or not at all."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from corollary.reporting._errors import ReportError
from corollary.reporting._model import ReportModel
from corollary.reporting._records import Evidence

#: The files of a report, in the order in which they appear.
FILES = ("model.corollary", "report.json", "report.html")
_WORKPLACE = ".corollary-report-"


@contextmanager
def writable(path: Path) -> Iterator[None]:
    """Prove that the directory can be written to; leave no trace of it if nothing was."""
    absolute = Path(os.path.abspath(path))
    made = [folder for folder in (absolute, *absolute.parents) if not os.path.exists(folder)]
    try:
        _check_writable(path)
        yield
    except BaseException:  # Ctrl-C too
        for folder in made:
            try:
                folder.rmdir()
            except OSError:  # not empty, or never made
                break
        raise


def _check_writable(path: Path) -> None:
    """Make the output directory and prove that files can be written there."""
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


def write_report(
    evidence: Evidence, model: ReportModel, path: Path
) -> tuple[Evidence, dict[str, Any]]:
    """Write the three files of a report, and return what they say.

    They are written to a hidden directory inside ``out``, flushed to the disk, and then take
    their names one after the other. A run that is killed leaves earlier files as they were, or
    whole new ones. A model that files cannot hold has none, and the report says so.
    """
    try:
        with _alone(path):
            for left_over in path.glob(f"{_WORKPLACE}*"):  # of runs that were killed
                shutil.rmtree(left_over, ignore_errors=True)
            return _write_files(evidence, model, path)
    except OSError as error:
        raise ReportError(
            "output", f"The report could not be written to {path}: {error.strerror or error}."
        ) from None


def _write_files(
    evidence: Evidence, model: ReportModel, path: Path
) -> tuple[Evidence, dict[str, Any]]:
    from corollary.core.files import save
    from corollary.reporting.page._render import render_data, render_page, to_dict

    workplace = Path(tempfile.mkdtemp(dir=path, prefix=_WORKPLACE))
    try:
        try:
            save(model, workplace / "model.corollary")
        except TypeError as error:  # of a registered candidate, of whom files know nothing
            evidence = replace(evidence, unsaved=str(error))
        else:
            digest = hashlib.sha256((workplace / "model.corollary").read_bytes()).hexdigest()
            evidence = replace(evidence, hashes={**evidence.hashes, "model": digest})
        content = to_dict(evidence)
        _write(workplace / "report.json", render_data(content))
        _write(workplace / "report.html", render_page(content))
        for name in FILES:
            if (workplace / name).exists():
                os.replace(workplace / name, path / name)
            else:  # that of an earlier report would not belong to this one
                (path / name).unlink(missing_ok=True)
    finally:
        shutil.rmtree(workplace, ignore_errors=True)
    return evidence, content


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
