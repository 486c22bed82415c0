"""Exact Gaussian process regression as an estimator."""

import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy.linalg.lapack import dtrtrs
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from corollary.core.blas import one_blas_thread
from corollary.core.compat import Interval, StrOptions, fit_context
from corollary.core.estimator import check_new_data, check_training_data
from corollary.core.schema import Array, Instance, Integer, Number, Optional, Schema, Size, Strings
from corollary.gp.evidence import Factor, Observations, evidence_of, factorise, inverse, solve
from corollary.gp.learning import Learnt, Search, learn_hyperparameters
from corollary.gp.paths import PosteriorPaths
from corollary.gp.posterior import Predictions, draw_gaussian
from corollary.kernels import RBF, Kernel

# New points are taken in blocks of this many.
BLOCK = 1024
# A learnt noise variance is between these multiples of the mean square of the target, and starts
# at a tenth of it; those of a default kernel lie between these multiples of the data's scales.
NOISE_RANGE, RANGE, NOISE_START = (1e-8, 1e2), (1e-5, 1e5), 0.1


class GaussianProcessRegressor(RegressorMixin, BaseEstimator):
    r"""Gaussian process regression, exact, with hyper-parameters learnt by the evidence.

    The model is :math:`y=f(x)+\epsilon` with f drawn from a Gaussian process of covariance
    :math:`k`, a constant mean, and independent noise of variance :math:`\sigma^2`.

    Parameters
    ----------
    kernel : Kernel or None, default=None
        Covariance of f, of the standardised target if ``normalize_y``. None for a constant times
        an RBF kernel with one length scale for each feature, which starts at the scales of the
        data.
    alpha : float or "evidence", default="evidence"
        Noise variance :math:`\sigma^2`, added to the diagonal of the kernel matrix (so it is in
        units of the standardised target if ``normalize_y``); "evidence" learns it.
    optimizer : "fmin_l_bfgs_b" or None, default="fmin_l_bfgs_b"
        None keeps the kernel and ``alpha`` as they are given.
    n_restarts_optimizer : int, default=0
        Random starts of the search besides the first.
    normalize_y : bool, default=True
        Whether the target is centred and divided by its standard deviation. Without, the prior
        mean of f is zero.
    max_iter : int, default=200
        Steps of the search at most.
    random_state : int, RandomState instance or None, default=None
        Determines restarts and the parts of the data that the search begins with.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with the hyper-parameters used.
    noise_variance_ : float
        Noise variance in units of the target.
    log_marginal_likelihood_value_ : float
        Log evidence of the (standardised) targets.
    jitter_ : float
        What had to be added to the diagonal of the kernel matrix to factorise it; 0 as a rule,
        and a warning says so if it is not.
    L_ : ndarray of shape (n_points, n_points)
        Cholesky factor of the kernel matrix with noise.
    alpha_ : ndarray of shape (n_points,)
        Weights of the points in the prediction.
    observations_ : Observations
        Training data, with equal rows gathered: ``observations_.X`` are the distinct points.
    y_mean_ : float
        Prior mean of f.
    y_scale_ : float
        What the target was divided by.
    n_iter_ : int
        Steps of the search on all rows; 0 if nothing was learnt.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they have names.
    fingerprint_ : Fingerprint
        Memory of the training rows.

    See Also
    --------
    corollary.linear.BayesianLinearRegression : The same with a linear kernel, for many rows.
    corollary.gp.rank_kernels : Choice among kernels.

    Notes
    -----
    Rows with equal inputs are merged, which is exact and keeps the matrix regular. A row of weight
    k counts like k equal rows. Time grows with the cube of the number of distinct rows and memory
    with its square.

    Guarantee: on data from the prior with known hyper-parameters the 95% band of a new value
    covers it with probability 0.95 exactly; checked by
    ``tests/gp/test_regressor.py::test_bands_cover_draws_from_the_prior``.

    Unlike scikit-learn's, the target is standardised and the noise is learnt by default, and
    ``predict`` returns the standard deviation of f unless ``noisy=True``.

    References
    ----------
    .. [1] C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import GaussianProcessRegressor
    >>> X = np.linspace(0.0, 6.0, 30)[:, None]
    >>> y = np.sin(X).ravel() + 0.05 * np.cos(37.0 * X).ravel()
    >>> model = GaussianProcessRegressor(random_state=0).fit(X, y)
    >>> mean, std = model.predict([[1.5], [9.0]], return_std=True)
    >>> mean[:1].round(1), bool(std[0] < 0.1 < std[1])  # sure within the data, not beyond
    (array([1.]), True)
    """

    _parameter_constraints = {
        "kernel": [Kernel, None],
        "alpha": [Interval(Real, 0, None, closed="neither"), StrOptions({"evidence"})],
        "optimizer": [StrOptions({"fmin_l_bfgs_b"}), None],
        "n_restarts_optimizer": [Interval(Integral, 0, None, closed="left")],
        "normalize_y": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }
    _schema = Schema(
        kernel_=Instance("gram"),
        noise_variance_=Number(0),
        log_marginal_likelihood_value_=Number(),
        jitter_=Number(0),
        L_=Array("f", "m", "m"),
        alpha_=Array("f", "m"),
        observations_=Instance("merged"),
        y_mean_=Number(),
        y_scale_=Number(0),
        n_iter_=Integer(0),
        n_features_in_=Size("d"),
        feature_names_in_=Optional(Strings("d")),
        fingerprint_=Optional(Instance("merge", "overlap")),
    )

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        alpha: float | str = "evidence",
        optimizer: str | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        normalize_y: bool = True,
        max_iter: int = 200,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.max_iter = max_iter
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, noise: Any = None) -> Self:
        """Learn the hyper-parameters and compute the posterior.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Non-negative weights; a row of weight k counts like k equal rows.
        noise : array-like of shape (n_samples,) or None, default=None
            Known variances of the noise of each target, in units of the target squared, in
            addition to the common noise variance.

        Returns
        -------
        self : GaussianProcessRegressor
            The fitted model.
        """
        X, y, weight = check_training_data(
            self, X, y, sample_weight=sample_weight, y_numeric=True, finite_squares=True
        )
        y = np.asarray(y, dtype=np.float64)
        noise = _check_noise(noise, len(y))
        if weight is not None:
            keep = weight > 0
            X, y, noise, weight = X[keep], y[keep], noise[keep], weight[keep]
        target, self.y_mean_, self.y_scale_ = standardise(y, weight, wanted=self.normalize_y)
        self.observations_ = seen = Observations.of(X, target, noise / self.y_scale_**2, weight)
        search = default_search(
            self.kernel,
            self.alpha,
            spread_of(seen.X),
            seen.y,
            seen.weight,
            learns=self.optimizer is not None,
            who=self,
        )
        self.n_iter_ = 0
        theta = search.theta
        if self.optimizer is not None and len(theta) and self.observations_.weight.sum() > 1:
            learnt = learn_hyperparameters(
                self.observations_,
                search,
                n_restarts=self.n_restarts_optimizer,
                max_iter=self.max_iter,
                random_state=self.random_state,
            )
            theta, self.n_iter_ = learnt.theta, learnt.n_iter
            self._warn_unless_converged(learnt)
            self.kernel_, variance = search.split(theta)
        else:
            self.kernel_, variance = search.kernel, search.variance
        self._condition(variance)
        return self

    def _warn_unless_converged(self, learnt: Learnt) -> None:
        if not learnt.converged:
            warnings.warn(
                f"The evidence was still rising after max_iter={self.max_iter} steps, at "
                f"{learnt.value:.6g}. Raise max_iter.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _condition(self, variance: float) -> None:
        seen = self.observations_
        with one_blas_thread():
            y, noise, _, log_factor = seen.merged(variance)
            factor = factorise(self.kernel_.gram(seen.X), noise)
            self.L_, self.jitter_ = np.tril(factor.lower), factor.jitter
            self.alpha_ = solve(factor, y)
        log_root = float(np.log(np.diag(self.L_)).sum())
        density = -0.5 * float(y @ self.alpha_) - log_root - 0.5 * len(y) * np.log(2.0 * np.pi)
        self.log_marginal_likelihood_value_ = float(density + log_factor)
        self.noise_variance_ = variance * self.y_scale_**2
        if self.jitter_ > 0:
            warnings.warn(
                f"The kernel matrix is singular to working precision; {self.jitter_:.2g} was "
                "added to its diagonal (jitter_). Rows may be nearly equal: raise alpha.",
                UserWarning,
                stacklevel=3,
            )

    @property
    def _variance(self) -> float:
        return self.noise_variance_ / self.y_scale_**2

    @property
    def _factor(self) -> Factor:
        return Factor(self.L_, self.jitter_)

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, *, noisy: bool = False
    ) -> Any:
        """Predict f, with its uncertainty if wanted.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New inputs.
        return_std : bool, default=False
            Whether standard deviations are returned too.
        return_cov : bool, default=False
            Whether the joint covariance is returned instead.
        noisy : bool, default=False
            Whether the uncertainty is that of a new observation, with the common noise variance,
            instead of that of f.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            Posterior means.
        std : ndarray of shape (n_samples,)
            Only with ``return_std``; never negative.
        covariance : ndarray of shape (n_samples, n_samples)
            Only with ``return_cov``.
        """
        if return_std and return_cov:
            raise ValueError("predict returns either return_std or return_cov. Got both.")
        X = check_new_data(self, X)
        extra = self._variance if noisy else 0.0
        points = self.observations_.X
        with one_blas_thread():
            if return_cov:
                cross = self.kernel_.gram(X, points)
                V = dtrtrs(self.L_, cross.T, lower=1)[0]
                covariance = self.kernel_.gram(X) - V.T @ V
                diagonal = np.maximum(np.diag(covariance), 0.0) + extra
                np.fill_diagonal(covariance, diagonal)
                return self._units(cross @ self.alpha_), covariance * self.y_scale_**2
            mean, std = np.empty(len(X)), np.empty(len(X))
            for i in range(0, len(X), BLOCK):
                rows = slice(i, i + BLOCK)
                cross = self.kernel_.gram(X[rows], points)
                mean[rows] = cross @ self.alpha_
                if return_std:
                    V = dtrtrs(self.L_, cross.T, lower=1)[0]
                    left = self.kernel_.diag(X[rows]) - np.einsum("ij,ij->j", V, V)
                    # The difference of two close numbers may be rounded below zero.
                    std[rows] = np.sqrt(np.maximum(left, 0.0) + extra)
        mean = self._units(mean)
        return (mean, std * self.y_scale_) if return_std else mean

    def _units(self, values: np.ndarray) -> np.ndarray:
        return self.y_mean_ + self.y_scale_ * values

    def sample_y(
        self, X: Any, n_samples: int = 1, random_state: Any = 0, *, noisy: bool = False
    ) -> np.ndarray:
        """Draw jointly from the posterior at given points.

        Parameters
        ----------
        X : array-like or data frame of shape (n_points, n_features)
            Where.
        n_samples : int, default=1
            How many draws.
        random_state : int, RandomState instance or None, default=0
            Seed or generator.
        noisy : bool, default=False
            Whether new observations are drawn instead of values of f.

        Returns
        -------
        draws : ndarray of shape (n_points, n_samples)
            One draw per column.
        """
        from sklearn.utils import check_random_state

        mean, covariance = self.predict(X, return_cov=True, noisy=noisy)
        with one_blas_thread():
            return draw_gaussian(mean, covariance, n_samples, check_random_state(random_state))

    def sample_paths(
        self, n_paths: int = 1, *, n_frequencies: int = 1000, random_state: Any = None
    ) -> PosteriorPaths:
        """Draw functions from the posterior, to be evaluated anywhere.

        Parameters
        ----------
        n_paths : int, default=1
            How many functions.
        n_frequencies : int, default=1000
            Random waves of which prior draws are made; the error of their covariance falls with
            the root of this number.
        random_state : int, RandomState instance or None, default=None
            Seed or generator.

        Returns
        -------
        paths : PosteriorPaths
            ``paths(X)`` returns values of shape (n_points, n_paths).

        Raises
        ------
        TypeError
            If the kernel is not stationary; :meth:`sample_y` has no such restriction.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        y, noise, *_ = self.observations_.merged(self._variance)
        return PosteriorPaths(
            self.kernel_,
            self.observations_.X,
            y,
            noise,
            self._factor,
            n_paths=n_paths,
            n_frequencies=n_frequencies,
            random_state=random_state,
            shift=self.y_mean_,
            scale=self.y_scale_,
        )

    def leave_one_out(self) -> Predictions:
        """Predict every training target from all other rows, in closed form.

        Returns
        -------
        predictions : Predictions
            Means and standard deviations of the noisy targets, in units of the target and in the
            order of the rows of positive weight; of a row of weight k one of k copies is left
            out. Hyper-parameters, and the prior mean, are held fixed.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        seen, group = self.observations_, self.observations_.group
        y, noise, q, _ = seen.merged(self._variance)
        # With equal rows merged, C is the inverse for the points; Woodbury's identity gives the
        # diagonal and the weights for single rows.
        with one_blas_thread():
            C = np.diag(inverse(self._factor))
        precision = q - q**2 * (noise - C * noise**2)[group]
        weights = q * (seen.y - (y - noise * self.alpha_)[group])
        mean = self._units(seen.y - weights / precision)
        return Predictions(mean, self.y_scale_ / np.sqrt(precision))

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False) -> Any:
        """Return the log evidence of the training targets.

        Parameters
        ----------
        theta : array-like of shape (p,) or None, default=None
            Hyper-parameters: ``kernel_.parameters().vector`` and, if the noise is learnt, the
            logarithm of its variance (of standardised targets); None for those of the model.
        eval_gradient : bool, default=False
            Whether the gradient is returned too.

        Returns
        -------
        value : float
            Log density of the (standardised) targets.
        gradient : ndarray of shape (p,)
            Only with ``eval_gradient``.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        kernel, variance = self.kernel_, self._variance
        learn_noise = isinstance(self.alpha, str)
        if theta is not None:
            theta = np.asarray(theta, dtype=float)
            needed = len(kernel.parameters().values) + learn_noise
            if theta.shape != (needed,):
                raise ValueError(
                    f"log_marginal_likelihood needs {needed} hyper-parameters. Got an array of "
                    f"shape {theta.shape}."
                )
            if learn_noise:
                theta, variance = theta[:-1], float(np.exp(theta[-1]))
            kernel = kernel.with_parameters(theta)
        elif not eval_gradient:
            return self.log_marginal_likelihood_value_
        with one_blas_thread():
            value, gradient = evidence_of(
                self.observations_, kernel, variance, gradient=eval_gradient
            )
        if not eval_gradient:
            return value
        return value, gradient if learn_noise else gradient[:-1]


def standardise(y: np.ndarray, weight: Any, *, wanted: bool) -> tuple[np.ndarray, float, float]:
    """Centre targets and divide them by their standard deviation."""
    if not wanted:
        return y, 0.0, 1.0
    mean = float(np.average(y, weights=weight))
    spread = float(np.sqrt(np.average((y - mean) ** 2, weights=weight)))
    # What is left of a constant after rounding is no scale.
    scale = spread if spread > 1e-13 * abs(mean) else 1.0
    return (y - mean) / scale, mean, scale


def default_search(
    kernel: Kernel | None,
    alpha: float | str,
    spread: np.ndarray,
    y: np.ndarray,
    weight: Any,
    *,
    learns: bool,
    who: Any,
) -> Search:
    """Return where the search starts, at the data's own scales if nothing is given."""
    name = type(who).__name__
    if kernel is not None and not kernel.positive_semidefinite:
        raise ValueError(f"{name} needs a positive semi-definite kernel. Got {kernel!r}.")
    square = float(np.average(y**2, weights=weight)) or 1.0
    if kernel is None:
        kernel = square * RBF(spread * np.sqrt(len(spread)))
        scales = np.log(np.concatenate([[square], spread]))
        low, high = scales + np.log(RANGE[0]), scales + np.log(RANGE[1])
    else:
        low, high = kernel.parameters().bounds.T
    if not isinstance(alpha, str):
        return Search(kernel, float(alpha), False, low, high)
    if not learns:
        raise ValueError(
            f"{name} with optimizer=None learns nothing and needs a noise variance. "
            "Got alpha='evidence'; give alpha a number."
        )
    low = np.append(low, np.log(NOISE_RANGE[0] * square))
    high = np.append(high, np.log(NOISE_RANGE[1] * square))
    return Search(kernel, NOISE_START * square, True, low, high)


def spread_of(X: np.ndarray, weight: Any = None) -> np.ndarray:
    """Return the standard deviation of each feature, 1 for constant ones."""
    if weight is None:
        spread = X.std(axis=0)
    else:
        centre = np.average(X, axis=0, weights=weight)
        spread = np.sqrt(np.average((X - centre) ** 2, axis=0, weights=weight))
    # What is left of a constant after rounding is no scale.
    return np.where(spread <= 1e-13 * np.abs(X).max(axis=0), 1.0, spread)


def _check_noise(noise: Any, n: int) -> np.ndarray:
    if noise is None:
        return np.zeros(n)
    noise = np.asarray(noise, dtype=float)
    if noise.shape != (n,) or not (np.isfinite(noise) & (noise >= 0)).all():
        raise ValueError(
            f"The 'noise' of GaussianProcessRegressor.fit must be {n} finite non-negative "
            f"variances, one for each row. Got an array of shape {noise.shape}"
            + ("." if noise.shape != (n,) else " with other numbers.")
        )
    return noise
