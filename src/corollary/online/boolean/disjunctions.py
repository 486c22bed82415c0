r"""Learning disjunctions by experts and by the perceptron, to compare with Winnow.

One expert for each monotone disjunction of k literals makes weighted majority a learner with few
mistakes and exponential cost. The perceptron is cheap, but its bound grows with n.
"""

import math
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from corollary.core.estimator import Count, NonNegative, checked
from corollary.online._rows import binary_table, check_width
from corollary.online.boolean.functions import DNF
from corollary.online.experts.majority import WeightedMajority
from corollary.online.protocol import OnlineLearner, Rounds

# Advice of this many experts for a block of rounds stays in memory without notice.
MAX_EXPERTS = 200_000


@checked
def disjunction_experts_bound(
    best_mistakes: NonNegative, n_features: Count, n_literals: Count
) -> float:
    r"""Return the most mistakes of weighted majority over all disjunctions of k literals.

    .. math:: M \le c \, M_* + c \, k \ln\frac{n e}{k}, \qquad
              c = \frac{1}{\ln(2 / (1 + 1/e))} = 2.63

    Parameters
    ----------
    best_mistakes : float
        :math:`M_*`, mistakes of the best disjunction.
    n_features : int
        n, inputs.
    n_literals : int
        k, literals of each disjunction, at most n.

    Returns
    -------
    mistakes : float
        The bound for :math:`\beta = 1/e`, from :math:`\binom nk \le (n e / k)^k` experts.

    Notes
    -----
    Guarantee: for every stream; checked by
    ``tests/online/test_disjunctions.py::test_experts_bound_holds``.

    Examples
    --------
    >>> from corollary.online import disjunction_experts_bound
    >>> round(disjunction_experts_bound(0, 20, 2), 1)
    17.4
    """
    if n_literals > n_features:
        raise ValueError(
            "disjunction_experts_bound needs n_literals of at most n_features. Got "
            f"{n_literals} and {n_features}."
        )
    constant = 1 / np.log(2 / (1 + np.exp(-1)))
    return float(constant * (best_mistakes + n_literals * np.log(n_features * math.e / n_literals)))


def disjunction_experts(n_features: int, n_literals: int) -> np.ndarray:
    """Return all monotone disjunctions of k literals, as rows of inputs.

    Parameters
    ----------
    n_features : int
        n, inputs.
    n_literals : int
        k, literals of each.

    Returns
    -------
    experts : ndarray of int of shape (n choose k, n_literals)
        Indices of inputs, from 0.

    Examples
    --------
    >>> from corollary.online import disjunction_experts
    >>> disjunction_experts(3, 2).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    count = comb(n_features, n_literals)
    if not 1 <= n_literals <= n_features or count > MAX_EXPERTS:
        raise ValueError(
            f"There must be 1 to {MAX_EXPERTS} disjunctions, with n_literals in the range "
            f"[1, n_features]. Got {count} for n_features={n_features} and "
            f"n_literals={n_literals}; use Winnow, which needs no list of them."
        )
    return np.array(list(combinations(range(n_features), n_literals)))


@dataclass
class DisjunctionExperts(OnlineLearner):
    r"""Weighted majority over all monotone disjunctions of k literals.

    Rounds are rows of zeros and ones and labels 0 and 1. Time and memory grow like
    :math:`\binom nk`.

    Parameters
    ----------
    n_literals : int, default=2
        k, literals of each expert.

    Attributes
    ----------
    vote_ : WeightedMajority
        The experts' weights and mistakes.
    experts_ : ndarray of int of shape (n_experts, n_literals)
        Inputs of each expert, from 0.

    See Also
    --------
    disjunction_experts_bound : Recorded by :meth:`run`.
    Winnow : Nearly the same bound in linear time.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.online import DisjunctionExperts, disjunction
    >>> X = np.random.default_rng(0).integers(0, 2, size=(200, 10))
    >>> learner = DisjunctionExperts(n_literals=2)
    >>> record = learner.run((X, disjunction(3, 7)(X)))
    >>> str(learner.best_), record.holds
    ('x3 | x7', True)
    """

    n_literals: int = 2
    vote_: WeightedMajority = field(init=False, repr=False)
    experts_: np.ndarray = field(init=False, repr=False)

    measure = "mistakes"
    theorem = "disjunction_experts_bound"

    @property
    def best_(self) -> DNF:
        """The disjunction with the fewest mistakes so far."""
        best = self.experts_[int(np.argmin(self.vote_.expert_mistakes_))]
        return DNF(tuple((int(j) + 1,) for j in best))

    def play(self, X: Any, y: Any = None, *, comparator: Any = None) -> Rounds:
        """Play one round for each row; see :class:`OnlineLearner`."""
        X = binary_table("DisjunctionExperts", X)
        if not hasattr(self, "experts_"):
            self.experts_ = disjunction_experts(X.shape[1], self.n_literals)
            self.n_features_ = X.shape[1]
            self.vote_ = WeightedMajority()
        check_width("DisjunctionExperts", self.n_features_, X.shape[1])
        y = np.asarray(y)
        block = max(1, 2**22 // len(self.experts_))
        parts = [
            self.vote_.play(self._advice(X[i : i + block]), y[i : i + block])
            for i in range(0, len(X), block)
        ] or [self.vote_.play(self._advice(X), y)]
        rounds = Rounds(*(np.concatenate(part) for part in zip(*parts)))
        free = disjunction_experts_bound(0, X.shape[1], self.n_literals)
        slope = disjunction_experts_bound(1, X.shape[1], self.n_literals) - free
        return rounds._replace(bound=slope * rounds.comparator + free)

    def _advice(self, X: np.ndarray) -> np.ndarray:
        return X[:, self.experts_].max(axis=2)

    def predict(self, X: Any) -> np.ndarray:
        """Return the weighted majority's answer, without learning.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of zeros and ones.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            0.0 or 1.0.
        """
        return self.vote_.predict(self._advice(binary_table("DisjunctionExperts", X)))


@checked
def perceptron_disjunction_bound(n_literals: Count, n_features: Count) -> float:
    r"""Return the most mistakes of the perceptron on a monotone disjunction.

    Parameters
    ----------
    n_literals : int
        k, literals of the disjunction.
    n_features : int
        n, inputs; the perceptron sees (x, 1) and labels -1 and 1.

    Returns
    -------
    mistakes : float
        :math:`(4 k + 1)(n + 1)`, from the witness of :func:`disjunction_witness`.

    Notes
    -----
    Guarantee: for every stream that the disjunction labels; checked by
    ``tests/online/test_disjunctions.py::test_perceptron_bound_holds``.

    Examples
    --------
    >>> from corollary.online import perceptron_disjunction_bound
    >>> perceptron_disjunction_bound(3, 1024)
    13325.0
    """
    return float((4 * n_literals + 1) * (n_features + 1))


def disjunction_witness(target: DNF, n_features: int) -> np.ndarray:
    """Return weights on (x, 1) that separate a monotone disjunction with margin 1.

    Parameters
    ----------
    target : DNF
        A monotone disjunction.
    n_features : int
        n, inputs.

    Returns
    -------
    u : ndarray of shape (n_features + 1,)
        2 on the literals, 0 elsewhere and -1 on the constant; its squared length is 4k + 1.

    Examples
    --------
    >>> from corollary.online import disjunction, disjunction_witness
    >>> disjunction_witness(disjunction(1, 3), 3)
    array([ 2.,  0.,  2., -1.])
    """
    return np.append(2.0 * target.literals(n_features), -1.0)
