"""Bagging: the same learner on many bootstrap samples, averaged."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from corollary.core.compat import fit_context
from corollary.core.protocols import Bag
from corollary.core.schema import Array, Instance, Integer, Labels, Nullable, Optional, Schema, Spec
from corollary.ensemble._members import aligned_probabilities, label_codes
from corollary.ensemble.bagging._bag import FITTED_BAG, BaseBagging, bag_fits
from corollary.tree import DecisionTreeClassifier, DecisionTreeRegressor

_PARAMETERS: dict[str, Spec] = {"estimator": Nullable(Instance("fit", "predict", "get_params"))}


def _classifier_fits(model: Any) -> str | None:
    if model.n_classes_ != len(model.classes_):
        return "the number of classes does not fit"
    return bag_fits(model)


class BaggingClassifier(ClassifierMixin, BaseBagging):
    """Classify by the mean of classifiers fitted to bootstrap samples.

    Probabilities are averaged; of members without probabilities the votes are. Among classes with
    equal means the first is predicted.

    Parameters
    ----------
    estimator : estimator or None, default=None
        What to bag: any classifier; None for a decision tree.
    n_estimators : int, default=10
        Number of members.
    max_samples : int, float or None, default=1.0
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
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if they have names.
    fingerprint_ : Fingerprint
        Memory of the training rows, if they are numbers.

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

    _schema = Schema(
        _classifier_fits,
        _PARAMETERS,
        classes_=Labels("k"),
        n_classes_=Integer(1),
        oob_decision_function_=Optional(Array("f", "n", "k")),
        **FITTED_BAG,
    )

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = 1.0,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    # Members validate what concerns them: their parameters and the rows.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training inputs, as the members take them.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows: their chances to be drawn.

        Returns
        -------
        self : BaggingClassifier
            The fitted model.
        """
        self._fit_bag(X, y, sample_weight)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the mean of the members' probabilities or votes.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._mean(X)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of :meth:`predict_proba`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            Minus infinity for classes that no member expects.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class with the largest mean.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels.
        """
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

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

    def _keep_out_of_bag(self, mean: np.ndarray, known: np.ndarray, y: np.ndarray) -> None:
        self.oob_decision_function_ = mean
        predicted = self.classes_[mean[known].argmax(axis=1)]
        self.oob_score_ = float((predicted == y[known]).mean())


class BaggingRegressor(RegressorMixin, BaseBagging):
    """Predict numbers by the mean of regressors fitted to bootstrap samples.

    Parameters
    ----------
    estimator : estimator or None, default=None
        What to bag: any regressor; None for a decision tree.
    n_estimators : int, default=10
        Number of members.
    max_samples : int, float or None, default=1.0
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
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if they have names.
    fingerprint_ : Fingerprint
        Memory of the training rows, if they are numbers.

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

    _schema = Schema(bag_fits, _PARAMETERS, oob_prediction_=Optional(Array("f", "n")), **FITTED_BAG)

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = 1.0,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    # Members validate what concerns them: their parameters and the rows.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training inputs, as the members take them.
        y : array-like of shape (n_samples,)
            Numbers.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows: their chances to be drawn.

        Returns
        -------
        self : BaggingRegressor
            The fitted model.
        """
        self._fit_bag(X, y, sample_weight)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the mean of the members.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predictions.
        """
        return self._mean(X)[:, 0]

    def _default(self) -> DecisionTreeRegressor:
        return DecisionTreeRegressor()

    def _answers(self, member: Any, X: Any) -> np.ndarray:
        return np.asarray(member.predict(X), dtype=np.float64).reshape(-1, 1)

    def _keep_out_of_bag(self, mean: np.ndarray, known: np.ndarray, y: np.ndarray) -> None:
        self.oob_prediction_ = mean[:, 0]
        spread = ((y[known] - y[known].mean()) ** 2).sum()
        residual = ((y[known] - self.oob_prediction_[known]) ** 2).sum()
        self.oob_score_ = float(1.0 - residual / spread) if spread > 0 else float("nan")
