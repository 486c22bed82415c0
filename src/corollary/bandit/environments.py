r"""Environments: oblivious adversaries, whose losses are fixed before the game.

A loss matrix is not stored but defined: entry (t, i) is a function of a seed, the round and the
arm. With ``random_state`` an integer there is one matrix, an oblivious adversary that every
repetition meets; with None each repetition draws a matrix of its own, a stochastic world.
Knowledge of the algorithm may enter a matrix, knowledge of its coin flips may not.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from corollary.bandit._checks import check_array, check_number
from corollary.core.compat import Interval

_COUNT = Interval(Integral, 1, None, closed="left")
_SEED = Interval(Integral, 0, 2**63, closed="left")
_SCALE = Interval(Real, 0, None, closed="left")


class Arms(ABC):
    """Losses of all arms in all rounds.

    Subclasses are frozen dataclasses with a field ``random_state``, the seed of one matrix, or
    None.

    Examples
    --------
    >>> from corollary.bandit import Arms, BernoulliArms
    >>> isinstance(BernoulliArms([0.2, 0.8]), Arms)
    True
    """

    random_state: int | None

    @property
    @abstractmethod
    def n_arms(self) -> int:
        """Number of arms."""

    @abstractmethod
    def _compiled(self) -> Any:
        """Return the tuple that the compiled rounds read."""

    def losses(self, rounds: int, *, start: int = 0) -> np.ndarray:
        """Return rows of the loss matrix.

        Parameters
        ----------
        rounds : int
            How many rounds.
        start : int, default=0
            The first round.

        Returns
        -------
        losses : ndarray of shape (rounds, n_arms)
            The same at every call.

        Raises
        ------
        ValueError
            If there is not one matrix but one for each repetition.
        """
        from corollary.bandit._loops.losses import loss_block

        compiled = self._compiled()
        if self.random_state is None and not compiled.fixed:
            raise ValueError(
                f"{type(self).__name__} draws a new loss matrix for each repetition. Give "
                "random_state an integer to fix one."
            )
        out = np.empty((rounds, self.n_arms))
        loss_block(compiled, _loss_key(self.random_state), start, out)
        return out

    def means(self, rounds: int, *, start: int = 0) -> np.ndarray:
        """Return the expected losses.

        Parameters
        ----------
        rounds : int
            How many rounds.
        start : int, default=0
            The first round.

        Returns
        -------
        means : ndarray of shape (rounds, n_arms)
            Expectation of each loss over the draw of the matrix.
        """
        from corollary.bandit._loops.losses import loss_block
        from corollary.bandit._loops.records import NO_NOISE

        out = np.empty((rounds, self.n_arms))
        loss_block(self._compiled()._replace(noise=NO_NOISE), np.uint64(0), start, out)
        return out


def _loss_key(random_state: int | None) -> np.uint64:
    """Turn the seed of a loss matrix into the key of its entries."""
    entropy = 0 if random_state is None else int(random_state)
    return np.random.SeedSequence([entropy, 0xBA9D17]).generate_state(1, np.uint64)[0]


def _build(
    table: np.ndarray,
    noise: str,
    random_state: int | None,
    *,
    scale: float = 0.0,
    segment: int = 1,
    blend: bool = False,
) -> Any:
    from corollary.bandit._loops import records

    codes = {"none": records.NO_NOISE, "coin": records.COIN, "gaussian": records.GAUSSIAN}
    fixed = random_state is not None or noise == "none"
    return records.Arms(table, int(segment), bool(blend), codes[noise], float(scale), fixed)


def _settle(arms: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(arms, name, value)
    if arms.random_state is not None:
        check_number(type(arms).__name__, "random_state", arms.random_state, _SEED)


@dataclass(frozen=True, eq=False)
class BernoulliArms(Arms):
    """Independent losses 0 or 1 with a fixed chance for each arm.

    Parameters
    ----------
    mean : array-like of shape (n_arms,)
        Chance of the loss 1.
    random_state : int or None, default=None
        Seed of one loss matrix; None for a new matrix in each repetition.

    Examples
    --------
    >>> from corollary.bandit import BernoulliArms
    >>> BernoulliArms([0.1, 0.9], random_state=0).losses(3)
    array([[0., 1.],
           [0., 1.],
           [0., 0.]])
    """

    mean: Any
    random_state: int | None = None

    def __post_init__(self) -> None:
        _settle(
            self, mean=check_array("BernoulliArms", "mean", self.mean, ndim=(1,), low=0, high=1)
        )

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return len(self.mean)

    def _compiled(self) -> Any:
        return _build(self.mean[None], "coin", self.random_state)


@dataclass(frozen=True, eq=False)
class GaussianArms(Arms):
    """Independent Gaussian losses; they are not bounded, so bounds for [0, 1] do not apply.

    Parameters
    ----------
    mean : array-like of shape (n_arms,)
        Mean loss of each arm.
    scale : float, default=1.0
        Standard deviation of all losses.
    random_state : int or None, default=None
        Seed of one loss matrix; None for a new matrix in each repetition.

    Examples
    --------
    >>> from corollary.bandit import GaussianArms
    >>> GaussianArms([0.0, 1.0], scale=0.1, random_state=1).losses(2).round(1)
    array([[-0.2,  0.8],
           [-0.2,  1. ]])
    """

    mean: Any
    scale: float = 1.0
    random_state: int | None = None

    def __post_init__(self) -> None:
        check_number("GaussianArms", "scale", self.scale, _SCALE)
        _settle(self, mean=check_array("GaussianArms", "mean", self.mean, ndim=(1,)))

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return len(self.mean)

    def _compiled(self) -> Any:
        return _build(self.mean[None], "gaussian", self.random_state, scale=self.scale)


@dataclass(frozen=True, eq=False)
class DriftingArms(Arms):
    """Losses 0 or 1 whose chances move, or jump, from one row of a table to the next.

    Parameters
    ----------
    mean : array-like of shape (n_parts, n_arms)
        Chances at the beginning of each part; after the last part comes the first.
    segment : int, default=1000
        Rounds of a part.
    smooth : bool, default=True
        Whether chances move linearly during a part, or stay and jump at its end.
    random_state : int or None, default=None
        Seed of one loss matrix; None for a new matrix in each repetition.

    Examples
    --------
    >>> from corollary.bandit import DriftingArms
    >>> DriftingArms([[0.0, 1.0], [1.0, 0.0]], segment=4).means(5)[:, 0]
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """

    mean: Any
    segment: int = 1000
    smooth: bool = True
    random_state: int | None = None

    def __post_init__(self) -> None:
        check_number("DriftingArms", "segment", self.segment, _COUNT)
        _settle(self, mean=check_array("DriftingArms", "mean", self.mean, ndim=(2,), low=0, high=1))

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return self.mean.shape[1]

    def _compiled(self) -> Any:
        return _build(self.mean, "coin", self.random_state, segment=self.segment, blend=self.smooth)


@dataclass(frozen=True, eq=False)
class AlternatingArms(Arms):
    """A deterministic adversary: one arm after the other is free, all others cost 1.

    Against it every single arm pays nearly always, and a learner that trusts the recent past is
    always late.

    Parameters
    ----------
    n : int, default=2
        Number of arms.
    period : int, default=1
        Rounds for which an arm stays free.

    Examples
    --------
    >>> from corollary.bandit import AlternatingArms
    >>> AlternatingArms(2, period=1).losses(3)
    array([[0., 1.],
           [1., 0.],
           [0., 1.]])
    """

    n: int = 2
    period: int = 1

    def __post_init__(self) -> None:
        check_number("AlternatingArms", "n", self.n, _COUNT)
        check_number("AlternatingArms", "period", self.period, _COUNT)

    random_state = None

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return self.n

    def _compiled(self) -> Any:
        return _build(1.0 - np.eye(self.n), "none", None, segment=self.period)


@dataclass(frozen=True, eq=False)
class LossMatrix(Arms):
    """A given matrix of losses.

    Parameters
    ----------
    matrix : array-like of shape (n_rounds, n_arms)
        The losses; after the last round comes the first.

    Examples
    --------
    >>> from corollary.bandit import LossMatrix
    >>> LossMatrix([[0.0, 1.0], [0.5, 0.5]]).losses(3)
    array([[0. , 1. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """

    matrix: Any

    random_state = None

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "matrix", check_array("LossMatrix", "matrix", self.matrix, ndim=(2,))
        )

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return self.matrix.shape[1]

    def _compiled(self) -> Any:
        return _build(self.matrix, "none", None)


@dataclass(frozen=True, eq=False)
class LinearArms:
    r"""Losses linear in a context: :math:`l_{t,i} = \theta_i^\top x_t + \text{noise}`.

    Contexts are uniform on the unit sphere and the noise is Gaussian. Regret is counted against
    the best arm of each context.

    Parameters
    ----------
    coef : array-like of shape (n_arms, n_features)
        Coefficients :math:`\theta_i` of each arm.
    noise : float, default=0.5
        Standard deviation of the noise.
    random_state : int or None, default=None
        Seed of one sequence of contexts and noise; None for a new one in each repetition.

    Examples
    --------
    >>> from corollary.bandit import LinearArms
    >>> arms = LinearArms([[1.0, 0.0], [0.0, 1.0]], random_state=0)
    >>> arms.contexts(3).shape
    (3, 2)
    """

    coef: Any
    noise: float = 0.5
    random_state: int | None = None

    def __post_init__(self) -> None:
        check_number("LinearArms", "noise", self.noise, _SCALE)
        _settle(self, coef=check_array("LinearArms", "coef", self.coef, ndim=(2,)))

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return self.coef.shape[0]

    @property
    def n_features(self) -> int:
        """Length of a context."""
        return self.coef.shape[1]

    def contexts(self, rounds: int, *, start: int = 0) -> np.ndarray:
        """Return the contexts of a fixed sequence.

        Parameters
        ----------
        rounds : int
            How many rounds.
        start : int, default=0
            The first round.

        Returns
        -------
        contexts : ndarray of shape (rounds, n_features)
            Unit vectors, the same at every call.
        """
        from corollary.bandit._loops.losses import context_block

        if self.random_state is None:
            raise ValueError(
                "LinearArms draws new contexts for each repetition. Give random_state an integer "
                "to fix them."
            )
        out, key = np.empty((rounds, self.n_features)), _loss_key(self.random_state)
        context_block(key, start, np.empty(1, dtype=np.uint64), out)
        return out


@dataclass(frozen=True, eq=False)
class PythonArms:
    """Losses from a Python function; slower, for worlds that are programs.

    Parameters
    ----------
    draw : callable
        ``draw(round, arm, random)`` returns the loss of the arm in that round, counted from 0;
        ``random`` is the repetition's own NumPy generator.
    n_arms : int
        Number of arms.
    mean : array-like of shape (n_arms,) or None, default=None
        Mean losses, if the arms' laws do not change; without them regret is not known.

    Examples
    --------
    >>> from corollary.bandit import PythonArms, UCB1, play
    >>> arms = PythonArms(lambda t, arm, random: random.beta(1 + arm, 2), n_arms=2)
    >>> play(UCB1(), arms, rounds=50, random_state=0).pulls.sum()
    np.int64(50)
    """

    draw: Callable[[int, int, np.random.Generator], float]
    n_arms: int
    mean: Any = None

    def __post_init__(self) -> None:
        check_number("PythonArms", "n_arms", self.n_arms, _COUNT)
        if not callable(self.draw):
            raise ValueError(
                "The 'draw' parameter of PythonArms must be a function draw(round, arm, random). "
                f"Got {self.draw!r} instead."
            )
        if self.mean is not None:
            mean = check_array("PythonArms", "mean", self.mean, ndim=(1,))
            if len(mean) != self.n_arms:
                raise ValueError(
                    f"The 'mean' parameter of PythonArms must have {self.n_arms} entries. Got "
                    f"{len(mean)} instead."
                )
            object.__setattr__(self, "mean", mean)
