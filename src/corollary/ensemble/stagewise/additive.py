r"""The additive class :math:`H^A=\{\sum_{i\le m}\beta_if_i\}` and what a base class brings to it.

Sums of stumps are richer than stumps: m of them can change sign m times along a line. Sums of
linear functions are linear functions again, so that boosting them gains nothing: under the square
loss the first step is already the whole fit, and under any loss the limit is the single linear
model with the smallest loss.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.ensemble.stagewise.stump import Stump
from corollary.risk import check_signs


@dataclass(frozen=True)
class AdditiveFunction:
    """A sum of functions with coefficients; sums and multiples of such are such again.

    Parameters
    ----------
    functions : tuple of callables
        Each maps rows of shape (n_samples, n_features) to n_samples numbers.
    coefficients : tuple of float
        One for each.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import AdditiveFunction
    >>> first = AdditiveFunction((lambda X: X[:, 0],), (2.0,))
    >>> (first + 3 * first)(np.array([[1.0], [2.0]]))
    array([ 8., 16.])
    """

    functions: tuple[Callable[[Any], Any], ...]
    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.functions) != len(self.coefficients):
            raise ValueError(
                "AdditiveFunction needs one coefficient per function. Got "
                f"{len(self.functions)} functions and {len(self.coefficients)} coefficients."
            )

    def __call__(self, X: Any) -> np.ndarray:
        """Evaluate the sum."""
        X = np.asarray(X)
        total = np.zeros(len(X))
        for coefficient, function in zip(self.coefficients, self.functions):
            total = total + coefficient * np.asarray(function(X), dtype=float)
        return total

    def __add__(self, other: "AdditiveFunction") -> "AdditiveFunction":
        return AdditiveFunction(
            self.functions + other.functions, self.coefficients + other.coefficients
        )

    def __mul__(self, factor: float) -> "AdditiveFunction":
        return AdditiveFunction(self.functions, tuple(factor * c for c in self.coefficients))

    __rmul__ = __mul__


def linear_sum(coefs: Any, intercepts: Any, weights: Any) -> tuple[np.ndarray, float]:
    r"""Return the one linear function that a sum of linear functions is.

    Parameters
    ----------
    coefs : array-like of shape (n_members, n_features)
        Coefficients :math:`w_i` of each member.
    intercepts : array-like of shape (n_members,)
        Intercepts :math:`b_i`.
    weights : array-like of shape (n_members,)
        :math:`\beta_i`.

    Returns
    -------
    coef : ndarray of shape (n_features,)
        :math:`\sum_i\beta_iw_i`.
    intercept : float
        :math:`\sum_i\beta_ib_i`.

    Examples
    --------
    >>> from corollary.ensemble import linear_sum
    >>> linear_sum([[1.0, 0.0], [0.0, 2.0]], [1.0, 1.0], [0.5, 2.0])
    (array([0.5, 4. ]), 2.5)
    """
    W = np.asarray(coefs, dtype=float)
    b, beta = np.asarray(intercepts, dtype=float), np.asarray(weights, dtype=float)
    if W.ndim != 2 or b.shape != (len(W),) or beta.shape != (len(W),):
        raise ValueError(
            "linear_sum needs coefficients of shape (n_members, n_features), and one intercept and "
            f"weight per member. Got shapes {W.shape}, {b.shape} and {beta.shape}."
        )
    return beta @ W, float(beta @ b)


def stumps_needed(labels: Any) -> int:
    r"""Return how many stumps a sum needs to label points along a line with positive margin.

    Every stump that is not constant adds one jump, and its sum changes sign with a jump only, so c
    changes of sign take at least c stumps. Without a constant the sum has opposite values at the
    two ends, so an even number of changes takes one constant stump more.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Labels -1 and +1 of distinct points, in their order along the line.

    Returns
    -------
    number : int
        c if the number c of changes is odd, else c + 1. An interval takes three.

    Examples
    --------
    >>> from corollary.ensemble import stumps_needed
    >>> stumps_needed([-1, 1, 1]), stumps_needed([-1, 1, 1, -1])
    (1, 3)
    """
    y = check_signs("stumps_needed", labels)
    if y.ndim != 1 or not len(y):
        raise ValueError(f"stumps_needed needs a vector of labels. Got shape {y.shape}.")
    changes = int((y[1:] != y[:-1]).sum())
    return changes if changes % 2 else changes + 1


def stump_sum(points: Any, labels: Any) -> AdditiveFunction:
    """Return the shortest sum of stumps with the sign of given labels along a line.

    Parameters
    ----------
    points : array-like of shape (n_samples,)
        Distinct numbers.
    labels : array-like of shape (n_samples,)
        Labels -1 and +1.

    Returns
    -------
    function : AdditiveFunction
        Values -1 and +1 equal to the labels; :func:`stumps_needed` stumps with coefficients of
        size one.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import stump_sum
    >>> interval = stump_sum([0.0, 1.0, 2.0], [-1, 1, -1])
    >>> len(interval.functions), interval(np.array([[0.2], [0.9], [1.6]]))
    (3, array([-1.,  1., -1.]))
    """
    x, y = np.asarray(points, dtype=float), check_signs("stump_sum", labels)
    if x.ndim != 1 or x.shape != y.shape or len(np.unique(x)) != len(x) or not len(x):
        raise ValueError(
            "stump_sum needs distinct points on a line and one label for each. Got shapes "
            f"{x.shape} and {y.shape}."
        )
    order = np.argsort(x)
    x, y = x[order], y[order]
    at = np.flatnonzero(y[1:] != y[:-1])
    stumps = [Stump(0, float((x[i] + x[i + 1]) / 2), int(y[i + 1]), np.nan) for i in at]
    if len(stumps) % 2 == 0:
        # Alternating stumps cancel at both ends; the constant gives the ends their sign.
        stumps.append(Stump(0, -np.inf, int(y[0]), np.nan))
    return AdditiveFunction(tuple(stump.predict for stump in stumps), (1.0,) * len(stumps))
