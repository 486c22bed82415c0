r"""Functions of independent inputs that no single input can change much.

A function f of n independent inputs is the end of a martingale: its Doob martingale
:math:`Z_i = E[f\,|\,x_1..x_i]` starts at the mean and ends at f, and a step is as small as the
effect of one input. Azuma's inequality for the martingale gives McDiarmid's for f.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from corollary.core.estimator import ArrayLike, Positive, Probability, checked
from corollary.risk import check_law


@checked
def azuma_bound(
    sigmas: ArrayLike,
    *,
    delta: Probability | None = None,
    radius: Positive | None = None,
    sides: Literal[1, 2] = 1,
) -> float:
    r"""Solve Azuma's inequality for its probability or its radius.

    A martingale whose i-th increment is, given the past, :math:`\sigma_i`-sub-Gaussian satisfies

    .. math:: P\{X_n - X_0 \ge t\} \le \exp\Bigl(-\frac{t^2}{2\sum_i \sigma_i^2}\Bigr).

    Parameters
    ----------
    sigmas : array-like of shape (n,)
        Sub-Gaussian parameters of the increments, known beforehand; an increment that given the
        past lies in an interval of length c has c / 2.
    delta : float or None, default=None
        Probability of the tail; give it to get the radius.
    radius : float or None, default=None
        Deviation t; give it to get the probability.
    sides : {1, 2}, default=1
        1 for one tail, 2 for both.

    Returns
    -------
    answer : float
        The radius, or the probability, at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import azuma_bound
    >>> round(azuma_bound(np.ones(100), delta=0.05), 4)
    24.4775
    """
    return _solve("azuma_bound", _squares("azuma_bound", "sigmas", sigmas), delta, radius, sides)


@checked
def mcdiarmid_bound(
    differences: ArrayLike,
    *,
    delta: Probability | None = None,
    radius: Positive | None = None,
    sides: Literal[1, 2] = 1,
    sharp: bool = True,
) -> float:
    r"""Solve the bounded-differences inequality for its probability or its radius.

    If changing input i alone changes f by at most :math:`c_i`, and the inputs are independent,

    .. math:: P\{f - Ef \ge t\} \le \exp\Bigl(-\frac{2t^2}{\sum_i c_i^2}\Bigr).

    Parameters
    ----------
    differences : array-like of shape (n,)
        The constants c_i.
    delta : float or None, default=None
        Probability of the tail; give it to get the radius.
    radius : float or None, default=None
        Deviation t; give it to get the probability.
    sides : {1, 2}, default=1
        1 for one tail, 2 for both.
    sharp : bool, default=True
        False for the exponent :math:`-t^2/(2\sum c_i^2)`, four times smaller, that follows from
        bounding each increment of the Doob martingale by c_i in size.

    Returns
    -------
    answer : float
        The radius, or the probability, at most 1.

    See Also
    --------
    bounded_differences : The constants, by brute force.
    hoeffding_bound : The special case of a mean.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import mcdiarmid_bound
    >>> round(mcdiarmid_bound(np.full(100, 0.01), delta=0.05), 4)
    0.1224
    """
    squares = _squares("mcdiarmid_bound", "differences", differences)
    return _solve("mcdiarmid_bound", squares / 4 if sharp else squares, delta, radius, sides)


def bounded_differences(
    function: Callable[..., float], alphabets: Sequence[Sequence[Any]]
) -> np.ndarray:
    """Compute how much each input can change a function, by trying everything.

    Parameters
    ----------
    function : callable
        ``function(x_1, ..., x_n)`` returns a number.
    alphabets : sequence of sequences
        What each input can be.

    Returns
    -------
    differences : ndarray of shape (n,)
        The largest change of the function when one input changes and the others stay.

    Examples
    --------
    >>> from corollary.theory import bounded_differences
    >>> bounded_differences(lambda a, b: a + 3 * b, [[0, 1], [0, 1]])
    array([1., 3.])
    """
    table = _tabulate("bounded_differences", function, alphabets)
    return np.array([float(np.ptp(table, axis=i).max()) for i in range(table.ndim)])


def doob_martingale(
    function: Callable[..., float],
    alphabets: Sequence[Sequence[Any]],
    probabilities: Sequence[Any] | None = None,
) -> list[np.ndarray]:
    """Compute the Doob martingale of a function of independent discrete inputs.

    Parameters
    ----------
    function : callable
        ``function(x_1, ..., x_n)`` returns a number.
    alphabets : sequence of sequences
        What each input can be.
    probabilities : sequence of array-like or None, default=None
        The law of each input; None for equal probabilities.

    Returns
    -------
    martingale : list of ndarray
        Entry i has i axes and holds the expectation of the function given the first i inputs:
        entry 0 is the mean, the last one the function itself.

    Examples
    --------
    >>> from corollary.theory import doob_martingale
    >>> [z.tolist() for z in doob_martingale(lambda a, b: a * b, [[0, 1], [0, 1]])]
    [0.25, [0.0, 0.5], [[0.0, 0.0], [0.0, 1.0]]]
    """
    table = _tabulate("doob_martingale", function, alphabets)
    if probabilities is None:
        probabilities = [np.full(len(values), 1 / len(values)) for values in alphabets]
    laws = [check_law("doob_martingale", "probabilities", law) for law in probabilities]
    if [len(law) for law in laws] != list(table.shape):
        raise ValueError(
            "doob_martingale needs one probability per value of each input. Got "
            f"{[len(law) for law in laws]} for alphabets of sizes {list(table.shape)}."
        )
    path = [table]
    for law in reversed(laws):
        path.append(np.asarray(path[-1] @ law))
    return path[::-1]


def _tabulate(
    who: str, function: Callable[..., float], alphabets: Sequence[Sequence[Any]]
) -> np.ndarray:
    shape = tuple(len(values) for values in alphabets)
    if not shape or 0 in shape or math.prod(shape) > 10_000_000:
        raise ValueError(
            f"{who} tries every combination of inputs: give one or more non-empty alphabets with "
            f"at most 10,000,000 combinations. Got sizes {shape}."
        )
    values = [function(*point) for point in itertools.product(*alphabets)]
    return np.array(values, dtype=float).reshape(shape)


def _squares(who: str, name: str, values: Any) -> float:
    values = np.asarray(values, dtype=float)
    if values.ndim != 1 or not len(values) or not np.all(np.isfinite(values) & (values >= 0)):
        raise ValueError(
            f"The '{name}' parameter of {who} must hold one or more finite numbers, none negative. "
            f"Got shape {values.shape}."
        )
    return float(np.sum(values**2))


def _solve(
    who: str, variance: float, delta: float | None, radius: float | None, sides: int
) -> float:
    if (delta is None) == (radius is None):
        raise ValueError(f"{who} needs exactly one of 'delta' and 'radius'.")
    if radius is not None:
        return min(1.0, sides * math.exp(-(radius**2) / (2 * variance))) if variance else 0.0
    assert delta is not None
    return math.sqrt(2 * variance * math.log(sides / delta))
