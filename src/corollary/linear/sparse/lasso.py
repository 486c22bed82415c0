r"""Lasso: least squares with an l1 penalty, and what is known about its solutions.

.. math:: P(w, b) = \frac1{2S} \sum_i s_i (y_i - w^\top x_i - b)^2 + \alpha \|w\|_1

Two other scalings are in use. Writing the penalty as :math:`\lambda` in
:math:`\|y - Xw\|^2 + \lambda\|w\|_1` gives :math:`\alpha = \lambda / (2n)`, and in
:math:`\tfrac12\|y - Xw\|^2 + \lambda'\|w\|_1` gives :math:`\alpha = \lambda' / n`.
"""

import numpy as np
from sklearn.utils.validation import check_array, check_consistent_length

from corollary.core.compat import check_sample_weight
from corollary.core.estimator import (
    AnyReal,
    ArrayLike,
    Count,
    NonNegative,
    Positive,
    RowsLike,
    checked,
)
from corollary.linear.sparse._regressor import L1Regressor


@checked
def soft_threshold(z: ArrayLike | AnyReal, threshold: NonNegative) -> np.ndarray:
    r"""Shrink towards zero by a threshold, and to zero below it.

    :math:`S(z, t) = \mathrm{sign}(z) (|z| - t)_+` minimises :math:`\tfrac12 (u - z)^2 + t|u|`
    over u. It solves the lasso for orthonormal columns and is each step of coordinate descent.

    Parameters
    ----------
    z : array-like
        Values.
    threshold : float
        The threshold t, not negative.

    Returns
    -------
    u : ndarray
        Shrunken values.

    Examples
    --------
    >>> from corollary.linear import soft_threshold
    >>> soft_threshold([-3.0, 0.5, 2.0], 1.0)
    array([-2.,  0.,  1.])
    """
    z = np.asarray(z, dtype=np.float64)
    return np.maximum(z - threshold, 0.0) + np.minimum(z + threshold, 0.0)


@checked
def lasso_alpha_max(
    X: RowsLike, y: ArrayLike, *, fit_intercept: bool = True, sample_weight: ArrayLike | None = None
) -> float:
    r"""Return the smallest penalty at which every coefficient of the lasso is zero.

    It is :math:`\max_j |x_j^\top y| / n` for centred columns; with weights,
    :math:`\max_j |\sum_i s_i (x_{ij} - \bar x_j) y_i| / S`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Targets.
    fit_intercept : bool, default=True
        Whether the model has an intercept; without, nothing is centred.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights.

    Returns
    -------
    alpha : float
        The lasso is zero if and only if its ``alpha`` is at least this.

    Examples
    --------
    >>> from corollary.linear import lasso_alpha_max
    >>> lasso_alpha_max([[1.0], [-1.0]], [2.0, -2.0])
    2.0
    """
    X = check_array(X, accept_sparse=True, dtype=np.float64)
    y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y").ravel()
    check_consistent_length(X, y)
    weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    weight = weight / weight.sum()
    if fit_intercept:  # a centred y makes centring the columns superfluous
        y = y - weight @ y
    return float(np.abs(X.T @ (weight * y)).max())


@checked
def laplace_map_alpha(noise_variance: Positive, prior_scale: Positive, n_samples: Count) -> float:
    r"""Return the penalty for which the lasso is the posterior mode under a Laplace prior.

    With :math:`y_i \sim N(w^\top x_i, \sigma^2)` and independent
    :math:`w_j` of density proportional to :math:`\exp(-|w_j| / \tau)`, the posterior mode
    minimises :math:`\|y - Xw\|^2 + \lambda \|w\|_1` with :math:`\lambda = 2\sigma^2/\tau`, that
    is :math:`\alpha = \lambda/(2n) = \sigma^2/(n\tau)`.

    Parameters
    ----------
    noise_variance : float
        Variance :math:`\sigma^2` of the noise.
    prior_scale : float
        Scale :math:`\tau` of the prior.
    n_samples : int
        Number of rows n.

    Returns
    -------
    alpha : float
        Penalty of :class:`Lasso`.

    Examples
    --------
    >>> from corollary.linear import laplace_map_alpha
    >>> laplace_map_alpha(noise_variance=2.0, prior_scale=0.5, n_samples=10)
    0.4
    """
    return noise_variance / (prior_scale * n_samples)


class Lasso(L1Regressor):
    r"""Fit a linear model with an l1 penalty, which makes coefficients exactly zero.

    Minimises

    .. math:: \frac1{2S} \sum_i s_i (y_i - w^\top x_i - b)^2 + \alpha \|w\|_1

    with weights :math:`s_i` and their sum S. It is the posterior mode under a Laplace prior
    (:func:`laplace_map_alpha`).

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty. 0 is least squares, which ``LinearRegression`` solves, too.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    precompute : bool or array-like, default=False
        Changes nothing: the Gram matrix of the columns in use is always kept.
    copy_X : bool, default=True
        Changes nothing: X is never written to.
    max_iter : int, default=1000
        Largest number of epochs (passes over the working set).
    tol : float, default=1e-4
        Stop when the duality gap is at most ``tol`` times the mean square of the (centred)
        target; ``dual_gap_`` says what was reached.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit.
    positive : bool, default=False
        Whether coefficients must not be negative.
    random_state : int, RandomState instance or None, default=None
        Changes nothing: nothing here is random.
    selection : {"cyclic", "random"}, default="cyclic"
        Changes nothing: coordinates are visited in their order, and the minimum is the same.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.
    dual_gap_ : float or ndarray of shape (n_targets,)
        Proven upper bound of the objective's distance from its minimum.
    n_iter_ : int or list of int
        Epochs used.
    sparse_coef_ : sparse matrix of shape (n_targets, n_features)
        The coefficients as a sparse matrix.

    See Also
    --------
    LassoCV : Chooses ``alpha`` by cross-validation.
    ElasticNet : With an l2 penalty as well.
    lasso_path : Solutions for many values of ``alpha`` at once.
    lasso_dual_gap : The duality gap of any coefficients.

    Notes
    -----
    Coordinate descent runs on a working set of features that grows by those violating optimality
    most; every few epochs the iterates are extrapolated. The stop is by the duality gap of the
    full problem.

    Guarantee: the objective is within ``dual_gap_`` of its minimum, checked by
    ``tests/linear/test_lasso.py::test_reported_gap_is_the_true_gap``. The answer does not depend
    on the number of threads.

    Examples
    --------
    >>> from corollary.linear import Lasso
    >>> X = [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.0]]
    >>> model = Lasso(alpha=0.1).fit(X, [0.0, 1.0, 2.0, 3.0])
    >>> model.coef_.round(2)
    array([0.92, 0.  ])
    """

    def _l1_share(self) -> float:
        return 1.0
