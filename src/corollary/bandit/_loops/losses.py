"""Losses of the arms.

A loss matrix is never stored: entry (t, i) is a function of a key, the round and the arm, so that
any entry can be asked for at any time and threads cannot change it.
"""

import numpy as np

from corollary.bandit._loops.records import COIN, NO_NOISE
from corollary.core.draws import bits_at, normal, scramble, unit
from corollary.core.jit import jit, part

# Other bits for the same entry.
OTHER = np.uint64(0x9E3779B97F4A7C15)


@part
def mean_of(arms, t, i):
    """Return the mean loss of an arm in round t, counted from 0."""
    table, rows = arms.table, arms.table.shape[0]
    if rows == 1:
        return table[0, i]
    block = t // arms.segment
    row = block % rows
    if not arms.blend:
        return table[row, i]
    share = (t - block * arms.segment) / arms.segment
    return (1.0 - share) * table[row, i] + share * table[(row + 1) % rows, i]


@part
def loss_of(arms, key, t, i, mean):
    """Return an entry of the loss matrix; a pure function of its arguments."""
    if arms.noise == NO_NOISE:
        return mean
    entry = np.uint64(t) * np.uint64(arms.table.shape[1]) + np.uint64(i)
    bits = bits_at(key, entry)
    if arms.noise == COIN:
        return 1.0 if unit(bits) < mean else 0.0
    radius = np.sqrt(-2.0 * np.log(1.0 - unit(bits)))
    return mean + arms.scale * radius * np.cos(2.0 * np.pi * unit(scramble(bits ^ OTHER)))


@jit(counted=False)
def loss_block(arms, key, start, out):
    """Write the losses of all arms in the rounds from ``start`` on, one row each."""
    for t in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[t, i] = loss_of(arms, key, start + t, i, mean_of(arms, start + t, i))


@jit(counted=False)
def column_totals(arms, key, start, stop, totals):
    """Add the losses of all arms in rounds [start, stop) to ``totals``."""
    for t in range(start, stop):
        for i in range(totals.shape[0]):
            totals[i] += loss_of(arms, key, t, i, mean_of(arms, t, i))


@part
def draw_context(key, t, context, stream):
    """Write the context of round t, uniform on the unit sphere; leave a stream for its noise."""
    stream[0] = bits_at(key, t)
    square = 0.0
    for a in range(context.shape[0]):
        context[a] = normal(stream)
        square += context[a] * context[a]
    scale = 1.0 / np.sqrt(max(square, 1e-300))
    for a in range(context.shape[0]):
        context[a] *= scale


@jit(counted=False)
def context_block(key, start, stream, out):
    """Write the contexts of the rounds from ``start`` on, one row each."""
    for t in range(out.shape[0]):
        draw_context(key, start + t, out[t], stream)
