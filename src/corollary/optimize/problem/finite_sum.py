r"""Averages of many functions, of which a step may look at a few.

:math:`f(x)=\tfrac1n\sum_if_i(x)`: the mean of the gradients of a uniformly drawn set of terms has
the gradient of f as its expectation, which is all that stochastic methods ask for.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from corollary.optimize.problem.functions import Smooth


class FiniteSum(Smooth):
    """The average of ``n_terms`` functions.

    Attributes
    ----------
    n_terms : int
        Number of functions.

    See Also
    --------
    Average : Of any functions.
    EmpiricalRisk : Of losses of a linear predictor.

    Examples
    --------
    >>> from corollary.optimize import Average, FiniteSum, Quadratic
    >>> f = Average([Quadratic([[1.0]], [-1.0]), Quadratic([[3.0]], [5.0])])
    >>> isinstance(f, FiniteSum), f.n_terms, f.term_gradients([1.0])[:, 0], f.gradient([1.0])
    (True, 2, array([0., 8.]), array([4.]))
    """

    n_terms: int

    def term_gradients(self, x: Any, rows: Any = None) -> np.ndarray:
        """Return the gradient of each term.

        Parameters
        ----------
        x : array-like of shape (n,)
            The point.
        rows : array-like of int or None, default=None
            Which terms; None for all of them.

        Returns
        -------
        gradients : ndarray of shape (n_rows, n)
            One row for each.
        """
        chosen = np.arange(self.n_terms) if rows is None else np.asarray(rows)
        return self._term_gradients(np.asarray(x, dtype=float), chosen)

    def batch_gradient(self, x: Any, rows: Any) -> np.ndarray:
        """Return the mean of the gradients of some terms.

        Parameters
        ----------
        x : array-like of shape (n,)
            The point.
        rows : array-like of int
            Which terms; one that is named twice counts twice.

        Returns
        -------
        gradient : ndarray of shape (n,)
            The mean.
        """
        return self._batch_gradient(np.asarray(x, dtype=float), np.asarray(rows))

    @abstractmethod
    def _term_gradients(self, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the gradients of some terms."""

    def _batch_gradient(self, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return self._term_gradients(x, rows).mean(axis=0)


class Average(FiniteSum):
    """The average of functions.

    Parameters
    ----------
    functions : sequence of Smooth
        The terms.

    Notes
    -----
    Its constants are the means of those of the terms: valid, and exact where the terms have the
    same curvature.

    Examples
    --------
    >>> from corollary.optimize import Average, Quadratic
    >>> f = Average([Quadratic([[1.0]]), Quadratic([[3.0]])])
    >>> f.value([2.0]), f.smoothness
    (4.0, 2.0)
    """

    def __init__(self, functions: Sequence[Smooth]) -> None:
        if not functions:
            raise ValueError("Average needs at least one function. Got none.")
        self.functions = tuple(functions)
        self.n_terms = len(self.functions)
        self.convex = True if all(f.convex for f in self.functions) else None
        self.smoothness = float(np.mean([f.smoothness for f in self.functions]))
        self.strong_convexity = (
            float(np.mean([f.strong_convexity for f in self.functions])) if self.convex else 0.0
        )
        self.assumptions = tuple(dict.fromkeys(a for f in self.functions for a in f.assumptions))

    def _value(self, x: np.ndarray) -> float:
        return float(np.mean([f.value(x) for f in self.functions]))

    def _gradient(self, x: np.ndarray) -> np.ndarray:
        return self._batch_gradient(x, np.arange(self.n_terms))

    def _term_gradients(self, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return np.array([self.functions[i].gradient(x) for i in rows])

    def _hessian(self, x: np.ndarray) -> np.ndarray:
        return np.mean([f.hessian(x) for f in self.functions], axis=0)
