"""Bayesian linear regression as an estimator, with hyper-parameters given or learnt."""

from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np
import scipy.linalg

from corollary.core.compat import fit_context
from corollary.core.estimator import ArrayLike, Positive, fitted, remember_rows
from corollary.core.fingerprint import Fingerprint
from corollary.core.parallel import row_products
from corollary.core.schema import Array, Instance, Number
from corollary.core.summary import Source, reduce
from corollary.linear.bayesian._evidence import (
    directions,
    evidence_from_products,
    maximise_evidence,
    whitening,
)
from corollary.linear.squares._regressor import EquationsRegressor
from corollary.linear.squares.normal_equations import NormalEquations


class BayesianLinearRegression(EquationsRegressor):
    r"""Bayesian linear regression: posterior of the coefficients, predictive law, evidence.

    The model is :math:`y=x^\top\beta+b+\epsilon`, :math:`\epsilon\sim\mathcal N(0,\sigma^2)`,
    :math:`\beta\sim\mathcal N(0,\Lambda^{-1})` and a flat prior on the intercept b.

    Parameters
    ----------
    prior_precision : float, array-like or "evidence", default="evidence"
        Prior precision :math:`\Lambda`: one number for all coefficients, one for each, or a matrix;
        "evidence" learns a multiple of the identity by maximising the evidence.
    noise_variance : float or "evidence", default="evidence"
        Noise variance :math:`\sigma^2`; "evidence" learns it.
    fit_intercept : bool, default=True
        Whether the model has an intercept.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Posterior mean.
    covariance_ : ndarray of shape (n_features, n_features)
        Posterior covariance of the coefficients.
    intercept_ : float
        Posterior mean of the intercept.
    prior_precision_ : ndarray of shape (n_features, n_features)
        Prior precision used.
    noise_variance_ : float
        Noise variance used.
    log_evidence_ : float
        Log density of the targets with the coefficients integrated out; with an intercept, of
        the n - 1 contrasts of the targets that do not involve it.
    x_mean_ : ndarray of shape (n_features,)
        Weighted mean of the inputs; zero without intercept.
    weight_ : float
        Sum of the weights seen.
    equations_ : NormalEquations
        Sums over the rows seen so far: all that later batches need.

    See Also
    --------
    Ridge : Its coefficients are the posterior mean for alpha = noise variance * prior precision.
    corollary.linear.gaussian_posterior : The formula for arrays.

    Notes
    -----
    A weight of k counts like k equal rows, in the evidence too. One target at a time. Of
    scikit-learn's ``BayesianRidge``, the gamma priors on the hyper-parameters are not offered:
    they are given or maximise the evidence.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import BayesianLinearRegression
    >>> X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([-1.0, 0.0, 1.0])
    >>> model = BayesianLinearRegression(prior_precision=2.0, noise_variance=1.0).fit(X, y)
    >>> model.coef_, model.covariance_
    (array([0.5]), array([[0.25]]))
    >>> mean, std = model.predict([[2.0]], return_std=True)
    >>> mean, std.round(4)
    (array([1.]), array([1.5275]))
    """

    _: KW_ONLY
    prior_precision: Positive | Literal["evidence"] | ArrayLike = "evidence"
    noise_variance: Positive | Literal["evidence"] = "evidence"
    fit_intercept: bool = True

    covariance_: np.ndarray = fitted(Array("f", "d", "d"))
    prior_precision_: np.ndarray = fitted(Array("f", "d", "d"))
    noise_variance_: float = fitted(Number(0))
    log_evidence_: float = fitted(Number(infinite=True))
    x_mean_: np.ndarray = fitted(Array("f", "d"))
    weight_: float = fitted(Number(0))
    equations_: NormalEquations = fitted(Instance("gram", "cross"))

    def _fits_together(self) -> str | None:
        if not isinstance(self.equations_, NormalEquations):
            return "its normal equations are none"
        d = self.n_features_in_
        if self.equations_.n_features != d or len(self.equations_.moments.mean) != d + 1:
            return "its normal equations have another width"
        return None

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        self._infer(reduce(NormalEquations.for_data(X, y), (X, y, sample_weight)))

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Update the posterior with more rows.

        The result is that of :meth:`fit` on all rows seen, learnt hyper-parameters included.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Non-negative weights.

        Returns
        -------
        self : BayesianLinearRegression
            The updated model.
        """
        if not hasattr(self, "equations_"):
            return self.fit(X, y, sample_weight)
        memory = getattr(self, "fingerprint_", Fingerprint())
        X, y, sample_weight = self._check(X, y, sample_weight, y_numeric=True, reset=False)
        self.fingerprint_ = memory
        remember_rows(self, X, more=True)
        y = np.asarray(y, dtype=np.float64)
        self._infer(reduce(self.equations_, (X, y, sample_weight)))
        return self

    def _fit_equations(
        self, source: Source, equations: NormalEquations, n_jobs: int | None
    ) -> None:
        if source.n_targets != 1:
            raise ValueError(
                "BayesianLinearRegression.fit_source needs one target. Got "
                f"{source.n_targets}; fit one model for each."
            )
        self._infer(equations)

    def _infer(self, equations: NormalEquations) -> None:
        centred = self.fit_intercept
        n = equations.weight - centred
        learns = isinstance(self.prior_precision, str) or isinstance(self.noise_variance, str)
        if n < 0 or equations.weight == 0 or (learns and n <= 0):
            raise ValueError(
                "BayesianLinearRegression needs more rows. Got a total weight of "
                f"{equations.weight:g} (n_samples={equations.n_rows}); at least "
                f"{1 + centred} rows are needed to learn the noise variance, and 1 otherwise."
            )
        with np.errstate(all="ignore"):  # what overflows or vanishes is refused
            gram = equations.gram(centred=centred)
            cross = equations.cross(centred=centred)[:, 0]
            squares = float(equations.target_squares(centred=centred)[0])
            _refuse_overflow(gram, cross @ cross, squares)
            prior, noise = maximise_evidence(
                gram, cross, squares, n, self.prior_precision, self.noise_variance
            )
            _refuse_overflow(prior, 1.0 / np.diag(prior), gram / noise)
        whiten = whitening(prior)
        values, vectors, along = directions(gram, cross, whiten)
        basis = whiten @ vectors
        covariance = (basis / (values / noise + 1.0)) @ basis.T
        self.equations_ = equations
        self.prior_precision_, self.noise_variance_ = prior, noise
        self.coef_ = basis @ (along / (values + noise))
        self.covariance_ = (covariance + covariance.T) / 2
        self.log_evidence_ = evidence_from_products(gram, cross, squares, n, prior, noise)
        self.weight_ = equations.weight
        self.x_mean_ = equations.x_mean if centred else np.zeros_like(equations.x_mean)
        y_mean = float(equations.y_mean[0]) if centred else 0.0
        self.intercept_ = y_mean - float(self.x_mean_ @ self.coef_)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        r"""Return the mean, and on request the standard deviation, of the predictive law.

        The predictive variance at x is
        :math:`\sigma^2+(x-\bar x)^\top\Sigma(x-\bar x)+\sigma^2/W`, the last term and the centring
        belonging to the intercept.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Whether to return standard deviations too.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            Predictive means.
        std : ndarray of shape (n_samples,)
            Predictive standard deviations of a new target, noise included; only with
            ``return_std=True``.
        """
        X = self._new(X)
        mean = self._predict(X)
        if not return_std:
            return mean
        root = scipy.linalg.cholesky(self.covariance_, lower=True)
        spread = row_products(X, root) - self.x_mean_ @ root
        variance = self.noise_variance_ + np.sum(spread**2, axis=1)
        if self.fit_intercept:
            variance += self.noise_variance_ / self.weight_
        return mean, np.sqrt(variance)


def _refuse_overflow(*sums: Any) -> None:
    """Refuse data of which a sum, or what has been learnt from the sums, is no finite number."""
    if not all(np.isfinite(part).all() for part in sums):
        raise ValueError(
            "BayesianLinearRegression needs features and targets whose products and their squares, "
            "times the weights of the rows, are finite numbers. Got values that are too large or "
            "too far apart; divide features and targets by constants so that they are about one."
        )
