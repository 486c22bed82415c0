"""Certificate: a frozen record of one computed guarantee.

A certificate says one thing about one population, with its probability and its assumptions, and
is valid on its own. What is bounded is a :class:`Quantity`, of which rows it speaks a
:class:`Population`, what must be true for it a tuple of :class:`Assumption`; sentences are made
from them when they are asked for. The record lies in core because a model may carry one, such as a
network that was trained to minimise its bound; theorems and :func:`corollary.certify` lie in
``corollary.certificates``.

Numbers in sentences are rounded outwards (an upper bound up, a lower bound down), so that no text
claims more than was proved.
"""

from corollary.core.certificate._assumption import Assumption, Subject, merge_assumptions
from corollary.core.certificate._numbers import (
    Direction,
    format_confidence,
    format_number,
    format_share,
)
from corollary.core.certificate._quantity import Quantity
from corollary.core.certificate._record import Certificate
from corollary.core.population import Population

__all__ = [
    "Assumption",
    "Certificate",
    "Direction",
    "Population",
    "Quantity",
    "Subject",
    "format_confidence",
    "format_number",
    "format_share",
    "merge_assumptions",
]
