"""McDiarmid, Azuma and the Doob martingale by enumeration."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corollary.theory import (
    azuma_bound,
    bounded_differences,
    doob_martingale,
    hoeffding_bound,
    mcdiarmid_bound,
)

seeds = st.integers(0, 2**32 - 1)
BITS = [[0, 1]] * 5


@given(seeds)
@settings(max_examples=20)
def test_exact_tails_of_random_functions_lie_below(seed):
    rng = np.random.default_rng(seed)
    table = rng.random((2,) * 5)
    laws = [np.array([1 - p, p]) for p in rng.random(5)]
    c = bounded_differences(lambda *x: table[x], BITS)
    path = doob_martingale(lambda *x: table[x], BITS, laws)
    mean = float(path[0])
    weights = np.array(
        [math.prod(laws[i][b] for i, b in enumerate(x)) for x in np.ndindex(table.shape)]
    )
    deviation = table.ravel() - mean
    for t in (0.05, 0.2, 0.5):
        tail = weights[deviation >= t].sum()
        assert tail <= mcdiarmid_bound(c, radius=t) + 1e-12
        assert mcdiarmid_bound(c, radius=t) <= mcdiarmid_bound(c, radius=t, sharp=False)


@given(seeds)
@settings(max_examples=20)
def test_doob_martingale_is_one_with_bounded_steps(seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(2, 3, 2))
    laws = [rng.dirichlet(np.ones(k)) for k in table.shape]
    alphabets = [range(k) for k in table.shape]
    path = doob_martingale(lambda *x: table[x], alphabets, laws)
    c = bounded_differences(lambda *x: table[x], alphabets)
    brute = sum(
        table[x] * math.prod(laws[i][k] for i, k in enumerate(x)) for x in np.ndindex(table.shape)
    )
    assert float(path[0]) == pytest.approx(brute)
    assert np.array_equal(path[-1], table)
    for i in range(3):
        assert np.allclose(path[i + 1] @ laws[i], path[i])
        assert np.all(np.abs(path[i + 1] - path[i][..., None]) <= c[i] + 1e-12)


def test_differences_by_hand():
    assert bounded_differences(max, [[0, 1, 5], [2, 3]]).tolist() == [3.0, 1.0]


def test_sharp_form_of_a_mean_is_hoeffding():
    c = np.full(37, 1 / 37)
    assert mcdiarmid_bound(c, delta=0.02) == pytest.approx(
        hoeffding_bound(n_samples=37, delta=0.02)
    )
    loose = mcdiarmid_bound(c, delta=0.02, sharp=False)
    assert loose == pytest.approx(2 * mcdiarmid_bound(c, delta=0.02))


@pytest.mark.parametrize("bound", [azuma_bound, mcdiarmid_bound])
def test_solved_both_ways(bound):
    c = [0.5, 1.0, 2.0]
    for sides in (1, 2):
        radius = bound(c, delta=0.04, sides=sides)
        assert bound(c, radius=radius, sides=sides) == pytest.approx(0.04)
    assert bound([0.0], radius=1.0) == 0.0


def test_azuma_by_enumeration_of_predictable_steps():
    # The size of a step may depend on the past as long as its bound does not.
    sums = []
    for signs in itertools.product([-1, 1], repeat=10):
        x = 0.0
        for sign in signs:
            x += sign * (1.0 if x <= 0 else 0.5)
        sums.append(x)
    for t in (2.0, 4.0, 6.0):
        assert np.mean(np.array(sums) >= t) <= azuma_bound(np.ones(10), radius=t)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: azuma_bound([1.0]), "exactly one"),
        (lambda: azuma_bound([-1.0], delta=0.1), "none negative"),
        (lambda: mcdiarmid_bound([[1.0]], delta=0.1), "one or more finite"),
        (lambda: bounded_differences(max, []), "non-empty alphabets"),
        (lambda: bounded_differences(max, [range(10)] * 9), "10,000,000"),
        (lambda: doob_martingale(max, [[0, 1], [0, 1]], [[1.0], [0.5, 0.5]]), "one probability"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_bounds_by_hand():
    # 9 + 16 = 25; McDiarmid's variance is a quarter of it.
    assert azuma_bound([3.0, 4.0], delta=0.1) == pytest.approx(math.sqrt(50 * math.log(10)))
    assert azuma_bound([3.0, 4.0], radius=10.0, sides=2) == pytest.approx(2 * math.exp(-2))
    assert mcdiarmid_bound([3.0, 4.0], delta=0.1) == pytest.approx(math.sqrt(12.5 * math.log(10)))
    assert mcdiarmid_bound([3.0, 4.0], radius=5.0) == pytest.approx(math.exp(-2))
    assert mcdiarmid_bound([3.0, 4.0], radius=5.0, sharp=False) == pytest.approx(math.exp(-0.5))
    for bound in (azuma_bound, mcdiarmid_bound):
        assert bound([3.0, 4.0], radius=0.1, sides=2) == 1.0
        assert bound([0.0, 0.0], radius=0.1) == 0.0


def test_martingale_of_a_product_of_fair_bits():
    path = doob_martingale(lambda a, b: a * b, [[0, 1], [0, 1]])
    assert [step.tolist() for step in path] == [0.25, [0.0, 0.5], [[0, 0], [0, 1]]]
