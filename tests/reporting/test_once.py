"""What a report needs is read, hashed, remembered and predicted once."""

import hashlib
from collections import Counter

import numpy as np
import pytest

import corollary
from corollary.core.fingerprint import Fingerprint
from corollary.reporting import Predictor, read_demo, read_table
from corollary.reporting.table import _delimited, _source
from corollary.representation.table import column as columns


@pytest.fixture
def iris(tmp_path):
    path = tmp_path / "iris.csv"
    read_demo("iris").frame.to_csv(path, index=False)
    return path


class _Counted:
    """A file whose bytes are counted as they are read."""

    def __init__(self, file, read):
        self.file, self.read_bytes = file, read

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()

    def __getattr__(self, name):
        return getattr(self.file, name)

    def read(self, *size):
        data = self.file.read(*size)
        self.read_bytes["all"] += len(data)
        return data

    read1 = read

    def readinto(self, buffer):
        n = self.file.readinto(buffer)
        self.read_bytes["all"] += n
        return n


def _count_bytes(monkeypatch):
    read, usual = Counter(), _source.Source._open
    opened = lambda source: _Counted(usual(source), read)  # noqa: E731
    monkeypatch.setattr(_source.Source, "_open", opened)
    return read


def test_a_report_on_iris_does_everything_once(iris, monkeypatch):
    read = _count_bytes(monkeypatch)
    numbers, memories, predicted = Counter(), Counter(), []
    usual, update = columns.read_numbers, Fingerprint.update

    def read_numbers(values, strings):
        numbers[values.name] += 1
        return usual(values, strings)

    def remember(self, chunk):
        memories["all"] += 1
        return update(self, chunk)

    def watch(name):
        method = getattr(Predictor, name)

        def called(self, features):
            if self.estimators:
                predicted.append(features)
            return method(self, features)

        monkeypatch.setattr(Predictor, name, called)

    monkeypatch.setattr(columns, "read_numbers", read_numbers)
    monkeypatch.setattr(Fingerprint, "update", remember)
    watch("predict_proba")
    made = corollary.report(iris, "species", out=None, fast=True)
    numbers.pop(None, None)  # the values that an effect curve moves a column to
    assert set(numbers) == {*made.model.columns, "species"}
    assert set(numbers.values()) == {1}
    assert memories["all"] == 1
    assert hasattr(made.model.predictor.estimators[0], "fingerprint_")
    assert read["all"] <= 2 * iris.stat().st_size
    frame = read_table(iris).frame.iloc[made.evidence.test.positions]
    test = made.model.encoder.transform(frame[list(made.model.columns)])
    assert sum(np.array_equal(features, test) for features in predicted) == 1


@pytest.mark.parametrize("packed", [False, True])
def test_large_files_are_read_twice_and_hashed_on_the_way(tmp_path, monkeypatch, packed):
    for module in (_source, _delimited):
        monkeypatch.setattr(module, "HEAD", 10_000)
    frame = read_demo("diabetes").frame
    path = tmp_path / ("d.csv.gz" if packed else "d.csv")
    frame.to_csv(path, index=False)
    read = _count_bytes(monkeypatch)
    table = read_table(path)
    np.testing.assert_allclose(table.frame.to_numpy(), frame.to_numpy())
    assert table.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    beginnings = 2 * (10_000 + 8192)  # kept, and looked at for its delimiter
    assert read["all"] <= 2 * path.stat().st_size + beginnings
    assert read["all"] > path.stat().st_size
