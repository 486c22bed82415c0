r"""Settings whose risk is below a target with high probability.

A rule with a setting, such as the threshold of a set or of an alarm, has on calibration rows a loss
in [0, 1] for every setting tried. Each setting is tested against the hypothesis that its risk
exceeds the target; the settings that pass may be used, all at once.
"""

from typing import Any, Literal

import numpy as np

from corollary.core.estimator import ArrayLike, Probability, checked


def _check_losses(losses: Any, who: str) -> np.ndarray:
    found = np.asarray(losses, dtype=float)
    found = found[:, None] if found.ndim == 1 else found
    if found.ndim != 2 or not len(found) or not np.all((found >= 0) & (found <= 1)):
        raise ValueError(
            f"{who} needs losses in [0, 1], one row per calibration row and one column per "
            f"setting. Got shape {found.shape} with {int((~((found >= 0) & (found <= 1))).sum())} "
            "values outside; divide losses by their largest possible value."
        )
    return found


@checked
def hoeffding_bentkus_p_values(losses: ArrayLike, target: Probability) -> np.ndarray:
    r"""Test for each setting whether its risk exceeds a target.

    .. math:: p = \min\Big\{ \exp(-n\,\mathrm{kl}(\hat R \wedge r \,\|\, r)),\;
              e\, P(\mathrm{Bin}(n, r) \le \lceil n \hat R \rceil) \Big\}

    with :math:`\hat R` the mean loss of n rows and r the target.

    Parameters
    ----------
    losses : array-like of shape (n_samples,) or (n_samples, n_settings)
        Losses in [0, 1] of independent calibration rows.
    target : float
        The risk r that must not be exceeded, strictly between 0 and 1.

    Returns
    -------
    p_values : ndarray of shape (n_settings,)
        Small if the risk is surely below the target.

    Notes
    -----
    Guarantee: if the risk of a setting is at least r, its p-value is at most u with probability
    at most u, for every u. Checked by ``tests/guarantees/conformal.py``.

    References
    ----------
    Angelopoulos, A., Bates, S., Candes, E., Jordan, M. and Lei, L. (2025). Learn then test:
    calibrating predictive algorithms to achieve risk control. Annals of Applied Statistics 19.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import hoeffding_bentkus_p_values
    >>> hoeffding_bentkus_p_values(np.zeros(50), 0.1).round(4)
    array([0.0052])
    """
    from scipy.special import bdtr, rel_entr

    found = _check_losses(losses, "hoeffding_bentkus_p_values")
    n = len(found)
    risk = np.minimum(found.mean(axis=0), target)
    hoeffding = np.exp(-n * (rel_entr(risk, target) + rel_entr(1 - risk, 1 - target)))
    # A mean such as 3 / 7 times 7 may end just above 3; rounding up is never wrong, only weaker.
    bentkus = np.e * bdtr(np.ceil(found.sum(axis=0)), n, target)
    return np.minimum(1.0, np.minimum(hoeffding, bentkus))


@checked
def learn_then_test(
    losses: ArrayLike,
    target: Probability,
    *,
    delta: Probability = 0.05,
    correction: Literal["fixed-sequence", "bonferroni", "holm"] = "fixed-sequence",
) -> np.ndarray:
    r"""Find the settings whose risk is below a target, with one confidence for all of them.

    Parameters
    ----------
    losses : array-like of shape (n_samples, n_settings)
        Losses in [0, 1] of independent calibration rows, one column per setting; they need not
        be monotone in the setting.
    target : float
        Largest wanted risk, strictly between 0 and 1.
    delta : float, default=0.05
        Probability that any setting returned is a bad one.
    correction : {"fixed-sequence", "bonferroni", "holm"}, default="fixed-sequence"
        How many tests are paid for. "fixed-sequence" tests columns from left to right at the
        full level and stops at the first that fails, so put the safest setting first, without
        looking at these rows. "bonferroni" and "holm" need no order.

    Returns
    -------
    passed : ndarray of bool of shape (n_settings,)
        Settings that may be used.

    See Also
    --------
    risk_controlling_setting : For losses that fall along the columns.

    Notes
    -----
    Guarantee: with probability at least 1 - delta every setting returned has a risk of at most
    the target. Checked by ``tests/guarantees/conformal.py``.

    References
    ----------
    Angelopoulos, A., Bates, S., Candes, E., Jordan, M. and Lei, L. (2025). Learn then test:
    calibrating predictive algorithms to achieve risk control. Annals of Applied Statistics 19.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import learn_then_test
    >>> losses = np.random.default_rng(0).random((500, 1)) < [0.01, 0.05, 0.2]
    >>> learn_then_test(losses, 0.1)
    array([ True,  True, False])
    """
    found = _check_losses(losses, "learn_then_test")
    p_values = hoeffding_bentkus_p_values(found, target)
    tests = len(p_values)
    if correction == "fixed-sequence":
        return np.logical_and.accumulate(p_values <= delta)
    if correction == "bonferroni":
        return p_values <= delta / tests
    order = np.argsort(p_values, kind="stable")
    passed = np.zeros(tests, dtype=bool)
    steps = p_values[order] <= delta / (tests - np.arange(tests))
    passed[order] = np.logical_and.accumulate(steps)
    return passed


@checked
def risk_controlling_setting(
    losses: ArrayLike, target: Probability, *, delta: Probability = 0.05
) -> int | None:
    r"""Find the boldest setting of a monotone rule whose risk is below a target.

    Columns go from the boldest setting to the most cautious one, and no row's loss may rise
    along them. The answer is the first column from which on all upper bounds
    :math:`\mathrm{kl}^{-1}(\hat R, \log(1/\delta)/n)` are at most the target.

    Parameters
    ----------
    losses : array-like of shape (n_samples, n_settings)
        Losses in [0, 1] of independent calibration rows, falling along the columns.
    target : float
        Largest wanted risk, strictly between 0 and 1.
    delta : float, default=0.05
        Probability that the risk of the answer exceeds the target.

    Returns
    -------
    column : int or None
        None if not even the last setting passes: more rows are needed, or a larger target.

    Raises
    ------
    ValueError
        If a loss rises along the columns.

    See Also
    --------
    learn_then_test : For losses that are not monotone.

    Notes
    -----
    Guarantee: the risk of the answer is at most the target with probability at least 1 - delta,
    without a price for the number of settings. Checked by ``tests/guarantees/conformal.py``.

    References
    ----------
    Bates, S., Angelopoulos, A., Lei, L., Malik, J. and Jordan, M. (2021). Distribution-free,
    risk-controlling prediction sets. Journal of the ACM 68.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import risk_controlling_setting
    >>> losses = np.random.default_rng(0).random((500, 1)) < [0.2, 0.05, 0.01]
    >>> risk_controlling_setting(losses, 0.1)
    1
    """
    from corollary.theory import kl_upper_inverse

    found = _check_losses(losses, "risk_controlling_setting")
    rising = np.any(np.diff(found, axis=1) > 0, axis=1)
    if rising.any():
        raise ValueError(
            "risk_controlling_setting needs losses that never rise along the columns. "
            f"{int(rising.sum())} rows do; order the settings from bold to cautious, or use "
            "learn_then_test."
        )
    upper = kl_upper_inverse(found.mean(axis=0), np.log(1 / delta) / len(found))
    passed = np.logical_and.accumulate((upper <= target)[::-1])[::-1]
    return int(np.argmax(passed)) if passed.any() else None
