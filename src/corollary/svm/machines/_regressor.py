"""What regressors that are functions of support vectors share."""

from typing import Any

import numpy as np

from corollary.core.estimator import Regressor, fitted
from corollary.core.schema import Array, Sparse
from corollary.svm.machines._machine import KernelMachine


class KernelRegressor(KernelMachine, Regressor):
    """Predict by one function of support vectors."""

    dual_coef_: Any = fitted(Array("f", 1, "s") | Sparse(1, "s"))
    intercept_: np.ndarray = fitted(Array("f", 1))
    n_support_: np.ndarray = fitted(Array("i", 1, low=0))

    def _keep(
        self, X: Any, rows: np.ndarray, beta: np.ndarray, intercept: float, n_iter: int
    ) -> None:
        """Keep the rows that have a weight."""
        support = np.flatnonzero(beta)
        self._keep_support(X, rows[support], beta[None, support])
        self.intercept_ = np.array([intercept])
        self.n_support_ = np.array([len(support)], dtype=np.int32)
        self.n_iter_ = n_iter

    def _predict(self, X: Any) -> np.ndarray:
        return (self._expand(X, self._weights().T) + self.intercept_)[:, 0]
