r"""Winnow: multiplicative weights that find few relevant literals among many.

Inputs and labels are bits. All n weights start at 1; the answer is 1 iff
:math:`\langle w, x \rangle \ge n`. After a mistake the weights of the active inputs are doubled
(the truth was 1) or halved (it was 0). On disjunctions of k literals the mistakes grow like
:math:`k \log n`, where the perceptron's grow like :math:`k n`.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from corollary.core.estimator import Count, checked
from corollary.online._rows import binary_rows, check_width, truths
from corollary.online.protocol import OnlineLearner, Rounds


@checked
def winnow_mistake_bound(n_literals: Count, n_features: Count) -> float:
    r"""Return the most mistakes of Winnow on a monotone disjunction.

    Parameters
    ----------
    n_literals : int
        k, literals of the disjunction that labels the rounds.
    n_features : int
        n, inputs.

    Returns
    -------
    mistakes : float
        :math:`3 k (\log_2 n + 1) + 2`: at most :math:`M_p = k (\log_2 n + 1)` on positive rounds,
        since a relevant weight never falls and stays below 2n, and at most :math:`2 M_p + 2` on
        negative ones.

    Notes
    -----
    Guarantee: for every stream that the disjunction labels; checked by
    ``tests/online/test_winnow.py::test_mistake_bound_on_random_and_greedy_streams``.

    Examples
    --------
    >>> from corollary.online import winnow_mistake_bound
    >>> winnow_mistake_bound(3, 1024)
    101.0
    """
    return float(3 * n_literals * (np.log2(n_features) + 1) + 2)


@dataclass
class Winnow(OnlineLearner):
    """Double or halve the weights of the active inputs after a mistake.

    Rounds are rows of zeros and ones, dense or CSR, and labels 0 and 1. The comparator is the 0/1
    vector of the target's literals.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        Powers of two, never above twice the number of features.

    See Also
    --------
    winnow_mistake_bound : Recorded by :meth:`run` as long as the comparator is never wrong.
    AllSubsetsWinnow : Learns disjunctions of conjunctions.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.online import Winnow, disjunction
    >>> X = np.random.default_rng(0).integers(0, 2, size=(500, 64))
    >>> target = disjunction(3, 10)
    >>> learner = Winnow()
    >>> record = learner.run((X, target(X)), comparator=target.literals(64))
    >>> bool(record.truth[-1] <= record.bound[-1] == 44.0)
    True
    """

    weights_: np.ndarray = field(init=False, repr=False)
    comparator_mistakes_: int = field(default=0, init=False, repr=False)

    measure = "mistakes"
    theorem = "winnow_mistake_bound"

    def play(self, X: Any, y: Any = None, *, comparator: Any = None) -> Rounds:
        """Play one round for each row; see :class:`OnlineLearner`.

        The comparator is the 0/1 vector of the target's literals.
        """
        from corollary.online._loops.winnow import winnow_dense, winnow_sparse

        X = binary_rows("Winnow", X)
        m, n = X.shape
        y = truths("Winnow", y, m, (0.0, 1.0))
        if not hasattr(self, "weights_"):
            self.weights_ = np.ones(n)
        check_width("Winnow", len(self.weights_), n)
        scores = np.empty(m)
        if sparse.issparse(X):
            winnow_sparse(X.indices, X.indptr, y, float(n), self.weights_, scores)
        else:
            winnow_dense(X, y, float(n), self.weights_, scores)
        predictions = (scores >= n).astype(float)
        mistakes = predictions != y
        compared, bound = np.full(m, np.nan), np.full(m, np.inf)
        if comparator is not None:
            literals = np.asarray(comparator, dtype=float)
            if literals.shape != (n,) or not np.isin(literals, (0, 1)).all() or not literals.any():
                raise ValueError(
                    f"The comparator of Winnow must be a vector of {n} zeros and ones, not all "
                    f"zero. Got shape {literals.shape}."
                )
            wrong = (np.asarray(X @ literals) > 0) != (y > 0.5)
            compared = np.cumsum(np.append(self.comparator_mistakes_, wrong))[1:].astype(float)
            self.comparator_mistakes_ += int(wrong.sum())
            allowed = winnow_mistake_bound(int(literals.sum()), n)
            bound = np.where(compared == 0, allowed, np.inf)
        return Rounds(predictions, mistakes.astype(float), mistakes, compared, bound)

    def predict(self, X: Any) -> np.ndarray:
        """Return what the current weights say of rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows of zeros and ones.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            0.0 or 1.0.
        """
        X = binary_rows("Winnow", X)
        weights = getattr(self, "weights_", np.ones(X.shape[1]))
        check_width("Winnow", len(weights), X.shape[1])
        return (np.asarray(X @ weights) >= X.shape[1]).astype(float)
