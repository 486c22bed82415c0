"""Bayes-optimal rules: the best predictions when the law is known.

Given the posterior ``p(y | x)``, the best prediction under a loss minimises the conditional risk.
For the square loss that is the conditional mean, for the zero-one loss the most probable class,
for a cost matrix the class with the smallest expected cost. Every :class:`corollary.risk.Loss`
carries its own rule as ``minimiser``; the named rules are spelt out here.

Cost matrices have truths as rows and predictions as columns, as confusion matrices do.
"""

from typing import Any

import numpy as np
from scipy.special import logsumexp, ndtr

from corollary.risk.losses._checks import check_posterior
from corollary.risk.losses.label_losses import CostLoss
from corollary.risk.losses.loss import sign
from corollary.risk.losses.regression_losses import conditional_mean


def posterior_probabilities(log_likelihood: Any, prior: Any) -> np.ndarray:
    """Return ``p(y | x)`` from class-conditional densities by Bayes' theorem.

    Parameters
    ----------
    log_likelihood : array-like of shape (n_samples, n_classes)
        Logarithms of ``p(x | y)``; minus infinity where the density is zero.
    prior : array-like of shape (n_classes,)
        Probabilities ``p(y)``.

    Returns
    -------
    posterior : ndarray of shape (n_samples, n_classes)
        Rows of probabilities, computed without underflow.

    Raises
    ------
    ValueError
        If a row has no density under any class of positive prior.

    Examples
    --------
    >>> from corollary.risk import posterior_probabilities
    >>> posterior_probabilities([[-1000.0, -1000.0]], [0.25, 0.75])
    array([[0.25, 0.75]])
    """
    prior = _check_prior("posterior_probabilities", prior)
    with np.errstate(divide="ignore"):
        joint = np.asarray(log_likelihood, dtype=float) + np.log(prior)
    total = logsumexp(joint, axis=1, keepdims=True)
    if not np.isfinite(total).all():
        row = int(np.flatnonzero(~np.isfinite(total))[0])
        raise ValueError(
            f"posterior_probabilities needs a positive, finite density in every row. Row {row} has "
            "none under any class of positive prior."
        )
    return np.exp(joint - total)


def bayes_regressor(posterior: Any, outcomes: Any) -> np.ndarray:
    """Return the conditional mean, the best prediction under the square loss.

    For every predictor f, ``E(y - f)^2 = E(y - f*)^2 + E(f - f*)^2`` with ``f*`` this rule.

    Parameters
    ----------
    posterior : array-like of shape (n_samples, n_outcomes)
        Probabilities of the outcomes.
    outcomes : array-like of shape (n_outcomes,)
        Real values of the truth.

    Returns
    -------
    prediction : ndarray of shape (n_samples,)
        ``E[y | x]``.

    Examples
    --------
    >>> from corollary.risk import bayes_regressor
    >>> bayes_regressor([[0.5, 0.5]], [1.0, 3.0])
    array([2.])
    """
    return conditional_mean(posterior, outcomes)


def map_rule(posterior: Any, classes: Any = None) -> np.ndarray:
    """Return the most probable class: the Bayes classifier for the zero-one loss.

    Parameters
    ----------
    posterior : array-like of shape (n_samples, n_classes)
        Probabilities ``p(y | x)``; any positive multiple of a row gives the same class, so
        ``p(y) p(x | y)`` will do.
    classes : array-like of shape (n_classes,) or None, default=None
        The labels; None for 0, ..., n_classes - 1.

    Returns
    -------
    label : ndarray of shape (n_samples,)
        The first of the most probable classes.

    Examples
    --------
    >>> from corollary.risk import map_rule
    >>> map_rule([[0.2, 0.5, 0.3], [0.6, 0.2, 0.2]], ["a", "b", "c"])
    array(['b', 'a'], dtype='<U1')
    """
    return _largest("map_rule", posterior, classes)


def ml_rule(likelihood: Any, classes: Any = None) -> np.ndarray:
    """Return the class under which the input is most likely.

    Equals :func:`map_rule` when all classes are equally probable.

    Parameters
    ----------
    likelihood : array-like of shape (n_samples, n_classes)
        Densities ``p(x | y)``, or their logarithms.
    classes : array-like of shape (n_classes,) or None, default=None
        The labels; None for 0, ..., n_classes - 1.

    Returns
    -------
    label : ndarray of shape (n_samples,)
        The first of the most likely classes.

    Examples
    --------
    >>> from corollary.risk import ml_rule
    >>> ml_rule([[0.1, 0.7], [2.0, 0.1]], [-1, 1])
    array([ 1, -1])
    """
    return _largest("ml_rule", likelihood, classes)


def bayes_error(posterior: Any, marginal: Any = None) -> float:
    """Return the Bayes error rate ``E[1 - max_y p(y | x)]``.

    Parameters
    ----------
    posterior : array-like of shape (n_samples, n_classes)
        Probabilities of the classes.
    marginal : array-like of shape (n_samples,) or None, default=None
        Probabilities of the inputs; None for equal ones, as for a sample of inputs.

    Returns
    -------
    error : float
        The smallest error rate of any classifier.

    Examples
    --------
    >>> from corollary.risk import bayes_error
    >>> round(bayes_error([[0.9, 0.1], [0.5, 0.5]], [0.75, 0.25]), 6)
    0.2
    """
    table = np.asarray(posterior, dtype=float)
    table, _ = check_posterior("bayes_error", table, np.arange(table.shape[-1]))
    mistakes = 1 - table.max(axis=1)
    if marginal is None:
        return float(mistakes.mean())
    marginal = _check_prior("bayes_error", marginal)
    if marginal.shape != mistakes.shape:
        raise ValueError(
            f"bayes_error needs one marginal probability for each row. Got {marginal.size} "
            f"probabilities and {mistakes.size} rows."
        )
    return float(marginal @ mistakes)


def cost_sensitive_rule(posterior: Any, costs: Any, classes: Any = None) -> np.ndarray:
    """Return the class with the smallest expected cost.

    Parameters
    ----------
    posterior : array-like of shape (n_samples, n_classes)
        Probabilities of the classes.
    costs : array-like of shape (n_classes, n_classes)
        ``costs[i][j]``: cost of predicting class j when class i is true.
    classes : array-like of shape (n_classes,) or None, default=None
        The labels; None for 0, ..., n_classes - 1.

    Returns
    -------
    label : ndarray of shape (n_samples,)
        The optimal classes; where several are optimal, the last one (with two classes, the
        positive one).

    Notes
    -----
    Guarantee: no classifier has a smaller expected cost. Checked against all classifiers of small
    worlds by ``tests/risk/test_bayes.py::test_cost_rule_beats_every_classifier``.

    Examples
    --------
    >>> from corollary.risk import cost_sensitive_rule
    >>> cost_sensitive_rule([[0.8, 0.2], [0.95, 0.05]], [[0, 1], [10, 0]])
    array([1, 0])
    """
    if classes is None:
        classes = np.arange(np.asarray(posterior).shape[1])
    return CostLoss(costs, classes).minimiser(posterior, classes)


def cost_threshold(costs: Any) -> float:
    """Return the probability from which the positive class has the smaller expected cost.

    With ``c_fp = costs[0][1] - costs[0][0]`` and ``c_fn = costs[1][0] - costs[1][1]``, predict the
    positive class if and only if ``p(positive | x) >= c_fp / (c_fp + c_fn)``.

    Parameters
    ----------
    costs : array-like of shape (2, 2)
        Row 0 for the negative truth, row 1 for the positive; columns for predictions.

    Returns
    -------
    threshold : float
        A probability strictly between 0 and 1.

    Raises
    ------
    ValueError
        If a mistake does not cost more than the right answer.

    Examples
    --------
    >>> from corollary.risk import cost_threshold
    >>> cost_threshold([[0, 1], [3, 0]])
    0.25
    """
    costs = np.asarray(costs, dtype=float)
    if costs.shape != (2, 2):
        raise ValueError(f"cost_threshold needs costs of shape (2, 2). Got {costs.shape}.")
    false_positive, false_negative = costs[0, 1] - costs[0, 0], costs[1, 0] - costs[1, 1]
    if not (false_positive > 0 and false_negative > 0):
        raise ValueError(
            "cost_threshold needs every mistake to cost more than the right answer: "
            "costs[0][1] > costs[0][0] and costs[1][0] > costs[1][1]. "
            f"Got differences {false_positive:g} and {false_negative:g}."
        )
    return float(false_positive / (false_positive + false_negative))


def cost_sensitive_sign(probability: Any, costs: Any) -> np.ndarray:
    """Return the optimal label -1 or +1 for a cost matrix, ties going to +1.

    ``sign(p - c_fp / c_fn * (1 - p))`` with the symbols of :func:`cost_threshold`.

    Parameters
    ----------
    probability : array-like
        Probabilities p of the label +1.
    costs : array-like of shape (2, 2)
        Rows for the truths -1 and +1, columns for the predictions -1 and +1.

    Returns
    -------
    label : ndarray of the same shape
        -1 or +1.

    Examples
    --------
    >>> from corollary.risk import cost_sensitive_sign
    >>> cost_sensitive_sign([0.1, 0.25, 0.6], [[0, 1], [3, 0]])
    array([-1,  1,  1])
    """
    return sign(np.asarray(probability, dtype=float) - cost_threshold(costs))


def gaussian_bayes_error(
    mean_negative: Any, mean_positive: Any, covariance: Any, *, prior: float = 0.5
) -> float:
    """Return the Bayes error of two Gaussian classes with a common covariance.

    With Mahalanobis distance D between the means and equal priors it is ``Phi(-D / 2)``.

    Parameters
    ----------
    mean_negative : array-like of shape (n_features,)
        Mean of the negative class.
    mean_positive : array-like of shape (n_features,)
        Mean of the positive class.
    covariance : array-like of shape (n_features, n_features)
        Common covariance, positive definite.
    prior : float, default=0.5
        Probability of the positive class, in (0, 1).

    Returns
    -------
    error : float
        Error rate of the best classifier.

    Examples
    --------
    >>> from corollary.risk import gaussian_bayes_error
    >>> round(gaussian_bayes_error([0.0], [2.0], [[1.0]]), 4)
    0.1587
    """
    if not 0 < prior < 1:
        raise ValueError(
            "The 'prior' parameter of gaussian_bayes_error must be a float in the range "
            f"(0.0, 1.0). Got {prior!r} instead."
        )
    gap = np.atleast_1d(np.asarray(mean_positive, float) - np.asarray(mean_negative, float))
    distance = float(np.sqrt(gap @ np.linalg.solve(np.atleast_2d(covariance), gap)))
    if distance == 0:
        return min(prior, 1 - prior)
    # The log-odds are Gaussian with mean +- D^2 / 2 + log(prior odds) and standard deviation D.
    shift = np.log(prior / (1 - prior)) / distance
    missed = prior * ndtr(-distance / 2 - shift)
    return float(missed + (1 - prior) * ndtr(-distance / 2 + shift))


def _largest(name: str, table: Any, classes: Any) -> np.ndarray:
    table = np.asarray(table, dtype=float)
    if table.ndim != 2:
        raise ValueError(
            f"{name} needs a table of shape (n_samples, n_classes). Got {table.shape}."
        )
    labels = np.arange(table.shape[1]) if classes is None else np.asarray(classes)
    if labels.shape != table.shape[1:]:
        raise ValueError(
            f"{name} needs one class for each column. Got {labels.size} classes and "
            f"{table.shape[1]} columns."
        )
    return labels[table.argmax(axis=1)]


def _check_prior(name: str, prior: Any) -> np.ndarray:
    prior = np.asarray(prior, dtype=float)
    if prior.ndim != 1 or np.any(prior < 0) or not np.isclose(prior.sum(), 1, rtol=0, atol=1e-8):
        raise ValueError(f"{name} needs probabilities that are non-negative and sum to 1.")
    return prior
