r"""Certificates of linear models that stochastic gradient descent made of their training rows.

In a pass over the rows each of them is used once, at a step :math:`\eta_t` that does not depend on
them. On smooth convex losses the row can then move the weights by twice the length of a gradient
times this step and no more, whatever the order (:func:`sgd_row_distances`), and
:func:`stability_bound` turns that into a bound on the risk. Learners that draw rows with
replacement are stable on average only, which gives no bound that holds with high probability.

The steps, the passes and the penalty are read off the model; that the model is what such a run
makes of the rows is checked by running it again.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import ROUND_CEILING, Decimal
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from corollary.certificates._scikit_learn import behind_row_maps, descent_of
from corollary.certificates.proofs._shared import (
    EXPONENTS,
    as_table,
    conclude,
    is_error_of_two_classes,
    once,
    rows_missing,
    signs_of,
)
from corollary.certificates.register import Evidence, register_theorem
from corollary.core.certificate import Assumption, Certificate, Quantity, format_number
from corollary.core.protocols import Descent
from corollary.theory import sgd_row_distances

_FIXED = Assumption(
    "The steps, the passes and the penalty were chosen without these rows, and so was the order in "
    "which they were visited.",
    "choice",
)
_REPEATED = Assumption(
    "The model is what gradient descent makes of the rows (repeated, with equal weights).",
    "model",
    checked=True,
)
_BELIEVED = Assumption(
    "The model was fitted to these rows with equal weights, and its parameters were not changed "
    "later (it keeps no seed with which the run could be repeated).",
    "model",
)


class _Loss(NamedTuple):
    r"""What the steps of a convex loss :math:`\varphi` of the score s can do."""

    curvature: float  # largest second derivative
    slope: Callable[[np.ndarray], np.ndarray]  # largest |phi'| at scores up to a size
    steepest: float  # largest |phi'| anywhere
    pull: float  # what a step adds to the squared length of the weights, over twice the step


def _loss(name: str, largest: float, epsilon: float) -> _Loss | None:
    """Return the constants of a loss for targets up to a size; None unless it is smooth."""
    quarter = largest**2 / 4
    constants = {
        # -phi'(s) s = z / (1 + exp(z)) has its maximum 0.27846 at z = 1.278.
        "logistic": _Loss(0.25, expit, 1.0, 0.2785),
        "modified_huber": _Loss(2.0, lambda reach: np.minimum(4.0, 2 + 2 * reach), 4.0, 0.5),
        "huber": _Loss(
            1.0,
            lambda reach: np.minimum(epsilon, largest + reach),
            epsilon,
            min(epsilon * largest, quarter),
        ),
        # No slope is the steepest here. With steps up to one over the smoothness the square of a
        # slope is paid for by the slope itself: the squared length grows by curvature * y^2 * eta.
        "squared_hinge": _Loss(2.0, lambda reach: 2 + 2 * reach, math.inf, 1.0),
        "square": _Loss(2.0, lambda reach: 2 * (largest + reach), math.inf, largest**2),
        "half_square": _Loss(1.0, lambda reach: largest + reach, math.inf, largest**2 / 2),
    }
    return constants.get(name)


class _Rows(NamedTuple):
    """A model that gradient descent made of rows, and these as they reached it."""

    model: Any
    run: Descent
    table: np.ndarray
    length: float  # no row is longer, the constant for the intercept apart
    largest: float  # no target is larger


@once
def _rows(evidence: Evidence) -> _Rows | None:
    model, X = behind_row_maps(evidence.model, evidence.X)
    if evidence.y.ndim != 1 or getattr(model, "class_weight", None) is not None:
        return None
    if evidence.kind == "classifier":
        if not is_error_of_two_classes(evidence):
            return None
        y, largest = evidence.y, 1.0
    elif evidence.errors is not None:
        y = evidence.y.astype(float)
        largest = _round_up(float(np.abs(y).max()))
    else:
        return None
    table = as_table(X)
    run = None if table is None else descent_of(model, X, y)
    if table is None or run is None:
        return None
    length = _round_up(float(np.sqrt((table**2).sum(axis=1).max())))
    rows = _Rows(model, run, table, length, largest)
    return rows if _distances(rows, len(y)) is not None else None


def _round_up(value: float) -> float:
    """Return the next number of one digit: what is assumed of a population is a round number.

    Of all tables of a population only those count whose round number bounds it, and these have
    one and the same.
    """
    if value <= 0:
        return 1.0
    exact = Decimal(value * (1 - 1e-9))
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted()), rounding=ROUND_CEILING))


class _Distances(NamedTuple):
    """How far rows can move the weights: what the bound needs of n of them."""

    total: float
    squares: float
    reach: float  # largest length that the weights can have in the end


def _distances(rows: _Rows, n: int) -> _Distances | None:
    """Bound what n rows do; None if no theorem covers such steps."""
    run, free = rows.run, bool(rows.model.fit_intercept)
    loss = _loss(run.loss, rows.largest, run.epsilon)
    if loss is None:
        return None
    steps = run.step_at(np.arange(1.0, run.n_passes * n + 1))
    square = _squared_length(rows)
    if steps.max() * (loss.curvature * square + 2 * run.penalty) > 2:
        return None
    if free and run.penalty and math.isinf(loss.steepest):
        return None
    if math.isinf(loss.steepest):
        if np.any(steps * (loss.curvature * square + run.penalty) > 1):
            return None
        lengths = np.sqrt(np.cumsum(2 * steps * loss.pull))
    elif free and run.penalty:
        # The penalty spares the intercept and turns the weights; every step adds its length.
        lengths = np.cumsum(steps) * loss.steepest * math.sqrt(square)
    else:
        lengths = np.sqrt(np.cumsum(2 * steps * loss.pull + (steps * loss.steepest) ** 2 * square))
    if not free:
        lengths = np.minimum(lengths, run.radius)
    before = np.append(0.0, lengths[:-1])
    moved = sgd_row_distances(
        gradients=loss.slope(math.sqrt(square) * before) * math.sqrt(square),
        step_sizes=steps,
        n_samples=n,
        penalty=0.0 if free else run.penalty,
        averaging=run.averaging,
    )
    return _Distances(float(moved.sum()), float((moved**2).sum()), float(lengths[-1]))


def _squared_length(rows: _Rows) -> float:
    return rows.length**2 + (1.0 if rows.model.fit_intercept else 0.0)


def _gap(moved: _Distances, n: int, lipschitz: float, delta: float, high: float) -> float:
    """Return stability_bound at the distances times a Lipschitz constant, from their sums."""
    squares = (2 * lipschitz) ** 2 * moved.squares + 4 * lipschitz * moved.total * high / n
    tail = math.sqrt((squares + high**2 / n) * math.log(1 / delta) / 2)
    return lipschitz * moved.total / n + tail


def _spread(moved: _Distances, n: int, size: int) -> _Distances:
    """Return the distances of a run on more rows, in smaller steps of the same sum.

    The weights go as far, and each row moves them less.
    """
    return moved._replace(squares=moved.squares * n / size)


def _share(run: Descent, delta: float) -> float:
    # If the losses decided when to stop, all numbers of passes are paid for.
    return 6 * delta / (math.pi * run.n_passes) ** 2 if run.stopped else delta


@register_theorem(
    "theory.sgd-stability",
    needs="seen",
    applies=lambda evidence: _rows(evidence) is not None,
    title="Stability of gradient descent",
    idea="asks how far one row can move the weights in its steps",
)
def _certify_descent(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    r"""Certify a linear model by the steps of the gradient descent that made it.

    A row x counts with a further coordinate 1 if there is an intercept. In the weights the loss
    :math:`\varphi(\langle w,x\rangle)` has gradients of length at most
    :math:`\max|\varphi'|\,\|x\|` and smoothness :math:`\max\varphi''\,\|x\|^2`: 1 and 1/4 for the
    logistic loss of rows of length 1. At weights of length R its slope is at most
    :math:`1/(1+e^{-R\|x\|})`, which is one half at the beginning, and R grows slowly:
    :math:`\|w-\eta\varphi'x\|^2\le\|w\|^2+2\eta\max_s(-\varphi'(s)s)+\eta^2\varphi'^2\|x\|^2`. For
    the square and the squared hinge loss slopes are not bounded, but for steps up to one over the
    smoothness the last term is at most :math:`\eta(\varphi'(s))^2/\max\varphi''`, and the
    squared length grows by at most :math:`\eta\max\varphi''\max y^2` in a step.

    The bound is about the length of rows, and not their number of columns. It falls with n only
    if steps do, too, which is how missing rows are counted: steps of the sum S over n rows of
    length 1 cost about :math:`(4S/\gamma)\sqrt{\log(1/\delta)/(2n)}`, or half of it while S is
    small.

    Guarantee: checked by ``tests/guarantees/sgd.py``.
    """
    rows = _rows(evidence)
    assert rows is not None
    if evidence.kind == "classifier":
        yield _about_errors(evidence, rows, confidence)
    else:
        yield _about_distances(evidence, rows, confidence)


def _assumptions(rows: _Rows, *, targets: bool) -> tuple[Assumption, ...]:
    size = f"Rows have length at most {format_number(rows.length)}"
    if targets:
        size += f" and targets lie between {-rows.largest:g} and {rows.largest:g}"
    population = Assumption(f"{size}, in the whole population.", "population")
    return population, _FIXED, _REPEATED if rows.run.repeated else _BELIEVED


def _about_errors(evidence: Evidence, rows: _Rows, level: float) -> Certificate:
    assert evidence.losses is not None
    n, model = len(evidence.y), rows.model
    scores = rows.table @ np.ravel(model.coef_) + float(np.ravel(model.intercept_)[0])
    margins = signs_of(evidence) * scores
    ramps = [float(np.clip(1 - margins / 2.0**j, 0, 1).mean()) for j in EXPONENTS]
    length = math.sqrt(_squared_length(rows))
    share = _share(rows.run, 1 - level)

    moved = _distances(rows, n)
    assert moved is not None

    def bound_at(size: int) -> tuple[float, int]:
        spread = _spread(moved, n, size)
        values = [
            ramp + _gap(spread, size, length / 2.0**j, 6 * share / (math.pi * place) ** 2, 1.0)
            for place, (j, ramp) in enumerate(zip(EXPONENTS, ramps), start=1)
        ]
        best = int(np.argmin(values))
        return values[best], best

    bound, best = bound_at(n)
    error = float(np.mean(evidence.losses))
    observed = Quantity().observed(error, n)
    if bound < 1:
        ramp = format_number(ramps[best])
        observed += f", with a mean ramp loss of {ramp} at margin {2.0 ** EXPONENTS[best]:g}"
    return conclude(
        "theory.sgd-stability",
        Quantity(),
        bound,
        empirical=error,
        n_samples=n,
        confidence=level,
        observed=observed,
        assumptions=_assumptions(rows, targets=False),
        rows_missing=rows_missing(n, lambda size: bound_at(size)[0]),
        recompute=lambda other: _about_errors(evidence, rows, other),
    )


def _about_distances(evidence: Evidence, rows: _Rows, level: float) -> Certificate:
    assert evidence.errors is not None
    n, length = len(evidence.y), math.sqrt(_squared_length(rows))
    share = _share(rows.run, 1 - level)
    moved = _distances(rows, n)
    assert moved is not None
    high = rows.largest + length * moved.reach
    losses, quantity = evidence.losses, evidence.quantity
    if losses is None or quantity is None:
        losses, quantity = evidence.errors, Quantity("mean absolute error", 0, high, None)
    quantity = replace(quantity, high=min(high, quantity.high))
    mean = float(np.mean(losses))

    def bound_at(size: int) -> float:
        return mean + _gap(_spread(moved, n, size), size, length, share, quantity.high)

    return conclude(
        "theory.sgd-stability",
        quantity,
        bound_at(n),
        empirical=mean,
        n_samples=n,
        confidence=level,
        assumptions=_assumptions(rows, targets=True),
        rows_missing=rows_missing(n, lambda size: bound_at(size) / quantity.high),
        recompute=lambda other: _about_distances(evidence, rows, other),
    )
