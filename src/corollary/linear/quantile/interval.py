"""An interval between two conditional quantiles."""

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from corollary.core.estimator import NonNegative, Probability, Regressor, fitted
from corollary.core.schema import Instance
from corollary.linear._parameters import LinearProgram
from corollary.linear.quantile.regressor import QuantileRegressor


class QuantileInterval(Regressor):
    r"""Predict an interval between two conditional quantiles, and the median inside it.

    The ends are linear quantile regressions at levels :math:`(1 - c)/2` and :math:`(1 + c)/2`
    for coverage c. Two lines cross somewhere; there the ends are exchanged, so that a lower end
    is never above an upper one. Exchanging never brings an end farther from its quantile on
    average over both. ``predict`` gives the median, moved to the nearer end where it lies outside
    the interval.

    Parameters
    ----------
    coverage : float, default=0.9
        Wanted probability c that a target falls into its interval.
    alpha : float, default=0.0
        Strength of the l1 penalty of each regression.
    fit_intercept : bool, default=True
        Whether to fit intercepts.
    solver : {"highs", "highs-ds", "highs-ipm"}, default="highs"
        Method of SciPy's ``linprog``.

    Attributes
    ----------
    lower_, median_, upper_ : QuantileRegressor
        The three fitted regressions.

    See Also
    --------
    QuantileRegressor : One quantile.

    Notes
    -----
    Guarantee: the coverage holds in the limit of many rows if the conditional quantiles are
    linear, checked by ``tests/linear/test_quantile.py::test_interval_covers_with_many_rows``.
    With few rows it is less than asked for; conformal prediction repairs that.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import QuantileInterval
    >>> x = np.linspace(0.0, 1.0, 99)[:, None]
    >>> y = x.ravel() * np.tile([-1.0, 0.0, 1.0], 33)
    >>> QuantileInterval(coverage=0.8).fit(x, y).predict_interval([[1.0]]).round(6) + 0.0
    array([[-1.,  1.]])
    """

    _: KW_ONLY
    coverage: Probability = 0.9
    alpha: NonNegative = 0.0
    fit_intercept: bool = True
    solver: LinearProgram = "highs"

    lower_: QuantileRegressor = fitted(Instance("predict"))
    median_: QuantileRegressor = fitted(Instance("predict"))
    upper_: QuantileRegressor = fitted(Instance("predict"))

    _rows: ClassVar[dict[str, Any]] = QuantileRegressor._rows
    _training_rows: ClassVar[dict[str, Any]] = QuantileRegressor._training_rows

    def _fits_together(self) -> str | None:
        ends = (self.lower_, self.median_, self.upper_)
        if not all(isinstance(end, QuantileRegressor) and hasattr(end, "coef_") for end in ends):
            return "its ends are not fitted quantile regressors"
        if any(end.n_features_in_ != self.n_features_in_ for end in ends):
            return "its ends have other numbers of features"
        return None

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        tail = (1.0 - self.coverage) / 2.0
        self.lower_, self.median_, self.upper_ = (
            QuantileRegressor(
                quantile=level,
                alpha=self.alpha,
                fit_intercept=self.fit_intercept,
                solver=self.solver,
            ).fit(X, y, sample_weight=sample_weight)
            for level in (tail, 0.5, 1.0 - tail)
        )

    def predict_interval(self, X: Any) -> np.ndarray:
        """Predict an interval for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New inputs.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)
            Lower and upper ends, in this order.
        """
        return self._ends(self._new(X))

    def _predict(self, X: Any) -> np.ndarray:
        lower, upper = self._ends(X).T
        return np.clip(self.median_.predict(X), lower, upper)

    def _ends(self, X: Any) -> np.ndarray:
        ends = np.column_stack([self.lower_.predict(X), self.upper_.predict(X)])
        return np.sort(ends, axis=1)
