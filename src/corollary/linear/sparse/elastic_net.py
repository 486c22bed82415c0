"""The elastic net as an estimator."""

from numbers import Real
from typing import Any, Self

from corollary.core.compat import Interval, fit_context
from corollary.core.schema import Schema
from corollary.linear._regressor import fits_together
from corollary.linear.sparse._regressor import PARAMETER_CONSTRAINTS, SOLUTION_SCHEMA, L1Regressor


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
        Strength of the penalty, positive. Without a penalty use ``LinearRegression``.
    l1_ratio : float, default=0.5
        Share :math:`\rho` of the l1 penalty; 1 is the lasso, 0 is ridge regression.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    max_iter : int, default=1000
        Largest number of epochs (passes over the working set).
    tol : float, default=1e-4
        Stop when the duality gap is at most ``tol`` times the mean square of the (centred)
        target; ``dual_gap_`` says what was reached.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit.
    positive : bool, default=False
        Whether coefficients must not be negative.

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
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if they had any.
    fingerprint_ : Fingerprint
        Compact memory of the training rows.

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

    _parameter_constraints: dict = {
        **PARAMETER_CONSTRAINTS,
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    }

    _schema = Schema(fits_together, **SOLUTION_SCHEMA)

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive

    @property
    def _share(self) -> float:
        return self.l1_ratio

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit by coordinate descent on working sets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Training targets; several are fitted one by one.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights; a row of weight k counts as k rows.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)
