r"""The identity behind score matching, and what breaks it.

For a density p on :math:`(a,b)` with score :math:`s=(\log p)'` and a smooth f, integration by parts
gives

.. math:: E(s-f)^2 = E[f^2+2f'+s^2] - 2\,\bigl[p f\bigr]_a^b .

The first two terms on the right need draws of p only, not its score. The last one vanishes if pf
does at the ends. Where the density jumps, as that of a uniform or an exponential law does, it does
not, and minimising the first two finds something else than the nearest score.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

#: Nodes of the Gauss rule by which expectations are computed.
_NODES = 400


class ScoreMatchingIdentity(NamedTuple):
    r"""Both sides of the identity.

    Parameters
    ----------
    distance, by_parts, boundary : float
        :math:`E(s-f)^2`, :math:`E[f^2+2f'+s^2]` and :math:`[pf]_a^b`; the distance is `by_parts`
        less twice the last.

    Examples
    --------
    >>> from corollary.density import score_matching_identity
    >>> sides = score_matching_identity(lambda x: -x, lambda x: -0.0 * x, 0.0, float("inf"))
    >>> round(sides.distance, 6), round(sides.by_parts, 6), sides.boundary
    (1.0, 1.0, 0.0)
    """

    distance: float
    by_parts: float
    boundary: float


def score_matching_identity(
    log_density: Callable[[Any], Any],
    field: Callable[[Any], Any],
    low: float = -math.inf,
    high: float = math.inf,
) -> ScoreMatchingIdentity:
    r"""Compute both sides of the score-matching identity on the line.

    Parameters
    ----------
    log_density : callable
        ``log_density(x)``, written with ``jax.numpy``, of a density that integrates to 1 over
        (low, high).
    field : callable
        The candidate f for its derivative, written with ``jax.numpy``.
    low : float, default=-inf
        Where the density begins.
    high : float, default=inf
        Where it ends.

    References
    ----------
    A. Hyvärinen (2005). Estimation of non-normalized statistical models by score matching. Journal
    of Machine Learning Research 6, 695-709.

    Examples
    --------
    >>> import math
    >>> from corollary.density import score_matching_identity
    >>> normal = lambda x: -(x**2) / 2 - math.log(2 * math.pi) / 2
    >>> sides = score_matching_identity(normal, lambda x: -2 * x)
    >>> round(sides.distance, 6), round(sides.by_parts, 6)
    (1.0, 1.0)
    >>> sides = score_matching_identity(lambda x: -x, lambda x: -2 + 0 * x, 0.0, math.inf)
    >>> round(sides.distance, 6), round(sides.by_parts, 6), sides.boundary  # exp(-x) jumps at 0
    (1.0, 5.0, 2.0)
    """
    from corollary.core.xla import jax

    x, width = _nodes(low, high)
    with jax.enable_x64(True):
        logs = np.asarray(jax.vmap(log_density)(x), dtype=float)
        s = np.asarray(jax.vmap(jax.grad(log_density))(x), dtype=float)
        f = np.asarray(jax.vmap(field)(x), dtype=float)
        slope = np.asarray(jax.vmap(jax.grad(field))(x), dtype=float)
        ends = [
            float(np.exp(np.float64(log_density(end))) * field(end)) if math.isfinite(end) else 0.0
            for end in (low, high)
        ]
    p = np.exp(logs) * width
    if abs(p.sum() - 1) > 1e-4:
        raise ValueError(
            "score_matching_identity needs the log of a density that integrates to 1 between low "
            f"and high. Its integral is {p.sum():.4g}."
        )
    some = p > 0
    p, s, f, slope = p[some], s[some], f[some], slope[some]
    by_parts = float(p @ (f**2 + 2 * slope + s**2))
    return ScoreMatchingIdentity(float(p @ (s - f) ** 2), by_parts, ends[1] - ends[0])


def score_matching_loss(field: Callable[[Any], Any], X: Any, *, sample_weight: Any = None) -> float:
    r"""Return the empirical loss :math:`\frac1n\sum_i\|f(x_i)\|^2+2\,\nabla\cdot f(x_i)`.

    Up to a constant it estimates the squared distance of f from the score of the law that the rows
    come from, if that has a smooth density that vanishes at its ends. It may be negative.

    Parameters
    ----------
    field : callable
        Maps one row to as many numbers, written with ``jax.numpy``.
    X : array-like of shape (n_samples, n_features)
        Rows.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights.

    Examples
    --------
    >>> from corollary.density import score_matching_loss
    >>> score_matching_loss(lambda x: -x, [[1.0, 0.0], [0.0, -1.0]])  # 1 - 2 d
    -3.0
    """
    from corollary.core.xla import jax, jnp

    X = np.asarray(X, dtype=float)

    def local(x: Any) -> Any:
        return (field(x) ** 2).sum() + 2 * jnp.trace(jax.jacfwd(field)(x))

    with jax.enable_x64(True):
        losses = np.asarray(jax.vmap(local)(X), dtype=float)
    return float(np.average(losses, weights=sample_weight))


def _nodes(low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Return points of an interval, finite or not, and their weights in integrals."""
    u, weight = np.polynomial.legendre.leggauss(_NODES)
    if math.isfinite(low) and math.isfinite(high):
        half = (high - low) / 2
        return low + half * (u + 1), half * weight
    if math.isinf(low) and math.isinf(high):
        return u / (1 - u**2), weight * (1 + u**2) / (1 - u**2) ** 2
    away, stretch = (1 + u) / (1 - u), 2 / (1 - u) ** 2
    return (low + away if math.isfinite(low) else high - away), weight * stretch
