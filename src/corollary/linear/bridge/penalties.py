r"""Bridge regression: least squares with an l_q penalty.

.. math:: \sum_i s_i (y_i - b - w^\top x_i)^2 + \lambda \sum_j |w_j|^q

For :math:`q = \infty` the sum of powers has no meaning and the penalty is
:math:`\lambda \max_j |w_j|`. q = 2 is ridge regression, q = 1 the lasso, q < 1 is not convex. It
is the posterior mode for noise of variance :math:`\sigma^2` and a prior density proportional to
:math:`\exp(-\lambda |w_j|^q / (2\sigma^2))`.
"""

from numbers import Integral, Real
from typing import Annotated, Any

import numpy as np
from sklearn.utils.validation import check_array

from corollary.core.compat import Interval, Options
from corollary.core.estimator import AnyReal, ArrayLike, NonNegative, Positive, checked


@checked
def lq_penalty(coef: ArrayLike, q: Annotated[float, Options(Real, {np.inf})] | Positive) -> float:
    r"""Return :math:`\sum_j |w_j|^q`, or the largest modulus for infinite q.

    Parameters
    ----------
    coef : array-like of shape (n_features,)
        Coefficients w.
    q : float
        Power, positive; ``inf`` for the largest modulus.

    Returns
    -------
    penalty : float
        The penalty before it is multiplied by its strength.

    Examples
    --------
    >>> from corollary.linear import lq_penalty
    >>> lq_penalty([3.0, -4.0], 2.0), lq_penalty([3.0, -4.0], float("inf"))
    (25.0, 4.0)
    """
    size = np.abs(np.asarray(coef, dtype=np.float64))
    if np.isinf(q):
        return float(size.max(initial=0.0))
    return float(np.sum(size**q))


@checked
def bridge_threshold(z: AnyReal, penalty: NonNegative, q: Positive) -> float:
    r"""Minimise :math:`(u - z)^2 + \lambda |u|^q` over one number u.

    Parameters
    ----------
    z : float
        Value to shrink.
    penalty : float
        Strength :math:`\lambda`, not negative.
    q : float
        Power, positive and finite.

    Returns
    -------
    u : float
        A global minimiser, also for q < 1; zero in case of a tie.

    Examples
    --------
    >>> from corollary.linear import bridge_threshold
    >>> bridge_threshold(3.0, 2.0, 1.0), bridge_threshold(3.0, 2.0, 2.0)
    (2.0, 1.0)
    >>> bridge_threshold(0.9, 1.0, 0.5)
    0.0
    """
    if q == 1.0:
        return float(np.sign(z) * max(abs(z) - penalty / 2.0, 0.0))
    if q == 2.0:
        return float(z / (1.0 + penalty))
    from corollary.linear._loops.bridge import scalar_minimiser

    return float(scalar_minimiser(1.0, float(z), float(penalty), float(q)))


@checked
def lq_ball_boundary(
    q: Annotated[float, Options(Real, {np.inf})] | Positive,
    *,
    n_points: Annotated[int, Interval(Integral, 4, None, closed="left")] = 200,
) -> np.ndarray:
    r"""Return points of the plane with :math:`|u|^q + |v|^q = 1`, for drawing constraint sets.

    Parameters
    ----------
    q : float
        Power, positive; ``inf`` for the square :math:`\max(|u|, |v|) = 1`.
    n_points : int, default=200
        Number of points; the curve is closed by repeating the first.

    Returns
    -------
    points : ndarray of shape (n_points + 1, 2)
        The contour, anticlockwise from (1, 0).

    Examples
    --------
    >>> from corollary.linear import lq_ball_boundary
    >>> lq_ball_boundary(1.0, n_points=4).round(12) + 0.0
    array([[ 1.,  0.],
           [ 0.,  1.],
           [-1.,  0.],
           [ 0., -1.],
           [ 1.,  0.]])
    """
    angle = 2.0 * np.pi * np.arange(n_points + 1) / n_points
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    if np.isinf(q):
        return circle / np.abs(circle).max(axis=1, keepdims=True)
    return np.sign(circle) * np.abs(circle) ** (2.0 / q)


def project_l1_ball(z: Any, radius: float) -> np.ndarray:
    r"""Return the point of :math:`\|u\|_1 \le r` nearest to z.

    Parameters
    ----------
    z : array-like of shape (n_features,)
        A point.
    radius : float
        Radius r, not negative.

    Returns
    -------
    u : ndarray of shape (n_features,)
        Its projection: a soft threshold of z whose level makes the norm right.

    Examples
    --------
    >>> from corollary.linear import project_l1_ball
    >>> project_l1_ball([3.0, -1.0], 2.0)
    array([ 2., -0.])
    """
    if not radius >= 0.0:
        raise ValueError(
            f"The 'radius' parameter of project_l1_ball must be a float in the range [0.0, inf). "
            f"Got {radius} instead."
        )
    z = np.asarray(z, dtype=np.float64)
    size = np.abs(z)
    if size.sum() <= radius:
        return z.copy()
    ordered = np.sort(size)[::-1]
    levels = (np.cumsum(ordered) - radius) / np.arange(1, len(z) + 1)
    level = levels[np.flatnonzero(ordered > levels)[-1]] if radius > 0.0 else ordered[0]
    return np.sign(z) * np.maximum(size - level, 0.0)


def largest_modulus_penalty(
    gram: Any,
    Xy: Any,
    yy: float,
    penalty: float,
    *,
    tol: float = 1e-16,
    max_iter: int = 10000,
) -> tuple[np.ndarray, int, bool]:
    r"""Minimise :math:`\|y - Xw\|^2 + \lambda \max_j |w_j|` by accelerated proximal gradient.

    Parameters
    ----------
    gram : array-like of shape (n_features, n_features)
        :math:`X^\top X`.
    Xy : array-like of shape (n_features,)
        :math:`X^\top y`.
    yy : float
        :math:`y^\top y`.
    penalty : float
        Strength :math:`\lambda`, not negative.
    tol : float, default=1e-16
        Stop when the duality gap is at most ``tol * yy``, or when rounding hides it.
    max_iter : int, default=10000
        Largest number of iterations.

    Returns
    -------
    coef : ndarray of shape (n_features,)
        The minimiser.
    n_iter : int
        Iterations used.
    converged : bool
        Whether the gap was reached.

    Notes
    -----
    Guarantee: on convergence the objective is within ``max(tol, 1e-13) * yy`` of its minimum,
    checked by ``tests/linear/test_bridge.py::test_largest_modulus_against_a_general_solver``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import largest_modulus_penalty
    >>> largest_modulus_penalty(np.eye(2), [3.0, 1.0], 10.0, 2.0)[0].round(6)
    array([2., 1.])
    """
    gram = check_array(gram, dtype=np.float64, input_name="gram")
    Xy = np.asarray(Xy, dtype=np.float64)
    half = penalty / 2.0  # of |y - Xw|^2 / 2 + half max|w|
    step = 1.0 / max(float(np.linalg.eigvalsh(gram)[-1]), 1e-300)
    w = v = np.zeros(len(Xy))
    momentum = 1.0
    for n_iter in range(1, max_iter + 1):
        moved = v + step * (Xy - gram @ v)
        new = moved - project_l1_ball(moved, step * half)
        if float((v - new) @ (new - w)) > 0.0:  # momentum points uphill: drop it
            momentum = 1.0
            moved = w + step * (Xy - gram @ w)
            new = moved - project_l1_ball(moved, step * half)
        ahead = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        v = new + (momentum - 1.0) / ahead * (new - w)
        stalled = bool(np.all(np.abs(new - w) <= 1e-15 * np.abs(new)))
        w, momentum = new, ahead
        correlation = Xy - gram @ w
        rr = max(yy - float((Xy + correlation) @ w), 0.0)
        ry = yy - float(Xy @ w)
        # The dual of the largest modulus is the l1 norm: scale the residual into its ball.
        scale = min(1.0, half / max(float(np.abs(correlation).sum()), 1e-300))
        primal = 0.5 * rr + half * float(np.abs(w).max(initial=0.0))
        gap = primal - (scale * ry - 0.5 * scale**2 * rr)
        if gap <= max(tol, 1e-13) * yy or stalled:
            return w, n_iter, True
    return w, max_iter, False
