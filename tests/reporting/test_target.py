"""The target: which kind of prediction it asks for, and when it is refused."""

import numpy as np
import pandas as pd
import pytest

from corollary.reporting._errors import ReportError
from corollary.reporting.table._read import from_memory
from corollary.reporting.table._target import read_target


def _read(values, task="auto"):
    return read_target(from_memory(pd.DataFrame({"y": values, "x": range(len(values))})), "y", task)


@pytest.mark.parametrize(
    ("values", "task", "classes"),
    [
        (["b", "a"] * 10, "classification", ("a", "b")),
        ([True, False] * 10, "classification", ("False", "True")),
        ([2, 10, 1] * 7, "classification", ("1", "2", "10")),
        (list(np.linspace(0, 1, 20)), "regression", ()),
        (list(range(20)), "regression", ()),
        (["$1,000", "$2,500.5"] + [str(i) for i in range(20)], "regression", ()),
    ],
)
def test_the_kind_of_prediction(values, task, classes):
    target = _read(values)
    assert (target.task, target.classes) == (task, classes)


def test_few_whole_numbers_can_be_asked_for_as_a_number():
    target = _read([1, 2, 3] * 10, "regression")
    assert target.task == "regression"
    assert target.values.tolist()[:3] == [1.0, 2.0, 3.0]
    assert "--task regression" in _read([1, 2, 3] * 10).notes[0]


def test_two_values_need_no_advice_on_how_to_read_them():
    assert _read([0, 1] * 10).notes == ()


def test_words_among_the_numbers_of_a_target_are_said():
    target = _read([*np.linspace(0, 1, 30).round(3).astype(str), "pending", "pending"])
    assert target.n_dropped == 2
    (note,) = target.notes
    assert note == "In the target 'y', 2 values are no numbers ('pending') and count as missing."


def test_rows_without_target_are_dropped_and_whole_classes_have_no_decimal():
    target = _read([1.0, 2.0, np.nan, np.inf] * 10)
    assert target.classes == ("1", "2")
    assert target.n_dropped == 20
    assert target.rows.tolist()[:4] == [0, 1, 4, 5]
    numbers = _read([0.5, np.nan, *np.linspace(0, 1, 30)])
    assert numbers.n_dropped == 1


@pytest.mark.parametrize(
    ("values", "task", "kind", "message"),
    [
        ([None] * 20, "auto", "target", "Every value of the target 'y' is missing"),
        (["a"] * 20, "auto", "target", r"same value \(a\) in all 20 rows: there is nothing"),
        ([3.5] * 20, "auto", "target", r"same value \(3.5\) in all 20 rows"),
        (["a", "b"], "auto", "data", "has 2 rows with a target; at least 10 are needed"),
        (["a"], "auto", "data", "has 1 row with a target"),
        ([f"id{i}" for i in range(50)], "auto", "target", "a different value per row"),
        ([f"2020-01-{i:02d}" for i in range(1, 29)], "auto", "target", "holds dates"),
        (["a", "b"] * 10, "regression", "target", "holds no numbers"),
        ([i * 1e200 for i in range(20)], "auto", "target", r"too large .* is 1.9e\+201. Change"),
        ([i * 1e-200 for i in range(20)], "auto", "target", "too small .* range is 1.9e-199"),
        ([f"k{i}" for i in range(150)] * 2, "auto", "target", "has 150 classes; at most 100"),
    ],
)
def test_refusals(values, task, kind, message):
    with pytest.raises(ReportError, match=message) as caught:
        _read(values, task)
    assert caught.value.kind == kind
