"""Make a report: read, measure, render, write."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from corollary.core.progress import track
from corollary.reporting._clock import Stage
from corollary.reporting._errors import ReportError
from corollary.reporting._measure import measure_table
from corollary.reporting._model import ReportModel
from corollary.reporting._records import Evidence
from corollary.reporting._settings import Settings
from corollary.reporting._write import FILES, writable, write_report
from corollary.reporting.page._render import render_page, to_dict
from corollary.reporting.table._read import Table, from_memory, list_columns, read_demo, read_table


@dataclass(frozen=True, eq=False)
class Report:
    """A finished report: it prints as a summary and shows as a page in a notebook.

    Parameters
    ----------
    evidence : Evidence
        What was measured.
    model : ReportModel
        The model it describes.
    content : dict
        What ``report.json`` says.
    paths : dict of str to Path
        Its files by name; empty if nothing was written.

    Examples
    --------
    >>> import corollary
    >>> from corollary.reporting import read_demo
    >>> made = corollary.report(read_demo("iris"), out=None, fast=True)
    >>> made.model.label, made.paths
    ('logistic regression', {})
    >>> print(made)
    Better than guessing, shown. On 38 rows that no choice ever saw, ...
    """

    evidence: Evidence
    model: ReportModel
    content: dict[str, Any]
    paths: dict[str, Path]

    @property
    def certificates(self) -> tuple[Any, ...]:
        """What the test rows prove about the model."""
        return self.evidence.certificates

    def __str__(self) -> str:
        verdict = self.content["verdict"]
        lines = [f"{verdict['headline']} {verdict['sentence']}", ""]
        width = max(len(card["question"]) for card in verdict["cards"])
        lines += [f"{card['question']:{width}}  {card['sentence']}" for card in verdict["cards"]]
        lines += ["", *map(str, self.paths.values())] if self.paths else []
        lines += [self.content["unsaved"]] if "unsaved" in self.content else []
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Show the page in a frame of its own, which keeps its style apart from the notebook's."""
        page = escape(render_page(self.content))
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" '
            'style="width: 100%; height: 800px; border: 0"></iframe>'
        )


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
    group: str | Sequence[str] = (),
    time: str = "",
    horizon: str = "",
    order: bool = False,
    independent: bool = False,
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
    group : str or sequence of str, default=()
        Column that says whose a row is, if new rows bring new owners; several if owners are nested.
        The report then speaks of rows of new owners.
    time : str, default=""
        Column that says when a row was, if new rows are later ones. The report then speaks of the
        latest rows, which no choice has seen.
    horizon : str, default=""
        How far ahead predictions reach, such as ``"4w"`` for dates or ``"28"`` in the unit of the
        column; empty for the latest quarter of the rows.
    order : bool, default=False
        Whether the rows are in order of time.
    independent : bool, default=False
        Whether you vouch that rows do not depend on each other; nothing is looked for then.
        Without any of these, the report looks for copies, owners and order of time itself.
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
    >>> import corollary
    >>> made = corollary.report(out=None, fast=True)  # the bundled breast cancer data
    >>> made.evidence.verdict
    'shown'
    """
    settings = Settings.of(
        group,
        task=task,
        confidence=confidence,
        coverage=coverage,
        seed=seed,
        fast=fast,
        time=time,
        horizon=horizon,
        order=order,
        independent=independent,
    )
    if out is None:
        evidence, model = _measured(data, target, date, settings)
        return Report(evidence, model, to_dict(evidence), {})
    with writable(Path(out)):
        evidence, model = _measured(data, target, date, settings)
        with track(Stage.WRITING):
            evidence, content = write_report(evidence, model, Path(out))
    paths = {name: Path(out) / name for name in FILES}
    if evidence.unsaved:
        del paths["model.corollary"]
    return Report(evidence, model, content, paths)


def _measured(
    data: Any, target: str | None, date: str | None, settings: Settings
) -> tuple[Evidence, ReportModel]:
    with track(Stage.READING):
        table = _table_of(data)
    if target is None:
        if not table.target:
            raise ReportError(
                "usage",
                f"Name the column of {table.name} to predict (--target, in Python target=). "
                f"{list_columns(table)}",
            )
        target = table.target
    command = reproduce_command(table, data, target, settings)
    evidence, model = measure_table(table, target, settings, command)
    if date is None:
        import datetime

        date = datetime.datetime.now(datetime.UTC).date().isoformat()
    return replace(evidence, date=date), model


def _table_of(data: Any) -> Table:
    if data is None:
        return read_demo("breast_cancer")
    if isinstance(data, Table):
        return data
    if isinstance(data, str | os.PathLike):
        return read_table(data)
    return from_memory(data)


def reproduce_command(table: Table, data: Any, target: str, settings: Settings) -> str:
    """Write down the command that makes this report again."""
    words = ["corollary", "report"]
    if isinstance(data, str | os.PathLike):
        words += [os.fspath(data), "--target", target]
    elif table.demo:
        words += ["--demo", table.demo] if table.demo != "breast_cancer" else []
        words += ["--target", target] if target != table.target else []
    else:
        words += [table.name, "--target", target]
    usual = Settings()
    for name in ("task", "confidence", "coverage"):
        value = getattr(settings, name)
        words += [f"--{name}", str(value)] if value != getattr(usual, name) else []
    for name in settings.group:
        words += ["--group", name]
    for name in ("time", "horizon"):
        words += [f"--{name}", getattr(settings, name)] if getattr(settings, name) else []
    words += ["--order"] * settings.order + ["--independent"] * settings.independent
    words += ["--seed", str(settings.seed)] + ["--fast"] * settings.fast
    return shlex.join(words)
