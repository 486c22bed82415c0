"""Certificate: a frozen record of one computed guarantee.

A certificate says one thing about one population, with its probability and its assumptions, and
is valid on its own. What is bounded is a :class:`Quantity`, of which rows it speaks a
:class:`Population`, what must be true for it a tuple of :class:`Assumption`; sentences are made
from them when they are asked for. The record lies in core
because a model may carry one, such as a network that was trained to minimise its bound; theorems
and :func:`corollary.certify` lie in ``corollary.certificates``.

Numbers in sentences are rounded outwards (an upper bound up, a lower bound down), so that no text
claims more than was proved.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Literal

from corollary.core.population import Population as Population

Direction = Literal["upper", "lower"]
_ALIKE = Population()
#: What an assumption is about: how rows were drawn, which rows they are, what was chosen without
#: them, the range of the population, what the model is.
Subject = Literal["draws", "rows", "choice", "population", "model", "other"]


@dataclass(frozen=True)
class Assumption:
    """A sentence that must be true for a claim to hold.

    Parameters
    ----------
    text : str
        The sentence.
    about : {"draws", "rows", "choice", "population", "model", "other"}, default="other"
        What it is about: how rows were drawn; which rows they are; what was chosen without them;
        the range of the population; what the model is.
    checked : bool, default=False
        Whether it does not rest on the reader's judgement: it was computed from the rows, or the
        caller vouched for it.

    Examples
    --------
    >>> from corollary.core.certificate import Assumption
    >>> print(Assumption("The rows are independent draws.", "draws"))
    The rows are independent draws.
    """

    text: str
    about: Subject = "other"
    checked: bool = False

    def __str__(self) -> str:
        return self.text

    def vouched(self) -> "Assumption":
        """Return the same sentence as one that is checked.

        Returns
        -------
        assumption : Assumption
            With ``checked=True``.
        """
        return replace(self, checked=True)


def merge_assumptions(*groups: tuple[Assumption, ...]) -> tuple[Assumption, ...]:
    """Join lists of assumptions, each sentence once; it is checked if any list says so.

    Parameters
    ----------
    *groups : tuple of Assumption
        The lists, in order.

    Returns
    -------
    assumptions : tuple of Assumption
        In the order in which sentences come first.
    """
    merged: dict[str, Assumption] = {}
    for assumption in (one for group in groups for one in group):
        first = merged.setdefault(assumption.text, assumption)
        if assumption.checked and not first.checked:
            merged[assumption.text] = first.vouched()
    return tuple(merged.values())


@dataclass(frozen=True)
class Quantity:
    """What is bounded: a mean loss or a quantile of errors, its range and its wording.

    Parameters
    ----------
    name : str, default="error rate"
        Name of the quantity.
    low : float, default=0.0
        Smallest possible value.
    high : float, default=1.0
        Largest possible value.
    predicate : str or None, default="are classified wrongly"
        For a share of rows, what these rows do; None for any other quantity.
    level : float or None, default=None
        For a quantile of the absolute error, its level; None for a mean.
    per_unit : bool, default=False
        For a quantile, whether it is one of owners, each with the median of its own errors, and
        not of rows.

    Examples
    --------
    >>> from corollary.certificates import Population, Quantity
    >>> Quantity().claim(0.0434)
    'at most 4.4% of such rows are classified wrongly'
    >>> Quantity("mean of min(|error|, 10)", 0, 10, None).claim(3.2)
    'the mean of min(|error|, 10) over such rows is at most 3.2'
    >>> Quantity.error_quantile(0.9).claim(3.2)
    'at least 90% of such rows have an absolute error of at most 3.2'
    >>> Quantity().claim(0.12, population=Population("new units", unit="person"))
    'at most 12.0% of rows of new persons are classified wrongly'
    """

    name: str = "error rate"
    low: float = 0.0
    high: float = 1.0
    predicate: str | None = "are classified wrongly"
    level: float | None = None
    per_unit: bool = False

    def __str__(self) -> str:
        return self.name

    @classmethod
    def error_quantile(cls, level: float) -> "Quantity":
        """Name a quantile of the absolute error.

        Parameters
        ----------
        level : float
            Share of rows whose error it bounds, strictly between 0 and 1.

        Returns
        -------
        quantity : Quantity
            Without an upper end.
        """
        name = f"{100 * level:.6g}% quantile of the absolute error"
        return cls(name, 0.0, math.inf, None, level)

    @classmethod
    def median_of_units(cls) -> "Quantity":
        """Name the median over owners of the median absolute error of each.

        Returns
        -------
        quantity : Quantity
            Without an upper end.
        """
        name = "median over owners of their median absolute error"
        return cls(name, 0.0, math.inf, None, 0.5, per_unit=True)

    @property
    def kind(self) -> Literal["share", "mean", "quantile"]:
        """Whether it is a share of rows, a mean over rows or a quantile of errors."""
        if self.level is not None:
            return "quantile"
        return "mean" if self.predicate is None else "share"

    def claim(
        self,
        bound: float,
        direction: Direction = "upper",
        population: Population = _ALIKE,
    ) -> str:
        """Say that the quantity is at most, or at least, a bound.

        Parameters
        ----------
        bound : float
            The bound.
        direction : {"upper", "lower"}, default="upper"
            Which of the two.
        population : Population, default=Population()
            Of which rows.

        Returns
        -------
        text : str
            The claim, rounded outwards.
        """
        limit = "at most" if direction == "upper" else "at least"
        share = self.predicate is not None
        number = format_share(bound, direction) if share else format_number(bound, direction)
        if population.kind == "period":
            # What happened in a period is known; what was to be expected of its rows is bounded.
            return (
                f"on average over {population.rows}, the {self.name} to be expected of a row given "
                f"those before it is {limit} {number}"
            )
        if share:
            return f"{limit} {number} of {population.rows} {self.predicate}"
        if self.level is None:
            return f"the {self.name} over {population.rows} is {limit} {number}"
        error = "a median absolute error" if self.per_unit else "an absolute error"
        whose = f"new {population.pieces}" if self.per_unit else population.rows
        return f"at least {100 * self.level:.6g}% of {whose} have {error} of {limit} {number}"

    def observed(self, value: float, n_samples: int) -> str:
        """Say what was seen.

        Parameters
        ----------
        value : float
            Empirical value of the quantity.
        n_samples : int
            Rows used.

        Returns
        -------
        text : str
            A count for a share of rows, otherwise the value.
        """
        if self.predicate is not None:
            return f"{round(value * n_samples)} of {n_samples}"
        rows = "row" if n_samples == 1 else "rows"
        text = f"{value:.4g} on {n_samples} {rows}"
        return text if self.level is None else f"a {100 * self.level:.6g}% quantile of {text}"


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """One computed guarantee.

    Parameters
    ----------
    quantity : Quantity
        What is bounded; as text it is its name.
    empirical : float
        Its value on the rows used.
    bound : float
        The proved bound.
    confidence : float
        Probability, over the draw of the rows, that the claim is true.
    theorem : str
        Identifier of the theorem.
    n_samples : int
        Independent pieces of evidence that were used: rows or, for a claim about rows of new
        owners, owners.
    observed : str
        The empirical value in words, such as "2 of 143".
    assumptions : tuple of Assumption, default=()
        What must be true for the claim to hold, and whether that was checked.
    direction : {"upper", "lower"}, default="upper"
        Whether the quantity is at most or at least the bound.
    seen : bool, default=False
        Whether the rows used were the model's training rows.
    vacuous : bool, default=False
        Whether the bound says nothing beyond the range of the quantity.
    rows_missing : float, default=0
        For a vacuous bound, how many more rows (or owners, as `n_samples`) it takes to say
        something; infinite if they alone will not do.
    population : Population, default=Population()
        Of which rows it speaks.
    page : str, default=""
        Where the documentation explains the theorem, relative to its root; empty if nowhere.
    recompute : callable or None, default=None
        ``recompute(confidence)`` gives the same certificate at another confidence. Not part of
        the record: ignored in comparisons and left out of :meth:`to_dict`.

    See Also
    --------
    certify : Compute certificates for a fitted model.
    tightest : Choose among several and pay for the choice.

    Examples
    --------
    >>> from corollary.certificates import error_rate_certificate
    >>> certificate = error_rate_certificate(2, 143, confidence=0.95)
    >>> print(certificate)
    With 95% confidence, at most 4.4% of such rows are classified wrongly; observed 2 of 143.
    >>> round(certificate.at(0.99).bound, 3)
    0.057
    >>> certificate.theorem, certificate.page
    ('theory.clopper-pearson', 'certificates.html#theory-clopper-pearson')
    """

    quantity: Quantity
    empirical: float
    bound: float
    confidence: float
    theorem: str
    n_samples: int
    observed: str
    assumptions: tuple[Assumption, ...] = ()
    direction: Direction = "upper"
    seen: bool = False
    vacuous: bool = False
    rows_missing: float = 0
    population: Population = _ALIKE
    page: str = ""
    recompute: Callable[[float], "Certificate"] | None = field(
        default=None, compare=False, repr=False
    )

    def __str__(self) -> str:
        opening = f"With {format_confidence(self.confidence)} confidence, "
        if self.vacuous:
            whose = "" if self.population == _ALIKE else f" of {self.population.rows}"
            sentence = (
                f"{opening}nothing is proved about the {self.quantity}{whose}: the bound is "
                f"vacuous; observed {self.observed}. "
                f"{_missing_rows(self.rows_missing, self.population)}"
            )
        else:
            sentence = f"{opening}{self.claim}; observed {self.observed}."
        if self.population.note:
            sentence += f" {self.population.note}"
        if self.assumptions:
            sentence += " Assumed: " + " ".join(map(str, self.assumptions))
        return sentence

    @property
    def claim(self) -> str:
        """What is guaranteed, in words that complete "With 95% confidence, ..."."""
        return self.quantity.claim(self.bound, self.direction, self.population)

    @property
    def checked(self) -> tuple[Assumption, ...]:
        """Those of the assumptions that do not rest on the reader's judgement."""
        return tuple(assumption for assumption in self.assumptions if assumption.checked)

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
            seen=self.seen,
            population=self.population,
            page=self.page,
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
            "quantity": self.quantity.name,
            "population": self.population.rows,
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
            "assumptions": " ".join(map(str, self.assumptions)),
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
        record["assumptions"] = [str(line) for line in self.assumptions]
        record["checked"] = [str(line) for line in self.checked]
        record["population"] = self.population.to_dict()
        record["observed"] = self.observed
        record["sentence"] = str(self)
        return {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in record.items()
        }


def format_share(value: float, direction: Direction = "upper") -> str:
    """Write a share as a percentage, rounded outwards.

    Parameters
    ----------
    value : float
        A share between 0 and 1.
    direction : {"upper", "lower"}, default="upper"
        Round an upper bound up and a lower bound down.

    Returns
    -------
    text : str
        One decimal, or two significant digits below 1%.

    Examples
    --------
    >>> from corollary.core.certificate import format_share
    >>> format_share(0.04342), format_share(0.04342, "lower"), format_share(0.000123)
    ('4.4%', '4.3%', '0.013%')
    """
    percent = Decimal(repr(float(value))) * 100
    digits = 1 if percent == 0 or percent >= 1 else 1 - percent.adjusted()
    return f"{_outwards(percent, digits, direction)}%"


def format_number(value: float, direction: Direction = "upper") -> str:
    """Write a number with four significant digits, rounded outwards.

    Parameters
    ----------
    value : float
        Any number.
    direction : {"upper", "lower"}, default="upper"
        Round an upper bound up and a lower bound down.

    Returns
    -------
    text : str
        The number without trailing zeros.

    Examples
    --------
    >>> from corollary.core.certificate import format_number
    >>> format_number(12.3401), format_number(12.3401, "lower"), format_number(1e-9)
    ('12.35', '12.34', '1e-09')
    """
    if not math.isfinite(value):
        return "infinity" if value > 0 else "-infinity"
    exact = Decimal(repr(float(value)))
    if exact == 0:
        return "0"
    rounded = _outwards(exact, 3 - exact.adjusted(), direction)
    return f"{float(rounded):.6g}"


def format_confidence(confidence: float) -> str:
    """Write a confidence as a percentage, rounded down and never up to 100%.

    Parameters
    ----------
    confidence : float
        A probability strictly between 0 and 1.

    Returns
    -------
    text : str
        The percentage without trailing zeros.

    Examples
    --------
    >>> from corollary.core.certificate import format_confidence
    >>> format_confidence(0.95), format_confidence(1 - 0.05 / 3), format_confidence(0.999999)
    ('95%', '98.33%', '99.9999%')
    """
    percent = Decimal(repr(float(confidence))) * 100
    digits = max(2, 1 - (100 - percent).adjusted())
    text = str(_outwards(percent, digits, "lower"))
    return (text.rstrip("0").rstrip(".") if "." in text else text) + "%"


def _outwards(value: Decimal, digits: int, direction: Direction) -> Decimal:
    rounding = ROUND_CEILING if direction == "upper" else ROUND_FLOOR
    return value.quantize(Decimal(1).scaleb(-digits), rounding=rounding)


def _missing_rows(number: float, population: Population) -> str:
    if math.isinf(number):
        return f"More {population.pieces} alone would not change that."
    if number == 0:
        return f"{population.pieces[:1].upper()}{population.pieces[1:]} are not what is missing."
    missing = f"{population.piece} is" if number == 1 else f"{population.pieces} are"
    return f"At least {int(number)} more {missing} needed."
