"""Reading CSV files strictly: a broken line is named, not guessed around.

Files may use commas, semicolons, tabs or bars, UTF-8, UTF-16 or a Western European encoding,
decimal points or commas, and may be compressed by gzip. Every record is counted before anything
is parsed, so that a line with too few or too many fields stops the run with its number.
"""

import csv
import gzip
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from corollary.reporting._errors import ReportError

DELIMITERS = (",", ";", "\t", "|")
#: Share of a column's texts that must look alike to be read as numbers.
MOSTLY = 0.9
#: What counts as a missing value in a CSV file. "None" is not among them: it is a fair category.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "NAN", "null", "NULL", "?", "<NA>")
#: Name of the first column when the header leaves it out, as R writes its row names.
ROW_NAME = "row name"
#: Characters of one field, at most: whole documents fit, and a quote that is never closed is
#: noticed before it fills the memory.
LONGEST_FIELD = 2**24
#: Columns beyond which a file is not a table of rows by columns any more.
MOST_COLUMNS = 50_000

#: What Python's reader says, by its first words, and what it means.
_REASONS = {
    "unexpected end of": "a quoted field is never closed",
    "field larger than": f"a field has more than {LONGEST_FIELD:,} characters. Is a quote never "
    "closed, or the file not a table",
}
_DECIMAL_COMMA = re.compile(r"^[€$£]?\s*[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+\s*[€$£%]?$")
#: Numbers with points between thousands, and those among them that cannot be read otherwise.
_POINTS = re.compile(r"^[€$£]?\s*[+-]?(\d{1,3}(\.\d{3})*|\d+)(,\d+)?\s*[€$£%]?$")
_SURELY_POINTS = re.compile(r"\d\.\d{3}(,|\.\d{3})")


def is_number(text: str) -> bool:
    """Tell whether a string reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def first_line(error: BaseException) -> str:
    """Give the first line of an error's message."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def _open_text(path: Path, encoding: str, errors: str = "strict") -> IO[str]:
    if _is_gzip(path):
        return gzip.open(path, "rt", encoding=encoding, errors=errors, newline="")
    return open(path, encoding=encoding, errors=errors, newline="")


def _is_gzip(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _find_encoding(path: Path) -> tuple[str, list[str]]:
    opener = gzip.open if _is_gzip(path) else open
    with opener(path, "rb") as file:
        head = file.read(4096)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16", []
    if b"\x00" in head:
        raise ReportError("data", f"{path} is not a text file. Give a CSV or Parquet file.")
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            with _open_text(path, encoding) as text:
                while text.read(1 << 20):
                    pass
        except UnicodeDecodeError:
            continue
        except (EOFError, OSError) as error:
            raise ReportError("data", f"{path} cannot be read: {first_line(error)}.") from None
        if encoding == "cp1252":
            return encoding, [
                f"{path.name} is not UTF-8; it was read as Windows-1252 (Western European)."
            ]
        return encoding, []
    return "latin-1", [f"{path.name} is not UTF-8; it was read as Latin-1 (Western European)."]


def _records(text: Iterable[str], delimiter: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (number of the line it starts on, fields) of each record that is not blank."""
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    start = 1
    try:
        for fields in reader:
            if fields and (len(fields) > 1 or fields[0].strip()):
                yield start, fields
            start = reader.line_num + 1
    except csv.Error as error:
        reason = _REASONS.get(" ".join(str(error).split()[:3]), str(error))
        raise ReportError("data", f"Line {start} of {name} is broken: {reason}.") from None


@contextmanager
def _long_fields() -> Iterator[None]:
    """Let Python's reader take long fields; its limit is that of the process, so it is restored."""
    usual = csv.field_size_limit(LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(usual)


def _sniff(path: Path, encoding: str) -> str:
    """Choose the delimiter that splits the first records most, and most evenly."""
    best, best_score = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        counts = []
        with _open_text(path, encoding) as text:
            try:
                for _, fields in _records(text, delimiter, path.name):
                    counts.append(len(fields))
                    if len(counts) == 100:
                        break
            except ReportError:
                pass  # counted as far as it could be read
        if not counts or max(counts) == 1:
            continue
        width = max(set(counts), key=counts.count)
        score = (counts.count(width) / len(counts) * (width > 1), width)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _check_records(path: Path, encoding: str, delimiter: str) -> tuple[list[str], str]:
    """Count the fields of every record; return the header and the decimal mark."""
    with _open_text(path, encoding) as text:
        records = _records(text, delimiter, path.name)
        _, header = next(records, (1, []))
        if not header:
            raise ReportError("data", f"{path} is empty. It must hold a header line and rows.")
        if len(header) > MOST_COLUMNS:
            raise ReportError(
                "data",
                f"{path.name} has {len(header):,} columns; at most {MOST_COLUMNS:,} are possible. "
                "Is it one long line, or should rows and columns be exchanged?",
            )
        expected, first = len(header), 0
        sample: list[str] = []
        for line, fields in records:
            if not first and len(fields) == expected + 1:
                expected += 1  # row names or a trailing delimiter throughout, as R writes
            if len(fields) != expected:
                if len(fields) == len(header):  # the first row was broken, not all the others
                    line, expected, fields = first, len(header), [*header, ""]
                raise ReportError(
                    "data",
                    f"Line {line} of {path.name} is broken: it has {_fields(len(fields))} where "
                    f"{expected} are expected. Mend or remove that line.",
                )
            first = first or line
            if len(sample) < 2000:
                sample += fields
    commas = sum(bool(_DECIMAL_COMMA.match(value)) for value in sample)
    points = sum("." in value and is_number(value) for value in sample)
    if expected > len(header):
        header = [ROW_NAME, *header]
    return header, "," if delimiter != "," and commas > points else "."


def _drop_thousands_points(frame: Any, decimal: str) -> list[int]:
    """Write 1.234,50 as 1234.50 in columns of such texts; return which columns have points.

    A single point before three digits counts as a mark of thousands only in files that write a
    decimal comma, or beside numbers that have both or several points.
    """
    from pandas.api import types

    found = []
    for j in range(frame.shape[1]):
        values = frame.iloc[:, j]
        if types.is_numeric_dtype(values.dtype) or types.is_bool_dtype(values.dtype):
            continue
        if not any(_POINTS.match(str(v).strip()) for v in values.dropna()[:100]):
            continue  # words, as nearly always
        texts = [str(v).strip() for v in values.dropna().unique()]
        numbers = {t for t in texts if _POINTS.match(t)}
        sure = any(_SURELY_POINTS.search(t) for t in numbers)
        if not (sure or decimal == ",") or len(numbers) < MOSTLY * len(texts):
            continue
        plain = {t: t.replace(".", "").replace(",", ".") for t in numbers}
        frame[frame.columns[j]] = values.map(
            lambda v, plain=plain: plain.get(str(v).strip(), v), na_action="ignore"
        )
        if any("." in t for t in numbers):
            found.append(j)
    return found


def _fields(n: int) -> str:
    return "1 field" if n == 1 else f"{n} fields"


@_long_fields()
def read_delimited(path: Path) -> tuple[Any, list[str]]:
    """Read a CSV file."""
    import pandas as pd

    encoding, notes = _find_encoding(path)
    delimiter = _sniff(path, encoding)
    header, decimal = _check_records(path, encoding, delimiter)
    with _open_text(path, encoding) as text:
        # Lines are taken one at a time, so that pandas goes on exactly where the header ends.
        next(_records(iter(text.readline, ""), delimiter, path.name))
        try:
            frame = pd.read_csv(
                text,
                sep=delimiter,
                decimal=decimal,
                header=None,
                index_col=False,
                keep_default_na=False,
                na_values=list(MISSING),
                skipinitialspace=True,
                low_memory=False,
            )
        except pd.errors.EmptyDataError:
            frame = pd.DataFrame(columns=range(len(header)))
        except (ValueError, OSError) as error:
            raise ReportError(
                "data", f"{path} cannot be read as CSV: {first_line(error)}"
            ) from None
    pointed = _drop_thousands_points(frame, decimal)
    if decimal == ",":
        notes.append("Numbers were read with a decimal comma.")
    if pointed:
        names = ", ".join(repr(header[j].strip()) for j in pointed[:4]) + ", ..." * (
            len(pointed) > 4
        )
        notes.append(f"Points were read as marks of thousands in {names}.")
    if header[0] == ROW_NAME and frame.iloc[:, -1].isna().all():
        # A trailing delimiter on every line but the header makes one empty column at the end.
        frame, header = frame.iloc[:, :-1], header[1:]
    return frame.set_axis(header, axis=1), notes
