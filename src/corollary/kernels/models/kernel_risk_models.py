"""Estimators that minimise a regularised empirical risk in the space of a kernel."""

import warnings
from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from corollary.core.estimator import Count, Positive, Regressor, ScoringClassifier, fitted
from corollary.core.schema import Array, Integer, Labels, Number
from corollary.kernels.models._expansion import KernelExpansion, KernelOrMatrix
from corollary.kernels.models.kernel_erm import KernelRisk, minimise_kernel_risk
from corollary.risk import Loss, MarginLoss, RegressionLoss, check_loss


class _KernelERM(KernelExpansion):
    """What classifier and regressor share."""

    _: KW_ONLY
    loss: str | Loss
    alpha: Positive = 1.0
    kernel: KernelOrMatrix = "rbf"
    gamma: Positive | None = None
    degree: Count = 3
    coef0: float = 1.0
    max_iter: Count = 1000
    tol: Positive = 1e-6

    risk_: float = fitted()
    gap_: float = fitted(Number(0))
    n_iter_: int = fitted(Integer(0))

    def _checked_loss(self, kind: Any, wanted: str) -> Loss:
        loss = check_loss(self.loss)
        if not isinstance(loss, kind):
            raise ValueError(
                f"The 'loss' parameter of {type(self).__name__} must be a loss {wanted}. "
                f"Got {loss!r} instead."
            )
        return loss

    def _minimise(self, K: np.ndarray, y: np.ndarray, loss: Loss, weight: Any) -> KernelRisk:
        best = minimise_kernel_risk(
            K, y, loss, self.alpha, sample_weight=weight, max_iter=self.max_iter, tol=self.tol
        )
        if not best.converged:
            warnings.warn(
                f"{type(self).__name__} stopped after {best.n_iter} iterations with a gap of "
                f"{best.gap:.2g} at the objective {best.value:.6g}; wanted is {self.tol:.2g} of "
                "it. Raise max_iter, alpha or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return best


class KernelERMRegressor(_KernelERM, Regressor):
    """Regressor that minimises ``sum_i w_i V(y_i, f(x_i)) + alpha |f|^2`` for a regression loss.

    Parameters
    ----------
    loss : {"square", "absolute", "pinball", "epsilon_insensitive"} or Loss, default="square"
        A convex regression loss, differentiable or one of those named.
    alpha : float, default=1.0
        Positive weight of the squared norm of f in the kernel's space.
    kernel : Kernel, {"linear", "rbf", "poly", "polynomial", "laplacian", "sigmoid", "cosine", \
"chi2", "additive_chi2", "precomputed"} or callable, default="rbf"
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

    _: KW_ONLY
    loss: Literal["square", "absolute", "pinball", "epsilon_insensitive"] | Loss = "square"

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        loss = self._checked_loss(RegressionLoss, "of numbers")
        best = self._minimise(self._training_gram(X), y, loss, sample_weight)
        self.dual_coef_, self.risk_, self.gap_, self.n_iter_, _ = best

    def _predict(self, X: Any) -> np.ndarray:
        return self._expand(X)


class KernelERMClassifier(_KernelERM, ScoringClassifier):
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
    kernel : Kernel, {"linear", "rbf", "poly", "polynomial", "laplacian", "sigmoid", "cosine", \
"chi2", "additive_chi2", "precomputed"} or callable, default="rbf"
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

    Examples
    --------
    >>> from corollary.kernels import KernelERMClassifier
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], ["same", "same", "other", "other"]
    >>> KernelERMClassifier(loss="hinge", alpha=0.1, gamma=1.0).fit(X, y).predict([[0.9, 0.9]])
    array(['same'], dtype='<U5')
    """

    _: KW_ONLY
    loss: Literal["logistic", "hinge", "squared_hinge", "exponential", "square_margin"] | Loss = (
        "logistic"
    )

    classes_: np.ndarray = fitted(Labels("c"))
    dual_coef_: np.ndarray = fitted(Array("f", "n") | Array("f", "n", "c"))

    def _fits_together(self) -> str | None:
        if (len(self.classes_) == 2) != (self.dual_coef_.ndim == 1):
            return "coefficients and classes do not belong together"
        return super()._fits_together()

    def _fit(self, X: Any, codes: np.ndarray, sample_weight: np.ndarray | None) -> None:
        loss = self._checked_loss(MarginLoss, "of margins")
        n_classes = len(self.classes_)
        K = self._training_gram(X)
        parts = [
            self._minimise(K, np.where(codes == c, 1.0, -1.0), loss, sample_weight)
            for c in ([1] if n_classes == 2 else range(n_classes))
        ]
        coef = np.stack([part.dual_coef for part in parts], axis=1)
        self.dual_coef_ = coef[:, 0] if n_classes == 2 else coef
        self.risk_ = float(sum(part.value for part in parts))
        self.gap_ = float(sum(part.gap for part in parts))
        self.n_iter_ = max(part.n_iter for part in parts)

    def _scores(self, X: Any) -> np.ndarray:
        return self._expand(X)
