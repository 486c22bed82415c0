"""Regularised empirical risk in the space of a kernel, for any convex loss.

By the representer theorem the minimiser of ``sum_i w_i V(y_i, f(x_i)) + alpha |f|^2`` over all
functions f of the kernel's space is ``f = sum_i a_i k(x_i, .)``; it is enough to minimise over a.
At the optimum ``a_i = -w_i V'(y_i, f(x_i)) / (2 alpha)``, with V' the derivative in the
prediction, which is how far a solution is checked.
"""

from typing import Any, NamedTuple

import numpy as np

from corollary.core.parallel import one_blas_thread
from corollary.risk import AbsoluteLoss, EpsilonInsensitiveLoss, HingeLoss, PinballLoss, check_loss

MEMORY = 20  # pairs of L-BFGS


class KernelRisk(NamedTuple):
    """Outcome of :func:`minimise_kernel_risk`.

    Parameters
    ----------
    dual_coef : ndarray of shape (n,)
        Coefficients a of ``f(x) = sum_i a_i k(x_i, x)``.
    value : float
        The objective reached.
    gap : float
        Upper bound on how far the objective is above its minimum.
    n_iter : int
        Iterations: products with the Gram matrix, or sweeps over the coordinates.
    converged : bool
        Whether the gap is within the tolerance.
    """

    dual_coef: np.ndarray
    value: float
    gap: float
    n_iter: int
    converged: bool


def minimise_kernel_risk(
    K: Any,
    y: Any,
    loss: Any,
    alpha: float = 1.0,
    *,
    sample_weight: Any = None,
    max_iter: int = 1000,
    tol: float = 1e-8,
) -> KernelRisk:
    """Minimise ``sum_i w_i V(y_i, (K a)_i) + alpha a' K a``.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Gram matrix, symmetric and positive semi-definite.
    y : array-like of shape (n,)
        Targets; labels -1 and +1 for margin losses.
    loss : str or Loss
        A differentiable convex loss ``V(y, prediction)`` with ``gradient``, by name or object (see
        :func:`corollary.risk.check_loss`), or one of the hinge, absolute, pinball and
        epsilon-insensitive losses, which are solved in the dual.
    alpha : float, default=1.0
        Positive weight of the squared norm.
    sample_weight : array-like of shape (n,) or None, default=None
        Non-negative weights w.
    max_iter : int, default=1000
        Largest number of iterations.
    tol : float, default=1e-8
        Wanted gap to the minimum, relative to the objective.

    Returns
    -------
    result : KernelRisk
        Coefficients, objective and a bound on its distance to the minimum.

    Notes
    -----
    Differentiable losses: L-BFGS in the geometry of the kernel's space, where the gradient of f
    is ``sum_i (w_i V'_i + 2 alpha a_i) k(x_i, .)``; the objective is strongly convex there, and
    its squared gradient over ``4 alpha`` bounds the gap. The others: coordinate descent on the
    dual, with the duality gap.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import minimise_kernel_risk, RBF
    >>> K = RBF().gram([[0.0], [1.0], [2.0]])
    >>> y = np.array([1, -1, 1])
    >>> a = minimise_kernel_risk(K, y, "logistic", alpha=0.1, tol=1e-12).dual_coef
    >>> slope = -y / (1 + np.exp(y * (K @ a)))
    >>> bool(np.abs(a + slope / 0.2).max() < 1e-5)  # the fixed point
    True
    """
    K = np.ascontiguousarray(K, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    if K.ndim != 2 or K.shape != (len(y), len(y)) or y.ndim != 1:
        raise ValueError(
            "minimise_kernel_risk needs a square Gram matrix and one target for each row. "
            f"Got shapes {K.shape} and {y.shape}."
        )
    if not np.isfinite(K).all():
        raise ValueError(
            "minimise_kernel_risk needs finite kernel values. Got some that overflow; divide the "
            "features by a constant so that they are about one."
        )
    if not (np.isfinite(alpha) and alpha > 0):
        raise ValueError(
            "The 'alpha' parameter of minimise_kernel_risk must be a float in the range "
            f"(0.0, inf). Got {alpha!r} instead."
        )
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    loss = check_loss(loss, gradient=True)
    dual = _dual_of(loss, y, weight)
    with one_blas_thread():
        if dual is not None:
            return _descend_dual(K, y, loss, weight, alpha, dual, max_iter, tol)
        if not getattr(loss, "convex", True) or not getattr(loss, "differentiable", True):
            raise ValueError(
                "minimise_kernel_risk needs a convex loss that is differentiable, or one of the "
                f"hinge, absolute, pinball and epsilon-insensitive losses. Got {loss!r}."
            )
        return _minimise_smooth(K, y, loss, weight, alpha, max_iter, tol)


# -- differentiable losses -------------------------------------------------------------------------


def _negligible(K: np.ndarray, c: np.ndarray, Kc: np.ndarray) -> float:
    """Return how far below zero c' K c may be by rounding: where Kc is nothing but that, too."""
    rounding = len(c) * np.finfo(np.float64).eps * float(np.diag(K).max()) * np.abs(c).sum() ** 2
    return float(1e-8 * (np.abs(c) @ np.abs(Kc)) + rounding)


def _minimise_smooth(
    K: np.ndarray,
    y: np.ndarray,
    loss: Any,
    weight: np.ndarray,
    alpha: float,
    max_iter: int,
    tol: float,
) -> KernelRisk:
    a, u = np.zeros(len(y)), np.zeros(len(y))
    gradient = weight * loss.gradient(y, u)
    K_gradient = K @ gradient
    pairs: list[tuple[np.ndarray, ...]] = []
    for iteration in range(1, max_iter + 1):
        square = float(gradient @ K_gradient)
        if square < -_negligible(K, gradient, K_gradient):
            raise ValueError(
                "minimise_kernel_risk needs a positive semi-definite Gram matrix. Got one with "
                f"c' K c = {square:.3g} for some c."
            )
        value = float(weight @ loss(y, u) + alpha * (a @ u))
        gap = max(square, 0.0) / (4.0 * alpha)
        if gap <= tol * max(abs(value), np.finfo(float).tiny):
            return KernelRisk(a, value, gap, iteration, True)
        d, v = _direction(gradient, K_gradient, pairs)
        step = _line_search(y, loss, weight, alpha, a, u, d, v)
        if step == 0.0:
            break  # rounding stops progress; the gap says how far we came
        a = a + step * d
        # Now and then from scratch, so that rounding does not add up.
        u = K @ a if iteration % 50 == 0 else u + step * v
        new = weight * loss.gradient(y, u) + 2.0 * alpha * a
        K_new = K @ new
        pair = (step * d, step * v, new - gradient, K_new - K_gradient)
        if float(pair[0] @ pair[3]) > 0:
            pairs = [*pairs[1 - MEMORY :], pair]
        gradient, K_gradient = new, K_new
    return KernelRisk(a, value, gap, iteration, False)


def _direction(
    gradient: np.ndarray, K_gradient: np.ndarray, pairs: list[tuple[np.ndarray, ...]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the L-BFGS direction and its product with K; inner products are ``a' K b``."""
    q, Kq = gradient.copy(), K_gradient.copy()
    factors = []
    for s, _, change, K_change in reversed(pairs):
        factor = float(s @ Kq) / float(s @ K_change)
        factors.append(factor)
        q -= factor * change
        Kq -= factor * K_change
    if pairs:
        s, _, change, K_change = pairs[-1]
        scale = float(s @ K_change) / float(change @ K_change)
        q *= scale
        Kq *= scale
    for (s, Ks, _, K_change), factor in zip(pairs, reversed(factors)):
        correction = factor - float(q @ K_change) / float(s @ K_change)
        q += correction * s
        Kq += correction * Ks
    return -q, -Kq


def _line_search(
    y: np.ndarray,
    loss: Any,
    weight: np.ndarray,
    alpha: float,
    a: np.ndarray,
    u: np.ndarray,
    d: np.ndarray,
    v: np.ndarray,
) -> float:
    """Find where the slope along the line has fallen to a tenth; one costs O(n), so be precise."""
    linear, quadratic = 2.0 * alpha * float(a @ v), 2.0 * alpha * float(d @ v)

    def slope(t: float) -> float:
        with np.errstate(over="ignore"):  # a step too far along an exponential loss
            return float((weight * loss.gradient(y, u + t * v)) @ v + linear + t * quadratic)

    first = slope(0.0)
    if not first < 0:
        return 0.0
    low, low_slope, high = 0.0, first, 1.0
    high_slope = slope(high)
    for _ in range(60):
        if high_slope >= 0 or not np.isfinite(high_slope):
            break
        if abs(high_slope) <= 0.1 * abs(first):
            return high
        low, low_slope, high = high, high_slope, 2.0 * high
        high_slope = slope(high)
    for _ in range(60):
        share = 0.5
        if np.isfinite(high_slope):
            share = min(0.9, max(0.1, low_slope / (low_slope - high_slope)))
        middle = low + share * (high - low)
        now = slope(middle)
        if abs(now) <= 0.1 * abs(first):
            return middle
        if now < 0:
            low, low_slope = middle, now
        else:
            high, high_slope = middle, now
    return low


# -- piecewise linear losses -----------------------------------------------------------------------


def _dual_of(
    loss: Any, y: np.ndarray, weight: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray] | None:
    """Return the width of the flat part and the box of ``2 alpha a``, or None."""
    if isinstance(loss, HingeLoss):
        return 0.0, np.where(y > 0, 0.0, -weight), np.where(y > 0, weight, 0.0)
    if isinstance(loss, PinballLoss):
        return 0.0, (loss.quantile - 1.0) * weight, loss.quantile * weight
    if isinstance(loss, AbsoluteLoss):
        return 0.0, -weight, weight
    if isinstance(loss, EpsilonInsensitiveLoss):
        return float(loss.epsilon), -weight, weight
    return None


def _descend_dual(
    K: np.ndarray,
    y: np.ndarray,
    loss: Any,
    weight: np.ndarray,
    alpha: float,
    dual: tuple[float, np.ndarray, np.ndarray],
    max_iter: int,
    tol: float,
) -> KernelRisk:
    from corollary.optimize import box_sweep

    epsilon, low, high = dual
    low, high = low / (2.0 * alpha), high / (2.0 * alpha)
    a, u = np.zeros(len(y)), np.zeros(len(y))
    value = gap = np.inf
    for iteration in range(1, max_iter + 1):
        change = box_sweep(K, y, epsilon, low, high, a, u)
        if iteration % 10 and change > 0 and iteration < max_iter:
            continue
        _solve_free(K, y, epsilon, low, high, a)
        u = K @ a
        square = float(a @ u)
        if square < -_negligible(K, a, u):
            raise ValueError(
                "minimise_kernel_risk needs a positive semi-definite Gram matrix. Got one with "
                f"c' K c = {square:.3g} for some c."
            )
        value = float(weight @ loss(y, u)) + alpha * square
        bound = 2.0 * alpha * float(y @ a - epsilon * np.abs(a).sum()) - alpha * square
        gap = max(value - bound, 0.0)
        if gap <= tol * max(abs(value), np.finfo(float).tiny):
            return KernelRisk(a, value, gap, iteration, True)
    return KernelRisk(a, value, gap, iteration, False)


def _solve_free(
    K: np.ndarray, y: np.ndarray, epsilon: float, low: np.ndarray, high: np.ndarray, a: np.ndarray
) -> None:
    """Solve for the coordinates inside the box, which sweeps approach slowly; change a in place."""
    from scipy.linalg import solve

    for _ in range(20):
        free = np.flatnonzero((a > low) & (a < high) & ((a != 0) | (epsilon == 0)))
        if not free.size:
            return
        square = K[np.ix_(free, free)]
        square[np.diag_indices_from(square)] += 1e-12 * square.diagonal().max() + 1e-300
        slope = (y - epsilon * np.sign(a))[free] - K[free] @ a
        try:
            step = solve(square, slope, assume_a="pos", check_finite=False)
        except np.linalg.LinAlgError:
            return  # not positive definite beyond rounding: the gap will tell
        # Up to the first wall: an end of the box, or the kink at zero.
        here = a[free]
        top = np.where((here < 0) & (epsilon > 0), 0.0, high[free])
        bottom = np.where((here > 0) & (epsilon > 0), 0.0, low[free])
        wall = np.where(step > 0, top, bottom)
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(step == 0, np.inf, (wall - here) / step)
        share = min(1.0, float(reach.min()))
        a[free] = here + share * step
        if share == 1.0:
            return
        first = reach <= share
        a[free[first]] = wall[first]
