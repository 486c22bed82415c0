r"""Matrix completion with the nuclear norm.

A table M of which the entries in :math:`\Omega` are seen is completed by the minimiser of

.. math:: \sum_{(i,j)\in\Omega}(X_{ij}-M_{ij})^2+\alpha\|X\|_*,

the convex surrogate of a bound on the rank. A step of soft-impute fills the unseen entries with the
last X and lowers all singular values by :math:`\alpha/2` (not :math:`\alpha`: the squares have no
factor one half). It is a proximal gradient step of length one half, so that
:mod:`corollary.optimize` runs it, with momentum, until a dual point proves how near it is.

References
----------
R. Mazumder, T. Hastie and R. Tibshirani (2010). Spectral regularization algorithms for learning
large incomplete matrices. Journal of Machine Learning Research 11, 2287-2322.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from corollary.core.estimator import Count, NonNegative, Positive, checked
from corollary.optimize import NuclearNorm, Smooth, Solution, proximal_gradient


class SquaredErrorOnSeen(Smooth):
    r"""The sum of squared errors on the entries of a table that are seen, which are not NaN.

    See :class:`corollary.optimize.Smooth`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.decomposition import SquaredErrorOnSeen
    >>> SquaredErrorOnSeen([[1.0, np.nan]]).value([[3.0, 9.0]])
    4.0
    """

    convex = True
    smoothness = 2.0
    floor = 0.0

    def __init__(self, table: Any) -> None:
        table = np.asarray(table, dtype=np.float64)
        self.seen = ~np.isnan(table)
        self.table = np.where(self.seen, table, 0.0)

    def _errors(self, x: np.ndarray) -> np.ndarray:
        return np.where(self.seen, x - self.table, 0.0)

    def _value(self, x: np.ndarray) -> float:
        return float(np.sum(self._errors(x) ** 2))

    def _gradient(self, x: np.ndarray) -> np.ndarray:
        return 2 * self._errors(x)


def soft_impute_step(table: Any, current: Any, alpha: float) -> np.ndarray:
    """Fill unseen entries with the current matrix, and lower singular values by half the penalty.

    The objective of the matrix that is returned is not larger. See :func:`soft_impute`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.decomposition import soft_impute_step
    >>> soft_impute_step(np.diag([3.0, 0.5]), np.zeros((2, 2)), 2.0)
    array([[2., 0.],
           [0., 0.]])
    """
    table, current = np.asarray(table, dtype=np.float64), np.asarray(current, dtype=np.float64)
    return NuclearNorm(alpha).prox(np.where(np.isnan(table), current, table), 0.5)


@checked
def soft_impute(
    table: Any,
    alpha: NonNegative,
    *,
    start: Any = None,
    tol: Positive = 1e-6,
    max_iter: Count = 1000,
) -> Solution:
    """Complete a table, which is NaN where nothing is seen, with a penalty on singular values.

    The matrix is ``solution.x``; ``solution.certificate`` says how far its objective can lie above
    the least one. A run stops at a proved gap of ``tol``, relative to the larger of the objective
    and the mean square of what is seen, or after ``max_iter`` steps. It starts at zero unless told:
    small penalties move what is not seen slowly, and are better started at the completion of a
    larger one, as :func:`soft_impute_path` does. See :class:`SoftImpute`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.decomposition import soft_impute
    >>> table = np.outer([1.0, 2.0, 3.0], [2.0, 1.0, 4.0])
    >>> table[0, 2] = np.nan
    >>> solution = soft_impute(table, 0.1)
    >>> round(float(solution.x[0, 2]), 2), solution.status
    (3.95, 'optimal')
    """
    table = _checked_table("soft_impute", table)
    # In units of what is seen, so that tolerances mean the same for all tables.
    unit = float(np.sqrt(np.nanmean(table**2))) or 1.0
    first = np.zeros(table.shape) if start is None else np.asarray(start, dtype=np.float64) / unit
    error, penalty = SquaredErrorOnSeen(table / unit), NuclearNorm(alpha / unit)
    solution = proximal_gradient(error, first, penalty, tol=tol, max_iter=max_iter)
    value, bound = solution.certificate.value * unit**2, solution.certificate.lower_bound * unit**2
    scaled = replace(solution.certificate, value=value, lower_bound=bound, residuals={})
    return replace(solution, x=solution.x * unit, value=value, certificate=scaled)


def soft_impute_alpha_max(table: Any) -> float:
    """Return the smallest penalty for which the completion of a table is zero.

    It is twice the largest singular value of the table with zeros for what is not seen. See
    :func:`soft_impute`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.decomposition import soft_impute_alpha_max
    >>> soft_impute_alpha_max([[3.0, np.nan], [0.0, 1.0]])
    6.0
    """
    table = _checked_table("soft_impute_alpha_max", table)
    return 2 * float(np.linalg.norm(np.nan_to_num(table), 2))


class SoftImputePath(NamedTuple):
    """Completions for falling penalties."""

    alphas: np.ndarray
    solutions: list[Solution]

    @property
    def ranks(self) -> np.ndarray:
        """Ranks of the completions; singular values below 1e-8 of the largest penalty are zero."""
        sizes = [np.linalg.svd(one.x, compute_uv=False) for one in self.solutions]
        return np.array([int(np.sum(some > 1e-8 * self.alphas[0])) for some in sizes])


@checked
def soft_impute_path(
    table: Any,
    alphas: Any = 20,
    *,
    eps: Positive = 1e-3,
    tol: Positive = 1e-6,
    max_iter: Count = 1000,
) -> SoftImputePath:
    """Complete a table for many penalties, each started at the last one's completion.

    The result has ``alphas`` in descending order, ``solutions`` with the completion of each, and
    ``ranks``. Penalties are listed, or so many are taken from :func:`soft_impute_alpha_max` down to
    the share ``eps`` of it. See :func:`soft_impute` for the other parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.decomposition import soft_impute_path
    >>> path = soft_impute_path(np.diag([4.0, 2.0, 1.0]), [1.0, 3.0, 7.9])
    >>> path.ranks
    array([1, 2, 3])
    """
    table = _checked_table("soft_impute_path", table)
    if np.ndim(alphas) == 0:
        largest = soft_impute_alpha_max(table) or 1.0
        penalties = np.geomspace(largest, eps * largest, int(alphas))
    else:
        penalties = np.sort(np.asarray(alphas, dtype=np.float64))[::-1]
    solutions: list[Solution] = []
    for alpha in penalties:
        start = solutions[-1].x if solutions else None
        solutions.append(soft_impute(table, float(alpha), start=start, tol=tol, max_iter=max_iter))
    return SoftImputePath(penalties, solutions)


def _checked_table(who: str, table: Any) -> np.ndarray:
    """Return a table of numbers of which some are seen."""
    table = np.asarray(table, dtype=np.float64)
    if table.ndim != 2 or np.isinf(table).any() or np.isnan(table).all():
        infinite = " with infinity in it" if np.isinf(table).any() else ""
        raise ValueError(
            f"{who} needs a table of finite numbers, NaN where nothing is seen, with at least one "
            f"number. Got shape {table.shape}{infinite}."
        )
    return table
