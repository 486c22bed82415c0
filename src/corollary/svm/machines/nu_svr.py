"""Support vector regression whose tube is as wide as a share of the rows allows."""

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from corollary.core.estimator import Count, NoEffect, Positive, Share
from corollary.kernels import GramTiles
from corollary.svm.dual._descent import minimise
from corollary.svm.machines._machine import Gamma, KernelLike, Steps
from corollary.svm.machines._regressor import KernelRegressor


class _TwiceTiles(GramTiles):
    """A Gram matrix of every input twice: one for errors above the tube, one for those below."""

    def __init__(self, gram: GramTiles) -> None:
        self.gram, self.n = gram, 2 * gram.n
        self.diagonal = np.tile(gram.diagonal, 2)

    def rows(self, which: Any) -> Any:
        """See :class:`GramTiles`."""
        return self.gram.rows(np.arange(self.n)[which] % self.gram.n)

    def columns(self, which: Any) -> Any:
        """See :class:`GramTiles`."""
        return self.gram.columns(np.arange(self.n)[which] % self.gram.n)

    def tile(self, rows: Any, columns: Any) -> np.ndarray:
        """See :class:`GramTiles`."""
        return self.gram.tile(rows, columns)


class NuSVR(KernelRegressor):
    r"""Regress with a tube outside which at most a given share of the rows lies.

    Minimises :math:`\frac12 \|w\|^2 + C (\nu n \varepsilon + \sum_i \max(0, |y_i - f(x_i)| -
    \varepsilon))` over :math:`f = \langle w, \phi(\cdot) \rangle + b` and the half width
    :math:`\varepsilon \ge 0` of the tube.

    Parameters
    ----------
    nu : float, default=0.5
        At most this share of the rows lies outside the tube, and at least this share are support
        vectors.
    C : float, default=1.0
        Price of errors outside the tube.
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
    shrinking : bool, default=True
        Not used: the solver shrinks as it sees fit, and the result is the same.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in units of the target.
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
    SVR : The width of the tube as parameter.

    References
    ----------
    .. [1] B. Schoelkopf, A. J. Smola, R. C. Williamson, P. L. Bartlett (2000). New support vector
       algorithms. Neural Computation 12, 1207-1245.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import NuSVR
    >>> X = np.linspace(0.0, 6.0, 40)[:, None]
    >>> model = NuSVR(nu=0.2, C=10.0, gamma=0.5).fit(X, np.sin(X).ravel())
    >>> bool(np.abs(model.predict(X) - np.sin(X).ravel()).max() < 0.01)
    True
    """

    _: KW_ONLY
    nu: Share = 0.5
    C: Positive = 1.0
    kernel: KernelLike = "rbf"
    degree: Count = 3
    gamma: Gamma = "scale"
    coef0: float = 0.0
    shrinking: NoEffect = True
    tol: Positive = 1e-3
    cache_size: Positive = 200
    verbose: NoEffect = False
    max_iter: Steps = -1

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        self._choose_kernel(X, sample_weight)
        price = self.C * (np.ones(len(y)) if sample_weight is None else sample_weight)
        rows = np.flatnonzero(price > 0)
        price, y = price[rows], y[rows]
        n, half = len(y), 0.5 * self.nu * float(price.sum())
        # Weights above the tube are positive, those below negative; each sums to half the share.
        start = np.clip(half - np.concatenate([[0.0], np.cumsum(price)[:-1]]), 0.0, price)
        nothing = np.zeros(n)
        result = minimise(
            _TwiceTiles(self._gram_of(X, rows)),
            np.tile(y, 2),
            np.concatenate([nothing, -price]),
            np.concatenate([price, nothing]),
            groups=np.repeat([0, 1], n),
            start=np.concatenate([start, -start]),
            tol=self.tol,
            max_iter=self.max_iter,
            cache_size=self.cache_size,
        )
        beta, scores = result.beta[:n] + result.beta[n:], result.scores[:n]
        above, below = result.intercepts
        intercept, epsilon = 0.5 * (above + below), max(0.0, 0.5 * (above - below))
        error = np.abs(y - scores - intercept)
        paid = 2.0 * half * epsilon + float(price @ np.maximum(0.0, error - epsilon))
        primal = 0.5 * float(beta @ scores) + paid
        self._keep(X, rows, beta, float(intercept), result.n_iter)
        self._report([result], [primal + result.objective], -result.objective)
