r"""Elastic net: least squares with a mixed l1 and squared l2 penalty.

.. math:: P(w, b) = \frac1{2S} \sum_i s_i (y_i - w^\top x_i - b)^2
          + \alpha\rho \|w\|_1 + \frac{\alpha(1-\rho)}{2} \|w\|_2^2

with weights :math:`s_i` (all one by default), their sum S, :math:`\alpha` the ``alpha`` and
:math:`\rho` the ``l1_ratio``: scikit-learn's objective. The intercept b is not penalised.

The pure functions below say how good given coefficients are, whatever computed them: the
objective, a duality gap that bounds its distance from the minimum, and the violation of the
optimality conditions.
"""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_consistent_length

from corollary.core.compat import Interval, check_sample_weight, validate_params

_CONSTRAINTS: dict = {
    "X": ["array-like", "sparse matrix"],
    "y": ["array-like"],
    "coef": ["array-like"],
    "alpha": [Interval(Real, 0, None, closed="neither")],
    "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    "intercept": [Real],
    "sample_weight": ["array-like", None],
    "positive": ["boolean"],
}


def _residual(
    X: Any, y: Any, coef: Any, intercept: float, sample_weight: Any
) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Validate, and return X, coefficients, residuals, targets and weights that sum to one."""
    X = check_array(X, accept_sparse=True, dtype=np.float64)
    y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y").ravel()
    coef = check_array(coef, ensure_2d=False, dtype=np.float64, input_name="coef").ravel()
    check_consistent_length(X, y)
    if coef.shape != (X.shape[1],):
        raise ValueError(
            f"coef must have one entry per column of X, {X.shape[1]}. Got {len(coef)} instead."
        )
    weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return X, coef, y - X @ coef - intercept, y, weight / weight.sum()


@validate_params(_CONSTRAINTS, prefer_skip_nested_validation=True)
def elastic_net_objective(
    X: Any,
    y: Any,
    coef: Any,
    *,
    alpha: float,
    l1_ratio: float = 0.5,
    intercept: float = 0.0,
    sample_weight: Any = None,
) -> float:
    """Return the penalised mean square that the elastic net minimises.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Targets.
    coef : array-like of shape (n_features,)
        Coefficients w.
    alpha : float
        Strength of the penalty, positive.
    l1_ratio : float, default=0.5
        Share of the l1 penalty.
    intercept : float, default=0.0
        Intercept b.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights.

    Returns
    -------
    objective : float
        P(w, b).

    Examples
    --------
    >>> from corollary.linear import elastic_net_objective
    >>> elastic_net_objective([[1.0], [2.0]], [1.0, 2.0], [1.0], alpha=0.1, l1_ratio=1.0)
    0.1
    """
    X, coef, residual, _, weight = _residual(X, y, coef, intercept, sample_weight)
    loss = 0.5 * float(weight @ residual**2)
    lasso, ridge = float(np.abs(coef).sum()), 0.5 * float(coef @ coef)
    return loss + alpha * (l1_ratio * lasso + (1.0 - l1_ratio) * ridge)


@validate_params(_CONSTRAINTS, prefer_skip_nested_validation=True)
def elastic_net_dual_gap(
    X: Any,
    y: Any,
    coef: Any,
    *,
    alpha: float,
    l1_ratio: float = 0.5,
    intercept: float = 0.0,
    sample_weight: Any = None,
    positive: bool = False,
) -> float:
    r"""Bound how far the objective at given coefficients is from its minimum.

    Any dual point :math:`\theta` gives a lower bound of the minimum. The residual
    :math:`r`, scaled until :math:`|x_j^\top r - \alpha(1-\rho) w_j| \le \alpha\rho` for every
    column, is one, and its bound meets the objective at the solution.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Targets.
    coef : array-like of shape (n_features,)
        Coefficients w.
    alpha : float
        Strength of the penalty, positive.
    l1_ratio : float, default=0.5
        Share of the l1 penalty.
    intercept : float, default=0.0
        Intercept b. The bound is on the minimum over w for this b.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights.
    positive : bool, default=False
        Whether the minimum is over non-negative coefficients only.

    Returns
    -------
    gap : float
        P(w, b) - min P(., b) is at most this; zero only at a solution.

    Notes
    -----
    Guarantee: for every w, the gap is at least P(w, b) - min P(., b) (weak duality), checked by
    ``tests/linear/test_elastic_net.py::test_dual_gap_bounds_the_suboptimality``.

    See Also
    --------
    elastic_net_kkt_violation : How much the conditions of optimality are missed.

    Examples
    --------
    >>> from corollary.linear import elastic_net_dual_gap
    >>> elastic_net_dual_gap([[1.0], [-1.0]], [2.0, -2.0], [1.0], alpha=1.0, l1_ratio=1.0)
    0.0
    """
    from corollary.optimize import elastic_net_gap

    X, coef, residual, y, weight = _residual(X, y, coef, intercept, sample_weight)
    l1, l2 = alpha * l1_ratio, alpha * (1.0 - l1_ratio)
    weighted = weight * residual
    correlation = np.asarray(X.T @ weighted)
    rr, ry = float(weighted @ residual), float(weighted @ (y - intercept))
    return elastic_net_gap(rr, ry, correlation, coef, l1, l2, positive)


@validate_params(_CONSTRAINTS, prefer_skip_nested_validation=True)
def elastic_net_kkt_violation(
    X: Any,
    y: Any,
    coef: Any,
    *,
    alpha: float,
    l1_ratio: float = 0.5,
    intercept: float = 0.0,
    sample_weight: Any = None,
    positive: bool = False,
) -> np.ndarray:
    r"""Return, for every coefficient, how far zero is from its subdifferential.

    With :math:`g_j = \frac1S \sum_i s_i x_{ij} r_i - \alpha(1-\rho) w_j` the conditions of
    optimality are :math:`g_j = \alpha\rho\,\mathrm{sign}(w_j)` where :math:`w_j \ne 0` and
    :math:`|g_j| \le \alpha\rho` elsewhere.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Targets.
    coef : array-like of shape (n_features,)
        Coefficients w.
    alpha : float
        Strength of the penalty, positive.
    l1_ratio : float, default=0.5
        Share of the l1 penalty.
    intercept : float, default=0.0
        Intercept b.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights.
    positive : bool, default=False
        Whether coefficients are constrained to be non-negative.

    Returns
    -------
    violation : ndarray of shape (n_features,)
        Zero everywhere at a solution, and nowhere else.

    Examples
    --------
    >>> from corollary.linear import elastic_net_kkt_violation
    >>> X, y = [[1.0, 0.0], [-1.0, 0.0]], [2.0, -2.0]
    >>> elastic_net_kkt_violation(X, y, [1.0, 0.0], alpha=1.0, l1_ratio=1.0)
    array([0., 0.])
    >>> elastic_net_kkt_violation(X, y, [0.5, 0.0], alpha=1.0, l1_ratio=1.0)
    array([0.5, 0. ])
    """
    X, coef, residual, _, weight = _residual(X, y, coef, intercept, sample_weight)
    slope = np.asarray(X.T @ (weight * residual)) - alpha * (1.0 - l1_ratio) * coef
    l1 = alpha * l1_ratio
    idle = np.maximum((slope if positive else np.abs(slope)) - l1, 0.0)
    moved = np.where(coef == 0.0, idle, np.abs(slope - l1 * np.sign(coef)))
    return np.maximum(moved, -coef) if positive else moved


@validate_params(_CONSTRAINTS, prefer_skip_nested_validation=True)
def lasso_objective(
    X: Any,
    y: Any,
    coef: Any,
    *,
    alpha: float,
    intercept: float = 0.0,
    sample_weight: Any = None,
) -> float:
    """Return the penalised mean square that the lasso minimises.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Targets.
    coef : array-like of shape (n_features,)
        Coefficients w.
    alpha : float
        Strength of the penalty, positive.
    intercept : float, default=0.0
        Intercept b.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights.

    Returns
    -------
    objective : float
        P(w, b).

    See Also
    --------
    elastic_net_objective : The same with an l2 penalty too, and the formula.

    Examples
    --------
    >>> from corollary.linear import lasso_objective
    >>> lasso_objective([[1.0], [2.0]], [1.0, 2.0], [1.0], alpha=0.1)
    0.1
    """
    return elastic_net_objective(
        X,
        y,
        coef,
        alpha=alpha,
        l1_ratio=1.0,
        intercept=intercept,
        sample_weight=sample_weight,
    )


@validate_params(_CONSTRAINTS, prefer_skip_nested_validation=True)
def lasso_dual_gap(
    X: Any,
    y: Any,
    coef: Any,
    *,
    alpha: float,
    intercept: float = 0.0,
    sample_weight: Any = None,
    positive: bool = False,
) -> float:
    """Bound how far the objective at given coefficients is from its minimum.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Targets.
    coef : array-like of shape (n_features,)
        Coefficients w.
    alpha : float
        Strength of the penalty, positive.
    intercept : float, default=0.0
        Intercept b.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights.
    positive : bool, default=False
        Whether coefficients must not be negative.

    Returns
    -------
    gap : float
        P(w, b) - min P(., b) is at most this; zero only at a solution.

    See Also
    --------
    elastic_net_dual_gap : The same with an l2 penalty too, and the formula.

    Examples
    --------
    >>> from corollary.linear import lasso_dual_gap
    >>> lasso_dual_gap([[1.0], [-1.0]], [2.0, -2.0], [1.0], alpha=1.0)
    0.0
    """
    return elastic_net_dual_gap(
        X,
        y,
        coef,
        alpha=alpha,
        l1_ratio=1.0,
        intercept=intercept,
        sample_weight=sample_weight,
        positive=positive,
    )


@validate_params(_CONSTRAINTS, prefer_skip_nested_validation=True)
def lasso_kkt_violation(
    X: Any,
    y: Any,
    coef: Any,
    *,
    alpha: float,
    intercept: float = 0.0,
    sample_weight: Any = None,
    positive: bool = False,
) -> np.ndarray:
    """Return, for every coefficient, how far zero is from its subdifferential.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Targets.
    coef : array-like of shape (n_features,)
        Coefficients w.
    alpha : float
        Strength of the penalty, positive.
    intercept : float, default=0.0
        Intercept b.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights.
    positive : bool, default=False
        Whether coefficients must not be negative.

    Returns
    -------
    violation : ndarray of shape (n_features,)
        Zero everywhere at a solution, and nowhere else.

    See Also
    --------
    elastic_net_kkt_violation : The same with an l2 penalty too, and the formula.

    Examples
    --------
    >>> from corollary.linear import lasso_kkt_violation
    >>> lasso_kkt_violation([[1.0], [-1.0]], [2.0, -2.0], [0.5], alpha=1.0)
    array([0.5])
    """
    return elastic_net_kkt_violation(
        X,
        y,
        coef,
        alpha=alpha,
        l1_ratio=1.0,
        intercept=intercept,
        sample_weight=sample_weight,
        positive=positive,
    )
