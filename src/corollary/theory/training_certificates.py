r"""Certificates of linear and kernel classifiers from their own training rows.

Three theorems hold at once for every linear classifier, so that it does not matter how its weights
were found, nor whether a penalty was tuned on the same rows: the VC bound, which counts columns;
the margin bound, which counts rows close to the plane; and a PAC-Bayes bound, which asks how much
noise the weights bear. A kernel that was fixed beforehand gets the margin bound.
"""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from corollary.theory.certificate import Certificate, Quantity, format_number, format_share
from corollary.theory.kl_inverse import kl_upper_inverse
from corollary.theory.margin import margin_mistakes
from corollary.theory.norm_balls import kernel_ball_bound
from corollary.theory.rademacher import rademacher_bound
from corollary.theory.theorem import Evidence, register_theorem
from corollary.theory.vc import vc_bound

# Maps of columns that are affine whatever was learnt: a plane behind one is a plane before it.
_AFFINE = {
    *("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"),
    *("PCA", "TruncatedSVD", "VarianceThreshold", "SelectKBest", "SelectPercentile"),
}
# Tables with more cells than this are not copied to be certified.
_LARGEST_TABLE = 2 * 10**8
# Levels 2^j at which the margin bound is evaluated, in the order in which they are paid for.
_EXPONENTS = sorted(range(-24, 25), key=lambda j: (abs(j), j > 0))
# Lengths of the centre of the randomised classifier, in units of the noise.
_LENGTHS = np.geomspace(0.05, 500.0, 61)


class LinearRule(NamedTuple):
    """A plane in the columns of a table.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        Its normal vector, in the units of the table.
    intercept : float
        Its offset.
    rows : ndarray of shape (n_samples, n_features)
        The table.
    signs : ndarray of shape (n_samples,)
        Targets, -1 for the first class and 1 for the second.
    affine : bool
        Whether an offset was allowed for.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory.training_certificates import LinearRule
    >>> LinearRule(np.ones(1), -1.0, np.ones((1, 1)), np.ones(1), True).intercept
    -1.0
    """

    weights: np.ndarray
    intercept: float
    rows: np.ndarray
    signs: np.ndarray
    affine: bool


def linear_rule(evidence: Evidence) -> LinearRule | None:
    """Read a classifier of two classes as a plane in the given columns.

    Parameters
    ----------
    evidence : Evidence
        A model and its training rows. The model may be a search over parameters, or a pipeline
        whose first steps are affine maps (scalers, principal components, choices of columns).

    Returns
    -------
    rule : LinearRule or None
        None if the model is not such a classifier, or predicts other labels than the plane.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from corollary.theory import Evidence, Quantity
    >>> from corollary.theory.training_certificates import linear_rule
    >>> X, y = np.array([[-1.0], [-2.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> model = LogisticRegression().fit(X, y)
    >>> evidence = Evidence(
    ...     model, X, y, model.predict(X), "classifier", losses=np.zeros(4), quantity=Quantity()
    ... )
    >>> rule = linear_rule(evidence)
    >>> rule.weights.shape, rule.affine
    ((1,), True)
    """
    if not _is_error_of_two_classes(evidence):
        return None
    rows = _table(evidence.X)
    if rows is None:
        return None
    searched = hasattr(evidence.model, "best_estimator_")
    model = evidence.model.best_estimator_ if searched else evidence.model
    found = _plane(model, rows.shape[1])
    if found is None:
        return None
    weights, intercept, affine = found
    affine = affine or searched  # whether there is an offset may have been searched for, too
    if weights.shape != (rows.shape[1],) or not np.isfinite(weights).all():
        return None
    if not _agrees(evidence, rows @ weights + intercept):
        return None
    return LinearRule(weights, intercept, rows, _signs(evidence), affine)


def _is_error_of_two_classes(evidence: Evidence) -> bool:
    return (
        evidence.kind == "classifier"
        and evidence.losses is not None
        and evidence.quantity == Quantity()
        and evidence.y.ndim == 1
        and len(getattr(evidence.model, "classes_", ())) == 2
    )


def _signs(evidence: Evidence) -> np.ndarray:
    # A label that the model does not know is an error on either side; its row counts as wrong.
    second = evidence.y == evidence.model.classes_[1]
    signs = np.where(second, 1.0, -1.0)
    unknown = ~second & (evidence.y != evidence.model.classes_[0])
    predicted = np.where(evidence.prediction == evidence.model.classes_[1], 1.0, -1.0)
    return np.where(unknown, -predicted, signs)


def _table(X: Any) -> np.ndarray | None:
    if math.prod(np.shape(X)) > _LARGEST_TABLE:
        return None
    try:
        rows = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return rows if rows.ndim == 2 and np.isfinite(rows).all() else None


def _plane(model: Any, n_features: int) -> tuple[np.ndarray, float, bool] | None:
    steps = getattr(model, "steps", None)
    if steps is None:
        return _own_plane(model)
    matrix, offset = np.eye(n_features), np.zeros((1, n_features))
    for _, step in steps[:-1]:
        if step is None or step == "passthrough":
            continue
        own = type(step).__module__.split(".")[0] in ("sklearn", "corollary")
        if not own or type(step).__name__ not in _AFFINE or getattr(step, "clip", False):
            return None
        with warnings.catch_warnings():
            # The images of the axes have no column names.
            warnings.simplefilter("ignore")
            width = matrix.shape[1]
            try:
                base = _dense(step.transform(np.zeros((1, width))))
                linear = _dense(step.transform(np.eye(width))) - base
            except (TypeError, ValueError):
                return None
        matrix, offset = matrix @ linear, offset @ linear + base
    found = _own_plane(steps[-1][1])
    if found is None or len(found[0]) != matrix.shape[1]:
        return None
    weights, intercept, _ = found
    return matrix @ weights, intercept + float(offset[0] @ weights), True


def _own_plane(model: Any) -> tuple[np.ndarray, float, bool] | None:
    coef = getattr(model, "coef_", None)
    if coef is None and getattr(model, "kernel", None) == "linear":
        coef = _dense(model.dual_coef_) @ _dense(model.support_vectors_)
    if coef is None or not hasattr(model, "intercept_"):
        return None
    weights, intercept = np.atleast_2d(_dense(coef)), np.ravel(model.intercept_)
    if len(weights) != 1 or len(intercept) != 1:
        return None
    affine = getattr(model, "fit_intercept", True) is not False or intercept[0] != 0
    return weights[0].astype(float), float(intercept[0]), affine


def _dense(matrix: Any) -> np.ndarray:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, dtype=np.float64)


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


def _scores(evidence: Evidence) -> _Scores | None:
    rule = linear_rule(evidence)
    if rule is not None:
        norm = math.hypot(float(np.linalg.norm(rule.weights)), rule.intercept)
        if norm == 0:
            return None
        margins = rule.signs * (rule.rows @ rule.weights + rule.intercept) / norm
        return _Scores(margins, (rule.rows**2).sum(axis=1) + 1.0, False, False)
    return _kernel_scores(evidence)


def _kernel_scores(evidence: Evidence) -> _Scores | None:
    model = evidence.model
    kernel = getattr(model, "kernel", None)
    # A width taken from the rows makes the space depend on them; a sigmoid spans none.
    if not isinstance(kernel, str) or kernel not in ("rbf", "poly"):
        return None
    if isinstance(model.gamma, str) and model.gamma != "auto":
        return None
    if not _is_error_of_two_classes(evidence) or not hasattr(model, "dual_coef_"):
        return None
    rows = _table(evidence.X)
    if rows is None or len(rows) * len(model.support_vectors_) > _LARGEST_TABLE:
        return None
    from sklearn.metrics.pairwise import pairwise_kernels

    gamma = 1 / rows.shape[1] if model.gamma == "auto" else model.gamma
    settings = {"gamma": gamma, "degree": model.degree, "coef0": model.coef0}
    gram = partial(pairwise_kernels, metric=kernel, filter_params=True, **settings)
    vectors, dual = _dense(model.support_vectors_), _dense(model.dual_coef_)
    intercept = np.ravel(model.intercept_)
    if dual.shape != (1, len(vectors)) or len(intercept) != 1:
        return None
    scores = gram(rows, vectors) @ dual[0] + intercept[0]
    given = np.ravel(model.decision_function(evidence.X))
    if not np.allclose(scores, given, rtol=1e-6, atol=1e-6 * (1 + np.abs(scores).max())):
        return None
    square = float(dual[0] @ gram(vectors, vectors) @ dual[0]) + float(intercept[0]) ** 2
    if not square > 0:
        return None
    if kernel == "rbf":
        squares = np.ones(len(rows))
    else:
        squares = (gamma * (rows**2).sum(axis=1) + model.coef0) ** model.degree
        if model.coef0 < 0 or not np.all(squares >= 0):
            return None
    margins = _signs(evidence) * scores / math.sqrt(square)
    return _Scores(margins, squares + 1.0, kernel == "rbf", True)


def rows_missing(n_samples: int, bound_at: Callable[[int], float]) -> float:
    """Count the rows that a vacuous bound lacks if more of them look like those at hand."""
    if bound_at(n_samples) < 1:
        return 0
    low, high = n_samples, 2 * n_samples
    while bound_at(high) >= 1:
        low, high = high, 4 * high
        if high > 10**12:
            return math.inf
    # Three digits are enough, and the lower end is the honest one.
    while high - low > 1 + low // 1000:
        middle = (low + high) // 2
        low, high = (middle, high) if bound_at(middle) >= 1 else (low, middle)
    return low + 1 - n_samples


def _certificate(
    evidence: Evidence,
    level: float,
    bound_at: Callable[[int], float],
    *,
    theorem: str,
    note: str,
    assumptions: tuple[str, ...] = (),
    checked: tuple[str, ...] = (),
    name: str | None = None,
    claim: str | None = None,
    empirical: float | None = None,
) -> Certificate:
    assert evidence.losses is not None
    n, bound = len(evidence.y), min(1.0, bound_at(len(evidence.y)))
    error = float(np.mean(evidence.losses))
    quantity = Quantity()
    return Certificate(
        claim=claim or quantity.claim(bound),
        quantity=name or quantity.name,
        empirical=error if empirical is None else empirical,
        bound=bound,
        confidence=level,
        theorem=theorem,
        n_samples=n,
        observed=f"{quantity.observed(error, n)}{note}",
        assumptions=assumptions,
        checked=checked,
        vacuous=bound >= 1,
        rows_missing=rows_missing(n, bound_at),
    )


_PLANE = "The classifier is a plane in its columns (checked on the rows)."


def _is_plane(evidence: Evidence) -> bool:
    return linear_rule(evidence) is not None


@register_theorem("theory.vc-bound", needs="seen", applies=_is_plane)
def certify_plane(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    """Certify a linear classifier by the VC dimension of planes."""
    rule = linear_rule(evidence)
    assert rule is not None
    assert evidence.losses is not None
    dimension = rule.rows.shape[1] + int(rule.affine)
    error = float(np.mean(evidence.losses))

    def at(level: float) -> Certificate:
        def bound_at(n: int) -> float:
            return error + vc_bound(n_samples=n, dimension=dimension, delta=1 - level)

        certificate = _certificate(
            evidence,
            level,
            bound_at,
            theorem="theory.vc-bound",
            note=f", with a VC dimension of {dimension}",
            assumptions=(_PLANE, "Its columns were chosen without these rows."),
            checked=(_PLANE,),
        )
        return _with(certificate, at)

    yield at(confidence)


def _has_margins(evidence: Evidence) -> bool:
    return _scores(evidence) is not None


@register_theorem("theory.margin-bound-uniform", needs="seen", applies=_has_margins)
def certify_margin(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    r"""Certify a linear or kernel classifier by its margins."""
    scores = _scores(evidence)
    assert scores is not None

    def at(level: float) -> Certificate:
        certificate = _certificate(
            evidence,
            level,
            partial(_margin_bound, scores, 1 - level),
            theorem="theory.margin-bound-uniform",
            note=f", with a median margin of {format_number(float(np.median(scores.margins)))}",
            assumptions=(
                ("The kernel and its parameters were chosen without these rows.",)
                if scores.kernel
                else (_PLANE, "Its columns and their units were chosen without these rows.")
            ),
            checked=() if scores.kernel else (_PLANE,),
        )
        return _with(certificate, at)

    yield at(confidence)


def _margin_bound(scores: _Scores, delta: float, n: int) -> float:
    present = len(scores.margins)
    complexity = kernel_ball_bound(scores.squares) * math.sqrt(present / n)
    best = 1.0
    for place, exponent in enumerate(_EXPONENTS, start=1):
        gamma, share = 2.0**exponent, 6 * delta / (math.pi * place) ** 2
        if 2 * complexity / gamma >= best:
            continue
        gap = rademacher_bound(
            complexity / gamma, n_samples=n, delta=share, empirical=not scores.fixed
        )
        best = min(best, margin_mistakes(scores.margins, gamma) + gap)
    return best


@register_theorem("theory.pac-bayes-gaussian", needs="seen", applies=_is_plane)
def certify_noisy_plane(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    r"""Certify a linear classifier by the noise that its weights bear."""
    rule = linear_rule(evidence)
    assert rule is not None
    whole = np.append(rule.weights, rule.intercept)
    lengths = np.sqrt((rule.rows**2).sum(axis=1) + 1.0)
    norm = float(np.linalg.norm(whole))
    if norm == 0:
        return
    angles = rule.signs * (rule.rows @ rule.weights + rule.intercept) / (norm * lengths)
    from scipy.special import ndtr

    risks = np.array([float(ndtr(-length * angles).mean()) for length in _LENGTHS])
    units = "Its columns and their units were chosen without these rows."

    def bounds(level: float, n: int) -> tuple[float, int]:
        # pac_bayes_kl_bound at all lengths together.
        price = (_LENGTHS**2 / 2 + math.log(2 * math.sqrt(n) / (1 - level))) / n
        values = kl_upper_inverse(risks, price)
        best = int(np.argmin(values))
        return float(values[best]), best

    def at(level: float) -> Certificate:
        best = bounds(level, len(rule.rows))[1]
        certificate = _certificate(
            evidence,
            level,
            lambda n: 2 * bounds(level, n)[0],
            theorem="theory.pac-bayes-gaussian",
            note=f", and {format_share(risks[best])} with noisy weights",
            assumptions=(_PLANE, units),
            checked=(_PLANE,),
        )
        return _with(certificate, at)

    def noisy_at(level: float) -> Certificate:
        bound, best = bounds(level, len(rule.rows))
        noise = format_number(norm / _LENGTHS[best])
        certificate = _certificate(
            evidence,
            level,
            lambda n: bounds(level, n)[0],
            theorem="theory.pac-bayes-gaussian",
            note=f" without noise, and {format_share(risks[best])} with it",
            name="error rate of the randomised classifier",
            claim=f"at most {format_share(min(1.0, bound))} of such rows are classified wrongly by "
            f"the model with Gaussian noise of standard deviation {noise} on every weight",
            empirical=float(risks[best]),
            assumptions=(_PLANE, units),
            checked=(_PLANE,),
        )
        return _with(certificate, noisy_at)

    yield at(confidence)
    yield noisy_at(confidence)


def _with(certificate: Certificate, recompute: Callable[[float], Certificate]) -> Certificate:
    return replace(certificate, recompute=recompute)
