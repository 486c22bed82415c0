"""Kept threads: order, errors, nesting, early stops, forks."""

import multiprocessing
import threading
import time

import pytest

from corollary.core.parallel import Team, ordered_map


def test_order_does_not_depend_on_which_item_ends_first():
    def slow_first(i):
        time.sleep(0.02 if i == 0 else 0.0)
        return i

    assert list(ordered_map(slow_first, range(20), workers=4)) == list(range(20))


def test_work_is_shared_between_two_threads_at_once():
    barrier = threading.Barrier(2, timeout=30)
    assert len(list(ordered_map(lambda _: barrier.wait(), range(4), workers=2))) == 4


def test_threads_are_kept_between_calls():
    def name(_):
        time.sleep(0.005)
        return threading.get_ident()

    first = set(ordered_map(name, range(8), workers=2))
    assert set(ordered_map(name, range(8), workers=2)) <= first


def test_nested_calls_end_and_stay_in_their_worker():
    def outer(i):
        here = threading.get_ident()
        return all(ident == here for ident in ordered_map(_ident, range(5), workers=2))

    assert all(ordered_map(outer, range(8), workers=2))


def _ident(_):
    return threading.get_ident()


def test_an_error_comes_through_and_what_has_not_begun_is_dropped():
    begun = []

    def fail(i):
        begun.append(i)
        time.sleep(0.01)
        if i == 0:
            raise KeyError("bad block")
        return i

    with pytest.raises(KeyError, match="bad block"):
        list(ordered_map(fail, range(1000), workers=2))
    count = len(begun)
    assert count <= 6
    time.sleep(0.05)
    assert len(begun) == count
    assert list(ordered_map(abs, [-1, -2], workers=2)) == [1, 2]


def test_items_are_not_taken_far_ahead():
    taken = []

    def items():
        for i in range(1000):
            taken.append(i)
            yield i

    results = ordered_map(abs, items(), workers=2)
    next(results)
    assert len(taken) <= 6
    results.close()


def _in_child(connection):
    connection.send(list(ordered_map(abs, range(6), workers=2)))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning", "ignore:.*fork.*:RuntimeWarning")
def test_a_forked_child_starts_its_own_threads():
    list(ordered_map(abs, range(4), workers=2))
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_in_child, args=(there,))
    child.start()
    assert here.poll(30)
    assert here.recv() == list(range(6))
    child.join(30)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_team_keeps_order_and_does_every_share(workers):
    with Team(workers) as team:
        for size in (0, 1, 2, 7):
            assert team.map(lambda i: i * i, range(size)) == [i * i for i in range(size)]
    assert not any(thread.is_alive() for thread in team._threads)


@pytest.mark.parametrize("place", [0, 1])
def test_a_failed_share_is_raised_and_the_team_goes_on(place):
    def work(i):
        if i == place:
            raise ZeroDivisionError
        return i

    with Team(2) as team:
        with pytest.raises(ZeroDivisionError):
            team.map(work, range(2))
        assert team.map(abs, [-1, -2]) == [1, 2]
