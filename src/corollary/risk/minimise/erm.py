"""Estimators that minimise the empirical risk over linear predictors, for any smooth loss."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets

from corollary.core.compat import Interval, StrOptions, fit_context
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
from corollary.risk.losses.label_losses import CrossEntropyLoss
from corollary.risk.losses.loss import Loss, check_loss
from corollary.risk.losses.margin import MarginLoss
from corollary.risk.losses.regression_losses import RegressionLoss
from corollary.risk.minimise.parametric import minimise_linear

_SHARED_CONSTRAINTS: dict[str, list[Any]] = {
    "alpha": [Interval(Real, 0, None, closed="left")],
    "fit_intercept": ["boolean"],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="neither")],
}


def _fits_together(model: Any) -> str | None:
    rows, n_classes = len(model.coef_), len(model.classes_)
    if n_classes < 2 or len(model.intercept_) != rows or (rows == 1) != (n_classes == 2):
        return f"{rows} rows of coefficients do not fit {n_classes} classes"
    return None


class ERMClassifier(ClassifierMixin, BaseEstimator):
    """Linear classifier that minimises the empirical risk of any smooth surrogate loss.

    The three ingredients of empirical risk minimisation are the loss, the class (linear scores
    ``x' w + b``) and the selection rule that turns scores into labels: the sign for margin losses
    (``sign(0)`` is the second class), the largest score for cross-entropy.

    Parameters
    ----------
    loss : {"logistic", "squared_hinge", "exponential", "square_margin", "cross_entropy"} or \
Loss, default="logistic"
        A differentiable loss. Margin losses need two classes; cross-entropy takes any number.
    alpha : float, default=0.0
        Weight of the penalty ``||w||^2`` beside the *mean* loss; 0 for plain empirical risk
        minimisation.
    fit_intercept : bool, default=True
        Whether there is an intercept, which is not penalised.
    max_iter : int, default=1000
        Largest number of L-BFGS iterations.
    tol : float, default=1e-6
        Stop when no entry of the gradient exceeds this.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    risk_ : float
        The objective reached: mean loss plus penalty.
    n_iter_ : int
        Iterations.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the training inputs had names.

    See Also
    --------
    minimise_linear : The minimisation itself.
    minimise_finite : Exact search of a finite class under any loss.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.risk import ERMClassifier
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> y = np.array(["no", "yes", "no", "yes"])
    >>> ERMClassifier(loss="squared_hinge").fit(X, y).predict([[0.5], [2.5]])
    array(['no', 'yes'], dtype='<U3')
    """

    _parameter_constraints = {
        "loss": [
            StrOptions(
                {"logistic", "squared_hinge", "exponential", "square_margin", "cross_entropy"}
            ),
            Loss,
        ],
        **_SHARED_CONSTRAINTS,
    }

    _schema = Schema(
        _fits_together,
        classes_=Labels("c"),
        coef_=Array("f", 1, "d") | Array("f", "c", "d"),
        intercept_=Array("f", 1) | Array("f", "c"),
        risk_=Number(),
        n_iter_=Integer(0),
        n_features_in_=Size("d"),
        feature_names_in_=Optional(Strings("d")),
        fingerprint_=Optional(Instance("overlap")),
    )

    def __init__(
        self,
        *,
        loss: str | Loss = "logistic",
        alpha: float = 0.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-6,
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = self.loss == "cross_entropy" or isinstance(
            self.loss, CrossEntropyLoss
        )
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Minimise the empirical risk.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training inputs.
        y : array-like of shape (n_samples,)
            Training labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights.

        Returns
        -------
        self : ERMClassifier
            The fitted classifier.
        """
        X, y, weight = check_training_data(
            self, X, y, sample_weight=sample_weight, accept_sparse="csr", finite_squares=True
        )
        check_classification_targets(y)
        loss = _check_kind(self, (MarginLoss, CrossEntropyLoss), "of scores of classes")
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"ERMClassifier needs two classes at least. Got 1 class: {self.classes_[0]!r}."
            )
        binary = isinstance(loss, MarginLoss)
        if binary and len(self.classes_) > 2:
            # The first sentence is scikit-learn's own wording for binary classifiers.
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"got {len(self.classes_)} classes with a margin loss; use loss='cross_entropy'."
            )
        found = minimise_linear(
            X,
            2 * codes - 1 if binary else codes,
            loss,
            alpha=self.alpha,
            fit_intercept=self.fit_intercept,
            sample_weight=weight,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self.coef_ = np.atleast_2d(found.coef.T)
        self.intercept_ = np.atleast_1d(found.intercept)
        self.risk_, self.n_iter_ = found.value, found.n_iter
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        score : ndarray of shape (n_samples,) or (n_samples, n_classes)
            One score for two classes (positive for the second), else one for each class.
        """
        X = check_new_data(self, X, accept_sparse="csr")
        scores = X @ self.coef_.T + self.intercept_
        if scores.shape[1] == 1:
            return scores[:, 0]
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        label : ndarray of shape (n_samples,)
            Labels.
        """
        scores = self.decision_function(X)
        codes = (scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]


class ERMRegressor(RegressorMixin, BaseEstimator):
    """Linear regressor that minimises the empirical risk of any smooth regression loss.

    Parameters
    ----------
    loss : {"square"} or Loss, default="square"
        A differentiable regression loss.
    alpha : float, default=0.0
        Weight of the penalty ``||w||^2`` beside the *mean* loss.
    fit_intercept : bool, default=True
        Whether there is an intercept, which is not penalised.
    max_iter : int, default=1000
        Largest number of L-BFGS iterations.
    tol : float, default=1e-6
        Stop when no entry of the gradient exceeds this.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    risk_ : float
        The objective reached: mean loss plus penalty.
    n_iter_ : int
        Iterations.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the training inputs had names.

    See Also
    --------
    minimise_linear : The minimisation itself.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.risk import ERMRegressor
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> ERMRegressor().fit(X, [1.0, 3.0, 5.0]).predict([[3.0]]).round(3)
    array([7.])
    """

    _parameter_constraints = {"loss": [StrOptions({"square"}), Loss], **_SHARED_CONSTRAINTS}

    _schema = Schema(
        coef_=Array("f", "d"),
        intercept_=Number(),
        risk_=Number(),
        n_iter_=Integer(0),
        n_features_in_=Size("d"),
        feature_names_in_=Optional(Strings("d")),
        fingerprint_=Optional(Instance("overlap")),
    )

    def __init__(
        self,
        *,
        loss: str | Loss = "square",
        alpha: float = 0.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-6,
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Minimise the empirical risk.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training inputs.
        y : array-like of shape (n_samples,)
            Training outputs.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights.

        Returns
        -------
        self : ERMRegressor
            The fitted regressor.
        """
        X, y, weight = check_training_data(
            self,
            X,
            y,
            sample_weight=sample_weight,
            accept_sparse="csr",
            y_numeric=True,
            finite_squares=True,
        )
        loss = _check_kind(self, (RegressionLoss,), "of numbers")
        found = minimise_linear(
            X,
            y,
            loss,
            alpha=self.alpha,
            fit_intercept=self.fit_intercept,
            sample_weight=weight,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self.coef_, self.intercept_ = found.coef, float(found.intercept)
        self.risk_, self.n_iter_ = found.value, found.n_iter
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict outputs.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predictions.
        """
        X = check_new_data(self, X, accept_sparse="csr")
        return X @ self.coef_ + self.intercept_


def _check_kind(estimator: Any, kinds: tuple[type[Loss], ...], wanted: str) -> Loss:
    loss = check_loss(estimator.loss)
    if not isinstance(loss, kinds):
        raise ValueError(
            f"The 'loss' parameter of {type(estimator).__name__} must be a loss {wanted}. "
            f"Got {loss!r} instead."
        )
    return loss
