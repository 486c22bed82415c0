"""Losses of labels and of class scores: zero-one, cost matrix, softmax cross-entropy."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from corollary.core.schema import Flag, List, Number, Plain, Schema
from corollary.risk.losses._checks import check_posterior, check_range, pair
from corollary.risk.losses.loss import Loss, sign
from corollary.risk.losses.margin import check_signs


@dataclass(frozen=True)
class ZeroOneLoss(Loss):
    """Zero-one loss: 1 for a mistake, 0 otherwise.

    Parameters
    ----------
    scores : bool, default=False
        Whether predictions are real scores whose sign is the label; the truths are then -1 and
        +1, and a score of exactly 0 is a mistake for -1 only. For labels -1 and +1 the loss is
        ``(1 - y * label) / 2``.

    Examples
    --------
    >>> from corollary.risk import ZeroOneLoss
    >>> ZeroOneLoss()(["cat", "dog"], ["cat", "cat"])
    array([0., 1.])
    >>> ZeroOneLoss(scores=True)([1, -1], [0.0, 0.0])
    array([0., 1.])
    """

    scores: bool = False
    name = "zero_one"
    _schema = Schema(scores=Flag())
    convex = False
    differentiable = False
    _advice = "Minimise a surrogate, for instance LogisticLoss."

    def value(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return 1 for every mistake."""
        y_true, prediction = pair("ZeroOneLoss", y_true, prediction)
        if self.scores:
            y_true, prediction = check_signs("ZeroOneLoss", y_true), sign(prediction)
        return np.asarray(y_true != prediction, dtype=float)

    def select(self, prediction: Any) -> np.ndarray:
        """Return the labels, or the signs of scores."""
        return sign(prediction) if self.scores else np.asarray(prediction)

    def minimiser(self, posterior: Any, outcomes: Any) -> np.ndarray:
        """Return the most probable label; the first one where several are.

        With ``scores`` a tie goes to +1, as ``sign(0)`` does.

        Parameters
        ----------
        posterior : array-like of shape (n_samples, n_outcomes)
            Probabilities of the labels.
        outcomes : array-like of shape (n_outcomes,)
            The labels.

        Returns
        -------
        label : ndarray of shape (n_samples,)
            The Bayes classifier's labels.
        """
        posterior, outcomes = check_posterior("ZeroOneLoss", posterior, outcomes)
        if self.scores:
            positive = posterior[:, check_signs("ZeroOneLoss", outcomes) > 0].sum(axis=1)
            return sign(2 * positive - 1)
        return outcomes[posterior.argmax(axis=1)]

    def upper_bound_on(self, low: float = -np.inf, high: float = np.inf) -> float:
        """Return 1."""
        check_range("ZeroOneLoss", low, high)
        return 1.0


@dataclass(frozen=True)
class CostLoss(Loss):
    """Loss of labels given by a matrix of costs.

    Parameters
    ----------
    costs : array-like of shape (n_classes, n_classes)
        ``costs[i][j]`` is the cost of predicting class j when class i is true (rows are truths,
        columns predictions, as in a confusion matrix).
    classes : array-like of shape (n_classes,)
        The labels, in the order of rows and columns.

    Examples
    --------
    >>> from corollary.risk import CostLoss
    >>> loss = CostLoss([[0, 1], [10, 0]], ["healthy", "ill"])
    >>> loss(["ill", "ill", "healthy"], ["healthy", "ill", "ill"])
    array([10.,  0.,  1.])
    """

    costs: Any
    classes: Any
    convex = False
    differentiable = False
    _advice = "Its predictions are labels: estimate probabilities, decide by CostLoss.minimiser."
    _schema = Schema(costs=List(List(Number(), "k"), "k"), classes=List(Plain(), "k"))

    def __post_init__(self) -> None:
        matrix, classes = np.asarray(self.costs, dtype=float), np.asarray(self.classes)
        if classes.ndim != 1 or matrix.shape != (classes.size, classes.size):
            raise ValueError(
                "CostLoss needs one row and one column of costs for each class. "
                f"Got costs of shape {matrix.shape} and {classes.size} classes."
            )
        if np.unique(classes).size != classes.size or not np.isfinite(matrix).all():
            raise ValueError("CostLoss needs finite costs and distinct classes.")
        # Tuples make the loss hashable and comparable.
        object.__setattr__(self, "costs", tuple(map(tuple, matrix.tolist())))
        object.__setattr__(self, "classes", tuple(classes.tolist()))

    @cached_property
    def _matrix(self) -> np.ndarray:
        return np.asarray(self.costs)

    def _codes(self, labels: np.ndarray) -> np.ndarray:
        classes = np.asarray(self.classes)
        order = np.argsort(classes)
        place = np.minimum(np.searchsorted(classes[order], labels), classes.size - 1)
        codes = order[place]
        if not np.all(classes[codes] == labels):
            unknown = np.setdiff1d(labels, classes)[:5].tolist()
            raise ValueError(f"CostLoss knows the classes {list(self.classes)}. Got {unknown}.")
        return codes

    def value(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return the cost of every prediction."""
        y_true, prediction = pair("CostLoss", y_true, prediction)
        return self._matrix[self._codes(y_true), self._codes(prediction)]

    def minimiser(self, posterior: Any, outcomes: Any) -> np.ndarray:
        """Return the label with the smallest expected cost.

        Where several are optimal the last class wins: with two classes, the positive one.

        Parameters
        ----------
        posterior : array-like of shape (n_samples, n_outcomes)
            Probabilities of the labels.
        outcomes : array-like of shape (n_outcomes,)
            The labels of the columns.

        Returns
        -------
        label : ndarray of shape (n_samples,)
            The Bayes-optimal labels.
        """
        posterior, outcomes = check_posterior("CostLoss", posterior, outcomes)
        expected = posterior @ self._matrix[self._codes(outcomes)]
        reverse = expected[:, ::-1].argmin(axis=1)
        return np.asarray(self.classes)[expected.shape[1] - 1 - reverse]

    def upper_bound_on(self, low: float = -np.inf, high: float = np.inf) -> float:
        """Return the largest cost."""
        check_range("CostLoss", low, high)
        return float(self._matrix.max())


@dataclass(frozen=True)
class CrossEntropyLoss(Loss):
    """Softmax cross-entropy ``log sum_k exp(score_k) - score_y``.

    The negative log-likelihood of ``P(y = k | x)`` proportional to ``exp(score_k)``. It does not
    change when one number is added to all scores of a row; for two classes it is the logistic
    loss of the difference of the scores.

    Examples
    --------
    >>> from corollary.risk import CrossEntropyLoss
    >>> CrossEntropyLoss()([0, 2], [[0.0, 0.0, 0.0], [0.0, 0.0, 900.0]]).round(4)
    array([1.0986, 0.    ])
    """

    name = "cross_entropy"
    _schema = Schema()

    def terms_of_scores(self, y_true: Any, prediction: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return losses and softmax probabilities, from one exponential.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Class numbers 0, 1, ....
        prediction : array-like of shape (n_samples, n_classes)
            Scores.

        Returns
        -------
        losses : ndarray of shape (n_samples,)
            ``log sum_k exp(score_k) - score_y``.
        probabilities : ndarray of shape (n_samples, n_classes)
            ``p``; the slope is p minus the indicator of the true class, and the matrix of second
            derivatives ``diag(p) - p p'``.
        """
        y, score = _codes_and_scores(y_true, prediction)
        top = score.max(axis=1, keepdims=True)
        p = np.exp(score - top)  # never overflows
        total = p.sum(axis=1, keepdims=True)
        p /= total
        return np.log(total[:, 0]) + (top[:, 0] - score[np.arange(len(y)), y]), p

    def value(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return the loss of every row of scores."""
        return self.terms_of_scores(y_true, prediction)[0]

    def slope(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return softmax probabilities minus the indicator of the true class."""
        slope = self.terms_of_scores(y_true, prediction)[1]
        slope[np.arange(len(slope)), np.asarray(y_true, dtype=np.intp)] -= 1
        return slope

    def curvature(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return ``p (1 - p)`` for softmax probabilities p: the diagonal of ``diag(p) - p p'``."""
        p = self.terms_of_scores(y_true, prediction)[1]
        return p * (1 - p)

    def select(self, prediction: Any) -> np.ndarray:
        """Return the class with the largest score, the first one where several are."""
        return np.asarray(prediction).argmax(axis=1)

    def minimiser(self, posterior: Any, outcomes: Any) -> np.ndarray:
        """Return the logarithms of the probabilities.

        Parameters
        ----------
        posterior : array-like of shape (n_samples, n_outcomes)
            Probabilities of the classes.
        outcomes : array-like of shape (n_outcomes,)
            The class numbers 0, ..., n_outcomes - 1, in the order of the columns.

        Returns
        -------
        score : ndarray of shape (n_samples, n_outcomes)
            Optimal scores; column k belongs to class k.
        """
        posterior, outcomes = check_posterior("CrossEntropyLoss", posterior, outcomes)
        if not np.array_equal(np.sort(outcomes), np.arange(outcomes.size)):
            raise ValueError(
                "CrossEntropyLoss needs the outcomes 0, ..., n_outcomes - 1. "
                f"Got {outcomes[:5].tolist()}; encode the labels."
            )
        with np.errstate(divide="ignore"):
            return np.log(posterior[:, np.argsort(outcomes)])

    def lipschitz_on(self, low: float = -np.inf, high: float = np.inf) -> float:
        """Return the root of 2, the Lipschitz constant in the Euclidean norm of the scores."""
        check_range("CrossEntropyLoss", low, high)
        return float(np.sqrt(2))

    def smoothness_on(self, low: float = -np.inf, high: float = np.inf) -> float:
        """Return 1/2: no eigenvalue of ``diag(p) - p p'`` is larger."""
        check_range("CrossEntropyLoss", low, high)
        return 0.5


def _codes_and_scores(y_true: Any, prediction: Any) -> tuple[np.ndarray, np.ndarray]:
    y, score = np.asarray(y_true), np.asarray(prediction, dtype=float)
    if score.ndim != 2 or y.shape != score.shape[:1]:
        raise ValueError(
            "CrossEntropyLoss needs y_true of shape (n_samples,) and scores of shape "
            f"(n_samples, n_classes). Got shapes {y.shape} and {score.shape}."
        )
    whole = y.dtype.kind in "iu" or (y.dtype.kind == "f" and np.all(y == np.floor(y)))
    if not whole or not np.all((y >= 0) & (y < score.shape[1])):
        raise ValueError(
            f"CrossEntropyLoss needs class numbers 0, ..., {score.shape[1] - 1}. "
            f"Got {np.unique(y)[:5].tolist()}; encode the labels, for instance with LabelEncoder."
        )
    return y.astype(np.intp), score
