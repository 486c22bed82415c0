"""Kernels between probability distributions on a finite set.

Inputs are probability vectors, an array of shape (n, d) whose rows are non-negative and sum to
one, for example histograms.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.schema import Number, Schema
from corollary.kernels import _arrays as arrays
from corollary.kernels._parametrised import hyperparameter
from corollary.kernels.base import Kernel


class _OnDistributions(Kernel):
    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        name = type(self).__name__
        X, Y = arrays.vector_pair(name, X, Y)

        def roots(Z: Any) -> Any:
            if isinstance(Z, np.ndarray) and (
                (Z < 0).any() or not np.allclose(Z.sum(axis=1), 1.0, rtol=0, atol=1e-8)
            ):
                raise ValueError(
                    f"{name} needs probability vectors: rows that are non-negative and sum to 1. "
                    "Divide each row by its sum."
                )
            return arrays.safe_sqrt(Z + 0.0)

        return arrays.both(roots, X, Y)

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        K = self._of_affinity(P @ Q.T)
        return arrays.with_diagonal(K, 1.0) if same else K

    def _diag(self, P: Any) -> Any:
        return P.__array_namespace__().ones(P.shape[0], dtype=P.dtype)

    def _of_affinity(self, affinity: Any) -> Any:
        return affinity


@dataclass(frozen=True, eq=False)
class Bhattacharyya(_OnDistributions):
    """Bhattacharyya kernel ``sum_i sqrt(p_i q_i)``.

    Its features are the square roots of the probabilities, a point on the sphere.

    Examples
    --------
    >>> from corollary.kernels import Bhattacharyya
    >>> Bhattacharyya()([0.5, 0.5, 0.0], [0.5, 0.0, 0.5])
    0.5...
    """

    _schema = Schema()


@dataclass(frozen=True, eq=False)
class HellingerRBF(_OnDistributions):
    """Gaussian kernel of the Hellinger distance, ``exp(-H(p, q)^2 / (2 length_scale^2))``.

    Parameters
    ----------
    length_scale : float, default=1.0
        Width. The distance ``H^2 = 1 - sum_i sqrt(p_i q_i)`` is between 0 and 1.

    Examples
    --------
    >>> from corollary.kernels import HellingerRBF
    >>> round(HellingerRBF(length_scale=0.5)([1.0, 0.0], [0.0, 1.0]), 6)  # exp(-2)
    0.135335
    """

    length_scale: Any = hyperparameter(1.0)
    _schema = Schema(length_scale=Number(0))

    def __post_init__(self) -> None:
        self._settle("length_scale")

    def _of_affinity(self, affinity: Any) -> Any:
        xp = affinity.__array_namespace__()
        return xp.exp((xp.minimum(affinity, 1.0) - 1.0) / (2.0 * self.length_scale**2))
