"""Split conformal sets of classes from any classifier."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite

from corollary.conformal.base import SCHEMA, BaseSplitConformal, fits_together
from corollary.conformal.checks import (
    check_one_target,
    count_rows,
    held_labels,
    is_text,
    warn_of_no_predictions,
)
from corollary.conformal.ranking import BLOCK, label_scores, ranked_sets
from corollary.conformal.scores import lac_score
from corollary.core.compat import Interval, StrOptions
from corollary.core.schema import Integer, Labels, Schema


def class_probabilities(model: Any, X: Any) -> np.ndarray:
    """Return class probabilities of a fitted classifier, from logits if it has no others.

    Parameters
    ----------
    model : estimator
        A fitted classifier with ``predict_proba`` or ``decision_function``.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows, passed to the model as they come.

    Returns
    -------
    probabilities : ndarray of shape (n_samples, n_classes)
        Rows of non-negative numbers that sum to one.

    Raises
    ------
    TypeError
        If the model has neither method.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from corollary.conformal import class_probabilities
    >>> model = LinearSVC().fit([[0.0], [1.0]], [0, 1])
    >>> class_probabilities(model, [[0.5]]).round(2)
    array([[0.48, 0.52]])
    """
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=float)
    if not hasattr(model, "decision_function"):
        raise TypeError(
            f"{type(model).__name__} has neither predict_proba nor decision_function, and sets of "
            "classes need one of them. Wrap it in a calibrated classifier."
        )
    logits = np.asarray(model.decision_function(X), dtype=float)
    if logits.ndim == 1:
        positive = expit(logits)
        return np.column_stack([1 - positive, positive])
    return softmax(logits, axis=1)


def _fits_together(estimator: Any) -> str | None:
    if hasattr(estimator, "scores_"):
        inner = estimator.estimator_
        if not hasattr(inner, "predict_proba") and not hasattr(inner, "decision_function"):
            return "its model is not a classifier"
        if not np.array_equal(getattr(inner, "classes_", []), estimator.classes_):
            return "its classes are not those of its model"
    return fits_together(estimator)


def _lac_sets(probabilities: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """Compare scores by the block, so that they need no memory of their own."""
    n, n_classes = probabilities.shape
    sets = np.empty((n, n_classes), dtype=bool)
    threshold = np.broadcast_to(threshold, sets.shape)
    step = max(1, BLOCK // max(1, n_classes))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        np.less_equal(1 - probabilities[rows], threshold[rows], out=sets[rows])
    return sets


def _gives_probabilities(self: "SplitConformalClassifier") -> bool:
    return hasattr(getattr(self, "estimator_", self.estimator), "predict_proba")


class SplitConformalClassifier(ClassifierMixin, BaseSplitConformal):
    r"""Sets of classes with a guaranteed coverage, from any classifier.

    Some rows train the model; on the others a score says how badly the label fits the model's
    probabilities. With :math:`\hat s` the :math:`\lceil (n+1)(1-\alpha) \rceil`-th smallest of the
    n calibration scores, the set of a new row holds every class whose score is at most
    :math:`\hat s`. Here :math:`1 - \alpha` is `confidence`.

    Parameters
    ----------
    estimator : estimator
        A classifier with ``predict_proba`` (or ``decision_function``, turned into probabilities
        by softmax); fitted already if `prefit`. Rows reach it as they came.
    confidence : float, default=0.9
        Wanted coverage, strictly between 0 and 1.
    prefit : bool, default=False
        Whether `estimator` is fitted already; then all rows given to ``fit`` calibrate.
    conformity_score : {"lac", "aps", "raps"}, default="lac"
        "lac", one minus the probability of the label, gives the smallest sets on average, some
        of them empty. "aps",
        the probability of all classes at least as likely, gives sets that grow with difficulty
        and are never empty. "raps" adds `penalty` for every class beyond the first
        `free_classes`, which shortens long tails of unlikely classes.
    penalty : float, default=0.01
        Price of a further class, for "raps"; fix it, or choose it on rows that do not calibrate.
    free_classes : int, default=1
        Classes without a price, for "raps".
    randomised : bool, default=False
        Whether "aps" and "raps" count the last class by a uniform random share, which makes
        coverage exact and sets smaller, and lets a set be empty.
    class_conditional : bool, default=False
        Whether every class has a threshold of its own, so that coverage holds for each.
    calibration_size : float or int, default=0.25
        Share or number of rows that calibrate.
    partition : callable or None, default=None
        ``partition(X)`` gives each row a group, and every group thresholds of its own.
    likelihood_ratio : callable or None, default=None
        ``likelihood_ratio(X)`` gives each row the density of new rows over that of calibration
        rows, up to a factor, for coverage under covariate shift; see
        :func:`weighted_conformal_quantile`.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the split and of randomised scores.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    classes_ : ndarray of shape (n_classes,)
        Labels of the columns of sets.
    scores_ : ndarray of shape (n_calibration,)
        Calibration scores, group after group; ascending within each if they have weights.
    group_labels_ : ndarray of shape (n_groups,)
        Labels of the groups; a single 0 without `partition`.
    group_sizes_ : ndarray of shape (n_groups,) or (n_groups * n_classes,)
        Calibration rows in each group, and class if `class_conditional`.
    n_calibration_ : int
        Number of calibration rows.
    weights_ : ndarray of shape (n_calibration,) or None
        Weights of the calibration scores, in their order.
    thresholds_ : ndarray of shape (n_groups,) or (n_groups * n_classes,), or None
        Threshold of each group, and class if `class_conditional`, at
        ``calibrated_confidence_``; None with weights, where new rows have thresholds of their
        own.
    calibrated_confidence_ : float or None
        The confidence at calibration.
    set_seed_ : int
        Seed of the random shares in ``predict_set``.
    n_features_in_ : int
        Number of features, if the model knows it.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the model knows them.

    See Also
    --------
    SplitConformalRegressor : Intervals.
    coverage_law : How coverage varies with the calibration rows.
    corollary.certificates.coverage_certificates : What they prove about the misses to come.

    Notes
    -----
    Guarantee: if calibration rows and the new row are exchangeable, the set holds the label with
    probability at least `confidence`, over the draw of both, for any model and any law. With
    `class_conditional` this holds given the label, with `partition` given the group. A label that
    was not among the training rows has an infinite score and is in no set. Checked by
    ``tests/conformal/test_classifier.py`` for 1 to 30 calibration rows.

    Rows are split at random and not by class: a stratified split would make calibration rows
    differ in law from new ones.

    Too few calibration rows give full sets and a warning that says how many are missing.

    References
    ----------
    Sadinle, M., Lei, J. and Wasserman, L. (2019). Least ambiguous set-valued classifiers with
    bounded error levels. Journal of the American Statistical Association 114.

    Romano, Y., Sesia, M. and Candes, E. (2020). Classification with valid and adaptive coverage.
    Advances in Neural Information Processing Systems 33.

    Angelopoulos, A., Bates, S., Malik, J. and Jordan, M. (2021). Uncertainty sets for image
    classifiers using conformal prediction. International Conference on Learning Representations.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from corollary.conformal import SplitConformalClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SplitConformalClassifier(LogisticRegression(max_iter=1000), random_state=0)
    >>> model.fit(X, y).predict_set(X[::60])
    array([[ True, False, False],
           [False,  True, False],
           [False, False,  True]])
    """

    _parameter_constraints: dict = {
        **BaseSplitConformal._parameter_constraints,
        "conformity_score": [StrOptions({"lac", "aps", "raps"})],
        "penalty": [Interval(Real, 0, None, closed="left")],
        "free_classes": [Interval(Integral, 0, None, closed="left")],
        "randomised": ["boolean"],
        "class_conditional": ["boolean"],
    }
    _schema = Schema(
        _fits_together,
        None,
        classes_=Labels("k"),
        set_seed_=Integer(0, 2**32 - 1),
        **SCHEMA,
    )
    _fallback = "sets hold every class"

    def __init__(
        self,
        estimator: Any,
        *,
        confidence: float = 0.9,
        prefit: bool = False,
        conformity_score: str = "lac",
        penalty: float = 0.01,
        free_classes: int = 1,
        randomised: bool = False,
        class_conditional: bool = False,
        calibration_size: float | int = 0.25,
        partition: Callable[[Any], Any] | None = None,
        likelihood_ratio: Callable[[Any], Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.confidence = confidence
        self.prefit = prefit
        self.conformity_score = conformity_score
        self.penalty = penalty
        self.free_classes = free_classes
        self.randomised = randomised
        self.class_conditional = class_conditional
        self.calibration_size = calibration_size
        self.partition = partition
        self.likelihood_ratio = likelihood_ratio
        self.random_state = random_state

    def predict_set(
        self, X: Any, *, confidence: float | None = None, weights: Any = None
    ) -> np.ndarray:
        """Predict a set of classes for each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows, passed to the model as they come.
        confidence : float or None, default=None
            Another coverage than that of the constructor, from the same calibration rows.
        weights : array-like of shape (n_samples,) or None, default=None
            Density ratio of new rows to calibration rows, if ``calibrate`` was given one.

        Returns
        -------
        sets : ndarray of bool of shape (n_samples, n_classes)
            True where a class belongs to the set; columns in the order of ``classes_``. With
            `randomised` the random shares go by the place of a row in X.
        """
        self._require_calibrated()
        threshold = self._thresholds(X, self._level(confidence), weights)
        probabilities = self._probabilities(X)
        sets = self._sets(probabilities, threshold)
        # A row that the model says nothing of may have any label.
        if np.isnan(probabilities.sum()):
            unknown = np.isnan(probabilities).any(axis=1)
            sets[unknown] = True
            warn_of_no_predictions(self, int(unknown.sum()), self._fallback)
        return sets

    def _sets(self, probabilities: np.ndarray, threshold: np.ndarray) -> np.ndarray:
        if self.conformity_score == "lac":
            return _lac_sets(probabilities, threshold)
        if self.randomised:
            uniform = np.random.RandomState(self.set_seed_).random_sample(len(probabilities))
            return ranked_sets(probabilities, threshold, uniform=uniform, **self._price())
        # No set is empty. For "raps" it is the likeliest class alone that always belongs to it:
        # before every other one there is a sum that is not negative.
        reach = threshold if self.conformity_score == "aps" else -1.0
        return ranked_sets(probabilities, threshold, reach=reach, **self._price())

    def _price(self) -> dict[str, Any]:
        if self.conformity_score == "aps":
            return {}
        return {"penalty": self.penalty, "free_classes": self.free_classes}

    def _outside(self, X: Any, y: np.ndarray) -> np.ndarray:
        return ~held_labels(y, self.predict_set(X), self.classes_, who=type(self).__name__)

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class probabilities of the underlying model.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows, passed to the model as they come.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            The model's probabilities.
        """
        self._require_calibrated()
        return self.estimator_.predict_proba(X)

    def _check_targets(self, y: Any, *, finite: bool = True) -> np.ndarray:
        y = check_one_target(y)
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        if y.dtype.kind == "O":
            kinds = sorted({type(label).__name__ for label in y if not isinstance(label, str)})
            text = len(y) and not kinds
            if not text and not all(isinstance(v, Real) and v == v for v in y):
                raise ValueError(
                    "SplitConformalClassifier needs labels of one kind, none of them missing. Got "
                    f"labels of type {', '.join(kinds)} in y."
                )
        if y.dtype.kind not in "iubUS":  # whole numbers and text are labels without a look
            check_classification_targets(y)
        return y

    def _fit_models(
        self, X: Any, y: np.ndarray, rng: np.random.RandomState, sample_weight: np.ndarray | None
    ) -> None:
        self.estimator_ = self._fit_one(self.estimator, X, y, sample_weight)
        self._adopt_models()

    def _adopt_models(self) -> None:
        if not hasattr(self.estimator_, "classes_"):
            raise TypeError(
                "SplitConformalClassifier needs a classifier that tells its labels in 'classes_'. "
                f"{type(self.estimator_).__name__} has none; for a regressor, use "
                "SplitConformalRegressor."
            )
        self.classes_ = np.asarray(self.estimator_.classes_)

    def _probabilities(self, X: Any) -> np.ndarray:
        found = class_probabilities(self.estimator_, X)
        expected = (count_rows(X), len(self.classes_))
        if found.shape != expected:
            raise ValueError(
                f"SplitConformalClassifier needs a probability for each row and class, of shape "
                f"{expected}. {type(self.estimator_).__name__} gave shape {found.shape}."
            )
        return found

    def _scores(self, X: Any, y: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        probabilities = self._probabilities(X)
        uniform = rng.random_sample(len(y)) if self.randomised else None
        self.set_seed_ = int(rng.randint(2**31 - 1))
        column, known = self._columns(y)
        # A few rows may all be of a class that training had not; many are a slip of encoding.
        if not known.any() and (len(y) >= 10 or is_text(y) != is_text(self.classes_)):
            names = ", ".join(map(repr, self.classes_[:5].tolist()))
            raise ValueError(
                f"None of the labels is a class of {type(self.estimator_).__name__} ({names}"
                f"{', ...' if len(self.classes_) > 5 else ''}). Got {y[0]!r} of type {y.dtype}; "
                "encode y as in training."
            )
        if self.conformity_score == "lac":
            own = lac_score(probabilities[np.arange(len(y)), column])
        else:
            own = label_scores(probabilities, column, uniform=uniform, **self._price())
        own[~known] = np.inf
        return own

    def _columns(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the column of each label, and whether it has one."""
        if is_text(self.classes_) != is_text(y):
            nowhere = np.zeros(len(y), dtype=np.intp)  # text and numbers cannot be compared
            return nowhere, nowhere.astype(bool)
        if self.classes_.dtype.kind in "iu" and y.dtype.kind in "iu":
            first, last = int(self.classes_.min()), int(self.classes_.max())
            if last - first < len(y) + len(self.classes_) and max(-first, last) < 2**62:
                # A table is quicker than a search.
                table = np.full(last - first + 1, -1, dtype=np.intp)
                table[self.classes_.astype(np.int64) - first] = np.arange(len(self.classes_))
                known = (y >= first) & (y <= last)
                place = y.astype(np.int64) - first if known.all() else np.zeros(len(y), np.intp)
                if not known.all():
                    place[known] = y[known].astype(np.int64) - first
                column = table[place]
                known &= column >= 0
                return np.where(known, column, 0), known
        order = np.argsort(self.classes_)
        place = np.searchsorted(self.classes_, y, sorter=order)
        column = order[np.minimum(place, len(order) - 1)]
        return column, self.classes_[column] == y

    def _n_cells(self) -> int:
        return len(self.classes_) if self.class_conditional else 1

    def _cell_words(self) -> tuple[str, str]:
        if not self.class_conditional:
            return super()._cell_words()
        what = "classes" if self.partition is None else "classes of groups"
        return what, "sets hold every such class"

    def _words_of_cell(self, cell: int) -> str:
        words = super()._words_of_cell(cell)
        if not self.class_conditional:
            return words
        label = f"of class {self.classes_.tolist()[cell % self._n_cells()]!r}"
        return f"{words} and {label}" if words else label

    def _cells(self, y: np.ndarray) -> np.ndarray:
        if not self.class_conditional:
            return super()._cells(y)
        column, known = self._columns(y)
        # A label unknown to the model says nothing about the classes that it knows.
        return np.where(known, column, -1)
