"""A row for the test of the tool: which of its faults live and which die is known."""

from types import FunctionType

from tests.mutants.rows import Row

FILE = "tests/mutants/toy.py"


def radius(n_samples: int, delta: float) -> float:
    """Return a number whose tests forget that a large delta has a rule of its own."""
    if n_samples < 1:
        raise ValueError(f"radius needs n_samples of at least 1. Got {n_samples}: pass more rows.")
    if delta > 0.5:
        return _half(3.0)
    return _half(3 * n_samples)


def forgotten() -> float:
    """Return a number that no test asks for."""
    return 2.0


def _half(value: float) -> float:
    return value / 2


def test_value():
    assert radius(4, 0.1) == 6.0


def test_never_negative():
    assert radius(1, 0.1) >= 0


def test_that_fails():
    assert radius(4, 0.1) == 5.0


def row(test: str) -> Row:
    """Return the row with one of these tests."""
    functions: dict[str, FunctionType] = {
        f"{f.__module__}.{f.__qualname__}": f for f in (radius, forgotten, _half)
    }
    called = frozenset(name for name in functions if "_half" not in name)
    return Row(
        f"toy.{test}", "BOUND", (f"{FILE}::{test}",), functions, called, *[frozenset()] * 2, ()
    )
