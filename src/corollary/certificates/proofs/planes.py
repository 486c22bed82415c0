r"""Certificates of linear and kernel classifiers from their own training rows.

Three theorems hold at once for every linear classifier, so that it does not matter how its weights
were found, nor whether a penalty was tuned on the same rows: the VC bound, which counts columns;
the margin bound, which counts rows close to the plane; and a PAC-Bayes bound, which asks how much
noise the weights bear. A kernel that was fixed beforehand gets the margin bound.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from corollary.certificates._scikit_learn import kernel_expansion_of, plane_of
from corollary.certificates.proofs._shared import (
    EXPONENTS,
    LARGEST_TABLE,
    as_table,
    conclude,
    is_error_of_two_classes,
    once,
    rows_missing,
    signs_of,
)
from corollary.certificates.register import Evidence, register_theorem
from corollary.core.certificate import (
    Assumption,
    Certificate,
    Quantity,
    format_number,
    format_share,
)
from corollary.core.protocols import Plane
from corollary.theory import (
    kernel_ball_bound,
    kl_upper_inverse,
    margin_mistakes,
    rademacher_bound,
    vc_bound,
)

# Lengths of the centre of the randomised classifier, in units of the noise.
_LENGTHS = np.geomspace(0.05, 500.0, 61)


class _Rule(NamedTuple):
    """A plane in the columns of a table, with the rows that it was drawn between."""

    plane: Plane
    rows: np.ndarray
    signs: np.ndarray

    @property
    def scores(self) -> np.ndarray:
        return self.rows @ self.plane.weights + self.plane.intercept


@once
def _rule(evidence: Evidence) -> _Rule | None:
    """Read a classifier of two classes as a plane in its columns, if it predicts as that does."""
    if not is_error_of_two_classes(evidence):
        return None
    rows = as_table(evidence.X)
    if rows is None:
        return None
    plane = plane_of(evidence.model, rows.shape[1])
    if plane is None or plane.weights.shape != (rows.shape[1],):
        return None
    if not np.isfinite(plane.weights).all():
        return None
    rule = _Rule(plane, rows, signs_of(evidence))
    return rule if _agrees(evidence, rule.scores) else None


def _agrees(evidence: Evidence, scores: np.ndarray) -> bool:
    """Tell whether the model predicts by the sign of the scores, up to rounding on the plane."""
    labels = evidence.model.classes_[(scores > 0).astype(int)]
    near = np.abs(scores) <= 1e-8 * max(float(np.abs(scores).max(initial=0.0)), 1e-300)
    return bool(np.all((labels == evidence.prediction) | near))


class _Scores(NamedTuple):
    """What the margin bound needs: functions of norm 1 in a space of known lengths."""

    margins: np.ndarray
    squares: np.ndarray  # k(x, x) of each row
    fixed: bool  # whether that is the same number for every row that can occur
    kernel: bool


@once
def _scores(evidence: Evidence) -> _Scores | None:
    rule = _rule(evidence)
    if rule is None:
        return _kernel_scores(evidence)
    norm = math.hypot(float(np.linalg.norm(rule.plane.weights)), rule.plane.intercept)
    if norm == 0:
        return None
    squares = (rule.rows**2).sum(axis=1) + 1.0
    return _Scores(rule.signs * rule.scores / norm, squares, False, False)


def _kernel_scores(evidence: Evidence) -> _Scores | None:
    if not is_error_of_two_classes(evidence):
        return None
    rows = as_table(evidence.X)
    if rows is None:
        return None
    expansion = kernel_expansion_of(evidence.model, rows.shape[1])
    if expansion is None or len(rows) * len(expansion.vectors) > LARGEST_TABLE:
        return None
    weights, intercept = expansion.weights, expansion.intercept
    scores = expansion.gram(rows, expansion.vectors) @ weights + intercept
    predicted = np.ravel(evidence.model.decision_function(evidence.X))
    if not np.allclose(scores, predicted, rtol=1e-6, atol=1e-6 * (1 + np.abs(scores).max())):
        return None
    square = weights @ expansion.gram(expansion.vectors, expansion.vectors) @ weights
    square = float(square) + intercept**2
    squares = expansion.squares(rows)
    if not square > 0 or squares is None:
        return None
    margins = signs_of(evidence) * scores / math.sqrt(square)
    return _Scores(margins, squares + 1.0, expansion.kernel == "rbf", True)


def _conclude(
    evidence: Evidence,
    theorem: str,
    level: float,
    bound_at: Callable[[int], float],
    *,
    note: str,
    assumptions: tuple[Assumption, ...],
    recompute: Callable[[float], Certificate],
    quantity: Quantity | None = None,
    empirical: float | None = None,
) -> Certificate:
    """Certify the error rate at the training rows, or that of a randomised model."""
    assert evidence.losses is not None
    n, error = len(evidence.y), float(np.mean(evidence.losses))
    return conclude(
        theorem,
        quantity or Quantity(),
        bound_at(n),
        empirical=error if empirical is None else empirical,
        n_samples=n,
        confidence=level,
        observed=f"{Quantity().observed(error, n)}{note}",
        assumptions=assumptions,
        rows_missing=rows_missing(n, bound_at),
        recompute=recompute,
    )


_PLANE = Assumption(
    "The classifier is a plane in its columns (checked on the rows).", "model", checked=True
)
_COLUMNS = Assumption("Its columns were chosen without these rows.", "choice")
_UNITS = Assumption("Its columns and their units were chosen without these rows.", "choice")
_KERNEL = Assumption("The kernel and its parameters were chosen without these rows.", "choice")


def _is_plane(evidence: Evidence) -> bool:
    return _rule(evidence) is not None


@register_theorem(
    "theory.vc-bound",
    needs="seen",
    applies=_is_plane,
    title="VC bound",
    idea="holds for every plane between the classes, however it was chosen",
)
def _certify_plane(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    """Certify a linear classifier by the VC dimension of planes."""
    rule = _rule(evidence)
    assert rule is not None
    assert evidence.losses is not None
    dimension = rule.rows.shape[1] + int(rule.plane.affine)
    error = float(np.mean(evidence.losses))

    def at(level: float) -> Certificate:
        def bound_at(n: int) -> float:
            return error + vc_bound(n_samples=n, dimension=dimension, delta=1 - level)

        return _conclude(
            evidence,
            "theory.vc-bound",
            level,
            bound_at,
            note=f", with a VC dimension of {dimension}",
            assumptions=(_PLANE, _COLUMNS),
            recompute=at,
        )

    yield at(confidence)


@register_theorem(
    "theory.margin-bound-uniform",
    needs="seen",
    applies=lambda evidence: _scores(evidence) is not None,
    title="Margin bound",
    idea="holds for every plane, and asks how far rows lie from it",
)
def _certify_margin(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    """Certify a linear or kernel classifier by its margins."""
    scores = _scores(evidence)
    assert scores is not None

    def at(level: float) -> Certificate:
        return _conclude(
            evidence,
            "theory.margin-bound-uniform",
            level,
            partial(_margin_bound, scores, 1 - level),
            note=f", with a median margin of {format_number(float(np.median(scores.margins)))}",
            assumptions=(_KERNEL,) if scores.kernel else (_PLANE, _UNITS),
            recompute=at,
        )

    yield at(confidence)


def _margin_bound(scores: _Scores, delta: float, n: int) -> float:
    present = len(scores.margins)
    complexity = kernel_ball_bound(scores.squares) * math.sqrt(present / n)
    best = 1.0
    for place, exponent in enumerate(EXPONENTS, start=1):
        gamma, share = 2.0**exponent, 6 * delta / (math.pi * place) ** 2
        if 2 * complexity / gamma >= best:
            continue
        gap = rademacher_bound(
            complexity / gamma, n_samples=n, delta=share, empirical=not scores.fixed
        )
        best = min(best, margin_mistakes(scores.margins, gamma) + gap)
    return best


@register_theorem(
    "theory.pac-bayes-gaussian",
    needs="seen",
    applies=_is_plane,
    title="PAC-Bayes bound",
    idea="asks how much noise the weights bear",
)
def _certify_noisy_plane(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    """Certify a linear classifier by the noise that its weights bear."""
    rule = _rule(evidence)
    assert rule is not None
    norm = math.hypot(float(np.linalg.norm(rule.plane.weights)), rule.plane.intercept)
    if norm == 0:
        return
    lengths = np.sqrt((rule.rows**2).sum(axis=1) + 1.0)
    angles = rule.signs * rule.scores / (norm * lengths)
    from scipy.special import ndtr

    risks = np.array([float(ndtr(-length * angles).mean()) for length in _LENGTHS])

    def bounds(level: float, n: int) -> tuple[float, int]:
        # pac_bayes_kl_bound at all lengths together.
        price = (_LENGTHS**2 / 2 + math.log(2 * math.sqrt(n) / (1 - level))) / n
        values = kl_upper_inverse(risks, price)
        best = int(np.argmin(values))
        return float(values[best]), best

    def at(level: float) -> Certificate:
        best = bounds(level, len(rule.rows))[1]
        return _conclude(
            evidence,
            "theory.pac-bayes-gaussian",
            level,
            lambda n: 2 * bounds(level, n)[0],
            note=f", and {format_share(risks[best])} with noisy weights",
            assumptions=(_PLANE, _UNITS),
            recompute=at,
        )

    def noisy_at(level: float) -> Certificate:
        best = bounds(level, len(rule.rows))[1]
        noise = format_number(norm / _LENGTHS[best])
        return _conclude(
            evidence,
            "theory.pac-bayes-gaussian",
            level,
            lambda n: bounds(level, n)[0],
            note=f" without noise, and {format_share(risks[best])} with it",
            quantity=Quantity(
                "error rate of the randomised classifier",
                predicate="are classified wrongly by the model with Gaussian noise of standard "
                f"deviation {noise} on every weight",
            ),
            empirical=float(risks[best]),
            assumptions=(_PLANE, _UNITS),
            recompute=noisy_at,
        )

    yield at(confidence)
    yield noisy_at(confidence)
