import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

from corollary.core import jit as compiler

PACKAGE = pathlib.Path(compiler.__file__).parents[1]

ADD = """
import sys; sys.path.insert(0, {folder!r})
from corollary.core import jit as compiler
import pathlib
compiler._PACKAGE = pathlib.Path({folder!r})
compiler.SOURCES = {stamp!r}
from kernels import twice
twice(3)
print(sum(twice.stats.cache_hits.values()), sum(twice.stats.cache_misses.values()))
"""
KERNELS = "from corollary.core.jit import jit\n@jit\ndef twice(x):\n    return x + x\n"


def test_compiled_code_is_kept_until_the_content_of_loops_changes(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)

    def run(stamp):
        code = ADD.format(folder=str(tmp_path), stamp=stamp)
        environment = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PATH": ""}
        return subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=environment | {"PYTHONPATH": ":".join(sys.path)},
        ).stdout.split()

    assert run("a") == ["0", "1"]
    assert run("a") == ["1", "0"]
    assert run("b") == ["0", "1"]


def test_a_class_may_move_away_from_compiled_code_that_knew_it(tmp_path):
    point = "from typing import NamedTuple\nclass Point(NamedTuple):\n    x: float\n"
    sum_of = "from corollary.core.jit import jit\n@jit\ndef twice(p):\n    return p.x + p.x\n"
    for place in ("here", "there"):
        (tmp_path / f"{place}.py").write_text(point)
        (tmp_path / "kernels.py").write_text(sum_of)
        code = ADD.format(folder=str(tmp_path), stamp=place)
        code = code.replace("twice(3)", f"from {place} import Point; twice(Point(1.0))")
        environment = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PATH": ""}
        environment |= {"PYTHONPATH": ":".join(sys.path)}
        subprocess.run([sys.executable, "-c", code], check=True, env=environment)
        (tmp_path / f"{place}.py").unlink()


def test_the_stamp_covers_every_loop():
    stamped = set(compiler.loop_files())
    decorated = {
        path
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^@(jit|part)\b", path.read_text(), re.M)
    }
    assert len(decorated) > 40
    assert decorated <= stamped
    # Numbers that loops take from elsewhere are frozen into compiled code, too.
    assert set(PACKAGE.rglob("_codes.py")) <= stamped


def test_fields_of_records_are_attributes():
    kind = compiler.record(np.int32, "left right", np.float64, "gain")
    nodes = np.zeros(2, kind)
    nodes[1].gain = 0.5
    nodes[0].right = 3
    assert nodes["gain"].tolist() == [0.0, 0.5]
    assert nodes["right"].tolist() == [3, 0]
    assert kind.isalignedstruct


@pytest.mark.parametrize("strict", [False, True])
def test_a_part_runs_inside_a_loop(strict):
    @compiler.part(strict=strict)
    def add(sums, i, value):
        sums[i] += value

    @compiler.jit
    def total(values, sums):
        for i in range(len(values)):
            add(sums, i % 2, values[i])

    sums = np.zeros(2)
    total(np.arange(6.0), sums)
    assert sums.tolist() == [6.0, 9.0]


def test_a_record_refuses_names_that_numpy_has():
    from corollary.core.jit import record

    with pytest.raises(ValueError, match="'size'"):
        record(np.int64, "node size")
