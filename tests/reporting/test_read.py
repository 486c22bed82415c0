"""Reading tables: what is understood, and what is refused in which words."""

import csv
import gzip

import numpy as np
import pandas as pd
import pytest

from corollary.reporting._errors import EXIT_CODES, ReportError
from corollary.reporting.table._read import (
    DEMOS,
    Table,
    check_target,
    from_memory,
    read_demo,
    read_table,
)


@pytest.fixture
def write(tmp_path):
    def _write(data, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return _write


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_found(write, delimiter):
    path = write(f"a{delimiter}b\n1{delimiter}x\n2{delimiter}y\n")
    assert read_table(path).frame.to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}


def test_commas_inside_quoted_text_do_not_mislead(write):
    path = write('a;b\n"one, two, three";1\n"four, five, six";2\n')
    assert read_table(path).frame["a"].tolist() == ["one, two, three", "four, five, six"]


def test_decimal_comma(write):
    table = read_table(write("a;b\n1,5;2\n3,25;4\n"))
    assert table.frame["a"].tolist() == [1.5, 3.25]
    assert "decimal comma" in table.notes[0]


@pytest.mark.parametrize(
    ("text", "values", "pointed"),
    [
        ("a;p\n1,5;1.234,50\n2,5;845,500\n", [1234.5, 845.5], True),
        ("a;p\n1,5;225.000 €\n2,5;1.000.000 €\n", [225e3, 1e6], True),
        ("a;p\n1,5;225.000\n2,5;\n3,5;17\n", [225e3, np.nan, 17.0], True),
        ("a;p\n1;225.000\n2;1.225.000\n", [225e3, 1225e3], True),
        ("a;p\n1,5;12,50 €\n2,5;7,25 €\n", [12.5, 7.25], False),
        ("a;p\n1;225.000\n2;17.500\n", [225.0, 17.5], False),  # no comma says otherwise
        ('a,p\n1,"1,234.50"\n2,"$845"\n', [1234.5, 845.0], False),
    ],
)
def test_points_between_thousands(write, text, values, pointed):
    table = read_table(write(text))
    np.testing.assert_array_equal(table.columns["p"].numbers, values)
    said = "Points were read as marks of thousands in 'p'."
    assert (said in table.notes) == pointed


def test_dates_and_codes_with_points_stay_what_they_are(write):
    text = "a;day;host\n1,5;01.02.2020;10.0.0.1\n2,5;11.12.2021;192.168.100.200\n"
    frame = read_table(write(text)).frame
    assert frame["day"].tolist() == ["01.02.2020", "11.12.2021"]
    assert frame["host"].tolist() == ["10.0.0.1", "192.168.100.200"]


def test_parquet_equals_csv(write, tmp_path):
    csv = read_table(write("a,b\n1,x\n2.5,y\n")).frame
    path = tmp_path / "table.parquet"
    csv.to_parquet(path)
    pd.testing.assert_frame_equal(read_table(path).frame, csv, check_dtype=False)


def test_gzip(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    assert read_table(path).frame.to_dict("list") == {"a": [1], "b": [2]}


def test_the_hash_is_of_the_bytes(write):
    import hashlib

    data = b"a,b\n1,2\n"
    assert read_table(write(data)).sha256 == hashlib.sha256(data).hexdigest()


def test_missing_words_and_the_fair_category_none(write):
    frame = read_table(write("a,b\nNone,NA\n?,2\nx,\n")).frame
    assert frame["a"].tolist()[0] == "None"
    assert frame["a"].isna().tolist() == [False, True, False]
    assert frame["b"].isna().tolist() == [True, False, True]


def test_a_header_over_two_lines_and_blank_lines(write):
    frame = read_table(write('\n"a\nx",b\n1,2\n\n3,4\n')).frame
    assert list(frame.columns) == ["a\nx", "b"]
    assert frame["b"].tolist() == [2, 4]


def test_row_names_as_r_writes_them_and_trailing_delimiters(write):
    assert list(read_table(write("a,b\nr1,1,2\nr2,3,4\n")).frame.columns) == ["row name", "a", "b"]
    assert list(read_table(write("a,b\n1,2,\n3,4,\n")).frame.columns) == ["a", "b"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(write, encoding):
    table = read_table(write("näme,b\ncafé,1\nx,2\n".encode(encoding)))
    assert list(table.frame.columns) == ["näme", "b"]
    assert table.frame["näme"].tolist() == ["café", "x"]
    assert bool(table.notes) == (encoding == "cp1252")


def test_bytes_that_windows_1252_lacks_are_read_as_latin_1(write):
    table = read_table(write(b"a,b\n\x81,1\n"))
    assert "Latin-1" in table.notes[0]


def test_duplicate_column_names_are_told_apart(write):
    table = read_table(write("a,a,b,a (2)\n1,2,3,4\n"))
    assert list(table.frame.columns) == ["a", "a (2)", "b", "a (2) (2)"]
    assert "'a' occurs more than once; column 2 is called 'a (2)'" in table.notes[0]


def test_duplicate_column_names_in_parquet(tmp_path):
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "twice.parquet"
    arrays = [pyarrow.array([1, 2]), pyarrow.array([3, 4])]
    pyarrow.parquet.write_table(pyarrow.Table.from_arrays(arrays, names=["a", "a"]), path)
    assert list(read_table(path).frame.columns) == ["a", "a (2)"]


def test_unnamed_columns_get_a_name(write):
    assert list(read_table(write(",b\n1,2\n")).frame.columns) == ["column 1", "b"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty. It must hold a header line and rows"),
        (b"\n \n", "is empty"),
        (b"a,b\n", "has column names but no rows"),
        (b"a\n1\n", "has 1 column. A target and at least one other column are needed"),
        (b"a,b\n1,2\n3\n", "Line 3 of table.csv is broken: it has 1 field where 2 are expected"),
        (b"a,b\n1,2\n3,4,5\n", "Line 3 of table.csv is broken: it has 3 fields where 2"),
        (b"a,b\n1,2,3\n3,4\n", "Line 2 of table.csv is broken: it has 3 fields where 2"),
        (b'a,b\n1,x\n"2,y\n3,z\n', "Line 3 of table.csv is broken: a quoted field is never closed"),
        (b"a,b\n1," + b"x" * (2**24 + 1) + b"\n", "a field has more than 16,777,216 characters"),
        (b"1," * 50_000 + b"1\n", "has 50,001 columns; at most 50,000 are possible"),
        (b"PK\x03\x04..", "looks like a spreadsheet or archive. Export the sheet as CSV"),
        (b"a,\x00b\n", "is not a text file"),
        (b"PAR1damaged", "is a damaged Parquet file"),
    ],
)
def test_bad_files_are_refused_in_words(write, data, message):
    with pytest.raises(ReportError) as caught:
        read_table(write(data))
    assert message in caught.value.message
    assert caught.value.exit_code == EXIT_CODES["data"] == 3


def test_a_broken_line_is_counted_in_lines_of_the_file_not_in_records(write):
    with pytest.raises(ReportError, match=r"Line 5 of table\.csv"):
        read_table(write('a,b\n"one\ntwo",2\n3,4\n5\n'))


def test_directories_and_missing_files(tmp_path):
    with pytest.raises(ReportError, match=r"is a directory\. Give one CSV or Parquet file"):
        read_table(tmp_path)
    (tmp_path / "sales.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ReportError, match=r"is a directory. Did you mean .*sales.csv\?"):
        read_table(tmp_path)
    with pytest.raises(ReportError, match=r"There is no file .*sale.csv. Did you mean sales.csv\?"):
        read_table(tmp_path / "sale.csv")


def test_missing_files_are_not_likened_to_any_file_of_their_kind(tmp_path):
    for name in ("wide.csv", "prices.csv", "prices_2.parquet"):
        (tmp_path / name).write_text("a,b\n1,2\n")
    with pytest.raises(ReportError, match=r"no file .*nofile\.csv\.$"):
        read_table(tmp_path / "nofile.csv")
    with pytest.raises(ReportError, match=r"Did you mean prices\.csv or prices_2\.parquet\?"):
        read_table(tmp_path / "Prices.CSV")


def test_long_texts_are_read(write):
    text = "word " * 100_000
    table = read_table(write(f"a,note\n1,{text}\n2,short\n"))
    assert table.frame["note"][0].strip() == text.strip()
    assert csv.field_size_limit() < len(text)  # that of the process is as before


def test_near_names_are_suggested(write):
    table = read_table(write("price,weight,unit price\n1,2,3\n"))
    check_target(table, "price")
    with pytest.raises(ReportError, match=r"no column 'Pirce'. Did you mean 'price'") as caught:
        check_target(table, "Pirce")
    assert caught.value.exit_code == EXIT_CODES["target"] == 4
    with pytest.raises(ReportError, match="Its columns are price, weight and unit price"):
        check_target(table, "zzz")
    with pytest.raises(ReportError, match="seems to lack a header line"):
        check_target(read_table(write("1,2\n3,4\n")), "y")


@pytest.mark.parametrize("name", DEMOS)
def test_demos_ship_with_a_target(name):
    table = read_demo(name)
    check_target(table, table.target)
    assert len(table.frame) > 100


def test_unknown_demo():
    with pytest.raises(ReportError, match=r"no demo 'titanic'\. Choose one of breast_cancer"):
        read_demo("titanic")


def test_frames_from_memory():
    import polars as pl

    frame = pd.DataFrame({"a": [1, 2], 5: ["x", "y"]}, index=[7, 8])
    table = from_memory(frame)
    assert isinstance(table, Table)
    assert list(table.frame.columns) == ["a", "5"]
    assert list(table.frame.index) == [0, 1]
    same = from_memory(pl.DataFrame({"a": [1, 2], "5": ["x", "y"]}))
    assert same.sha256 == table.sha256
    with pytest.raises(ReportError, match=r"must be a file name or a data frame\. Got ndarray"):
        from_memory(np.zeros((3, 2)))


def test_utf_16_that_was_cut_is_refused(write):
    whole = "a,y\n1,2\n3,4\n".encode("utf-16")
    assert len(read_table(write(whole)).frame) == 2
    with pytest.raises(ReportError, match="begins as UTF-16 text and does not go on so"):
        read_table(write(whole[:-1]))
