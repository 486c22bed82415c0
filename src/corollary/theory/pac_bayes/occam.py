"""Short descriptions generalise: a prior over bit strings and what it gives a model."""

import math
from typing import Any

import numpy as np

from corollary.core.estimator import AnyReal, Count, Probability, checked


def bit_length_prior(length: Any, *, longest: int) -> Any:
    r"""Return the prior probability of a model that is written with so many bits.

    Parameters
    ----------
    length : int or array-like of int
        Bits of the model, from 1 to `longest`.
    longest : int
        Largest allowed number M of bits.

    Returns
    -------
    probability : float or ndarray
        :math:`2^{-|f|}/M`: a length is drawn first, then a string of it. It sums to 1 over all
        :math:`2(2^M-1)` strings, and a single model costs :math:`|f|\log2+\log M` nats.

    See Also
    --------
    occam_bound : What short models earn.

    Examples
    --------
    >>> from corollary.theory import bit_length_prior
    >>> bit_length_prior(2, longest=4)
    0.0625
    """
    length = np.asarray(length)
    whole = length.size and length.dtype.kind in "iuf" and np.all(length % 1 == 0)
    if not whole or longest < 1 or not np.all((length >= 1) & (length <= longest)):
        raise ValueError(
            "bit_length_prior needs whole lengths from 1 to 'longest'. Got "
            f"{length.ravel()[:5].tolist()} and longest={longest!r}."
        )
    probability = 2.0 ** -length.astype(float) / longest
    return float(probability) if probability.ndim == 0 else probability


@checked
def occam_bound(
    *,
    length: Count,
    longest: Count,
    n_samples: Count,
    delta: Probability,
    low: AnyReal = 0.0,
    high: AnyReal = 1.0,
    sharp: bool = True,
) -> float:
    r"""Bound the generalisation gap of a model by the bits it is written with.

    Parameters
    ----------
    length : int
        Bits :math:`|f|` of the model.
    longest : int
        Largest number M of bits that was allowed, fixed before the rows are seen.
    n_samples : int
        Number n of independent rows.
    delta : float
        Probability of failure, for all models at once.
    low : float, default=0.0
        Smallest possible loss.
    high : float, default=1.0
        Largest possible loss.
    sharp : bool, default=True
        True for :math:`(b-a)\sqrt{(|f|\log2+\log M+\log(1/\delta))/(2n)}`, a weighted union bound;
        False with :math:`2\log M`, as a PAC-Bayes bound at each length gives.

    Returns
    -------
    gap : float
        Small for short models, however many long ones there are.

    Notes
    -----
    Guarantee: checked by ``tests/guarantees/pac_bayes.py``.

    Examples
    --------
    >>> from corollary.theory import occam_bound
    >>> round(occam_bound(length=20, longest=1000, n_samples=5000, delta=0.05), 4)
    0.0488
    """
    if not high > low:
        raise ValueError(f"occam_bound needs low < high. Got low={low!r} and high={high!r}.")
    if length > longest:
        raise ValueError(
            f"occam_bound needs length <= longest. Got length={length} and longest={longest}."
        )
    price = length * math.log(2) + (1 if sharp else 2) * math.log(longest) + math.log(1 / delta)
    return (high - low) * math.sqrt(price / (2 * n_samples))
