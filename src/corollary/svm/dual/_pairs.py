"""The duals of two classes: soft margin, hard margin, and a bound on the share of errors."""

from typing import Any, NamedTuple

import numpy as np

from corollary.kernels import GramTiles
from corollary.svm.dual._descent import minimise
from corollary.svm.dual._row_cache import ChangedTiles
from corollary.svm.dual.optimality import SMOResult


class PairSolution(NamedTuple):
    r"""A machine for two classes in its dual form.

    Parameters
    ----------
    beta : ndarray of shape (n_samples,)
        Signed weights :math:`y_i \alpha_i`.
    intercept : float
        Offset b.
    dual : float
        Value of the dual problem.
    gap : float
        Value of the primal problem minus that of the dual one.
    result : SMOResult
        What the solver reached.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import svm_pair
    >>> x, y = np.array([[0.0], [2.0]]), np.array([-1.0, 1.0])
    >>> svm_pair(x @ x.T, y, C=10.0).intercept
    -1.0
    """

    beta: np.ndarray
    intercept: float
    dual: float
    gap: float
    result: SMOResult


def soft_pair(
    gram: GramTiles,
    y: np.ndarray,
    C: np.ndarray,
    *,
    loss: str = "hinge",
    start: np.ndarray | None = None,
    **options: Any,
) -> PairSolution:
    """Solve the soft-margin dual on a Gram matrix that comes in tiles; see :func:`svm_pair`."""
    squared = loss == "squared_hinge"
    bound = np.full(len(y), np.inf) if squared else C
    if squared:
        gram = ChangedTiles(gram, addition=0.5 / C)
    lower, upper = np.where(y < 0, -bound, 0.0), np.where(y > 0, bound, 0.0)
    if start is not None:
        start = feasible(start, lower, upper)
    result = minimise(gram, y, lower, upper, start=start, **options)
    intercept = float(result.intercepts[0])
    scores = result.scores - result.beta * (0.5 / C) if squared else result.scores
    slack = np.maximum(0.0, 1.0 - y * (scores + intercept))
    paid = float(C @ (slack * slack if squared else slack))
    primal = 0.5 * float(result.beta @ scores) + paid
    return PairSolution(
        result.beta, intercept, -result.objective, primal + result.objective, result
    )


def hard_pair(gram: GramTiles, y: np.ndarray, *, tol: float = 1e-3, **options: Any) -> PairSolution:
    """Solve the hard-margin dual on a Gram matrix that comes in tiles; see :func:`svm_pair`."""
    n = len(y)
    groups = (y < 0).astype(np.int64)
    start = np.zeros(n)
    start[np.argmax(y > 0)], start[np.argmax(y < 0)] = 1.0, -1.0
    lower, upper = np.where(y < 0, -np.inf, 0.0), np.where(y > 0, np.inf, 0.0)
    size = float(np.abs(gram.diagonal).max())
    scale = 1e-3
    while True:
        # In units of the squared distance of the hulls, which becomes known on the way.
        result = minimise(
            gram, np.zeros(n), lower, upper, groups=groups, start=start, tol=scale * size, **options
        )
        square = 2.0 * result.objective  # of the distance between the hulls
        apart = result.scores[y > 0].min() - result.scores[y < 0].max()
        limit = options.get("max_iter", -1)
        if apart > 0 and result.violation <= 0.5 * tol * square:
            break
        if 0 <= limit <= result.n_iter and apart > 0:
            break
        if scale < 1e-14 or not result.converged:
            if apart <= 1e-7 * np.sqrt(size * max(square, 0.0)):
                raise ValueError(
                    "The hard margin (C=inf) needs classes that a hyperplane separates in the "
                    "kernel's feature space. Got classes whose convex hulls come as close as "
                    f"{np.sqrt(max(square, 0.0)):.3g}; use a finite C or another kernel."
                )
            break
        start, scale = result.beta, scale * 1e-2
    # The closest points become margins of -1 and 1: w is 2 / distance^2 times their difference.
    factor = 2.0 / apart
    beta = result.beta * factor
    scores = result.scores * factor
    intercept = -0.5 * float(scores[y > 0].min() + scores[y < 0].max())
    norm = float(beta @ scores)
    primal = 0.5 * norm
    dual = float(np.abs(beta).sum()) - 0.5 * norm
    done = result._replace(
        beta=beta,
        scores=scores,
        intercepts=np.array([intercept]),
        objective=-dual,
        violation=result.violation * factor,
        converged=bool(result.violation * factor <= tol),
    )
    return PairSolution(beta, intercept, dual, primal - dual, done)


def nu_pair(gram: GramTiles, y: np.ndarray, weight: np.ndarray, nu: float, **options: Any) -> Any:
    """Solve the machine whose parameter bounds the share of margin errors."""
    half = 0.5 * nu * float(weight.sum())
    start = np.zeros(len(y))
    for sign in (1.0, -1.0):
        rows = np.flatnonzero(y == sign)
        if weight[rows].sum() < half * (1 - 1e-12):
            raise ValueError(
                f"The 'nu' parameter is too large for the smaller class: {nu} asks for weights of "
                f"{half:.6g} in each class, and one class has {weight[rows].sum():.6g}. Use nu <= "
                f"{2 * weight[rows].sum() / weight.sum():.6g}."
            )
        before = np.concatenate([[0.0], np.cumsum(weight[rows])[:-1]])
        start[rows] = sign * np.clip(half - before, 0.0, weight[rows])
    lower, upper = np.where(y < 0, -weight, 0.0), np.where(y > 0, weight, 0.0)
    groups = (y < 0).astype(np.int64)
    result = minimise(gram, np.zeros(len(y)), lower, upper, groups=groups, start=start, **options)
    above, below = result.intercepts
    rho, intercept = 0.5 * (below - above), 0.5 * (below + above)
    norm = float(result.beta @ result.scores)
    slack = np.maximum(0.0, rho - y * (result.scores + intercept))
    primal = 0.5 * norm - 2.0 * half * rho + float(weight @ slack)
    gap = primal + 0.5 * norm
    if rho <= 1e-12 * np.sqrt(max(norm, 1e-300)):
        raise ValueError(
            f"With nu={nu} the margin is zero: the weighted hulls of the classes meet. Use a "
            "smaller nu or another kernel."
        )
    return PairSolution(result.beta / rho, intercept / rho, -0.5 * norm, gap, result)


def feasible(beta: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Clip weights to their bounds and shrink the heavier sign until the sum is zero."""
    beta = np.clip(beta, lower, upper)
    up, down = beta[beta > 0].sum(), -beta[beta < 0].sum()
    both = min(up, down)
    if max(up, down) - both <= 1e-12 * both:  # rounding: variables at a bound must stay there
        return beta
    scale = np.where(beta > 0, both / max(up, 1e-300), both / max(down, 1e-300))
    return np.clip(beta * scale, lower, upper)
