"""The command line: every command is a call to a public function.

Data go to standard output, progress and messages to standard error. Nothing heavy is imported
before a command needs it, so that help comes at once.
"""

import gc
import io
import os
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Annotated, Any

import typer

from corollary.core.display import clean

EPILOG = (
    "Exit codes: 0 done; 1 a fault of corollary; 2 wrong usage; 3 the data file cannot be used; "
    "4 the target cannot be predicted; 5 the output cannot be written; 6 the model file was "
    "refused; 130 interrupted."
)
#: Bundled data, as the report knows them; repeated here so that help need not import it.
DEMOS = ("breast_cancer", "iris", "wine", "digits", "diabetes")

_Debug = Annotated[bool, typer.Option("--debug", help="If it fails, show where, as a traceback.")]

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EPILOG,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from corollary import __version__

        typer.echo(f"corollary {__version__}")
        raise typer.Exit


@app.callback()
def _corollary(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Machine learning with its guarantees computed for your own data."""


@app.command("report", epilog=EPILOG)
def _report(
    data: Annotated[
        str | None,
        typer.Argument(metavar="DATA", help="CSV or Parquet file; without it, bundled data."),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help="Column to predict.")
    ] = None,
    task: Annotated[
        str, typer.Option(help="auto, classification or regression.", metavar="TASK")
    ] = "auto",
    confidence: Annotated[
        float, typer.Option(help="Confidence of certificates and of intervals on scores.")
    ] = 0.95,
    coverage: Annotated[
        float, typer.Option(help="Share of rows whose set or interval shall hold the truth.")
    ] = 0.9,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="DIR", help="Directory for the files.")
    ] = "report",
    seed: Annotated[int, typer.Option(help="Same seed, same report.")] = 0,
    fast: Annotated[bool, typer.Option("--fast", help="Fewer models, fewer folds.")] = False,
    group: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Whose a row is; new rows bring new ones. Several, if they are nested.",
        ),
    ] = None,
    when: Annotated[
        str,
        typer.Option("--time", metavar="COLUMN", help="When a row was; new rows are later."),
    ] = "",
    horizon: Annotated[
        str, typer.Option(metavar="TIME", help="How far ahead: 4w, 12h, or a number.")
    ] = "",
    order: Annotated[bool, typer.Option("--order", help="Rows are in order of time.")] = False,
    independent: Annotated[
        bool,
        typer.Option("--independent", help="You vouch that rows do not depend on each other."),
    ] = False,
    demo: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"Bundled data: {', '.join(DEMOS)}.")
    ] = None,
    open_: Annotated[
        bool, typer.Option("--open", help="Open the report in the browser when done.")
    ] = False,
    debug: _Debug = False,
) -> None:
    """Train, compare, calibrate, certify and explain models of a table.

    Writes report.html (one self-contained page), report.json and model.corollary.
    """
    screen = _Screen()
    name = data or f"bundled data ({demo or 'breast_cancer'})"
    screen.say(f"corollary report: {name}")
    if data is not None and demo is not None:
        raise typer.BadParameter("give either DATA or --demo, not both.", param_hint="--demo")
    if not fast and _will_compile():
        screen.say("compiling, once")
    with _failures(screen, debug), screen.progress():
        from corollary.reporting import read_demo, report

        made = report(
            read_demo(demo) if demo is not None else data,
            target,
            task=task,
            confidence=confidence,
            coverage=coverage,
            out=out,
            seed=seed,
            fast=fast,
            group=group or (),
            time=when,
            horizon=horizon,
            order=order,
            independent=independent,
        )
        _summarise(made)
    if open_:
        typer.launch(str(made.paths["report.html"].resolve()))


def _will_compile() -> bool:
    from corollary._compiling import compile_aside

    return compile_aside()


@app.command("predict", epilog=EPILOG)
def _predict(
    model: Annotated[str, typer.Argument(help="A model.corollary file.")],
    data: Annotated[str, typer.Argument(help="CSV or Parquet file with new rows.")],
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="CSV or, by its extension, JSON or Parquet; else stdout.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Carry a column of the data to the predictions."),
    ] = None,
    debug: _Debug = False,
) -> None:
    """Predict new rows, with sets or intervals and flags on what is unusual."""
    screen = _Screen()
    with _failures(screen, debug):
        from corollary.reporting import predict_file

        table, notes = predict_file(model, data, out, keep=keep or ())
        if out is None:
            _print_csv(table)
    for note in notes:
        screen.say(note)
    if out is not None:
        screen.say(f"{len(table):,} prediction{'s' * (len(table) != 1)} in {out}")


def _print_csv(table: Any) -> None:
    """Print in UTF-8 whatever the terminal speaks: data are for other programs."""
    from corollary.reporting import ReportError, as_csv

    text = as_csv(table)
    try:
        sys.stdout.buffer.write((clean(text) if sys.stdout.isatty() else text).encode())
        sys.stdout.flush()
    except OSError as error:
        # What is left in the buffer must not fail once more when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # the reader, such as head, has seen enough
            why = error.strerror or error
            raise ReportError("output", f"The predictions could not be printed: {why}.") from None


class _Screen:
    """Says on standard error what is going on."""

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.depth, self.comparing = 0, False

    def say(self, text: str) -> None:
        """Say a line."""
        print(text, file=sys.stderr, flush=True)

    @contextmanager
    def progress(self) -> Iterator[None]:
        """Show every stage as it begins, and its numbers as it ends."""
        from corollary.core.progress import listen

        with listen(self.listener):
            yield

    @contextmanager
    def listener(self, description: str, total: float | None) -> Iterator[Any]:
        """Tell of one piece of work; see :func:`corollary.core.progress.listen`."""
        numbers: dict[str, float] = {}

        def step(advance: float = 1, **news: float) -> None:
            numbers.update(news)

        if self.depth == 0:
            from corollary.reporting import Stage

            self.comparing = description is Stage.COMPARING
            self.say_when(description)
        self.depth += 1
        try:
            yield step
        finally:
            self.depth -= 1
        # A candidate tells its result; what lies deeper, or in other stages, stays silent.
        if self.depth == 1 and self.comparing and numbers:
            result = ", ".join(f"{name} {value:.3g}" for name, value in numbers.items())
            self.say_when(f"    {description}: {result}")

    def say_when(self, text: str) -> None:
        """Say something with the time since the start."""
        self.say(f"{time.perf_counter() - self.start:6.1f} s  {text}")


@contextmanager
def _failures(screen: _Screen, debug: bool) -> Iterator[None]:
    """End every failure with a sentence and one of the exit codes of `EPILOG`."""
    try:
        with warnings.catch_warnings():
            if not debug:
                warnings.showwarning = lambda message, *where: screen.say(f"Warning: {message}")
            yield
    except KeyboardInterrupt:
        screen.say("Interrupted; nothing was written.")
        raise typer.Exit(130) from None
    except Exception as error:
        from corollary.reporting import ReportError

        if debug:
            screen.say(traceback.format_exc())
        if isinstance(error, ReportError):
            screen.say(f"Error: {error.message}")
            raise typer.Exit(error.exit_code) from None
        screen.say(f"Error: {_unforeseen(error)}")
        raise typer.Exit(1) from None


def _unforeseen(error: Exception) -> str:
    """Say what nobody has foreseen."""
    if isinstance(error, MemoryError):
        return "There is not enough memory. Take fewer rows or columns, or a larger machine."
    what = " ".join(f"{type(error).__name__}: {error}".split())
    what = what if len(what) <= 300 else f"{what[:300]} ..."
    return (
        f"corollary failed, which it should not. {what.rstrip('.')}. Please report it, with the "
        "traceback that --debug shows."
    )


def _summarise(made: Any) -> None:
    """Print verdict, the five answers and the files, as a table that fits the terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    answers = made.content["verdict"]
    wide = sys.stdout.isatty()
    console = Console(highlight=False, width=None if wide else 100, soft_wrap=False)
    console.print()
    console.print(Text(answers["headline"], style="bold"), Text(clean(answers["sentence"])))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")  # never cut short, wherever wide characters fall
    for card in answers["cards"]:
        table.add_row(*(Text(clean(card[part])) for part in ("question", "number", "sentence")))
    console.print(table)
    console.print()
    for path in made.paths.values():
        console.print(Text(clean(f"{_size(path)}  {path}")))
    if "unsaved" in made.content:
        console.print(Text(made.content["unsaved"]))


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 1024:6.0f} KB"


class _Messages:
    """Standard error, where names from data and files shall not command the terminal."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> Any:
        """Write text, whoever it comes from."""
        return self.stream.write(clean(text))


def main() -> None:
    """Run the command line."""
    # Imports make many objects and no garbage; by default Python would look for some 100 times.
    gc.set_threshold(100_000)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # terminals that lack a letter show a "?"
    messages: Any = _Messages(sys.stderr)
    with redirect_stderr(messages):
        app(prog_name="corollary")
