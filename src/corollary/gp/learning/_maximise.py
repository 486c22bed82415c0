"""Maximising a function by L-BFGS from several starts."""

from typing import Any, NamedTuple

import numpy as np


class Learnt(NamedTuple):
    """Hyper-parameters that maximise the evidence."""

    theta: np.ndarray
    value: float
    n_iter: int
    converged: bool


def maximise(
    objective: Any,
    starts: list[np.ndarray],
    bounds: np.ndarray,
    *,
    max_iter: int = 200,
    tol: float = 1e-7,
    window: int = 1,
) -> Learnt:
    """Maximise a log evidence by L-BFGS from several starts."""
    from scipy.optimize import minimize

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        try:
            value, gradient = objective(theta)
        except np.linalg.LinAlgError:
            # A corner where no factorisation exists: the line search turns back.
            return 1e25, np.zeros_like(theta)
        return -value, -gradient

    best: Learnt | None = None
    for start in starts:
        result = minimize(
            loss,
            np.clip(start, bounds[:, 0], bounds[:, 1]),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            callback=_watch(window, tol) if window > 1 else None,
            options={
                "maxiter": max_iter,
                "ftol": tol if window == 1 else 1e-14,
                "gtol": 1e-5 if window == 1 else 0.03 * tol,
                "maxcor": 20,
                "maxfun": 15 * max_iter,
            },
        )
        # Status 2 is a line search that result nothing better: as good as it gets.
        run = Learnt(result.x, -float(result.fun), int(result.nit), result.status != 1)
        if best is None or run.value > best.value:
            best = run
    assert best is not None
    return best


def _watch(window: int, tol: float) -> Any:
    """Return a callback that ends a run when the last steps together improved too little."""
    values: list[float] = []

    def watch(intermediate_result: Any) -> None:
        values.append(float(intermediate_result.fun))
        past = values[-1 - window :]
        if len(past) > window and past[0] - past[-1] <= window * tol * max(1.0, abs(past[-1])):
            raise StopIteration

    return watch
