"""Finite topologies: systems of open sets, checked and generated."""

from collections.abc import Hashable, Iterable
from itertools import combinations

from corollary.representation.geometry.axioms import SATISFIED, AxiomCheck

# A topology of more open sets than this is refused instead of filling the memory.
MAX_SETS = 100_000


def check_topology(
    open_sets: Iterable[Iterable[Hashable]], points: Iterable[Hashable]
) -> AxiomCheck:
    """Check that a system of sets is a topology on a finite set.

    The empty set and the whole set are open, and so are unions and intersections of open sets.
    On a finite set unions of two suffice.

    Parameters
    ----------
    open_sets : iterable of iterables
        The system.
    points : iterable
        The whole set.

    Returns
    -------
    check : AxiomCheck
        The first failing axiom among subsets, empty set, whole set, union and intersection, with
        the sets as witnesses.

    Examples
    --------
    >>> from corollary.representation import check_topology
    >>> bool(check_topology([[], [1], [1, 2]], [1, 2]))
    True
    >>> check_topology([[], [1], [2], [1, 2, 3]], [1, 2, 3]).axiom
    'union'
    """
    whole = frozenset(points)
    family = dict.fromkeys(frozenset(s) for s in open_sets)
    for one in family:
        if not one <= whole:
            return AxiomCheck(False, "subsets", (one,), f"{_show(one)} has points outside the set.")
    if frozenset() not in family:
        return AxiomCheck(False, "empty set", (), "The empty set is not open.")
    if whole not in family:
        return AxiomCheck(False, "whole set", (whole,), "The whole set is not open.")
    for one, two in combinations(family, 2):
        if one | two not in family:
            text = f"The union of {_show(one)} and {_show(two)} is not open."
            return AxiomCheck(False, "union", (one, two), text)
        if one & two not in family:
            text = f"The intersection of {_show(one)} and {_show(two)} is not open."
            return AxiomCheck(False, "intersection", (one, two), text)
    return SATISFIED


def generate_topology(
    subbasis: Iterable[Iterable[Hashable]], points: Iterable[Hashable]
) -> frozenset[frozenset[Hashable]]:
    """Return the smallest topology on a finite set that contains the given sets.

    Parameters
    ----------
    subbasis : iterable of iterables
        Sets that are to be open.
    points : iterable
        The whole set.

    Returns
    -------
    open_sets : frozenset of frozensets
        All unions of finite intersections of the given sets.

    Raises
    ------
    ValueError
        If a set has points outside, or the topology would be too large to hold.

    Examples
    --------
    >>> from corollary.representation import generate_topology
    >>> sorted(sorted(s) for s in generate_topology([[1, 2], [2, 3]], [1, 2, 3]))
    [[], [1, 2], [1, 2, 3], [2], [2, 3]]
    """
    whole = frozenset(points)
    generators = [frozenset(s) for s in subbasis]
    for one in generators:
        if not one <= whole:
            raise ValueError(f"generate_topology needs subsets of the points. Got {_show(one)}.")
    # In a finite topology every point has a smallest open set, the intersection of all that
    # contain it; the open sets are the unions of these.
    smallest = {whole.intersection(*(g for g in generators if p in g)) for p in whole}
    family = {frozenset[Hashable]()}
    for basic in smallest:
        family |= {one | basic for one in family}
        if len(family) > MAX_SETS:
            raise ValueError(
                f"The topology has more than {MAX_SETS} open sets. Use fewer points or sets."
            )
    return frozenset(family)


def _show(one: frozenset[Hashable]) -> str:
    return "{" + ", ".join(sorted(map(repr, one))) + "}"
