"""Every class that scikit-learn has too is familiar: its interface, or a documented difference."""

import re
from pathlib import Path
from typing import ClassVar

import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from corollary.core.compat import StrOptions
from tests.namesakes import class_of, gaps, listed, namesakes, tables

SWITCHING = Path(__file__).parents[1] / "docs" / "switching.md"


@pytest.mark.parametrize("name", namesakes())
def test_scikit_learns_interface_is_there(name):
    open_gaps, meant = listed(name)
    present = gaps(*namesakes()[name])
    new = present - open_gaps - meant.keys()
    assert not new, f"scikit-learn's class has this and ours has not: {sorted(new)}"
    closed = (open_gaps | meant.keys()) - present
    assert not closed, (
        f"no longer true, so take it off the list (python -m tests.namesakes): {sorted(closed)}"
    )


@pytest.mark.parametrize("name", namesakes())
def test_differences_have_a_reason_and_a_row_in_the_guide(name):
    rows = [line for line in SWITCHING.read_text("utf-8").splitlines() if line.startswith("|")]
    for line, reason in listed(name)[1].items():
        assert len(reason.split()) >= 4, line
        words = subject(line)
        assert any(mentions(row, name) and all(w in row for w in words) for row in rows), (
            f"docs/switching.md has no row of a table that names {name} and {words}"
        )


def test_every_difference_is_about_a_class_of_both():
    to_close, meant = tables()
    assert {class_of(line) for line in (*to_close, *meant)} <= namesakes().keys()


def subject(line: str) -> list[str]:
    """Return what of a class a gap is about: parameters, or an attribute, or a method."""
    text = line.removeprefix(class_of(line)).removesuffix(": refused")
    return re.findall(r"[A-Za-z]\w*", re.sub(r"=('[^']*'|[^)]*)", "", text))


def mentions(row: str, name: str) -> bool:
    """Say whether a row names a class, by itself or by a star: ``MLP*``."""
    stars = re.findall(r"(\w*)\*", row)
    return name in row or any(star and name.startswith(star) for star in stars)


def test_a_gap_says_what_it_is_about():
    assert subject("Ridge(tol=0.0001)") == ["tol"]
    assert subject("Ridge(solver='sag'): refused") == ["solver"]
    assert subject("SVC(probability=True).probA_") == ["probability", "probA_"]
    assert subject("Ridge.predict(return_std)") == ["predict", "return_std"]
    assert mentions("| `MLP*` | `solver` |", "MLPClassifier")
    assert not mentions("| `MLP*` | `solver` |", "Ridge")


class _Theirs(RegressorMixin, BaseEstimator):
    _parameter_constraints: ClassVar = {"kind": [StrOptions({"a", "b"})], "extra": ["boolean"]}

    def __init__(self, kind="a", *, extra=False, gone=None, size=2.0):
        self.kind, self.extra, self.gone, self.size = kind, extra, gone, size

    def fit(self, X, y, sample_weight=None):
        self.mean_ = y.mean()
        if self.extra:
            self.spread_ = y.std()
        return self

    def predict(self, X):
        return self.mean_

    def path(self):
        """Do something that ours does not."""


class _Ours(BaseEstimator):
    def __init__(self, *, kind="a", extra=False, size=3.0):
        self.kind, self.extra, self.size = kind, extra, size

    def fit(self, X, y):
        if self.kind == "b":
            raise ValueError("no b")
        return self

    def predict(self, rows):
        return 0


def test_every_kind_of_gap_is_seen():
    assert gaps(_Ours, _Theirs) == {
        "_Theirs(gone)",
        "_Theirs(size=2.0)",
        "_Theirs(kind, *)",
        "_Theirs(kind='b'): refused",
        "_Theirs.fit(sample_weight)",
        "_Theirs.predict(X)",
        "_Theirs.path",
        "_Theirs.score",
        "_Theirs.mean_",
        "_Theirs(extra=True).spread_",
    }
    assert not gaps(_Theirs, _Theirs)
