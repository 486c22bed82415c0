"""How far one row moves stochastic gradient descent.

Two runs with the same draws on data sets that differ in one row stay together until that row is
drawn, and on convex smooth losses no step pushes them further apart than it adds: the distance is a
sum of the steps at which the row came up.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from corollary.core.estimator import ArrayLike, Count, NonNegative, Positive, checked


@checked
def sgd_stability(*, lipschitz: Positive, step_sizes: ArrayLike, n_samples: Count) -> float:
    r"""Bound the uniform stability of stochastic gradient descent on convex losses.

    Parameters
    ----------
    lipschitz : float
        Lipschitz constant L of every loss in the weights.
    step_sizes : array-like of shape (n_steps,)
        Steps :math:`\eta_t`, each at most two over the smoothness of the losses.
    n_samples : int
        Number n of training rows, drawn independently at each step.

    Returns
    -------
    epsilon : float
        :math:`\tfrac{2L^2}n\sum_t\eta_t`, on average over the drawn rows.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import sgd_stability
    >>> sgd_stability(lipschitz=1.0, step_sizes=np.full(64, 0.25), n_samples=1000)
    0.032
    """
    steps = _steps("sgd_stability", step_sizes)
    return 2 * lipschitz**2 * float(steps.sum()) / n_samples


@checked
def reshuffled_sgd_stability(
    *, lipschitz: Positive, step_sizes: ArrayLike, n_samples: Count
) -> float:
    r"""Bound the stability of gradient descent that visits every row once per pass.

    Parameters
    ----------
    lipschitz : float
        Lipschitz constant L of every loss in the weights.
    step_sizes : array-like of shape (n_steps,)
        Steps, each at most two over the smoothness of the convex losses.
    n_samples : int
        Number n of training rows; a pass has n steps.

    Returns
    -------
    epsilon : float
        :math:`2L^2\sum_e\max_{t\in e}\eta_t` over passes e, for every order of the rows and not
        only on average.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import reshuffled_sgd_stability
    >>> reshuffled_sgd_stability(lipschitz=1.0, step_sizes=np.full(20, 0.01), n_samples=10)
    0.04
    """
    steps = _steps("reshuffled_sgd_stability", step_sizes)
    passes = [steps[i : i + n_samples].max() for i in range(0, len(steps), n_samples)]
    return 2 * lipschitz**2 * float(np.sum(passes))


@checked
def sgd_row_distances(
    *,
    gradients: NonNegative | ArrayLike,
    step_sizes: ArrayLike,
    n_samples: Count,
    penalty: NonNegative = 0.0,
    averaging: bool = False,
) -> np.ndarray:
    r"""Bound how far each row moves gradient descent that visits every row once per pass.

    A step is :math:`w\leftarrow(1-\eta_tm)w-\eta_t\nabla\ell(w,z)`, perhaps projected onto a
    convex set. Two runs in the same order, on tables that differ in row i, end at most

    .. math:: \sum_{t:\,i_t=i}2G_t\eta_t\prod_{s>t}(1-\eta_sm)

    apart: a step at another row shrinks their distance by :math:`1-\eta_sm`, and a step at row i
    adds at most twice the length of a gradient.

    Parameters
    ----------
    gradients : float or array-like of shape (n_steps,)
        Largest length :math:`G_t` of a gradient of the loss, the penalty apart, at any weights
        that step t can start from.
    step_sizes : array-like of shape (n_steps,)
        Steps :math:`\eta_t` of one or more whole passes; convex losses of smoothness
        :math:`\beta` need :math:`\eta_t(\beta+2m)\le2`.
    n_samples : int
        Number n of training rows; a pass has n steps.
    penalty : float, default=0.0
        Strength m of a penalty :math:`\tfrac m2\|w\|^2` on all weights.
    averaging : bool, default=False
        Whether the run ends with the average of the weights after every step, not with the last.
        Their distance is at most the average of the distances; the penalty is then not counted.

    Returns
    -------
    distances : ndarray of shape (n_samples,)
        One for each row, the largest first. In a single pass these are the distances in some
        order of the rows; over several passes their sum is that of any orders, and their sum of
        squares the largest that orders can give.

    See Also
    --------
    stability_bound : Takes them, times the Lipschitz constant of a loss.
    coupled_sgd : Measures them.

    Notes
    -----
    With :math:`0\preceq H\preceq\beta I` the Hessian of a loss, a step at a common row has the
    derivative :math:`(1-\eta m)I-\eta H`, whose eigenvalues lie between
    :math:`-(1-\eta m)` and :math:`1-\eta m` if :math:`\eta(\beta+2m)\le2`. A projection onto a
    convex set never increases distances. Orders enter the sum of squares through products of the
    steps of two passes at the same row, whose sum is largest if both are sorted alike.

    The steps are those at which a row was used, for every order and not on average: a learner
    that draws rows with replacement may draw one row at every step.

    References
    ----------
    Hardt, M., Recht, B. and Singer, Y. (2016). Train faster, generalize better: stability of
    stochastic gradient descent. International Conference on Machine Learning.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import sgd_row_distances
    >>> sgd_row_distances(gradients=1.0, step_sizes=[0.5, 0.25, 0.5, 0.125], n_samples=2)
    array([2.  , 0.75])
    >>> sgd_row_distances(gradients=1.0, step_sizes=[0.5, 0.5], n_samples=2, averaging=True)
    array([1. , 0.5])
    """
    steps = _steps("sgd_row_distances", step_sizes)
    lengths = np.asarray(gradients, dtype=float)
    if lengths.shape not in ((), steps.shape) or not np.all(np.isfinite(lengths) & (lengths >= 0)):
        raise ValueError(
            "The 'gradients' parameter of sgd_row_distances must be one length, or one for each of "
            f"the {len(steps)} steps, finite and not negative. Got shape {lengths.shape}."
        )
    if len(steps) % n_samples:
        raise ValueError(
            f"sgd_row_distances needs whole passes of {n_samples} steps. Got {len(steps)} steps."
        )
    if penalty * steps.max() > 1:
        raise ValueError(
            "The 'step_sizes' parameter of sgd_row_distances must be at most one over the penalty, "
            f"{1 / penalty:.4g}. Got {steps.max():.4g}."
        )
    moved = 2 * lengths * steps
    if averaging:
        moved *= np.arange(len(steps), 0, -1) / len(steps)
    elif penalty:
        shrunk = np.append(np.cumprod(1 - penalty * steps[:0:-1])[::-1], 1.0)
        moved *= shrunk
    return np.sort(moved.reshape(-1, n_samples), axis=1).sum(axis=0)[::-1]


@checked
def strong_sgd_stability(
    *,
    lipschitz: Positive,
    strong_convexity: Positive,
    n_samples: Count,
    step_size: Positive | None = None,
    n_steps: Count | None = None,
) -> float:
    r"""Bound the stability of projected gradient descent on strongly convex losses.

    Parameters
    ----------
    lipschitz : float
        Largest length L of a gradient on the bounded set onto which steps are projected; on the
        whole space no loss is both strongly convex and Lipschitz.
    strong_convexity : float
        Strong convexity m of every loss.
    n_samples : int
        Number n of training rows.
    step_size : float or None, default=None
        Constant step :math:`\eta`, at most two over the sum of strong convexity and smoothness.
    n_steps : int or None, default=None
        Number T of steps; with `step_size` the bound gains the factor
        :math:`1-(1-\eta m)^T`.

    Returns
    -------
    epsilon : float
        :math:`\tfrac{2L^2}{mn}` at any number of steps, or less.

    Examples
    --------
    >>> from corollary.theory import strong_sgd_stability
    >>> strong_sgd_stability(lipschitz=1.0, strong_convexity=0.1, n_samples=1000)
    0.02
    """
    epsilon = 2 * lipschitz**2 / (strong_convexity * n_samples)
    if (step_size is None) != (n_steps is None):
        raise ValueError("strong_sgd_stability takes 'step_size' and 'n_steps' together.")
    if step_size is None or n_steps is None:
        return epsilon
    if step_size * strong_convexity > 1:
        raise ValueError(
            "The 'step_size' parameter of strong_sgd_stability must be at most one over the strong "
            f"convexity, {1 / strong_convexity:.4g}. Got {step_size!r} instead."
        )
    return epsilon * (1 - (1 - step_size * strong_convexity) ** n_steps)


def coupled_sgd(
    gradient: Callable[[np.ndarray, Any, Any], np.ndarray],
    X: Any,
    y: Any,
    *,
    replaced: int,
    x_new: Any,
    y_new: Any,
    step_sizes: Any,
    rows: Sequence[int] | np.ndarray,
    start: Any = None,
    radius: float | None = None,
) -> np.ndarray:
    """Run gradient descent on two data sets that differ in one row, with the same draws.

    Parameters
    ----------
    gradient : callable
        ``gradient(weights, x, y)`` of the loss at one row.
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Outputs.
    replaced : int
        The row that differs.
    x_new : array-like of shape (n_features,)
        Its input in the second data set.
    y_new : float
        Its output there.
    step_sizes : array-like of shape (n_steps,)
        Steps.
    rows : sequence of int
        Row drawn at each step, the same for both.
    start : array-like of shape (n_features,) or None, default=None
        First weights; None for zeros.
    radius : float or None, default=None
        Length onto which weights are projected after each step; None not to project.

    Returns
    -------
    distance : ndarray of shape (n_steps + 1,)
        Distance of the two weight vectors before each step and at the end: 0 until the row is
        drawn for the first time. Times the Lipschitz constant it estimates the stability of the
        path; its average over draws that of the learner.

    See Also
    --------
    sgd_stability : What bounds it.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import coupled_sgd
    >>> push = lambda weights, x, y: -y * x
    >>> X, y = np.eye(2), np.ones(2)
    >>> coupled_sgd(push, X, y, replaced=1, x_new=[0.0, -1.0], y_new=1.0,
    ...             step_sizes=[0.5, 0.5], rows=[0, 1])
    array([0., 0., 1.])
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    steps = _steps("coupled_sgd", step_sizes)
    if len(rows) != len(steps) or not 0 <= replaced < len(X):
        raise ValueError(
            "coupled_sgd needs one drawn row per step and a replaced row of the data. Got "
            f"{len(rows)} rows for {len(steps)} steps and replaced={replaced!r}."
        )
    first = np.zeros(X.shape[1]) if start is None else np.array(start, dtype=float)
    second, distance = first.copy(), np.zeros(len(steps) + 1)
    for t, (i, step) in enumerate(zip(rows, steps)):
        other = (x_new, y_new) if i == replaced else (X[i], y[i])
        first = _project(first - step * np.asarray(gradient(first, X[i], y[i])), radius)
        moved = second - step * np.asarray(gradient(second, np.asarray(other[0]), other[1]))
        second = _project(moved, radius)
        distance[t + 1] = np.linalg.norm(first - second)
    return distance


def _steps(who: str, step_sizes: Any) -> np.ndarray:
    steps = np.asarray(step_sizes, dtype=float)
    if steps.ndim != 1 or not len(steps) or not np.all(np.isfinite(steps) & (steps >= 0)):
        raise ValueError(
            f"The 'step_sizes' parameter of {who} must hold one or more finite steps, none "
            f"negative. Got shape {steps.shape}."
        )
    return steps


def _project(weights: np.ndarray, radius: float | None) -> np.ndarray:
    if radius is None:
        return weights
    length = float(np.linalg.norm(weights))
    return weights if length <= radius else weights * (radius / length)
