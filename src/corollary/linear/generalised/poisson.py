"""Poisson regression: counts whose expected value is exponential in a linear predictor."""

from corollary.linear.generalised._model import GeneralisedLinear
from corollary.risk import TweedieLoss


class PoissonRegressor(GeneralisedLinear):
    r"""Predict counts or rates: the logarithm of their expected value is linear.

    Minimises, as scikit-learn's class of this name does, the mean half deviance plus
    :math:`\tfrac\alpha2 \|w\|_2^2`; the intercept is not penalised.

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
    corollary.risk.PoissonLoss : The loss.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import PoissonRegressor
    >>> X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([1.0, 3.0, 5.0, 7.0])
    >>> PoissonRegressor(alpha=0.0).fit(X, y).predict([[0.0], [1.0]]).round(6)
    array([2., 6.])
    """

    def _loss(self) -> TweedieLoss:
        return TweedieLoss(power=1)
