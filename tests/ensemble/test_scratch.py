"""Scratch files: what was written comes back, nothing stays, and a full disk is said to be full."""

import errno
import os
import resource
import shutil

import numpy as np
import pytest

from corollary.core.parallel import ordered_map
from corollary.ensemble.boosting._blocks.scratch import ScratchFile


def n_open_files():
    return len(os.listdir("/proc/self/fd"))


def test_arrays_come_back_from_any_thread(seed, tmp_path):
    rng = np.random.default_rng(seed)
    arrays = [rng.integers(0, 256, size, dtype=np.uint8) for size in (1, 4096, 5000, 70_000)]
    with ScratchFile(tmp_path) as scratch:
        places = [scratch.append(array) for array in arrays]
        jobs = [(place, array) for place, array in zip(places, arrays)] * 10
        found = ordered_map(lambda job: scratch.read(job[0], job[1].nbytes), jobs, workers=3)
        for (_, array), back in zip(jobs, found):
            np.testing.assert_array_equal(back, array)
        np.testing.assert_array_equal(scratch.read(places[2], 10), arrays[2][:10])


def test_columns_of_a_matrix_lie_end_to_end(tmp_path):
    matrix = np.asfortranarray(np.arange(6, dtype=np.uint8).reshape(3, 2))
    with ScratchFile(tmp_path) as scratch:
        assert scratch.read(scratch.append(matrix), 6).tolist() == [0, 2, 4, 1, 3, 5]


def test_the_file_has_no_name_and_is_closed(tmp_path):
    def interrupted():
        with ScratchFile(tmp_path) as scratch:
            scratch.append(np.zeros(10_000, dtype=np.uint8))
            assert os.listdir(tmp_path) == []
            assert n_open_files() > before
            raise KeyboardInterrupt

    before = n_open_files()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert n_open_files() == before


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere' for scratch files"):
        ScratchFile(tmp_path / "nowhere")


def test_a_disk_without_room_is_refused_before_anything_is_written(tmp_path):
    size = 2 * shutil.disk_usage(tmp_path).free
    with pytest.raises(OSError, match=r"disk is full: a scratch file of .* MB does not fit in"):
        ScratchFile(tmp_path, size=size)


def test_a_disk_that_fills_up_is_reported(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with ScratchFile(tmp_path) as scratch:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, hard))
        try:
            scratch.append(np.zeros(4096, dtype=np.uint8))
            with pytest.raises(OSError, match="Choose a scratch_directory") as caught:
                scratch.append(np.zeros(20_000, dtype=np.uint8))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.errno == errno.ENOSPC
