"""What rows that the model never saw prove about it.

On such rows the losses of a fitted model are independent draws, so the inequalities for means and
counts apply without any term for the model's complexity. Four theorems are registered here: the
exact binomial bound, Hoeffding's and the empirical Bernstein bound on a mean loss, and bounds on
the quantiles of a regressor's absolute error, which need no bounded loss.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np

from corollary.core.compat import Interval, StrOptions, validate_params
from corollary.theory.binomial import (
    clopper_pearson_upper,
    quantile_rows_needed,
    quantile_upper_bound,
)
from corollary.theory.certificate import Certificate, Quantity, format_number
from corollary.theory.concentration import check_losses, empirical_bernstein_radius, hoeffding_bound
from corollary.theory.theorem import Evidence, register_theorem

_OPEN = Interval(Real, 0, 1, closed="neither")
_SIZE = Interval(Integral, 1, None, closed="left")

# The median and the levels that a report quotes; others by error_quantile_certificate.
QUANTILE_LEVELS = (0.5, 0.9, 0.95)


@validate_params(
    {
        "errors": [Interval(Integral, 0, None, closed="left")],
        "n_samples": [_SIZE],
        "confidence": [_OPEN],
        "quantity": [Quantity, None],
    },
    prefer_skip_nested_validation=True,
)
def error_rate_certificate(
    errors: int, n_samples: int, *, confidence: float = 0.95, quantity: Quantity | None = None
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
    Guarantee: ``tests/theory/test_certify.py`` simulates 2,000 worlds.

    Examples
    --------
    >>> from corollary.theory import error_rate_certificate
    >>> print(error_rate_certificate(0, 100))
    With 95% confidence, at most 3.0% of such rows are classified wrongly; observed 0 of 100.
    """
    quantity = quantity or Quantity()
    bound = clopper_pearson_upper(errors, n_samples, 1 - confidence)
    return Certificate(
        claim=quantity.claim(bound),
        quantity=quantity.name,
        empirical=errors / n_samples,
        bound=bound,
        confidence=confidence,
        theorem="theory.clopper-pearson",
        n_samples=n_samples,
        observed=quantity.observed(errors / n_samples, n_samples),
        vacuous=bound >= 1,
        rows_missing=math.inf if bound >= 1 else 0,
        recompute=partial(_error_rate_at, errors, n_samples, quantity),
    )


def _error_rate_at(errors: int, n_samples: int, quantity: Quantity, level: float) -> Certificate:
    return error_rate_certificate(errors, n_samples, confidence=level, quantity=quantity)


@validate_params(
    {"mean": [Real], "n_samples": [_SIZE], "confidence": [_OPEN], "quantity": [Quantity, None]},
    prefer_skip_nested_validation=True,
)
def hoeffding_certificate(
    mean: float, n_samples: int, *, confidence: float = 0.95, quantity: Quantity | None = None
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
    Guarantee: ``tests/theory/test_certify.py`` simulates 2,000 worlds.

    Examples
    --------
    >>> from corollary.theory import hoeffding_certificate
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


@validate_params(
    {"losses": ["array-like"], "confidence": [_OPEN], "quantity": [Quantity, None]},
    prefer_skip_nested_validation=True,
)
def empirical_bernstein_certificate(
    losses: Any, *, confidence: float = 0.95, quantity: Quantity | None = None
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
    Guarantee: ``tests/theory/test_certify.py`` simulates 2,000 worlds.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import empirical_bernstein_certificate
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
    bound = min(quantity.high, mean + radius(n_samples))
    vacuous = bound >= quantity.high
    missing: float = 0
    if vacuous:
        missing = _smallest(lambda n: mean + radius(n) < quantity.high, mean < quantity.high)
        missing = missing - n_samples
    return Certificate(
        claim=quantity.claim(bound),
        quantity=quantity.name,
        empirical=mean,
        bound=bound,
        confidence=confidence,
        theorem=theorem,
        n_samples=n_samples,
        observed=quantity.observed(mean, n_samples),
        vacuous=vacuous,
        rows_missing=missing,
        recompute=recompute,
    )


def _smallest(holds: Callable[[int], bool], possible: bool) -> float:
    """Find the smallest n for which a condition that stays true once true is true."""
    if not possible:
        return math.inf
    most = 1
    while not holds(most):
        most *= 2
        if most > 2**62:
            return math.inf
    least = most // 2 + 1
    while least < most:
        middle = (least + most) // 2
        if holds(middle):
            most = middle
        else:
            least = middle + 1
    return most


@validate_params(
    {"errors": ["array-like"], "level": [_OPEN], "confidence": [_OPEN]},
    prefer_skip_nested_validation=True,
)
def error_quantile_certificate(
    errors: Any, level: float, *, confidence: float = 0.95
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
    Guarantee: ``tests/theory/test_certify.py`` simulates skewed errors.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import error_quantile_certificate
    >>> print(error_quantile_certificate(np.arange(100) / 10, level=0.9))
    With 95% confidence, at least 90% of such rows have an absolute error of at most 9.5; observed
    a 90% quantile of 8.9 on 100 rows.
    """
    errors = np.abs(np.asarray(errors, dtype=float))
    bound = quantile_upper_bound(errors, level, 1 - confidence)
    n_samples = len(errors)
    share = f"{100 * level:.6g}%"
    empirical = float(np.quantile(errors, level, method="inverted_cdf"))
    rows = "row" if n_samples == 1 else "rows"
    vacuous = math.isinf(bound)
    return Certificate(
        claim=f"at least {share} of such rows have an absolute error of at most "
        f"{format_number(bound)}",
        quantity=f"{share} quantile of the absolute error",
        empirical=empirical,
        bound=bound,
        confidence=confidence,
        theorem="theory.error-quantile",
        n_samples=n_samples,
        observed=f"a {share} quantile of {empirical:.4g} on {n_samples} {rows}",
        vacuous=vacuous,
        rows_missing=quantile_rows_needed(level, 1 - confidence) - n_samples if vacuous else 0,
        recompute=partial(_error_quantile_at, errors, level),
    )


def _error_quantile_at(errors: np.ndarray, level: float, confidence: float) -> Certificate:
    return error_quantile_certificate(errors, level, confidence=confidence)


@validate_params(
    {
        "target": [Real],
        "empirical": [Real],
        "delta": [_OPEN],
        "method": [StrOptions({"exact", "hoeffding"})],
        "low": [Real],
        "high": [Real],
    },
    prefer_skip_nested_validation=True,
)
def rows_needed(
    target: float,
    empirical: float = 0.0,
    *,
    delta: float = 0.05,
    method: str = "exact",
    low: float = 0.0,
    high: float = 1.0,
) -> float:
    """Say how many held-out rows a wanted bound takes, if the empirical value stays as it is.

    Parameters
    ----------
    target : float
        The wanted upper bound.
    empirical : float, default=0.0
        Empirical mean loss, assumed to stay; for error rates errors are rounded up.
    delta : float, default=0.05
        Probability of failure, strictly between 0 and 1.
    method : {"exact", "hoeffding"}, default="exact"
        The exact binomial bound for error rates, or Hoeffding's for any bounded loss.
    low : float, default=0.0
        Smallest possible loss; used by "hoeffding".
    high : float, default=1.0
        Largest possible loss; used by "hoeffding".

    Returns
    -------
    n_samples : float
        The smallest number of rows, a whole number; infinite if the empirical value is not below
        the target, since no number of rows proves that.

    See Also
    --------
    clopper_pearson_upper : The exact bound.
    hoeffding_bound : The other.

    Examples
    --------
    >>> from corollary.theory import rows_needed
    >>> rows_needed(0.01)  # no errors seen
    299.0
    >>> rows_needed(0.022, 2 / 143)
    991.0
    """
    if math.isnan(target) or math.isnan(empirical):
        raise ValueError(
            "The 'target' and 'empirical' parameters of rows_needed must be numbers. Got "
            f"target={target} and empirical={empirical}."
        )
    if method == "hoeffding":
        if target <= empirical:
            return math.inf
        return hoeffding_bound(radius=target - empirical, delta=delta, low=low, high=high)
    if not 0 <= empirical <= 1:
        raise ValueError(
            "The 'empirical' parameter of rows_needed must be an error rate in [0, 1] for "
            f"method='exact'. Got {empirical} instead."
        )
    if target >= 1:
        return 1.0
    if target <= empirical:
        return math.inf
    from scipy.special import betaincc

    # With a fractional count the condition is monotone in n and weaker than with the count
    # rounded up: bisection gives a start from which to look for the first whole count.
    start = _smallest(
        lambda n: betaincc(empirical * n + 1, n * (1 - empirical), target) <= delta, True
    )
    if math.isinf(start):
        return start
    first = int(start)
    while True:
        sizes = np.arange(first, first + 4096)
        counts = np.ceil(sizes * empirical - 1e-9).astype(int)
        enough = clopper_pearson_upper(counts, sizes, delta) <= target
        if enough.any():
            return float(sizes[np.argmax(enough)])
        first += 4096


def _is_share(evidence: Evidence) -> bool:
    return evidence.quantity is not None and evidence.quantity.predicate is not None


def _is_exact(evidence: Evidence) -> bool:
    return evidence.misses is not None or _is_share(evidence)


def _has_losses(evidence: Evidence) -> bool:
    return evidence.losses is not None


def _known(evidence: Evidence) -> tuple[np.ndarray, Quantity]:
    assert evidence.losses is not None
    assert evidence.quantity is not None
    return evidence.losses, evidence.quantity


@register_theorem("theory.clopper-pearson", needs="unseen", applies=_is_exact)
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


@register_theorem("theory.empirical-bernstein", needs="unseen", applies=_has_losses)
def _prove_empirical_bernstein(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    losses, quantity = _known(evidence)
    yield empirical_bernstein_certificate(losses, confidence=confidence, quantity=quantity)


@register_theorem("theory.hoeffding", needs="unseen", applies=_has_losses)
def _prove_hoeffding(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    losses, quantity = _known(evidence)
    yield hoeffding_certificate(
        float(losses.mean()), len(losses), confidence=confidence, quantity=quantity
    )


@register_theorem(
    "theory.error-quantile",
    needs="unseen",
    applies=lambda evidence: evidence.errors is not None,
)
def _prove_error_quantiles(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    for level in QUANTILE_LEVELS:
        yield error_quantile_certificate(evidence.errors, level, confidence=confidence)
