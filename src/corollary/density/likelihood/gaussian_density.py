"""GaussianDensity: the normal density of rows, from memory, files and clusters."""

import math
from dataclasses import KW_ONLY

import numpy as np
from scipy import linalg

from corollary.core.estimator import (
    Density,
    MomentsMixin,
    NonNegative,
    SampleMixin,
    check_squares,
    fitted,
)
from corollary.core.parallel import row_products
from corollary.core.schema import Array
from corollary.core.summary import Moments, reduce


class GaussianDensity(MomentsMixin, SampleMixin, Density):
    r"""Normal density whose mean and covariance are those of the rows.

    They maximise the likelihood. Score matching, which asks for the nearest gradient of the log
    density instead, has the same answer (:func:`fit_gaussian_scores`). A density of any shape is
    :class:`KernelDensity`.

    Parameters
    ----------
    reg_covar : float, default=0.0
        Added to each variance, so that rows in a plane have a density, too.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        Mean of the rows.
    covariance_ : ndarray of shape (n_features, n_features)
        Their covariance, by the number of rows, with `reg_covar` on its diagonal.
    precision_factor_ : ndarray of shape (n_features, n_features)
        Lower triangular; maps deviations from the mean to independent ones of variance 1.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.density import GaussianDensity
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = GaussianDensity().fit(X)
    >>> model.fit_source([(X[:200],), (X[200:],)]).mean_.round(3)
    array([-0.088, -0.008])
    >>> round(float(np.exp(model.score_samples([[0.0, 0.0]])[0])), 3)
    0.166
    """

    _: KW_ONLY
    reg_covar: NonNegative = 0.0
    mean_: np.ndarray = fitted(Array("f", "d"))
    covariance_: np.ndarray = fitted(Array("f", "d", "d"))
    precision_factor_: np.ndarray = fitted(Array("f", "d", "d"))

    def _fit(self, X: np.ndarray, sample_weight: np.ndarray | None) -> None:
        check_squares(self, X)
        chunk = (X,) if sample_weight is None else (X, sample_weight)
        self._learn(reduce(Moments.of_width(X.shape[1]), chunk))

    def _learn(self, moments: Moments) -> None:
        """Learn from the moments of rows."""
        covariance = moments.covariance() + self.reg_covar * np.eye(len(moments.mean))
        if not np.isfinite(covariance).all():
            raise ValueError(
                "GaussianDensity needs rows whose squares have a finite sum. Got a covariance that "
                "is not finite; divide the columns by constants so that they are about one."
            )
        try:
            factor = linalg.cholesky(covariance, lower=True)
            # Rounding leaves a singular matrix with pivots that are tiny, not zero.
            flat = np.diag(factor) ** 2 < 1e-13 * np.diag(covariance)
        except linalg.LinAlgError:
            flat = np.array([True])
        if flat.any():
            raise ValueError(
                "GaussianDensity needs rows that vary in every direction: those it got "
                f"(n_samples={moments.n_rows}, {len(covariance)} columns) lie in a plane, where no "
                "density exists. Leave out columns, or set reg_covar."
            )
        self.mean_, self.covariance_ = moments.mean, covariance
        self.precision_factor_ = linalg.solve_triangular(factor, np.eye(len(factor)), lower=True)

    def _log_density(self, X: np.ndarray) -> np.ndarray:
        white = row_products(X - self.mean_, np.ascontiguousarray(self.precision_factor_.T))
        log_det = np.log(np.diag(self.precision_factor_)).sum()
        return log_det - 0.5 * (len(self.mean_) * math.log(2 * math.pi) + (white**2).sum(axis=1))

    def _sample(self, n_samples: int, random: np.random.RandomState) -> np.ndarray:
        z = random.standard_normal((n_samples, len(self.mean_)))
        factor = linalg.cholesky(self.covariance_, lower=True)
        return self.mean_ + z @ factor.T
