from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.representation import (
    FiniteProbabilitySpace,
    atoms,
    check_algebra,
    coin_flips,
    generate_algebra,
)

EVENT = st.sets(st.integers(0, 5))


def space(weights=(1, 2, 3, 4, 5, 6)):
    return FiniteProbabilitySpace({i: w / sum(weights) for i, w in enumerate(weights)})


def test_coin_flips_are_binomial():
    flips = coin_flips(5, 0.3)
    assert len(flips.outcomes) == 32
    for heads in range(6):
        expected = comb(5, heads) * 0.3**heads * 0.7 ** (5 - heads)
        found = flips.probability(lambda f, heads=heads: f.count("H") == heads)
        assert np.isclose(found, expected)
    assert np.isclose(flips.expectation(lambda f: f.count("H")), 1.5)
    mean_square = flips.expectation(lambda f: f.count("H") ** 2)
    assert np.isclose(mean_square - 1.5**2, 5 * 0.3 * 0.7)
    first = flips.given(lambda f: f[0] == "H")
    assert np.isclose(first.probability(lambda f: f[1] == "H"), 0.3)  # independent
    assert coin_flips(0).probability([""]) == 1


@given(EVENT, EVENT, EVENT)
def test_laws_of_probability(a, b, c):
    P = space().probability
    assert np.isclose(P(a - b) + P(a & b), P(a))
    assert np.isclose(P(a | b), P(a) + P(b) - P(a & b))
    triple = P(a) + P(b) + P(c) - P(a & b) - P(a & c) - P(b & c) + P(a & b & c)
    assert np.isclose(P(a | b | c), triple)
    assert np.isclose(P(space().outcomes), 1)
    assert np.isclose(P(a), space().expectation(lambda o: o in a))


def test_expected_risk_is_an_expectation():
    world = FiniteProbabilitySpace({("x0", 0): 0.4, ("x0", 1): 0.1, ("x1", 0): 0.2, ("x1", 1): 0.3})
    rule = {"x0": 0, "x1": 1}
    assert np.isclose(world.expectation(lambda z: rule[z[0]] != z[1]), 0.3)


@pytest.mark.parametrize("sizes", [(6,), (2, 4), (1, 2, 3), (1, 1, 1, 3), (1, 1, 1, 1, 1, 1)])
def test_a_partition_with_k_blocks_generates_two_to_the_k_events(sizes):
    cuts = np.split(np.arange(6), np.cumsum(sizes)[:-1])
    blocks = [frozenset(c.tolist()) for c in cuts]
    algebra = generate_algebra(blocks, range(6))
    assert len(algebra) == 2 ** len(sizes)
    assert atoms(blocks, range(6)) == set(blocks)
    assert check_algebra(algebra, range(6))


@given(st.lists(EVENT, max_size=3))
def test_generated_algebra_is_closed_and_made_of_atoms(events):
    algebra = generate_algebra(events, range(6))
    assert check_algebra(algebra, range(6))
    assert {frozenset(e) for e in events} <= algebra
    # The smallest: close the generators by hand.
    closed = {frozenset(range(6)), *(frozenset(e) for e in events)}
    while True:
        more = {frozenset(range(6)) - e for e in closed}
        more |= {a | b for a, b in combinations(closed, 2)} | closed
        if more == closed:
            break
        closed = more
    assert algebra == closed


@pytest.mark.parametrize(
    ("events", "axiom"),
    [
        ([[], [1, 2], [3]], "subsets"),
        ([[], [1]], "sure event"),
        ([[], [1], [1, 2]], "difference"),
    ],
)
def test_what_is_missing_from_an_algebra(events, axiom):
    assert check_algebra(events, [1, 2]).axiom == axiom


def test_union_missing():
    singles = [[1], [2], [3], [1, 2], [3, 4], [1, 2, 3], [1, 2, 4], [1, 3, 4], [2, 3, 4]]
    check = check_algebra([[], [1, 2, 3, 4], [4], *singles], [1, 2, 3, 4])
    assert check.axiom in ("union", "intersection")
    one, two = check.witness
    missing = one | two if check.axiom == "union" else one & two
    assert sorted(missing) in ([1, 3], [1, 4], [2, 3], [2, 4])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: FiniteProbabilitySpace({}), "Got 0 outcomes"),
        (lambda: FiniteProbabilitySpace({1: 0.5, 2: 0.6}), "sum to 1. Got 2 outcomes with sum 1.1"),
        (lambda: FiniteProbabilitySpace({1: -0.5, 2: 1.5}), "non-negative"),
        (lambda: space().probability([7]), "7 is not an outcome"),
        (lambda: space().given([]), "probability zero cannot be conditioned"),
        (lambda: coin_flips(21), r"'n_flips' parameter .* \[0, 20\]. Got 21"),
        (lambda: coin_flips(2, 1.5), "'probability' parameter of coin_flips"),
        (lambda: atoms([[9]], [1]), r"Events must consist of outcomes. Got \{9\}"),
        (lambda: generate_algebra([[i] for i in range(21)], range(21)), "21 atoms and 2.21 events"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
