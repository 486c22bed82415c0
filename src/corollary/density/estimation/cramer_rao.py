r"""How good an estimator can be: the bounds of Cramér and Rao, and efficiency.

With the information :math:`I_n=nI(\theta)` of the whole sample and the bias b of an estimator of a
regular family,

.. math:: \operatorname{Cov}\hat\theta\succeq(I+B)\,I_n^{-1}(I+B)^\top,\qquad
          B_{ij}=\partial b_i/\partial\theta_j ,

and the second moments of the error exceed the same matrix plus :math:`bb^\top`. The bias belongs to
the error, not to the variance: :math:`\bar y+c` has the variance of :math:`\bar y`.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from corollary.core.estimator import AnyReal, Positive, checked


class CramerRaoBound(NamedTuple):
    """Least variance and least mean squared error of an estimator.

    Parameters
    ----------
    variance, mean_squared_error : float or ndarray of shape (n_parameters, n_parameters)
        No estimator with this bias has a smaller variance, or covariance, nor a smaller mean
        squared error, or matrix of second moments.

    Examples
    --------
    >>> from corollary.density import cramer_rao_bound
    >>> cramer_rao_bound(10.0, bias=1.0)
    CramerRaoBound(variance=0.1, mean_squared_error=1.1)
    """

    variance: Any
    mean_squared_error: Any


@checked
def cramer_rao_bound(
    information: Positive, *, bias: AnyReal = 0.0, bias_slope: AnyReal = 0.0
) -> CramerRaoBound:
    r"""Bound the variance and the mean squared error of an estimator of one parameter from below.

    .. math:: \operatorname{Var}\hat\theta\ge\frac{(1+b')^2}{I_n},\qquad
              E(\hat\theta-\theta)^2\ge\frac{(1+b')^2}{I_n}+b^2

    Parameters
    ----------
    information : float
        Fisher information of the whole sample.
    bias : float, default=0.0
        Bias b of the estimator.
    bias_slope : float, default=0.0
        Its derivative by the parameter; between -2 and 0 it lets the variance fall below that of
        every unbiased estimator.

    Notes
    -----
    The bound for several parameters is :func:`cramer_rao_matrix`.

    The family must be regular. For uniform laws on (0, theta) the information does not exist, and
    the unbiased estimator (n + 1) / n times the largest draw has the variance
    theta^2 / (n (n + 2)), which falls faster than 1 / n.

    References
    ----------
    C. R. Rao (1945). Information and the accuracy attainable in the estimation of statistical
    parameters. Bulletin of the Calcutta Mathematical Society 37, 81-91.

    Examples
    --------
    >>> from corollary.density import Bernoulli, cramer_rao_bound
    >>> information = Bernoulli().fisher_information([0.5], n_samples=100)[0, 0]
    >>> cramer_rao_bound(information).variance  # reached by the share of heads
    0.0025
    """
    variance = (1 + bias_slope) ** 2 / information
    return CramerRaoBound(float(variance), float(variance + bias**2))


def cramer_rao_matrix(
    information: Any, *, bias: Any = None, bias_jacobian: Any = None
) -> CramerRaoBound:
    r"""Bound the covariance and the second moments of the error of an estimator from below.

    What is bounded less its bound has no negative eigenvalue.

    Parameters
    ----------
    information : array-like of shape (n_parameters, n_parameters)
        Fisher information of the whole sample, positive definite: a direction that nobody can
        estimate without bias has no finite bound.
    bias : array-like of shape (n_parameters,) or None, default=None
        Bias of the estimator; None for zeros.
    bias_jacobian : array-like of shape (n_parameters, n_parameters) or None, default=None
        Its derivatives by the parameters; None for zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.density import cramer_rao_matrix
    >>> cramer_rao_matrix(np.diag([4.0, 10.0])).variance
    array([[0.25, 0.  ],
           [0.  , 0.1 ]])
    """
    information = np.asarray(information, dtype=float)
    p = len(information)
    slope = np.eye(p) + (0.0 if bias_jacobian is None else np.asarray(bias_jacobian, dtype=float))
    b = np.zeros(p) if bias is None else np.asarray(bias, dtype=float)
    if information.shape != (p, p) or slope.shape != (p, p) or b.shape != (p,):
        raise ValueError(
            "cramer_rao_matrix needs square matrices and a bias of one size. Got shapes "
            f"{information.shape}, {slope.shape} and {b.shape}."
        )
    try:
        factor = linalg.cho_factor(information)
    except linalg.LinAlgError as error:
        raise ValueError(
            "cramer_rao_matrix needs a positive definite information: along its null space nothing "
            "can be estimated without bias."
        ) from error
    variance = slope @ linalg.cho_solve(factor, slope.T)
    return CramerRaoBound(variance, variance + np.outer(b, b))


@checked
def efficiency(mean_squared_error: Positive, information: Positive) -> float:
    r"""Return the share of the information that an estimator uses.

    .. math:: \frac{1/I_n(\theta)}{E(\hat\theta-\theta)^2}

    It is at most 1 for unbiased estimators. Biased ones may exceed that: the constant that happens
    to be the truth has no error at all, so that no estimator is best among all.

    Parameters
    ----------
    mean_squared_error, information : float
        Of the estimator, and Fisher's of the whole sample.

    Examples
    --------
    >>> from corollary.density import efficiency
    >>> efficiency(0.02, 100.0)  # twice the least variance
    0.5
    """
    return float(1 / information / mean_squared_error)
