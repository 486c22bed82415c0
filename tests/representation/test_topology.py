from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.representation import check_topology, generate_topology

POINTS = (1, 2, 3)
SUBSETS = [frozenset(c) for c in chain.from_iterable(combinations(POINTS, r) for r in range(4))]


def is_topology(family):
    """The definition, over all subfamilies."""
    family = set(family)
    if frozenset() not in family or frozenset(POINTS) not in family:
        return False
    unions = all(
        frozenset().union(*some) in family
        for r in range(len(family) + 1)
        for some in combinations(family, r)
    )
    return unions and all(a & b in family for a in family for b in family)


def test_all_systems_on_three_points():
    found = 0
    for r in range(len(SUBSETS) + 1):
        for family in combinations(SUBSETS, r):
            answer = bool(check_topology(family, POINTS))
            assert answer == is_topology(family)
            found += answer
    assert found == 29  # the number of topologies on three labelled points


@given(st.lists(st.sampled_from(SUBSETS), max_size=4))
def test_generated_topology_is_the_smallest(subbasis):
    found = generate_topology(subbasis, POINTS)
    assert is_topology(found)
    assert set(subbasis) <= found
    for r in range(len(SUBSETS) + 1):
        for family in combinations(SUBSETS, r):
            if set(subbasis) <= set(family) and is_topology(family):
                assert found <= set(family)


@pytest.mark.parametrize(
    ("family", "axiom"),
    [
        ([[], [1], [1, 2, 3], [4]], "subsets"),
        ([[1], [1, 2, 3]], "empty set"),
        ([[], [1]], "whole set"),
        ([[], [1], [2], [1, 2, 3]], "union"),
        ([[], [1, 2], [2, 3], [1, 2, 3]], "intersection"),
    ],
)
def test_every_axiom_has_a_name(family, axiom):
    check = check_topology(family, POINTS)
    assert check.axiom == axiom
    assert check.message


def test_witness_violates_the_axiom():
    check = check_topology([[], [1], [2], [1, 2, 3]], POINTS)
    assert set(check.witness) == {frozenset({1}), frozenset({2})}


def test_errors():
    with pytest.raises(ValueError, match=r"needs subsets of the points. Got \{4\}"):
        generate_topology([[4]], POINTS)
    with pytest.raises(ValueError, match="more than 100000 open sets"):
        generate_topology([[i] for i in range(20)], range(20))
