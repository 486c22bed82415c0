"""The elastic net as an estimator."""

from dataclasses import KW_ONLY

from corollary.core.estimator import Fraction
from corollary.linear.sparse._regressor import L1Regressor


class ElasticNet(L1Regressor):
    r"""Fit a linear model with a mixed l1 and squared l2 penalty.

    Minimises

    .. math:: \frac1{2S} \sum_i s_i (y_i - w^\top x_i - b)^2
              + \alpha\rho \|w\|_1 + \frac{\alpha(1-\rho)}{2} \|w\|_2^2

    with weights :math:`s_i` and their sum S. The l1 part makes coefficients exactly zero, the l2
    part shares weight among correlated columns and makes the solution unique.

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
    l1_ratio : float, default=0.5
        Share :math:`\rho` of the l1 penalty; 1 is the lasso, 0 is ridge regression.

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
    Lasso : The l1 penalty alone.
    enet_path : Solutions for many values of ``alpha`` at once.
    elastic_net_dual_gap : The duality gap of any coefficients.

    Notes
    -----
    Guarantee: the objective is within ``dual_gap_`` of its minimum, checked by
    ``tests/linear/test_elastic_net.py::test_reported_gap_is_the_true_gap``. The answer does not
    depend on the number of threads.

    Examples
    --------
    >>> from corollary.linear import ElasticNet
    >>> X = [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.0]]
    >>> model = ElasticNet(alpha=0.1).fit(X, [0.0, 1.0, 2.0, 3.0])
    >>> model.predict([[4.0, 0.0]]).round(2)
    array([3.81])
    """

    _: KW_ONLY
    l1_ratio: Fraction = 0.5

    def _l1_share(self) -> float:
        return self.l1_ratio
