"""Runs that end when a proof says so."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from corollary.optimize.iteration.driver import Iteration, Run, iterate
from corollary.optimize.iteration.stopping import Info, Stop
from corollary.optimize.optimality import Optimality
from corollary.optimize.solution import Solution


class CertifiedState(NamedTuple):
    """The state of the method, the number of steps, and the last proved gap."""

    inner: Any
    n_steps: int
    gap: float

    @property
    def x(self) -> np.ndarray:
        """The point of the method."""
        return self.inner.x


@dataclass(frozen=True)
class Certified(Iteration[CertifiedState]):
    """A method that also reports a proved gap, computed every few steps.

    See :class:`Iteration`, and :func:`solve_by` for the parameters.

    Examples
    --------
    >>> from corollary.optimize import Certified, GradientDescent, Quadratic, Stop
    >>> from corollary.optimize import certify_minimum, iterate
    >>> bowl = Quadratic([[1.0, 0.0], [0.0, 4.0]])
    >>> method = Certified(GradientDescent(bowl), lambda x: certify_minimum(bowl, x))
    >>> iterate(method, [1.0, 1.0], stop=Stop(gap=1e-6)).criterion
    'the gap is at most 1e-06'
    """

    method: Iteration[Any]
    certify: Callable[[Any], Optimality]
    every: int = 10

    def init(self, start: Any) -> CertifiedState:
        """Return the first state of the method, with the gap there."""
        inner = self.method.init(start)
        return CertifiedState(inner, 0, self.certify(inner.x).gap)

    def step(self, state: CertifiedState) -> tuple[CertifiedState, Info]:
        """Take one step of the method; its info has the gap if that was computed."""
        inner, info = self.method.step(state.inner)
        n_steps = state.n_steps + 1
        if n_steps % self.every:
            return CertifiedState(inner, n_steps, state.gap), info
        gap = self.certify(inner.x).gap
        return CertifiedState(inner, n_steps, gap), info._replace(gap=gap)


def solve_by(
    method: Iteration[Any],
    start: Any,
    certify: Callable[[Any], Optimality],
    *,
    tol: float = 1e-6,
    stop: Stop | None = None,
    max_iter: int = 10000,
    every: int = 10,
    state: Any = None,
    callback: Callable[[np.ndarray], Any] | None = None,
) -> Solution:
    """Run a method until a certificate proves its point optimal.

    The status is "optimal" only if the certificate, which is computed at the last point, proves it.

    Parameters
    ----------
    method : Iteration
        The method; its states have a point ``x``.
    start : array-like
        First point.
    certify : callable
        ``certify(x)`` returns an :class:`Optimality`, computed from the problem alone.
    tol : float, default=1e-6
        Proved gap to stop at, relative to the larger of 1 and the size of the value.
    stop : Stop or None, default=None
        Tolerances that also end the run, though they prove nothing.
    max_iter : int, default=10000
        Largest number of steps.
    every : int, default=10
        Steps between two certificates, which cost about as much as a step.
    state : object, default=None
        ``solution.state`` of an earlier run to go on from, in place of ``start``.
    callback : callable or None, default=None
        ``callback(x)`` is called after each step; it ends the run by raising StopIteration.

    Examples
    --------
    >>> from corollary.optimize import GradientDescent, Quadratic, certify_minimum, solve_by
    >>> bowl = Quadratic([[1.0, 0.0], [0.0, 4.0]])
    >>> print(solve_by(GradientDescent(bowl), [1.0, 1.0], lambda x: certify_minimum(bowl, x)))
    Solved in 30 steps. The value 1.59458e-08 is at most 1.595e-08 above the least one: the gradient
    there and strong convexity prove it.
    """
    certified = Certified(method, certify, every)
    run = iterate(
        certified,
        state=certified.init(start) if state is None else state,
        stop=replace(Stop() if stop is None else stop, gap=tol),
        max_iter=max_iter,
        callback=None if callback is None else lambda state, info: callback(state.x),
        description="minimising",
    )
    last = run.state
    return _concluded(run, certify(last.x), tol, x=last.x, n_iter=last.n_steps)


def _concluded(run: Run[Any], certificate: Optimality, tol: float, **parts: Any) -> Solution:
    """Return what a run found with the status that its certificate deserves."""
    ending = "stopped" if run.status == "converged" else run.status
    found: dict[str, Any] = {"x": run.state.x, "n_iter": run.n_iter, "reason": run.criterion}
    return Solution(
        value=certificate.value,
        certificate=certificate,
        status="optimal" if certificate.is_optimal(tol) else ending,
        history=run.history,
        state=run.state,
        **(found | parts),
    )
