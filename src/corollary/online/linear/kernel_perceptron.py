r"""The perceptron in the feature space of a kernel, with a budget of support rows.

:math:`w_t = \sum_q y_q \Phi(x_q)` over the rounds q with a mistake, so the score of x is
:math:`\sum_q y_q k(x_q, x)`. With the ANOVA kernel, whose features are all conjunctions of inputs,
it learns disjunctive normal forms at linear cost for each support row.
"""

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np

from corollary.core.estimator import Count, checked
from corollary.kernels import RBF, Kernel, check_kernel
from corollary.online._rows import truths
from corollary.online.protocol import OnlineLearner, Rounds
from corollary.risk import sign

# Rounds whose kernel values are computed together.
BLOCK = 256


@checked
def kernel_perceptron_dnf_bound(n_terms: Count, n_features: Count) -> float:
    r"""Return the most mistakes of the ANOVA kernel perceptron on a DNF of k terms.

    Parameters
    ----------
    n_terms : int
        k, terms of the target.
    n_features : int
        n, largest number of ones of a row: the inputs of a monotone target, or the n inputs of a
        general one that is shown :math:`(x, 1 - x)`.

    Returns
    -------
    mistakes : float
        :math:`(4 k + 1) 2^n`: the weights 2 on the terms and -1 on the constant have margin 1,
        and :math:`k(x, x) \le 2^n`.

    Notes
    -----
    Guarantee: for every stream that the target labels; checked by
    ``tests/online/test_kernel_perceptron.py::test_dnf_bound_holds``.

    Examples
    --------
    >>> from corollary.online import kernel_perceptron_dnf_bound
    >>> kernel_perceptron_dnf_bound(3, 5)
    416.0
    """
    return float((4 * n_terms + 1) * 2.0**n_features)


@dataclass
class KernelPerceptron(OnlineLearner):
    r"""Add to a kernel expansion the rows on which its score has the wrong sign.

    Rounds are inputs of the kernel and labels -1 and 1. The comparator is a number U: the length
    of some rule in the feature space that has margin 1 in every round.

    Parameters
    ----------
    kernel : Kernel or str, default=RBF(length_scale=1.0)
        Any kernel of :mod:`corollary.kernels`, or a name.
    budget : int or None, default=None
        Most support rows; beyond it the oldest is forgotten. None for no limit.

    Attributes
    ----------
    support_ : ndarray of shape (n_support, n_features), or list of inputs
        Rows with a mistake, oldest first.
    alpha_ : ndarray of shape (n_support,)
        Their labels.
    n_forgotten_ : int
        Support rows dropped for the budget.

    See Also
    --------
    perceptron_mistake_bound : Recorded by :meth:`run`, as long as nothing was forgotten.
    kernel_perceptron_dnf_bound : For the ANOVA kernel on Boolean targets.

    Notes
    -----
    Kernel values of a block of rounds are computed together. They, and with them the scores, may
    differ from those of single rounds in the last digits; where they are exact, as on bits, a
    chunk equals its rows one by one exactly.

    Examples
    --------
    >>> from corollary.kernels import ANOVA
    >>> from corollary.online import DNF, KernelPerceptron, all_inputs
    >>> X = all_inputs(4)
    >>> y = 2 * DNF(((1, 2), (3, 4)))(X) - 1
    >>> learner = KernelPerceptron(kernel=ANOVA())
    >>> [int(learner.run((X, y)).mistakes.sum()) for _ in range(4)]
    [6, 9, 2, 0]
    """

    kernel: Any = field(default_factory=RBF)
    budget: int | None = None
    support_: Any = field(default=None, init=False, repr=False)
    alpha_: np.ndarray = field(default_factory=lambda: np.zeros(0), init=False, repr=False)
    n_forgotten_: int = field(default=0, init=False, repr=False)
    squared_radius_: float = field(default=0.0, init=False, repr=False)

    measure = "mistakes"
    theorem = "perceptron_mistake_bound"

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel | str):
            raise ValueError(
                "The 'kernel' parameter of KernelPerceptron must be a Kernel or a str. Got "
                f"{self.kernel!r} instead."
            )
        check_kernel(self.kernel)
        if self.budget is not None and (
            isinstance(self.budget, bool)
            or not isinstance(self.budget, Integral)
            or self.budget < 1
        ):
            raise ValueError(
                "The 'budget' parameter of KernelPerceptron must be None or an int in the range "
                f"[1, inf). Got {self.budget!r} instead."
            )

    def play(self, X: Any, y: Any = None, *, comparator: Any = None) -> Rounds:
        """Play one round for each input; see :class:`OnlineLearner`.

        The comparator is the length of a rule with margin 1.
        """
        if comparator is not None and not (np.ndim(comparator) == 0 and 0 <= comparator < np.inf):
            raise ValueError(
                "The comparator of KernelPerceptron must be a number: the length of a rule that "
                f"has margin 1 in every round. Got {comparator!r}."
            )
        X = _inputs(X)
        y = truths("KernelPerceptron", y, len(X), (-1.0, 1.0))
        parts = [
            self._play_block(X[i : i + BLOCK], y[i : i + BLOCK], comparator)
            for i in range(0, len(X), BLOCK)
        ]
        if not parts:
            nothing = np.zeros(0)
            return Rounds(nothing, nothing, nothing.astype(bool), nothing, nothing)
        return Rounds(*(np.concatenate(part) for part in zip(*parts)))

    def _play_block(self, X: Any, y: np.ndarray, comparator: float | None) -> Rounds:
        from corollary.online._loops.kernel_perceptron import kernel_rounds

        kernel = check_kernel(self.kernel, n_features=_width(X))
        m = len(y)
        outer = np.zeros((m, 0))
        if len(self.alpha_):
            outer = np.ascontiguousarray(kernel.gram(X, self.support_))
        inner = np.ascontiguousarray(kernel.gram(X))
        scores, added = np.empty(m), np.empty(m, dtype=np.int64)
        budget = np.iinfo(np.int64).max if self.budget is None else int(self.budget)
        intact = not self.n_forgotten_
        old, new, count, first = kernel_rounds(outer, inner, self.alpha_, y, budget, scores, added)
        kept = added[new:count]
        self.support_ = _join(self.support_, old, X, kept)
        self.alpha_ = np.concatenate([self.alpha_[old:], y[kept]])
        self.n_forgotten_ += old + new
        mistakes = y * scores <= 0
        radius = np.sqrt(np.maximum.accumulate(np.append(self.squared_radius_, kernel.diag(X)))[1:])
        self.squared_radius_ = float(radius[-1] ** 2)
        bound = np.full(m, np.inf)
        if comparator is not None and intact:
            # What is forgotten after a round matters from the next one on.
            bound[: first + 1] = (comparator * radius[: first + 1]) ** 2
        return Rounds(sign(scores), mistakes.astype(float), mistakes, np.full(m, np.nan), bound)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of inputs under the current expansion.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or the kernel's own kind of inputs
            Inputs.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Kernel expansions.
        """
        X = _inputs(X)
        if not len(self.alpha_):
            return np.zeros(len(X))
        kernel = check_kernel(self.kernel, n_features=_width(X))
        return np.asarray(kernel.gram(X, self.support_) @ self.alpha_)

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels of inputs under the current expansion.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or the kernel's own kind of inputs
            Inputs.

        Returns
        -------
        labels : ndarray of int of shape (n_samples,)
            Signs with sign(0) = +1.
        """
        return sign(self.decision_function(X))


def _inputs(X: Any) -> Any:
    """Return numbers as a table, and anything else (strings, graphs) as a list."""
    if isinstance(X, list | tuple) and len(X) and isinstance(X[0], str):
        return list(X)
    array = np.asarray(X)
    if array.dtype.kind not in "biuf":
        return list(X)
    if array.ndim != 2:
        raise ValueError(
            "KernelPerceptron takes a table with one row for each round. Got shape "
            f"{array.shape}; a single round is a table of one row."
        )
    return np.ascontiguousarray(array, dtype=np.float64)


def _width(X: Any) -> int | None:
    return X.shape[1] if isinstance(X, np.ndarray) else None


def _join(support: Any, old: int, X: Any, kept: np.ndarray) -> Any:
    if isinstance(X, list):
        return [*([] if support is None else support[old:]), *(X[i] for i in kept)]
    return X[kept] if support is None else np.vstack([support[old:], X[kept]])
