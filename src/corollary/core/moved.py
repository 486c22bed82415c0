"""Names that have moved to another package: the old place says the new one."""

from collections.abc import Callable
from typing import Any


def refuse_moved(package: str, homes: dict[str, str]) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a package some names of which have moved.

    Examples
    --------
    >>> from corollary.core.moved import refuse_moved
    >>> refuse_moved("corollary.theory", {"certify": "corollary.certificates.certify"})("certify")
    Traceback (most recent call last):
        ...
    ImportError: corollary.theory.certify has moved; use corollary.certificates.certify.
    """

    def find(name: str) -> Any:
        if name in homes:
            raise ImportError(f"{package}.{name} has moved; use {homes[name]}.")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find
