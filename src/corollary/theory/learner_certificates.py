"""Certificates that rest on how a learner works: stability of ridge, few mistakes of a perceptron.

Such a theorem is about a learner, not about all models of a class; that the model at hand is what
the learner makes of the rows is checked by computing it again.
"""

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from corollary.theory.certificate import Certificate, Quantity
from corollary.theory.compression import compression_bound
from corollary.theory.stability import ridge_norm_bound, ridge_stability, stability_bound
from corollary.theory.theorem import Evidence, once, register_theorem
from corollary.theory.training_certificates import linear_rule, rows_missing

_BALL = "Rows have length at most 1 and targets lie between -1 and 1, in the whole population."


def _is_ridge_in_a_ball(evidence: Evidence) -> bool:
    model: Any = evidence.model
    if type(model).__name__ != "Ridge" or evidence.errors is None or evidence.y.ndim != 1:
        return False
    if type(model).__module__.split(".")[0] not in ("sklearn", "corollary"):
        return False
    if model.fit_intercept or np.ndim(model.alpha) != 0 or not model.alpha > 0:
        return False
    if getattr(model, "positive", False):
        return False
    try:
        X, y = np.asarray(evidence.X, dtype=float), evidence.y.astype(float)
    except (TypeError, ValueError):
        return False
    if X.ndim != 2 or np.abs(y).max() > 1 or np.linalg.norm(X, axis=1).max() > 1 + 1e-12:
        return False
    # The weights must be those of equally weighted rows and of this penalty.
    coef = np.ravel(model.coef_)
    slope = X.T @ (X @ coef - y) + model.alpha * coef
    return bool(np.abs(slope).max() <= 1e-6 * max(1.0, np.abs(X.T @ y).max()))


@register_theorem("theory.ridge-stability", needs="seen", applies=_is_ridge_in_a_ball)
def _certify_ridge(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    """Certify ridge regression by its stability."""
    assert evidence.errors is not None
    n, penalty = len(evidence.y), float(evidence.model.alpha) / len(evidence.y)
    largest = 1 + ridge_norm_bound(penalty)
    if evidence.quantity is None or evidence.losses is None:
        losses, quantity = evidence.errors, Quantity("mean absolute error", 0, largest, None)
    else:
        losses, quantity = evidence.losses, evidence.quantity
    mean = float(np.mean(losses))
    high = min(quantity.high, largest)

    def at(level: float) -> Certificate:
        def gap(rows: int) -> float:
            epsilon = ridge_stability(n_samples=rows, alpha=penalty)
            return stability_bound(epsilon, n_samples=rows, delta=1 - level, high=high)

        bound = min(high, mean + gap(n))
        certificate = Certificate(
            claim=quantity.claim(bound),
            quantity=quantity.name,
            empirical=mean,
            bound=bound,
            confidence=level,
            theorem="theory.ridge-stability",
            n_samples=n,
            observed=quantity.observed(mean, n),
            assumptions=(
                _BALL,
                "The penalty was chosen without these rows, and rows have equal weight.",
            ),
            vacuous=bound >= high,
            rows_missing=rows_missing(n, lambda rows: (mean + gap(rows)) / high),
        )
        return replace(certificate, recompute=at)

    yield at(confidence)


@once
def _mistaken_rows(evidence: Evidence) -> np.ndarray | None:
    """Return which rows the run of a perceptron was mistaken at, if it can be repeated."""
    model: Any = evidence.model
    if type(model).__module__ != "corollary.linear.separation.perceptron" or model.shuffle:
        return None
    rule = linear_rule(evidence)
    if rule is None:
        return None
    from corollary.linear import perceptron_run

    X = rule.rows
    whole = rule.weights
    if model.fit_intercept:
        X, whole = np.hstack([X, np.ones((len(X), 1))]), np.append(whole, rule.intercept)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = perceptron_run(X, rule.signs, max_passes=model.max_iter)
    return again.mistakes > 0 if np.array_equal(again.weights, whole) else None


def _is_perceptron(evidence: Evidence) -> bool:
    return _mistaken_rows(evidence) is not None


@register_theorem("theory.perceptron-compression", needs="seen", applies=_is_perceptron)
def certify_perceptron(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    """Certify a perceptron by the number of rows that it was ever mistaken at."""
    mistaken = _mistaken_rows(evidence)
    assert mistaken is not None
    assert evidence.losses is not None
    n, size = len(mistaken), int(mistaken.sum())
    errors, empirical = int(evidence.losses[~mistaken].sum()), float(np.mean(evidence.losses))

    def at(level: float) -> Certificate:
        bound = compression_bound(n, size, 1 - level, errors)
        certificate = Certificate(
            claim=Quantity().claim(bound),
            quantity=Quantity().name,
            empirical=empirical,
            bound=bound,
            confidence=level,
            theorem="theory.perceptron-compression",
            n_samples=n,
            observed=f"{Quantity().observed(empirical, n)}, with {size} rows ever mistaken",
            assumptions=("The rows came in an order that does not depend on them.",),
            vacuous=bound >= 1,
            rows_missing=math.inf if bound >= 1 else 0,
        )
        return replace(certificate, recompute=at)

    yield at(confidence)
