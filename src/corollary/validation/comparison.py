"""Which of two learners is better: first compare row by row, then average."""

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from corollary.core.display import Difference
from corollary.core.estimator import Probability, checked
from corollary.risk import LossLike
from corollary.validation._losses import loss_of
from corollary.validation.cross_validation import cross_validate


@dataclass(frozen=True, repr=False)
class LearnerComparison(Difference):
    """Difference of the cross-validated risks of two learners.

    Parameters
    ----------
    difference : float
        Risk of the first less that of the second: above 0 when the second is better.
    lower : float
        Lower limit.
    upper : float
        Upper limit.
    standard_error : float
        Of the difference, allowing for shared training rows.
    p_value : float
        Two-sided.
    confidence : float, default=0.95
        Confidence of the interval.
    """

    difference: float
    lower: float
    upper: float
    standard_error: float
    p_value: float
    confidence: float = 0.95


@checked
def compare_learners(
    first: Any,
    second: Any,
    X: Any,
    y: Any,
    *,
    loss: Annotated[LossLike, "no_validation"] = "auto",
    cv: Any = 10,
    groups: Any = None,
    time: Any = None,
    confidence: Probability = 0.95,
    method: str = "predict",
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> LearnerComparison:
    r"""Compare two learners on the same folds, with a variance that fits.

    Parameters
    ----------
    first : estimator
        First learner.
    second : estimator
        Second learner.
    X : array-like or data frame of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Outputs.
    loss : str, Loss or callable, default="auto"
        The loss. "auto" is the zero-one loss, for
        regressors the squared one.
    cv : int, "loo", splitter or iterable, default=10
        As for :func:`cross_validate`; the folds are the same for both.
    groups : array-like of shape (n_samples,) or None, default=None
        The unit of each row: whole units are left out, and differences of units are counted.
    time : array-like of shape (n_samples,) or None, default=None
        When each row happened: later rows are predicted from earlier ones.
    confidence : float, default=0.95
        Confidence of the interval.
    method : str, default="predict"
        Which method predicts.
    n_jobs : int or None, default=None
        Folds in parallel.
    random_state : int, default=0
        Seed of the folds.

    Returns
    -------
    comparison : LearnerComparison
        Difference, interval and p-value.

    See Also
    --------
    corollary.theory.compare_losses : Two fitted models on rows neither saw, exact for errors.

    Notes
    -----
    The rule "mean above twice the standard deviation" does not get surer with more rows; the
    standard error does. Folds share training rows, so the variance of their differences
    :math:`\sigma^2` is inflated to :math:`\sigma^2(1/K+n_2/n_1)` with :math:`n_2/n_1` the ratio of
    held-out to training rows (Nadeau and Bengio 2003), and Student's law with K - 1 degrees of
    freedom is used. Approximate: no unbiased variance of cross-validation exists. With `groups`,
    differences are averaged by unit, and G units take the place of the K folds: the variance of
    their means is inflated as much, and there are G - 1 degrees of freedom.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from corollary.linear import Ridge
    >>> from corollary.validation import compare_learners
    >>> X, y = load_diabetes(return_X_y=True)
    >>> worse, better = Ridge(alpha=100.0), Ridge(alpha=0.1)
    >>> comparison = compare_learners(worse, better, X, y, loss="square")
    >>> print(comparison)
    The second is better: the risk of the first less that of the second is 2799 (95% interval 1907
    to 3691, p = 5.7e-05).
    >>> comparison.distinguishable
    True
    """
    from scipy.special import stdtr, stdtrit

    if not isinstance(random_state, (int, np.integer)):
        raise ValueError(
            "The 'random_state' parameter of compare_learners must be an int, so that both "
            f"learners see the same folds. Got {random_state!r} instead."
        )
    loss = loss_of(first, loss)
    how = {"loss": loss, "cv": cv, "groups": groups, "time": time, "method": method}
    one, two = (
        cross_validate(learner, X, y, n_jobs=n_jobs, random_state=random_state, **how)
        for learner in (first, second)
    )
    paired = replace(
        one, losses=one.losses - two.losses, fold_risks=one.fold_risks - two.fold_risks
    )
    degrees, error = paired.degrees_of_freedom, paired.standard_error
    if groups is None:
        mean = float(np.average(paired.fold_risks, weights=one.fold_sizes))
    else:
        mean = paired.risk
    if degrees < 1:
        return LearnerComparison(mean, -math.inf, math.inf, math.nan, 1.0, confidence)
    radius = float(stdtrit(degrees, (1 + confidence) / 2)) * error
    if error > 0:
        p_value = 2 * float(stdtr(degrees, -abs(mean) / error))
    else:
        p_value = 1.0 if mean == 0 else 0.0
    return LearnerComparison(mean, mean - radius, mean + radius, error, p_value, confidence)
