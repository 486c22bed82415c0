"""Gamma regression: positive amounts whose spread is proportional to their mean."""

from corollary.linear.generalised._model import GeneralisedLinear
from corollary.risk import TweedieLoss


class GammaRegressor(GeneralisedLinear):
    r"""Predict positive amounts: the logarithm of their expected value is linear.

    Minimises, as scikit-learn's class of this name does, the mean half deviance of gamma laws plus
    :math:`\tfrac\alpha2 \|w\|_2^2`; the intercept is not penalised. Errors count in relation to
    the mean, so that the units of the amounts do not matter.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty; 0 for none.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    solver : {"lbfgs", "newton-cholesky"}, default="lbfgs"
        Changes nothing: Newton's method finds the minimum that both names stand for.
    max_iter : int, default=100
        Largest number of steps.
    tol : float, default=1e-4
        Largest allowed entry of the gradient.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit.
    verbose : int, default=0
        Changes nothing.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients of the logarithm.
    intercept_ : float
        Intercept of the logarithm.
    n_iter_ : int
        Steps taken.

    See Also
    --------
    TweedieRegressor : Other powers of the mean as variance, and another link.
    corollary.risk.TweedieLoss : The loss, with power 2.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import GammaRegressor
    >>> X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([1.0, 3.0, 5.0, 7.0])
    >>> GammaRegressor(alpha=0.0).fit(X, 100 * y).predict([[0.0], [1.0]]).round(4)
    array([200., 600.])
    """

    def _loss(self) -> TweedieLoss:
        return TweedieLoss(power=2)
