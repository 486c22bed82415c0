"""What rows that the model never saw prove about it.

On such rows the losses of a fitted model are independent draws, so the inequalities for means and
counts apply without any term for the model's complexity. Four theorems are registered here: the
exact binomial bound, Hoeffding's and the empirical Bernstein bound on a mean loss, and bounds on
the quantiles of a regressor's absolute error, which need no bounded loss.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from corollary.certificates.proofs._shared import conclude
from corollary.certificates.register import Evidence, register_theorem
from corollary.core.certificate import Certificate, Quantity
from corollary.core.estimator import AnyReal, ArrayLike, Count, CountFromZero, Probability, checked
from corollary.theory import (
    check_losses,
    clopper_pearson_upper,
    empirical_bernstein_radius,
    hoeffding_bound,
    quantile_rows_needed,
    quantile_upper_bound,
    smallest_size,
)

# The median and the levels that a report quotes; others by error_quantile_certificate.
_QUANTILE_LEVELS = (0.5, 0.9, 0.95)


@checked
def error_rate_certificate(
    errors: CountFromZero,
    n_samples: Count,
    *,
    confidence: Probability = 0.95,
    quantity: Quantity | None = None,
) -> Certificate:
    """Certify an error rate by the exact binomial bound.

    Parameters
    ----------
    errors : int
        Held-out rows with an error.
    n_samples : int
        Held-out rows.
    confidence : float, default=0.95
        Confidence of the bound.
    quantity : Quantity or None, default=None
        What counts as an error, in words; None for classification errors.

    Returns
    -------
    certificate : Certificate
        Theorem ``theory.clopper-pearson``.

    See Also
    --------
    clopper_pearson_upper : The bound.
    certify : Counts the errors of a model.

    Notes
    -----
    Guarantee: ``tests/certificates/test_certify.py`` simulates 2,000 worlds.

    Examples
    --------
    >>> from corollary.certificates import error_rate_certificate
    >>> print(error_rate_certificate(0, 100))
    With 95% confidence, at most 3.0% of such rows are classified wrongly; observed 0 of 100.
    """
    quantity = quantity or Quantity()
    bound = clopper_pearson_upper(errors, n_samples, 1 - confidence)
    return conclude(
        "theory.clopper-pearson",
        quantity,
        bound,
        empirical=errors / n_samples,
        n_samples=n_samples,
        confidence=confidence,
        rows_missing=math.inf if bound >= 1 else 0,
        recompute=partial(_error_rate_at, errors, n_samples, quantity),
    )


def _error_rate_at(errors: int, n_samples: int, quantity: Quantity, level: float) -> Certificate:
    return error_rate_certificate(errors, n_samples, confidence=level, quantity=quantity)


@checked
def hoeffding_certificate(
    mean: AnyReal,
    n_samples: Count,
    *,
    confidence: Probability = 0.95,
    quantity: Quantity | None = None,
) -> Certificate:
    """Certify a mean loss by Hoeffding's inequality.

    Parameters
    ----------
    mean : float
        Mean loss on held-out rows.
    n_samples : int
        Held-out rows.
    confidence : float, default=0.95
        Confidence of the bound.
    quantity : Quantity or None, default=None
        The loss, its range and its wording; None for classification errors.

    Returns
    -------
    certificate : Certificate
        Theorem ``theory.hoeffding``; the bound is cut at the largest possible loss.

    See Also
    --------
    hoeffding_bound : The inequality.

    Notes
    -----
    Guarantee: ``tests/certificates/test_certify.py`` simulates 2,000 worlds.

    Examples
    --------
    >>> from corollary.certificates import hoeffding_certificate
    >>> print(hoeffding_certificate(0.0, 1))
    With 95% confidence, nothing is proved about the error rate: the bound is vacuous; observed 0
    of 1. At least 1 more row is needed.
    """
    quantity = quantity or Quantity()
    low, high = quantity.low, quantity.high
    # The mean of losses that all equal an end may be rounded beyond it.
    if abs(mean - np.clip(mean, low, high)) <= 1e-12 * (high - low):
        mean = float(np.clip(mean, low, high))
    check_losses([mean], low, high, who="hoeffding_certificate")

    def radius(n: int) -> float:
        return hoeffding_bound(n_samples=n, delta=1 - confidence, low=low, high=high)

    return _mean_certificate(
        "theory.hoeffding",
        mean,
        n_samples,
        radius,
        confidence,
        quantity,
        partial(_hoeffding_at, mean, n_samples, quantity),
    )


def _hoeffding_at(mean: float, n_samples: int, quantity: Quantity, level: float) -> Certificate:
    return hoeffding_certificate(mean, n_samples, confidence=level, quantity=quantity)


@checked
def empirical_bernstein_certificate(
    losses: ArrayLike, *, confidence: Probability = 0.95, quantity: Quantity | None = None
) -> Certificate:
    """Certify a mean loss by the empirical Bernstein inequality.

    Parameters
    ----------
    losses : array-like of shape (n_samples,)
        One loss per held-out row.
    confidence : float, default=0.95
        Confidence of the bound.
    quantity : Quantity or None, default=None
        The loss, its range and its wording; None for classification errors.

    Returns
    -------
    certificate : Certificate
        Theorem ``theory.empirical-bernstein``; the bound is cut at the largest possible loss.

    See Also
    --------
    empirical_bernstein_radius : The inequality.

    Notes
    -----
    Guarantee: ``tests/certificates/test_certify.py`` simulates 2,000 worlds.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.certificates import empirical_bernstein_certificate
    >>> round(empirical_bernstein_certificate(np.zeros(1000)).bound, 4)
    0.0086
    """
    quantity = quantity or Quantity()
    losses = check_losses(
        losses, quantity.low, quantity.high, who="empirical_bernstein_certificate"
    )
    if losses.ndim != 1:
        raise ValueError(
            "The 'losses' parameter of empirical_bernstein_certificate must be one-dimensional. "
            f"Got shape {losses.shape} instead."
        )
    n_samples, delta = len(losses), 1 - confidence
    low, high = quantity.low, quantity.high
    variance = float(losses.var(ddof=1)) if n_samples > 1 else 0.0

    def radius(n: int) -> float:
        if n == n_samples:
            return empirical_bernstein_radius(losses, delta, low=low, high=high)
        return _bernstein_radius(variance, n, delta, high - low)

    return _mean_certificate(
        "theory.empirical-bernstein",
        float(np.clip(losses.mean(), low, high)),
        n_samples,
        radius,
        confidence,
        quantity,
        partial(_empirical_bernstein_at, losses, quantity),
    )


def _empirical_bernstein_at(losses: np.ndarray, quantity: Quantity, level: float) -> Certificate:
    return empirical_bernstein_certificate(losses, confidence=level, quantity=quantity)


def _bernstein_radius(variance: float, n: int, delta: float, width: float) -> float:
    """Compute the radius that n rows of this variance would give."""
    if n < 2:
        return math.inf
    log_term = math.log(2 / delta)
    return math.sqrt(2 * variance * log_term / n) + 7 * width * log_term / (3 * (n - 1))


def _mean_certificate(
    theorem: str,
    mean: float,
    n_samples: int,
    radius: Callable[[int], float],
    confidence: float,
    quantity: Quantity,
    recompute: Callable[[float], Certificate],
) -> Certificate:
    bound = mean + radius(n_samples)
    missing: float = 0
    if bound >= quantity.high:
        missing = smallest_size(lambda n: mean + radius(n) < quantity.high) - n_samples
    return conclude(
        theorem,
        quantity,
        bound,
        empirical=mean,
        n_samples=n_samples,
        confidence=confidence,
        rows_missing=missing,
        recompute=recompute,
    )


@checked
def error_quantile_certificate(
    errors: ArrayLike, level: Probability, *, confidence: Probability = 0.95
) -> Certificate:
    """Certify how large most errors of a regressor are, without a bounded loss.

    Parameters
    ----------
    errors : array-like of shape (n_samples,)
        Errors on held-out rows; their absolute values count.
    level : float
        Share of rows the claim is about, strictly between 0 and 1.
    confidence : float, default=0.95
        Confidence of the bound.

    Returns
    -------
    certificate : Certificate
        Theorem ``theory.error-quantile``; infinite and vacuous if rows are too few.

    See Also
    --------
    quantile_upper_bound : The bound.

    Notes
    -----
    Guarantee: ``tests/certificates/test_certify.py`` simulates skewed errors.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.certificates import error_quantile_certificate
    >>> print(error_quantile_certificate(np.arange(100) / 10, level=0.9))
    With 95% confidence, at least 90% of such rows have an absolute error of at most 9.5; observed
    a 90% quantile of 8.9 on 100 rows.
    """
    errors = np.abs(np.asarray(errors, dtype=float))
    bound = quantile_upper_bound(errors, level, 1 - confidence)
    n_samples, few = len(errors), math.isinf(bound)
    return conclude(
        "theory.error-quantile",
        Quantity.error_quantile(level),
        bound,
        empirical=float(np.quantile(errors, level, method="inverted_cdf")),
        n_samples=n_samples,
        confidence=confidence,
        rows_missing=quantile_rows_needed(level, 1 - confidence) - n_samples if few else 0,
        recompute=partial(_error_quantile_at, errors, level),
    )


def _error_quantile_at(errors: np.ndarray, level: float, confidence: float) -> Certificate:
    return error_quantile_certificate(errors, level, confidence=confidence)


def _is_share(evidence: Evidence) -> bool:
    return evidence.quantity is not None and evidence.quantity.kind == "share"


def _is_exact(evidence: Evidence) -> bool:
    return evidence.misses is not None or _is_share(evidence)


def _has_losses(evidence: Evidence) -> bool:
    return evidence.losses is not None


def _known(evidence: Evidence) -> tuple[np.ndarray, Quantity]:
    assert evidence.losses is not None
    assert evidence.quantity is not None
    return evidence.losses, evidence.quantity


@register_theorem(
    "theory.clopper-pearson",
    needs="unseen",
    applies=_is_exact,
    title="Exact binomial bound",
    idea="counts the errors, exact for any number of rows",
)
def _prove_exact(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    if evidence.misses is not None:
        yield error_rate_certificate(
            int(evidence.misses.sum()),
            len(evidence.misses),
            confidence=confidence,
            quantity=evidence.region,
        )
    if not _is_share(evidence):
        return
    losses, quantity = _known(evidence)
    yield error_rate_certificate(
        int(losses.sum()), len(losses), confidence=confidence, quantity=quantity
    )


@register_theorem(
    "theory.empirical-bernstein",
    needs="unseen",
    applies=_has_losses,
    title="Empirical Bernstein bound",
    idea="uses how much the errors scatter",
)
def _prove_empirical_bernstein(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    losses, quantity = _known(evidence)
    yield empirical_bernstein_certificate(losses, confidence=confidence, quantity=quantity)


@register_theorem(
    "theory.hoeffding",
    needs="unseen",
    applies=_has_losses,
    title="Hoeffding’s inequality",
    idea="uses only that an error counts 0 or 1",
)
def _prove_hoeffding(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    losses, quantity = _known(evidence)
    yield hoeffding_certificate(
        float(losses.mean()), len(losses), confidence=confidence, quantity=quantity
    )


@register_theorem(
    "theory.error-quantile",
    needs="unseen",
    applies=lambda evidence: evidence.errors is not None,
    title="Order statistics",
    idea="counts the errors that are smaller",
)
def _prove_error_quantiles(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    for level in _QUANTILE_LEVELS:
        yield error_quantile_certificate(evidence.errors, level, confidence=confidence)
