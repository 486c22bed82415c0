"""Regression of means whose variance is a power of the mean."""

from dataclasses import KW_ONLY
from numbers import Real
from typing import Annotated, Literal

from corollary.core.compat import Interval
from corollary.linear.generalised._model import GeneralisedLinear
from corollary.risk import TweedieLoss

_OF_A_LAW = (Interval(Real, None, 0, closed="right"), Interval(Real, 1, None, closed="left"))


class TweedieRegressor(GeneralisedLinear):
    r"""Predict the mean of a law whose variance is proportional to a power of it.

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
    power : float, default=0.0
        The power: 0 for normal laws, 1 for Poisson's, 2 for gamma laws, 3 for inverse Gaussian
        ones; between 1 and 2 for amounts of which many are zero. There is none between 0 and 1.
    link : {"auto", "identity", "log"}, default="auto"
        What of the mean is linear; "auto" is "identity" for powers of at most 0, else "log".

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients of the mean or its logarithm.
    intercept_ : float
        Intercept of the mean or its logarithm.
    n_iter_ : int
        Steps taken.

    See Also
    --------
    PoissonRegressor, GammaRegressor : Powers 1 and 2.
    corollary.risk.TweedieLoss : The loss.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import TweedieRegressor
    >>> X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0.0, 4.0, 5.0, 7.0])
    >>> TweedieRegressor(power=1.5, alpha=0.0).fit(X, y).predict([[0.0], [1.0]]).round(4)
    array([2., 6.])
    """

    _: KW_ONLY
    power: Annotated[float, *_OF_A_LAW] = 0.0
    link: Literal["auto", "identity", "log"] = "auto"

    def _loss(self) -> TweedieLoss:
        linear = self.link == "identity" or (self.link == "auto" and self.power <= 0)
        return TweedieLoss(self.power, "identity" if linear else "log")
