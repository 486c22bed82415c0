"""Certificates of ridge regression by its stability.

The theorem is about a learner, not about all models of a class; that the model at hand is what the
learner makes of the rows is checked by its normal equations.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from corollary.certificates._scikit_learn import ridge_penalty_of
from corollary.certificates.proofs._shared import conclude, once, rows_missing
from corollary.certificates.register import Evidence, register_theorem
from corollary.core.certificate import Assumption, Certificate, Quantity
from corollary.theory import ridge_norm_bound, ridge_stability, stability_bound

_BALL = Assumption(
    "Rows have length at most 1 and targets lie between -1 and 1, in the whole population.",
    "population",
)
_PENALTY = Assumption(
    "The penalty was chosen without these rows, and rows have equal weight.", "choice"
)


@once
def _penalty(evidence: Evidence) -> float | None:
    """Return the penalty of ridge regression in a ball, if that is what the model is."""
    if evidence.errors is None or evidence.y.ndim != 1:
        return None
    alpha = ridge_penalty_of(evidence.model)
    if alpha is None:
        return None
    try:
        X, y = np.asarray(evidence.X, dtype=float), evidence.y.astype(float)
    except (TypeError, ValueError):
        return None
    if X.ndim != 2 or np.abs(y).max() > 1 or np.linalg.norm(X, axis=1).max() > 1 + 1e-12:
        return None
    # The weights must be those of equally weighted rows and of this penalty.
    coef = np.ravel(evidence.model.coef_)
    slope = X.T @ (X @ coef - y) + alpha * coef
    return alpha if np.abs(slope).max() <= 1e-6 * max(1.0, np.abs(X.T @ y).max()) else None


@register_theorem(
    "theory.ridge-stability",
    needs="seen",
    applies=lambda evidence: _penalty(evidence) is not None,
    title="Stability of ridge regression",
    idea="asks how far one row can move the weights",
)
def _certify_ridge(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    """Certify ridge regression by its stability."""
    alpha = _penalty(evidence)
    assert alpha is not None
    assert evidence.errors is not None
    n = len(evidence.y)
    penalty = alpha / n
    largest = 1 + ridge_norm_bound(penalty)
    losses, quantity = evidence.losses, evidence.quantity
    if losses is None or quantity is None:
        losses, quantity = evidence.errors, Quantity("mean absolute error", 0, largest, None)
    mean = float(np.mean(losses))
    quantity = replace(quantity, high=min(quantity.high, largest))

    def at(level: float) -> Certificate:
        def gap(rows: int) -> float:
            epsilon = ridge_stability(n_samples=rows, alpha=penalty)
            return stability_bound(epsilon, n_samples=rows, delta=1 - level, high=quantity.high)

        return conclude(
            "theory.ridge-stability",
            quantity,
            mean + gap(n),
            empirical=mean,
            n_samples=n,
            confidence=level,
            assumptions=(_BALL, _PENALTY),
            rows_missing=rows_missing(n, lambda rows: (mean + gap(rows)) / quantity.high),
            recompute=at,
        )

    yield at(confidence)
