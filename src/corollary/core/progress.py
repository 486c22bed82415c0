"""Progress on long work: one interface for everything that takes time.

Code that works in steps writes::

    with track("fitting", total=n_steps) as step:
        for i in range(n_steps):
            ...
            step(loss=value)

On a terminal this draws a bar on standard error; elsewhere it is silent. A caller that wants to
show progress its own way (the command line's stage display does) installs a listener with
:func:`listen`; nested work then reports to it instead of drawing bars of its own.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Protocol


class Step(Protocol):
    """Called after each unit of work."""

    def __call__(self, advance: float = 1, **numbers: float) -> None:
        """Record progress."""


Listener = Callable[[str, float | None], AbstractContextManager[Step]]

_listener: ContextVar[Listener | None] = ContextVar("corollary_progress_listener", default=None)


def track(description: str, total: float | None = None) -> AbstractContextManager[Step]:
    """Announce a piece of work and get the function to call after each of its steps.

    Examples
    --------
    >>> from corollary.core.progress import track
    >>> with track("counting", total=3) as step:
    ...     for _ in range(3):
    ...         step()
    """
    listener = _listener.get()
    if listener is not None:
        return listener(description, total)
    if sys.stderr is not None and sys.stderr.isatty():
        return _draw(description, total)
    return _silent()


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Send the progress of everything inside the block to ``listener``."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def silence(description: str = "", total: float | None = None) -> AbstractContextManager[Step]:
    """Listen without showing anything: pass it to :func:`listen`."""
    return _silent()


@contextmanager
def _silent() -> Iterator[Step]:
    yield lambda advance=1, **numbers: None


@contextmanager
def _draw(description: str, total: float | None) -> Iterator[Step]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[numbers]}"),
        TimeElapsedColumn(),
    ]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=total, numbers="")
        # A bar inside a bar would fight for the same terminal line: inner work stays silent.
        token = _listener.set(silence)
        try:

            def step(advance: float = 1, **numbers: float) -> None:
                text = "  ".join(f"{name} {value:.4g}" for name, value in numbers.items())
                bar.update(task, advance=advance, numbers=text)

            yield step
        finally:
            _listener.reset(token)
