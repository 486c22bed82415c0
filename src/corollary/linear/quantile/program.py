r"""Quantile regression: linear predictors of conditional quantiles.

The pinball loss :math:`\max(\tau s, (\tau - 1) s)` of the residual :math:`s = y - b - w^\top x`
is minimised in expectation by the :math:`\tau`-quantile. Its empirical minimisation is a linear
program. We solve the dual,

.. math:: \max_a y^\top a \quad\text{subject to}\quad |X^\top a| \le \alpha S,\; 1^\top a = 0,\;
          (\tau - 1) s_i \le a_i \le \tau s_i,

which has as many constraints as there are coefficients, not rows; the multipliers of its
constraints are the coefficients.
"""

from typing import Any

import numpy as np
from scipy import sparse


def quantile_coefficients(
    X: Any,
    y: np.ndarray,
    *,
    quantile: float = 0.5,
    alpha: float = 0.0,
    fit_intercept: bool = True,
    sample_weight: np.ndarray | None = None,
    solver: str = "highs",
    solver_options: dict[str, Any] | None = None,
) -> tuple[np.ndarray, float, int, str]:
    r"""Minimise the mean pinball loss plus an l1 penalty.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Inputs.
    y : ndarray of shape (n_samples,)
        Targets.
    quantile : float, default=0.5
        Level :math:`\tau`, between 0 and 1.
    alpha : float, default=0.0
        Strength of the l1 penalty on the coefficients.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Weights.
    solver : str, default="highs"
        Method of SciPy's ``linprog``.
    solver_options : dict or None, default=None
        Its options.

    Returns
    -------
    coef : ndarray of shape (n_features,)
        Coefficients.
    intercept : float
        Intercept.
    n_iter : int
        Iterations of the solver.
    message : str
        Empty, or why the solver stopped early.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import quantile_coefficients
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])
    >>> coef, intercept, *_ = quantile_coefficients(X, y)
    >>> coef.round(9), round(intercept, 9)
    (array([2.]), 1.0)
    """
    from scipy.optimize import linprog

    n, p = X.shape
    weight = np.ones(n) if sample_weight is None else sample_weight * (n / sample_weight.sum())
    rows = np.flatnonzero(weight > 0.0)  # rows without weight are not part of the program
    X, y, weight = X[rows], y[rows], weight[rows]
    # The solver's tolerances are absolute: bring target and columns to unit size.
    centre = float(np.median(y)) if fit_intercept else 0.0
    scale = float(np.abs(y - centre).mean()) or 1.0
    columns, mean, size, constant = _unit_columns(X, fit_intercept)
    # Variables: a, then t = X'a, which carries the bound of the l1 penalty.
    blocks: list[list[Any]] = [[columns, -sparse.eye_array(p)]]
    if fit_intercept:
        blocks.append([np.ones((1, len(rows))), sparse.csr_array((1, p))])
    limit = alpha * n / size
    bounds = np.concatenate(
        [
            np.column_stack([(quantile - 1.0) * weight, quantile * weight]),
            np.column_stack([-limit, limit]),
        ]
    )
    result = linprog(
        c=np.concatenate([(centre - y) / scale, np.zeros(p)]),
        A_eq=sparse.csc_array(sparse.block_array(blocks)),
        b_eq=np.zeros(p + fit_intercept),
        bounds=bounds,
        method=solver,
        options=solver_options,
    )
    if result.eqlin is None or result.eqlin.marginals is None:
        raise ValueError(
            f"The linear program of quantile regression was not solved: {result.message} "
            "Try another solver, or raise the limits in solver_options."
        )
    multipliers = -np.asarray(result.eqlin.marginals)
    coef = np.where(constant, 0.0, multipliers[:p]) * scale / size
    intercept = 0.0
    if fit_intercept:
        intercept = centre + scale * float(multipliers[p]) - float(mean @ coef)
    return coef, intercept, int(result.nit), "" if result.status == 0 else str(result.message)


def _unit_columns(X: Any, centred: bool) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """Return columns of unit size as rows, what was subtracted and divided by, which are constant.

    Centring does not change the program (the entries of a sum to zero) but its conditioning. A
    sparse X is not centred; a column that is constant up to rounding becomes zero.
    """
    mean = np.zeros(X.shape[1])
    if sparse.issparse(X):
        size = np.sqrt(np.asarray(X.multiply(X).mean(axis=0)).ravel())
    else:
        mean = X.mean(axis=0) if centred else mean
        size = np.sqrt(np.mean((X - mean) ** 2, axis=0))
    constant = size <= 1e-13 * np.abs(mean)
    size = np.where(constant | (size == 0.0), 1.0, size)
    if sparse.issparse(X):
        return sparse.csr_matrix(X @ sparse.diags_array(1.0 / size)).T, mean, size, constant
    unit = np.where(constant, 0.0, (X - mean) / size)
    return sparse.csr_matrix(unit.T), mean, size, constant
