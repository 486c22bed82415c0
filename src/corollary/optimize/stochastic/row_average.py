"""Averages of one JAX function over the rows of arrays, differentiated and compiled by JAX."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from corollary.optimize.problem.finite_sum import FiniteSum
from corollary.optimize.problem.functions import Function


class RowAverage(FiniteSum):
    r"""The function :math:`\tfrac1n\sum_if(x,r_i)` of rows :math:`r_i`.

    Numbers are in double precision, by a local context. A program is compiled once for each term
    and shape, so pass the same function object again rather than a new one;
    :func:`stochastic_gradient` runs whole epochs as one program.

    See :class:`FiniteSum`. The function ``term(x, *row)`` returns a number and is written with
    ``jax.numpy``; ``rows`` are arrays with n entries along the first axis, and a row has one entry
    of each. For ``convex`` (every term, in x), ``smoothness`` and ``strong_convexity`` (of the
    average) the caller vouches, as in :class:`Function`.

    Examples
    --------
    >>> from corollary.optimize import RowAverage
    >>> f = RowAverage(lambda x, a: (x[0] - a) ** 2 / 2, [1.0, 5.0], strong_convexity=1.0)
    >>> f.value([0.0]), f.gradient([0.0]), f.term_gradients([0.0])[:, 0]
    (6.5, array([-3.]), array([-1., -5.]))
    """

    def __init__(
        self,
        term: Callable[..., Any],
        *rows: Any,
        convex: bool | None = None,
        smoothness: float = math.inf,
        strong_convexity: float = 0.0,
    ) -> None:
        self.term, self.rows = term, tuple(np.asarray(a) for a in rows)
        lengths = {a.shape[:1] for a in self.rows}
        if len(lengths) != 1 or lengths <= {(), (0,)}:
            raise ValueError(
                "RowAverage needs arrays with the same number of rows, at least one. Got shapes "
                f"{[a.shape for a in self.rows]}."
            )
        self.n_terms = len(self.rows[0])
        claims = Function(
            term, convex=convex, smoothness=smoothness, strong_convexity=strong_convexity
        )
        self.convex, self.assumptions = claims.convex, claims.assumptions
        self.smoothness, self.strong_convexity = claims.smoothness, claims.strong_convexity

    def _value(self, x: np.ndarray) -> float:
        return self._value_and_gradient(x)[0]

    def _gradient(self, x: np.ndarray) -> np.ndarray:
        return self._value_and_gradient(x)[1]

    def _value_and_gradient(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        from corollary.core.xla import jax
        from corollary.optimize.stochastic._programs import mean_and_gradient

        with jax.enable_x64(True):
            value, gradient = mean_and_gradient(x, self.rows, term=self.term)
            return float(value), np.array(gradient)

    def _term_gradients(self, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        from corollary.core.xla import jax
        from corollary.optimize.stochastic._programs import term_gradients

        with jax.enable_x64(True):
            chosen = tuple(a[rows] for a in self.rows)
            return np.array(term_gradients(x, chosen, term=self.term))
