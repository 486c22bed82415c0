"""Data as coordinate descent takes them: centred, weighted, by columns."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from corollary.optimize.coordinate._designs import DenseDesign, Design, SparseDesign


class _Prepared(NamedTuple):
    """Data without intercept: the design, the centred targets and what was subtracted."""

    design: Design
    Y: np.ndarray  # (n_samples, n_targets), centred and weighted
    X_mean: np.ndarray
    Y_mean: np.ndarray


def prepare_columns(
    X: Any, Y: np.ndarray, sample_weight: np.ndarray | None = None, fit_intercept: bool = False
) -> _Prepared:
    """Centre and weight data so that neither intercept nor weights remain.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Inputs; a sparse matrix is never centred in memory.
    Y : ndarray of shape (n_samples, n_targets)
        Targets.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Weights, which are scaled to average one; rows are multiplied by their square roots.
    fit_intercept : bool, default=False
        Whether means are subtracted.

    Returns
    -------
    prepared : named tuple
        ``design``, which a :class:`WorkingSetSolver` takes; ``Y``, centred and weighted; and the
        means ``X_mean`` and ``Y_mean`` that were subtracted.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import prepare_columns
    >>> prepared = prepare_columns(np.array([[1.0], [3.0]]), np.array([[5.0], [7.0]]), None, True)
    >>> prepared.design.squares, prepared.Y.ravel(), prepared.X_mean
    (array([2.]), array([-1.,  1.]), array([2.]))
    """
    n, p = X.shape
    if sample_weight is None:
        weight = np.ones(n)
    else:
        if not sample_weight.sum() > 0.0:
            raise ValueError(
                "sample_weight must have a positive sum. Got only zeros: give at least one row "
                "a positive weight."
            )
        weight = sample_weight * (n / sample_weight.sum())
    root = np.sqrt(weight)
    Y_mean = (weight @ Y) / n if fit_intercept else np.zeros(Y.shape[1])
    Y = (Y - Y_mean) * root[:, None]
    if sparse.issparse(X):
        columns = sparse.csc_matrix(X, dtype=np.float64, copy=sample_weight is not None)
        columns.sum_duplicates()
        X_mean = np.asarray(columns.T @ weight).ravel() / n if fit_intercept else np.zeros(p)
        if sample_weight is not None:
            columns.data *= root[columns.indices]
        return _finite(_Prepared(SparseDesign(columns, X_mean, root), Y, X_mean, Y_mean))
    X_mean = (weight @ X) / n if fit_intercept else np.zeros(p)
    if fit_intercept or sample_weight is not None:
        X = np.array(X, dtype=np.float64, order="F", copy=True)
        X -= X_mean
        if sample_weight is not None:
            X *= root[:, None]
    else:
        X = np.asarray(X, dtype=np.float64, order="F")
    design = DenseDesign(X)
    # Rounding leaves noise where a constant column was: it is not a column.
    constant = design.squares <= n * (1e-14 * X_mean) ** 2
    if fit_intercept and constant.any():
        X[:, constant] = 0.0
        design.squares[constant] = 0.0
    return _finite(_Prepared(design, Y, X_mean, Y_mean))


def _finite(prepared: _Prepared) -> _Prepared:
    """Refuse data whose squares overflow once rows are multiplied by the roots of their weights."""
    with np.errstate(over="ignore"):
        targets = np.einsum("ij,ij->j", prepared.Y, prepared.Y)
    for name, squares in (("features", prepared.design.squares), ("targets", targets)):
        if not np.isfinite(squares).all():
            raise ValueError(
                f"The squares of the {name}, times the weights of their rows, have a sum beyond "
                f"the largest number. Divide the {name} by a constant so that they are about one."
            )
    return prepared
