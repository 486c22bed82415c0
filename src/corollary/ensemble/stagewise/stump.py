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
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets

from corollary.core.compat import fit_context
from corollary.core.estimator import check_new_data, check_training_data
from corollary.core.schema import (
    Array,
    Instance,
    Integer,
    Labels,
    Number,
    Optional,
    Schema,
    Size,
    Strings,
)
from corollary.ensemble.combining.vote import winners
from corollary.risk import check_signs, check_weights, sign

_INPUTS = {
    "n_features_in_": Size("d"),
    "feature_names_in_": Optional(Strings("d")),
    "fingerprint_": Optional(Instance("merge", "overlap")),
}


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


class Presorted(NamedTuple):
    """Columns and the order of their rows, to fit many stumps to the same rows."""

    columns: np.ndarray  # the transposed rows
    order: np.ndarray  # rows of each column in ascending order


class Cut(NamedTuple):
    """A feature and a threshold."""

    feature: int  # column
    threshold: float  # rows at or above it go up; minus infinity if no cut is better than none
    above: np.ndarray  # which rows go up


def presort(X: np.ndarray) -> Presorted:
    """Sort the columns of a table."""
    columns = np.ascontiguousarray(X.T)
    return Presorted(columns, np.argsort(columns, axis=1, kind="stable"))


def label_cut(table: Presorted, codes: np.ndarray, weights: np.ndarray, n_classes: int) -> Cut:
    """Find the cut with the smallest weighted error when each side predicts one class."""
    from corollary.ensemble._loops.stump import best_label_split

    return _cut(table, *best_label_split(*table, codes, weights, n_classes))


def square_cut(table: Presorted, y: np.ndarray, weights: np.ndarray) -> Cut:
    """Find the cut with the smallest weighted squared error when each side predicts its mean."""
    from corollary.ensemble._loops.stump import best_square_split

    residual = y - np.average(y, weights=weights)
    return _cut(table, *best_square_split(*table, residual, weights))


def _cut(table: Presorted, feature: int, place: int) -> Cut:
    columns, order = table
    if feature < 0:
        return Cut(0, -np.inf, np.ones(columns.shape[1], dtype=bool))
    low, high = columns[feature, order[feature, place : place + 2]]
    middle = 0.5 * low + 0.5 * high
    # Between neighbouring floats there is no third one.
    threshold = float(middle) if low < middle <= high else float(high)
    return Cut(int(feature), threshold, columns[feature] >= threshold)


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
    leaf = _leaf_weights(cut, codes, weights, 2)
    upper = 1 if winners(leaf)[1] else -1
    wrong = np.where(cut.above, upper, -upper) != y
    return Stump(cut.feature, cut.threshold, upper, float(weights[wrong].sum() / weights.sum()))


def _leaf_weights(cut: Cut, codes: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    cells = np.bincount(
        cut.above * n_classes + codes, weights=weights, minlength=2 * n_classes
    ).reshape(2, n_classes)
    if not cells[0].any():  # a constant: nothing lies below
        cells[0] = cells[1]
    return cells


class _Stump(BaseEstimator):
    """What both estimators share: one feature, one threshold."""

    feature_: int
    threshold_: float
    n_features_in_: int

    def __init__(self) -> None:
        """Take no parameters."""

    def _sides(self, X: Any) -> np.ndarray:
        X = check_new_data(self, X)
        return (X[:, self.feature_] >= self.threshold_).astype(np.intp)

    @property
    def feature_importances_(self) -> np.ndarray:
        """One for the feature the stump looks at, zero for the others."""
        importances = np.zeros(self.n_features_in_)
        if self.threshold_ > -np.inf:
            importances[self.feature_] = 1.0
        return importances


def _feature_is_there(model: Any) -> str | None:
    if model.feature_ >= model.n_features_in_:
        return "its feature is not among its columns"
    return None


class StumpClassifier(ClassifierMixin, _Stump):
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
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X has any.

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

    _parameter_constraints: dict = {}
    _schema = Schema(
        _feature_is_there,
        None,
        classes_=Labels("k"),
        feature_=Integer(0),
        threshold_=Number(),
        leaf_classes_=Array("i", 2, low=0, below="k"),
        leaf_probabilities_=Array("f", 2, "k"),
        error_=Number(),
        **_INPUTS,
    )

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the best stump.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights.

        Returns
        -------
        self : StumpClassifier
            The fitted model.
        """
        X, y, weights = check_training_data(self, X, y, sample_weight=sample_weight)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        weights = _shares(weights, len(X))
        kept = weights > 0
        table = presort(X[kept])
        return self._adopt(table, codes.ravel()[kept].astype(np.int64), weights[kept], classes)

    def _adopt(
        self, table: Presorted, codes: np.ndarray, weights: np.ndarray, classes: np.ndarray
    ) -> Self:
        """Fit to sorted columns; rows of weight zero are left out already."""
        n_classes = len(classes)
        cut = label_cut(table, codes, weights, n_classes)
        leaf = _leaf_weights(cut, codes, weights, n_classes)
        self.classes_ = classes
        self.feature_, self.threshold_ = cut.feature, cut.threshold
        self.leaf_classes_ = winners(leaf)
        self.leaf_probabilities_ = leaf / leaf.sum(axis=1, keepdims=True)
        wrong = self.leaf_classes_[cut.above.astype(np.intp)] != codes
        self.error_ = float(weights[wrong].sum() / weights.sum())
        self.n_features_in_ = len(table.columns)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The label of the side each row falls on.
        """
        side = self._sides(X)
        return self.classes_[self.leaf_classes_[side]]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the shares of the classes on the side each row falls on.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        side = self._sides(X)
        return self.leaf_probabilities_[side]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # a weak learner
        return tags


class StumpRegressor(RegressorMixin, _Stump):
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
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X has any.

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

    _parameter_constraints: dict = {}
    _schema = Schema(
        _feature_is_there,
        None,
        feature_=Integer(0),
        threshold_=Number(),
        leaf_values_=Array("f", 2),
        **_INPUTS,
    )

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the best stump.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights.

        Returns
        -------
        self : StumpRegressor
            The fitted model.
        """
        X, y, weights = check_training_data(self, X, y, sample_weight=sample_weight, y_numeric=True)
        weights = _shares(weights, len(X))
        kept = weights > 0
        X, y, weights = X[kept], y[kept].astype(float), weights[kept]
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
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict targets.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The mean of the side each row falls on.
        """
        side = self._sides(X)
        return self.leaf_values_[side]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # a weak learner
        return tags


def _shares(weights: np.ndarray | None, n: int) -> np.ndarray:
    # Shares of the largest weight: sums of huge weights would overflow.
    return np.ones(n) if weights is None else weights / weights.max()
