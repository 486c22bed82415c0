"""Empirical risk minimisation by exact search.

Finite classes are searched by enumeration under any loss. Three classes with infinitely many
members, thresholds, intervals and axis-aligned rectangles, are searched exactly under the
zero-one loss: a sample tells only finitely many of their members apart.

Ties. The first hypothesis of a finite class wins. Thresholds prefer the direction +1 and then
the smallest threshold. Intervals and rectangles prefer the empty one; among others that are
equally good the choice is arbitrary but fixed: it depends on the rows alone, not on their order.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from corollary.risk._records import FiniteMinimum
from corollary.risk.losses.loss import LossLike, sign
from corollary.risk.losses.margin import check_signs
from corollary.risk.minimise.learner import as_predictor
from corollary.risk.risks.empirical import check_weights, empirical_risk


class Threshold(NamedTuple):
    """A threshold classifier ``sign(direction * (x - threshold))`` of one number.

    Parameters
    ----------
    threshold : float
        Where the label changes; infinite for a constant label.
    direction : int
        +1 if the label is +1 from the threshold upwards, -1 if it is +1 up to the threshold.
    risk : float
        Its empirical zero-one risk.

    Examples
    --------
    >>> from corollary.risk import Threshold
    >>> Threshold(0.5, -1, 0.0).predict([0.0, 0.5, 1.0])
    array([ 1,  1, -1])
    """

    threshold: float
    direction: int
    risk: float

    def predict(self, x: Any) -> np.ndarray:
        """Predict labels.

        Parameters
        ----------
        x : array-like of shape (n_samples,) or (n_samples, 1)
            One number for each row.

        Returns
        -------
        label : ndarray of shape (n_samples,)
            -1 or +1.
        """
        return sign(self.direction * (np.asarray(x, dtype=float).ravel() - self.threshold))


class Rectangle(NamedTuple):
    """A classifier with the label +1 inside a closed axis-aligned box and -1 outside.

    Parameters
    ----------
    lower : ndarray of shape (n_features,)
        Lower ends; plus infinity for the empty box.
    upper : ndarray of shape (n_features,)
        Upper ends; minus infinity for the empty box.
    risk : float
        Its empirical zero-one risk.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.risk import Rectangle
    >>> Rectangle(np.zeros(2), np.ones(2), 0.0).predict([[0.5, 1.0], [0.5, 2.0]])
    array([ 1, -1])
    """

    lower: np.ndarray
    upper: np.ndarray
    risk: float

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs; a vector is read as one feature.

        Returns
        -------
        label : ndarray of shape (n_samples,)
            +1 inside the box and on its border, -1 outside.
        """
        X = np.asarray(X, dtype=float)
        X = X.reshape(-1, 1) if X.ndim == 1 else X
        return np.where(np.all((self.lower <= X) & (self.upper >= X), axis=1), 1, -1)


def minimise_finite(
    hypotheses: Sequence[Any],
    X: Any,
    y: Any,
    loss: LossLike = "zero_one",
    *,
    sample_weight: Any = None,
) -> FiniteMinimum:
    """Find the hypothesis with the smallest empirical risk by trying all.

    Parameters
    ----------
    hypotheses : sequence of callables or fitted estimators
        The class; each maps X to predictions.
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Truths.
    loss : str, Loss or callable, default="zero_one"
        ``loss(y_true, prediction)``, entry by entry.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights.

    Returns
    -------
    minimum : FiniteMinimum
        The first hypothesis that attains the smallest risk.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.risk import minimise_finite
    >>> constants = [lambda X, c=c: np.full(len(X), c) for c in (0.0, 1.0, 2.0)]
    >>> minimum = minimise_finite(constants, np.zeros((3, 1)), [1.0, 1.5, 0.8], "square")
    >>> minimum.position, round(minimum.risk, 4)
    (1, 0.0967)
    """
    if len(hypotheses) == 0:
        raise ValueError("minimise_finite needs at least one hypothesis. Got an empty class.")
    risks = np.array(
        [
            empirical_risk(y, as_predictor(h)(X), loss, sample_weight=sample_weight)
            for h in hypotheses
        ]
    )
    best = int(risks.argmin())
    return FiniteMinimum(best, hypotheses[best], float(risks[best]), risks)


def minimise_threshold(
    x: Any, y: Any, *, direction: Literal[1, -1] | None = None, sample_weight: Any = None
) -> Threshold:
    """Find the threshold classifier with the fewest mistakes, in O(n log n).

    Parameters
    ----------
    x : array-like of shape (n_samples,)
        One number for each row.
    y : array-like of shape (n_samples,)
        Labels -1 and +1.
    direction : {1, -1} or None, default=None
        +1 for the class of thresholds with the label +1 from the threshold upwards, -1 for that
        with +1 up to it: both have VC dimension 1 and n + 1 labellings of n numbers. None searches
        both at once, of VC dimension 2 and with 2 n labellings.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights.

    Returns
    -------
    threshold : Threshold
        Exact minimiser; thresholds lie half-way between neighbouring values.

    See Also
    --------
    corollary.theory.threshold_growth : The number of labellings of one direction.

    Examples
    --------
    >>> from corollary.risk import minimise_threshold
    >>> minimise_threshold([1.0, 2.0, 3.0, 4.0], [-1, -1, 1, 1])
    Threshold(threshold=2.5, direction=1, risk=0.0)
    >>> minimise_threshold([1.0, 2.0, 3.0, 4.0], [-1, -1, 1, 1], direction=-1)
    Threshold(threshold=-inf, direction=-1, risk=0.5)
    """
    if direction not in (None, 1, -1):
        raise ValueError(
            "The 'direction' parameter of minimise_threshold must be 1, -1 or None. "
            f"Got {direction!r} instead."
        )
    x, signed, total = _signed_weights("minimise_threshold", x, y, sample_weight)
    order = np.argsort(x, kind="stable")
    values, first = np.unique(x[order], return_index=True)
    # below[k]: signed weight of the rows under the k-th cut, cuts lying before each distinct
    # value and after the last; predicting -1 there and +1 above gains
    # `total signed weight - 2 * below`. Two directions need no cut after the last.
    below = np.concatenate([[0.0], np.cumsum(signed[order])])[np.append(first, len(x))]
    gains = signed.sum() - 2 * below
    cuts = np.concatenate([[-np.inf], values[:-1] / 2 + values[1:] / 2, [np.inf]])
    if direction is None:
        gains, cuts = gains[:-1], cuts[:-1]
    tie = 1e-12 * total
    up = int((gains >= gains.max() - tie).argmax())
    down = int((gains <= gains.min() + tie).argmax())
    # The midpoint of neighbouring floats rounds onto one of them. A row on the threshold gets
    # the label +1, so it must then lie on the side that wants it.
    if direction == 1 or (direction is None and gains[up] >= -gains[down] - tie):
        cut = cuts[up] if up == 0 or cuts[up] > values[up - 1] else values[up]
        return Threshold(float(cut), 1, _risk_of_gain(gains[up], total))
    ends = (0, len(values))
    cut = cuts[down] if down in ends or cuts[down] < values[down] else values[down - 1]
    return Threshold(float(cut), -1, _risk_of_gain(-gains[down], total))


def minimise_interval(x: Any, y: Any, *, sample_weight: Any = None) -> Rectangle:
    """Find the closed interval with the fewest mistakes, in O(n log n).

    Parameters
    ----------
    x : array-like of shape (n_samples,)
        One number for each row.
    y : array-like of shape (n_samples,)
        Labels: +1 wanted inside the interval, -1 outside.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights.

    Returns
    -------
    interval : Rectangle
        Exact minimiser, as a box with one feature; its ends are values of positive rows.

    Examples
    --------
    >>> from corollary.risk import minimise_interval
    >>> interval = minimise_interval([0.0, 1.0, 2.0, 3.0], [-1, 1, 1, -1])
    >>> interval.lower, interval.upper, interval.risk
    (array([1.]), array([2.]), 0.0)
    """
    return minimise_rectangle(
        np.asarray(x, dtype=float).reshape(-1, 1), y, sample_weight=sample_weight
    )


def minimise_rectangle(X: Any, y: Any, *, sample_weight: Any = None) -> Rectangle:
    """Find the axis-aligned box with the fewest mistakes.

    The last feature is searched in linear time, every other one by all pairs of its positive
    values: with p positive rows the cost grows as ``p^(2 (n_features - 1)) * n``, less where
    pairs can be skipped because even all of their positive rows would not improve on the best
    box so far. Agnostic learning of boxes is hard in high dimension; use few features.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Labels: +1 wanted inside the box, -1 outside.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights.

    Returns
    -------
    rectangle : Rectangle
        Exact minimiser. The box is tight: its ends are values of positive rows.

    Examples
    --------
    >>> from corollary.risk import minimise_rectangle
    >>> X = [[0, 0], [1, 1], [2, 1], [3, 3]]
    >>> box = minimise_rectangle(X, [-1, 1, 1, -1])
    >>> box.lower, box.upper, box.risk
    (array([1., 1.]), array([2., 1.]), 0.0)
    """
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or X.shape[1] == 0 or not np.isfinite(X).all():
        raise ValueError(
            "minimise_rectangle needs finite X of shape (n_samples, n_features). "
            f"Got shape {X.shape}."
        )
    _, signed, total = _signed_weights("minimise_rectangle", X[:, 0], y, sample_weight)
    n_features = X.shape[1]
    empty = (0.0, np.full(n_features, np.inf), np.full(n_features, -np.inf))
    gain, lower, upper = _best_box(X, signed, empty, (), (), 1e-12 * total)
    # Mistakes of the empty box are all positives; a box saves the signed weight inside it.
    mistakes = max(signed[signed > 0].sum() - gain, 0.0)
    return Rectangle(lower, upper, float(mistakes / total))


def _best_box(
    X: np.ndarray, signed: np.ndarray, best: tuple, lower: tuple, upper: tuple, tie: float
) -> tuple:
    """Improve on the best box so far, with the ends of the first features given."""
    feature = len(lower)
    # Ends at positive rows suffice: shrinking a box to its positive rows never costs anything.
    values = np.unique(X[signed > 0, feature])
    if values.size == 0:
        return best
    if feature == X.shape[1] - 1:
        return _best_interval(X[:, feature], signed, values, best, lower, upper, tie)
    for i, low in enumerate(values):
        above = X[:, feature] >= low
        for high in values[i:][::-1]:
            inside = above & (X[:, feature] <= high)
            weights = signed[inside]
            # Boxes only shrink from here on: all positives inside are the most it could gain.
            if weights[weights > 0].sum() <= best[0] + tie:
                break
            best = _best_box(X[inside], weights, best, (*lower, low), (*upper, high), tie)
    return best


def _best_interval(
    x: np.ndarray,
    signed: np.ndarray,
    values: np.ndarray,
    best: tuple,
    lower: tuple,
    upper: tuple,
    tie: float,
) -> tuple:
    """Find the best interval of the last feature: a largest difference of cumulative weights."""
    cumulated = np.concatenate([[0.0], np.cumsum(signed[np.argsort(x, kind="stable")])])
    ordered = np.sort(x)
    before = cumulated[np.searchsorted(ordered, values, side="left")]
    through = cumulated[np.searchsorted(ordered, values, side="right")]
    smallest = np.minimum.accumulate(before)
    end = int((through - smallest).argmax())
    gain = through[end] - smallest[end]
    if gain <= best[0] + tie:
        return best
    start = int(before[: end + 1].argmin())
    return (
        float(gain),
        np.array([*lower, values[start]]),
        np.array([*upper, values[end]]),
    )


def _risk_of_gain(gain: float, total: float) -> float:
    # gain = right weight - wrong weight
    return float(np.clip((total - gain) / (2 * total), 0.0, 1.0))


def _signed_weights(
    name: str, x: Any, y: Any, sample_weight: Any
) -> tuple[np.ndarray, np.ndarray, float]:
    x, y = np.asarray(x, dtype=float), check_signs(name, y)
    if x.ndim != 1 or x.shape != y.shape or x.size == 0 or not np.isfinite(x).all():
        raise ValueError(
            f"{name} needs finite values and as many labels, at least one. "
            f"Got shapes {x.shape} and {y.shape}."
        )
    weight = check_weights(name, sample_weight, len(y))
    signed = y if weight is None else y * weight
    return x, signed, float(np.abs(signed).sum())
