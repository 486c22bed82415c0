"""Which solver a linear machine takes, and what it says when that stops too early."""

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from corollary.svm.linear.linear_dual import LinearDual, linear_svm
from corollary.svm.linear.primal import primal_svm
from corollary.svm.linear.sparse_weights import sparse_svm

# Up to so many features a Hessian costs less than the passes that it saves.
MOST_PRIMAL_FEATURES = 1000


def best_linear_svm(
    X: Any, y: np.ndarray, loss: str, random: Any, penalty: str = "l2", **options: Any
) -> LinearDual:
    """Fit a hyperplane through the origin by the solver that suits the rows."""
    if penalty == "l1":
        return sparse_svm(X, y, **options)
    n, d = X.shape
    few_columns = n > d and d <= MOST_PRIMAL_FEATURES and not sparse.issparse(X)
    if loss == "squared_hinge" and few_columns:
        return primal_svm(X, y, **options)
    return linear_svm(X, y, loss=loss, random_state=random, **options)


def with_constant(X: Any, value: float) -> Any:
    """Append a feature that is the same for all rows."""
    column = np.full((X.shape[0], 1), float(value))
    if sparse.issparse(X):
        return sparse.hstack([X, column], format="csr")
    return np.hstack([X, column])


def report_unfinished(model: Any) -> None:
    """Warn that a linear machine is not solved to its tolerance."""
    warnings.warn(
        f"{type(model).__name__} stopped after {model.n_iter_} passes with a KKT violation of "
        f"{model.kkt_violation_:.2g} (tol={model.tol:.2g}) and a duality gap of "
        f"{model.dual_gap_:.2g} (objective {model.objective_:.4g}). Increase max_iter="
        f"{model.max_iter} or tol, or scale the features.",
        ConvergenceWarning,
        stacklevel=4,
    )
