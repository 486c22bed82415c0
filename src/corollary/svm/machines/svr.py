"""Support vector regression."""

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from corollary.core.estimator import Count, NoEffect, NonNegative, Positive
from corollary.svm.dual._descent import minimise
from corollary.svm.machines._machine import Gamma, KernelLike, Steps
from corollary.svm.machines._regressor import KernelRegressor


class SVR(KernelRegressor):
    r"""Regress with a tube in which errors cost nothing.

    Minimises :math:`\frac12 \|w\|^2 + C \sum_i \max(0, |y_i - f(x_i)| - \varepsilon)` over
    :math:`f = \langle w, \phi(\cdot) \rangle + b`. Rows strictly inside the tube have no weight.

    Parameters
    ----------
    kernel : Kernel, str or callable, default="rbf"
        Any kernel of this library, or object of scikit-learn's ``gaussian_process.kernels``; one of
        scikit-learn's names "rbf", "linear", "poly" and
        "sigmoid", with the three parameters below; "precomputed", when X is a Gram matrix; or a
        function of two sets of rows, with which the model cannot be saved.
    degree : int, default=3
        For the named polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        For named kernels, as in ``exp(-gamma |x - y|^2)``; "scale" is one over the number of
        features times the variance of X, "auto" one over the number of features.
    coef0 : float, default=0.0
        For the named polynomial and sigmoid kernels.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in units of the target.
    C : float, default=1.0
        Price of errors outside the tube.
    epsilon : float, default=0.1
        Half width of the tube.
    shrinking : bool, default=True
        Not used: the solver shrinks as it sees fit, and the result is the same.
    cache_size : float, default=200
        Megabytes for the solver.
    verbose : bool, default=False
        Not used: long work shows its progress in a terminal by itself.
    max_iter : int, default=-1
        Largest number of pair steps; -1 for ten million, or a hundred for each row if that is more.

    Attributes
    ----------
    support_ : ndarray of int of shape (n_support,)
        Training rows that are support vectors.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        Those rows; None if the kernel is "precomputed".
    n_support_ : ndarray of int of shape (1,)
        Number of support vectors.
    dual_coef_ : ndarray of shape (1, n_support)
        Their weights.
    intercept_ : ndarray of shape (1,)
        Offset.
    coef_ : ndarray or sparse matrix of shape (1, n_features)
        Weights of the features; with a linear kernel only.
    kernel_ : Kernel
        The kernel used; None if the kernel is "precomputed".
    objective_ : float
        Value of the dual problem; the primal value is ``dual_gap_`` larger.
    dual_gap_ : float
        Primal value minus dual value.
    kkt_violation_ : float
        Largest violation of the optimality conditions.
    n_iter_ : int
        Pair steps made.
    fit_status_ : int
        0 if the problem was solved to `tol`, else 1.
    shape_fit_ : tuple of int
        Shape of the training rows.

    See Also
    --------
    NuSVR : The share of errors outside the tube as parameter.
    LinearSVR : For many rows and features.
    corollary.kernels.KernelRidge : The square as loss.
    corollary.svm.smo : The solver.

    Notes
    -----
    If the targets fit into the tube around a constant, that constant is the flattest function and
    there are no support vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import SVR
    >>> X = np.linspace(0.0, 6.0, 40)[:, None]
    >>> model = SVR(C=100.0, epsilon=0.05, gamma=0.5).fit(X, np.sin(X).ravel())
    >>> bool(np.abs(model.predict(X) - np.sin(X).ravel()).max() < 0.052)
    True
    """

    _: KW_ONLY
    kernel: KernelLike = "rbf"
    degree: Count = 3
    gamma: Gamma = "scale"
    coef0: float = 0.0
    tol: Positive = 1e-3
    C: Positive = 1.0
    epsilon: NonNegative = 0.1
    shrinking: NoEffect = True
    cache_size: Positive = 200
    verbose: NoEffect = False
    max_iter: Steps = -1

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        self._choose_kernel(X, sample_weight)
        price = self.C * (np.ones(len(y)) if sample_weight is None else sample_weight)
        rows = np.flatnonzero(price > 0)
        price, y = price[rows], y[rows]
        result = minimise(
            self._gram_of(X, rows),
            y,
            -price,
            price,
            epsilon=self.epsilon,
            tol=self.tol,
            max_iter=self.max_iter,
            cache_size=self.cache_size,
        )
        error = np.abs(y - result.scores - result.intercepts[0])
        paid = float(price @ np.maximum(0.0, error - self.epsilon))
        primal = 0.5 * float(result.beta @ result.scores) + paid
        self._keep(X, rows, result.beta, float(result.intercepts[0]), result.n_iter)
        self._report([result], [primal + result.objective], -result.objective)
