"""Certificate: a frozen record of one computed guarantee.

A certificate says one thing about one population, with its probability and its assumptions, and
is valid on its own. To pick the smallest of several after seeing them is another statement, for
which :func:`tightest` pays.

Numbers in sentences are rounded outwards (an upper bound up, a lower bound down), so that no text
claims more than was proved.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import partial
from typing import Any, Literal

Direction = Literal["upper", "lower"]


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """One computed guarantee.

    Parameters
    ----------
    claim : str
        What is guaranteed, in words that complete "With 95% confidence, ...".
    quantity : str
        Name of the bounded quantity.
    empirical : float
        Its value on the rows used.
    bound : float
        The proved bound.
    confidence : float
        Probability, over the draw of the rows, that the claim is true.
    theorem : str
        Identifier of the theorem.
    n_samples : int
        Rows used.
    observed : str
        The empirical value in words, such as "2 of 143".
    assumptions : tuple of str, default=()
        Sentences that must be true for the claim to hold.
    checked : tuple of str, default=()
        Those of the assumptions that do not rest on the reader's judgement: what was computed from
        the rows, and what the caller vouched for.
    direction : {"upper", "lower"}, default="upper"
        Whether the quantity is at most or at least the bound.
    seen : bool, default=False
        Whether the rows used were the model's training rows.
    vacuous : bool, default=False
        Whether the bound says nothing beyond the range of the quantity.
    rows_missing : float, default=0
        For a vacuous bound, how many more rows it takes to say something; infinite if rows
        alone will not do.
    recompute : callable or None, default=None
        ``recompute(confidence)`` gives the same certificate at another confidence. Not part of
        the record: ignored in comparisons and left out of :meth:`to_dict`.

    See Also
    --------
    certify : Compute certificates for a fitted model.
    tightest : Choose among several and pay for the choice.

    Examples
    --------
    >>> from corollary.theory import error_rate_certificate
    >>> certificate = error_rate_certificate(2, 143, confidence=0.95)
    >>> print(certificate)
    With 95% confidence, at most 4.4% of such rows are classified wrongly; observed 2 of 143.
    >>> round(certificate.at(0.99).bound, 3)
    0.057
    >>> certificate.theorem, certificate.page
    ('theory.clopper-pearson', 'certificates.html#theory-clopper-pearson')
    """

    claim: str
    quantity: str
    empirical: float
    bound: float
    confidence: float
    theorem: str
    n_samples: int
    observed: str
    assumptions: tuple[str, ...] = ()
    checked: tuple[str, ...] = ()
    direction: Direction = "upper"
    seen: bool = False
    vacuous: bool = False
    rows_missing: float = 0
    recompute: Callable[[float], "Certificate"] | None = field(
        default=None, compare=False, repr=False
    )

    def __str__(self) -> str:
        opening = f"With {format_confidence(self.confidence)} confidence, "
        if self.vacuous:
            sentence = f"{opening}nothing is proved about the {self.quantity}: the bound is vacuous"
            sentence += f"; observed {self.observed}. {_missing_rows(self.rows_missing)}"
        else:
            sentence = f"{opening}{self.claim}; observed {self.observed}."
        if self.assumptions:
            sentence += " Assumed: " + " ".join(self.assumptions)
        return sentence

    @property
    def page(self) -> str:
        """Where the documentation explains the theorem, relative to its root; else empty."""
        from corollary.theory.theorem import theorems

        return next((known.page for known in theorems() if known.name == self.theorem), "")

    def at(self, confidence: float) -> "Certificate":
        """Compute the same guarantee at another confidence.

        Parameters
        ----------
        confidence : float
            The wanted confidence, strictly between 0 and 1.

        Returns
        -------
        certificate : Certificate
            A record whose bound is larger for a larger confidence.

        Raises
        ------
        ValueError
            If this record does not know how it was computed (it was read from a file).
        """
        if self.recompute is None:
            raise ValueError(
                f"This certificate ({self.theorem}) does not carry its computation and cannot be "
                "moved to another confidence. Call certify again with the confidence you need."
            )
        return replace(
            self.recompute(confidence),
            assumptions=self.assumptions,
            checked=self.checked,
            seen=self.seen,
            recompute=self.recompute,
        )

    def as_row(self) -> dict[str, Any]:
        """Return a flat record, ready for a table.

        Returns
        -------
        row : dict
            One value per column: numbers as numbers, assumptions joined in one text.
        """
        return {
            "quantity": self.quantity,
            "empirical": self.empirical,
            "bound": self.bound,
            "direction": self.direction,
            "confidence": self.confidence,
            "n_samples": self.n_samples,
            "theorem": self.theorem,
            "page": self.page,
            "seen": self.seen,
            "vacuous": self.vacuous,
            "rows_missing": self.rows_missing,
            "claim": self.claim,
            "assumptions": " ".join(self.assumptions),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return a record that JSON can hold.

        Returns
        -------
        record : dict
            All fields and the sentence; numbers that are not finite become None, since JSON has
            no infinity.
        """
        record = self.as_row()
        record["assumptions"] = list(self.assumptions)
        record["checked"] = list(self.checked)
        record["observed"] = self.observed
        record["sentence"] = str(self)
        return {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in record.items()
        }


@dataclass(frozen=True)
class Quantity:
    """What is bounded: a mean loss over the population, its range and its wording.

    Parameters
    ----------
    name : str, default="error rate"
        Name of the quantity.
    low : float, default=0.0
        Smallest possible loss.
    high : float, default=1.0
        Largest possible loss.
    predicate : str or None, default="are classified wrongly"
        For a share of rows, what these rows do; None for any other mean.

    Examples
    --------
    >>> from corollary.theory import Quantity
    >>> Quantity().claim(0.0434)
    'at most 4.4% of such rows are classified wrongly'
    >>> Quantity("mean of min(|error|, 10)", 0, 10, None).claim(3.2)
    'the mean of min(|error|, 10) over such rows is at most 3.2'
    """

    name: str = "error rate"
    low: float = 0.0
    high: float = 1.0
    predicate: str | None = "are classified wrongly"

    def claim(self, bound: float) -> str:
        """Say that the quantity is at most a bound.

        Parameters
        ----------
        bound : float
            Upper bound.

        Returns
        -------
        text : str
            The claim, rounded outwards.
        """
        if self.predicate is not None:
            return f"at most {format_share(bound)} of such rows {self.predicate}"
        return f"the {self.name} over such rows is at most {format_number(bound)}"

    def observed(self, mean: float, n_samples: int) -> str:
        """Say what was seen.

        Parameters
        ----------
        mean : float
            Empirical mean of the losses.
        n_samples : int
            Rows used.

        Returns
        -------
        text : str
            A count for a share of rows, otherwise the mean.
        """
        if self.predicate is not None:
            return f"{round(mean * n_samples)} of {n_samples}"
        rows = "row" if n_samples == 1 else "rows"
        return f"{mean:.4g} on {n_samples} {rows}"


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
        Certificates of the same quantity and direction, each able to be recomputed.
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
        If there are none, or they speak of different quantities, directions or confidences.

    See Also
    --------
    certify : Computes the certificates.

    Notes
    -----
    A choice that is fixed before the rows are seen costs nothing: for error rates the exact
    binomial bound is always the sharpest held-out bound, so take it by name
    (``theory.clopper-pearson``) and leave the price unpaid. Guarantee checked by
    ``tests/theory/test_certificate.py``.

    Examples
    --------
    >>> from corollary.theory import error_rate_certificate, hoeffding_certificate, tightest
    >>> exact = error_rate_certificate(2, 143, confidence=0.95)
    >>> hoeffding = hoeffding_certificate(2 / 143, 143, confidence=0.95)
    >>> best = tightest([exact, hoeffding])
    >>> best.theorem, best.bound > exact.bound
    ('theory.clopper-pearson', True)
    """
    certificates = list(certificates)
    if not certificates:
        raise ValueError("tightest needs at least one certificate. Got none.")
    for name in ("quantity", "direction"):
        values = sorted({getattr(certificate, name) for certificate in certificates})
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
    assumptions = tuple(dict.fromkeys(line for one in again for line in one.assumptions))
    checked = tuple(dict.fromkeys(line for one in again for line in one.checked))
    known = tuple(certificates)
    return replace(
        best,
        confidence=confidence,
        assumptions=assumptions,
        checked=checked,
        recompute=partial(_tightest_at, known),
    )


def _tightest_at(certificates: tuple[Certificate, ...], confidence: float) -> Certificate:
    return tightest(certificates, confidence=confidence)


def format_share(value: float, direction: Direction = "upper") -> str:
    """Write a share as a percentage, rounded outwards."""
    percent = Decimal(repr(float(value))) * 100
    digits = 1 if percent == 0 or percent >= 1 else 1 - percent.adjusted()
    return f"{_outwards(percent, digits, direction)}%"


def format_number(value: float, direction: Direction = "upper") -> str:
    """Write a number with four significant digits, rounded outwards."""
    if not math.isfinite(value):
        return "infinity" if value > 0 else "-infinity"
    exact = Decimal(repr(float(value)))
    if exact == 0:
        return "0"
    rounded = _outwards(exact, 3 - exact.adjusted(), direction)
    return f"{float(rounded):.6g}"


def format_confidence(confidence: float) -> str:
    """Write a confidence as a percentage, rounded down and never up to 100%."""
    percent = Decimal(repr(float(confidence))) * 100
    digits = max(2, 1 - (100 - percent).adjusted())
    text = str(_outwards(percent, digits, "lower"))
    return (text.rstrip("0").rstrip(".") if "." in text else text) + "%"


def _outwards(value: Decimal, digits: int, direction: Direction) -> Decimal:
    rounding = ROUND_CEILING if direction == "upper" else ROUND_FLOOR
    return value.quantize(Decimal(1).scaleb(-digits), rounding=rounding)


def _missing_rows(rows: float) -> str:
    if math.isinf(rows):
        return "More rows alone would not change that."
    if rows == 0:
        return "Rows are not what is missing."
    return f"At least {int(rows)} more {'row is' if rows == 1 else 'rows are'} needed."
