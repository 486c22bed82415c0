import os
import pickle

import numpy as np
import pytest

from corollary.core.training import Checkpoint, match_arrays, read_checkpoint, write_checkpoint


def test_round_trip(tmp_path):
    path = tmp_path / "state.npz"
    arrays = {"a": np.arange(3, dtype=np.float32), "b": np.array(True), "c": np.empty((0, 2))}
    write_checkpoint(path, arrays, {"seed": 1, "sizes": (1, 2)})
    found = read_checkpoint(path, {"seed": 1, "sizes": (1, 2)})
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)
    assert os.listdir(tmp_path) == ["state.npz"]


class Payload:
    def __reduce__(self):
        return (os.mkdir, ("payload-ran",))


def test_reading_never_runs_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole = tmp_path / "pickle.npz"
    whole.write_bytes(pickle.dumps(Payload()))
    inside = tmp_path / "object.npz"
    header = '{"format": "corollary checkpoint", "version": 1, "identity": {}}'
    np.savez(inside, header=np.array(header), a=np.array([Payload()], dtype=object))
    for path in (whole, inside):
        with pytest.raises(ValueError, match="is not a readable checkpoint"):
            read_checkpoint(path, {})
    assert not (tmp_path / "payload-ran").exists()


def test_objects_are_not_written_and_the_old_file_survives(tmp_path):
    path = tmp_path / "state.npz"
    write_checkpoint(path, {"a": np.ones(1)}, {})
    with pytest.raises(ValueError):
        write_checkpoint(path, {"a": np.array([{}], dtype=object)}, {})
    np.testing.assert_array_equal(read_checkpoint(path, {})["a"], np.ones(1))
    assert os.listdir(tmp_path) == ["state.npz"]


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "state.npz"
    write_checkpoint(path, {"a": np.arange(100)}, {})
    whole = path.read_bytes()
    for damaged in (b"", b"text", whole[:50], whole[: len(whole) // 2], whole[:-30]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="is not a readable checkpoint"):
            read_checkpoint(path, {})
    np.savez(path, a=np.ones(2))
    with pytest.raises(ValueError, match="is not a readable checkpoint"):
        read_checkpoint(path, {})
    np.savez(path, header=np.array('{"format": "other", "version": 1, "identity": {}}'))
    with pytest.raises(ValueError, match=r"format version 1. Got 'other'"):
        read_checkpoint(path, {})


def test_identity_must_agree(tmp_path):
    path = tmp_path / "state.npz"
    write_checkpoint(path, {}, {"seed": 1})
    with pytest.raises(ValueError, match=r"its 'seed' is 1, this run's is 2. Choose another path"):
        read_checkpoint(path, {"seed": 2})
    with pytest.raises(ValueError, match=r"its 'extra' is None, this run's is 0"):
        read_checkpoint(path, {"seed": 1, "extra": 0})


def test_arrays_must_match():
    found = {"s0": np.ones(2, np.float32)}
    assert match_arrays(found, [np.zeros(2, np.float32)], "s")[0].tolist() == [1, 1]
    for wrong in ([np.zeros(3, np.float32)], [np.zeros(2)], [np.zeros(2, np.float32)] * 2):
        with pytest.raises(ValueError, match=r"array 's\d' must have shape"):
            match_arrays(found, wrong, "s")


def test_large_states_are_written_less_often(tmp_path, monkeypatch):
    clock = [0.0]
    written = []

    def slow_write(path, arrays, identity):
        written.append(clock[0])
        clock[0] += 1.0

    monkeypatch.setattr("corollary.core.training.checkpoint.write_checkpoint", slow_write)
    monkeypatch.setattr("corollary.core.training.checkpoint.time.monotonic", lambda: clock[0])
    file = Checkpoint(tmp_path / "state.npz", {})
    assert file.read() is None
    for _ in range(100):
        clock[0] += 1.0
        file.write({})
    assert len(written) / clock[0] < 0.05 + 1 / 50  # a write takes 1 s: at most 5 % of the time
    assert len(written) > 2
    before = len(written)
    file.write({}, now=True)
    assert len(written) == before + 1
