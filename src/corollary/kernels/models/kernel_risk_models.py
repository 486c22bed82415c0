"""Estimators that minimise a regularised empirical risk in the space of a kernel."""

import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets

from corollary.core.compat import Interval, StrOptions, fit_context
from corollary.core.estimator import check_new_data, check_training_data
from corollary.core.schema import (
    Array,
    Instance,
    Integer,
    Labels,
    Nullable,
    Number,
    Optional,
    Schema,
    Size,
    Sparse,
    Spec,
    Strings,
)
from corollary.kernels.base import Kernel
from corollary.kernels.models.kernel_erm import KernelRisk, minimise_kernel_risk
from corollary.kernels.models.kernel_ridge import expand, rows_go_with_kernel, training_gram
from corollary.kernels.named import NAMES
from corollary.risk import Loss, MarginLoss, RegressionLoss, check_loss

_SHARED: dict[str, list[Any]] = {
    "alpha": [Interval(Real, 0, None, closed="neither")],
    "kernel": [Kernel, StrOptions({*NAMES, "precomputed"})],
    "gamma": [Interval(Real, 0, None, closed="neither"), None],
    "degree": [Interval(Integral, 1, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="neither")],
}
_FITTED: dict[str, Spec] = {
    "X_fit_": Nullable(Array("f", "n", "d") | Sparse("n", "d")),
    "kernel_": Nullable(Instance("gram")),
    "risk_": Number(),
    "gap_": Number(0),
    "n_iter_": Integer(0),
    "n_features_in_": Size("d"),
    "feature_names_in_": Optional(Strings("d")),
    "fingerprint_": Optional(Instance("overlap")),
}


class _KernelERM(BaseEstimator):
    """What classifier and regressor share."""

    def __init__(
        self,
        *,
        loss: str | Loss,
        alpha: float = 1.0,
        kernel: Any = "rbf",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-6,
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.max_iter = max_iter
        self.tol = tol

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    def _checked_loss(self, kind: Any, wanted: str) -> Loss:
        loss = check_loss(self.loss)
        if not isinstance(loss, kind):
            raise ValueError(
                f"The 'loss' parameter of {type(self).__name__} must be a loss {wanted}. "
                f"Got {loss!r} instead."
            )
        return loss

    def _minimise(self, K: np.ndarray, y: np.ndarray, loss: Loss, weight: Any) -> KernelRisk:
        found = minimise_kernel_risk(
            K, y, loss, self.alpha, sample_weight=weight, max_iter=self.max_iter, tol=self.tol
        )
        if not found.converged:
            warnings.warn(
                f"{type(self).__name__} stopped after {found.n_iter} iterations with a gap of "
                f"{found.gap:.2g} at the objective {found.value:.6g}; wanted is {self.tol:.2g} of "
                "it. Raise max_iter, alpha or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return found

    def _scores(self, X: Any) -> np.ndarray:
        X = check_new_data(self, X, accept_sparse="csr")
        return expand(self.kernel_, X, self.X_fit_, self.dual_coef_)


class KernelERMRegressor(RegressorMixin, _KernelERM):
    """Regressor that minimises ``sum_i w_i V(y_i, f(x_i)) + alpha |f|^2`` for a regression loss.

    Parameters
    ----------
    loss : {"square", "absolute", "pinball", "epsilon_insensitive"} or Loss, default="square"
        A convex regression loss, differentiable or one of those named.
    alpha : float, default=1.0
        Positive weight of the squared norm of f in the kernel's space.
    kernel : Kernel, {"linear", "rbf", "poly", "polynomial", "laplacian", "sigmoid"} or \
"precomputed", default="rbf"
        Any kernel of this library; a name of scikit-learn's, with the three parameters below; or
        "precomputed", when X is a Gram matrix.
    gamma : float or None, default=None
        For named kernels, see :func:`check_kernel`.
    degree : int, default=3
        For the named polynomial kernel.
    coef0 : float, default=1.0
        For the named polynomial and sigmoid kernels.
    max_iter : int, default=1000
        Largest number of iterations.
    tol : float, default=1e-6
        Wanted gap to the minimum, relative to the objective.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,)
        Coefficients of ``f(x) = sum_i dual_coef_[i] k(X_fit_[i], x)``.
    X_fit_ : ndarray or sparse matrix of shape (n_samples, n_features)
        Training inputs; None if the kernel is "precomputed".
    kernel_ : Kernel
        The kernel used; None if the kernel is "precomputed".
    risk_ : float
        The objective reached.
    gap_ : float
        Upper bound on its distance to the minimum.
    n_iter_ : int
        Iterations.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if the training inputs had names.
    fingerprint_ : Fingerprint
        Memory of the training rows.

    See Also
    --------
    KernelRidge : The square loss in closed form.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import KernelERMRegressor, RBF
    >>> x = np.linspace(0.0, 6.0, 30)[:, None]
    >>> y = np.sin(x).ravel()
    >>> y[3] = 50.0  # an outlier
    >>> model = KernelERMRegressor(loss="absolute", alpha=0.1, kernel=RBF()).fit(x, y)
    >>> bool(abs(model.predict([[3.0]])[0] - np.sin(3.0)) < 0.1)
    True
    """

    _parameter_constraints = {
        "loss": [StrOptions({"square", "absolute", "pinball", "epsilon_insensitive"}), Loss],
        **_SHARED,
    }
    _schema = Schema(rows_go_with_kernel, dual_coef_=Array("f", "n"), **_FITTED)

    def __init__(
        self,
        *,
        loss: str | Loss = "square",
        alpha: float = 1.0,
        kernel: Any = "rbf",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-6,
    ) -> None:
        super().__init__(
            loss=loss,
            alpha=alpha,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            max_iter=max_iter,
            tol=tol,
        )

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Minimise the risk.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training inputs, or their Gram matrix if the kernel is "precomputed".
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Non-negative weights.

        Returns
        -------
        self : KernelERMRegressor
            The fitted model.
        """
        X, y, weight = check_training_data(
            self, X, y, sample_weight=sample_weight, accept_sparse="csr", y_numeric=True
        )
        loss = self._checked_loss(RegressionLoss, "of numbers")
        K, self.kernel_, self.X_fit_ = training_gram(self, X)
        found = self._minimise(K, np.asarray(y, dtype=float), loss, weight)
        self.dual_coef_, self.risk_, self.gap_, self.n_iter_, _ = found
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Inputs; kernel values with the training inputs if the kernel is "precomputed".

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predictions.
        """
        return self._scores(X)


class KernelERMClassifier(ClassifierMixin, _KernelERM):
    """Classifier that minimises ``sum_i w_i V(y_i, f(x_i)) + alpha |f|^2`` for a margin loss.

    Several classes are told apart one against the rest.

    Parameters
    ----------
    loss : {"logistic", "hinge", "squared_hinge", "exponential", "square_margin"} or Loss, \
default="logistic"
        A convex margin loss, differentiable or the hinge.
    alpha : float, default=1.0
        Positive weight of the squared norm of f in the kernel's space. A support vector machine
        without intercept has ``alpha = 1 / (2 C)`` and the hinge loss.
    kernel : Kernel, {"linear", "rbf", "poly", "polynomial", "laplacian", "sigmoid"} or \
"precomputed", default="rbf"
        Any kernel of this library; a name of scikit-learn's, with the three parameters below; or
        "precomputed", when X is a Gram matrix.
    gamma : float or None, default=None
        For named kernels, see :func:`check_kernel`.
    degree : int, default=3
        For the named polynomial kernel.
    coef0 : float, default=1.0
        For the named polynomial and sigmoid kernels.
    max_iter : int, default=1000
        Largest number of iterations.
    tol : float, default=1e-6
        Wanted gap to the minimum, relative to the objective.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Coefficients of ``f(x) = sum_i dual_coef_[i] k(X_fit_[i], x)``; one column for each class
        if there are more than two.
    X_fit_ : ndarray or sparse matrix of shape (n_samples, n_features)
        Training inputs; None if the kernel is "precomputed".
    kernel_ : Kernel
        The kernel used; None if the kernel is "precomputed".
    risk_ : float
        The objective reached, summed over the classes if there are more than two.
    gap_ : float
        Upper bound on its distance to the minimum.
    n_iter_ : int
        Iterations, the most for one class.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if the training inputs had names.
    fingerprint_ : Fingerprint
        Memory of the training rows.

    Examples
    --------
    >>> from corollary.kernels import KernelERMClassifier
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], ["same", "same", "other", "other"]
    >>> KernelERMClassifier(loss="hinge", alpha=0.1, gamma=1.0).fit(X, y).predict([[0.9, 0.9]])
    array(['same'], dtype='<U5')
    """

    _parameter_constraints = {
        "loss": [
            StrOptions({"logistic", "hinge", "squared_hinge", "exponential", "square_margin"}),
            Loss,
        ],
        **_SHARED,
    }
    _schema = Schema(
        lambda model: (
            rows_go_with_kernel(model)
            if (len(model.classes_) == 2) == (model.dual_coef_.ndim == 1)
            else "coefficients and classes do not belong together"
        ),
        classes_=Labels("c"),
        dual_coef_=Array("f", "n") | Array("f", "n", "c"),
        **_FITTED,
    )

    def __init__(
        self,
        *,
        loss: str | Loss = "logistic",
        alpha: float = 1.0,
        kernel: Any = "rbf",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-6,
    ) -> None:
        super().__init__(
            loss=loss,
            alpha=alpha,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            max_iter=max_iter,
            tol=tol,
        )

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Minimise the risk.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training inputs, or their Gram matrix if the kernel is "precomputed".
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Non-negative weights.

        Returns
        -------
        self : KernelERMClassifier
            The fitted model.
        """
        X, y, weight = check_training_data(
            self, X, y, sample_weight=sample_weight, accept_sparse="csr"
        )
        check_classification_targets(y)
        loss = self._checked_loss(MarginLoss, "of margins")
        self.classes_, codes = np.unique(y, return_inverse=True)
        n_classes = len(self.classes_)
        if n_classes < 2:
            raise ValueError(
                "KernelERMClassifier needs two classes at least. Got 1 class: "
                f"{self.classes_[0]!r}."
            )
        K, self.kernel_, self.X_fit_ = training_gram(self, X)
        against = [1] if n_classes == 2 else range(n_classes)
        found = [self._minimise(K, np.where(codes == c, 1.0, -1.0), loss, weight) for c in against]
        coef = np.stack([part.dual_coef for part in found], axis=1)
        self.dual_coef_ = coef[:, 0] if n_classes == 2 else coef
        self.risk_ = float(sum(part.value for part in found))
        self.gap_ = float(sum(part.gap for part in found))
        self.n_iter_ = max(part.n_iter for part in found)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Inputs; kernel values with the training inputs if the kernel is "precomputed".

        Returns
        -------
        score : ndarray of shape (n_samples,) or (n_samples, n_classes)
            One score for two classes (positive for the second), else one for each class.
        """
        return self._scores(X)

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Inputs; kernel values with the training inputs if the kernel is "precomputed".

        Returns
        -------
        label : ndarray of shape (n_samples,)
            Labels.
        """
        scores = self.decision_function(X)
        codes = (scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]
