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
import warnings
from collections.abc import Callable, Iterator
from decimal import ROUND_CEILING, Decimal
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone

from corollary.theory.certificate import Certificate, Quantity, format_number
from corollary.theory.sgd_stability import sgd_row_distances
from corollary.theory.theorem import Evidence, once, register_theorem
from corollary.theory.training_certificates import (
    _EXPONENTS,
    _is_error_of_two_classes,
    _signs,
    _table,
    rows_missing,
)

_THEIRS = "sklearn.linear_model._stochastic_gradient"
_OURS = ("corollary.online.classifier", "corollary.online.regressor")
# Maps of a row that look at no other row.
_ROW_BY_ROW = {"Normalizer", "PolynomialFeatures", "Binarizer"}

_FIXED = (
    "The steps, the passes and the penalty were chosen without these rows, and so was the order in "
    "which they were visited."
)
_REPEATED = "The model is what gradient descent makes of the rows (repeated, with equal weights)."
_BELIEVED = (
    "The model was fitted to these rows with equal weights, and its parameters were not changed "
    "later (it keeps no seed with which the run could be repeated)."
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
    known = {
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
    return known.get(name)


class _Run(NamedTuple):
    """A run of gradient descent, read off a model."""

    loss: str
    step_at: Callable[[np.ndarray], np.ndarray]  # of rounds 1, 2, 3, ...
    n_passes: int
    stopped: bool  # whether the number of passes was chosen by looking at the rows
    penalty: float
    averaging: bool
    radius: float
    repeated: bool
    epsilon: float = 0.0


class _Rows(NamedTuple):
    """A model that gradient descent made of rows, and these as they reached it."""

    model: Any
    run: _Run
    table: np.ndarray
    length: float  # no row is longer, the constant for the intercept apart
    largest: float  # no target is larger


@once
def _rows(evidence: Evidence) -> _Rows | None:
    model, X = _behind_row_maps(evidence.model, evidence.X)
    home = type(model).__module__
    if (home != _THEIRS and home not in _OURS) or not hasattr(model, "coef_"):
        return None
    if evidence.y.ndim != 1 or getattr(model, "class_weight", None) is not None:
        return None
    if evidence.kind == "classifier":
        if not _is_error_of_two_classes(evidence):
            return None
        y, largest = evidence.y, 1.0
    elif evidence.errors is not None:
        y = evidence.y.astype(float)
        largest = _round_up(float(np.abs(y).max()))
    else:
        return None
    table = _table(X)
    if table is None or (home == _THEIRS and sparse.issparse(X)):
        return None
    reader = _their_run if home == _THEIRS else _our_run
    run = reader(model, X, y)
    if run is None:
        return None
    length = _round_up(float(np.sqrt((table**2).sum(axis=1).max())))
    found = _Rows(model, run, table, length, largest)
    return found if _distances(found, len(y)) is not None else None


def _behind_row_maps(model: Any, X: Any) -> tuple[Any, Any]:
    steps = getattr(model, "steps", None)
    if steps is None:
        return model, X
    for _, step in steps[:-1]:
        if step is None or step == "passthrough":
            continue
        if (
            type(step).__module__.split(".")[0] != "sklearn"
            or type(step).__name__ not in _ROW_BY_ROW
        ):
            return None, X
        X = step.transform(X)
    return steps[-1][1], X


def _round_up(value: float) -> float:
    """Return the next number of one digit: what is assumed of a population is a round number.

    Of all tables of a population only those count whose round number bounds it, and these have
    one and the same.
    """
    if value <= 0:
        return 1.0
    exact = Decimal(value * (1 - 1e-9))
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted()), rounding=ROUND_CEILING))


def _our_run(model: Any, X: Any, y: np.ndarray) -> _Run | None:
    if model.learner != "gradient-descent" or model.step == "adagrad":
        return None
    n_passes, rest = divmod(int(model.state_["clock"][0]), len(y))
    if rest or not n_passes:
        return None
    first = {"classes": model.classes_} if hasattr(model, "classes_") else {}
    repeated = _repeat(model, X, y, n_passes, model.n_passes, first)
    if repeated is None:
        return None
    eta, constant = float(model.eta), model.step == "constant"
    return _Run(
        loss=model.loss,
        step_at=lambda t: np.full(len(t), eta) if constant else eta / np.sqrt(t),
        n_passes=n_passes,
        stopped=False,
        penalty=float(model.alpha),
        averaging=bool(model.averaging),
        radius=math.inf if model.radius is None else float(model.radius),
        repeated=repeated,
    )


_THEIR_LOSSES = {
    "log_loss": "logistic",
    "squared_error": "half_square",
    "squared_hinge": "squared_hinge",
    "modified_huber": "modified_huber",
    "huber": "huber",
}


def _their_run(model: Any, X: Any, y: np.ndarray) -> _Run | None:
    if type(model).__name__ not in ("SGDClassifier", "SGDRegressor"):
        return None
    # A stop on rows set aside, an L1 penalty and an average that starts late are other learners.
    if model.early_stopping or model.penalty not in ("l2", None) or model.warm_start:
        return None
    if model.loss not in _THEIR_LOSSES or model.average not in (False, True):
        return None
    step_at = _their_steps(model)
    n_passes, rest = divmod(int(model.t_) - 1, len(y))
    if step_at is None or rest or not n_passes:
        return None
    first = {"classes": model.classes_} if hasattr(model, "classes_") else {}
    repeated = _repeat(model, X, y, n_passes, n_passes, first)
    if repeated is None:
        return None
    return _Run(
        loss=_THEIR_LOSSES[model.loss],
        step_at=step_at,
        n_passes=n_passes,
        stopped=model.tol is not None and model.max_iter > 1,
        penalty=float(model.alpha) if model.penalty == "l2" else 0.0,
        averaging=bool(model.average),
        radius=math.inf,
        repeated=repeated,
        epsilon=float(model.epsilon),
    )


def _their_steps(model: Any) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return the schedule of a model of scikit-learn, unless it looks at the rows."""
    eta, power, alpha = float(model.eta0), float(model.power_t), float(model.alpha)
    if model.learning_rate == "constant":
        return lambda t: np.full(len(t), eta)
    if model.learning_rate == "invscaling":
        return lambda t: eta / t**power
    if model.learning_rate == "optimal":
        # All slopes at a wrong score are negative: the first step is a power of alpha.
        return lambda t: 1 / (alpha**0.25 + alpha * (t - 1))
    return None


def _repeat(
    model: Any, X: Any, y: np.ndarray, n_passes: int, wanted: int, first: dict[str, Any]
) -> bool | None:
    """Tell whether a repeated run gives the same model; None if it gives another one.

    False means that nobody can know: the seed of a shuffled run was not kept.
    """
    hidden = model.shuffle and not isinstance(model.random_state, int | np.integer)
    again = []
    if n_passes == wanted and not hidden:
        again.append(lambda: clone(model).fit(X, y))
    if n_passes == 1:
        again.append(lambda: clone(model).partial_fit(X, y, **first))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as that the run did not converge
        for make in again:
            other = make()
            same = np.array_equal(other.coef_, model.coef_)
            if same and np.array_equal(other.intercept_, model.intercept_):
                return True
    return False if hidden and n_passes == wanted else None


class _Distances(NamedTuple):
    """How far rows can move the weights: what the bound needs of n of them."""

    total: float
    squares: float
    reach: float  # largest length that the weights can have in the end


def _distances(found: _Rows, n: int) -> _Distances | None:
    """Bound what n rows do; None if no theorem covers such steps."""
    run, free = found.run, bool(found.model.fit_intercept)
    loss = _loss(run.loss, found.largest, run.epsilon)
    if loss is None:
        return None
    steps = run.step_at(np.arange(1.0, run.n_passes * n + 1))
    square = _squared_length(found)
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


def _squared_length(found: _Rows) -> float:
    return found.length**2 + (1.0 if found.model.fit_intercept else 0.0)


def _gap(moved: _Distances, n: int, lipschitz: float, delta: float, high: float) -> float:
    """Return stability_bound at the distances times a Lipschitz constant, from their sums."""
    squares = (2 * lipschitz) ** 2 * moved.squares + 4 * lipschitz * moved.total * high / n
    tail = math.sqrt((squares + high**2 / n) * math.log(1 / delta) / 2)
    return lipschitz * moved.total / n + tail


def _spread(moved: _Distances, n: int, rows: int) -> _Distances:
    """Return the distances of a run on more rows, in smaller steps of the same sum.

    The weights go as far, and each row moves them less.
    """
    return moved._replace(squares=moved.squares * n / rows)


def _share(run: _Run, delta: float) -> float:
    # If the losses decided when to stop, all numbers of passes are paid for.
    return 6 * delta / (math.pi * run.n_passes) ** 2 if run.stopped else delta


def _is_run(evidence: Evidence) -> bool:
    return _rows(evidence) is not None


@register_theorem("theory.sgd-stability", needs="seen", applies=_is_run)
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
    found = _rows(evidence)
    assert found is not None
    if evidence.kind == "classifier":
        yield _about_errors(evidence, found, confidence)
    else:
        yield _about_distances(evidence, found, confidence)


def _assumptions(found: _Rows, *, targets: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    size = f"Rows have length at most {format_number(found.length)}"
    if targets:
        size += f" and targets lie between {-found.largest:g} and {found.largest:g}"
    known = _REPEATED if found.run.repeated else _BELIEVED
    lines = (f"{size}, in the whole population.", _FIXED, known)
    return lines, (known,) if found.run.repeated else ()


def _about_errors(evidence: Evidence, found: _Rows, level: float) -> Certificate:
    assert evidence.losses is not None
    n, model = len(evidence.y), found.model
    scores = found.table @ np.ravel(model.coef_) + float(np.ravel(model.intercept_)[0])
    margins = _signs(evidence) * scores
    ramps = [float(np.clip(1 - margins / 2.0**j, 0, 1).mean()) for j in _EXPONENTS]
    length = math.sqrt(_squared_length(found))
    share = _share(found.run, 1 - level)

    moved = _distances(found, n)
    assert moved is not None

    def bound_at(rows: int) -> tuple[float, int]:
        spread = _spread(moved, n, rows)
        values = [
            ramp + _gap(spread, rows, length / 2.0**j, 6 * share / (math.pi * place) ** 2, 1.0)
            for place, (j, ramp) in enumerate(zip(_EXPONENTS, ramps), start=1)
        ]
        best = int(np.argmin(values))
        return values[best], best

    value, best = bound_at(n)
    bound, error = min(1.0, value), float(np.mean(evidence.losses))
    note = f", with a mean ramp loss of {format_number(ramps[best])} at margin "
    note = "" if bound >= 1 else f"{note}{2.0 ** _EXPONENTS[best]:g}"
    assumptions, checked = _assumptions(found, targets=False)
    return Certificate(
        claim=Quantity().claim(bound),
        quantity=Quantity().name,
        empirical=error,
        bound=bound,
        confidence=level,
        theorem="theory.sgd-stability",
        n_samples=n,
        observed=f"{Quantity().observed(error, n)}{note}",
        assumptions=assumptions,
        checked=checked,
        vacuous=bound >= 1,
        rows_missing=rows_missing(n, lambda rows: bound_at(rows)[0]),
        recompute=lambda other: _about_errors(evidence, found, other),
    )


def _about_distances(evidence: Evidence, found: _Rows, level: float) -> Certificate:
    assert evidence.errors is not None
    n, length = len(evidence.y), math.sqrt(_squared_length(found))
    share = _share(found.run, 1 - level)
    declared = evidence.losses if evidence.quantity is not None else None
    losses = evidence.errors if declared is None else declared
    mean = float(np.mean(losses))

    moved = _distances(found, n)
    assert moved is not None
    high = found.largest + length * moved.reach
    if evidence.quantity is not None:
        high = min(high, evidence.quantity.high)

    def bound_at(rows: int) -> float:
        return mean + _gap(_spread(moved, n, rows), rows, length, share, high)

    bound = min(high, bound_at(n))
    quantity = evidence.quantity or Quantity("mean absolute error", 0, high, None)
    assumptions, checked = _assumptions(found, targets=True)
    return Certificate(
        claim=quantity.claim(bound),
        quantity=quantity.name,
        empirical=mean,
        bound=bound,
        confidence=level,
        theorem="theory.sgd-stability",
        n_samples=n,
        observed=quantity.observed(mean, n),
        assumptions=assumptions,
        checked=checked,
        vacuous=bound >= high,
        rows_missing=rows_missing(n, lambda rows: bound_at(rows) / high),
        recompute=lambda other: _about_distances(evidence, found, other),
    )
