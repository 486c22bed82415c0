"""Tables that no careful user would hand to the command, and what it makes of them."""

import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from tests.fuzz.outcome import outcome

#: Texts that mean something to a terminal, a spreadsheet, a browser, a shell or a reader of CSV.
TEXTS = (
    *("\x1b[2J", "=1+1", "<script>", "{{ 7 * 7 }}", "$(rm x)", "\u202eabc", '"', "'"),
    *("a\nb", "a,b", ";", "NaN", "inf", "-", "", " ", "\ufeff", "\U0001f338", "None", "1e999"),
    *("x" * 300, "0x10", "1_000", "٣", "true", "2020-02-30", "99999-01-01"),
)
SIZES = (1e308, 1e200, 1e-200, 1e-310, 1e15, 1.0)


def run(seed: int) -> str | None:
    """Make a report of a table, and predictions of another one with its model."""
    rng = np.random.default_rng([seed, 2])
    with tempfile.TemporaryDirectory() as folder:
        fault = outcome(lambda: _try(rng, Path(folder)))
    return fault and f"table {seed}: {fault}"


def _try(rng: np.random.Generator, folder: Path) -> str | None:
    frame = hostile_table(rng)
    target = str(rng.choice(frame.columns))
    if rng.random() < 0.6:  # one that can be predicted, so that the columns come into play
        target, n = "target", len(frame)
        frame[target] = rng.normal(size=n) if rng.random() < 0.5 else rng.choice(["u", "v"], n)
    data = _written(rng, frame, folder / "data")
    words = ["report", data, "--target", target, "--fast", "--out", folder / "out"]
    tasks = ["auto", "classification", "regression"]
    words += ["--task", str(rng.choice(tasks, p=[0.8, 0.1, 0.1]))]
    words += ["--coverage", "0.5"] * (rng.random() < 0.2)
    fault = _command(*words)
    model = folder / "out" / "model.corollary"
    if fault is None and model.exists():
        new = frame if rng.random() < 0.5 else hostile_table(rng)
        out = folder / f"predictions{rng.choice(['.csv', '.json', '.parquet'])}"
        fault = _command("predict", model, _written(rng, new, folder / "new"), "-o", out)
    return fault


def _command(*words: Any) -> str | None:
    """Run the command; a fault of corollary, or an exception that gets through, is one."""
    from corollary.cli import app

    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code == 1:
        return f"{words[0]}: {result.stderr.strip().splitlines()[-1]}"
    return None


def hostile_table(rng: np.random.Generator) -> pd.DataFrame:
    """Make a small table of strange columns."""
    n = int(rng.choice([0, 1, 9, 12, 40, 80], p=[0.02, 0.03, 0.05, 0.2, 0.4, 0.3]))
    d = int(rng.integers(1, 5))
    columns = [_column(rng, n) for _ in range(d + 1)]
    names = [f"c{i}" for i in range(d + 1)]
    if rng.random() < 0.2:
        names = [str(rng.choice(TEXTS)) for _ in names]
    frame = pd.DataFrame(dict(enumerate(columns))).set_axis(names, axis=1)
    if rng.random() < 0.15 and n:
        frame = frame.iloc[rng.integers(0, max(1, n // 3), n)].reset_index(drop=True)
    return frame


def _column(rng: np.random.Generator, n: int) -> Any:
    numbers = rng.normal(size=n)
    with np.errstate(all="ignore"):
        match rng.integers(14):
            case 0:
                return numbers * rng.choice(SIZES)
            case 1:
                return rng.choice([1e308, -1e308, 5e-324, 0.0, np.nan], n)
            case 2:
                return rng.choice(TEXTS, n)
            case 3:
                texts = numbers.round(2).astype(str)
                return np.where(rng.random(n) < 0.1, rng.choice(TEXTS, n), texts)
            case 4:
                return np.full(n, rng.choice([1.0, np.nan, 1e308]))
            case 5:
                return np.arange(n) * int(rng.choice([1, 10**15]))
            case 6:
                return rng.choice(["yes", "no", ""], n)
            case 7:
                return pd.date_range("1700-01-01", periods=n, freq="400D").astype(str)
            case 8:
                return [f"id{i}" for i in range(n)]
            case 9:
                return rng.integers(0, 2, n).astype(bool)
            case 10:
                return [" ".join(rng.choice(TEXTS, 4)) for _ in range(n)]
            case 11:
                return rng.integers(-3, 4, n)
            case 12:
                return np.where(rng.random(n) < 0.5, np.inf, numbers)
            case _:
                return numbers


def _written(rng: np.random.Generator, frame: pd.DataFrame, path: Path) -> Path:
    if rng.random() < 0.15 and frame.columns.is_unique:
        frame.to_parquet(path)
        return path
    text = io.StringIO()
    frame.to_csv(text, index=False, sep=str(rng.choice([",", ";", "\t"], p=[0.8, 0.1, 0.1])))
    data = text.getvalue().encode(str(rng.choice(["utf-8", "utf-16"], p=[0.9, 0.1])), "replace")
    if rng.random() < 0.1 and data:  # a file that was cut or hurt
        place = int(rng.integers(len(data)))
        data = data[:place] if rng.random() < 0.5 else data[:place] + b"\xff\x00" + data[place:]
    path.write_bytes(data)
    return path
