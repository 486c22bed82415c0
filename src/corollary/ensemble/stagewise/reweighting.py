r"""One round of AdaBoost, in both conventions, and the identities it satisfies.

With :math:`\varepsilon` the weighted error of the round's classifier h under the distribution D:

* "half": :math:`\alpha=\frac12\log\frac{1-\varepsilon}{\varepsilon}`, and
  :math:`D'(i)=D(i)e^{-\alpha y_ih(x_i)}/Z`;
* "log_odds": :math:`\alpha=\log\frac{1-\varepsilon}{\varepsilon}`, the log-odds of being *right*,
  and :math:`w_i'=w_ie^{\alpha1\{h(x_i)\ne y_i\}}`, not normalised.

The second weight is twice the first, and the two updates agree after normalisation, since
:math:`e^{-\alpha yh}=e^{-\alpha}e^{2\alpha1\{h\ne y\}}`. The normaliser
:math:`Z(\alpha)=\varepsilon e^\alpha+(1-\varepsilon)e^{-\alpha}` is smallest at the half weight,
where it is :math:`2\sqrt{\varepsilon(1-\varepsilon)}`; after the update h has weighted error
exactly one half; and :math:`D_{T+1}(i)=D_1(i)e^{-y_if(x_i)}/\prod_tZ_t` with
:math:`f=\sum_t\alpha_th_t`.
"""

from typing import Any, Literal

import numpy as np

from corollary.core.estimator import ArrayLike, CountFromTwo, Fraction, checked
from corollary.ensemble.combining.vote import convex_weights
from corollary.risk import check_signs


@checked
def classifier_weight(
    error: Fraction,
    *,
    convention: Literal["half", "log_odds"] = "half",
    n_classes: CountFromTwo = 2,
) -> float:
    r"""Return the weight of a classifier in AdaBoost's vote.

    Parameters
    ----------
    error : float
        :math:`\varepsilon`, its weighted error.
    convention : {"half", "log_odds"}, default="half"
        "half" gives :math:`\frac12\log\frac{1-\varepsilon}{\varepsilon}`, "log_odds" twice that.
    n_classes : int, default=2
        K; beyond two classes :math:`\log(K-1)` is added to the log-odds (SAMME), so that a
        classifier better than guessing, :math:`\varepsilon<1-1/K`, has positive weight.

    Returns
    -------
    weight : float
        Infinite for a perfect classifier, negative for one worse than guessing.

    Examples
    --------
    >>> from corollary.ensemble import classifier_weight
    >>> round(classifier_weight(0.2), 4), round(classifier_weight(0.2, convention="log_odds"), 4)
    (0.6931, 1.3863)
    """
    with np.errstate(divide="ignore"):
        odds = float(np.log1p(-error) - np.log(np.float64(error)) + np.log(n_classes - 1))
    return odds / 2 if convention == "half" else odds


@checked
def reweight(
    distribution: ArrayLike,
    wrong: ArrayLike,
    weight: float,
    *,
    convention: Literal["half", "log_odds"] = "half",
) -> np.ndarray:
    """Return the distribution over rows after a round.

    Parameters
    ----------
    distribution : array-like of shape (n_samples,)
        Non-negative weights of rows, divided by their sum.
    wrong : array-like of bool, shape (n_samples,)
        Where the classifier errs.
    weight : float
        Weight of the classifier in the same convention.
    convention : {"half", "log_odds"}, default="half"
        "half" lowers rows that are right and raises those that are wrong, "log_odds" only raises.

    Returns
    -------
    distribution : ndarray of shape (n_samples,)
        The next distribution; it sums to one.

    Examples
    --------
    >>> from corollary.ensemble import classifier_weight, reweight
    >>> reweight([1, 1, 1, 1], [True, False, False, False], classifier_weight(0.25)).round(4)
    array([0.5   , 0.1667, 0.1667, 0.1667])
    """
    wrong = np.asarray(wrong)
    if wrong.dtype != bool or wrong.ndim != 1:
        raise ValueError(
            "reweight needs a vector of booleans that says where the classifier errs. Got dtype "
            f"{wrong.dtype} and shape {wrong.shape}."
        )
    D = convex_weights(distribution, len(wrong))
    logs = np.where(wrong, weight, -weight if convention == "half" else 0.0)
    D = D * np.exp(logs - logs.max())  # common factors do not matter
    if not D.any():
        raise ValueError("reweight: all weights underflow. Lower the weight of the classifier.")
    return D / D.sum()


@checked
def normaliser(error: Fraction, weight: float | None = None) -> float:
    r"""Return the normaliser of a round, the factor by which the exponential loss changes.

    Parameters
    ----------
    error : float
        :math:`\varepsilon`, weighted error of the round's classifier.
    weight : float or None, default=None
        :math:`\alpha` in the convention "half"; None for the best one.

    Returns
    -------
    factor : float
        :math:`Z(\alpha)=\varepsilon e^\alpha+(1-\varepsilon)e^{-\alpha}`, or its minimum
        :math:`2\sqrt{\varepsilon(1-\varepsilon)}`.

    Examples
    --------
    >>> from corollary.ensemble import normaliser
    >>> normaliser(0.2), normaliser(0.5, 1.0) > 1
    (0.8, True)
    """
    if weight is None:
        return float(2 * np.sqrt(error * (1 - error)))
    # logarithms first: the factors may overflow while their product with the error does not
    with np.errstate(divide="ignore"):
        return float(np.exp(np.logaddexp(np.log(error) + weight, np.log1p(-error) - weight)))


def boosting_distribution(y: Any, scores: Any, *, initial: Any = None) -> np.ndarray:
    r"""Return AdaBoost's distribution over rows from the scores alone.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels -1 and +1.
    scores : array-like of shape (n_samples,)
        :math:`f=\sum_t\alpha_th_t` with half weights.
    initial : array-like of shape (n_samples,) or None, default=None
        :math:`D_1`, divided by its sum; None for equal weights.

    Returns
    -------
    distribution : ndarray of shape (n_samples,)
        :math:`D_{T+1}(i)\propto D_1(i)e^{-y_if(x_i)}`: what the rounds arrive at one by one.

    Examples
    --------
    >>> from corollary.ensemble import boosting_distribution
    >>> boosting_distribution([1, -1], [1.0, -1.0])
    array([0.5, 0.5])
    """
    y = check_signs("boosting_distribution", y)
    scores = np.asarray(scores, dtype=float)
    if scores.shape != y.shape or y.ndim != 1:
        raise ValueError(
            "boosting_distribution needs as many scores as labels. Got shapes "
            f"{scores.shape} and {y.shape}."
        )
    logs = -y * scores
    D = convex_weights(initial, len(y))
    logs = logs - logs[D > 0].max()
    D = D * np.exp(np.minimum(logs, 0.0))
    return D / D.sum()


@checked
def population_step(
    probability: ArrayLike, scores: ArrayLike, mass: ArrayLike | None = None
) -> tuple[np.ndarray, float, float]:
    r"""Take AdaBoost's step on a known law: a Newton-like step on the exponential loss.

    With :math:`w=e^{-yf(x)}` and
    :math:`\mathrm E_w[g\mid x]=\mathrm E[wg\mid x]/\mathrm E[w\mid x]` the direction is
    :math:`c(x)=\mathrm{sign}\,\mathrm E_w[y\mid x]` and the step
    :math:`\alpha=\arg\min_a\mathrm E[w\,e^{-ayc(x)}]=\frac12\log\frac{1-\varepsilon}{\varepsilon}`
    with :math:`\varepsilon=P_w(y\ne c(x))`, one number for all x. The algorithm's log-odds weight
    is :math:`2\alpha`.

    Parameters
    ----------
    probability : array-like of shape (n_points,)
        :math:`P(y=+1\mid x)` at each of finitely many points.
    scores : array-like of shape (n_points,)
        Current scores f(x).
    mass : array-like of shape (n_points,) or None, default=None
        Probabilities of the points, divided by their sum; None for equal ones.

    Returns
    -------
    direction : ndarray of shape (n_points,)
        :math:`c`, -1 or +1.
    step : float
        :math:`\alpha`; infinite if the direction makes no error.
    error : float
        :math:`\varepsilon`.

    Examples
    --------
    >>> from corollary.ensemble import population_step
    >>> direction, step, error = population_step([0.9, 0.3], [0.0, 0.0])
    >>> direction, round(step, 4), round(error, 4)
    (array([ 1, -1]), 0.6931, 0.2)
    """
    p, f = np.asarray(probability, dtype=float), np.asarray(scores, dtype=float)
    if p.ndim != 1 or f.shape != p.shape or np.any((p < 0) | (p > 1)) or not np.isfinite(f).all():
        raise ValueError(
            "population_step needs a vector of probabilities in [0, 1] and as many finite scores. "
            f"Got shapes {p.shape} and {f.shape}."
        )
    q = convex_weights(mass, len(p))
    shift = np.abs(f).max()  # a common factor of all weights
    positive, negative = q * p * np.exp(-f - shift), q * (1 - p) * np.exp(f - shift)
    direction = np.where(positive >= negative, 1, -1)
    wrong = np.minimum(positive, negative).sum()
    error = float(wrong / (positive + negative).sum())
    return direction, classifier_weight(error), error
