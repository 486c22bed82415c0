r"""Slopes of residuals on columns, where they differ between units: boundaries that turn."""

from typing import Any

import numpy as np

from corollary.core.estimator import ArrayLike, Probability, checked
from corollary.validation.dependence._units import unit_means
from corollary.validation.dependence.residuals import (
    intraclass_correlation,
    intraclass_p_value,
    sibling_correction,
)


@checked
def slope_p_values(
    residuals: ArrayLike, columns: ArrayLike, units: ArrayLike, *, blocks: ArrayLike | None = None
) -> np.ndarray:
    r"""Test for each column whether residuals go with it differently in different units.

    The statistic is that of :func:`intraclass_p_value` for the products
    :math:`r_i\,(x_{ij}-\bar x_{uj})/s_{uj}`. Columns are standardised within units, since one that
    wanders from unit to unit by itself would seem to change its meaning. If units are stretches of
    time, a boundary that turns is seen, though it leaves the mean of the residuals where it was.

    Parameters
    ----------
    residuals : array-like of shape (n_rows,) or (n_rows, n_outputs)
        Residuals of a model that did not see the rows.
    columns : array-like of shape (n_rows, n_columns)
        Columns, as finite numbers.
    units : array-like of shape (n_rows,)
        Unit of each row.
    blocks : array-like of shape (n_rows,) or None, default=None
        Rows that are alike anyway; a block lies in one unit.

    Returns
    -------
    p_values : ndarray of shape (n_columns,)
        One-sided, one for each column.

    See Also
    --------
    slope_correction : What such slopes are worth.

    References
    ----------
    .. [1] B. E. Hansen (1992). Testing for parameter instability in linear models. Journal of
       Policy Modeling 14. The same idea, for linear models and one break.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import slope_p_values
    >>> rng = np.random.default_rng(0)
    >>> week, X = np.repeat(np.arange(20), 10), rng.normal(size=(200, 2))
    >>> residuals = np.cos(week / 5) * X[:, 0] + rng.normal(size=200)
    >>> slope_p_values(residuals, X, week) < 0.01
    array([ True, False])
    """
    values, slopes, codes = _check(residuals, columns, units)
    return np.array([intraclass_p_value(values * x[:, None], codes, blocks=blocks) for x in slopes])


@checked
def slope_correction(
    residuals: ArrayLike, columns: ArrayLike, units: ArrayLike, *, level: Probability = 0.01
) -> np.ndarray:
    r"""Subtract from each residual what the slopes of the other rows of its unit tell about it.

    For a column x, standardised within units, the mean of the products
    :math:`r x` over the siblings estimates the slope of the unit; the multiple of it that
    :func:`sibling_correction` subtracts from a product is, times x, subtracted from the residual.

    Parameters
    ----------
    residuals : array-like of shape (n_rows,) or (n_rows, n_outputs)
        Residuals of a model that did not see the rows.
    columns : array-like of shape (n_rows, n_columns)
        Columns, as finite numbers.
    units : array-like of shape (n_rows,)
        Unit of each row.
    level : float, default=0.01
        Columns are used one after the other whose :func:`slope_p_values` are below it, divided by
        the number of columns.

    Returns
    -------
    corrected : ndarray of the shape of residuals
        Residuals after the correction.

    Examples
    --------
    >>> from corollary.validation import slope_correction
    >>> x, unit = [[1.0], [-1.0]] * 4, [0, 0, 0, 0, 1, 1, 1, 1]
    >>> slope_correction([3.0, -3.0, 3.0, -3.0, -1.0, 1.0, -1.0, 1.0], x, unit, level=0.5)
    array([0., 0., 0., 0., 0., 0., 0., 0.])
    """
    values, slopes, codes = _check(residuals, columns, units)
    for x in slopes[slope_p_values(values, columns, codes) < level / max(len(slopes), 1)]:
        products = values * x[:, None]
        correlation = intraclass_correlation(products, codes)
        values = values - x[:, None] * (products - sibling_correction(products, codes, correlation))
    return values.reshape(np.shape(residuals))


def _check(residuals: Any, columns: Any, units: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return residuals as a matrix, columns standardised within units, and codes of units."""
    values, X = np.asarray(residuals, dtype=np.float64), np.asarray(columns, dtype=np.float64)
    codes = np.unique(np.asarray(units), return_inverse=True)[1].reshape(-1)
    if X.ndim != 2 or not len(values) == len(X) == len(codes) or not np.isfinite(X).all():
        raise ValueError(
            "Slopes within units need one residual, one row of finite numbers and one unit for "
            f"each row. Got residuals of shape {values.shape}, columns of shape {X.shape} and "
            f"{len(codes)} units."
        )
    centred = X - unit_means(X, codes)
    size = np.sqrt(unit_means(centred**2, codes))
    constant = size <= 1e-12 * (1 + np.abs(X).max(axis=0, initial=0.0))
    scaled = np.where(constant, 0.0, centred / np.where(constant, 1.0, size))
    return values.reshape(len(values), -1), scaled.T, codes
