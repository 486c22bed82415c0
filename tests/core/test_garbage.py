import gc
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from corollary.core.garbage import keep_garbage


@pytest.fixture(autouse=True)
def collector():
    was = gc.isenabled()
    gc.enable()
    yield
    gc.enable() if was else gc.disable()


def test_collection_is_suspended_until_the_last_leaves():
    with keep_garbage:
        with keep_garbage:
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_resumes_after_an_error():
    with pytest.raises(KeyError), keep_garbage:
        raise KeyError
    assert gc.isenabled()


def test_a_user_who_switched_it_off_finds_it_off():
    gc.disable()
    with keep_garbage:
        pass
    assert not gc.isenabled()


def test_threads_that_overlap_leave_it_on():
    barrier = Barrier(4)

    def hold(_):
        with keep_garbage:
            barrier.wait(timeout=60)
            return gc.isenabled()

    with ThreadPoolExecutor(4) as pool:
        assert not any(pool.map(hold, range(4)))
    assert gc.isenabled()


def test_what_was_made_counts_as_old():
    gc.collect()
    with keep_garbage:
        made = [[] for _ in range(5000)]
    old = {id(item) for item in gc.get_objects(generation=2)}
    assert all(id(item) in old for item in made)


def test_what_a_user_froze_stays_frozen():
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with keep_garbage:
            pass
        assert gc.get_freeze_count() == frozen
    finally:
        gc.unfreeze()
