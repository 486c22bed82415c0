"""Split conformal sets of classes from any classifier."""

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from corollary.conformal._checks import held_labels, is_text, places_of_labels, warn_user
from corollary.conformal.scores._base import SetScore
from corollary.conformal.scores.sets import APS, LAC, RAPS
from corollary.conformal.split._split import SplitConformal
from corollary.conformal.split.partitions import Bands, Groups, PerClass
from corollary.core.estimator import CountFromZero, NonNegative, fitted
from corollary.core.schema import Integer, Labels, Optional


def _gives_probabilities(self: "SplitConformalClassifier") -> bool:
    return hasattr(getattr(self, "estimator_", self.estimator), "predict_proba")


class SplitConformalClassifier(ClassifierMixin, SplitConformal):
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
    partition : Groups, Bands, PerClass, callable or None, default=None
        What gives each row a group, and every group thresholds of its own: a frozen object, or a
        function of X, which model files cannot hold.
    covers : {"row", "group"}, default="row"
        What is promised if ``fit`` is given groups: that a row drawn from a new group is covered,
        or that all rows of it are at once, which takes wider sets.
    likelihood_ratio : callable or None, default=None
        ``likelihood_ratio(X)`` gives each row the density of new rows over that of calibration
        rows, up to a factor, for coverage under covariate shift; see
        :func:`weighted_conformal_quantile`.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the split and of randomised scores.
    prefit : bool, default=False
        Whether `estimator` is fitted already; then all rows given to ``fit`` calibrate.
    calibration_size : float or int, default=0.25
        Share or number of rows that calibrate, or of groups.
    conformity_score : {"lac", "aps", "raps"} or score, default="lac"
        "lac", one minus the probability of the label, is short for ``LAC()`` and gives the
        smallest sets on average, some of them empty. "aps", the probability of all classes at
        least as likely, is short for ``APS(randomised)`` and gives sets that grow with difficulty
        and are never empty. "raps", short for ``RAPS(penalty, free_classes, randomised)``, adds
        `penalty` for every class beyond the first `free_classes`, which shortens long tails of
        unlikely classes.
    penalty : float, default=0.01
        Price of a further class, for "raps"; fix it, or choose it on rows that do not calibrate.
    free_classes : int, default=1
        Classes without a price, for "raps".
    randomised : bool, default=False
        Whether "aps" and "raps" count the last class by a uniform random share, which makes
        coverage exact and sets smaller, and lets a set be empty.
    class_conditional : bool, default=False
        Whether every class has a threshold of its own, so that coverage holds for each; short
        for ``partition=PerClass(partition)``.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    conformity_score_ : LAC, APS or RAPS
        The score.
    classes_ : ndarray of shape (n_classes,)
        Labels that the model knows.
    unknown_labels_ : ndarray of shape (n_unknown_labels,)
        Labels of calibration rows that the model does not know, sorted.
    n_unknown_ : int
        Number of calibration rows with such labels.
    set_labels_ : ndarray of shape (n_classes + n_unknown_labels,)
        Labels of the columns of sets: ``classes_``, then ``unknown_labels_``.
    scores_ : ndarray of shape (n_calibration,)
        Calibration scores, group after group; ascending within each if they have weights.
    group_labels_ : ndarray of shape (n_groups,)
        Labels of the groups of `partition`; a single 0 without it.
    group_sizes_ : ndarray of shape (n_groups,) or (n_groups * n_classes,)
        Calibration rows in each group, and class if `class_conditional`.
    n_calibration_ : int
        Number of calibration rows.
    weights_ : ndarray of shape (n_calibration,) or None
        Weights of the calibration scores, in their order: density ratios, or what rows weigh in
        their groups.
    thresholds_ : ndarray of shape (n_groups,) or (n_groups * n_classes,), or None
        Threshold of each group, and class if `class_conditional`, at
        ``calibrated_confidence_``; None with density ratios, where new rows have thresholds of
        their own.
    calibrated_confidence_ : float or None
        The confidence at calibration.
    exchangeable_ : {"rows", "groups", "nothing"}
        What calibration takes to be exchangeable with what is new; nothing if ``fit`` was given
        time.
    calibration_groups_ : ndarray of shape (n_calibration_groups,) or None
        Hashes of the groups that calibrated, if ``fit`` was given groups.
    training_groups_ : ndarray of shape (n_training_groups,) or None
        Hashes of the groups that trained.
    set_seed_ : int
        Seed of the random shares in ``predict_set``, if scores are random.

    See Also
    --------
    LAC, APS, RAPS : The scores.
    SplitConformalRegressor : Intervals.
    coverage_law : How coverage varies with the calibration rows.
    corollary.certificates.coverage_certificates : What they prove about the misses to come.

    Notes
    -----
    Guarantee: if calibration rows and the new row are exchangeable, the set holds the label with
    probability at least `confidence`, over the draw of both, for any model and any law. With
    `class_conditional` this holds given the label, with `partition` given the group. Checked by
    ``tests/conformal/test_classifier.py`` for 1 to 30 calibration rows.

    A label that the model does not know has an infinite score: it counts against every set that
    leaves a class out. If calibration rows have such labels, ``fit`` warns, and sets have a column
    for each, which is True where the set holds every class of the model (and always with
    `class_conditional`). A set with all columns True rules nothing out: the guarantee reads it as
    holding also labels that no row had so far, of which there is no column.

    Rows are split at random and not by class: a stratified split would make calibration rows
    differ in law from new ones.

    Too few calibration rows give full sets and a warning that says how many are missing.

    Rows that come in groups, given to ``fit`` as `groups`: if groups are exchangeable, a row drawn
    from a new group (or with `covers` all of its rows) is covered with probability at least
    `confidence`, and the number of calibration groups is the sample size. With `partition` the
    former holds given the part that the row is in. Checked by ``tests/conformal/test_groups.py``.

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

    _: KW_ONLY
    partition: Groups | Bands | PerClass | Callable[[Any], Any] | None = None  # type: ignore[assignment]
    conformity_score: Literal["lac", "aps", "raps"] | LAC | APS | RAPS = "lac"
    penalty: NonNegative = 0.01
    free_classes: CountFromZero = 1
    randomised: bool = False
    class_conditional: bool = False

    set_seed_: int = fitted(Optional(Integer(0, 2**32 - 1)))
    unknown_labels_: np.ndarray = fitted(Labels("*"))
    n_unknown_: int = fitted(Integer(0))

    def _score(self) -> SetScore:
        if self.conformity_score == "lac":
            return LAC()
        if self.conformity_score == "aps":
            return APS(self.randomised)
        if self.conformity_score == "raps":
            return RAPS(self.penalty, self.free_classes, self.randomised)
        return self.conformity_score

    @property
    def classes_(self) -> np.ndarray:
        """Labels that the model knows."""
        return np.asarray(self._ask_model("classes_"))

    @property
    def set_labels_(self) -> np.ndarray:
        """Labels of the columns of sets."""
        check_is_fitted(self)
        if len(self.unknown_labels_) == 0:
            return self.classes_
        return np.concatenate([self.classes_, self.unknown_labels_])

    def _row_partition(self) -> Any:
        return self.partition.within if isinstance(self.partition, PerClass) else self.partition

    def _by_class(self) -> bool:
        return self.class_conditional or isinstance(self.partition, PerClass)

    def _calibrate(
        self, X: Any, y: np.ndarray, rng: np.random.RandomState, weights: Any, groups: Any
    ) -> None:
        super()._calibrate(X, y, rng, weights, groups)
        unknown = ~places_of_labels(y, self.classes_)[1]
        self.unknown_labels_, self.n_unknown_ = np.unique(y[unknown]), int(unknown.sum())
        if self.n_unknown_:
            warn_user(
                f"{type(self).__name__} has {self.n_unknown_} of {len(y)} calibration rows with "
                "labels that the model does not know (such as "
                f"{self.unknown_labels_.tolist()[0]!r}). They count against every set that leaves "
                "a class out, and sets have a column for each of these labels, named in "
                "'set_labels_'. Train the model on rows of every class to have it tell them apart."
            )

    def _regions(self, X: Any, confidence: float | None = None, weights: Any = None) -> np.ndarray:
        sets = super()._regions(X, confidence, weights)
        if len(self.unknown_labels_) == 0:
            return sets
        # An infinite threshold gives a full set, which must then hold labels of infinite score;
        # a class of such labels alone has no other threshold.
        holds = sets.all(axis=1, keepdims=True) | self._by_class()
        return np.hstack([sets, np.repeat(holds, len(self.unknown_labels_), axis=1)])

    def _outside(self, X: Any, y: np.ndarray) -> np.ndarray:
        return ~held_labels(y, self._regions(X), self.set_labels_, who=type(self).__name__)

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
        sets : ndarray of bool of shape (n_samples, n_classes + n_unknown_labels)
            True where a label belongs to the set; columns in the order of ``set_labels_``, which
            is ``classes_`` unless calibration rows have labels that the model does not know. With
            `randomised` the random shares go by the place of a row in X.
        """
        return self._regions(X, confidence, weights)

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
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def _fits_together(self) -> str | None:
        labels, classes = self.unknown_labels_, self.classes_
        if self.n_unknown_ < len(labels) or (self.n_unknown_ and not len(labels)):
            return "its unknown labels do not fit their number"
        alike = len(labels) == 0 or is_text(labels) == is_text(classes)
        if not alike or np.isin(labels, classes).any():
            return "its unknown labels do not fit its classes"
        return super()._fits_together()

    @classmethod
    def _from_former(cls, parameters: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
        nobody = {"unknown_labels_": np.zeros(0, dtype=np.intp), "n_unknown_": 0}
        return super()._from_former(parameters, state | nobody | state if state else state)

    @classmethod
    def _with_score(cls, score: SetScore, state: dict[str, Any]) -> dict[str, Any]:
        state.pop("classes_", None)
        return state | {"conformity_score_": score}
