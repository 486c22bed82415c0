"""Kernels that are functions of two rows, given by their code or by scikit-learn's name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.schema import List, Plain, Schema, Text
from corollary.kernels import _arrays as arrays
from corollary.kernels.base import Kernel


@dataclass(frozen=True, eq=False)
class PairwiseFunction(Kernel):
    """A function of two rows, evaluated for each pair by scikit-learn.

    Parameters
    ----------
    function : callable or {"additive_chi2", "chi2"}
        ``function(x, y, **params)`` returns a number for two rows; or one of scikit-learn's names.
    params : tuple of (str, object), default=()
        Further arguments of the function, by name.

    Notes
    -----
    Whether such a kernel is positive semi-definite is not known; "additive_chi2" is not. A kernel
    with a function cannot be saved.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import PairwiseFunction
    >>> kernel = PairwiseFunction(lambda x, y, power=1: np.minimum(x, y).sum() ** power)
    >>> kernel.gram([[1.0, 2.0], [3.0, 0.0]])
    array([[3., 1.],
           [1., 3.]])
    """

    function: Callable[..., Any] | str
    params: tuple[tuple[str, Any], ...] = ()
    _schema = Schema(function=Text(("additive_chi2", "chi2")), params=List(List(Plain())))
    positive_semidefinite = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", tuple((name, value) for name, value in self.params))

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        return arrays.vector_pair("PairwiseFunction", X, Y, allow_sparse=True)

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        from sklearn.metrics.pairwise import pairwise_kernels

        return np.array(pairwise_kernels(P, Q, metric=self.function, **dict(self.params)))

    def _diag(self, P: Any) -> Any:
        ones = [self._evaluate(P[i : i + 1], P[i : i + 1], False)[0, 0] for i in range(P.shape[0])]
        return np.array(ones, dtype=float)
