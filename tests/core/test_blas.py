"""The limit on BLAS threads holds inside its block and is given back after it."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from corollary.core.parallel import one_blas_thread


def blas_threads():
    return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]


def test_limit_holds_inside_and_is_given_back():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with one_blas_thread():
            assert set(blas_threads()) == {1}
            with one_blas_thread():
                pass
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


def test_is_given_back_after_an_error():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(RuntimeError), one_blas_thread():
            raise RuntimeError
        assert blas_threads() == before


def test_many_threads_leave_no_limit_behind():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()

        def work():
            for _ in range(20):
                with one_blas_thread():
                    np.ones((20, 20)) @ np.ones((20, 20))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert blas_threads() == before


def test_blocks_that_overlap_in_threads_give_everything_back():
    inside, leave = threading.Event(), threading.Event()

    def stay():
        with one_blas_thread():
            inside.set()
            leave.wait(10)

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        other = threading.Thread(target=stay)
        with one_blas_thread():
            other.start()
            assert inside.wait(10)
        # The first to come has left; the other still counts on one thread.
        assert set(blas_threads()) == {1}
        leave.set()
        other.join()
        assert blas_threads() == before
