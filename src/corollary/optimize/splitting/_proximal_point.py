"""The proximal operator of a smooth function, prepared for one strength."""

from functools import cached_property

import numpy as np
from scipy import linalg

from corollary.optimize.iteration.driver import iterate
from corollary.optimize.iteration.stopping import Stop
from corollary.optimize.problem.functions import Quadratic, Smooth
from corollary.optimize.second_order.newton import Newton

# Norm of the gradient, relative to that of the start, at which Newton's method ends.
_PRECISE = 1e-12


class _Anchored(Smooth):
    """The function f(x) + rho |x - v|^2 / 2."""

    def __init__(self, function: Smooth, v: np.ndarray, rho: float) -> None:
        self.function, self.v, self.rho = function, v, rho

    def _value(self, x: np.ndarray) -> float:
        return self.function.value(x) + 0.5 * self.rho * float((x - self.v) @ (x - self.v))

    def _gradient(self, x: np.ndarray) -> np.ndarray:
        return self.function.gradient(x) + self.rho * (x - self.v)

    def _hessian(self, x: np.ndarray) -> np.ndarray:
        return self.function.hessian(x) + self.rho * np.eye(len(x))


class ProximalPoint:
    """The map of v to the minimiser of f(x) + rho |x - v|^2 / 2."""

    def __init__(self, function: Smooth, rho: float) -> None:
        if not 0 < rho < np.inf:
            raise ValueError(f"A proximal point needs a positive, finite rho. Got {rho!r}.")
        self.function, self.rho = function, float(rho)

    @cached_property
    def _factor(self) -> tuple[np.ndarray, bool]:
        assert isinstance(self.function, Quadratic)
        matrix = self.function.P + self.rho * np.eye(len(self.function.P))
        try:
            return linalg.cho_factor(matrix, lower=True)
        except linalg.LinAlgError:
            raise ValueError(
                f"f(x) + rho |x - v|^2 / 2 has no minimum for rho = {self.rho:g}: f is not convex. "
                "Raise rho above minus the least eigenvalue of its Hessian."
            ) from None

    def __call__(self, v: np.ndarray) -> np.ndarray:
        if isinstance(self.function, Quadratic):
            return linalg.cho_solve(self._factor, self.rho * v - self.function.q)
        anchored = _Anchored(self.function, v, self.rho)
        small = _PRECISE * max(1.0, float(np.linalg.norm(anchored.gradient(v))))
        return iterate(
            Newton(anchored), v, stop=Stop(gradient=small, step=0.0), max_iter=50
        ).state.x
