r"""Winnow on all conjunctions of inputs: few mistakes, exponential time.

The features of a row of n bits are the :math:`2^n` products of subsets of its inputs. Log-weights
are linear in the past mistakes, :math:`w_S = \exp(-\ln 2 \sum_q \alpha_q [\Phi(x_q)]_S)` with
:math:`\alpha_q = \hat y_q - y_q`, but no kernel is known that sums their exponentials quickly: a
prediction visits every subset of the active inputs.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corollary.core.estimator import Count, checked
from corollary.online._rows import binary_table, check_width, truths
from corollary.online.boolean.functions import DNF
from corollary.online.protocol import OnlineLearner, Rounds

# 2^22 weights are 32 MB.
MAX_INPUTS = 22


@checked
def all_subsets_winnow_bound(n_terms: Count, n_features: Count) -> float:
    r"""Return the most mistakes of Winnow on all subsets of the inputs.

    Parameters
    ----------
    n_terms : int
        k, terms of the monotone DNF that labels the rounds.
    n_features : int
        n, inputs.

    Returns
    -------
    mistakes : float
        :math:`3 k (n + 1) + 2`, Winnow's bound on :math:`2^n` features.

    Notes
    -----
    Guarantee: checked by ``tests/online/test_all_subsets.py::test_bound_holds``.

    Examples
    --------
    >>> from corollary.online import all_subsets_winnow_bound
    >>> all_subsets_winnow_bound(3, 10)
    101.0
    """
    return float(3 * n_terms * (n_features + 1) + 2)


@dataclass
class AllSubsetsWinnow(OnlineLearner):
    """Learn monotone disjunctive normal forms by Winnow on all conjunctions.

    Rounds are rows of at most 22 zeros and ones and labels 0 and 1; give ``(x, 1 - x)`` for
    targets with negations. The comparator is the target, a monotone :class:`DNF`.

    Attributes
    ----------
    weights_ : ndarray of shape (2 ** n_features,)
        Weight of each subset of the inputs; bit j of the index stands for input j + 1.

    See Also
    --------
    all_subsets_winnow_bound : Recorded by :meth:`run` as long as the comparator is never wrong.
    KernelPerceptron : More mistakes, but cheap, with the ANOVA kernel.

    Examples
    --------
    >>> from corollary.online import DNF, AllSubsetsWinnow, all_inputs
    >>> X, target = all_inputs(8), DNF(((1, 2), (5, 6, 7)))
    >>> learner = AllSubsetsWinnow()
    >>> record = learner.run((X, target(X)), comparator=target)
    >>> bool(record.truth[-1] <= record.bound[-1] == 56.0)
    True
    """

    weights_: np.ndarray = field(init=False, repr=False)
    comparator_mistakes_: int = field(default=0, init=False, repr=False)

    measure = "mistakes"
    theorem = "all_subsets_winnow_bound"

    def play(self, X: Any, y: Any = None, *, comparator: Any = None) -> Rounds:
        """Play one round for each row; see :class:`OnlineLearner`.

        The comparator is the target, a monotone DNF.
        """
        from corollary.online._loops.winnow import winnow_subsets

        X = binary_table("AllSubsetsWinnow", X)
        m, n = X.shape
        y = truths("AllSubsetsWinnow", y, m, (0.0, 1.0))
        if n > MAX_INPUTS:
            raise ValueError(
                f"AllSubsetsWinnow keeps 2^n weights and takes at most {MAX_INPUTS} inputs. Got "
                f"{n}; use KernelPerceptron with the ANOVA kernel."
            )
        if not hasattr(self, "weights_"):
            self.weights_ = np.ones(2**n)
        check_width("AllSubsetsWinnow", len(self.weights_).bit_length() - 1, n)
        scores = np.empty(m)
        winnow_subsets(_masks(X), y, float(2**n), self.weights_, scores)
        predictions = (scores >= 2**n).astype(float)
        mistakes = predictions != y
        compared, bound = np.full(m, np.nan), np.full(m, np.inf)
        if comparator is not None:
            if not isinstance(comparator, DNF) or not comparator.monotone or not comparator.terms:
                raise ValueError(
                    "The comparator of AllSubsetsWinnow must be a monotone DNF with at least one "
                    f"term. Got {comparator!r}."
                )
            wrong = comparator(X) != y
            compared = np.cumsum(np.append(self.comparator_mistakes_, wrong))[1:].astype(float)
            self.comparator_mistakes_ += int(wrong.sum())
            allowed = all_subsets_winnow_bound(comparator.n_terms, n)
            bound = np.where(compared == 0, allowed, np.inf)
        return Rounds(predictions, mistakes.astype(float), mistakes, compared, bound)

    def predict(self, X: Any) -> np.ndarray:
        """Return what the current weights say of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of zeros and ones.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            0.0 or 1.0.
        """
        from corollary.online._loops.winnow import subset_scores

        X = binary_table("AllSubsetsWinnow", X)
        weights = getattr(self, "weights_", None)
        if weights is None:  # all weights are 1: a row with b ones scores 2^b
            return (X.sum(axis=1) >= X.shape[1]).astype(float)
        check_width("AllSubsetsWinnow", len(weights).bit_length() - 1, X.shape[1])
        return (subset_scores(_masks(X), weights) >= len(weights)).astype(float)


def _masks(X: np.ndarray) -> np.ndarray:
    return X.astype(np.int64) @ (1 << np.arange(X.shape[1], dtype=np.int64))
