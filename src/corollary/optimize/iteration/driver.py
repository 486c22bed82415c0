"""The shape that all iterative methods share, and the one loop that runs them.

A method is an object with two functions. ``init`` makes the first state, a named tuple; ``step``
takes a state to the next one and says in an :class:`Info` what it saw. The method never decides
when to stop, keeps no history and draws no progress bar: :func:`iterate` does that for all of
them, and hands back the last state, from which another run goes on.
"""

import time
from collections.abc import Callable
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar

import numpy as np

from corollary.core.progress import track
from corollary.optimize.iteration.stopping import Info, Stop

State = TypeVar("State")

Ending = Literal["converged", "stopped", "out of steps", "diverged"]


class Iteration(Protocol[State]):
    """A method that works in steps.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from corollary.optimize import Info, Stop, iterate
    >>> class Halving(NamedTuple):
    ...     factor: float = 0.5
    ...     def init(self, start):
    ...         return start
    ...     def step(self, state):
    ...         return self.factor * state, Info(value=state, step=(1 - self.factor) * state)
    >>> run = iterate(Halving(), 8.0, stop=Stop(step=0.6))
    >>> run.state, run.n_iter, run.status
    (0.5, 4, 'converged')
    """

    def init(self, start: Any) -> State:
        """Return the first state, a named tuple. See :class:`Iteration`."""

    def step(self, state: State) -> tuple[State, Info]:
        """Return the next state, and what was seen on the way. See :class:`Iteration`."""


class Run(NamedTuple, Generic[State]):
    """Where a run of :func:`iterate` ended.

    The last ``state`` is where :func:`iterate` can go on from. The ``history`` is a record array
    with the fields of :class:`Info`, one entry for each of ``n_iter`` steps, NaN for what was not
    computed, and with the ``seconds`` since the run began. The ``status`` is "converged" if a
    tolerance was met, "stopped" if a callback ended the run, "out of steps" if the budget was used
    up, or "diverged" if a number stopped being finite; ``criterion`` names the tolerance or the
    callback in words. See :class:`Iteration`.
    """

    state: State
    history: np.recarray
    n_iter: int
    status: Ending
    criterion: str


class Interrupted(KeyboardInterrupt):
    """Raised in place of KeyboardInterrupt: ``run`` holds what was reached.

    It ends with the last whole step, and ``iterate(method, state=error.run.state)`` goes on.
    See :class:`Iteration`.

    Examples
    --------
    >>> from corollary.optimize import Interrupted
    >>> issubclass(Interrupted, KeyboardInterrupt)
    True
    """

    def __init__(self, run: Run[Any]) -> None:
        super().__init__(f"Interrupted after {run.n_iter} steps; the last state is in 'run.state'.")
        self.run = run


def iterate(
    method: Iteration[State],
    start: Any = None,
    *,
    stop: Stop | None = None,
    max_iter: int = 1000,
    state: State | None = None,
    callback: Callable[[State, Info], Any] | None = None,
    description: str = "iterating",
) -> Run[State]:
    """Run a method until a tolerance is met or the budget is used up.

    A run of n steps and one of m steps from its state give the same states as a run of n + m steps.
    Ctrl-C raises :class:`Interrupted` with the run up to the last whole step.

    Parameters
    ----------
    method : Iteration
        The method.
    start : object, default=None
        What ``method.init`` makes the first state of.
    stop : Stop or None, default=None
        Tolerances; None runs all steps.
    max_iter : int, default=1000
        Largest number of steps.
    state : object or None, default=None
        The state of an earlier run to go on from, in place of ``start``.
    callback : callable or None, default=None
        ``callback(state, info)`` is called after each step; it ends the run by raising
        StopIteration.
    description : str, default="iterating"
        Words for the progress display.

    Examples
    --------
    >>> from corollary.optimize import GradientDescent, Quadratic, Stop, iterate
    >>> bowl = Quadratic([[1.0, 0.0], [0.0, 4.0]])
    >>> run = iterate(GradientDescent(bowl), [1.0, 1.0], stop=Stop(gradient=1e-3))
    >>> run.status, run.criterion
    ('converged', 'the gradient is at most 0.001')
    """
    if max_iter < 0:
        raise ValueError(
            f"The 'max_iter' parameter of iterate must be an int in the range [0, inf). "
            f"Got {max_iter!r} instead."
        )
    stop = Stop() if stop is None else stop
    current = method.init(start) if state is None else state
    history: list[Info] = []
    begin, times = time.perf_counter(), []
    status: Ending = "out of steps"
    criterion = ""
    with track(description, total=max_iter) as progress:
        try:
            while len(history) < max_iter:
                current, info = method.step(current)
                history.append(info)
                times.append(time.perf_counter() - begin)
                progress(**info.computed())
                if info.is_lost():
                    status = "diverged"
                    break
                criterion = stop.met(info, history[-2] if len(history) > 1 else None)
                if criterion:
                    status = "converged"
                    break
                if callback is not None:
                    callback(current, info)
        except StopIteration:
            status, criterion = "stopped", "the callback ended the run"
        except KeyboardInterrupt:
            raise Interrupted(_run(current, history, times, status, criterion)) from None
    return _run(current, history, times, status, criterion)


def _run(
    state: State, history: list[Info], times: list[float], status: Ending, criterion: str
) -> Run[State]:
    """Gather what a run leaves behind."""
    rows = [(*(np.nan if n is None else n for n in info), t) for info, t in zip(history, times)]
    table = np.array(rows, dtype=[(name, float) for name in (*Info._fields, "seconds")])
    return Run(state, table.view(np.recarray), len(history), status, criterion)
