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

from corollary.ensemble.stagewise._steps import additive_loss, search
from corollary.risk import LossLike, check_weights


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
    """

    chosen: np.ndarray
    lengths: np.ndarray
    losses: np.ndarray
    scores: np.ndarray


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
    return search(V, y, f, h, w)


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
        steps = [search(V, y, f, H[:, j], w) for j in range(H.shape[1])]
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
