"""Compiled sums of absolute deviations from running medians.

Targets are ranks of ``levels``, the distinct targets in ascending order. A Fenwick tree over the
ranks holds the weights and weighted targets of the rows that have come in, so that the median of
them is found, and a row is added, in logarithmic time.
"""

from typing import NamedTuple

import numpy as np

from corollary.core.jit import part, record

#: Sums over some ranks.
SUMS = record(np.float64, "weight total")


class Medians(NamedTuple):
    """Distinct targets, a Fenwick tree of them (left empty), losses left and right of cuts."""

    levels: np.ndarray
    fenwick: np.ndarray
    left: np.ndarray
    right: np.ndarray


@part
def _enter(fenwick, rank, weight, total):
    """Add a row to the sums."""
    j = rank + 1
    while j < len(fenwick):
        fenwick[j].weight += weight
        fenwick[j].total += total
        j += j & -j


@part
def _leave(fenwick, rank):
    """Empty all sums that rows of a rank are in."""
    j = rank + 1
    while j < len(fenwick):
        fenwick[j].weight = fenwick[j].total = 0.0
        j += j & -j


@part
def _least_loss(levels, fenwick, weight, total):
    """Return the sum of w |y - c| at the median c of all rows, whose sums are given."""
    below, weight_below, total_below, jump = 0, 0.0, 0.0, 1
    while 2 * jump <= len(levels):
        jump *= 2
    while jump > 0:
        above = below + jump
        if above <= len(levels) and 2.0 * (weight_below + fenwick[above].weight) < weight:
            below = above
            weight_below += fenwick[below].weight
            total_below += fenwick[below].total
        jump //= 2
    c = levels[min(below, len(levels) - 1)]
    return total - 2.0 * total_below + c * (2.0 * weight_below - weight)


@part
def running_losses(losses, medians, rows, places, present, missing, backwards):
    """Write into losses[k] the least sum of w |y - c| over the first k places, or the last k.

    Places from ``present`` on, those without a value, come in before: as many as ``missing`` says.
    """
    levels, fenwick = medians.levels, medians.fenwick
    all_weight = all_total = 0.0
    losses[0] = 0.0
    for step in range(-missing, present):
        row = rows[places[present - 1 - step if backwards or step < 0 else step].entry]
        rank = np.int64(row.target)
        weighted = row.weight * levels[rank]
        all_weight += row.weight
        all_total += weighted
        _enter(fenwick, rank, row.weight, weighted)
        if step >= -1:
            losses[step + 1] = _least_loss(levels, fenwick, all_weight, all_total)
    for i in range(present + missing):
        _leave(fenwick, np.int64(rows[places[i].entry].target))
