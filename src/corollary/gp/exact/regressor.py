"""Exact Gaussian process regression as an estimator."""

import warnings
from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np
from scipy.linalg.lapack import dtrtrs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import fit_context
from corollary.core.estimator import Count, CountFromZero, Positive, RandomSeed, fitted
from corollary.core.parallel import one_blas_thread
from corollary.core.schema import Array, Instance, Number
from corollary.gp._defaults import default_search, spread_of, standardise
from corollary.gp._process import ProcessRegressor
from corollary.gp.exact._factor import Factor, factorise, inverse, solve
from corollary.gp.exact.evidence import Observations, evidence_of
from corollary.gp.exact.paths import PosteriorPaths
from corollary.gp.exact.posterior import Predictions
from corollary.gp.learning._maximise import Learnt
from corollary.gp.learning.search import learn_hyperparameters
from corollary.kernels import Kernel

# New points are taken in blocks of this many.
BLOCK = 1024


class GaussianProcessRegressor(ProcessRegressor):
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

    kernel: Kernel | None = None
    _: KW_ONLY
    alpha: Positive | Literal["evidence"] = "evidence"
    optimizer: Literal["fmin_l_bfgs_b"] | None = "fmin_l_bfgs_b"
    n_restarts_optimizer: CountFromZero = 0
    normalize_y: bool = True
    max_iter: Count = 200
    random_state: RandomSeed = None

    log_marginal_likelihood_value_: float = fitted(Number(infinite=True))
    L_: np.ndarray = fitted(Array("f", "m", "m"))
    alpha_: np.ndarray = fitted(Array("f", "m"))
    observations_: Observations = fitted(Instance("merged"))

    def _fits_together(self) -> str | None:
        X = self.observations_.X
        if X.shape != (len(self.alpha_), self.n_features_in_):
            return "its observations are not those of its coefficients"
        return self.kernel_.problem_with(X)

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
        X, y, weight = self._check(X, y, sample_weight, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        noise = _check_noise(noise, len(y))
        if weight is not None:
            keep = weight > 0
            X, y, noise, weight = X[keep], y[keep], noise[keep], weight[keep]
            # Beyond these a row says all or nothing, and its noise would overflow or vanish.
            weight = np.clip(weight, 1e-60, 1e60)
        target, self.y_mean_, self.y_scale_ = standardise(y, weight, normalise=self.normalize_y)
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

    def _mean(self, X: np.ndarray) -> np.ndarray:
        points = self.observations_.X
        starts = range(0, len(X), BLOCK)
        blocks = [self.kernel_.gram(X[i : i + BLOCK], points) @ self.alpha_ for i in starts]
        return np.concatenate(blocks)

    def _pointwise(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, variance = np.empty(len(X)), np.empty(len(X))
        for i in range(0, len(X), BLOCK):
            rows = slice(i, i + BLOCK)
            mean[rows], V = self._project(X[rows])
            variance[rows] = self.kernel_.diag(X[rows]) - np.einsum("ij,ij->j", V, V)
        return mean, variance

    def _jointly(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, V = self._project(X)
        return mean, self.kernel_.gram(X) - V.T @ V

    def _project(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean and the factor of what the observations take from the variance."""
        cross = self.kernel_.gram(X, self.observations_.X)
        return cross @ self.alpha_, dtrtrs(self.L_, cross.T, lower=1)[0]

    @property
    def _variance(self) -> float:
        return self.noise_variance_ / self.y_scale_**2

    @property
    def _factor(self) -> Factor:
        return Factor(self.L_, self.jitter_)

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
