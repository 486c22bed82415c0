"""Random numbers inside compiled loops: parts that draw from a stream.

A stream is an array of one unsigned 64-bit number, which each draw advances (SplitMix64): cheap,
the same on every machine, and a stream of its own for each repetition makes results independent of
the number of threads. ``uniform``, ``normal``, ``gamma`` and ``beta`` draw from the laws of these
names; ``bits_at`` computes any entry of a stream without the others, ``scramble`` mixes 64 bits,
and ``unit`` turns them into a number in [0, 1).
"""

from corollary.core._loops.random import beta as beta
from corollary.core._loops.random import bits_at as bits_at
from corollary.core._loops.random import gamma as gamma
from corollary.core._loops.random import gamma_spread as gamma_spread
from corollary.core._loops.random import normal as normal
from corollary.core._loops.random import scramble as scramble
from corollary.core._loops.random import uniform as uniform
from corollary.core._loops.random import unit as unit
