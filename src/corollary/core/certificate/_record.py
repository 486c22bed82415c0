"""The record of one computed guarantee."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from corollary.core.certificate._assumption import Assumption
from corollary.core.certificate._numbers import Direction, format_confidence
from corollary.core.certificate._quantity import Quantity
from corollary.core.display import Tabular
from corollary.core.population import Population

_ALIKE = Population()


@dataclass(frozen=True, kw_only=True, repr=False)
class Certificate(Tabular):
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

    def __repr__(self) -> str:
        claim = f"{self.quantity}: vacuous" if self.vacuous else self.claim
        return (
            f"Certificate({claim!r}, confidence={self.confidence:g}, "
            f"n_samples={self.n_samples}, theorem={self.theorem!r})"
        )

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "claim": [self.claim],
            "bound": [self.bound],
            "confidence": [self.confidence],
            "observed": [self.observed],
            "theorem": [self.theorem],
            "assumed": [" ".join(str(a) for a in self.assumptions if not a.checked)],
        }

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


def _missing_rows(number: float, population: Population) -> str:
    if math.isinf(number):
        return f"More {population.pieces} alone would not change that."
    if number == 0:
        return f"{population.pieces[:1].upper()}{population.pieces[1:]} are not what is missing."
    missing = f"{population.piece} is" if number == 1 else f"{population.pieces} are"
    return f"At least {int(number)} more {missing} needed."
