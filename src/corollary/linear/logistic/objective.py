"""The penalised log loss of given coefficients."""

import numpy as np
from scipy import sparse

from corollary.core.estimator import (
    AnyReal,
    ArrayLike,
    Fraction,
    PositiveOrInfinite,
    RowsLike,
    checked,
)
from corollary.core.summary import ArraySource
from corollary.linear.logistic._problem import LogisticProblem


@checked
def logistic_objective(
    X: RowsLike,
    y: ArrayLike,
    coef: ArrayLike,
    intercept: ArrayLike | AnyReal = 0.0,
    *,
    C: PositiveOrInfinite = 1.0,
    l1_ratio: Fraction = 0.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the penalised mean log loss that :class:`LogisticRegression` minimises.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels; every class must occur.
    coef : array-like of shape (1, n_features) or (n_classes, n_features)
        Coefficients; one row for two classes.
    intercept : array-like of shape (1,) or (n_classes,), or float, default=0.0
        Intercepts.
    C : float, default=1.0
        Inverse strength of the penalty; infinity for none.
    l1_ratio : float, default=0.0
        Share of the l1 norm in the penalty.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights.

    Returns
    -------
    objective : float
        Mean loss plus penalty, in nats.

    Examples
    --------
    >>> from corollary.linear import logistic_objective
    >>> round(logistic_objective([[1.0], [-1.0]], [1, 0], [[0.0]]), 4)
    0.6931
    """
    X = X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    coef = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    n_outputs = 1 if len(classes) == 2 else len(classes)
    if coef.shape != (n_outputs, X.shape[1]):
        raise ValueError(
            f"coef must have shape {(n_outputs, X.shape[1])} for {len(classes)} classes and "
            f"{X.shape[1]} features. Got shape {coef.shape} instead."
        )
    bias = np.broadcast_to(np.asarray(intercept, dtype=np.float64), (n_outputs,))
    x = np.hstack([coef, bias[:, None]])
    rows: tuple = (X, codes)
    weight = float(len(codes))
    if sample_weight is not None:
        rows = (X, codes, np.asarray(sample_weight, dtype=np.float64))
        weight = float(rows[2].sum())
    problem = LogisticProblem(ArraySource(rows), x.shape, weight, C, l1_ratio)
    value = problem.terms(x.ravel(), False)[0]
    return value + float(problem.l1 @ np.abs(x.ravel()))
