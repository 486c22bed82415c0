r"""Classifiers that are sure of themselves: bounds by the margins on the training rows.

A score f(x) and a label y = -1 or +1 have the margin y f(x). The ramp loss at gamma lies between
the error and the event that the margin is below gamma, and is 1/gamma-Lipschitz; so the error is at
most the share of small margins plus the complexity of the scores over gamma, in any dimension.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from corollary.core.estimator import (
    ArrayLike,
    Count,
    Fraction,
    NonNegative,
    Positive,
    Probability,
    checked,
)
from corollary.theory.complexity.rademacher import rademacher_bound


def margin_mistakes(margins: Any, gamma: Any) -> Any:
    """Compute the share of margins below each level.

    Parameters
    ----------
    margins : array-like of shape (n_samples,)
        Label times score of each row.
    gamma : float or array-like
        Levels. At 0 the share is the training error, except that a score of exactly 0 counts as
        right.

    Returns
    -------
    share : float or ndarray
        The margin-mistake curve at the levels; it never falls.

    Examples
    --------
    >>> from corollary.theory import margin_mistakes
    >>> margin_mistakes([-0.5, 0.2, 0.7, 1.0], [0.0, 0.5])
    array([0.25, 0.5 ])
    """
    ordered = np.sort(_check("margin_mistakes", margins))
    share = np.searchsorted(ordered, np.asarray(gamma, dtype=float), side="left") / len(ordered)
    return float(share) if np.ndim(share) == 0 else share


@checked
def margin_bound(
    margins: ArrayLike,
    *,
    gamma: Positive,
    rademacher: NonNegative,
    delta: Probability,
    empirical: bool = False,
    sharp: bool = True,
) -> float:
    r"""Bound the error of a scoring classifier by its margins at a level fixed beforehand.

    .. math:: P\{\mathrm{sgn} f \ne y\} \le \frac1n\sum_i 1\{y_i f(x_i) < \gamma\}
              + \frac2\gamma \mathcal R_n(\mathscr F) + \sqrt{\frac{\log(1/\delta)}{2n}}

    Parameters
    ----------
    margins : array-like of shape (n_samples,)
        Label times score of each training row.
    gamma : float
        Level, positive, chosen before the rows are seen.
    rademacher : float
        Rademacher complexity of the class of scores.
    delta : float
        Probability of failure.
    empirical : bool, default=False
        Whether the complexity was measured on the training rows.
    sharp : bool, default=True
        False for :math:`2\sqrt{2\log(1/\delta)/n}` as the last term; with a measured complexity
        three times as large and with :math:`2/\delta`, as in the sharp form.

    Returns
    -------
    bound : float
        For every score of the class at once, whatever it was trained with; at most 1.

    See Also
    --------
    uniform_margin_bound : The level may depend on the rows.

    Notes
    -----
    Guarantee: checked by ``tests/guarantees/rademacher.py``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import margin_bound
    >>> round(margin_bound(np.full(1000, 0.8), gamma=0.5, rademacher=0.02, delta=0.05), 4)
    0.1187
    """
    margins = _check("margin_bound", margins)
    gap = rademacher_bound(
        rademacher / gamma, n_samples=len(margins), delta=delta, empirical=empirical
    )
    if not sharp:
        tail = _loose_tail(math.log(1 / delta), len(margins), empirical)
        gap = 2 * rademacher / gamma + tail
    return min(1.0, margin_mistakes(margins, gamma) + gap)


class UniformMarginBound(NamedTuple):
    """A bound at the best level.

    Parameters
    ----------
    bound : float
        Bound on the error, at most 1.
    gamma : float
        The level at which it is reached.
    """

    bound: float
    gamma: float


@checked
def uniform_margin_bound(
    margins: ArrayLike,
    *,
    rademacher: NonNegative,
    delta: Probability,
    largest: Positive = 1.0,
    empirical: bool = False,
    sharp: bool = True,
) -> UniformMarginBound:
    r"""Bound the error of a scoring classifier by its margins at the best level.

    The levels :math:`B, B/2, B/4, \dots` share the failure probability as :math:`6/(\pi^2k^2)`, so
    the best of them may be chosen after the rows are seen.

    Parameters
    ----------
    margins : array-like of shape (n_samples,)
        Label times score of each training row.
    rademacher : float
        Rademacher complexity of the class of scores.
    delta : float
        Probability of failure.
    largest : float, default=1.0
        B, largest level; scores need not lie below it, but it must not depend on the rows.
    empirical : bool, default=False
        Whether the complexity was measured on the training rows.
    sharp : bool, default=True
        True to search the levels themselves; False for the closed form over all
        :math:`\gamma\in(0,B]`, with :math:`\frac4\gamma\mathcal R_n` and
        :math:`2\sqrt{\tfrac2n(\log\tfrac1\delta+\log\tfrac{\pi^2}6+2\log\log_2\tfrac{2B}\gamma)}`.

    Returns
    -------
    outcome : UniformMarginBound
        Bound and level.

    Notes
    -----
    Guarantee: checked by ``tests/guarantees/rademacher.py``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import uniform_margin_bound
    >>> margins = np.linspace(0.1, 1.0, 2000)
    >>> round(uniform_margin_bound(margins, rademacher=0.01, delta=0.05).bound, 4)
    0.2276
    """
    margins = _check("uniform_margin_bound", margins)
    n = len(margins)
    best = UniformMarginBound(1.0, largest)
    if sharp:
        # Beyond 60 halvings the complexity term alone exceeds 1 for anything but zero complexity.
        for k in range(1, 61):
            gamma = largest * 2.0 ** (1 - k)
            share = 6 * delta / (math.pi * k) ** 2
            gap = rademacher_bound(
                rademacher / gamma, n_samples=n, delta=share, empirical=empirical
            )
            bound = margin_mistakes(margins, gamma) + gap
            if bound < best.bound:
                best = UniformMarginBound(bound, gamma)
        return best
    levels = np.unique(margins[(margins > 0) & (margins <= largest)])
    for gamma in np.append(levels, largest):
        price = math.log(1 / delta) + math.log(math.pi**2 / 6)
        price += 2 * math.log(math.log2(2 * largest / gamma))
        bound = margin_mistakes(margins, gamma) + 4 * rademacher / gamma
        bound += _loose_tail(price, n, empirical)
        if bound < best.bound:
            best = UniformMarginBound(float(bound), float(gamma))
    return best


@checked
def sign_class_bound(
    training_error: Fraction,
    *,
    rademacher: NonNegative,
    n_samples: Count,
    delta: Probability,
    empirical: bool = False,
) -> float:
    r"""Bound the error of a classifier by the complexity of its signs.

    Parameters
    ----------
    training_error : float
        Share of training rows that are wrong.
    rademacher : float
        Complexity of the labels :math:`\mathrm{sgn}\circ\mathscr F`, values -1 and +1: twice that
        of the zero-one losses.
    n_samples : int
        Number n of independent rows.
    delta : float
        Probability of failure.
    empirical : bool, default=False
        Whether the complexity was measured on the training rows.

    Returns
    -------
    bound : float
        :math:`\hat L_n+\mathcal R_n(\mathrm{sgn}\circ\mathscr F)+\sqrt{\log(1/\delta)/(2n)}`, at
        most 1.

    Examples
    --------
    >>> from corollary.theory import sign_class_bound
    >>> round(sign_class_bound(0.05, rademacher=0.1, n_samples=1000, delta=0.05), 4)
    0.1887
    """
    gap = rademacher_bound(rademacher / 2, n_samples=n_samples, delta=delta, empirical=empirical)
    return min(1.0, training_error + gap)


def _loose_tail(price: float, n_samples: int, empirical: bool) -> float:
    """Return the last term of the loose forms; a measured complexity is one more event, twice."""
    events, weight = (2, 3) if empirical else (1, 1)
    return weight * 2 * math.sqrt(2 * (price + math.log(events)) / n_samples)


def _check(who: str, margins: Any) -> np.ndarray:
    margins = np.asarray(margins, dtype=float)
    if margins.ndim != 1 or not len(margins) or np.isnan(margins).any():
        raise ValueError(
            f"The 'margins' parameter of {who} must hold one number per row, none of them NaN. Got "
            f"shape {margins.shape}."
        )
    return margins
