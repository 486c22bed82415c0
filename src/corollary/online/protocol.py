r"""The protocol: rounds, what happened in them, and what theory allowed to happen.

In round t a learner predicts, sees the truth, suffers a loss and learns. Its **regret** is what it
lost beyond a comparator: the best of n experts, or one fixed rule u,

.. math:: \sum_{s \le t} \ell_s(\hat y_s) - \min_{u} \sum_{s \le t} \ell_s(u).

Rounds come in arrays. :meth:`OnlineLearner.partial_fit` on a chunk is the same as on its rows, one
by one; :meth:`OnlineLearner.run` goes through a whole stream and returns a :class:`Record` of every
round with the bound of the learner's theorem next to it.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from corollary.online._rows import chunks


class Rounds(NamedTuple):
    """What happened in the rounds of one chunk.

    Parameters
    ----------
    predictions : ndarray of shape (n_rounds,)
        What the learner said before it saw the truth.
    losses : ndarray of shape (n_rounds,)
        What it suffered.
    mistakes : ndarray of bool of shape (n_rounds,)
        Whether its label was wrong; all False for learners that predict numbers.
    comparator : ndarray of shape (n_rounds,)
        Cumulative loss of the comparator, from the first round of the stream; NaN without one.
    bound : ndarray of shape (n_rounds,)
        What the theorem allows after each round; infinite where it says nothing.

    Examples
    --------
    >>> from corollary.online import Halving
    >>> rounds = Halving().play([[0, 1], [1, 1]], [1, 0])
    >>> rounds.mistakes
    array([False,  True])
    """

    predictions: np.ndarray
    losses: np.ndarray
    mistakes: np.ndarray
    comparator: np.ndarray
    bound: np.ndarray


@dataclass(frozen=True)
class Record:
    """Every round of a run, and the bound beside it.

    Parameters
    ----------
    predictions : ndarray of shape (n_rounds,)
        What the learner said.
    losses : ndarray of shape (n_rounds,)
        What it suffered, round by round.
    mistakes : ndarray of bool of shape (n_rounds,)
        Where its label was wrong.
    comparator : ndarray of shape (n_rounds,)
        Cumulative loss of the comparator after each round: of the expert that is best so far, or
        of the rule that the run was given; NaN without one.
    bound : ndarray of shape (n_rounds,)
        Bound on the cumulative mistakes or the regret after each round; infinite where no theorem
        applies (vacuous).
    measure : {"mistakes", "regret", "loss"}
        What is bounded, or shown where there is no theorem.
    theorem : str
        The function that computes the bound.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.online import OnlinePerceptron
    >>> X, y = np.eye(3), np.ones(3)
    >>> record = OnlinePerceptron().run((X, y), comparator=np.ones(3))
    >>> record.truth, record.bound
    (array([1, 2, 3]), array([3., 3., 3.]))
    >>> record.holds, round(record.tightness, 6)
    (True, 1.0)
    """

    predictions: np.ndarray
    losses: np.ndarray
    mistakes: np.ndarray
    comparator: np.ndarray
    bound: np.ndarray
    measure: str
    theorem: str

    @property
    def cumulative_loss(self) -> np.ndarray:
        """Loss up to and including each round."""
        return np.cumsum(self.losses)

    @property
    def cumulative_mistakes(self) -> np.ndarray:
        """Mistakes up to and including each round."""
        return np.cumsum(self.mistakes)

    @property
    def regret(self) -> np.ndarray:
        """Loss beyond the comparator's up to and including each round."""
        return cumulative_regret(self.losses, self.comparator)

    @property
    def truth(self) -> np.ndarray:
        """The bounded quantity after each round."""
        if self.measure == "loss":
            return self.cumulative_loss
        return self.cumulative_mistakes if self.measure == "mistakes" else self.regret

    @property
    def holds(self) -> bool:
        """Whether the truth stayed within the bound in every round (up to rounding)."""
        slack = 1e-9 * (1.0 + np.abs(self.cumulative_loss))
        return bool(np.all((self.truth <= self.bound + slack) | ~np.isfinite(self.bound)))

    @property
    def tightness(self) -> float:
        """Truth over bound after the last round; 1 is tight, 0 is vacuous or without rounds."""
        if not len(self.bound) or not np.isfinite(self.bound[-1]):
            return 0.0
        truth, bound = float(self.truth[-1]), float(self.bound[-1])
        return truth / bound if bound else (1.0 if truth == 0 else np.inf)


def cumulative_regret(losses: Any, comparator: Any) -> np.ndarray:
    """Return the regret after every round.

    Parameters
    ----------
    losses : array-like of shape (n_rounds,)
        Losses of the learner, round by round.
    comparator : array-like of shape (n_rounds,)
        *Cumulative* loss of the comparator, or of the best of several so far; or a table of shape
        (n_rounds, n_comparators) of losses round by round, whose best column so far is taken.

    Returns
    -------
    regret : ndarray of shape (n_rounds,)
        Differences of cumulative losses; may be negative.

    Examples
    --------
    >>> from corollary.online import cumulative_regret
    >>> cumulative_regret([1.0, 0.0, 1.0], [[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    array([1., 1., 1.])
    """
    comparator = np.asarray(comparator, dtype=float)
    if comparator.ndim == 2:
        comparator = np.cumsum(comparator, axis=0).min(axis=1)
    losses = np.asarray(losses, dtype=float)
    if losses.shape != comparator.shape:
        raise ValueError(
            "cumulative_regret needs as many rounds of the comparator as of the learner. Got "
            f"{losses.shape} losses and {comparator.shape} of the comparator."
        )
    return np.cumsum(losses) - comparator


class OnlineLearner(ABC):
    """A learner that plays rounds.

    A learner holds its settings and, once it has played, its state in attributes that end in an
    underscore. Each subclass implements :meth:`play`; the rest is here.

    Attributes
    ----------
    measure : str
        "mistakes" or "regret": what its theorem bounds.
    theorem : str
        Name of the function that computes the bound.

    Examples
    --------
    >>> from corollary.online import OnlineLearner, WeightedMajority
    >>> isinstance(WeightedMajority(), OnlineLearner)
    True
    """

    measure = "mistakes"
    theorem = ""

    @abstractmethod
    def play(self, X: Any, y: Any = None, *, comparator: Any = None) -> Rounds:
        """Play one round for each row and learn from it.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rounds, n_features)
            Inputs, or the advice of experts, or their losses.
        y : array-like of shape (n_rounds,) or None, default=None
            Truths; None where X says everything.
        comparator : object, default=None
            What to compare with, for learners that have no experts.

        Returns
        -------
        rounds : Rounds
            Predictions, losses, mistakes and bounds.
        """

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from a chunk; the same as learning from its rows one by one.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rounds, n_features)
            Inputs of the rounds.
        y : array-like of shape (n_rounds,) or None, default=None
            Truths.

        Returns
        -------
        self : OnlineLearner
            The learner.
        """
        self.play(X, y)
        return self

    def run(
        self,
        stream: Any,
        *,
        comparator: Any = None,
        target: str | None = None,
        columns: Sequence[str] | None = None,
    ) -> Record:
        """Play a whole stream and record every round.

        The learner goes on from where it stands; the record, and the bound in it, count from the
        first round of its life if it is fresh. A learner that has played before keeps what its
        bound needs.

        Parameters
        ----------
        stream : tuple of arrays, path, data frame or iterable of chunks
            ``(X, y)`` or ``(X,)``; a Parquet or CSV file; or chunks of either kind.
        comparator : object, default=None
            What to compare with: for linear learners a vector u, for Winnow the 0/1 vector of the
            target's literals. Experts are compared with the best of them, and need none.
        target : str or None, default=None
            Column of the truths, where columns have names.
        columns : sequence of str or None, default=None
            Columns of the inputs, where columns have names; None for all others.

        Returns
        -------
        record : Record
            Predictions, losses, mistakes, comparator and bound of every round.
        """
        parts = [
            self.play(*chunk, comparator=comparator) for chunk in chunks(stream, target, columns)
        ]
        whole = Rounds(*(np.concatenate(part) for part in zip(*parts)))
        return Record(**whole._asdict(), measure=self.measure, theorem=self.theorem)
