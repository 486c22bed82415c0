"""Estimators that minimise the empirical risk over linear predictors, for any smooth loss."""

from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal

import numpy as np

from corollary.core.estimator import (
    Count,
    Learner,
    NonNegative,
    Positive,
    Regressor,
    ScoringClassifier,
    fitted,
)
from corollary.core.parallel import row_products
from corollary.core.schema import Array, Integer
from corollary.risk._records import LinearMinimum
from corollary.risk.losses.label_losses import CrossEntropyLoss
from corollary.risk.losses.loss import Loss, check_loss
from corollary.risk.losses.margin import MarginLoss
from corollary.risk.losses.regression_losses import RegressionLoss
from corollary.risk.minimise.parametric import minimise_linear


class _RiskMinimiser(Learner):
    """Parameters of both, and the minimisation."""

    _: KW_ONLY
    loss: str | Loss = ""
    alpha: NonNegative = 0.0
    fit_intercept: bool = True
    max_iter: Count = 1000
    tol: Positive = 1e-6

    risk_: float = fitted()
    n_iter_: int = fitted(Integer(0))

    _rows: ClassVar[dict[str, Any]] = {"accept_sparse": "csr"}
    _training_rows: ClassVar[dict[str, Any]] = {"finite_squares": True}

    def _loss_among(self, kinds: tuple[type[Loss], ...], what: str) -> Any:
        loss = check_loss(self.loss)
        if not isinstance(loss, kinds):
            raise ValueError(
                f"The 'loss' parameter of {type(self).__name__} must be a loss {what}. "
                f"Got {loss!r} instead."
            )
        return loss

    def _minimise(self, X: Any, y: np.ndarray, loss: Loss, weight: Any) -> LinearMinimum:
        minimum = minimise_linear(
            X,
            y,
            loss,
            alpha=self.alpha,
            fit_intercept=self.fit_intercept,
            sample_weight=weight,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self.risk_, self.n_iter_ = minimum.value, minimum.n_iter
        return minimum


class ERMClassifier(_RiskMinimiser, ScoringClassifier):
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

    _: KW_ONLY
    loss: (
        Literal["logistic", "squared_hinge", "exponential", "square_margin", "cross_entropy"] | Loss
    ) = "logistic"

    coef_: np.ndarray = fitted(Array("f", 1, "d") | Array("f", "k", "d"))
    intercept_: np.ndarray = fitted(Array("f", 1) | Array("f", "k"))

    def _fits_together(self) -> str | None:
        rows, n_classes = len(self.coef_), len(self.classes_)
        if n_classes < 2 or len(self.intercept_) != rows or (rows == 1) != (n_classes == 2):
            return f"{rows} rows of coefficients do not fit {n_classes} classes"
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.loss == "cross_entropy" or isinstance(
            self.loss, CrossEntropyLoss
        )
        return tags

    def _fit(self, X: Any, codes: np.ndarray, sample_weight: np.ndarray | None) -> None:
        loss = self._loss_among((MarginLoss, CrossEntropyLoss), "of scores of classes")
        binary = isinstance(loss, MarginLoss)
        if binary and len(self.classes_) > 2:
            # The first sentence is scikit-learn's own wording for binary classifiers.
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"got {len(self.classes_)} classes with a margin loss; use loss='cross_entropy'."
            )
        minimum = self._minimise(X, 2 * codes - 1 if binary else codes, loss, sample_weight)
        self.coef_ = np.atleast_2d(minimum.coef.T)
        self.intercept_ = np.atleast_1d(minimum.intercept)

    def _scores(self, X: Any) -> np.ndarray:
        scores = row_products(X, self.coef_.T) + self.intercept_
        if scores.shape[1] == 1:
            return scores[:, 0]
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _choose(self, scores: np.ndarray) -> np.ndarray:
        # As everywhere in this package, a score of exactly zero means the second class.
        best = (scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]


class ERMRegressor(_RiskMinimiser, Regressor):
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

    _: KW_ONLY
    loss: Literal["square"] | Loss = "square"

    coef_: np.ndarray = fitted(Array("f", "d"))
    intercept_: float = fitted()

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        loss = self._loss_among((RegressionLoss,), "of numbers")
        minimum = self._minimise(X, y, loss, sample_weight)
        self.coef_, self.intercept_ = minimum.coef, float(minimum.intercept)

    def _predict(self, X: Any) -> np.ndarray:
        return row_products(X, self.coef_) + self.intercept_
