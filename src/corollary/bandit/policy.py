"""What every policy has: settings, a start, and the theorem that applies to it."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

if TYPE_CHECKING:
    from corollary.bandit.player import Player


class RegretBound(NamedTuple):
    """A theorem's bound next to a simulation.

    Parameters
    ----------
    values : ndarray of shape (n_records,)
        The bound after each recorded number of rounds.
    claim : str
        What it bounds, in words.
    """

    values: np.ndarray
    claim: str


class Policy(ABC):
    """A rule for choosing arms: a frozen dataclass whose step is compiled.

    Losses are to be small; a reward r in [0, 1] is the loss 1 - r. Ties go to the arm with the
    smallest number.

    See Also
    --------
    play : Simulates a policy.
    Player : A policy at work on a real problem.

    Examples
    --------
    >>> from corollary.bandit import EXP3, Policy
    >>> isinstance(EXP3(), Policy)
    True
    """

    # Whether losses must lie in [0, 1], and whether a context comes with every round.
    _bounded: ClassVar[bool] = False
    _contextual: ClassVar[bool] = False
    # Whether it learns from the probability of the arm, and whether a chosen arm has one that is 1.
    _weighs: ClassVar[bool] = False
    _sure: ClassVar[bool] = False
    # Its place among the rules that the compiled game takes, and how many these are.
    _place: ClassVar[int]
    _places: ClassVar[int] = 5

    @abstractmethod
    def _start_memory(self, n_arms: int, n_features: int) -> list[np.ndarray]:
        """Return the fields of the memory of one game in which nothing was seen."""

    @abstractmethod
    def _rule(self, n_arms: int, *fields: np.ndarray) -> Any:
        """Return the rule for the compiled game; fields have one row for each game."""

    def _work(self, n_arms: int, n_features: int) -> np.ndarray:
        """Return the memory of one game in one piece, as model files hold it."""
        return np.concatenate(self._start_memory(n_arms, n_features))

    def _rules(self, n_arms: int, fields: list[np.ndarray]) -> list[Any]:
        """Return what the compiled game takes: this policy's rule, and None for all others."""
        rules: list[Any] = [None] * self._places
        rules[self._place] = self._rule(n_arms, *fields)
        return rules

    def _has_inequality(self) -> bool:
        """Tell whether an inequality that holds in every run is recorded."""
        return False

    def _problem(self, work: np.ndarray) -> str | None:
        """Say what is wrong with a memory of the right size, for files that may be forged."""
        return None

    def regret_bound(self, arms: Any, rounds: np.ndarray) -> RegretBound | None:
        """Return what theory promises in an environment.

        Parameters
        ----------
        arms : Arms or LinearArms
            The environment.
        rounds : ndarray of int
            Numbers of rounds.

        Returns
        -------
        bound : RegretBound or None
            None if no theorem applies.
        """
        return None

    def start(
        self, n_arms: int, *, n_features: int | None = None, random_state: Any = None
    ) -> "Player":
        """Begin to play a real problem.

        Parameters
        ----------
        n_arms : int
            Number of arms.
        n_features : int or None, default=None
            Length of a context, for policies that use contexts.
        random_state : int, RandomState instance or None, default=None
            Seed or generator.

        Returns
        -------
        player : Player
            Ask it for an arm, tell it the loss.
        """
        from corollary.bandit.player import Player

        name = type(self).__name__
        for what, value in (("n_arms", n_arms), ("n_features", n_features)):
            if value is None and what == "n_features":
                continue
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise ValueError(
                    f"The '{what}' parameter of {name}.start must be an int, at least 1. Got "
                    f"{value!r} instead."
                )
        if self._contextual != (n_features is not None):
            needs = (
                "needs n_features, the length of a context"
                if self._contextual
                else ("uses no contexts; leave n_features out")
            )
            raise ValueError(f"{name} {needs}. Got n_features={n_features!r} instead.")
        words = check_random_state(random_state).randint(0, 2**32, size=2, dtype=np.uint64)
        width = 0 if n_features is None else int(n_features)
        return Player(
            policy=self,
            pulls=np.zeros(n_arms, dtype=np.int64),
            totals=np.zeros(n_arms),
            work=self._work(int(n_arms), width),
            stream=np.array([words[0] << np.uint64(32) | words[1]], dtype=np.uint64),
            n_features=width,
        )


def _losses_in_unit_interval(arms: Any) -> bool:
    """Tell whether all losses of an environment lie in [0, 1]."""
    from corollary.bandit._loops.records import GAUSSIAN

    compiled = arms._compiled()
    table = compiled.table
    return compiled.noise != GAUSSIAN and table.min() >= 0.0 and table.max() <= 1.0
