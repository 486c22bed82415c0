r"""Decision stumps: the classical weak learner on weighted rows.

A stump looks at one feature, :math:`h(x)=s\,\mathrm{sign}(x_j-t)`. Weighted rows
:math:`(x_i,y_i,D(i))` are its input, and it returns the h with the smallest weighted error
:math:`\varepsilon=\sum_iD(i)1\{h(x_i)\ne y_i\}` over all features, thresholds and signs, constants
included, so that :math:`\varepsilon\le\frac12` always. Columns are sorted once, after which one
pass of running sums finds the best cut: O(d n log n) in all, O(d n) for new weights.

Cuts lie half-way between neighbouring values; rows at the threshold belong to the upper side,
since sign(0) = +1. Among cuts that are equal to rounding the constant wins, then the first
feature, then the smallest threshold.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from corollary.core.estimator import Learner, ProbabilisticClassifier, Regressor, fitted
from corollary.core.schema import Array, Integer, Number
from corollary.ensemble._members import winners
from corollary.ensemble.stagewise._cuts import (
    Presorted,
    label_cut,
    leaf_weights,
    presort,
    square_cut,
)
from corollary.risk import check_signs, check_weights, sign


class Stump(NamedTuple):
    """A stump ``sign * sign(x[feature] - threshold)``.

    Parameters
    ----------
    feature : int
        Column it looks at.
    threshold : float
        Where the label changes; minus infinity for a constant label.
    sign : int
        Label from the threshold upwards, -1 or +1.
    error : float
        Weighted training error, as a share of the weight.

    Examples
    --------
    >>> from corollary.ensemble import Stump
    >>> Stump(0, 0.5, -1, 0.0).predict([[0.0], [0.5]])
    array([ 1, -1])
    """

    feature: int
    threshold: float
    sign: int
    error: float

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            -1 or +1.
        """
        return self.sign * sign(np.asarray(X, dtype=float)[:, self.feature] - self.threshold)


def best_stump(X: Any, y: Any, *, sample_weight: Any = None) -> Stump:
    """Find the stump with the smallest weighted error.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows, finite.
    y : array-like of shape (n_samples,)
        Labels -1 and +1.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights; None for equal ones.

    Returns
    -------
    stump : Stump
        The exact minimiser over all features, thresholds and signs.

    See Also
    --------
    StumpClassifier : The same for any labels, as an estimator.

    Examples
    --------
    >>> from corollary.ensemble import best_stump
    >>> best_stump([[1.0, 5.0], [2.0, 1.0], [3.0, 4.0]], [1, -1, -1])
    Stump(feature=0, threshold=1.5, sign=-1, error=0.0)
    """
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or 0 in X.shape or not np.isfinite(X).all():
        raise ValueError(
            "best_stump needs finite rows of shape (n_samples, n_features), at least one of each. "
            f"Got shape {X.shape}" + (" with NaN or infinity." if X.size else ".")
        )
    y = check_signs("best_stump", y)
    if y.shape != (len(X),):
        raise ValueError(f"best_stump needs {len(X)} labels. Got shape {y.shape}.")
    weights = check_weights("best_stump", sample_weight, len(X))
    if weights is None:
        weights = np.ones(len(X))
    weights = weights / weights.max()
    kept = weights > 0
    X, y, weights = X[kept], y[kept], weights[kept]
    codes = (y > 0).astype(np.int64)
    cut = label_cut(presort(X), codes, weights, 2)
    leaf = leaf_weights(cut, codes, weights, 2)
    upper = 1 if winners(leaf)[1] else -1
    wrong = np.where(cut.above, upper, -upper) != y
    return Stump(cut.feature, cut.threshold, upper, float(weights[wrong].sum() / weights.sum()))


class _Stump(Learner):
    """What both estimators share: one feature, one threshold."""

    feature_: int = fitted(Integer(0))
    threshold_: float = fitted(Number(infinite=True))

    def _sides(self, X: np.ndarray) -> np.ndarray:
        return (X[:, self.feature_] >= self.threshold_).astype(np.intp)

    def _fits_together(self) -> str | None:
        if self.feature_ >= self.n_features_in_:
            return "its feature is not among its columns"
        return None

    @property
    def feature_importances_(self) -> np.ndarray:
        """One for the feature the stump looks at, zero for the others."""
        importances = np.zeros(self.n_features_in_)
        if self.threshold_ > -np.inf:
            importances[self.feature_] = 1.0
        return importances


class StumpClassifier(_Stump, ProbabilisticClassifier):
    """Classify by one threshold on one feature, with the smallest weighted error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    feature_ : int
        Column it looks at.
    threshold_ : float
        Rows at or above it go up; minus infinity for a constant.
    leaf_classes_ : ndarray of int, shape (2,)
        Position in ``classes_`` of the label below and above.
    leaf_probabilities_ : ndarray of shape (2, n_classes)
        Weighted shares of the classes below and above.
    error_ : float
        Weighted training error.
    feature_importances_ : ndarray of shape (n_features,)
        One for the feature it looks at.

    See Also
    --------
    AdaBoostClassifier : Many stumps, each fitted to what the earlier ones got wrong.
    best_stump : The search itself, for labels -1 and +1.

    Notes
    -----
    A tree of depth one usually minimises an impurity; a stump minimises the error, which is what
    the theory of boosting asks of a weak learner.

    Examples
    --------
    >>> from corollary.ensemble import StumpClassifier
    >>> model = StumpClassifier().fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"])
    >>> model.threshold_, model.predict([[0.4], [0.6]])
    (0.5, array(['no', 'yes'], dtype='<U3'))
    """

    leaf_classes_: np.ndarray = fitted(Array("i", 2, low=0, below="k"))
    leaf_probabilities_: np.ndarray = fitted(Array("f", 2, "k"))
    error_: float = fitted()

    def _code(self, y: np.ndarray) -> np.ndarray:
        check_classification_targets(y)
        self.classes_ = np.unique(y)  # one class is enough for a constant
        return np.searchsorted(self.classes_, y)

    def _fit(self, X: np.ndarray, codes: np.ndarray, sample_weight: np.ndarray | None) -> None:
        weights = _shares(sample_weight, len(X))
        kept = weights > 0
        self._adopt(presort(X[kept]), codes[kept].astype(np.int64), weights[kept], self.classes_)

    def _adopt(
        self, table: Presorted, codes: np.ndarray, weights: np.ndarray, classes: np.ndarray
    ) -> Self:
        """Fit to sorted columns; rows of weight zero are left out already."""
        n_classes = len(classes)
        cut = label_cut(table, codes, weights, n_classes)
        leaf = leaf_weights(cut, codes, weights, n_classes)
        self.classes_ = classes
        self.feature_, self.threshold_ = cut.feature, cut.threshold
        self.leaf_classes_ = winners(leaf)
        self.leaf_probabilities_ = leaf / leaf.sum(axis=1, keepdims=True)
        wrong = self.leaf_classes_[cut.above.astype(np.intp)] != codes
        self.error_ = float(weights[wrong].sum() / weights.sum())
        self.n_features_in_ = len(table.columns)
        return self

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return np.eye(len(self.classes_))[self.leaf_classes_][self._sides(X)]

    def _probabilities(self, X: np.ndarray) -> np.ndarray:
        return self.leaf_probabilities_[self._sides(X)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # a weak learner
        return tags


class StumpRegressor(_Stump, Regressor):
    """Predict one of two numbers by one threshold on one feature, by least squares.

    Attributes
    ----------
    feature_ : int
        Column it looks at.
    threshold_ : float
        Rows at or above it go up; minus infinity for a constant.
    leaf_values_ : ndarray of shape (2,)
        Prediction below and above: weighted means.
    feature_importances_ : ndarray of shape (n_features,)
        One for the feature it looks at.

    See Also
    --------
    StagewiseRegressor : Sums of such functions.

    Examples
    --------
    >>> from corollary.ensemble import StumpRegressor
    >>> model = StumpRegressor().fit([[0.0], [1.0], [2.0]], [1.0, 4.0, 6.0])
    >>> model.predict([[0.0], [3.0]])
    array([1., 5.])
    """

    leaf_values_: np.ndarray = fitted(Array("f", 2))

    def _fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        weights = _shares(sample_weight, len(X))
        kept = weights > 0
        X, y, weights = X[kept], y[kept], weights[kept]
        # Squares of huge targets would overflow; a power of two changes no digit.
        exponent = int(np.frexp(np.abs(y).max())[1])
        y = np.ldexp(y, -exponent)
        cut = square_cut(presort(X), y, weights)
        self.feature_, self.threshold_ = cut.feature, cut.threshold
        upper = np.average(y[cut.above], weights=weights[cut.above])
        lower = upper
        if not cut.above.all():
            lower = np.average(y[~cut.above], weights=weights[~cut.above])
        self.leaf_values_ = np.ldexp([lower, upper], exponent)

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return self.leaf_values_[self._sides(X)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # a weak learner
        return tags


def _shares(weights: np.ndarray | None, n: int) -> np.ndarray:
    # Shares of the largest weight: sums of huge weights would overflow.
    return np.ones(n) if weights is None else weights / weights.max()
