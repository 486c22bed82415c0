"""Compiling from recorded types: types survive, pieces are shared, the cache serves others."""

import json
import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit, typeof, types

from corollary.core import ahead
from corollary.core.ahead import Piece, compile_queue, read_record, read_type, write_type

BINS = "corollary.tree._binning.bin_column"
BINS_TYPES = ["float64 1C", "float64 1C", "uint8 1C"]


class Pair(NamedTuple):
    a: np.ndarray
    b: int


class Twins(NamedTuple):
    a: np.ndarray
    b: np.ndarray


@pytest.mark.parametrize(
    "value",
    [
        1,
        1.5,
        np.float32(1),
        True,
        None,
        np.zeros(2),
        np.zeros((2, 3), order="F"),
        np.zeros((4, 4))[::2, ::2],
        np.zeros(3, bool),
        np.zeros(3, np.uint8),
        (1, 2.0),
        (1, 2),
        (),
        Pair(np.zeros(2), 3),
        Twins(np.zeros(2), np.zeros(2)),
        np.zeros(3, [("a", "i8"), ("b", "f8"), ("c", "u1")]),
        Pair(np.zeros((2, 2), [("a", "i8")]), 1),
        (Pair(np.zeros(2), 3), (None, 1)),
    ],
)
def test_types_survive_writing(value):
    plain = json.loads(json.dumps(write_type(typeof(value))))
    assert read_type(plain) == typeof(value)


def test_arrays_that_are_not_written_to_are_told_apart():
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    assert write_type(typeof(fixed)) == "float64 1C read"
    assert read_type("float64 1C read") == typeof(fixed) != typeof(np.zeros(3))


def test_pieces_come_in_the_order_of_their_first_user(tmp_path):
    users = {"a": ["x"], "b": ["y"], "c": ["x", "y"], "d": ["z"], "e": ["y"]}
    entries = [{"kernel": k, "types": [], "users": v} for k, v in users.items()]
    path = tmp_path / "record.json"
    path.write_text(json.dumps(entries))
    assert [p.kernel for p in read_record(path, ["y", "x"])] == ["b", "c", "e", "a"]
    assert [p.kernel for p in read_record(path, ["z"])] == ["d"]
    assert read_record(path, []) == []


def test_a_queue_is_worked_off_and_every_piece_told(monkeypatch):
    compiled, told = [], []

    def compile_piece(piece):
        compiled.append(piece.kernel)
        if piece.kernel == "b":
            raise ImportError("an old record")

    monkeypatch.setattr(ahead, "compile_piece", compile_piece)
    queue = iter([b"\x02", b"\x01", b"\x00", b"\x03", b"\x04"])
    compile_queue([Piece(k, [], ()) for k in "abc"], lambda: next(queue), told.append)
    assert compiled == ["c", "b", "a"]
    assert told == ["2\n", "1\n", "0\n"]
    assert next(queue) == b"\x04"  # a number that no piece has ends the work
    compile_queue([Piece("a", [], ())], lambda: b"", told.append)
    assert len(told) == 3


def test_seconds_are_those_of_the_kernels_that_python_calls():
    @njit
    def inner(x):
        return x + 1

    @njit
    def outer(x):
        return inner(x) * 2

    with ahead.compile_seconds() as seconds:
        outer(1.0)
    (name,) = seconds
    assert name.endswith(".outer")
    assert seconds[name] > 0


def test_what_was_called_is_listed():
    from corollary.tree._binning import bin_column

    codes = np.zeros(3, np.uint8)
    bin_column(np.array([0.0, 1.0, 2.0]), np.array([0.5]), codes)
    assert BINS_TYPES in ahead.list_compiled()[BINS]
    assert "numpy" not in "".join(ahead.list_compiled("corollary.tree."))


def test_processes_share_a_queue_and_fill_the_cache_without_the_families(tmp_path):
    kernels = [
        {"kernel": BINS, "types": BINS_TYPES, "users": ["bins"]},
        {"kernel": "corollary.tree._binning.gone", "types": [], "users": ["bins"]},
        {"kernel": "corollary.ensemble._boosting.gone", "types": [], "users": ["other"]},
    ]
    record = tmp_path / "kernels.json"
    record.write_text(json.dumps(kernels))
    source, queue = os.pipe()
    os.write(queue, ahead.QUEUE)
    os.close(queue)
    code = (
        "import sys; from corollary.core import ahead; ahead.main();"
        "print(sorted({'sklearn', 'pandas'}.intersection(sys.modules)))"
    )
    words = [sys.executable, "-c", code, str(record), "bins"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    runs = [
        subprocess.Popen(words, stdin=source, stdout=subprocess.PIPE, env=environment, text=True)
        for _ in range(2)
    ]
    os.close(source)
    said = [run.communicate(timeout=120)[0].splitlines() for run in runs]
    assert sorted(line for lines in said for line in lines) == ["0", "1", "[]", "[]"]
    (index,) = (tmp_path / "cache").rglob("*.nbi")
    assert "bin_column" in index.name


def test_scalars_are_read_by_name():
    assert read_type("bool") == types.boolean
    assert read_type("none") == types.none
