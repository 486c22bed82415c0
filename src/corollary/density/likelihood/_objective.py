"""The log likelihood of draws, with that of a prior, and the search for its maximum."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.density.likelihood._domain import bound_to, free_from
from corollary.density.likelihood.estimate import Estimate
from corollary.density.likelihood.family import Family
from corollary.optimize import Function, newton
from corollary.risk import check_weights

LogPrior = Callable[[Any], Any]


def check_draws(
    who: str, family: Family, x: Any, sample_weight: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return draws that are possible under a family, and their weights."""
    x = np.asarray(x, dtype=float)
    if x.ndim not in (1, 2) or not len(x):
        raise ValueError(f"{who} needs one draw or more. Got shape {x.shape}.")
    weight = check_weights(who, sample_weight, len(x))
    impossible = np.flatnonzero(~np.broadcast_to(family._supports(x), len(x)))
    if len(impossible):
        raise ValueError(
            f"{who}: draw {int(impossible[0])}, {x[impossible[0]]}, has density zero under every "
            f"{type(family).__name__} law. Leave it out, or choose another family."
        )
    return x, np.ones(len(x)) if weight is None else weight


@dataclass(frozen=True, eq=False)
class Objective:
    """What a maximum is sought of, as a function of the parameters."""

    who: str
    family: Family
    x: np.ndarray
    weight: np.ndarray
    log_prior: LogPrior | None = None

    @classmethod
    def of(cls, who: str, family: Family, x: Any, weight: Any, prior: Any = None) -> "Objective":
        """Check draws, and leave out those of weight zero."""
        x, weight = check_draws(who, family, x, weight)
        return cls(who, family, x[weight > 0], weight[weight > 0], prior)

    def value(self, theta: np.ndarray) -> float:
        """Return the log likelihood, with that of the prior."""
        return float(self.weight @ self.family.log_density(self.x, theta)) + self._prior(theta, 0)

    def slope(self, theta: np.ndarray) -> np.ndarray:
        """Return its first derivatives."""
        return self.weight @ self.family.score(self.x, theta) + self._prior(theta, 1)

    def curvature(self, theta: np.ndarray) -> np.ndarray:
        """Return its second derivatives."""
        each = self.family.curvature(self.x, theta)
        return np.tensordot(self.weight, each, 1) + self._prior(theta, 2)

    def _prior(self, theta: np.ndarray, order: int) -> Any:
        """Return the log density of the prior, or its derivatives."""
        if self.log_prior is None:
            return 0.0
        from corollary.core.xla import jax

        with jax.enable_x64(True):
            derivative = (lambda f: f, jax.grad, jax.hessian)[order](self.log_prior)
            return np.asarray(derivative(theta), dtype=float)

    def search(self, start: Any = None, fixed: tuple[int, float] | None = None) -> np.ndarray:
        """Maximise over the parameters, all or all but one that is fixed, by Newton's method."""
        family, total = self.family, float(self.weight.sum())
        first = family._start(self.x) if start is None else family.check(start)
        moving = [k for k in range(len(first)) if fixed is None or k != fixed[0]]
        free = np.zeros(len(first))
        free[moving] = free_from(first[moving], [family.domain[k] for k in moving])
        if fixed is not None:
            free[fixed[0]] = fixed[1]

        def placed(u: np.ndarray) -> tuple[np.ndarray, ...]:
            everywhere = free.copy()
            everywhere[moving] = u
            return bound_to(everywhere, family.domain)

        def gradient(u: np.ndarray) -> np.ndarray:
            theta, speed, _ = placed(u)
            return -(self.slope(theta) * speed)[moving] / total

        def hessian(u: np.ndarray) -> np.ndarray:
            theta, speed, bend = placed(u)
            chained = self.curvature(theta) * np.outer(speed, speed)
            chained += np.diag(self.slope(theta) * bend)
            return -chained[np.ix_(moving, moving)] / total

        if moving:
            function = Function(lambda u: -self.value(placed(u)[0]) / total, gradient, hessian)
            free[moving] = newton(function, free[moving], tol=1e-10, max_iter=200).x
        theta = bound_to(free, family.domain)[0]
        if moving and not self._is_inside(theta, moving):
            raise ValueError(
                f"{self.who} found no maximum inside the domain of {type(family).__name__}: the "
                f"search ended at {theta.tolist()}. Give another start, or more draws: the "
                "likelihood may grow towards the edge."
            )
        return theta

    def _is_inside(self, theta: np.ndarray, moving: list[int]) -> bool:
        """Say whether a point is a maximum by its parameters, not by being far out of reach."""
        low, high = np.array(self.family.domain, dtype=float).T
        room = np.minimum(theta - low, high - theta)[moving]
        slope, curvature = self.slope(theta)[moving], self.curvature(theta)[np.ix_(moving, moving)]
        if not (np.isfinite(slope).all() and np.isfinite(curvature).all()):
            return False
        units = np.sqrt(np.maximum(np.abs(np.diag(curvature)), np.finfo(float).tiny))
        if np.linalg.eigvalsh(curvature / np.outer(units, units)).max() > 1e-6:
            return False  # a minimum or a saddle
        step = np.linalg.lstsq(-curvature, slope, rcond=1e-12)[0]
        return bool((np.abs(step) <= 1e-3 * np.minimum(room, 1 + np.abs(theta[moving]))).all())

    def estimate(self, theta: np.ndarray) -> Estimate:
        """Return an estimate with its observed information."""
        inside = all(low < t < high for t, (low, high) in zip(theta, self.family.domain))
        information = -self.curvature(theta) if self.family.regular and inside else None
        total, value = float(self.weight.sum()), self.value(theta)
        if np.isnan(value) and not inside:  # densities grow without bound towards this edge
            value = np.inf
        return Estimate(tuple(self.family.names), theta, value, information, total)
