"""The game, simulated: a policy against an environment, many repetitions at once."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.bandit.environments import Arms, LinearArms, PythonArms, _loss_key
from corollary.bandit.policy import Policy, RegretBound, _losses_in_unit_interval
from corollary.core.estimator import Count, RandomSeed, checked
from corollary.core.parallel import ordered_map
from corollary.core.progress import track

# About a quarter of a second of rounds between two returns to Python, so that Ctrl-C is heard.
STEPS_PER_CALL = 4_000_000


@dataclass(frozen=True, eq=False)
class Play:
    """What happened in a simulation.

    Parameters
    ----------
    policy : Policy
        The rule.
    environment : Arms, LinearArms or PythonArms
        The arms.
    rounds : ndarray of int of shape (n_records,)
        Numbers of rounds after which things were recorded.
    loss : ndarray of shape (repetitions, n_records)
        Losses paid so far.
    regret : ndarray of shape (repetitions, n_records) or None
        Regret so far; None if the environment does not know its best arm.
    regret_kind : str
        "regret" (losses against the best arm of one loss matrix), "pseudo-regret" (mean losses of
        the arms played against the best mean; for contexts, of each context) or "unknown".
    pulls : ndarray of int of shape (repetitions, n_arms)
        How often each arm was played.
    bound : RegretBound or None, default=None
        What theory promises here.
    pathwise_regret : ndarray of shape (repetitions, n_records) or None, default=None
        Left-hand side of the bound that holds in every run: for EXP3 the regret in hallucinated
        losses, for LinUCB the regret.
    pathwise_bound : ndarray of shape (repetitions, n_records) or None, default=None
        Its right-hand side.

    See Also
    --------
    RegretDisplay : The picture of it.

    Examples
    --------
    >>> from corollary.bandit import UCB1, BernoulliArms, play
    >>> result = play(UCB1(), BernoulliArms([0.3, 0.6]), rounds=100, repetitions=3, random_state=0)
    >>> result.regret.shape, result.regret_kind
    ((3, 100), 'pseudo-regret')
    """

    policy: Policy
    environment: Any
    rounds: np.ndarray
    loss: np.ndarray
    regret: np.ndarray | None
    regret_kind: str
    pulls: np.ndarray
    bound: RegretBound | None = None
    pathwise_regret: np.ndarray | None = None
    pathwise_bound: np.ndarray | None = None

    @property
    def mean_regret(self) -> np.ndarray:
        """Regret averaged over repetitions."""
        return self._known().mean(axis=0)

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of ``mean_regret``; NaN for a single repetition."""
        values = self._known()
        if len(values) < 2:
            return np.full(values.shape[1], np.nan)
        return values.std(axis=0, ddof=1) / np.sqrt(len(values))

    def _known(self) -> np.ndarray:
        if self.regret is None:
            raise ValueError(
                "Regret is not known: the environment does not say its mean losses. Give "
                "PythonArms the parameter mean."
            )
        return self.regret


@checked
def play(
    policy: Policy,
    environment: Arms | LinearArms | PythonArms,
    rounds: Count = 1000,
    repetitions: Count = 1,
    *,
    records: Count = 200,
    random_state: RandomSeed = None,
    n_jobs: int | None = None,
) -> Play:
    """Let a policy play an environment.

    The policy sees the loss of the arm it plays and nothing else. Repetitions run in threads;
    each has random streams of its own, so that the result does not depend on how many there are.

    Parameters
    ----------
    policy : Policy
        The rule.
    environment : Arms, LinearArms or PythonArms
        The arms.
    rounds : int, default=1000
        Rounds of the game.
    repetitions : int, default=1
        Independent games.
    records : int, default=200
        Number of evenly spaced rounds after which losses and regret are recorded.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores.

    Returns
    -------
    result : Play
        Regret curves, plays of each arm, and the theorem's bound.

    Raises
    ------
    ValueError
        If the policy needs contexts and the environment has none, or the other way round; or if
        losses leave [0, 1] and the policy needs that they do not.

    Notes
    -----
    Memory is proportional to repetitions times records plus repetitions times arms, never to the
    number of rounds.

    Examples
    --------
    >>> from corollary.bandit import EXP3, BernoulliArms, play
    >>> arms = BernoulliArms([0.3, 0.6], random_state=1)
    >>> result = play(EXP3(horizon=5000), arms, rounds=5000, repetitions=50, random_state=0)
    >>> bool(result.mean_regret[-1] < result.bound.values[-1])
    True
    """
    arms = environment
    _check_together(policy, arms)
    records = min(records, rounds)
    at = np.ceil(np.linspace(0, rounds, records + 1)[1:]).astype(np.int64)
    at[-1] = rounds
    random = check_random_state(random_state)
    words = random.randint(0, 2**32, size=4, dtype=np.uint64)
    keys, streams = (
        np.random.SeedSequence(int(words[i]) << 32 | int(words[i + 1])).generate_state(
            repetitions, np.uint64
        )
        for i in (0, 2)
    )
    if isinstance(arms, PythonArms):
        return _play_python(policy, arms, at, keys, streams)
    if arms.random_state is not None:
        keys = np.full(repetitions, _loss_key(arms.random_state))
    workers = None if n_jobs is None or n_jobs < 1 else n_jobs
    return _play_compiled(policy, arms, at, keys, streams, workers)


def _play_compiled(
    policy: Policy,
    arms: Any,
    at: np.ndarray,
    keys: np.ndarray,
    streams: np.ndarray,
    workers: int | None,
) -> Play:
    contextual = isinstance(arms, LinearArms)
    start = policy._start_memory(arms.n_arms, arms.n_features if contextual else 0)
    games, ledger = _set_table(arms.n_arms, at, streams)
    rules = policy._rules(arms.n_arms, [np.tile(field, (len(keys), 1)) for field in start])
    advance = _game(rules, arms, keys, games, ledger)
    _go_through(advance, at, len(keys), sum(map(len, start)), workers)

    regret, kind = ledger.paid[:, :, 1], "pseudo-regret"
    if not contextual:
        compiled = arms._compiled()
        best = _best_totals(compiled, keys[0], at, workers)
        regret = ledger.paid[:, :, 0 if compiled.fixed else 1] - best
        kind = "regret" if compiled.fixed else kind
    sides = ledger.extra if policy._has_inequality() else None
    return Play(
        policy=policy,
        environment=arms,
        rounds=at,
        loss=ledger.paid[:, :, 0],
        regret=regret,
        regret_kind=kind,
        pulls=games.pulls,
        bound=policy.regret_bound(arms, at),
        pathwise_regret=None if sides is None else sides[:, :, 0],
        pathwise_bound=None if sides is None else sides[:, :, 1],
    )


def _set_table(n_arms: int, at: np.ndarray, streams: np.ndarray) -> tuple[Any, Any]:
    """Return games in which nothing was played, and an empty ledger."""
    from corollary.bandit._loops.records import Games, Ledger

    repetitions = len(streams)
    games = Games(
        np.zeros((repetitions, n_arms), dtype=np.int64),
        np.zeros((repetitions, n_arms)),
        streams,
        np.zeros((repetitions, 3)),
    )
    shape = (repetitions, len(at), 2)
    # A last entry that no round reaches, so that the compiled loop need not look for the end.
    rounds = np.append(at, np.iinfo(np.int64).max)
    return games, Ledger(rounds, np.zeros(shape), np.zeros(shape))


def _game(
    rules: list[Any], arms: Any, keys: np.ndarray, games: Any, ledger: Any
) -> Callable[..., None]:
    """Return the function that plays some rounds of some games."""
    from corollary.bandit._loops import contextual, game

    if isinstance(arms, LinearArms):
        d, noise = arms.n_features, float(arms.noise)

        def advance_linear(rows: tuple[int, int], span: tuple[int, int, int]) -> None:
            scratch = (np.empty(d), np.empty(d), np.empty(1, dtype=np.uint64))
            contextual.advance(*rules, arms.coef, noise, keys, games, rows, span, ledger, scratch)

        return advance_linear
    compiled = arms._compiled()

    def advance(rows: tuple[int, int], span: tuple[int, int, int]) -> None:
        game.advance(*rules, compiled, keys, games, rows, span, ledger)

    return advance


def _go_through(
    advance: Callable[..., None],
    at: np.ndarray,
    repetitions: int,
    memory: int,
    workers: int | None,
) -> None:
    """Play all rounds of all games, a few games and rounds at a time."""
    rounds = int(at[-1])
    group = max(1, min(64, repetitions // 8))  # does not matter to the result
    step = max(1, min(rounds, STEPS_PER_CALL // (group * max(1, memory // 8))))
    rows = [(i, min(i + group, repetitions)) for i in range(0, repetitions, group)]
    with track("playing", total=rounds) as tell:
        for start in range(0, rounds, step):
            stop = min(start + step, rounds)
            span = (start, stop, int(np.searchsorted(at, start + 1)))
            for _ in ordered_map(partial(advance, span=span), rows, workers=workers):
                pass
            tell(stop - start)


def _best_totals(compiled: Any, key: np.uint64, at: np.ndarray, workers: int | None) -> np.ndarray:
    """Return the smallest total of an arm after each recorded round."""
    from corollary.bandit._loops.losses import column_totals
    from corollary.bandit._loops.records import NO_NOISE

    if not compiled.fixed:
        if len(compiled.table) == 1:
            return at * compiled.table[0].min()
        compiled = compiled._replace(noise=NO_NOISE)

    def block(span: tuple[int, int]) -> np.ndarray:
        totals = np.zeros(compiled.table.shape[1])
        column_totals(compiled, key, span[0], span[1], totals)
        return totals

    starts = [0, *(int(t) for t in at[:-1])]
    parts = list(ordered_map(block, list(zip(starts, (int(t) for t in at))), workers=workers))
    return np.cumsum(parts, axis=0).min(axis=1)


def _play_python(
    policy: Policy, arms: PythonArms, at: np.ndarray, keys: np.ndarray, streams: np.ndarray
) -> Play:
    repetitions, rounds = len(keys), int(at[-1])
    loss = np.zeros((repetitions, len(at)))
    mean = np.zeros((repetitions, len(at)))
    pulls = np.zeros((repetitions, arms.n_arms), dtype=np.int64)
    with track("playing", total=repetitions * rounds) as step:
        for r in range(repetitions):
            player = policy.start(arms.n_arms, random_state=0)
            player.stream[0] = streams[r]
            random = np.random.default_rng(int(keys[r]))
            paid, expected, j = 0.0, 0.0, 0
            for t in range(rounds):
                arm = player.ask()
                value = arms.draw(t, arm, random)
                player.tell(arm, value)
                paid += value
                expected += 0.0 if arms.mean is None else arms.mean[arm]
                if t + 1 == at[j]:
                    loss[r, j], mean[r, j], j = paid, expected, j + 1
            pulls[r] = player.pulls
            step(rounds)
    known = arms.mean is not None
    return Play(
        policy=policy,
        environment=arms,
        rounds=at,
        loss=loss,
        regret=mean - at * arms.mean.min() if known else None,
        regret_kind="pseudo-regret" if known else "unknown",
        pulls=pulls,
    )


def _check_together(policy: Policy, arms: Any) -> None:
    name = type(policy).__name__
    if policy._contextual != isinstance(arms, LinearArms):
        wants = "LinearArms, which have contexts" if policy._contextual else "arms without contexts"
        raise ValueError(f"{name} plays {wants}. Got {type(arms).__name__} instead.")
    if policy._bounded and isinstance(arms, Arms) and not _losses_in_unit_interval(arms):
        raise ValueError(
            f"{name} needs losses in [0, 1], which {type(arms).__name__} leaves here. Scale them, "
            "or use UCB1, EpsilonGreedy or GaussianThompson."
        )
