"""The sharpest of several certificates, with the price for having looked at all of them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from corollary.core.certificate import Certificate, merge_assumptions


def tightest(
    certificates: Sequence[Certificate], *, confidence: float | None = None
) -> Certificate:
    """Choose the sharpest of several certificates and pay for having looked.

    Each of k certificates may fail with probability delta; the smallest of them fails with up to
    k times that. So each is computed again at delta / k, and the sharpest of these is valid at
    confidence 1 - delta by the union bound.

    Parameters
    ----------
    certificates : sequence of Certificate
        Certificates of the same quantity, population and direction, each able to be recomputed.
    confidence : float or None, default=None
        Confidence of the result; None keeps the one that all certificates share.

    Returns
    -------
    certificate : Certificate
        The chosen one, at the stated confidence, under the assumptions of all of them. Its bound
        is never sharper than the same theorem's own bound at that confidence.

    Raises
    ------
    ValueError
        If there are none, or they speak of different quantities, populations, directions or
        confidences.

    See Also
    --------
    certify : Computes the certificates.

    Notes
    -----
    A choice that is fixed before the rows are seen costs nothing: for error rates the exact
    binomial bound is always the sharpest held-out bound, so take it by name
    (``theory.clopper-pearson``) and leave the price unpaid. Guarantee checked by
    ``tests/certificates/test_certificate.py``.

    Examples
    --------
    >>> from corollary.certificates import error_rate_certificate, hoeffding_certificate, tightest
    >>> exact = error_rate_certificate(2, 143, confidence=0.95)
    >>> hoeffding = hoeffding_certificate(2 / 143, 143, confidence=0.95)
    >>> best = tightest([exact, hoeffding])
    >>> best.theorem, best.bound > exact.bound
    ('theory.clopper-pearson', True)
    """
    certificates = list(certificates)
    if not certificates:
        raise ValueError("tightest needs at least one certificate. Got none.")
    for name in ("quantity", "population", "direction"):
        values = sorted({str(getattr(certificate, name)) for certificate in certificates})
        if len(values) > 1:
            raise ValueError(
                f"tightest compares certificates of one {name} only. Got {', '.join(values)}."
            )
    if confidence is None:
        levels = sorted({certificate.confidence for certificate in certificates})
        if len(levels) > 1:
            raise ValueError(
                f"tightest needs certificates of one confidence, or 'confidence'. Got {levels}."
            )
        confidence = levels[0]
    share = (1 - confidence) / len(certificates)
    if len(certificates) == 1 and certificates[0].confidence == confidence:
        return certificates[0]
    again = [certificate.at(1 - share) for certificate in certificates]
    pick = min if again[0].direction == "upper" else max
    best = pick(again, key=lambda certificate: certificate.bound)
    return replace(
        best,
        confidence=confidence,
        assumptions=merge_assumptions(*(one.assumptions for one in again)),
        recompute=partial(_tightest_at, tuple(certificates)),
    )


def _tightest_at(certificates: tuple[Certificate, ...], confidence: float) -> Certificate:
    return tightest(certificates, confidence=confidence)
