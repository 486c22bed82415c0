r"""How far the mean of observations of small known variance can lie from its expectation.

Hoeffding's inequality knows the range of the observations only. If a bound on their variance is
known as well, the radius is that of a normal law, up to a term that falls like 1/n. Bennett's
inequality is the exact form, Bernstein's a simpler one that is never smaller.
"""

import math
from typing import Literal

from corollary.core.estimator import Count, NonNegative, Positive, Probability, checked


@checked
def bernstein_bound(
    *,
    variance: NonNegative,
    n_samples: Count | None = None,
    delta: Probability | None = None,
    radius: Positive | None = None,
    largest: Positive = 1.0,
    sides: Literal[1, 2] = 1,
    sharp: bool = True,
) -> float:
    r"""Solve Bennett's or Bernstein's inequality for radius, probability or sample size.

    Independent observations with :math:`X_i - EX_i \le b` and mean variance at most
    :math:`\sigma^2` satisfy

    .. math:: P\{\bar X - E\bar X\ge r\}
              \le \exp\Bigl(-\frac{n\sigma^2}{b^2}\,h\Bigl(\frac{br}{\sigma^2}\Bigr)\Bigr)
              \le \exp\Bigl(-\frac{nr^2}{2\sigma^2+2br/3}\Bigr),

    where :math:`h(u)=(1+u)\log(1+u)-u`. Give two of `n_samples` n, `radius` r and `delta`, which
    is the right side times `sides`, and the third is returned.

    Parameters
    ----------
    variance : float
        :math:`\sigma^2`, an upper bound on the variance (its mean over the observations) that is
        known beforehand.
    n_samples : int or None, default=None
        Number of observations.
    delta : float or None, default=None
        Probability of failure, strictly between 0 and 1.
    radius : float or None, default=None
        Distance between the empirical mean and its expectation, positive.
    largest : float, default=1.0
        b: how far an observation can lie above its expectation and, with two sides, below it. The
        length of the range always does.
    sides : {1, 2}, default=1
        1 for one direction (an upper or a lower bound), 2 for both at once.
    sharp : bool, default=True
        Bennett's inequality; False for Bernstein's.

    Returns
    -------
    answer : float
        The quantity that was left out. A probability is at most 1, where the inequality is
        vacuous; a sample size is a whole number, the smallest that suffices.

    Raises
    ------
    ValueError
        If not exactly one quantity is left out, or if no observations have such a variance.

    See Also
    --------
    hoeffding_bound : Needs the range alone.
    empirical_bernstein_radius : Estimates the variance and pays for it.

    Notes
    -----
    Guarantee: with probability at least 1 - delta the expectation is below mean + radius. A sample
    variance must not stand for the known one. Checked by ``tests/guarantees/concentration.py``.

    References
    ----------
    Boucheron, S., Lugosi, G. and Massart, P. (2013). Concentration inequalities. Theorem 2.9 and
    corollary 2.11.

    Examples
    --------
    >>> from corollary.theory import bernstein_bound
    >>> round(bernstein_bound(n_samples=1000, variance=0.01, delta=0.05), 4)
    0.0087
    >>> bernstein_bound(radius=0.01, variance=0.01, delta=0.05)
    776.0
    >>> round(bernstein_bound(n_samples=1000, variance=0.01, radius=0.01, sharp=False), 4)
    0.0235
    """
    n_declared = sum(value is not None for value in (n_samples, delta, radius))
    if n_declared != 2:
        raise ValueError(
            "bernstein_bound needs exactly two of 'n_samples', 'delta' and 'radius' and returns "
            f"the third. Got {n_declared} of them."
        )
    if sides == 2 and variance > largest**2 * (1 + 1e-12):
        raise ValueError(
            "Observations that lie within 'largest' of their expectation have a variance of at "
            f"most {largest**2:g}. Got variance={variance:g}; look for a unit that was mixed up."
        )
    exponent = _bennett_exponent if sharp else _bernstein_exponent
    if radius is not None:
        rate = exponent(radius, variance, largest)
        if n_samples is not None:
            return min(1.0, sides * math.exp(-n_samples * rate))
        assert delta is not None
        return _smallest_sample(math.log(sides / delta), rate)
    assert delta is not None
    assert n_samples is not None
    price = math.log(sides / delta) / n_samples
    part = largest * price / 3
    simple = part + math.sqrt(part**2 + 2 * variance * price)
    return _bennett_radius(price, simple, variance, largest) if sharp else simple


def _bernstein_exponent(radius: float, variance: float, largest: float) -> float:
    return radius**2 / (2 * (variance + largest * radius / 3))


def _bennett_exponent(radius: float, variance: float, largest: float) -> float:
    """Compute the exponent for one observation; infinite if they cannot vary."""
    if variance == 0:
        return math.inf
    u = largest * radius / variance
    if u < 1e-3:
        # h(u) = u^2/2 - u^3/6 + ...; the difference of logarithms has lost its digits here.
        return radius**2 / (2 * variance) * (1 - u / 3)
    return variance / largest**2 * ((1 + u) * math.log1p(u) - u)


def _bennett_radius(price: float, above: float, variance: float, largest: float) -> float:
    """Find the radius of an exponent below a radius whose exponent is large enough."""
    if variance == 0:
        return 0.0
    low, high = 0.0, above
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if _bennett_exponent(middle, variance, largest) >= price:
            high = middle
        else:
            low = middle
    return high


def _smallest_sample(log_level: float, rate: float) -> float:
    if math.isinf(rate):
        return 1.0
    n = log_level / rate
    if math.isinf(n):
        return n
    # The quotient may round either way; the answer is defined by the inequality itself.
    whole = max(1.0, float(math.ceil(n * (1 - 1e-12))))
    return whole if whole * rate >= log_level * (1 - 1e-12) else whole + 1
