"""Certificates of classifiers that a few of their training rows determine.

The other rows were not needed, so that their errors say something about new rows. A support vector
machine is determined by its support vectors, a perceptron by the rows that it was ever mistaken at.
"""

import math
from collections.abc import Iterator

import numpy as np

from corollary.certificates.proofs._shared import conclude, is_error_of_two_classes, once
from corollary.certificates.register import Evidence, register_theorem
from corollary.core.certificate import Assumption, Certificate, Quantity
from corollary.core.protocols import DeterminingRows, HasDeterminingRows
from corollary.theory import compression_bound

_PRICES = Assumption(
    "The kernel, its parameters and C were chosen without these rows, and weights of rows, if "
    "any, depend on the row alone.",
    "choice",
)
_ORDER = Assumption("The rows came in an order that does not depend on them.", "draws")


@once
def _determining(evidence: Evidence) -> DeterminingRows | None:
    """Ask a classifier, whose error rate is bounded, which rows determine it."""
    if evidence.kind != "classifier" or evidence.quantity != Quantity() or evidence.y.ndim != 1:
        return None
    model = evidence.model
    if not isinstance(model, HasDeterminingRows):
        return None
    return model.determining_rows(evidence.X, evidence.y)


def _support_vectors(evidence: Evidence) -> bool:
    determining = _determining(evidence)
    return determining is not None and determining.by == "support-vectors"


def _mistakes(evidence: Evidence) -> bool:
    if not is_error_of_two_classes(evidence):
        return False
    determining = _determining(evidence)
    return determining is not None and determining.by == "mistakes"


@register_theorem(
    "svm.support-vector-bound",
    needs="seen",
    applies=_support_vectors,
    title="Support vector bound",
    idea="counts the support vectors",
)
def _certify_support_vectors(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    """Certify the error rate of a support vector classifier by its number of support vectors."""
    theorem, words = "svm.support-vector-bound", "support vectors"
    yield _about_others(evidence, theorem, words, _PRICES, confidence)


@register_theorem(
    "theory.perceptron-compression",
    needs="seen",
    applies=_mistakes,
    title="Perceptron bound",
    idea="counts the rows that it was ever mistaken at",
)
def _certify_perceptron(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    """Certify a perceptron by the number of rows that it was ever mistaken at."""
    theorem, words = "theory.perceptron-compression", "rows ever mistaken"
    yield _about_others(evidence, theorem, words, _ORDER, confidence)


def _about_others(
    evidence: Evidence, theorem: str, words: str, assumption: Assumption, level: float
) -> Certificate:
    determining = _determining(evidence)
    assert determining is not None
    assert evidence.losses is not None
    n, size = len(evidence.y), int(determining.rows.sum())
    errors = int(evidence.losses[~determining.rows].sum())
    empirical = float(np.mean(evidence.losses))

    def at(level: float) -> Certificate:
        bound = compression_bound(n, size, 1 - level, errors)
        return conclude(
            theorem,
            Quantity(),
            bound,
            empirical=empirical,
            n_samples=n,
            confidence=level,
            observed=f"{Quantity().observed(empirical, n)}, with {size} {words}",
            assumptions=(assumption,),
            rows_missing=math.inf if bound >= 1 else 0,
            recompute=at,
        )

    return at(level)
