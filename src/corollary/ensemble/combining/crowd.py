r"""The wisdom of the crowd: how often a majority of independent voters is wrong.

Each of :math:`n=2T+1` voters is right with probability :math:`\frac12+\gamma`, independently. The
majority is wrong when at most T are right, with probability

.. math:: \sum_{i=0}^{T}\binom{2T+1}{i}\Bigl(\frac12+\gamma\Bigr)^i
          \Bigl(\frac12-\gamma\Bigr)^{2T+1-i},

which falls exponentially in T. Members of an ensemble are never independent, so this is what
diversity could bring at best.
"""

from numbers import Real
from typing import Annotated, Literal

import numpy as np
from scipy.special import bdtr

from corollary.core.compat import Interval
from corollary.core.estimator import Count, Fraction, checked


@checked
def majority_error(n_voters: Count, accuracy: Fraction) -> float:
    """Return the exact probability that a majority of independent voters is wrong.

    Parameters
    ----------
    n_voters : int
        Number of voters. If it is even, a tie is broken by a fair coin, which makes n voters as
        good as n - 1.
    accuracy : float
        Probability that a voter is right.

    Returns
    -------
    error : float
        A binomial tail.

    See Also
    --------
    majority_error_bound : What it is at most.

    Examples
    --------
    >>> from corollary.ensemble import majority_error
    >>> round(majority_error(3, 0.6), 6), majority_error(2, 0.75)
    (0.352, 0.25)
    """
    odd = n_voters if n_voters % 2 else n_voters - 1
    return float(bdtr(odd // 2, odd, accuracy))


@checked
def majority_error_bound(
    n_voters: Count,
    edge: Annotated[float, Interval(Real, 0, 0.5, closed="both")],
    *,
    form: Literal["chernoff", "simple", "hoeffding"] = "chernoff",
) -> float:
    r"""Return an upper bound on the error of a majority of independent voters.

    Parameters
    ----------
    n_voters : int
        :math:`2T+1`, an odd number of voters.
    edge : float
        :math:`\gamma\in[0,\frac12]`; each voter is right with probability at least
        :math:`\frac12+\gamma`.
    form : {"chernoff", "simple", "hoeffding"}, default="chernoff"
        "chernoff" is :math:`\exp\bigl(-\frac{(1/2+2T\gamma+\gamma)^2}
        {2(T+1/2+2T\gamma+\gamma)}\bigr)`; "simple" is :math:`\exp(-\frac45\gamma^2T)`, which is
        weaker; "hoeffding" is :math:`\exp(-2\gamma^2(2T+1))`, which is stronger for large T.

    Returns
    -------
    bound : float
        At least :func:`majority_error`.

    Notes
    -----
    Guarantee: for independent voters, every T and every edge; compared with the exact error and
    with simulated elections by
    ``tests/ensemble/test_crowd.py::test_bounds_are_above_the_exact_error`` and
    ``test_simulated_elections``.

    Examples
    --------
    >>> from corollary.ensemble import majority_error, majority_error_bound
    >>> round(majority_error(101, 0.6), 4), round(majority_error_bound(101, 0.1), 4)
    (0.0209, 0.3957)
    >>> round(majority_error_bound(101, 0.1, form="hoeffding"), 4)
    0.1327
    """
    if n_voters % 2 == 0:
        raise ValueError(
            "The 'n_voters' parameter of majority_error_bound must be an odd int. Got "
            f"{n_voters} instead; an even crowd is as good as one voter fewer."
        )
    T = n_voters // 2
    if form == "simple":
        return float(np.exp(-0.8 * edge**2 * T))
    if form == "hoeffding":
        return float(np.exp(-2 * edge**2 * n_voters))
    excess = 0.5 + n_voters * edge
    return float(np.exp(-(excess**2) / (2 * (T + excess))))
