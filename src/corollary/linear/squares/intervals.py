"""Confidence intervals for coefficients of least squares."""

from typing import Literal

import numpy as np
from sklearn.utils import check_X_y

from corollary.core.compat import check_sample_weight
from corollary.core.estimator import ArrayLike, Probability, checked
from corollary.core.summary import ArraySource
from corollary.linear.squares._factorisation import solve_factor
from corollary.linear.squares._records import CoefficientIntervals
from corollary.linear.squares._triangular_factor import TriangularFactor
from corollary.linear.squares.normal_equations import NormalEquations


@checked
def coefficient_intervals(
    X: ArrayLike,
    y: ArrayLike,
    *,
    confidence: Probability = 0.95,
    method: Literal["t", "normal"] = "t",
    fit_intercept: bool = True,
    sample_weight: ArrayLike | None = None,
) -> CoefficientIntervals:
    r"""Fit least squares and return a confidence interval for every coefficient.

    The interval of coefficient j is
    :math:`\hat\beta_j\pm q\sqrt{\hat\sigma^2[(X^\top X)^{-1}]_{jj}}` with
    :math:`\hat\sigma^2` the residual sum of squares over n - d, and q the quantile of order
    :math:`1-\delta/2`, :math:`\delta` = 1 - ``confidence``, of Student's law with n - d degrees of
    freedom or of the normal law.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Targets.
    confidence : float, default=0.95
        Probability with which each interval covers its coefficient.
    method : {"t", "normal"}, default="t"
        "t" is exact for Gaussian noise; "normal" is right for large samples only.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Inverse relative noise variances: row i has noise variance :math:`\sigma^2/w_i`.

    Returns
    -------
    intervals : named tuple
        For every coefficient, the intercept last if there is one: ``coef``, ``standard_error``,
        ``lower`` and ``upper`` ends. Besides, the unbiased estimate ``noise_variance`` and
        ``degrees_of_freedom``, rows minus coefficients.

    Raises
    ------
    ValueError
        If there are not more rows than coefficients, or columns are linearly dependent: then
        single coefficients are not determined by the data.

    Notes
    -----
    Guarantee. Under Gaussian noise of equal variance (or weights as above) each "t" interval covers
    with probability exactly ``confidence``, jointly they do not; checked by
    ``tests/linear/test_intervals.py::test_student_interval_covers_exactly``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import coefficient_intervals
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.1, 0.9, 2.1, 2.9])
    >>> intervals = coefficient_intervals(X, y)
    >>> intervals.lower.round(3), intervals.upper.round(3)
    (array([ 0.717, -0.395]), array([1.203, 0.515]))
    """
    from scipy.stats import norm, t

    X, y = check_X_y(X, y, dtype=np.float64, y_numeric=True)
    if sample_weight is not None:
        sample_weight = check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
    source = ArraySource((X, y, sample_weight))
    equations = source.reduce(NormalEquations.for_data(X, y))
    d = X.shape[1] + fit_intercept
    n = equations.n_rows
    if n <= d:
        raise ValueError(
            f"coefficient_intervals needs more rows of positive weight than coefficients. Got {n} "
            f"rows and {d} coefficients; use fewer columns or BayesianLinearRegression."
        )
    means = equations.moments.mean
    shift = means if fit_intercept else np.zeros_like(means)
    R = source.reduce(TriangularFactor.of_shift(shift)).R
    A, b = R[:, :-1], R[:, -1:]
    coef, rank = solve_factor(A, b)
    if rank < X.shape[1]:
        raise ValueError(
            f"coefficient_intervals needs linearly independent columns. Got rank {rank} for "
            f"{X.shape[1]} columns{' besides the intercept' if fit_intercept else ''}; drop "
            "columns (see corollary.linear.diagnose) or use Ridge."
        )
    variance = float(((b - A @ coef) ** 2).sum()) / (n - d)
    # Rows of the inverse of the scaled R: their squared lengths are the diagonal of the inverse
    # Gram matrix, without forming products.
    norms = np.linalg.norm(A, axis=0)
    inverse = np.linalg.pinv(A / norms) / norms[:, np.newaxis]
    spread = np.sqrt(variance * (inverse**2).sum(axis=1))
    values = coef[:, 0]
    if fit_intercept:
        x_mean = equations.x_mean
        centre = variance / equations.weight
        spread = np.append(spread, np.sqrt(centre + variance * ((x_mean @ inverse) ** 2).sum()))
        values = np.append(values, equations.y_mean[0] - x_mean @ values)
    order = (1 + confidence) / 2
    q = t.ppf(order, n - d) if method == "t" else norm.ppf(order)
    return CoefficientIntervals(
        values, spread, values - q * spread, values + q * spread, variance, n - d
    )
