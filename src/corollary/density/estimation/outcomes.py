r"""The law of samples, and the moments of an estimator under it.

Everything that is said of an estimator is an expectation over samples. Samples of a discrete law
can all be listed, with their probabilities; others are drawn. With the score
:math:`\Lambda=\partial_\theta\log p(x_1,\dots,x_n\mid\theta)` of the whole sample, a regular family
and an estimator of bias b,

.. math:: E\Lambda=0,\qquad \operatorname{Cov}\Lambda=nI(\theta),\qquad
          \operatorname{Cov}(\hat\theta,\Lambda)=I+\frac{\partial b}{\partial\theta}.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.estimator import Count, checked
from corollary.density.likelihood.family import Family

Estimator = Callable[[np.ndarray], Any]
_MOST = 10**6


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Samples with their probabilities.

    Parameters
    ----------
    family : Family
        The densities.
    theta : ndarray of shape (n_parameters,)
        The parameters.
    samples : ndarray of shape (n_outcomes, n_samples) or (n_outcomes, n_samples, n_features)
        Samples.
    probability : ndarray of shape (n_outcomes,)
        Their probabilities; sum one.
    exact : bool
        Whether these are all samples, rather than some that were drawn.

    Examples
    --------
    >>> from corollary.density import Bernoulli, list_outcomes
    >>> outcomes = list_outcomes(Bernoulli(), [0.25], 2)
    >>> outcomes.samples.tolist(), outcomes.probability.tolist()
    ([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0.5625, 0.1875, 0.1875, 0.0625])
    """

    family: Family
    theta: np.ndarray
    samples: np.ndarray
    probability: np.ndarray
    exact: bool

    def scores(self) -> np.ndarray:
        """Return the score of each sample, the sum of those of its draws."""
        m, n = self.samples.shape[:2]
        draws = self.samples.reshape(m * n, *self.samples.shape[2:])
        return self.family.score(draws, self.theta).reshape(m, n, -1).sum(axis=1)


@checked
def list_outcomes(family: Any, theta: Any, n_samples: Count) -> Outcomes:
    """List all samples of a law, or of the nodes that stand for it.

    They are exact for discrete laws, and for others as exact as a product of Gauss rules.

    Parameters
    ----------
    family : Family
        The densities; with a finite :meth:`Family.law`.
    theta : array-like of shape (n_parameters,)
        The parameters.
    n_samples : int
        Draws in a sample; there may be a million samples.

    Examples
    --------
    >>> from corollary.density import DiscreteUniform, list_outcomes
    >>> list_outcomes(DiscreteUniform(), [3], 2).samples.shape
    (9, 2)
    """
    theta = family.check(theta)
    points, probability = family.law(theta)
    if len(points) ** n_samples > _MOST:
        raise ValueError(
            f"list_outcomes lists at most a million samples. {type(family).__name__} has "
            f"{len(points)} points, and samples {n_samples} draws: use draw_outcomes."
        )
    places = np.indices((len(points),) * n_samples).reshape(n_samples, -1).T
    return Outcomes(family, theta, points[places], probability[places].prod(axis=1), True)


@checked
def draw_outcomes(
    family: Any, theta: Any, n_samples: Count, n_outcomes: Count, random_state: Any = None
) -> Outcomes:
    """Draw independent samples, each with the same probability.

    Parameters
    ----------
    family : Family
        The densities; with a sampler.
    theta : array-like of shape (n_parameters,)
        The parameters.
    n_samples, n_outcomes : int
        Draws in a sample, and number of samples.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Examples
    --------
    >>> from corollary.density import Poisson, draw_outcomes
    >>> draw_outcomes(Poisson(), [3.0], 10, 1000, random_state=0).samples.shape
    (1000, 10)
    """
    theta = family.check(theta)
    draws = family.sample(n_samples * n_outcomes, theta, random_state)
    samples = draws.reshape(n_outcomes, n_samples, *draws.shape[1:])
    return Outcomes(family, theta, samples, np.full(n_outcomes, 1 / n_outcomes), False)


@dataclass(frozen=True, eq=False)
class EstimatorMoments:
    """Moments of an estimator, and of the score beside it.

    Parameters
    ----------
    mean, bias : ndarray of shape (n_values,)
        Expectation of the estimator, and the same less the parameters.
    covariance, mean_squared_error : ndarray of shape (n_values, n_values)
        Covariance of the estimator, and the second moments of its error: the covariance plus the
        outer product of the bias.
    standard_error : ndarray of shape (n_values,)
        Of mean and bias, from simulation; 0 if all samples were listed.

    Examples
    --------
    >>> from corollary.density import Bernoulli, estimator_moments, list_outcomes
    >>> mean = lambda samples: samples.mean(axis=1)
    >>> estimator_moments(mean, list_outcomes(Bernoulli(), [0.5], 4)).covariance.round(6)
    array([[0.0625]])
    """

    mean: np.ndarray
    bias: np.ndarray
    covariance: np.ndarray
    mean_squared_error: np.ndarray
    standard_error: np.ndarray


def estimator_moments(
    estimator: Estimator, outcomes: Outcomes, *, truth: Any = None
) -> EstimatorMoments:
    r"""Return bias, covariance and mean squared error of an estimator.

    .. math:: b=E\hat\theta-\theta,\qquad
              E(\hat\theta-\theta)(\hat\theta-\theta)^\top=\operatorname{Cov}\hat\theta+bb^\top

    Parameters
    ----------
    estimator : callable
        Maps samples of shape (n_outcomes, n_samples) to one value, or one row of values, for each.
    outcomes : Outcomes
        Samples of the law.
    truth : array-like of shape (n_values,) or None, default=None
        What is estimated; None for the parameters.

    Examples
    --------
    >>> from corollary.density import Normal, estimator_moments, list_outcomes
    >>> outcomes = list_outcomes(Normal(), [1.0, 4.0], 3)
    >>> moments = estimator_moments(lambda x: x.var(axis=1), outcomes, truth=[4.0])
    >>> moments.bias.round(6)  # minus the variance over n
    array([-1.333333])
    """
    values = _values(estimator, outcomes)
    truth = outcomes.theta if truth is None else np.atleast_1d(np.asarray(truth, dtype=float))
    if truth.shape != values.shape[1:]:
        raise ValueError(
            f"estimator_moments needs as many values as parameters. Got {values.shape[1]} values "
            f"for {len(truth)} of them; say in `truth` what is estimated."
        )
    p = outcomes.probability
    mean, error = p @ values, values - truth
    away = values - mean
    covariance = away.T @ (p[:, np.newaxis] * away)
    spread = np.zeros(len(mean)) if outcomes.exact else np.sqrt(np.diag(covariance) / len(p))
    squared = error.T @ (p[:, np.newaxis] * error)
    return EstimatorMoments(mean, mean - truth, covariance, squared, spread)


def score_moments(
    estimator: Estimator, outcomes: Outcomes
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Return mean and covariance of the score, and the covariance of an estimator with it.

    If differentiation and integration may change places these are 0, the information :math:`nI`
    and :math:`I+\partial b/\partial\theta`. For families that are not regular they are not.
    See :class:`Outcomes`, and :func:`estimator_moments` for ``estimator``.

    Examples
    --------
    >>> from corollary.density import Bernoulli, list_outcomes, score_moments
    >>> outcomes = list_outcomes(Bernoulli(), [0.2], 4)
    >>> [part.round(9) + 0.0 for part in score_moments(lambda x: x.mean(axis=1) / 2, outcomes)]
    [array([0.]), array([[25.]]), array([[0.5]])]
    """
    values, scores, p = _values(estimator, outcomes), outcomes.scores(), outcomes.probability
    mean = p @ scores
    away = p[:, np.newaxis] * (scores - mean)
    return mean, scores.T @ away, values.T @ away


def bias_jacobian(
    estimator: Estimator, family: Family, theta: Any, n_samples: int, *, step: float = 1e-4
) -> np.ndarray:
    r"""Return the derivatives :math:`\partial b_i/\partial\theta_j` of an estimator's bias.

    The ``estimator`` has as many values as there are parameters, and ``step`` is half of the
    difference of parameters by which derivatives are taken. See :class:`Outcomes`, and
    :func:`list_outcomes` for the other parameters.

    Examples
    --------
    >>> from corollary.density import Normal, bias_jacobian
    >>> half = lambda x: x.mean(axis=1) / 2
    >>> bias_jacobian(half, Normal(std=1.0), [3.0], 2).round(6)
    array([[-0.5]])
    """
    theta, columns = family.check(theta), []
    for k in range(len(theta)):
        shift = step * np.eye(len(theta))[k]
        ahead, behind = (
            estimator_moments(estimator, list_outcomes(family, theta + s * shift, n_samples)).bias
            for s in (1, -1)
        )
        columns.append((ahead - behind) / (2 * step))
    return np.stack(columns, axis=1)


def _values(estimator: Estimator, outcomes: Outcomes) -> np.ndarray:
    """Return what an estimator makes of each sample."""
    values = np.asarray(estimator(outcomes.samples), dtype=float)
    values = values[:, np.newaxis] if values.ndim == 1 else values
    if values.ndim != 2 or len(values) != len(outcomes.samples):
        raise ValueError(
            f"An estimator maps {len(outcomes.samples)} samples to one value, or one row of "
            f"values, for each. Got shape {values.shape}."
        )
    return values
