r"""How well a class can follow pure noise: Rademacher complexity and what it bounds.

.. math:: \hat{\mathcal R}_n(\mathscr F) = E_\varepsilon \sup_{f\in\mathscr F}
          \frac1n\sum_i \varepsilon_i f(x_i)

over independent fair signs, without absolute values; its expectation over the data bounds the
generalisation gap of the whole class at once. A class is given by its values at the points, one
row per function, or by a function that finds the supremum for given signs.
"""

import math
from collections.abc import Callable
from itertools import combinations_with_replacement
from numbers import Real
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from scipy.special import poch
from sklearn.utils import check_random_state

from corollary.core.compat import Interval
from corollary.core.estimator import AnyReal, ArrayLike, Count, NonNegative, Probability, checked
from corollary.theory.concentration.bounded_differences import mcdiarmid_bound

_MOST_SIGNS = 20
_MOST_SAMPLES = 10_000


class RademacherComplexity(NamedTuple):
    """A Rademacher complexity with what is certain about it.

    Parameters
    ----------
    value : float
        The complexity, or the mean over drawn signs; never negative.
    upper : float
        Not exceeded by the true value with the stated confidence; equal to it when exact.
    exact : bool
        Whether all sign vectors were enumerated.
    """

    value: float
    upper: float
    exact: bool


def rademacher_complexity(
    values: Any = None,
    *,
    supremum: Callable[[np.ndarray], np.ndarray] | None = None,
    n_points: int | None = None,
    differences: Any = None,
    absolute: bool = False,
    n_draws: int | None = None,
    delta: float = 0.01,
    random_state: Any = None,
) -> RademacherComplexity:
    r"""Compute the empirical Rademacher complexity of a class.

    Parameters
    ----------
    values : array-like of shape (n_functions, n_points) or None, default=None
        Values of every function at the points.
    supremum : callable or None, default=None
        For classes that are not finite: ``supremum(signs)`` gets signs of shape (n_draws, n_points)
        and returns :math:`\sup_f\sum_i\varepsilon_if(x_i)` for each row. Training on the signs as
        labels is such a function for classifiers.
    n_points : int or None, default=None
        Number of points; needed with `supremum`.
    differences : array-like of shape (n_points,) or None, default=None
        With `supremum`: the largest value of a function at each point, in size. It certifies the
        error of drawing signs; without it, `upper` is infinite.
    absolute : bool, default=False
        Whether the supremum is of the absolute value of the sum; with `values` only.
    n_draws : int or None, default=None
        Sign vectors to draw; None to enumerate all up to 20 points and draw 1000 beyond.
    delta : float, default=0.01
        Probability that `upper` is too small because of the drawn signs.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    complexity : RademacherComplexity
        Value and upper limit.

    See Also
    --------
    rademacher_bound : What it says about the generalisation gap.

    Notes
    -----
    Changing one sign changes the supremum by at most twice the largest value at that point, so the
    mean over draws is close to its expectation by the bounded-differences inequality.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import rademacher_complexity
    >>> all_signs = [[1, 1], [1, -1], [-1, 1], [-1, -1]]
    >>> rademacher_complexity(all_signs).value
    1.0
    """
    rng = check_random_state(random_state)
    if (values is None) == (supremum is None):
        raise ValueError("rademacher_complexity needs exactly one of 'values' and 'supremum'.")
    if not 0 < delta < 1:
        raise ValueError(
            "The 'delta' parameter of rademacher_complexity must be a float in the range "
            f"(0.0, 1.0). Got {delta!r} instead."
        )
    if values is not None:
        table = np.ascontiguousarray(values, dtype=float)
        if table.ndim != 2 or not table.size or not np.all(np.isfinite(table)):
            raise ValueError(
                "The 'values' parameter of rademacher_complexity must hold finite numbers, one row "
                f"per function and one column per point. Got shape {table.shape}."
            )
        n = table.shape[1]
        if n_draws is None and n <= _MOST_SIGNS:
            from corollary.theory._loops import exact_supremum

            # Rounding can make the zero of a single function negative.
            value = max(0.0, float(exact_supremum(table, absolute)) / n)
            return RademacherComplexity(value, value, True)
        differences = np.abs(table).max(axis=0)

        def supremum(signs: np.ndarray) -> np.ndarray:
            sums = signs @ table.T
            return (np.abs(sums) if absolute else sums).max(axis=1)

    else:
        if n_points is None or n_points < 1 or absolute:
            raise ValueError(
                "rademacher_complexity with 'supremum' needs 'n_points' and does not take "
                "'absolute': let the supremum take absolute values itself."
            )
        n = n_points
    assert supremum is not None
    n_draws = 1000 if n_draws is None else n_draws
    suprema = []
    # Blocks of signs, so that memory does not grow with the draws.
    block = max(1, 4_000_000 // n)
    for start in range(0, n_draws, block):
        signs = rng.choice([-1.0, 1.0], size=(min(block, n_draws - start), n))
        suprema.append(np.asarray(supremum(signs), dtype=float))
    mean = float(np.mean(np.concatenate(suprema))) / n
    value = max(0.0, mean)  # the complexity is never negative, though a mean of draws can be
    if differences is None:
        return RademacherComplexity(value, math.inf, False)
    steps = 2 * np.abs(np.asarray(differences, dtype=float)) / n
    # The mean over draws is a function of all their signs, each with a share of the effect.
    radius = mcdiarmid_bound(steps, delta=delta) / math.sqrt(n_draws)
    return RademacherComplexity(value, max(0.0, mean + radius), False)


def expected_rademacher_complexity(
    draw_values: Callable[[Any], Any],
    *,
    n_repeats: int = 200,
    n_draws: int | None = None,
    random_state: Any = None,
) -> tuple[float, float]:
    """Estimate the Rademacher complexity on average over data.

    Parameters
    ----------
    draw_values : callable
        ``draw_values(random_state)`` draws points and returns the values of every function at
        them, of shape (n_functions, n_points).
    n_repeats : int, default=200
        Data sets to draw.
    n_draws : int or None, default=None
        Sign vectors for each; None as in :func:`rademacher_complexity`.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    value : float
        Mean of the empirical complexities.
    standard_error : float
        Its standard error.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import expected_rademacher_complexity
    >>> def coordinates(rng):
    ...     x = rng.normal(size=8)
    ...     return np.array([x, -x])
    >>> value, error = expected_rademacher_complexity(coordinates, random_state=0)
    >>> bool(abs(value - np.sqrt(2 / (np.pi * 8))) < 4 * error)
    True
    """
    if n_repeats < 2:
        raise ValueError(
            "The 'n_repeats' parameter of expected_rademacher_complexity must be an int in the "
            f"range [2, inf). Got {n_repeats!r} instead."
        )
    rng = check_random_state(random_state)
    values = [
        rademacher_complexity(draw_values(rng), n_draws=n_draws, random_state=rng).value
        for _ in range(n_repeats)
    ]
    return float(np.mean(values)), float(np.std(values, ddof=1) / math.sqrt(n_repeats))


def mean_absolute_walk(n_steps: int) -> float:
    r"""Return the expected distance from its start of a fair walk of n unit steps.

    Parameters
    ----------
    n_steps : int
        Number n of steps.

    Returns
    -------
    distance : float
        :math:`E|\sum_{i\le n}\varepsilon_i|`, exact; about :math:`\sqrt{2n/\pi}`.

    Examples
    --------
    >>> from corollary.theory import mean_absolute_walk
    >>> mean_absolute_walk(4)
    1.5
    """
    if n_steps < 1:
        raise ValueError(f"mean_absolute_walk needs at least one step. Got {n_steps!r}.")
    # The last of an even number of steps does not change the mean distance.
    half = (n_steps + 1) // 2
    if half <= 5000:
        return 2 * half * math.comb(2 * half, half) / 4**half  # exact integers, one rounding
    # 2 Gamma(k + 1/2) / (Gamma(k) sqrt(pi)), a ratio that keeps its digits for large k.
    return float(2 * poch(float(half), 0.5) / math.sqrt(math.pi))


def all_signs_complexity(counts: Any) -> float:
    """Return the Rademacher complexity of all functions to -1 and +1 on repeated points.

    Parameters
    ----------
    counts : array-like of int
        How often each different point occurs in the data.

    Returns
    -------
    complexity : float
        1 when no point occurs twice, however many there are: such a class cannot be learnt. Repeats
        reduce it.

    Examples
    --------
    >>> from corollary.theory import all_signs_complexity
    >>> all_signs_complexity([1, 1, 1]), all_signs_complexity([4])
    (1.0, 0.375)
    """
    counts = np.asarray(counts, dtype=int)
    if counts.ndim != 1 or not len(counts) or np.any(counts < 1):
        raise ValueError("all_signs_complexity needs one positive count per different point.")
    return float(sum(mean_absolute_walk(int(count)) for count in counts) / counts.sum())


class SymmetrisationSides(NamedTuple):
    """Both sides of the symmetrisation inequality.

    Parameters
    ----------
    deviation : float
        Expected supremum of mean minus empirical mean.
    bound : float
        Twice the Rademacher complexity.
    """

    deviation: float
    bound: float


@checked
def symmetrisation_sides(
    values: ArrayLike, *, n_samples: Count, law: ArrayLike | None = None
) -> SymmetrisationSides:
    r"""Compute both sides of the symmetrisation inequality for independent rows exactly.

    .. math:: E\sup_f\Bigl(E f-\frac1n\sum_i f(x_i)\Bigr) \le 2\mathcal R_n(\mathscr F)

    Parameters
    ----------
    values : array-like of shape (n_functions, n_points)
        Values of every function at the points of a finite world.
    n_samples : int
        Number n of independent rows, at most 20.
    law : array-like of shape (n_points,) or None, default=None
        Probabilities of the points; None for equal ones.

    Returns
    -------
    sides : SymmetrisationSides
        The expected supremum and twice the expected complexity, both summed over all samples. The
        factor 2 is needed: a function that is 1 at a point of probability p and 0 elsewhere, with
        the zero function, has :math:`p(1-p)` and p at n = 1.

    See Also
    --------
    rademacher_bound : The same with high probability.
    dependent_symmetrisation : Rows that are not independent.

    Examples
    --------
    >>> from corollary.theory import symmetrisation_sides
    >>> symmetrisation_sides([[1.0, -1.0], [-1.0, 1.0]], n_samples=2)
    SymmetrisationSides(deviation=0.5, bound=1.0)
    """
    table = np.asarray(values, dtype=float)
    if table.ndim != 2 or not table.size or not np.all(np.isfinite(table)):
        raise ValueError(
            "The 'values' parameter of symmetrisation_sides must hold finite numbers, one row per "
            f"function and one column per point. Got shape {table.shape}."
        )
    points = table.shape[1]
    p = np.full(points, 1 / points) if law is None else np.asarray(law, dtype=float)
    if p.shape != (points,) or not np.all(p >= 0) or abs(p.sum() - 1) > 1e-9:
        raise ValueError(
            "The 'law' parameter of symmetrisation_sides must hold a probability for each of the "
            f"{points} points. Got shape {p.shape} with sum {p.sum():g}."
        )
    if n_samples > _MOST_SIGNS or math.comb(n_samples + points - 1, n_samples) > _MOST_SAMPLES:
        raise ValueError(
            f"symmetrisation_sides enumerates samples of at most {_MOST_SIGNS} rows, and at most "
            f"{_MOST_SAMPLES} of them. Got {n_samples} rows of {points} points; take fewer."
        )
    means, deviation, complexity = table @ p, 0.0, 0.0
    for rows in combinations_with_replacement(range(points), n_samples):
        counts = np.bincount(rows, minlength=points)
        orders = math.factorial(n_samples) // math.prod(map(math.factorial, counts.tolist()))
        chance = orders * float(np.prod(p**counts))
        sample = table[:, list(rows)]
        deviation += chance * float(np.max(means - sample.mean(axis=1)))
        complexity += chance * rademacher_complexity(sample).value
    return SymmetrisationSides(deviation, 2 * complexity)


def dependent_symmetrisation(n_samples: int) -> SymmetrisationSides:
    r"""Return the two sides of symmetrisation for data that are all the same coin.

    Parameters
    ----------
    n_samples : int
        Number n of copies of one fair sign; the class is the identity and its negative.

    Returns
    -------
    sides : SymmetrisationSides
        The expected deviation is 1, twice the complexity :math:`2E|\tfrac1n\sum\varepsilon_i|`:
        smaller from n = 4 on, so independence is needed.

    Examples
    --------
    >>> from corollary.theory import dependent_symmetrisation
    >>> dependent_symmetrisation(2).bound
    1.0
    """
    return SymmetrisationSides(1.0, 2 * mean_absolute_walk(n_samples) / n_samples)


@checked
def massart_bound(
    *,
    n_functions: Annotated[float, Interval(Real, 1, None, closed="left")],
    n_samples: Count,
    scale: NonNegative = 1.0,
) -> float:
    r"""Bound the Rademacher complexity of finitely many functions (Massart).

    Parameters
    ----------
    n_functions : float
        Number of functions; for an infinite class of classifiers, of different labellings.
    n_samples : int
        Number n of points.
    scale : float, default=1.0
        Largest root mean square of a function over the points, M.

    Returns
    -------
    bound : float
        :math:`M\sqrt{2\log|\mathscr F|/n}`.

    See Also
    --------
    log_growth_bound : Log of the number of labellings of a class of finite VC dimension.

    Examples
    --------
    >>> from corollary.theory import massart_bound
    >>> round(massart_bound(n_functions=101, n_samples=100), 4)
    0.3038
    """
    return scale * math.sqrt(2 * math.log(n_functions) / n_samples)


@checked
def growth_complexity_bound(*, log_growth: NonNegative, n_samples: Count) -> float:
    r"""Bound the Rademacher complexity of classifiers by their growth function.

    Parameters
    ----------
    log_growth : float
        Log of the number of labellings of the points, or of its maximum over points.
    n_samples : int
        Number n of points.

    Returns
    -------
    bound : float
        :math:`\sqrt{2\log\tau(n)/n}` for labels -1 and +1, at most 1.

    Examples
    --------
    >>> from math import log
    >>> from corollary.theory import growth_complexity_bound
    >>> round(growth_complexity_bound(log_growth=log(101), n_samples=100), 4)
    0.3038
    """
    return min(1.0, math.sqrt(2 * log_growth / n_samples))


def contraction_bound(rademacher: float, lipschitz: float) -> float:
    r"""Bound the complexity of a loss of scores by that of the scores (Ledoux and Talagrand).

    Parameters
    ----------
    rademacher : float
        Rademacher complexity of the scores.
    lipschitz : float
        Lipschitz constant L of the loss in the score, at every label.

    Returns
    -------
    bound : float
        :math:`L\,\mathcal R_n(\mathscr F)`. The loss need not vanish at 0.

    Examples
    --------
    >>> from corollary.theory import contraction_bound
    >>> contraction_bound(0.1, 2.0)
    0.2
    """
    if not (rademacher >= 0 and lipschitz >= 0):
        raise ValueError(
            "contraction_bound needs a complexity and a Lipschitz constant that are not negative. "
            f"Got {rademacher!r} and {lipschitz!r}."
        )
    return lipschitz * rademacher


@checked
def rademacher_bound(
    rademacher: NonNegative,
    *,
    n_samples: Count,
    delta: Probability,
    low: AnyReal = 0.0,
    high: AnyReal = 1.0,
    empirical: bool = False,
    sides: Literal[1, 2] = 1,
    sharp: bool = True,
) -> float:
    r"""Bound the uniform deviation of a class by its Rademacher complexity.

    With probability at least :math:`1-\delta`

    .. math:: \sup_f \Bigl(E f - \frac1n\sum_i f(x_i)\Bigr) \le 2\mathcal R_n(\mathscr F)
              + (b-a)\sqrt{\frac{\log(1/\delta)}{2n}}.

    Parameters
    ----------
    rademacher : float
        Complexity of the class of losses: expected over data, or measured on the rows.
    n_samples : int
        Number n of independent rows.
    delta : float
        Probability of failure.
    low : float, default=0.0
        Smallest possible loss, a.
    high : float, default=1.0
        Largest possible loss, b.
    empirical : bool, default=False
        Whether `rademacher` was measured on the rows themselves; the last term is then
        :math:`3(b-a)\sqrt{\log(2/\delta)/(2n)}`, as the complexity must be close to its mean too.
    sides : {1, 2}, default=1
        2 for both directions at once, as the excess risk of the empirical minimiser needs.
    sharp : bool, default=True
        False for a last term twice as large, :math:`2B\sqrt{2\log(1/\delta)/n}` for values
        between -B and B, as it follows from the loose form of the bounded-differences
        inequality.

    Returns
    -------
    deviation : float
        The bound.

    See Also
    --------
    lipschitz_loss_bound : Losses of scores.
    margin_bound : Classifiers with a margin.

    Notes
    -----
    Guarantee: checked by ``tests/guarantees/rademacher.py``.

    Examples
    --------
    >>> from corollary.theory import rademacher_bound
    >>> round(rademacher_bound(0.02, n_samples=1000, delta=0.05), 4)
    0.0787
    """
    if not high > low:
        raise ValueError(
            f"rademacher_bound needs low < high. Got low={low!r} and high={high!r} instead."
        )
    # With the measured complexity one more event must not happen, and it enters twice.
    events, weight = (sides + 1, 3.0) if empirical else (sides, 1.0)
    tail = math.sqrt(math.log(events / delta) / (2 * n_samples))
    return 2 * rademacher + (high - low) * weight * tail * (1 if sharp else 2)


@checked
def lipschitz_loss_bound(
    rademacher: NonNegative,
    *,
    lipschitz: NonNegative,
    n_samples: Count,
    delta: Probability,
    low: AnyReal = 0.0,
    high: AnyReal = 1.0,
    empirical: bool = False,
) -> float:
    r"""Bound the generalisation gap of a Lipschitz loss by the complexity of the scores.

    Parameters
    ----------
    rademacher : float
        Complexity of the class of scores.
    lipschitz : float
        Lipschitz constant L of the loss in the score.
    n_samples : int
        Number n of independent rows.
    delta : float
        Probability of failure.
    low : float, default=0.0
        Smallest possible loss.
    high : float, default=1.0
        Largest possible loss.
    empirical : bool, default=False
        Whether the complexity was measured on the rows themselves.

    Returns
    -------
    gap : float
        :math:`2L\,\mathcal R_n + (b-a)\sqrt{\log(1/\delta)/(2n)}`, for all scores of the class at
        once.

    Notes
    -----
    Guarantee: checked by ``tests/guarantees/rademacher.py``.

    Examples
    --------
    >>> from corollary.theory import lipschitz_loss_bound
    >>> round(lipschitz_loss_bound(0.02, lipschitz=2.0, n_samples=1000, delta=0.05), 4)
    0.1187
    """
    return rademacher_bound(
        contraction_bound(rademacher, lipschitz),
        n_samples=n_samples,
        delta=delta,
        low=low,
        high=high,
        empirical=empirical,
    )
