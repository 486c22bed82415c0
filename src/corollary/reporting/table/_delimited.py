"""Reading CSV files strictly: a broken line is named, not guessed around.

Files may use commas, semicolons, tabs or bars, UTF-8, UTF-16 or a Western European encoding,
decimal points or commas, and may be compressed by gzip. Every record is counted before anything
is parsed, so that a line with too few or too many fields stops the run with its number.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from corollary.reporting._errors import ReportError
from corollary.reporting.table._source import HEAD, Source, first_line

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


#: Encodings by which a file is read, and what to call them if they are not expected.
_ENCODINGS = {"utf-8-sig": "", "cp1252": "Windows-1252", "latin-1": "Latin-1"}


class _Layout(NamedTuple):
    """How a delimited file is written."""

    encoding: str
    delimiter: str
    header: list[str]
    decimal: str


def is_number(text: str) -> bool:
    """Tell whether a string reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


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


def _sniff(source: Source, encoding: str) -> str:
    """Choose the delimiter that splits the first records most, and most evenly."""
    best, best_score = ",", (0.0, 0)
    with source.text(encoding, errors="replace") as text:
        start = text.read(HEAD)
        cut = len(start) == HEAD
    for delimiter in DELIMITERS:
        counts = []
        try:
            lines = io.StringIO(start, newline="")
            for _, fields in _records(lines, delimiter, source.name):
                counts.append(len(fields))
                if len(counts) == 100:
                    break
            else:
                counts = counts[:-1] if cut else counts
        except ReportError:
            pass  # counted as far as it could be read
        if not counts or max(counts) == 1:
            continue
        width = max(set(counts), key=counts.count)
        score = (counts.count(width) / len(counts) * (width > 1), width)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _check_file(source: Source) -> tuple[_Layout, list[str]]:
    """Count the fields of every record in the first encoding that can read the whole file."""
    head = source.start()
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return _check_records(source, "utf-16"), []
        except UnicodeDecodeError:
            raise ReportError(
                "data",
                f"{source.path} begins as UTF-16 text and does not go on so: it is damaged or was "
                "cut. Save it again, as UTF-8.",
            ) from None
    if b"\x00" in head:
        raise ReportError("data", f"{source.path} is not a text file. Give a CSV or Parquet file.")
    for encoding, words in _ENCODINGS.items():
        try:
            layout = _check_records(source, encoding)
        except UnicodeDecodeError:
            continue
        except (EOFError, OSError) as error:
            reason = first_line(error)
            raise ReportError("data", f"{source.path} cannot be read: {reason}.") from None
        note = f"{source.name} is not UTF-8; it was read as {words} (Western European)."
        return layout, [note] if words else []
    raise AssertionError("latin-1 reads every byte")


def _check_records(source: Source, encoding: str) -> _Layout:
    """Count the fields of every record; find the header and the marks."""
    path, delimiter = source.path, _sniff(source, encoding)
    with source.text(encoding, hashed=True) as text:
        records = _records(text, delimiter, source.name)
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
    decimal = "," if delimiter != "," and commas > points else "."
    return _Layout(encoding, delimiter, header, decimal)


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
def read_delimited(source: Source) -> tuple[Any, list[str]]:
    """Read a CSV file: once to count its records and hash its bytes, once to parse it."""
    import pandas as pd

    (encoding, delimiter, header, decimal), notes = _check_file(source)
    with source.text(encoding) as text:
        # Lines are taken one at a time, so that pandas goes on exactly where the header ends.
        next(_records(iter(text.readline, ""), delimiter, source.name))
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
                "data", f"{source.path} cannot be read as CSV: {first_line(error)}"
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
