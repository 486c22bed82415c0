"""Exact Gaussian process regression as an estimator."""

import warnings
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, check_is_fitted

from corollary.core.compat import fit_context, warn_at_bounds
from corollary.core.estimator import (
    ArrayLike,
    Count,
    CountFromZero,
    NoEffect,
    NonNegative,
    RandomSeed,
    fitted,
)
from corollary.core.parallel import one_blas_thread, row_products, row_solves
from corollary.core.schema import Array, Instance, Nullable, Number, Spec
from corollary.gp._defaults import default_search, spread_of, standardise
from corollary.gp._namesake import (
    NUGGET,
    Covariance,
    Optimizer,
    ask,
    climb_as_theirs,
    is_foreign,
    separates_equal_rows,
    slopes,
)
from corollary.gp._process import ProcessRegressor, refuse_both
from corollary.gp.exact._factor import Factor, factorise, inverse, solve
from corollary.gp.exact.evidence import Observations, evidence_of
from corollary.gp.exact.paths import PosteriorPaths
from corollary.gp.exact.posterior import Predictions
from corollary.gp.learning._maximise import Learnt
from corollary.gp.learning.search import learn_hyperparameters
from corollary.kernels import RBF, Kernel, as_kernel, as_sklearn_kernel

# New points are taken in blocks of this many.
BLOCK = 1024
# An alpha of zero is this, so that precisions are numbers.
LEAST_NUGGET = 1e-30


class GaussianProcessRegressor(ProcessRegressor):
    r"""Gaussian process regression, exact, with hyper-parameters learnt by the evidence.

    The model is :math:`y=f(x)+\epsilon` with f drawn from a Gaussian process of covariance
    :math:`k`, a constant mean, and independent noise of variance :math:`\sigma^2`.

    Parameters
    ----------
    kernel : Kernel, scikit-learn's kernel object or None, default=None
        Covariance of f, of the standardised target if ``normalize_y``. None for a constant times
        an RBF kernel with one length scale for each feature, which starts at the scales of the
        data. Of scikit-learn's objects bounds and fixed hyper-parameters are kept to.
    alpha : float, array-like of shape (n_samples,), "evidence" or "auto", default="auto"
        Noise variance :math:`\sigma^2`, added to the diagonal of the kernel matrix (so it is in
        units of the standardised target if ``normalize_y``), one or one for each row; "evidence"
        learns it. "auto" learns it, too, but is scikit-learn's 1e-10 if ``kernel`` is an object of
        scikit-learn's or ``optimizer`` is None.
    optimizer : "fmin_l_bfgs_b", callable or None, default="fmin_l_bfgs_b"
        None keeps the kernel and ``alpha`` as they are given. A function
        ``optimizer(objective, initial_theta, bounds)`` returns the best theta and the value of the
        objective there; ``objective(theta)`` returns the negative log evidence and its gradient.
    n_restarts_optimizer : int, default=0
        Random starts of the search besides the first.
    normalize_y : bool or "auto", default="auto"
        Whether the target is centred and divided by its standard deviation. Without, the prior
        mean of f is zero. "auto" does it unless ``kernel`` is an object of scikit-learn's.
    copy_X_train : bool, default=True
        Accepted for scikit-learn's sake: rows are always copied.
    n_targets : int or None, default=None
        Number of targets that the prior answers for before ``fit``; None for 1.
    max_iter : int, default=200
        Steps of the search at most.
    random_state : int, RandomState instance or None, default=None
        Determines restarts and the parts of the data that the search begins with.

    Attributes
    ----------
    kernel_ : Kernel or scikit-learn's kernel object
        The kernel with the hyper-parameters used, of the kind that was given.
    X_train_ : ndarray of shape (n_samples, n_features)
        Training rows of positive weight.
    y_train_ : ndarray of shape (n_samples,)
        Their (standardised) targets.
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

    With an object of scikit-learn's as ``kernel`` everything means what it means there, and the
    posterior is the same. With a kernel of ours, or none, the target is standardised and the noise
    is learnt by default, and ``predict`` returns the standard deviation of f unless ``noisy=True``.
    Before ``fit``, ``predict`` and ``sample_y`` answer for the prior.

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

    kernel: Covariance | None = None
    _: KW_ONLY
    alpha: NonNegative | Literal["evidence", "auto"] | ArrayLike = "auto"
    optimizer: Optimizer = "fmin_l_bfgs_b"
    n_restarts_optimizer: CountFromZero = 0
    normalize_y: bool | Literal["auto"] = "auto"
    copy_X_train: NoEffect = True
    n_targets: Count | None = None
    max_iter: Count = 200
    random_state: RandomSeed = None

    _saved_parameters: ClassVar[dict[str, Spec]] = {"kernel": Nullable(Instance("gram"))}

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
        if self.n_targets not in (None, 1):
            raise ValueError(
                "The number of targets seen in `y` is different from the parameter `n_targets`. "
                f"Got 1 != {self.n_targets}. For several targets put MultiOutputRegressor around "
                "GaussianProcessRegressor."
            )
        noise = _check_noise(noise, len(y))
        foreign = is_foreign(self.kernel)
        kernel = as_kernel(self.kernel, n_features=X.shape[1]) if foreign else self.kernel
        normalise = not foreign if self.normalize_y == "auto" else bool(self.normalize_y)
        alpha, extra = self._nugget(foreign, len(y))
        if weight is not None:
            keep = weight > 0
            X, y, noise, extra = X[keep], y[keep], noise[keep], extra[keep]
            weight = weight[keep]
            # Beyond these a row says all or nothing, and its noise would overflow or vanish.
            weight = np.clip(weight, 1e-60, 1e60)
        target, self.y_mean_, self.y_scale_ = standardise(y, weight, normalise=normalise)
        single = foreign or (kernel is not None and separates_equal_rows(kernel, X))
        noise = noise / self.y_scale_**2 + extra
        self.observations_ = seen = Observations.of(X, target, noise, weight, gather=not single)
        search = default_search(
            kernel,
            alpha,
            spread_of(seen.X),
            seen.y,
            seen.weight,
            learns=self.optimizer is not None,
            who=self,
        )
        self.n_iter_ = 0
        used, variance = search.kernel, search.variance
        learns = self.optimizer is not None and len(search.theta) and seen.weight.sum() > 1
        if learns and callable(self.optimizer):
            used, variance = search.split(ask(self.optimizer, self.kernel, search, seen))
        elif learns:
            learnt = learn_hyperparameters(
                seen,
                search,
                n_restarts=0 if foreign else self.n_restarts_optimizer,
                max_iter=self.max_iter,
                random_state=self.random_state,
            )
            self.n_iter_ = learnt.n_iter
            self._warn_unless_converged(learnt)
            theta = learnt.theta
            if foreign:
                climb = climb_as_theirs(
                    self.kernel, len(seen.X), self.n_restarts_optimizer, self.random_state
                )
                theta = ask(climb, self.kernel, search, seen, start=theta)
            used, variance = search.split(theta)
        self.kernel_ = as_sklearn_kernel(self.kernel, used) if foreign else used
        if foreign and learns:
            warn_at_bounds(self.kernel_)
        self._condition(variance)
        return self

    def _nugget(self, foreign: bool, n: int) -> tuple[Any, np.ndarray]:
        """Return the common noise variance, or "evidence", and what rows have beyond it."""
        alpha = self.alpha
        if isinstance(alpha, str):
            fixed = alpha == "auto" and (foreign or self.optimizer is None)
            return NUGGET if fixed else "evidence", np.zeros(n)
        alpha = np.asarray(alpha, dtype=float)
        if alpha.shape not in ((), (1,), (n,)) or not (alpha >= 0).all():
            raise ValueError(
                f"alpha must be a scalar or an array with same number of entries as y. Got "
                f"{alpha.shape} for {n} rows: give GaussianProcessRegressor one non-negative "
                "variance, or one for each row."
            )
        least = float(alpha.min())
        return max(least, LEAST_NUGGET), np.broadcast_to(alpha - least, n)

    @property
    def X_train_(self) -> np.ndarray:
        """Training rows of positive weight."""
        return self.observations_.X[self.observations_.group]

    @property
    def y_train_(self) -> np.ndarray:
        """Their targets, standardised if the process is."""
        return self.observations_.y

    @property
    def _covariance(self) -> Kernel:
        """The kernel as one of ours."""
        return as_kernel(self.kernel_, n_features=self.n_features_in_)

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, *, noisy: bool = False
    ) -> Any:
        """Predict f, with its uncertainty if asked for; of an unfitted process by the prior.

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
        if hasattr(self, "observations_"):
            return super().predict(X, return_std, return_cov, noisy=noisy)
        refuse_both(return_std, return_cov)
        X = check_array(X, dtype=np.float64)
        kernel = 1.0 * RBF() if self.kernel is None else self.kernel
        kernel, t = as_kernel(kernel, n_features=X.shape[1]), self.n_targets or 1

        def each(values: np.ndarray) -> np.ndarray:
            return values if t == 1 else np.repeat(values[..., None], t, axis=-1)

        mean = each(np.zeros(len(X)))
        if return_cov:
            return mean, each(kernel.gram(X))
        return (mean, each(np.sqrt(kernel.diag(X)))) if return_std else mean

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

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
            factor = factorise(self._covariance.gram(seen.X), noise)
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
        kernel = self._covariance
        blocks = [row_products(kernel.gram(X[i : i + BLOCK], points), self.alpha_) for i in starts]
        return np.concatenate(blocks)

    def _pointwise(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, variance = np.empty(len(X)), np.empty(len(X))
        for i in range(0, len(X), BLOCK):
            rows = slice(i, i + BLOCK)
            mean[rows], V = self._project(X[rows])
            variance[rows] = self._covariance.diag(X[rows]) - np.einsum("ij,ij->i", V, V)
        return mean, variance

    def _jointly(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, V = self._project(X)
        return mean, self._covariance.gram(X) - V @ V.T

    def _project(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean and the factor of what the observations take from the variance."""
        cross = self._covariance.gram(X, self.observations_.X)
        return row_products(cross, self.alpha_), row_solves(self.L_, cross)

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
            self._covariance,
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
        check_is_fitted(self, "observations_")  # a process that is not fitted answers for its prior
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

    def log_marginal_likelihood(
        self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any:
        """Return the log evidence of the training targets.

        Parameters
        ----------
        theta : array-like of shape (p,) or None, default=None
            Hyper-parameters: ``kernel_.parameters().vector`` and, if the noise is learnt, the
            logarithm of its variance (of standardised targets); None for those of the model. If
            the kernel is an object of scikit-learn's, ``kernel_.theta``.
        eval_gradient : bool, default=False
            Whether the gradient is returned too.
        clone_kernel : bool, default=True
            Whether an object of scikit-learn's is left as it is, or set to ``theta``.

        Returns
        -------
        value : float
            Log density of the (standardised) targets.
        gradient : ndarray of shape (p,)
            Only with ``eval_gradient``.
        """
        check_is_fitted(self)
        kernel, variance = self._covariance, self._variance
        if is_foreign(self.kernel_):
            if theta is None and not eval_gradient:
                return self.log_marginal_likelihood_value_
            if theta is None:
                raise ValueError(
                    "Gradient can only be evaluated for theta!=None. Give log_marginal_likelihood "
                    "the hyper-parameters, kernel_.theta."
                )
            return self._foreign_evidence(np.asarray(theta, float), eval_gradient, clone_kernel)
        learn_noise = self._nugget(False, len(self.y_train_))[0] == "evidence"
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

    def _foreign_evidence(self, theta: np.ndarray, eval_gradient: bool, clone: bool) -> Any:
        """Return the evidence at hyper-parameters of an object of scikit-learn's."""
        theirs = self.kernel_.clone_with_theta(theta)
        if not clone:
            self.kernel_.theta = theta
        learns_noise = self._nugget(True, len(self.y_train_))[0] == "evidence"
        if learns_noise:
            raise ValueError(
                "log_marginal_likelihood at other hyper-parameters needs a given noise variance. "
                "Got alpha='evidence' beside scikit-learn's kernel object; use a WhiteKernel."
            )
        ours = as_kernel(theirs, n_features=self.n_features_in_)
        with one_blas_thread():
            value, gradient = evidence_of(
                self.observations_, ours, self._variance, gradient=eval_gradient
            )
        return (value, slopes(theirs) @ gradient[:-1]) if eval_gradient else value


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
