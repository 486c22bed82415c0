"""The Chinese restaurant process: the law of partitions that a Dirichlet process gives to rows."""

import math
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.estimator import Count, Positive, RandomSeed, checked


@checked
def chinese_restaurant(
    n_samples: Count, concentration: Positive, random_state: RandomSeed = None
) -> np.ndarray:
    r"""Seat customers one after the other, and return the number of the table of each.

    Customer n + 1 joins a table with a probability proportional to the number of its guests, and
    opens a new one with probability :math:`\alpha/(\alpha+n)`. Tables are numbered as they are
    opened.

    Parameters
    ----------
    n_samples, concentration : int and float
        Number of customers, and the concentration :math:`\alpha`.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Examples
    --------
    >>> from corollary.mixture import chinese_restaurant
    >>> chinese_restaurant(10, 1.0, random_state=0)
    array([0, 1, 2, 2, 2, 2, 2, 2, 3, 4])
    """
    random = check_random_state(random_state)
    tables = np.zeros(n_samples, dtype=np.intp)
    n_tables = 1
    for n in range(1, n_samples):
        place = random.uniform() * (n + concentration)
        if place < n:  # beside a guest who is chosen by chance
            tables[n] = tables[int(place)]
        else:
            tables[n] = n_tables
            n_tables += 1
    return tables


@checked
def partition_log_probability(sizes: Any, concentration: Positive) -> float:
    r"""Return the logarithm of the probability of a partition under the restaurant process.

    .. math:: P=\alpha^{K}\frac{\Gamma(\alpha)}{\Gamma(N+\alpha)}\prod_{k\le K}(n_k-1)!

    It depends on the sizes of the blocks alone, neither on labels nor on the order of arrival. Of
    partitions with blocks of the same sizes each has this probability.

    Parameters
    ----------
    sizes : array-like of shape (n_blocks,)
        Sizes of the blocks.
    concentration : float
        The concentration :math:`\alpha`.

    Examples
    --------
    >>> import math
    >>> from corollary.mixture import partition_log_probability
    >>> round(math.exp(partition_log_probability([4, 3, 2, 1], 1.0)) * math.factorial(10))
    12
    """
    from scipy.special import gammaln

    sizes = np.asarray(sizes)
    if sizes.ndim != 1 or not np.array_equal(sizes, sizes.astype(int)) or not (sizes > 0).all():
        raise ValueError(f"sizes must be positive whole numbers. Got {sizes.tolist()}.")
    constant = gammaln(concentration) - gammaln(sizes.sum() + concentration)
    return float(len(sizes) * math.log(concentration) + constant + gammaln(sizes).sum())


@checked
def expected_tables(n_samples: Count, concentration: Positive) -> float:
    r"""Return the expected number of tables, :math:`\sum_{i<N}\alpha/(\alpha+i)`.

    It equals :math:`\alpha(\psi(\alpha+N)-\psi(\alpha))`.

    Parameters
    ----------
    n_samples, concentration : int and float
        Number N of customers, and the concentration :math:`\alpha`.

    Examples
    --------
    >>> from corollary.mixture import expected_tables
    >>> round(expected_tables(100, 2.0), 4)
    8.3946
    """
    from scipy.special import digamma

    difference = digamma(concentration + n_samples) - digamma(concentration)
    return float(concentration * difference)


@checked
def expected_tables_bound(n_samples: Count, concentration: Positive) -> float:
    r"""Bound the expected number of tables by :math:`1+\alpha\log(1+(N-1)/\alpha)`.

    The sum after its first term is below the integral of :math:`\alpha/(\alpha+x)` from 0 to N - 1:
    the number of tables is :math:`O(\alpha\log N)`. For one customer the bound is attained.

    Parameters
    ----------
    n_samples, concentration : int and float
        Number N of customers, and the concentration :math:`\alpha`.

    Examples
    --------
    >>> from corollary.mixture import expected_tables_bound
    >>> round(expected_tables_bound(100, 2.0), 4)
    8.8439
    """
    return 1 + concentration * math.log1p((n_samples - 1) / concentration)


@checked
def tables_distribution(n_samples: Count, concentration: Positive) -> np.ndarray:
    r"""Return the probabilities of 0, 1, ..., n_samples tables.

    Customer i opens a table with probability :math:`\alpha/(\alpha+i)`, whatever the others
    do.

    Parameters
    ----------
    n_samples, concentration : int and float
        Number of customers, and the concentration :math:`\alpha`.

    Examples
    --------
    >>> from corollary.mixture import tables_distribution
    >>> tables_distribution(3, 1.0)
    array([0.        , 0.33333333, 0.5       , 0.16666667])
    """
    law = np.zeros(n_samples + 1)
    law[0] = 1.0
    for i in range(n_samples):
        p = concentration / (concentration + i)
        law[1:] = law[1:] * (1 - p) + law[:-1] * p
        law[0] *= 1 - p
    return law
