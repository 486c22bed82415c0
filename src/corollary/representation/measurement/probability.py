"""Finite probability spaces: outcomes, events, the algebra they form, expectations.

On a finite set an algebra of events is determined by its atoms, the smallest non-empty events,
which partition the outcomes; with k atoms there are 2^k events. (On infinite sets countable
unions would be needed; here they are unions of finitely many.)
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from corollary.representation.geometry.axioms import SATISFIED, AxiomCheck

Event = frozenset[Hashable]

# 2^20 events are about as many as one would want to hold.
MAX_ATOMS = 20


@dataclass(frozen=True)
class FiniteProbabilitySpace:
    """A finite set of outcomes with their probabilities.

    Parameters
    ----------
    probabilities : mapping of outcome to float
        Probability of each outcome; non-negative, summing to 1.

    Examples
    --------
    >>> from corollary.representation import FiniteProbabilitySpace
    >>> die = FiniteProbabilitySpace({face: 1 / 6 for face in range(1, 7)})
    >>> round(die.probability({2, 4, 6}), 6)
    0.5
    >>> round(die.expectation(lambda face: face), 6)
    3.5
    """

    probabilities: Mapping[Hashable, float]

    def __post_init__(self) -> None:
        table = {outcome: float(p) for outcome, p in dict(self.probabilities).items()}
        total = math.fsum(table.values())
        if not table or any(not p >= 0 for p in table.values()) or abs(total - 1) > 1e-9:
            raise ValueError(
                "FiniteProbabilitySpace needs probabilities that are non-negative and sum to 1. "
                f"Got {len(table)} outcomes with sum {total:.10g}."
            )
        object.__setattr__(self, "probabilities", table)

    @property
    def outcomes(self) -> Event:
        """The sure event: all outcomes."""
        return frozenset(self.probabilities)

    def event(self, condition: Iterable[Hashable] | Callable[[Any], bool]) -> Event:
        """Return an event as a set of outcomes.

        Parameters
        ----------
        condition : iterable of outcomes or callable
            The outcomes, or a function that tells whether an outcome belongs.

        Returns
        -------
        event : frozenset
            The outcomes of the event.

        Raises
        ------
        ValueError
            If something is not an outcome of this space.
        """
        if callable(condition):
            return frozenset(o for o in self.probabilities if condition(o))
        event = frozenset(condition)
        if not event <= self.outcomes:
            stranger = next(iter(event - self.outcomes))
            raise ValueError(f"{stranger!r} is not an outcome of this probability space.")
        return event

    def probability(self, condition: Iterable[Hashable] | Callable[[Any], bool]) -> float:
        """Return the probability of an event.

        Parameters
        ----------
        condition : iterable of outcomes or callable
            The event, see :meth:`event`.

        Returns
        -------
        probability : float
            Sum of the probabilities of its outcomes.
        """
        return math.fsum(self.probabilities[o] for o in self.event(condition))

    def expectation(self, variable: Callable[[Any], float]) -> float:
        """Return the expectation of a random variable, for instance of a loss.

        Parameters
        ----------
        variable : callable
            A number for each outcome.

        Returns
        -------
        expectation : float
            Mean weighted by probability; outcomes of probability zero are not asked for.
        """
        return math.fsum(p * float(variable(o)) for o, p in self.probabilities.items() if p > 0)

    def given(
        self, condition: Iterable[Hashable] | Callable[[Any], bool]
    ) -> "FiniteProbabilitySpace":
        """Return the space conditioned on an event.

        Parameters
        ----------
        condition : iterable of outcomes or callable
            The event, see :meth:`event`.

        Returns
        -------
        space : FiniteProbabilitySpace
            The outcomes of the event with their conditional probabilities.

        Raises
        ------
        ValueError
            If the event has probability zero.
        """
        event = self.event(condition)
        total = self.probability(event)
        if total <= 0:
            raise ValueError("An event of probability zero cannot be conditioned on.")
        return FiniteProbabilitySpace(
            {o: p / total for o, p in self.probabilities.items() if o in event}
        )


def coin_flips(n_flips: int, probability: float = 0.5) -> FiniteProbabilitySpace:
    """Return the space of independent coin flips.

    Parameters
    ----------
    n_flips : int
        Length of the sequences, at most 20.
    probability : float, default=0.5
        Probability of heads, in [0, 1].

    Returns
    -------
    space : FiniteProbabilitySpace
        Sequences such as "HTT" with their probabilities.

    Examples
    --------
    >>> from corollary.representation import coin_flips
    >>> coin_flips(3).probability(lambda flips: flips.count("H") == 2)
    0.375
    """
    if not 0 <= n_flips <= MAX_ATOMS:
        raise ValueError(
            f"The 'n_flips' parameter of coin_flips must be an int in the range [0, {MAX_ATOMS}]. "
            f"Got {n_flips!r} instead."
        )
    if not 0 <= probability <= 1:
        raise ValueError(
            "The 'probability' parameter of coin_flips must be a float in the range [0.0, 1.0]. "
            f"Got {probability!r} instead."
        )
    weight = {"H": probability, "T": 1 - probability}
    sequences = product("HT", repeat=n_flips)
    return FiniteProbabilitySpace(
        {"".join(flips): math.prod(weight[f] for f in flips) for flips in sequences}
    )


def check_algebra(events: Iterable[Iterable[Hashable]], outcomes: Iterable[Hashable]) -> AxiomCheck:
    """Check that a system of events is an algebra on a finite set.

    Parameters
    ----------
    events : iterable of iterables
        The system.
    outcomes : iterable
        The sure event.

    Returns
    -------
    check : AxiomCheck
        The first failing axiom among subsets, sure event, difference, union and intersection,
        with the events as witnesses.

    Examples
    --------
    >>> from corollary.representation import check_algebra
    >>> check_algebra([[], [1], [1, 2]], [1, 2]).message
    'The difference of {1, 2} and {1} is missing.'
    """
    whole = frozenset(outcomes)
    family = dict.fromkeys(frozenset(e) for e in events)
    for one in family:
        if not one <= whole:
            return AxiomCheck(False, "subsets", (one,), f"{_show(one)} has unknown outcomes.")
    if whole not in family:
        return AxiomCheck(False, "sure event", (whole,), "The sure event is missing.")
    for one in family:
        if whole - one not in family:
            text = f"The difference of {_show(whole)} and {_show(one)} is missing."
            return AxiomCheck(False, "difference", (whole, one), text)
    for one, two in combinations(family, 2):
        for name, result in (("union", one | two), ("intersection", one & two)):
            if result not in family:
                text = f"The {name} of {_show(one)} and {_show(two)} is missing."
                return AxiomCheck(False, name, (one, two), text)
    return SATISFIED


def atoms(events: Iterable[Iterable[Hashable]], outcomes: Iterable[Hashable]) -> frozenset[Event]:
    """Return the atoms of the algebra that events generate.

    Parameters
    ----------
    events : iterable of iterables
        The generating events.
    outcomes : iterable
        The sure event.

    Returns
    -------
    atoms : frozenset of frozensets
        A partition of the outcomes: two are together if no event tells them apart.

    Raises
    ------
    ValueError
        If an event has outcomes that are not in the sure event.

    Examples
    --------
    >>> from corollary.representation import atoms
    >>> sorted(sorted(a) for a in atoms([[1, 2], [2, 3]], [1, 2, 3, 4, 5]))
    [[1], [2], [3], [4, 5]]
    """
    whole = frozenset(outcomes)
    generators = [frozenset(e) for e in events]
    for one in generators:
        if not one <= whole:
            raise ValueError(f"Events must consist of outcomes. Got {_show(one)}.")
    groups: dict[tuple[bool, ...], set[Hashable]] = {}
    for outcome in whole:
        groups.setdefault(tuple(outcome in g for g in generators), set()).add(outcome)
    return frozenset(frozenset(group) for group in groups.values())


def generate_algebra(
    events: Iterable[Iterable[Hashable]], outcomes: Iterable[Hashable]
) -> frozenset[Event]:
    """Return the smallest algebra that contains the given events.

    Parameters
    ----------
    events : iterable of iterables
        The generating events.
    outcomes : iterable
        The sure event.

    Returns
    -------
    algebra : frozenset of frozensets
        All unions of :func:`atoms`: ``2^k`` events for k atoms.

    Raises
    ------
    ValueError
        If there are more than 20 atoms.

    Examples
    --------
    >>> from corollary.representation import generate_algebra
    >>> len(generate_algebra([[1], [2, 3]], [1, 2, 3, 4]))
    8
    """
    blocks = atoms(events, outcomes)
    if len(blocks) > MAX_ATOMS:
        raise ValueError(
            f"The algebra has {len(blocks)} atoms and 2^{len(blocks)} events, too many to list. "
            "Work with its atoms."
        )
    algebra = [frozenset[Hashable]()]
    for block in blocks:
        algebra += [event | block for event in algebra]
    return frozenset(algebra)


def _show(one: Event) -> str:
    return "{" + ", ".join(sorted(map(repr, one))) + "}"
