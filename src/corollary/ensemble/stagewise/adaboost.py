r"""AdaBoost: a weighted vote of weak classifiers, each fitted to what the earlier ones got wrong.

Edge cases, which the algorithm on paper leaves open:

* a perfect round (no error on any row of positive weight) would have infinite weight; it gets one
  more than all earlier weights together, so that it decides alone, as in the limit, and the run
  ends;
* a round that is no better than guessing is thrown away and ends the run; if it is the first, the
  model is that classifier alone, with weight one and a warning;
* equal votes go to the first class.

With s = +1 where a classifier is right and -1 where it is wrong, a row is misclassified only if
:math:`\sum_tw_ts_t\le0`, for any number of classes; hence the training error is at most
:math:`\sum_iD_1(i)e^{-\frac12\sum_tw_ts_{ti}}=\prod_tZ_t` for any number of classes, too.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY
from numbers import Real
from typing import Annotated, Any, Self

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from corollary.core.compat import Interval, fit_context
from corollary.core.estimator import (
    Count,
    Predictor,
    ProbabilisticClassifier,
    RandomSeed,
    ScoringClassifier,
    fitted,
    weight_parameters,
)
from corollary.core.progress import track
from corollary.core.schema import Array, Instance, List, Nullable
from corollary.ensemble._members import (
    FollowsMember,
    label_codes,
    make_member,
    members_fit,
    winners,
)
from corollary.ensemble.stagewise._cuts import presort
from corollary.ensemble.stagewise._tree_votes import trees_of_votes
from corollary.ensemble.stagewise.reweighting import classifier_weight, normaliser
from corollary.ensemble.stagewise.stump import StumpClassifier

# An edge over guessing below this is rounding: after an update the last classifier has an error
# of exactly 1/2 on paper and of 1/2 minus a few units of the last digit in memory.
_SMALLEST_EDGE = 1e-10

# A weak learner: weights of rows to a fitted classifier and its codes on the training rows.
_Learner = Callable[[np.ndarray], tuple[Any, np.ndarray]]


class AdaBoostClassifier(FollowsMember, ScoringClassifier, ProbabilisticClassifier):
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
    normalisers_: np.ndarray = fitted(Array("f", "t"))
    training_errors_: np.ndarray = fitted(Array("f", "t"))
    exponential_losses_: np.ndarray = fitted(Array("f", "t"))
    training_bounds_: np.ndarray = fitted(Array("f", "t"))
    edge_bounds_: np.ndarray | None = fitted(Nullable(Array("f", "t")))

    def _fits_together(self) -> str | None:
        weights = self.estimator_weights_
        if not len(self.estimators_) or len(self.classes_) < 1:
            return "it has no members or no classes"
        if not np.isfinite(weights).all() or np.any(weights <= 0):
            return "the weights of its members are not positive numbers"
        if not np.isfinite(weights.sum()):
            return "the weights of its members have no finite sum"
        return members_fit(self)

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Boost the weak learner.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training rows; sparse only if the weak learner takes them.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights.

        Returns
        -------
        self : AdaBoostClassifier
            The fitted model.
        """
        X, y, w = self._check(X, y, sample_weight)
        check_classification_targets(y)
        self.classes_ = np.unique(y)  # labels of weight zero are classes, too
        if w is not None and not (w > 0).all():
            X, y, w = X[w > 0], y[w > 0], w[w > 0]
        codes = np.searchsorted(self.classes_, y).astype(np.int64)
        # Shares of the largest weight first: the sum of huge weights would overflow.
        start = np.ones(len(y)) if w is None else w / w.max()
        total = start.sum() * (1.0 if w is None else w.max())
        learner = self._learner(X, y, codes, min(total, np.finfo(float).max))
        self._boost(learner, codes, np.log(start) - np.log(start.sum()))
        return self

    def _learner(self, X: Any, y: np.ndarray, codes: np.ndarray, total: float) -> _Learner:
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

    def _boost(self, learn: _Learner, codes: np.ndarray, log_start: np.ndarray) -> None:
        n_classes = len(self.classes_)
        chance = 1 - 1 / max(n_classes, 2)
        self.estimators_ = []
        rounds: list[tuple[float, ...]] = []
        margins = np.zeros(len(codes))  # sum of w_t s_t
        votes = np.zeros((len(codes), n_classes))
        rows = np.arange(len(codes))
        log_weights = log_start
        with track("boosting", total=self.n_estimators) as step:
            while len(rounds) < self.n_estimators:
                D = np.exp(log_weights)
                member, answer = learn(D)
                wrong = answer != codes
                # A row may be too light for its weight to be a number above zero.
                error = max(float(D[wrong].sum() / D.sum()), np.finfo(float).tiny * wrong.any())
                first, perfect = not rounds, not wrong.any()
                useless = not perfect and error >= chance - _SMALLEST_EDGE
                if useless and not first:
                    break
                if perfect or useless:
                    weight = 1.0 + sum(r[0] for r in rounds)
                else:
                    odds = classifier_weight(error, convention="log_odds", n_classes=n_classes)
                    weight = self.learning_rate * odds
                margins += np.where(wrong, -weight, weight)
                votes[rows, answer] += weight
                log_loss = logsumexp(log_start - margins / 2)
                log_weights = log_start - margins / 2 - log_loss
                lost = winners(votes) != codes
                training_error = float(np.exp(log_start)[lost].sum())
                rounds.append((weight, error, training_error, float(np.exp(log_loss))))
                self.estimators_.append(member)
                step(training_error=training_error)
                if perfect or useless:
                    break
        if useless and first:
            warnings.warn(
                f"The first weak classifier of AdaBoostClassifier has a weighted error of "
                f"{error:.3g}, no better than guessing ({chance:.3g}): the model is that "
                "classifier alone. Use a stronger estimator.",
                ConvergenceWarning,
                stacklevel=4,
            )
        self._record(rounds, n_classes)

    def _record(self, rounds: list[tuple[float, ...]], n_classes: int) -> None:
        weights, errors, training, losses = np.array(rounds).T.copy()
        self.estimator_weights_ = weights
        self.estimator_errors_ = errors
        self.normalisers_ = np.array([normaliser(e, w / 2) for e, w in zip(errors, weights)])
        self.training_errors_ = training
        self.exponential_losses_ = losses
        self.training_bounds_ = np.cumprod(self.normalisers_)
        self.edge_bounds_ = None
        if n_classes <= 2:
            # Z is convex in the weight: 1 without a step and with a double one, at most
            # exp(-2 edge^2) with a whole one. A perfect round has a weight of at least one.
            share = np.where(errors > 0, min(self.learning_rate, 2 - self.learning_rate), 1.0)
            gain = -np.expm1(-2 * (0.5 - errors) ** 2)
            factors = np.where(errors < 0.5, 1 - share * gain, self.normalisers_)
            self.edge_bounds_ = np.cumprod(factors)

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

    def _votes(self, X: Any) -> np.ndarray:
        trees = trees_of_votes(
            "AdaBoostClassifier", self.estimators_, self.estimator_weights_, self.classes_
        )
        if trees is not None:
            return trees.predict_values(X)
        *_, last = self._staged_votes(X)
        return last

    def _decision(self, votes: np.ndarray) -> np.ndarray:
        total = votes.sum(axis=1, keepdims=True)
        if votes.shape[1] <= 2:
            return (2 * votes[:, -1] - total[:, 0]) / total[:, 0]
        return (votes * votes.shape[1] - total) / (total * (votes.shape[1] - 1))

    def _scores(self, X: Any) -> np.ndarray:
        return self._decision(self._votes(X))

    def _probabilities(self, X: Any) -> np.ndarray:
        return _probabilities_of_votes(self._votes(X))

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
        best = winners(self._votes(self._new(X)))
        return self.classes_[best]

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the labels after each round.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Yields
        ------
        labels : ndarray of shape (n_samples,)
            Labels by the vote so far.
        """
        for votes in self._staged_votes(self._new(X)):
            yield self.classes_[winners(votes)]

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield normalised votes after each round.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Yields
        ------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            As :meth:`decision_function`.
        """
        for votes in self._staged_votes(self._new(X)):
            yield self._decision(votes)

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Yield probabilities after each round.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Yields
        ------
        probabilities : ndarray of shape (n_samples, n_classes)
            As :meth:`predict_proba`.
        """
        for votes in self._staged_votes(self._new(X)):
            yield _probabilities_of_votes(votes)

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


def _probabilities_of_votes(votes: np.ndarray) -> np.ndarray:
    # The multi-class exponential loss has the minimiser f_k = (K - 1) log P(k) + constant, and f is
    # a multiple of the votes: the factors cancel, for two classes as for more.
    return softmax(votes, axis=1)
