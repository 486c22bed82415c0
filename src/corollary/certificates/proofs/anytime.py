"""Certificates that may be looked at as often as one likes while rows arrive.

A held-out certificate is valid for a number of rows that was fixed beforehand. Who adds rows until
it looks good needs one that holds at all numbers of rows at once; confidence sequences give it.
``certify(model, X, y, anytime=True)`` offers two, for a loss in a known range.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

import numpy as np

from corollary.certificates.proofs._shared import conclude, repetitions_missing
from corollary.certificates.register import Evidence, register_theorem
from corollary.core.certificate import Assumption, Certificate, Quantity
from corollary.core.estimator import ArrayLike, Probability, checked
from corollary.theory import betting_sequence, check_losses, stitched_sequence

_IN_ORDER = Assumption(
    "Rows are given in the order in which they came, and later ones are added at the end; "
    "the claims after any number of them then hold together.",
    "draws",
)


@checked
def anytime_certificate(
    losses: ArrayLike,
    *,
    method: Literal["betting", "stitched"] = "betting",
    confidence: Probability = 0.95,
    quantity: Quantity | None = None,
) -> Certificate:
    """Certify a mean loss by a confidence sequence, after any number of rows.

    Parameters
    ----------
    losses : array-like of shape (n_samples,)
        Losses of a fixed model on rows that it has not seen, in the order in which they came.
    method : {"betting", "stitched"}, default="betting"
        How the sequence is made. Choose before looking.
    confidence : float, default=0.95
        Probability that the certificates after 1, 2, 3, ... rows are all true.
    quantity : Quantity or None, default=None
        The loss, its range and its wording; None for classification errors.

    Returns
    -------
    certificate : Certificate
        Theorem ``theory.betting-sequence`` or ``theory.stitched-sequence``, on all rows so far.

    See Also
    --------
    betting_sequence, stitched_sequence : The sequences, with lower limits.
    error_rate_certificate : Sharper, for a number of rows that was fixed beforehand.

    Notes
    -----
    "stitched" uses the moments of zeros and ones for shares of rows, and observed squares for
    other losses. Guarantee: checked by ``tests/guarantees/confidence_sequences.py``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.certificates import anytime_certificate
    >>> errors = np.random.default_rng(0).random(800) < 0.05
    >>> for rows in (200, 400, 800):
    ...     print(round(anytime_certificate(errors[:rows]).bound, 3))
    0.119
    0.083
    0.07
    """
    quantity = quantity or Quantity()
    low, high = quantity.low, quantity.high
    losses = check_losses(losses, low, high, who="anytime_certificate")
    if losses.ndim != 1:
        raise ValueError(
            "The 'losses' parameter of anytime_certificate must be one-dimensional. "
            f"Got shape {losses.shape} instead."
        )
    n, delta = len(losses), 1 - confidence
    if method == "betting":
        limits: Callable[..., Any] = betting_sequence
    else:
        kind: Any = "bernoulli" if quantity.kind == "share" else "empirical-bernstein"
        limits = partial(stitched_sequence, kind=kind)

    def bound_after(rows: int) -> float:
        repeated = np.resize(losses, rows)  # as if the rows came again
        return float(limits(repeated, delta, low=low, high=high, sides=1).upper[-1])

    bound, mean = bound_after(n), float(np.clip(losses.mean(), low, high))
    missing: float = 0
    if bound >= high:
        missing = repetitions_missing(n, lambda rows: bound_after(rows) < high, mean < high)
    return conclude(
        f"theory.{method}-sequence",
        quantity,
        bound,
        empirical=mean,
        n_samples=n,
        confidence=confidence,
        assumptions=(_IN_ORDER,),
        rows_missing=missing,
        recompute=partial(_again, losses, method, quantity),
    )


def _again(losses: np.ndarray, method: Any, quantity: Quantity, level: float) -> Certificate:
    return anytime_certificate(losses, method=method, confidence=level, quantity=quantity)


def _has_losses(evidence: Evidence) -> bool:
    return evidence.losses is not None or evidence.misses is not None


def _prove(evidence: Evidence, method: Any, confidence: float) -> Iterator[Certificate]:
    for losses, quantity in (
        (evidence.misses, evidence.region),
        (evidence.losses, evidence.quantity),
    ):
        if losses is not None:
            yield anytime_certificate(
                losses, method=method, confidence=confidence, quantity=quantity
            )


@register_theorem("theory.betting-sequence", needs="anytime", applies=_has_losses)
def _prove_betting(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    yield from _prove(evidence, "betting", confidence)


@register_theorem("theory.stitched-sequence", needs="anytime", applies=_has_losses)
def _prove_stitched(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    yield from _prove(evidence, "stitched", confidence)
