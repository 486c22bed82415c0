"""How many neighbours: schedules with which the error tends to the Bayes error."""

import math
from numbers import Real
from typing import Annotated

from corollary.core.compat import Interval
from corollary.core.estimator import Probability, checked


@checked
def consistent_k(
    n_samples: Annotated[float, Interval(Real, 1, None, closed="left")], *, power: Probability = 0.5
) -> int:
    r"""Compute a number of neighbours with which nearest neighbours are universally consistent.

    :math:`k(m) = \lceil m^\alpha \rceil` grows without bound while :math:`k(m) / m` vanishes;
    then the error tends to the Bayes error whatever the law of the data is. A fixed k does not
    do this.

    Parameters
    ----------
    n_samples : float
        Training rows :math:`m`, or their total weight.
    power : float, default=0.5
        The exponent :math:`\alpha`, strictly between 0 and 1.

    Returns
    -------
    n_neighbors : int
        The number of neighbours.

    References
    ----------
    Stone, C. J. (1977). Consistent nonparametric regression. Annals of Statistics 5.

    Examples
    --------
    >>> from corollary.neighbors import consistent_k
    >>> [consistent_k(m) for m in (1, 10, 100, 10_000)]
    [1, 4, 10, 100]
    """
    # A power such as 1000 ** (1 / 3) may come out a little above a whole number.
    return max(1, math.ceil(float(n_samples) ** power * (1 - 1e-12)))
