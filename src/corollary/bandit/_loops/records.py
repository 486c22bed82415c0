"""What the compiled game knows of arms, of games in progress and of the policy that plays them.

Arrays have one row for each game. A policy is one of the rules below, and the others are None where
the game is played, so that only its own branch is compiled.
"""

from typing import NamedTuple

import numpy as np

from corollary.core.jit import record

NO_NOISE, COIN, GAUSSIAN = range(3)


class Arms(NamedTuple):
    """What is needed to compute any loss: see ``environments.py``."""

    table: np.ndarray  # means, a row for each part of the schedule
    segment: int  # rounds for each part
    blend: bool  # whether means move linearly from one row to the next
    noise: int
    scale: float
    fixed: bool  # whether regret is counted in losses (one matrix) or in means


class Games(NamedTuple):
    """Games in progress."""

    pulls: np.ndarray  # (games, arms)
    totals: np.ndarray  # (games, arms): losses of each arm
    stream: np.ndarray  # (games,), unsigned 64-bit
    paid: np.ndarray  # (games, 3): losses so far, their means (or the regret), confidence widths


class Ledger(NamedTuple):
    """What is written down after some of the rounds."""

    rounds: np.ndarray  # after which rounds; the last entry is never reached
    paid: np.ndarray  # (games, records, 2)
    extra: np.ndarray  # (games, records, 2): both sides of the inequality that holds in every run


# `squares` sums rate * loss^2 / probability. Three places of the memory are not used.
EXP3_SCALARS = record(np.float64, "reference rate next_change squares rates free_1 free_2 free_3")


class Exp3(NamedTuple):
    """Exponential weights: their exponents, and their sums along a binary tree."""

    rate: float  # 0 for the rate that needs no horizon
    scalars: np.ndarray  # (games,) of EXP3_SCALARS
    losses: np.ndarray  # (games, arms): importance-weighted
    tree: np.ndarray  # (games, 2 * leaves)


class Confidence(NamedTuple):
    """UCB1."""

    exploration: float
    mean: np.ndarray
    width: np.ndarray  # one over the root of the number of plays


class Greedy(NamedTuple):
    """Epsilon-greedy."""

    epsilon: float
    falling: bool
    mean: np.ndarray


class BetaBelief(NamedTuple):
    """Beta posteriors of the arms' means."""

    a: np.ndarray
    b: np.ndarray
    a_spread: np.ndarray
    b_spread: np.ndarray
    log_constant: np.ndarray
    last: np.ndarray  # (games, 1): the arm played last


class NormalBelief(NamedTuple):
    """Normal posteriors of the arms' means."""

    prior_mean: float
    prior_precision: float
    data_precision: float
    mean: np.ndarray
    spread: np.ndarray


class LinearConfidence(NamedTuple):
    """LinUCB; ``arms`` holds each arm's inverse matrix, coefficients and log determinant."""

    alpha: float  # negative for the theorem's radius
    regularisation: float
    noise: float
    norm: float
    delta: float
    arms: np.ndarray  # (games, arms, d * d + d + 1)


class LinearBelief(NamedTuple):
    """Thompson sampling with the same memory."""

    noise: float
    arms: np.ndarray
