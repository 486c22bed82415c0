r"""Forward stagewise additive modelling with any loss.

The greedy way to :math:`\min\sum_iV(y_i,\sum_t\alpha_th_t(x_i))`: with
:math:`f^{(t-1)}` frozen, add the :math:`\alpha_th_t` that lowers the loss most; earlier terms are
never touched again.

Over a finite dictionary the best pair is found exactly (:func:`stagewise_dictionary`). Over the
functions of a base learner it is found in two steps: the direction from the slope of the loss at
:math:`f^{(t-1)}`, then the length by an exact line search on the loss itself.

* A classifier h with values -1 and +1 that minimises :math:`\sum_ig_ih(x_i)`, with :math:`g_i` the
  slope at row i, minimises a weighted error: labels :math:`-\mathrm{sign}\,g_i`, weights
  :math:`|g_i|`. For the exponential loss this is AdaBoost, exactly.
* A regressor is fitted to :math:`-g_i` by least squares. For the square loss this is fitting
  residuals, exactly.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from corollary.risk import (
    CostLoss,
    CrossEntropyLoss,
    ExponentialLoss,
    Loss,
    LossLike,
    ZeroOneLoss,
    check_loss,
    check_weights,
)

# Along a direction in which the loss falls for ever (separable rows under the exponential loss) the
# search ends where the slope is this share of what it was: going on would gain nothing. A fit ends
# at the same share of its first slopes.
FLAT = 1e-12


class StagewisePath(NamedTuple):
    """The steps of a greedy fit over a dictionary.

    Parameters
    ----------
    chosen : ndarray of int, shape (n_steps,)
        Column chosen in each step.
    lengths : ndarray of shape (n_steps,)
        Its coefficient in that step.
    losses : ndarray of shape (n_steps + 1,)
        Mean loss before the first and after each step; never increasing.
    scores : ndarray of shape (n_samples,)
        The sum of all steps.

    Examples
    --------
    >>> from corollary.ensemble import stagewise_dictionary
    >>> stagewise_dictionary([[1.0, 0.0], [0.0, 2.0]], [3.0, 4.0], "square", n_steps=2).lengths
    array([2., 3.])
    """

    chosen: np.ndarray
    lengths: np.ndarray
    losses: np.ndarray
    scores: np.ndarray


def additive_loss(loss: Any, who: str) -> Any:
    """Return a loss that a greedy additive fit can descend."""
    found = check_loss(loss, gradient=True)
    if isinstance(found, CostLoss | CrossEntropyLoss | ZeroOneLoss):
        raise ValueError(
            f"{who} needs a loss of one real score that has a slope, such as 'exponential', "
            f"'logistic', 'hinge', 'square' or 'absolute'. Got {loss!r} instead."
        )
    return found


def line_search(
    loss: LossLike, y: Any, scores: Any, direction: Any, *, sample_weight: Any = None
) -> float:
    r"""Find the step along a direction that minimises the loss.

    Parameters
    ----------
    loss : str or Loss
        Loss V with a gradient.
    y : array-like of shape (n_samples,)
        Truths.
    scores : array-like of shape (n_samples,)
        Current scores f.
    direction : array-like of shape (n_samples,)
        Values h of the function to add.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights.

    Returns
    -------
    step : float
        A minimiser of :math:`\sum_iw_iV(y_i,f_i+\alpha h_i)` to the last digits if V is convex;
        otherwise a step that does not raise it. Where the loss falls for ever, a step to where it
        is flat.

    Examples
    --------
    >>> from corollary.ensemble import line_search
    >>> line_search("square", [1.0, 2.0], [0.0, 0.0], [1.0, 1.0])
    1.5
    >>> round(line_search("exponential", [1, 1, -1], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]), 6)
    0.346574
    """
    V = additive_loss(loss, "line_search")
    y = np.asarray(y)
    f, h = np.asarray(scores, dtype=float), np.asarray(direction, dtype=float)
    if f.shape != y.shape or h.shape != y.shape or y.ndim != 1:
        raise ValueError(
            "line_search needs as many scores and directions as truths. Got shapes "
            f"{f.shape}, {h.shape} and {y.shape}."
        )
    w = check_weights("line_search", sample_weight, len(y))
    w = np.ones(len(y)) if w is None else w / w.max()
    return _search(V, y, f, h, w)


def _search(V: Any, y: np.ndarray, f: np.ndarray, h: np.ndarray, w: np.ndarray) -> float:
    size = float(np.abs(h).max(initial=0.0))
    if size == 0.0 or not np.isfinite(size):
        return 0.0
    if getattr(V, "name", "") in ("square", "square_margin"):
        # (y - f)^2 in both cases, since y^2 = 1 for labels -1 and +1
        unit = h / size
        return float(w @ (unit * (y - f)) / (w @ unit**2)) / size
    if isinstance(V, ExponentialLoss) and np.all(np.abs(h) == size):
        step = _half_log_odds(y, f, h, w) / size
        if np.isfinite(step):
            return step

    def risk(step: float) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            return float(w @ V(y, f + step * h))

    def slope(step: float) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            terms = w * V.gradient(y, f + step * h) * h
        value = float(terms[w > 0].sum())
        return np.inf if np.isnan(value) else value

    if not getattr(V, "convex", False):
        return _search_anywhere(risk, max(1.0, float(np.abs(f).max()), _scale(y)) / size)
    start = slope(0.0)
    if start == 0.0:
        return 0.0
    towards = -np.sign(start)
    far = max(1.0, _scale(y)) / size
    near = 0.0
    while (ahead := towards * slope(towards * far)) < 0:
        near, far = far, 2 * far
        if -ahead <= FLAT * abs(start):
            return float(towards * near)
    for _ in range(200):
        middle = near + (far - near) / 2
        if not near < middle < far:
            break
        if towards * slope(towards * middle) < 0:
            near = middle
        else:
            far = middle
    # At a kink the slope jumps over zero; both ends are the kink up to the last digit.
    ends = (0.0, towards * near, towards * far)
    return float(min(ends, key=risk))


def _half_log_odds(y: np.ndarray, f: np.ndarray, h: np.ndarray, w: np.ndarray) -> float:
    """Return AdaBoost's weight of a function with values -1 and +1 times a constant."""
    with np.errstate(divide="ignore"):
        logs = np.log(w) - y * f
    right = y * h > 0
    if right.all() or not right.any():
        return np.inf
    return 0.5 * float(logsumexp(logs[right]) - logsumexp(logs[~right]))


def _search_anywhere(risk: Any, scale: float) -> float:
    """Look for a lower point of a function that need not be convex."""
    from scipy.optimize import minimize_scalar

    grid = scale * np.geomspace(1e-3, 1e3, 25)
    grid = np.concatenate([-grid[::-1], [0.0], grid])
    values = np.array([risk(step) for step in grid])
    best = int(values.argmin())
    if values[best] >= risk(0.0):
        return 0.0
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    refined = float(minimize_scalar(risk, bounds=(low, high), method="bounded").x)
    return refined if risk(refined) < values[best] else float(grid[best])


def _scale(y: np.ndarray) -> float:
    return float(np.abs(y.astype(float)).max(initial=0.0))


def stagewise_dictionary(
    H: Any,
    y: Any,
    loss: LossLike = "exponential",
    *,
    n_steps: int = 10,
    sample_weight: Any = None,
) -> StagewisePath:
    r"""Run forward stagewise modelling over a finite dictionary, exactly.

    Parameters
    ----------
    H : array-like of shape (n_samples, n_functions)
        Values :math:`h_j(x_i)` of every function of the dictionary.
    y : array-like of shape (n_samples,)
        Truths; labels -1 and +1 for margin losses.
    loss : str or Loss, default="exponential"
        Loss V with a gradient.
    n_steps : int, default=10
        Steps to take. The run ends earlier where no function lowers the loss.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights.

    Returns
    -------
    path : StagewisePath
        Chosen functions, their lengths and the losses.

    Notes
    -----
    Guarantee: the loss never rises; with the exponential loss and functions with values -1 and +1
    the steps are AdaBoost's; with the square loss they are those of matching pursuit. Checked by
    ``tests/ensemble/test_stagewise.py``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import stagewise_dictionary
    >>> x = np.arange(6)
    >>> stumps = np.column_stack([np.where(x >= t, 1, -1) for t in range(6)])
    >>> path = stagewise_dictionary(stumps, [-1, -1, 1, 1, -1, -1], n_steps=3)
    >>> path.chosen, path.losses.round(3)
    (array([0, 2, 4]), array([1.   , 0.943, 0.816, 0.609]))
    """
    V = additive_loss(loss, "stagewise_dictionary")
    H = np.asarray(H, dtype=float)
    y = np.asarray(y)
    if H.ndim != 2 or y.shape != (len(H),) or not np.isfinite(H).all() or 0 in H.shape:
        raise ValueError(
            "stagewise_dictionary needs finite values of shape (n_samples, n_functions) and one "
            f"truth per row. Got shapes {H.shape} and {y.shape}."
        )
    if n_steps < 1:
        raise ValueError(f"stagewise_dictionary needs n_steps of at least 1. Got {n_steps}.")
    w = check_weights("stagewise_dictionary", sample_weight, len(y))
    w = np.ones(len(y)) if w is None else w / w.max()
    f, total = np.zeros(len(y)), w.sum()
    chosen: list[int] = []
    lengths: list[float] = []
    losses = [float(w @ V(y, f)) / total]
    for _ in range(n_steps):
        steps = [_search(V, y, f, H[:, j], w) for j in range(H.shape[1])]
        with np.errstate(over="ignore"):
            values = np.array(
                [float(w @ V(y, f + a * H[:, j])) / total for j, a in enumerate(steps)]
            )
        # Equal to rounding counts as equal, so that the first of several wins.
        best = int((values <= values.min() + 1e-14 * abs(losses[-1])).argmax())
        if not values[best] < losses[-1]:
            break
        f = f + steps[best] * H[:, best]
        chosen.append(best)
        lengths.append(steps[best])
        losses.append(float(values[best]))
    return StagewisePath(np.array(chosen, dtype=np.int64), np.array(lengths), np.array(losses), f)


class StagewiseRun(NamedTuple):
    """A greedy fit with a base learner."""

    members: list[Any]  # the functions added
    lengths: np.ndarray  # their coefficients
    losses: np.ndarray  # mean training loss before the first and after each step
    start: float  # the constant the sum starts from


def best_constant(loss: Loss, y: np.ndarray, w: np.ndarray) -> float:
    """Return the constant with the smallest loss."""
    return _search(loss, y, np.zeros(len(y)), np.ones(len(y)), w)


def stagewise_run(
    loss: Loss,
    y: np.ndarray,
    learn: Any,
    *,
    n_steps: int,
    learning_rate: float,
    sample_weight: np.ndarray,
    start: float = 0.0,
) -> StagewiseRun:
    """Run forward stagewise modelling with a base learner."""
    w = sample_weight / sample_weight.sum()
    f = np.full(len(y), float(start))
    members: list[Any] = []
    lengths: list[float] = []
    losses = [float(w @ loss(y, f))]
    first = 0.0
    for _ in range(n_steps):
        slopes = loss.gradient(y, f)
        size = float(w @ np.abs(slopes))
        first = max(first, size)
        if size <= FLAT * first:
            break  # a minimum over all functions
        member, h = learn(slopes, w)
        length = learning_rate * _search(loss, y, f, h, w)
        with np.errstate(over="ignore"):
            value = float(w @ loss(y, f + length * h))
        # A gain of rounding only would go on for ever.
        if length == 0.0 or not value < losses[-1] * (1 - 1e-14):
            break
        f = f + length * h
        members.append(member)
        lengths.append(length)
        losses.append(value)
    return StagewiseRun(members, np.array(lengths, dtype=float), np.array(losses), float(start))
