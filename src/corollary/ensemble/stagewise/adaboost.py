"""AdaBoost: a weighted vote of weak classifiers, each fitted to what the earlier ones got wrong."""

import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY
from itertools import islice
from numbers import Real
from typing import Annotated, Any

import numpy as np
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import Interval
from corollary.core.estimator import Count, Predictor, RandomSeed, fitted, weight_parameters
from corollary.core.progress import track
from corollary.core.schema import Array, Instance, List, Nullable
from corollary.ensemble._members import (
    FollowsMember,
    MemberSequence,
    label_codes,
    make_member,
    members_fit,
    winners,
)
from corollary.ensemble._staged import StagedClassifier
from corollary.ensemble.stagewise._cuts import presort
from corollary.ensemble.stagewise._rounds import (
    WeakLearner,
    boosting_rounds,
    edge_bounds,
    is_useless,
)
from corollary.ensemble.stagewise._tree_votes import trees_of_votes
from corollary.ensemble.stagewise.reweighting import normaliser
from corollary.ensemble.stagewise.stump import StumpClassifier


class AdaBoostClassifier(MemberSequence, FollowsMember, StagedClassifier):
    r"""Classify by AdaBoost, with its training-error bound tracked at every round.

    Round t fits a classifier to the rows with weights :math:`D_t`, gives it the weight
    :math:`w_t=\nu\bigl(\log\frac{1-\varepsilon_t}{\varepsilon_t}+\log(K-1)\bigr)`, where
    :math:`\varepsilon_t` is its weighted error and K the number of classes (SAMME), and raises
    the weights of the rows it got wrong by the factor :math:`e^{w_t}`.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Weak learner: any classifier whose ``fit`` takes ``sample_weight``; None for
        :class:`StumpClassifier`, whose columns are then sorted once for all rounds.
    n_estimators : int, default=50
        Largest number of rounds.
    learning_rate : float, default=1.0
        :math:`\nu`, at most 2: beyond, a round raises the exponential loss.
    random_state : int, RandomState instance or None, default=None
        Source of the seeds of weak learners that have a ``random_state``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    estimators_ : list of estimators
        The weak classifiers.
    estimator_weights_ : ndarray of shape (n_rounds,)
        :math:`w_t` in the log-odds convention, which is scikit-learn's.
    alphas_ : ndarray of shape (n_rounds,)
        Half of them, the weights of the theory with labels -1 and +1.
    estimator_errors_ : ndarray of shape (n_rounds,)
        :math:`\varepsilon_t`.
    normalisers_ : ndarray of shape (n_rounds,)
        :math:`Z_t=\varepsilon_te^{w_t/2}+(1-\varepsilon_t)e^{-w_t/2}`.
    training_errors_ : ndarray of shape (n_rounds,)
        Weighted training error of the vote after each round.
    exponential_losses_ : ndarray of shape (n_rounds,)
        Weighted mean of :math:`e^{-\frac12\sum w_ts_t}` after each round.
    training_bounds_ : ndarray of shape (n_rounds,)
        Products of normalisers: equal to the exponential losses, at least the training errors.
    edge_bounds_ : ndarray of shape (n_rounds,) or None
        :math:`\prod_t\bigl(1-\min(\nu,2-\nu)(1-e^{-2\gamma_t^2})\bigr)` with
        :math:`\gamma_t=\frac12-\varepsilon_t`, which is :math:`e^{-2\sum\gamma_t^2}` for
        :math:`\nu=1`; None beyond two classes.
    feature_importances_ : ndarray of shape (n_features,)
        Mean importances of the weak classifiers, by weight, if they have any.

    See Also
    --------
    AdaBoostDisplay : Picture of training error and bounds over the rounds.
    training_error_chain : The theorem on any run.
    StagewiseClassifier : The same greedy fit for other losses.

    Notes
    -----
    Guarantee: ``training_errors_ <= exponential_losses_ == training_bounds_`` for any number of
    classes, and for two classes ``training_bounds_ <= edge_bounds_``, rounding aside. Checked by
    ``tests/ensemble/test_adaboost.py::test_the_bounds_hold_at_every_round``. It says nothing
    about new rows.

    The weak learner gets weights that sum to those of the rows, n without `sample_weight`, so
    that a penalty in it weighs as much as in a single model.

    Unlike scikit-learn's, a perfect round outvotes all others; probabilities come from the
    exponential loss, :math:`P=1/(1+e^{-\sum w_ts_t})` for two classes, instead of from normalised
    votes; and the default weak learner minimises the weighted error instead of the Gini index.

    References
    ----------
    Freund, Y. and Schapire, R. (1997). A decision-theoretic generalization of on-line learning
    and an application to boosting. Journal of Computer and System Sciences 55.

    Hastie, T., Rosset, S., Zhu, J. and Zou, H. (2009). Multi-class AdaBoost. Statistics and Its
    Interface 2.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import AdaBoostClassifier
    >>> X = np.arange(8.0)[:, None]
    >>> y = [0, 0, 1, 1, 1, 1, 0, 0]
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> model.score(X, y)
    1.0
    >>> model.training_errors_, model.training_bounds_.round(3)
    (array([0.25, 0.25, 0.  ]), array([0.866, 0.645, 0.516]))
    """

    estimator: Predictor | None = None
    _: KW_ONLY
    n_estimators: Count = 50
    learning_rate: Annotated[float, Interval(Real, 0, 2, closed="right")] = 1.0
    random_state: RandomSeed = None

    estimators_: list[Any] = fitted(List(Instance("predict"), "t"))
    estimator_weights_: np.ndarray = fitted(Array("f", "t"))
    estimator_errors_: np.ndarray = fitted(Array("f", "t"))
    normalisers_: np.ndarray = fitted(Array("f", "t", infinite=True))
    training_errors_: np.ndarray = fitted(Array("f", "t"))
    exponential_losses_: np.ndarray = fitted(Array("f", "t", infinite=True))
    training_bounds_: np.ndarray = fitted(Array("f", "t", infinite=True))
    edge_bounds_: np.ndarray | None = fitted(Nullable(Array("f", "t", infinite=True)))

    def _fits_together(self) -> str | None:
        weights = self.estimator_weights_
        if not len(self.estimators_) or len(self.classes_) < 1:
            return "it has no members or no classes"
        if not np.isfinite(weights).all() or np.any(weights <= 0):
            return "the weights of its members are not positive numbers"
        if not np.isfinite(weights.sum()):
            return "the weights of its members have no finite sum"
        return members_fit(self)

    def _fit_rounds(self, X: Any, y: Any, sample_weight: Any) -> None:
        X, y, w = self._check(X, y, sample_weight)
        check_classification_targets(y)
        self.classes_ = np.unique(y)  # labels of weight zero are classes, too
        X, y, w = self._kept(X, y, w)
        codes = np.searchsorted(self.classes_, y).astype(np.int64)
        # Shares of the largest weight first: the sum of huge weights would overflow.
        start = np.ones(len(y)) if w is None else w / w.max()
        total = start.sum() * (1.0 if w is None else w.max())
        learner = self._learner(X, y, codes, min(total, np.finfo(float).max))
        self._boost(learner, codes, np.log(start) - np.log(start.sum()))

    def _learner(self, X: Any, y: np.ndarray, codes: np.ndarray, total: float) -> WeakLearner:
        if self.estimator is None:
            table = presort(X)

            def fit_stump(weights: np.ndarray) -> tuple[Any, np.ndarray]:
                stump = StumpClassifier()._adopt(table, codes, weights, self.classes_)
                above = table.columns[stump.feature_] >= stump.threshold_
                return stump, stump.leaf_classes_[above.astype(np.intp)]

            return fit_stump
        weight_parameters(self, self.estimator, None)  # refuse it before the first round
        random = check_random_state(self.random_state)

        def fit_any(weights: np.ndarray) -> tuple[Any, np.ndarray]:
            member = make_member(self.estimator, random)
            member.fit(X, y, **weight_parameters(self, member, total * weights))
            return member, label_codes("AdaBoostClassifier", self.classes_, member.predict(X))

        return fit_any

    def _boost(self, learn: WeakLearner, codes: np.ndarray, log_start: np.ndarray) -> None:
        n_classes, rate = len(self.classes_), self.learning_rate
        runs = boosting_rounds(learn, codes, log_start, n_classes=n_classes, learning_rate=rate)
        rounds = []
        with track("boosting", total=self.n_estimators) as step:
            for last in islice(runs, self.n_estimators):
                rounds.append(last)
                step(training_error=last.training_error)
        members, *numbers = zip(*rounds)
        weights, errors, training, losses = np.array(numbers)
        if is_useless(errors[0], n_classes):
            warnings.warn(
                "The first weak classifier of AdaBoostClassifier has a weighted error of "
                f"{errors[0]:.3g}, no better than guessing ({1 - 1 / max(n_classes, 2):.3g}): the "
                "model is that classifier alone. Use a stronger estimator.",
                ConvergenceWarning,
                stacklevel=5,
            )
        self.estimators_ = list(members)
        self.estimator_weights_ = weights
        self.estimator_errors_ = errors
        self.normalisers_ = np.array([normaliser(e, w / 2) for e, w in zip(errors, weights)])
        self.training_errors_ = training
        self.exponential_losses_ = losses
        self.training_bounds_ = np.cumprod(self.normalisers_)
        self.edge_bounds_ = edge_bounds(errors, self.normalisers_, rate) if n_classes <= 2 else None

    @property
    def estimator_(self) -> Any:
        """The weak classifier that members are copies of; a stump if none was given."""
        check_is_fitted(self)
        return StumpClassifier() if self.estimator is None else self.estimator

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        check_is_fitted(self)
        return len(self.classes_)

    @property
    def alphas_(self) -> np.ndarray:
        """Weights of the members in the half convention."""
        return self.estimator_weights_ / 2

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean importances of the members, by weight."""
        if not all(hasattr(member, "feature_importances_") for member in self.estimators_):
            raise AttributeError(
                "The members have no feature_importances_; use a tree or a stump as estimator."
            )
        table = [member.feature_importances_ for member in self.estimators_]
        return np.average(table, axis=0, weights=self.estimator_weights_)

    def _stages(self, X: Any) -> Iterator[np.ndarray]:
        return self._staged_votes(self._new(X))

    def _staged_votes(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the votes for checked rows after each round, in one array that changes."""
        votes = np.zeros((X.shape[0], len(self.classes_)))
        for member, weight in zip(self.estimators_, self.estimator_weights_):
            said = np.asarray(member.predict(X))
            hits = said[:, None] == self.classes_
            if np.count_nonzero(hits) != len(said):  # labels of another kind, or unknown ones
                codes = label_codes("AdaBoostClassifier", self.classes_, said)
                hits = codes[:, None] == np.arange(len(self.classes_))
            votes += weight * hits
            yield votes

    def _raw(self, X: Any) -> np.ndarray:
        trees = trees_of_votes(
            "AdaBoostClassifier", self.estimators_, self.estimator_weights_, self.classes_
        )
        if trees is not None:
            return trees.predict_values(X)
        *_, last = self._staged_votes(X)
        return last

    def _scores_of(self, raw: np.ndarray) -> np.ndarray:
        total = raw.sum(axis=1, keepdims=True)
        if raw.shape[1] <= 2:
            return (2 * raw[:, -1] - total[:, 0]) / total[:, 0]
        return (raw / total * raw.shape[1] - 1.0) / (raw.shape[1] - 1)

    def _probabilities_of(self, raw: np.ndarray) -> np.ndarray:
        # The multi-class exponential loss has the minimiser f_k = (K - 1) log P(k) + constant, and
        # f is a multiple of the votes: the factors cancel, for two classes as for more.
        return softmax(raw, axis=1)

    def _labels_of(self, raw: np.ndarray) -> np.ndarray:
        return self.classes_[winners(raw)]

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels with the largest vote; of votes equal up to rounding, the first.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels.
        """
        return self._labels_of(self._raw(self._new(X)))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield the accuracy after each round.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights.

        Yields
        ------
        score : float
            Share of rows that are right.
        """
        for labels in self.staged_predict(X):
            yield accuracy_score(y, labels, sample_weight=sample_weight)
