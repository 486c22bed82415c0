r"""The posterior of a Gaussian process that grows one observation at a time.

With :math:`K+\rho^2I=LL^\top` a new observation appends one row to L: its entries are
:math:`l=L^{-1}k(X,x)` and the pivot is :math:`\sqrt{k(x,x)+\rho^2-l^\top l}`. Nothing is computed
again, so that a query costs the square of the number of observations and not its cube. A
:class:`View` carries :math:`V=L^{-1}k(X,\cdot)` for a fixed set of points along: the posterior
covariance there is :math:`k-V^\top V`. Observations that are only imagined add rows to V. They
change variances, which do not depend on values, and leave means as they are.
"""

from typing import Any

import numpy as np
from scipy.linalg.lapack import dtrtrs

from corollary.active.gaussian.prior import Prior
from corollary.gp import Predictions

_BLOCK = 4096  # new points predicted at a time


class GrowingPosterior:
    """The posterior of a Gaussian process, conditioned on one observation after another.

    Parameters
    ----------
    prior : Prior
        Kernel, noise variance and mean.
    n_features : int
        Length of an input.

    Attributes
    ----------
    X : ndarray of shape (n, n_features)
        Observed points, in order; repeated ones are allowed.
    y : ndarray of shape (n,)
        Observed values.

    See Also
    --------
    corollary.gp.GaussianProcessRegressor : Learns hyper-parameters and fits at once.

    Notes
    -----
    Equal to a fit from scratch:
    ``tests/active/test_growing.py::test_growing_equals_a_fit_from_scratch``.

    Examples
    --------
    >>> from corollary.active import GrowingPosterior, Prior
    >>> from corollary.kernels import RBF
    >>> posterior = GrowingPosterior(Prior(RBF(), noise=1.0), n_features=1)
    >>> posterior.observe([[0.0]], [2.0])
    >>> posterior.predict([[0.0]])
    Predictions(mean=array([1.]), std=array([0.70710678]))
    """

    def __init__(self, prior: Prior, n_features: int) -> None:
        self.prior = prior
        self._n = 0
        self._X = np.empty((16, n_features))
        self._y, self._w = np.empty(16), np.empty(16)
        self._L = np.zeros((16, 16))

    def __len__(self) -> int:
        return self._n

    @property
    def X(self) -> np.ndarray:
        """Observed points."""
        return self._X[: self._n]

    @property
    def y(self) -> np.ndarray:
        """Observed values."""
        return self._y[: self._n]

    @property
    def L(self) -> np.ndarray:
        """Cholesky factor of the kernel matrix with noise."""
        return self._L[: self._n, : self._n]

    @property
    def weights(self) -> np.ndarray:
        """Solution of ``L w = y - mean``."""
        return self._w[: self._n]

    def observe(self, X: Any, y: Any) -> None:
        """Condition on more observations.

        Parameters
        ----------
        X : array-like of shape (k, n_features)
            Points.
        y : array-like of shape (k,)
            Values.
        """
        X, y = self._points(X), np.asarray(y, dtype=float)
        if y.shape != (len(X),) or not np.isfinite(y).all():
            raise ValueError(
                f"GrowingPosterior.observe needs {len(X)} finite values, one for each point. "
                f"Got an array of shape {y.shape}" + ("." if y.shape != (len(X),) else " with NaN.")
            )
        for x, value in zip(X, y):
            self._append(x, float(value))

    def _append(self, x: np.ndarray, value: float) -> None:
        n, prior = self._n, self.prior
        self._reserve(n + 1)
        self._X[n], self._y[n] = x, value
        row = self._L[n, :n]
        if n:
            row[:] = dtrtrs(self.L, prior.kernel.gram(self.X, x[None])[:, 0], lower=1)[0]
        left = float(prior.kernel.diag(x[None])[0]) - float(row @ row)
        # The variance of f cannot be negative; rounding can.
        pivot = np.sqrt(max(left, 0.0) + prior.noise)
        self._L[n, n] = pivot
        self._w[n] = (value - prior.mean - float(row @ self.weights)) / pivot
        self._n = n + 1

    def _reserve(self, n: int) -> None:
        room = len(self._y)
        if n <= room:
            return
        L = np.zeros((2 * room, 2 * room))
        L[:room, :room] = self._L
        self._L = L
        self._X = np.concatenate([self._X, np.empty_like(self._X)])
        self._y, self._w = (np.concatenate([a, np.empty(room)]) for a in (self._y, self._w))

    def predict(self, X: Any) -> Predictions:
        """Predict f at new points.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Where.

        Returns
        -------
        predictions : Predictions
            Means and standard deviations of f.
        """
        X = self._points(X)
        parts = [self.view(X[i : i + _BLOCK]) for i in range(0, len(X), _BLOCK)]
        means, stds = [v.mean for v in parts], [v.std for v in parts]
        return Predictions(np.concatenate([*means, []]), np.concatenate([*stds, []]))

    def information(self) -> float:
        r"""Return what the observations say about f, in nats.

        Returns
        -------
        information : float
            :math:`I(f;y)=\tfrac12\log\det(I+K/\rho^2)`.
        """
        log_root = float(np.log(np.diag(self.L)).sum())
        return log_root - 0.5 * self._n * float(np.log(self.prior.noise))

    def view(self, X: Any) -> "View":
        """Follow the posterior at fixed points.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            The points.

        Returns
        -------
        view : View
            Means, variances and covariances there, which keep up with later observations.
        """
        return View(self, self._points(X))

    def _points(self, X: Any) -> np.ndarray:
        X = np.asarray(X, dtype=float)
        d = self._X.shape[1]
        if X.ndim != 2 or X.shape[1] != d or not np.isfinite(X).all():
            raise ValueError(
                f"GrowingPosterior needs rows of {d} finite features. Got an array of shape "
                f"{X.shape}" + (" with NaN or infinity." if X.shape[1:] == (d,) else ".")
            )
        return X


class View:
    """The posterior at fixed points, kept up to date.

    Parameters
    ----------
    posterior : GrowingPosterior
        What is followed.
    X : ndarray of shape (m, n_features)
        The points.

    Attributes
    ----------
    mean : ndarray of shape (m,)
        Posterior means; what is only imagined does not change them.
    std : ndarray of shape (m,)
        Standard deviations of f given what was observed.

    Examples
    --------
    >>> from corollary.active import GrowingPosterior, Prior
    >>> from corollary.kernels import RBF
    >>> posterior = GrowingPosterior(Prior(RBF(), noise=1.0), n_features=1)
    >>> view = posterior.view([[0.0], [9.0]])
    >>> view.imagine(0)
    >>> view.variance(imagined=True), view.variance()
    (array([0.5, 1. ]), array([1., 1.]))
    """

    def __init__(self, posterior: GrowingPosterior, X: np.ndarray) -> None:
        self.posterior = posterior
        self.X = X
        n = len(posterior)
        self._prior_variance = np.asarray(posterior.prior.kernel.diag(X), dtype=float)
        self._V = np.empty((max(16, n), len(X)))
        self._rows, self._imagined = n, 0
        if n:
            cross = posterior.prior.kernel.gram(posterior.X, X)
            self._V[:n] = dtrtrs(posterior.L, cross, lower=1)[0]

    def _catch_up(self) -> None:
        posterior, n = self.posterior, len(self.posterior)
        if self._rows == n:
            return
        self.forget()
        # One row at a time, as in the posterior: a history that is told again gives the same bits.
        for i in range(self._rows, n):
            row = posterior.prior.kernel.gram(posterior.X[i : i + 1], self.X)[0]
            row -= posterior.L[i, :i] @ self._V[:i]
            self._put(i, row / posterior.L[i, i])
        self._rows = n

    def _put(self, i: int, row: np.ndarray) -> None:
        if i == len(self._V):
            self._V = np.concatenate([self._V, np.empty_like(self._V)])
        self._V[i] = row

    @property
    def mean(self) -> np.ndarray:
        """Posterior means."""
        self._catch_up()
        return self.posterior.prior.mean + self.posterior.weights @ self._V[: self._rows]

    @property
    def std(self) -> np.ndarray:
        """Standard deviations of f given what was observed."""
        return np.sqrt(self.variance())

    @property
    def prior_std(self) -> np.ndarray:
        """Standard deviations of f before any observation."""
        return np.sqrt(self._prior_variance)

    def variance(self, *, imagined: bool = False) -> np.ndarray:
        """Return the variances of f.

        Parameters
        ----------
        imagined : bool, default=False
            Whether imagined observations count.

        Returns
        -------
        variance : ndarray of shape (m,)
            Never negative.
        """
        V = self._factor(imagined)
        return np.maximum(self._prior_variance - np.einsum("ij,ij->j", V, V), 0.0)

    def covariance(self, rows: Any, columns: Any, *, imagined: bool = False) -> np.ndarray:
        """Return posterior covariances of f.

        Parameters
        ----------
        rows : array-like of int or slice
            Indices of points.
        columns : array-like of int or slice
            Indices of points.
        imagined : bool, default=False
            Whether imagined observations count.

        Returns
        -------
        covariance : ndarray of shape (n_rows, n_columns)
            The block.
        """
        V = self._factor(imagined)
        K = self.posterior.prior.kernel.gram(self.X[rows], self.X[columns])
        return K - V[:, rows].T @ V[:, columns]

    def _factor(self, imagined: bool) -> np.ndarray:
        self._catch_up()
        return self._V[: self._rows + (self._imagined if imagined else 0)]

    def imagine(self, index: int) -> None:
        """Imagine an observation whose value is not known yet.

        Parameters
        ----------
        index : int
            Which of the points is observed.
        """
        self._catch_up()
        row = self.covariance([index], slice(None), imagined=True)[0]
        pivot = np.sqrt(max(float(row[index]), 0.0) + self.posterior.prior.noise)
        self._put(self._rows + self._imagined, row / pivot)
        self._imagined += 1

    def forget(self) -> None:
        """Forget what was imagined."""
        self._imagined = 0
