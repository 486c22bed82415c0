"""Bagging: the same learner on many bootstrap samples, averaged."""

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from corollary.core.estimator import ProbabilisticClassifier, Regressor, fitted
from corollary.core.protocols import Bag
from corollary.core.schema import Array, Integer, Optional
from corollary.ensemble._members import aligned_probabilities, label_codes
from corollary.ensemble.bagging._bag import BaseBagging
from corollary.ensemble.bagging._bootstrapped import determination
from corollary.tree import DecisionTreeClassifier, DecisionTreeRegressor


def _members_score(bag: Any) -> bool:
    """Tell whether members have scores; the error of one that has none says so."""
    members = getattr(bag, "estimators_", None) or [bag._inner()["estimator"]]
    return callable(members[0].decision_function)


class BaggingClassifier(BaseBagging, ProbabilisticClassifier):
    """Classify by the mean of classifiers fitted to bootstrap samples.

    Probabilities are averaged; of members without probabilities the votes are. Among classes with
    equal means the first is predicted.

    Parameters
    ----------
    estimator : estimator or None, default=None
        What to bag: any classifier; None for a decision tree.
    n_estimators : int, default=10
        Number of members.
    max_samples : int, float or None, default=None
        Draws for each member; as a float, a share of the rows. None for as many as rows.
    max_features : int or float, default=1.0
        Columns drawn for each member; as a float, a share.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement.
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement.
    oob_score : bool, default=False
        Whether to predict every row by the members that have not seen it.
    warm_start : bool, default=False
        Whether a further ``fit`` to the same rows adds members up to ``n_estimators``; the bag is
        the one that has so many members from the start.
    n_jobs : int or None, default=None
        Workers of joblib, threads unless ``joblib.parallel_config`` says otherwise; None for one.
        The bag does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Determines rows, columns and the members' own random states.
    verbose : int, default=0
        Changes nothing: in a terminal long work shows its progress by itself.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_classes_ : int
        Their number.
    estimator_ : estimator
        What was bagged.
    estimators_ : list of estimators
        The fitted members.
    estimators_features_ : list of ndarray of int
        Columns of each member.
    estimators_samples_ : list of ndarray of int
        Rows of each member.
    oob_score_ : float
        Accuracy of the out-of-bag predictions, if ``oob_score``.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Out-of-bag predictions, NaN for rows that all members have seen; if ``oob_score``.
    n_samples_ : int
        Training rows.
    seed_ : int
        Seed of all random draws.
    settings_ : ndarray of str
        Parameters that the members were fitted with.
    bag_weight_ : ndarray of shape (n_samples,)
        Weights by which rows were drawn, if they had weights.

    See Also
    --------
    BaggingRegressor : The same for numeric targets.
    RandomForestClassifier : Bagged trees with random columns at every split, faster.

    Notes
    -----
    Averaging leaves the bias as it is and lowers the variance, most for unstable learners such as
    trees. Weights of rows are chances to be drawn, for any estimator.

    References
    ----------
    .. [1] L. Breiman (1996). Bagging predictors. Machine Learning 24, 123-140.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from corollary.ensemble import BaggingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BaggingClassifier(n_estimators=30, oob_score=True, random_state=0).fit(X, y)
    >>> model.oob_score_ > 0.9
    True
    """

    n_classes_: int = fitted(Integer(1))
    oob_decision_function_: np.ndarray = fitted(Optional(Array("f", "n", "k", nan=True)))

    def _check_rows(self, X: Any, y: Any, sample_weight: Any) -> Any:
        rows = super()._check_rows(X, y, sample_weight)
        self.n_classes_ = len(self.classes_)
        return rows

    def _n_outputs(self) -> int:
        return len(self.classes_)

    def _fits_together(self) -> str | None:
        if self.n_classes_ != len(self.classes_):
            return "the number of classes does not fit"
        return super()._fits_together()

    def _probabilities(self, X: Any) -> np.ndarray:
        return self._mean(X)

    @available_if(_members_score)
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the mean of the members' scores, if members have any.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one score, positive for the second class; else one per class.
        """
        X = self._new(X)
        pairs = zip(self.estimators_, self.estimators_features_)
        scores = [self._scores_of_member(m, self._columns(X, columns)) for m, columns in pairs]
        return sum(scores[1:], start=scores[0]) / len(scores)

    def _scores_of_member(self, member: Any, X: Any) -> np.ndarray:
        """Return the scores of a member that knows all classes."""
        if len(member.classes_) != len(self.classes_):
            raise ValueError(
                f"A member of BaggingClassifier saw {len(member.classes_)} of "
                f"{len(self.classes_)} classes, so that its scores cannot be averaged. Raise "
                "max_samples, or use predict_proba."
            )
        return np.asarray(member.decision_function(X), dtype=np.float64)

    def as_bag(self, y: np.ndarray) -> Bag | None:
        """Return members and draws, if no row touched a member that had not drawn it.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Labels of the training rows, in their order.

        Returns
        -------
        bag : Bag or None
            None if rows had weights, or some draw misses a class: its member is trained on all
            rows, those not drawn at weight zero.
        """
        classes = len(self.classes_)
        drawn = self.estimators_samples_
        if hasattr(self, "bag_weight_") or any(len(np.unique(y[d])) != classes for d in drawn):
            return None
        return Bag(self.estimators_, drawn, self.estimators_features_)

    def _default(self) -> DecisionTreeClassifier:
        return DecisionTreeClassifier()

    def _answers(self, member: Any, X: Any) -> np.ndarray:
        who = type(self).__name__
        if hasattr(member, "predict_proba"):
            return aligned_probabilities(who, self.classes_, member, X)
        codes = label_codes(who, self.classes_, member.predict(X))
        return np.eye(len(self.classes_))[codes]

    def _keep_out_of_bag(self, mean: np.ndarray, answered: np.ndarray, y: np.ndarray) -> None:
        self.oob_decision_function_ = mean
        predicted = self.classes_[mean[answered].argmax(axis=1)]
        self.oob_score_ = float((predicted == y[answered]).mean())


class BaggingRegressor(BaseBagging, Regressor):
    """Predict numbers by the mean of regressors fitted to bootstrap samples.

    Parameters
    ----------
    estimator : estimator or None, default=None
        What to bag: any regressor; None for a decision tree.
    n_estimators : int, default=10
        Number of members.
    max_samples : int, float or None, default=None
        Draws for each member; as a float, a share of the rows. None for as many as rows.
    max_features : int or float, default=1.0
        Columns drawn for each member; as a float, a share.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement.
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement.
    oob_score : bool, default=False
        Whether to predict every row by the members that have not seen it.
    warm_start : bool, default=False
        Whether a further ``fit`` to the same rows adds members up to ``n_estimators``; the bag is
        the one that has so many members from the start.
    n_jobs : int or None, default=None
        Workers of joblib, threads unless ``joblib.parallel_config`` says otherwise; None for one.
        The bag does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Determines rows, columns and the members' own random states.
    verbose : int, default=0
        Changes nothing: in a terminal long work shows its progress by itself.

    Attributes
    ----------
    estimator_ : estimator
        What was bagged.
    estimators_ : list of estimators
        The fitted members.
    estimators_features_ : list of ndarray of int
        Columns of each member.
    estimators_samples_ : list of ndarray of int
        Rows of each member.
    oob_score_ : float
        Coefficient of determination of the out-of-bag predictions, if ``oob_score``.
    oob_prediction_ : ndarray of shape (n_samples,)
        Out-of-bag predictions, NaN for rows that all members have seen; if ``oob_score``.
    n_samples_ : int
        Training rows.
    seed_ : int
        Seed of all random draws.
    settings_ : ndarray of str
        Parameters that the members were fitted with.
    bag_weight_ : ndarray of shape (n_samples,)
        Weights by which rows were drawn, if they had weights.

    See Also
    --------
    BaggingClassifier : The same for labels.
    RandomForestRegressor : Bagged trees with random columns at every split, faster.

    Notes
    -----
    Averaging leaves the bias as it is and lowers the variance, most for unstable learners such as
    trees. Weights of rows are chances to be drawn, for any estimator.

    References
    ----------
    .. [1] L. Breiman (1996). Bagging predictors. Machine Learning 24, 123-140.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import BaggingRegressor
    >>> from corollary.linear import Ridge
    >>> X = np.arange(20.0)[:, None]
    >>> model = BaggingRegressor(Ridge(), 5, random_state=0).fit(X, 2.0 * X[:, 0])
    >>> model.predict([[3.0]]).round(1)
    array([6.])
    """

    oob_prediction_: np.ndarray = fitted(Optional(Array("f", "n", nan=True)))

    def _predict(self, X: Any) -> np.ndarray:
        return self._mean(X)[:, 0]

    def _default(self) -> DecisionTreeRegressor:
        return DecisionTreeRegressor()

    def _answers(self, member: Any, X: Any) -> np.ndarray:
        return np.asarray(member.predict(X), dtype=np.float64).reshape(-1, 1)

    def _keep_out_of_bag(self, mean: np.ndarray, answered: np.ndarray, y: np.ndarray) -> None:
        self.oob_prediction_ = mean[:, 0]
        self.oob_score_ = determination(y[answered], mean[answered, 0])
