r"""KernelDensity: a density that is a mean of kernels around the training rows.

.. math:: \hat p(x)=\frac{1}{\sum_iw_i\,\int K}\sum_i\frac{w_i}{h^d}\,
          K\!\left(\frac{\|x-x_i\|}{h}\right)
"""

import math
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import linalg

from corollary.core.estimator import (
    ArrayLike,
    Count,
    Density,
    NoEffect,
    NonNegative,
    Positive,
    SampleMixin,
    check_squares,
    fitted,
)
from corollary.core.parallel import row_products
from corollary.core.schema import Array, Instance, Number
from corollary.density.kernel._rows import moments_of
from corollary.density.kernel.bandwidth import (
    likelihood_bandwidth,
    neighbor_bandwidths,
    scott_bandwidth,
    silverman_bandwidth,
)
from corollary.density.kernel.kernel_sum import KernelSum
from corollary.density.kernel.profiles import (
    KernelName,
    draw_from_kernel,
    log_kernel_integral,
)

_Sum = Literal["euclidean", "l2", "manhattan", "cityblock", "l1"]
Metric = Literal[_Sum, "chebyshev", "infinity", "minkowski", "p"]
_POWERS = {
    **{"euclidean": 2.0, "l2": 2.0, "manhattan": 1.0, "cityblock": 1.0, "l1": 1.0},
    **{"chebyshev": math.inf, "infinity": math.inf},
}


class KernelDensity(SampleMixin, Density):
    """Density that is the mean of kernels around the training rows.

    Parameters
    ----------
    bandwidth : float, array-like of shape (n_features,) or {"scott", "silverman", "reference", \
            "likelihood", "neighbors"}, default=1.0
        Width h of the kernels; an array has one for each column. "scott" and "silverman" are
        scikit-learn's, right for columns of variance one. "reference" takes Silverman's after
        whitening, so that kernels have the shape of the covariance. "likelihood" multiplies the
        reference of each column so that rows are likeliest under the kernels of the others.
        "neighbors" gives each row the distance to one of its neighbours.
    algorithm : object, default="auto"
        Has no effect: blocks of near rows serve all metrics here.
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}, \
            default="gaussian"
        The kernel, as in :func:`log_kernel_integral`.
    metric : {"euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev", "infinity", \
            "minkowski", "p"}, default="euclidean"
        The norm; of each the density integrates to one.
    atol : float, default=0
        Part of the density that may be left out; 0 for none but what rounding loses.
    rtol : float, default=0
        Share of the density that may be left out.
    breadth_first : object, default=True
        Has no effect: there is no tree to walk through.
    leaf_size : object, default=40
        Has no effect: blocks have the size that is fastest.
    metric_params : dict or None, default=None
        The power "p" of the metric "minkowski", at least 1; 2 if there is none.
    n_neighbors : int or None, default=None
        Which neighbour "neighbors" measures; None for the root of the number of rows.

    Attributes
    ----------
    bandwidth_ : float or ndarray of shape (n_features,) or (n_samples,)
        Width of the kernels, for "reference" after whitening.
    kernels_ : KernelSum
        The kernels, in units of `scale_` around `centre_`.
    centre_ : ndarray of shape (n_features,)
        Mean of the training rows.
    scale_ : ndarray of shape (n_features,) or (n_features, n_features)
        Unit of each column, or the triangular factor of the matrix of units.
    log_integral_ : float
        Logarithm of what a kernel integrates to.

    Notes
    -----
    How good a bandwidth is says :func:`leave_one_out_log_likelihood`; the gradient of the log
    density for Gaussian kernels is :func:`smoothed_score`. The sum is exact to rounding unless
    `rtol` or `atol` are positive; what is then left out is at most the larger of
    ``rtol * density`` and `atol`.

    References
    ----------
    E. Parzen (1962). On estimation of a probability density function and mode. Annals of
    Mathematical Statistics 33(3), 1065-1076.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.density import KernelDensity
    >>> X = np.random.default_rng(0).normal(size=(1000, 1))
    >>> model = KernelDensity(bandwidth="reference").fit(X)
    >>> np.exp(model.score_samples([[0.0], [2.0]])).round(2)
    array([0.39, 0.05])
    >>> model.sample(3, random_state=0).shape
    (3, 1)
    """

    _: KW_ONLY
    bandwidth: (
        Positive | Literal["scott", "silverman", "reference", "likelihood", "neighbors"] | ArrayLike
    ) = 1.0
    algorithm: NoEffect = "auto"
    kernel: KernelName = "gaussian"
    metric: Metric = "euclidean"
    atol: NonNegative = 0
    rtol: NonNegative = 0
    breadth_first: NoEffect = True
    leaf_size: NoEffect = 40
    metric_params: dict | None = None
    n_neighbors: Count | None = None

    bandwidth_: Any = fitted(Number(0) | Array("f", "*", low=0))
    kernels_: KernelSum = fitted(Instance("log_values"))
    centre_: np.ndarray = fitted(Array("f", "d"))
    scale_: np.ndarray = fitted(Array("f", "d", low=0) | Array("f", "d", "d"))
    log_integral_: float = fitted(Number())

    # Sums over rows have other last bits in memory by columns.
    _training_rows: ClassVar[dict[str, Any]] = {"order": "C"}

    def _fit(self, X: np.ndarray, sample_weight: np.ndarray | None) -> None:
        n, d = X.shape
        weight = np.ones(n) if sample_weight is None else sample_weight
        total, p = float(weight.sum()), self._power()
        self.centre_ = weight @ X / total
        self.bandwidth_, self.scale_ = self._widths(X, weight)
        radius = None
        if isinstance(self.bandwidth, str) and self.bandwidth == "neighbors":
            # Powers of the geometric mean's ratios stay in range where those of widths would not.
            middle = math.exp(np.log(self.bandwidth_).mean())
            radius, self.scale_ = self.bandwidth_ / middle, np.full(d, middle)
            weight = weight * radius**-d
        rows = self._in_units(X)
        self.kernels_ = KernelSum(rows, weight / total, radius, self.kernel, p)
        diagonal = self.scale_ if self.scale_.ndim == 1 else np.diag(self.scale_)
        log_unit = float(np.log(diagonal).sum())
        self.log_integral_ = log_kernel_integral(self.kernel, d, p=p) + log_unit

    def _power(self) -> float:
        """Return the power of the norm."""
        options = dict(self.metric_params or {})
        p = _POWERS.get(self.metric) or float(options.pop("p", 2.0))
        if options or not p >= 1:
            raise ValueError(
                "KernelDensity takes 'p', a number from 1 on, for the metric 'minkowski', and no "
                f"other metric_params. Got metric={self.metric!r} with {self.metric_params!r}."
            )
        return p

    def _widths(self, X: np.ndarray, weight: np.ndarray) -> tuple[Any, np.ndarray]:
        """Return the bandwidth and the units in which all kernels are alike."""
        d, total = X.shape[1], float(weight.sum())
        if not isinstance(self.bandwidth, str):
            widths = np.asarray(self.bandwidth, dtype=float)
            if widths.shape not in ((), (d,)) or not (widths > 0).all() or np.isinf(widths).any():
                raise ValueError(
                    f"The 'bandwidth' parameter of KernelDensity must be a positive number, or {d} "
                    f"of them, one for each column. Got {self.bandwidth!r} instead."
                )
            return (widths if widths.ndim else float(widths)), np.broadcast_to(widths, d).copy()
        if self.bandwidth in ("reference", "likelihood", "neighbors"):
            check_squares(self, X)
        if self.bandwidth == "likelihood":
            widths = likelihood_bandwidth(X, kernel=self.kernel, sample_weight=weight)
            return widths, widths
        if self.bandwidth == "neighbors":
            k = self.n_neighbors or max(1, round(math.sqrt(len(X))))
            return neighbor_bandwidths(X, k), np.ones(d)
        rule = scott_bandwidth if self.bandwidth == "scott" else silverman_bandwidth
        h = rule(total, d)
        return h, np.full(d, h) if self.bandwidth != "reference" else h * _factor(X, weight)

    def _in_units(self, X: np.ndarray) -> np.ndarray:
        """Return rows in units of the kernels."""
        away = X - self.centre_
        if self.scale_.ndim == 1:
            return away / self.scale_
        inverse = linalg.solve_triangular(self.scale_, np.eye(len(self.scale_)), lower=True)
        return row_products(away, np.ascontiguousarray(inverse.T))

    def _log_density(self, X: np.ndarray) -> np.ndarray:
        floor = 0.0 if self.atol == 0 else self.atol * math.exp(min(self.log_integral_, 700.0))
        sums = self.kernels_.log_values(self._in_units(X), rtol=self.rtol, atol=floor)
        return sums - self.log_integral_

    def score(self, X: Any, y: Any = None) -> float:
        """Return the sum, not the mean, of the log densities at rows."""
        return float(self.score_samples(X).sum())

    def _sample(self, n_samples: int, random: np.random.RandomState) -> np.ndarray:
        kernels, d = self.kernels_, len(self.centre_)
        radius = np.ones(len(kernels.rows)) if kernels.radius is None else kernels.radius
        shares = np.cumsum(kernels.weight * radius**d)
        rows = np.searchsorted(shares, random.uniform(size=n_samples) * shares[-1], side="right")
        rows = np.minimum(rows, len(shares) - 1)
        steps = draw_from_kernel(kernels.kernel, n_samples, d, p=kernels.p, random_state=random)
        Z = kernels.rows[rows] + radius[rows, np.newaxis] * steps
        back = Z * self.scale_ if self.scale_.ndim == 1 else Z @ self.scale_.T
        return self.centre_ + back


def _factor(X: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the triangular factor of the covariance of rows."""
    covariance = moments_of("KernelDensity", X, weight).covariance(ddof=1)
    try:
        return linalg.cholesky(covariance, lower=True)
    except linalg.LinAlgError as error:
        raise ValueError(
            "KernelDensity needs rows that vary in all directions for bandwidth='reference'. "
            "Their covariance is singular: leave out columns, or give bandwidths."
        ) from error
