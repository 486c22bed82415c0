"""A policy at work on a real problem: ask for an arm, tell its loss."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from corollary.bandit._checks import check_array
from corollary.bandit.policy import Policy
from corollary.core.schema import Array, Instance, Integer, Nullable, Number, Schema


@lru_cache(64)
def _borders(policy: Policy, n_arms: int, n_features: int) -> np.ndarray:
    """Return where the fields of a policy's memory meet."""
    return np.cumsum([len(field) for field in policy._start_memory(n_arms, n_features)])[:-1]


def _fits(player: Any) -> str | None:
    policy, n, d = player.policy, len(player.pulls), player.n_features
    if not isinstance(policy, Policy) or n == 0:
        return "it has no policy or no arms"
    if policy._contextual != (d > 0):
        return "its policy and its contexts do not fit"
    # Before any memory of that size is made: the memory must be there already.
    if n * max(1, d * d) > 64 * max(1, player.work.size):
        return "its memory has the wrong size"
    wanted = policy._work(n, d)
    if player.work.shape != wanted.shape:
        return "its memory has the wrong size"
    kinds = {"pulls": np.int64, "totals": np.float64, "work": np.float64, "stream": np.uint64}
    for name, kind in kinds.items():
        if getattr(player, name).dtype != kind:
            return f"{name} has the wrong type"
    if player.arm >= n or (player.context is not None and len(player.context) != d):
        return "the arm or the context asked for last does not exist"
    return policy._problem(player.work)


@dataclass(eq=False)
class Player:
    """The state of a policy in a game; made by :meth:`Policy.start`, saved as any model.

    Parameters
    ----------
    policy : Policy
        The rule.
    pulls : ndarray of int of shape (n_arms,)
        Losses told of each arm.
    totals : ndarray of shape (n_arms,)
        Their sums.
    work : ndarray
        The policy's memory.
    stream : ndarray of shape (1,)
        State of the random stream.
    n_features : int, default=0
        Length of a context; 0 without contexts.
    n_rounds : int, default=0
        How often an arm was asked for.
    arm : int, default=-1
        The arm asked for last; -1 before the first.
    probability : float or None, default=None
        Probability with which that arm was chosen, given the past; None if it is not known in
        closed form (Thompson sampling). Keep it with the loss: logs with probabilities are what
        :func:`off_policy_value` needs.
    context : ndarray of shape (n_features,) or None, default=None
        Context of the arm asked for last.

    See Also
    --------
    play : Simulates a policy in an environment.

    Notes
    -----
    Losses may be told late and in any order. EXP3 then needs the probability that belonged to
    the arm, and policies with contexts the context; give them to :meth:`tell`.

    Examples
    --------
    >>> from corollary.bandit import EXP3
    >>> player = EXP3().start(3, random_state=0)
    >>> for _ in range(300):
    ...     arm = player.ask()
    ...     player.tell(arm, 0.0 if arm == 1 else 1.0)
    >>> int(player.pulls.argmax())
    1
    """

    policy: Policy
    pulls: np.ndarray
    totals: np.ndarray
    work: np.ndarray
    stream: np.ndarray
    n_features: int = 0
    n_rounds: int = 0
    arm: int = -1
    probability: float | None = None
    context: Any = None

    _schema = Schema(
        _fits,
        policy=Instance("start", "regret_bound"),
        pulls=Array("i", "n", low=0),
        totals=Array("f", "n"),
        work=Array("f", "w"),
        stream=Array("u", 1),
        n_features=Integer(0, 2**20),
        n_rounds=Integer(0, 2**53),
        arm=Integer(-1),
        probability=Nullable(Number(0, 1)),
        context=Nullable(Array("f", "d")),
    )

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return len(self.pulls)

    @property
    def means(self) -> np.ndarray:
        """Mean loss seen of each arm; NaN for arms without any."""
        return np.divide(
            self.totals, self.pulls, out=np.full(self.n_arms, np.nan), where=self.pulls > 0
        )

    def ask(self, context: Any = None) -> int:
        """Choose an arm.

        Parameters
        ----------
        context : array-like of shape (n_features,) or None, default=None
            What is known in this round, for policies that use contexts.

        Returns
        -------
        arm : int
            The arm to play; ``probability`` says how likely it was.
        """
        from corollary.bandit._loops import contextual, game

        self.context = self._check_context("ask", context)
        self.n_rounds += 1
        if self.policy._contextual:
            arm = contextual.choose(*self._seat(), self.context)
            probability = 1.0 if self.policy._sure else float("nan")
        else:
            arm, probability = game.choose(*self._seat(), self.n_rounds)
        self.arm = int(arm)
        self.probability = None if np.isnan(probability) else float(probability)
        return self.arm

    def tell(
        self, arm: int, loss: float, *, probability: float | None = None, context: Any = None
    ) -> None:
        """Learn the loss of an arm.

        Parameters
        ----------
        arm : int
            The arm that was played.
        loss : float
            Its loss.
        probability : float or None, default=None
            Probability with which it was chosen; None if it is the arm asked for last.
        context : array-like of shape (n_features,) or None, default=None
            Context in which it was played; None if it is the arm asked for last.
        """
        from corollary.bandit._loops import contextual, game

        self._check_told(arm, loss)
        latest = arm == self.arm
        if self.policy._contextual:
            at = self.context if context is None and latest else context
            at = self._check_context("tell", at)
            gain = np.empty(self.n_features)
            contextual.learn(*self._seat(), arm, at, gain, float(loss))
            return
        p = self.probability if probability is None and latest else probability
        if self.policy._weighs and (p is None or not 0 < p <= 1):
            raise ValueError(
                "Player.tell needs the probability in (0, 1] with which EXP3 chose the arm: it is "
                f"player.probability right after ask. Got {p!r} instead."
            )
        p = float("nan") if p is None else float(p)
        game.learn(*self._seat(), arm, p, float(loss))

    def _rules(self) -> list[Any]:
        """Return what the compiled game takes: the rule with its memory, None for all others."""
        fields = np.split(self.work, _borders(self.policy, self.n_arms, self.n_features))
        return self.policy._rules(self.n_arms, [field[None] for field in fields])

    def _seat(self) -> tuple[Any, ...]:
        """Return rules and game, views of this player's arrays; made once, as it takes a while."""
        from corollary.bandit._loops.records import Games

        arrays = (self.work, self.pulls, self.totals, self.stream)
        views, seat = self.__dict__.get("_views", ((), ()))
        if not views or any(a is not b for a, b in zip(arrays, views)):
            game = Games(self.pulls[None], self.totals[None], self.stream, np.zeros((1, 3)))
            seat = (*self._rules(), game)
            self._views = (arrays, seat)
        return seat

    def __getstate__(self) -> dict[str, Any]:
        # Copies of views would not be views of the copies.
        return {name: value for name, value in vars(self).items() if name != "_views"}

    def _check_told(self, arm: Any, loss: Any) -> None:
        if (
            isinstance(arm, bool)
            or not isinstance(arm, int | np.integer)
            or not 0 <= arm < self.n_arms
        ):
            raise ValueError(
                f"The 'arm' parameter of Player.tell must be an int in 0 to {self.n_arms - 1}. "
                f"Got {arm!r} instead."
            )
        low, high = (0.0, 1.0) if self.policy._bounded else (-1e100, 1e100)
        if not isinstance(loss, int | float | np.number) or not low <= loss <= high:
            raise ValueError(
                f"The 'loss' parameter of Player.tell must be a number in [{low:g}, {high:g}] for "
                f"{type(self.policy).__name__}. Got {loss!r} instead; a reward r in [0, 1] is the "
                "loss 1 - r, and other ranges are scaled linearly."
            )

    def _check_context(self, method: str, context: Any) -> Any:
        if not self.policy._contextual:
            if context is not None:
                raise ValueError(
                    f"{type(self.policy).__name__} uses no contexts; leave 'context' out of "
                    f"Player.{method}, or use LinUCB or LinearThompson."
                )
            return None
        if context is None or np.shape(context) != (self.n_features,):
            got = None if context is None else np.shape(context)
            raise ValueError(
                f"The 'context' parameter of Player.{method} must have shape "
                f"({self.n_features},). Got {got} instead."
            )
        # Squares of larger numbers would overflow in the policy's memory.
        return check_array(
            f"Player.{method}", "context", context, ndim=(1,), low=-1e100, high=1e100
        ).copy()
