"""The conversation itself: memory, order, resuming, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from corollary.active import (
    Box,
    CoverageSampler,
    ExhaustedError,
    Pool,
    Prior,
    SafeITL,
    SafeOpt,
    UncertaintySampler,
)
from corollary.kernels import RBF

PRIOR = Prior(RBF(0.3), 0.01)
POOL = np.linspace(0.0, 1.0, 21)[:, None]


def learners():
    box = Box([(0.0, 1.0)])
    return {
        "pool": lambda: UncertaintySampler(POOL, PRIOR),
        "box": lambda: UncertaintySampler(box, PRIOR, n_candidates=64, random_state=3),
        "cover": lambda: CoverageSampler(POOL, 0.1),
        "safe pool": lambda: SafeITL(POOL, PRIOR, [10], horizon=30),
        "safe box": lambda: SafeOpt(box, PRIOR, [[0.5]], n_candidates=64, random_state=3),
    }


@pytest.mark.parametrize("kind", learners())
def test_a_resumed_learner_goes_on_with_the_same_bits(kind):
    make = learners()[kind]
    first = make()
    for _ in range(3):
        query = first.ask(2)
        first.tell(query, 1.0 + np.sin(9 * query.X[:, 0]))
    first.ask()
    state = json.loads(json.dumps(first.state()))
    second = make().resume(state)
    np.testing.assert_array_equal(second.pending_, first.pending_)
    np.testing.assert_array_equal(second.X_, first.X_)
    for _ in range(2):
        a, b = first.ask(), second.ask()
        np.testing.assert_array_equal(a.X, b.X)
        for learner in (first, second):
            learner.tell(a, [0.7])
    assert second.state() == first.state()
    with pytest.raises(ValueError, match="needs a learner that was not used before"):
        second.resume(state)


def test_resume_refuses_what_is_not_a_state():
    with pytest.raises(ValueError, match=r"needs what state\(\) returned"):
        UncertaintySampler(POOL, PRIOR).resume({"seed": 1})
    good = UncertaintySampler(POOL, PRIOR).state()
    with pytest.raises(ValueError, match="'asked' of a state must be a non-negative int"):
        UncertaintySampler(POOL, PRIOR).resume({**good, "asked": -1})
    with pytest.raises(ValueError, match="more pending queries than were ever asked"):
        UncertaintySampler(POOL, PRIOR).resume({**good, "pending": [1]})
    with pytest.raises(ValueError, match=r"Indices into the pool go from 0 to 20\. Got 77"):
        UncertaintySampler(POOL, PRIOR).resume({**good, "told": [77], "values": [[1.0]]})


@pytest.mark.parametrize("kind", ["pool", "box", "safe pool", "safe box"])
def test_same_seed_same_bits_for_any_number_of_threads(kind):
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            learner = learners()[kind]()
            for _ in range(4):
                query = learner.ask()
                learner.tell(query, 1.0 + query.X[:, 0] ** 2)
            results.append(learner.X_)
    np.testing.assert_array_equal(*results)


def test_answers_come_in_any_order_and_unasked():
    learner = UncertaintySampler(POOL, PRIOR)
    batch = learner.ask(3)
    learner.tell(batch.X[[2]], [1.0])
    np.testing.assert_array_equal(learner.pending_, batch.X[:2])
    learner.tell([5], [2.0])  # nobody asked, by index
    learner.tell(batch.indices[:2], [3.0, 4.0])
    assert len(learner.pending_) == 0
    np.testing.assert_array_equal(learner.y_, [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(learner.X_[1], POOL[5])


def test_dropped_queries_are_free_again():
    learner = UncertaintySampler(POOL, PRIOR, repeat=False)
    query = learner.ask()
    other = learner.ask()
    assert query.indices[0] != other.indices[0]
    learner.drop(query)
    assert learner.ask().indices[0] == query.indices[0]
    with pytest.raises(ValueError, match=r"drop needs pending queries. 3 is not one"):
        learner.drop([3])


def test_pool_can_be_a_data_frame_with_negative_zero():
    learner = UncertaintySampler(pd.DataFrame({"a": [-0.0, 1.0]}), PRIOR)
    learner.tell([[0.0]], [1.0])
    learner.tell(pd.DataFrame({"a": [1.0]}), pd.Series([2.0]))
    np.testing.assert_array_equal(learner.X_[:, 0], [0.0, 1.0])
    np.testing.assert_array_equal(Pool([[3.0], [3.0]]).locate([[3.0]]), [0])


def test_exhausted_pool_says_so_and_asks_nothing():
    learner = UncertaintySampler(POOL[:3], PRIOR, repeat=False)
    with pytest.raises(ExhaustedError, match="UncertaintySampler has asked for all 3 points"):
        learner.ask(4)
    assert len(learner.pending_) == 0
    assert learner.state()["asked"] == 0
    assert sorted(learner.ask(3).indices) == [0, 1, 2]
    with pytest.raises(ExhaustedError):
        learner.ask()
    sampler = CoverageSampler(POOL[:3], 0.01)
    with pytest.raises(ExhaustedError, match="all 3 points"):
        sampler.ask(4)


def test_what_is_told_is_checked_before_anything_changes():
    learner = UncertaintySampler(POOL, PRIOR, repeat=False)
    for X, y, message in [
        ([[0.123]], [1.0], r"The point \[0.123\] is not in the pool"),
        ([[np.nan]], [1.0], "needs finite numbers. Got NaN or infinity"),
        ([21], [1.0], "Indices into the pool go from 0 to 20. Got 21"),
        ([0, 1], [1.0], "needs one value for each of 2 points"),
        ([0], [np.nan], r"needs finite values. Got \[nan\] at position 0; leave out"),
        ([0, 0], [1.0, 2.0], "takes each point once. Got 0 again"),
        ([[0.0, 1.0]], [1.0], "rows of 1 features. Got an array of shape"),
        ([0], [[[1.0]]], "one number for each point"),
    ]:
        with pytest.raises(ValueError, match=message):
            learner.tell(X, y)
    assert len(learner.X_) == len(learner.posterior_) == 0
    box = UncertaintySampler(Box([(0.0, 1.0)]), PRIOR)
    with pytest.raises(ValueError, match=r"The point \[1.5\] is outside of the box"):
        box.tell([[1.5]], [1.0])


def test_wrong_settings_are_named():
    with pytest.raises(ValueError, match=r"'n' parameter of UncertaintySampler\.ask must"):
        UncertaintySampler(POOL, PRIOR).ask(0)
    with pytest.raises(ValueError, match="'repeat' parameter of UncertaintySampler"):
        UncertaintySampler(POOL, PRIOR, repeat="no")
    with pytest.raises(ValueError, match="Pool needs finite numbers"):
        Pool([[np.inf]])
    with pytest.raises(ValueError, match="Pool needs at least one row"):
        Pool(np.empty((0, 2)))
    with pytest.raises(ValueError, match="Box needs one pair"):
        Box([(1.0, 0.0)])
    with pytest.raises(ValueError, match="CoverageSampler covers the points of a pool"):
        CoverageSampler(Box([(0.0, 1.0)]), 0.1)
    with pytest.raises(ValueError, match="'radius' parameter of CoverageSampler"):
        CoverageSampler(POOL, -1.0)
