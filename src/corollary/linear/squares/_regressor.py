"""Regressors that need no more of the rows than their normal equations."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from corollary.core.compat import fit_context
from corollary.core.estimator import fitted, read_source
from corollary.core.schema import Integer, Text
from corollary.core.summary import Source
from corollary.linear._regressor import LinearRegressor, MultiTargetLinearRegressor
from corollary.linear.squares._records import LeastSquares
from corollary.linear.squares._solve import LeastSquaresProblem
from corollary.linear.squares.normal_equations import NormalEquations


class EquationsRegressor(LinearRegressor):
    """A linear regressor that can be fitted to any source of rows."""

    _rows: ClassVar[dict[str, Any]] = {"accept_sparse": "csr"}

    @fit_context(prefer_skip_nested_validation=True)
    def fit_source(
        self,
        data: Any,
        *,
        target: str | Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        sample_weight: str | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Fit the model to data that need not fit in memory.

        The coefficients equal those of :meth:`fit` on the same rows in memory.

        Parameters
        ----------
        data : path, data frame, Dask collection, or iterable of chunks
            See :func:`corollary.core.summary.open_source`. Arrays and chunks hold ``(X, y)`` or
            ``(X, y, sample_weight)``.
        target : str, sequence of str or None, default=None
            Name of the column to predict, for files and data frames.
        columns : sequence of str or None, default=None
            Names of the features; None for all other columns.
        sample_weight : str or None, default=None
            Name of the column of weights.
        n_jobs : int or None, default=None
            Threads; None means one per available core. The result does not depend on it.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        source, equations = read_source(
            self,
            data,
            lambda source: NormalEquations.of_width(source.n_features, source.n_targets),
            target=target,
            columns=columns,
            sample_weight=sample_weight,
            n_jobs=n_jobs,
        )
        self._fit_equations(source, equations, n_jobs)
        return self

    @abstractmethod
    def _fit_equations(
        self, source: Source, equations: NormalEquations, n_jobs: int | None
    ) -> None:
        """Learn from the normal equations of a source, whose rows may be read again."""


class LeastSquaresRegressor(MultiTargetLinearRegressor, EquationsRegressor):
    """A linear regressor fitted by least squares, plain or with a ridge penalty."""

    rank_: int = fitted(Integer(0))
    solver_: str = fitted(Text())

    _rows: ClassVar[dict[str, Any]] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}

    @abstractmethod
    def _problem(self) -> LeastSquaresProblem:
        """Return the problem that the parameters describe."""

    def _solve(
        self, n_targets: int, solve: Callable[[LeastSquaresProblem], LeastSquares]
    ) -> LeastSquares:
        """Solve for all targets."""
        return solve(self._problem())

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        n_targets = 1 if y.ndim == 1 else y.shape[1]
        self._keep(self._solve(n_targets, lambda p: p.solve_arrays(X, y, sample_weight)))

    def _fit_equations(
        self, source: Source, equations: NormalEquations, n_jobs: int | None
    ) -> None:
        def solve(problem: LeastSquaresProblem) -> LeastSquares:
            return replace(problem, n_jobs=n_jobs).solve_source(source, equations)

        self._keep(self._solve(source.n_targets, solve))

    def _keep(self, solution: LeastSquares) -> None:
        self.coef_ = np.ascontiguousarray(solution.coef.T)
        self.intercept_ = solution.intercept
        self.rank_ = solution.rank
        self.solver_ = solution.solver
