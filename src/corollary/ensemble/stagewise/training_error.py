r"""AdaBoost's training error and the chain of quantities above it.

For half weights :math:`\alpha_t` and :math:`f=\sum_t\alpha_th_t`,

.. math:: \sum_iD_1(i)1\{y_if(x_i)\le0\}\le\sum_iD_1(i)e^{-y_if(x_i)}=\prod_tZ_t
          =\prod_t\sqrt{1-4\gamma_t^2}\le e^{-2\sum_t\gamma_t^2},
          \qquad\gamma_t=\tfrac12-\varepsilon_t.

The first equality holds for any weights, the second for AdaBoost's own; the last step is
:math:`1-x\le e^{-x}`.
"""

from numbers import Real
from typing import Annotated, Any, NamedTuple

import numpy as np

from corollary.core.compat import Interval
from corollary.core.estimator import Count, checked
from corollary.ensemble.combining.vote import convex_weights
from corollary.ensemble.stagewise.reweighting import normaliser
from corollary.risk import check_signs


class TrainingErrorChain(NamedTuple):
    """The links of AdaBoost's training-error theorem after each round.

    Parameters
    ----------
    training_error : ndarray of shape (n_rounds,)
        Weight of rows with ``y f(x) <= 0``.
    exponential_loss : ndarray of shape (n_rounds,)
        Weighted mean of ``exp(-y f(x))``.
    product_of_normalisers : ndarray of shape (n_rounds,)
        Product of the normalisers; equal to the exponential loss.
    product_of_roots : ndarray of shape (n_rounds,)
        Product of ``sqrt(1 - 4 edge^2)``; equal to it for AdaBoost's weights, else not larger.
    edge_bound : ndarray of shape (n_rounds,)
        ``exp(-2 sum of squared edges)``; above all others for AdaBoost's weights.
    errors : ndarray of shape (n_rounds,)
        Weighted error of each classifier under the distribution of its round.
    """

    training_error: np.ndarray
    exponential_loss: np.ndarray
    product_of_normalisers: np.ndarray
    product_of_roots: np.ndarray
    edge_bound: np.ndarray
    errors: np.ndarray


def training_error_chain(
    y: Any, votes: Any, weights: Any, *, sample_weight: Any = None
) -> TrainingErrorChain:
    r"""Evaluate every link of the training-error theorem on a run.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels -1 and +1.
    votes : array-like of shape (n_rounds, n_samples)
        :math:`h_t(x_i)`, -1 or +1.
    weights : array-like of shape (n_rounds,)
        :math:`\alpha_t`, half weights.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        :math:`D_1`, divided by its sum; None for equal weights.

    Returns
    -------
    chain : TrainingErrorChain
        All links after every round.

    Notes
    -----
    Guarantee: the training error is at most the exponential loss, which equals the product of
    normalisers, for any votes and weights; with AdaBoost's weights and every error below one half
    both are at most the edge bound. Checked on real runs by
    ``tests/ensemble/test_adaboost_bound.py::test_every_link_of_the_chain``.

    Examples
    --------
    >>> from corollary.ensemble import classifier_weight, training_error_chain
    >>> chain = training_error_chain([1, 1, -1, -1], [[1, 1, -1, 1]], [classifier_weight(0.25)])
    >>> chain.training_error, chain.exponential_loss.round(4), chain.edge_bound.round(4)
    (array([0.25]), array([0.866]), array([0.8825]))
    """
    y = check_signs("training_error_chain", y)
    h = check_signs("training_error_chain", votes)
    alpha = np.asarray(weights, dtype=float)
    if y.ndim != 1 or h.shape != (len(alpha), len(y)) or alpha.ndim != 1:
        raise ValueError(
            "training_error_chain needs votes of shape (n_rounds, n_samples), one weight per round "
            f"and one label per row. Got shapes {h.shape}, {alpha.shape} and {y.shape}."
        )
    D = convex_weights(sample_weight, len(y))
    margins = np.cumsum(alpha[:, None] * h, axis=0) * y
    # What the rounds saw: the margins before each of them.
    before = np.vstack([np.zeros((1, len(y))), margins[:-1]])
    tilted = D * np.exp(-(before - before.min(axis=1, keepdims=True)))
    errors = (tilted * (h != y)).sum(axis=1) / tilted.sum(axis=1)
    edges = 0.5 - errors
    return TrainingErrorChain(
        training_error=(D * (margins <= 0)).sum(axis=1),
        exponential_loss=np.exp(-margins) @ D,
        product_of_normalisers=np.cumprod([normaliser(e, a) for e, a in zip(errors, alpha)]),
        product_of_roots=np.cumprod([normaliser(e) for e in errors]),
        edge_bound=np.exp(-2 * np.cumsum(edges**2)),
        errors=errors,
    )


def training_error_bound(errors: Any) -> float:
    r"""Return the bound on AdaBoost's training error from the errors of its rounds.

    Parameters
    ----------
    errors : array-like of shape (n_rounds,)
        :math:`\varepsilon_t`, weighted errors of the rounds.

    Returns
    -------
    bound : float
        :math:`\exp(-2\sum_t\gamma_t^2)`, :math:`\gamma_t=\frac12-\varepsilon_t`.

    See Also
    --------
    rounds_for_zero_error : How many rounds make the training error zero.

    Notes
    -----
    Guarantee: for the weights :math:`\frac12\log\frac{1-\varepsilon}{\varepsilon}`, without
    shrinkage; checked by
    ``tests/ensemble/test_adaboost_bound.py::test_every_link_of_the_chain``.

    Examples
    --------
    >>> from corollary.ensemble import training_error_bound
    >>> round(training_error_bound([0.3] * 50), 4)
    0.0183
    """
    values = np.asarray(errors, dtype=float)
    if values.ndim != 1 or not np.all((values >= 0) & (values <= 1)):
        raise ValueError("training_error_bound needs a vector of error rates in [0, 1].")
    return float(np.exp(-2 * ((0.5 - values) ** 2).sum()))


@checked
def rounds_for_zero_error(
    n_samples: Count, edge: Annotated[float, Interval(Real, 0, 0.5, closed="right")]
) -> int:
    r"""Return a number of rounds after which AdaBoost makes no training error.

    Parameters
    ----------
    n_samples : int
        n, number of rows of equal weight.
    edge : float
        :math:`\gamma>0`, at most the edge of every round.

    Returns
    -------
    rounds : int
        The smallest T with :math:`e^{-2\gamma^2T}<1/n`: a training error below 1/n is zero.

    Examples
    --------
    >>> from corollary.ensemble import rounds_for_zero_error
    >>> rounds_for_zero_error(1000, 0.1)
    346
    """
    # One round at least, for a single row; the strict inequality must survive rounding.
    return int(np.floor(np.log(n_samples) / (2 * edge**2) * (1 + 1e-12))) + 1
