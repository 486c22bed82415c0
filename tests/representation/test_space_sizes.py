"""Counts against enumeration for small graphs."""

from itertools import combinations, permutations, product
from math import isclose, log

import pytest

from corollary.representation import (
    count_colourings,
    count_permutations,
    count_spanning_trees,
    count_tours,
    count_weighted_graphs,
    log_data_space,
    smallest_informative_size,
)


def is_tree(n, edges):
    parent = list(range(n))

    def root(v):
        while parent[v] != v:
            v = parent[v]
        return v

    for a, b in edges:
        if root(a) == root(b):
            return False
        parent[root(a)] = root(b)
    return len({root(v) for v in range(n)}) == 1


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_counts_by_enumeration(n):
    edges = list(combinations(range(n), 2))
    trees = sum(is_tree(n, some) for some in combinations(edges, n - 1))
    assert count_spanning_trees(n) == trees
    assert count_permutations(n) == sum(1 for _ in permutations(range(n)))
    assert count_colourings(n, 3) == sum(1 for _ in product(range(3), repeat=n))
    if n <= 4:
        assert count_weighted_graphs(n, 3) == sum(1 for _ in product(range(3), repeat=len(edges)))
    if n >= 3:
        tours = {
            frozenset(frozenset(pair) for pair in zip(order, order[1:] + order[:1]))
            for order in permutations(range(n))
        }
        assert count_tours(n) == len(tours)


def test_logarithm_of_the_data_space():
    for n, levels in ((1, 5), (4, 2), (7, 10)):
        assert isclose(log_data_space(n, levels), log(count_weighted_graphs(n, levels)))
    assert log_data_space(10**6, 2) > 1e11  # where the number itself would have 10^11 digits


@pytest.mark.parametrize(
    "count",
    [count_spanning_trees, count_tours, count_permutations, lambda n: count_colourings(n, 7)],
)
@pytest.mark.parametrize("levels", [2, 3, 10])
def test_smallest_size_by_exact_counts(count, levels):
    wins = [count_weighted_graphs(n, levels) > count(n) for n in range(3, 40)]
    first = 3 + next(i for i in range(len(wins)) if all(wins[i:]))
    assert smallest_informative_size(levels, count, largest=39) == first


def test_much_larger_needs_more_nodes():
    sizes = [smallest_informative_size(2, count_permutations, ratio=r) for r in (1, 5, 25)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[1] < sizes[2]
    # Colourings number e^(n log k), far fewer than e^(n log n).
    assert count_colourings(30, 3) < count_spanning_trees(30)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: count_tours(2), r"'n_nodes' parameter of count_tours .* \[3, inf\). Got 2"),
        (lambda: count_colourings(3, 0), "'n_colours' parameter"),
        (lambda: count_weighted_graphs(2.5, 2), "Got 2.5 instead"),
        (lambda: smallest_informative_size(2, count_permutations, ratio=1e9), "Raise 'largest'"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
