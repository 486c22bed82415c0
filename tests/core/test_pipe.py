"""Pipes are read once, into a file; devices and pipes without a writer are refused."""

import os
import threading
import time

import numpy as np
import pytest

import corollary
from corollary.core.files import ModelFileError, pipe, spooled
from corollary.linear import Ridge
from corollary.reporting import ReportError, read_table

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")


@pytest.fixture
def fifo(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def write_to(path, data, wait=0.0):
    def write():
        with open(path, "wb", buffering=0) as file:
            time.sleep(wait)
            file.write(data)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def test_files_are_not_copied(tmp_path):
    (tmp_path / "file").write_bytes(b"x")
    assert spooled(tmp_path / "file") is None


def test_a_pipe_without_a_writer_is_given_up(fifo, monkeypatch):
    monkeypatch.setattr(pipe, "PATIENCE", 0.1)
    with pytest.raises(OSError, match="nobody writes to it"):
        spooled(fifo)
    with pytest.raises(ReportError, match=r"pipe cannot be read: nobody writes to it\."):
        read_table(fifo)


def test_a_slow_writer_is_waited_for(fifo, monkeypatch):
    monkeypatch.setattr(pipe, "PATIENCE", 0.2)
    thread = write_to(fifo, b"a,y\n" + b"1,2\n" * 300_000, wait=0.6)
    table = read_table(fifo)
    thread.join()
    assert table.frame.shape == (300_000, 2)
    assert table.name == "pipe"


def test_a_writer_that_has_gone_is_not_waited_for():
    reading, writing = os.pipe()
    os.write(writing, b"a,y\n1,2\n")
    os.close(writing)
    start = time.perf_counter()
    try:
        assert len(read_table(f"/dev/fd/{reading}").frame) == 1
    finally:
        os.close(reading)
    assert time.perf_counter() - start < pipe.PATIENCE


def test_endless_pipes_end(fifo, monkeypatch):
    monkeypatch.setattr(pipe, "MOST_BYTES", 1000)
    write_to(fifo, b"x" * 5000)
    with pytest.raises(ReportError, match="more than 1,000 bytes came through it"):
        read_table(fifo)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_devices_are_refused(device):
    with pytest.raises(ReportError, match="it is a device, not a file"):
        read_table(device)
    with pytest.raises(OSError, match="it is a device, not a file"):
        corollary.load(device)


def test_a_parquet_file_comes_through_a_pipe(fifo, tmp_path):
    import pandas as pd

    pd.DataFrame({"a": [1.5, 2.0], "y": [0, 1]}).to_parquet(tmp_path / "t.parquet")
    thread = write_to(fifo, (tmp_path / "t.parquet").read_bytes())
    assert read_table(fifo).frame["a"].tolist() == [1.5, 2.0]
    thread.join()


def test_a_model_comes_through_a_pipe(fifo, tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    corollary.save(Ridge().fit(X, [0.0, 1.0, 2.0]), tmp_path / "model")
    thread = write_to(fifo, (tmp_path / "model").read_bytes())
    assert isinstance(corollary.load(fifo), Ridge)
    thread.join()


def test_of_a_file_that_is_no_model_the_beginning_is_read(tmp_path):
    # A sparse file of a terabyte: whoever reads it all runs out of memory.
    with open(tmp_path / "large", "wb") as file:
        file.truncate(2**40)
    with pytest.raises(ModelFileError, match="signature is missing"):
        corollary.load(tmp_path / "large")
