r"""Correlation of residuals within units, and what a model could gain by knowing the unit."""

import math
from typing import Any

import numpy as np

from corollary.core.estimator import ArrayLike, checked
from corollary.validation.dependence._units import unit_sums


def intraclass_correlation(residuals: Any, units: Any) -> float:
    r"""Correlate each residual with the mean residual of the other rows of its unit.

    .. math:: \rho = \sum_i r_i \bar r_{-i} \Big/ \sum_i r_i^2

    over the rows whose unit has others. If a unit adds a common term of variance
    :math:`\sigma_u^2` to noise of variance :math:`\sigma^2`, it estimates the intra-class
    correlation :math:`\sigma_u^2 / (\sigma_u^2 + \sigma^2)`.

    Parameters
    ----------
    residuals : array-like of shape (n_rows,) or (n_rows, n_outputs)
        Residuals of mean about zero; inner products for several outputs.
    units : array-like of shape (n_rows,)
        Unit of each row.

    Returns
    -------
    correlation : float
        From -1 to 1; 0 if every unit has one row only.

    See Also
    --------
    intraclass_p_value : How often chance gives as much.
    sibling_correction : What it is worth.

    Examples
    --------
    >>> from corollary.validation import intraclass_correlation
    >>> intraclass_correlation([1.0, 1.0, -1.0, -1.0], ["a", "a", "b", "b"])
    1.0
    """
    residuals, codes = _check(residuals, units)
    others, size = _others(residuals, codes)
    rows = size > 1
    total = float((residuals[rows] ** 2).sum())
    return float((residuals[rows] * others[rows]).sum()) / total if total > 0 else 0.0


def intraclass_p_value(residuals: Any, units: Any, *, blocks: Any = None) -> float:
    r"""Test whether residuals within units are more alike than those of rows dealt at random.

    The statistic is :math:`\sum_i r_i \bar r_{-i}`. Its mean and variance over all ways to deal
    the residuals to the rows are known exactly (Mantel); its law is close to a shifted gamma law,
    whose skewness is that of a chi-square law with as many degrees of freedom as units.

    Parameters
    ----------
    residuals : array-like of shape (n_rows,) or (n_rows, n_outputs)
        Residuals.
    units : array-like of shape (n_rows,)
        Unit of each row.
    blocks : array-like of shape (n_rows,) or None, default=None
        Rows that are alike anyway, such as those of a patient if units are clinics: then means
        of blocks, not rows, are dealt at random. A block lies in one unit.

    Returns
    -------
    p_value : float
        One-sided; 1 where no unit has two rows or blocks.

    References
    ----------
    .. [1] N. Mantel (1967). The detection of disease clustering and a generalized regression
       approach. Cancer Research 27.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import intraclass_p_value
    >>> rng = np.random.default_rng(0)
    >>> owner = np.repeat(np.arange(30), 5)
    >>> noise, effect = rng.normal(size=150), rng.normal(size=30)[owner]
    >>> intraclass_p_value(noise, owner) > 0.05, intraclass_p_value(noise + effect, owner) < 1e-6
    (True, True)
    """
    residuals, codes = _check(residuals, units)
    if blocks is not None:
        _, first, block = np.unique(np.asarray(blocks), return_index=True, return_inverse=True)
        if (codes[first][block] != codes).any():
            raise ValueError(
                "intraclass_p_value needs blocks that lie within units. Got a block with rows in "
                "two units. Pass the finer partition as blocks, the coarser one as units."
            )
        residuals, codes = unit_sums(residuals, block) / np.bincount(block)[:, None], codes[first]
    n, size = len(codes), np.bincount(codes).astype(np.float64)
    size = size[size > 1]
    if n < 4 or not len(size):
        return 1.0
    others, _ = _others(residuals, codes)
    mean, variance = _mantel_moments(residuals, size)
    if variance <= 0:
        return 1.0
    z = (float((residuals * others).sum()) - mean) / math.sqrt(variance)
    return _gamma_tail(z, math.sqrt(8 / max(len(size) - 1, 1)))


@checked
def sibling_correction(residuals: ArrayLike, units: ArrayLike, correlation: float) -> np.ndarray:
    r"""Subtract from each residual what the other rows of its unit tell about it.

    The best multiple of the mean residual of the :math:`m - 1` siblings, if all rows of a unit are
    equally correlated, is :math:`w = (m - 1) \rho / (1 + (m - 2) \rho)`.

    Parameters
    ----------
    residuals : array-like of shape (n_rows,) or (n_rows, n_outputs)
        Residuals.
    units : array-like of shape (n_rows,)
        Unit of each row.
    correlation : float
        Correlation within units; below 0 counts as 0, above 1 as 1.

    Returns
    -------
    corrected : ndarray of the shape of residuals
        Residuals after the correction.

    Examples
    --------
    >>> from corollary.validation import sibling_correction
    >>> sibling_correction([1.0, 1.0, 3.0], ["a", "a", "b"], 0.5)
    array([0.5, 0.5, 3. ])
    """
    values, codes = _check(residuals, units)
    others, size = _others(values, codes)
    rho = min(max(float(correlation), 0.0), 1.0)
    # Where rho is 0 and a unit has two rows the denominator is 1; it never vanishes for m >= 2.
    weight = np.where(size > 1, (size - 1) * rho / np.maximum(1 + (size - 2) * rho, 1e-12), 0.0)
    return (values - weight[:, None] * others).reshape(np.shape(residuals))


def _check(residuals: Any, units: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return residuals as a matrix and units as codes, or raise."""
    values = np.asarray(residuals, dtype=np.float64)
    codes = np.unique(np.asarray(units), return_inverse=True)[1].reshape(-1)
    if values.ndim not in (1, 2) or len(values) != len(codes) or not np.isfinite(values).all():
        raise ValueError(
            "Correlations within units need one finite residual (or row of them) and one unit for "
            f"each row. Got residuals of shape {values.shape} and {len(codes)} units."
        )
    return values.reshape(len(values), -1), codes


def _others(values: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean of the other rows of the unit of each row, zero for none; and sizes of units."""
    size = np.bincount(codes)[codes].astype(np.float64)
    siblings = unit_sums(values, codes)[codes] - values
    return np.where(size[:, None] > 1, siblings / np.maximum(size - 1, 1)[:, None], 0.0), size


def _mantel_moments(values: np.ndarray, size: np.ndarray) -> tuple[float, float]:
    """Mean and variance of the sum of products over all ways to deal values to units."""
    n = len(values)
    square = (values**2).sum(axis=1)
    total = values.sum(axis=0)
    # Sums over ordered pairs i != j of products, of their squares, and squared sums of rows.
    product = float(total @ total - square.sum())
    squares = float(((values.T @ values) ** 2).sum() - (square**2).sum())
    rows = float(((values @ total - square) ** 2).sum())
    # The same of the weights 1 / (m - 1) of pairs within units.
    weight = float(size.sum())
    weight_squares = float((size / (size - 1)).sum())
    weight_rows = float(size.sum())
    two, three, four = n * (n - 1), n * (n - 1) * (n - 2), n * (n - 1) * (n - 2) * (n - 3)
    mean = weight * product / two
    second = (
        2 * weight_squares * squares / two
        + 4 * (weight_rows - weight_squares) * (rows - squares) / three
        + (weight**2 + 2 * weight_squares - 4 * weight_rows)
        * (product**2 + 2 * squares - 4 * rows)
        / four
    )
    return mean, second - mean**2


def _gamma_tail(z: float, skewness: float) -> float:
    """Upper tail of the gamma law of mean 0, variance 1 and this skewness."""
    from scipy.special import gammaincc

    shape = 4 / skewness**2
    return float(gammaincc(shape, max(shape + z * math.sqrt(shape), 0.0)))
