"""Novelty detection by a hyperplane that keeps most rows on its far side."""

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin

from corollary.core.compat import fit_context
from corollary.core.estimator import Count, NoEffect, Positive, Share, fitted
from corollary.core.schema import Array, Number, Sparse
from corollary.svm.dual._descent import minimise
from corollary.svm.machines._machine import Gamma, KernelLike, KernelMachine, Steps


class OneClassSVM(OutlierMixin, KernelMachine):
    r"""Tell rows that are unlike the training rows.

    Minimises :math:`\frac12 \|w\|^2 - \nu n \rho + \sum_i \max(0, \rho - \langle w, \phi(x_i)
    \rangle)`; a row is an outlier where :math:`\langle w, \phi(x) \rangle < \rho`.

    Parameters
    ----------
    kernel : Kernel, str or callable, default="rbf"
        As in :class:`SVC`.
    degree : int, default=3
        For the named polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        For named kernels.
    coef0 : float, default=0.0
        For the named polynomial and sigmoid kernels.
    tol : float, default=1e-3
        Largest violation of the optimality conditions.
    nu : float, default=0.5
        At most this share of the training rows are outliers, and at least this share are support
        vectors.
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
        Their weights, between 0 and 1 (times the weight of the row).
    intercept_ : ndarray of shape (1,)
        Minus the threshold :math:`\rho`.
    offset_ : float
        The threshold: ``decision_function = score_samples - offset_``.
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
    SVC : Two or more classes.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> OneClassSVM(nu=0.1).fit(X).predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    """

    _: KW_ONLY
    kernel: KernelLike = "rbf"
    degree: Count = 3
    gamma: Gamma = "scale"
    coef0: float = 0.0
    tol: Positive = 1e-3
    nu: Share = 0.5
    shrinking: NoEffect = True
    cache_size: Positive = 200
    verbose: NoEffect = False
    max_iter: Steps = -1

    dual_coef_: Any = fitted(Array("f", 1, "s") | Sparse(1, "s"))
    intercept_: np.ndarray = fitted(Array("f", 1))
    offset_: float = fitted(Number())
    n_support_: np.ndarray = fitted(Array("i", 1, low=0))

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training rows; their Gram matrix of shape (n_samples, n_samples) if the kernel is
            "precomputed".
        y : object, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows.

        Returns
        -------
        self : OneClassSVM
            The fitted model.
        """
        X, _, weight = self._check(X, None, sample_weight)
        self._choose_kernel(X, weight)
        weight = np.ones(X.shape[0]) if weight is None else weight
        rows = np.flatnonzero(weight > 0)
        upper = weight[rows]
        total = self.nu * float(upper.sum())
        before = np.concatenate([[0.0], np.cumsum(upper)[:-1]])
        result = minimise(
            self._gram_of(X, rows),
            np.zeros(len(rows)),
            np.zeros(len(rows)),
            upper,
            start=np.clip(total - before, 0.0, upper),
            tol=self.tol,
            max_iter=self.max_iter,
            cache_size=self.cache_size,
        )
        support = np.flatnonzero(result.beta)
        self._keep_support(X, rows[support], result.beta[None, support])
        self.intercept_ = result.intercepts
        self.offset_ = float(-result.intercepts[0])
        self.n_support_ = np.array([len(support)])
        self.n_iter_ = result.n_iter
        slack = float(upper @ np.maximum(0.0, self.offset_ - result.scores))
        primal = result.objective - total * self.offset_ + slack
        self._report([result], [primal + result.objective], -result.objective)
        return self

    def score_samples(self, X: Any) -> np.ndarray:
        """Return how much rows are like the training rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; kernel values with the training rows if the kernel is "precomputed".

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Scores before the threshold.
        """
        return self._expand(self._new(X), self._weights().T)[:, 0]

    def decision_function(self, X: Any) -> np.ndarray:
        """Return scores with threshold zero.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; kernel values with the training rows if the kernel is "precomputed".

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Negative for outliers.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """Return 1 for rows like the training rows and -1 for outliers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; kernel values with the training rows if the kernel is "precomputed".

        Returns
        -------
        labels : ndarray of int of shape (n_samples,)
            1 or -1.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
