"""What a boosted tree and its rows are made of, as compiled loops see them.

Gradients and second derivatives enter a histogram as whole numbers: first and second derivative
and a count are three fields of one 64-bit word, so that one addition per row and feature updates
all three. Sums of whole numbers do not depend on their order; hence histograms are the same bits
for any number of threads or blocks, and siblings are subtracted without error.

A histogram has a line for every bin of every feature and for its missing values, which come last:
the sum of first derivatives, and the sum of second derivatives shifted by ``shift`` bits plus the
number of rows. Histograms lie end to end in one array, and so do the columns of bins.
"""

from typing import NamedTuple

import numpy as np

from corollary.core.jit import record

#: As many leaves as there is reason for.
MOST = 2**31
#: Answers of ``grow``, if they are not a node that waits for its rows to be taken.
DONE, FULL = -1, -2
#: Tasks of ``settle``; they may be added up.
SUM, STEP, ADD = 1, 2, 4

#: A node: the last bin on the left and the side of missing values, its children (the second follows
#: the left one), the histogram in use, which child is the smaller one (-1 if neither will be split)
#: and the open node before this one. Totals g and hc, also of the left side, are lines of
#: histograms. The gain is not positive if the node is not to be split.
NODE = record(
    np.int64,
    "feature bin missing left depth slot small next g hc g_left hc_left",
    np.float64,
    "gain low high mass",
)
#: A feature worth a split: its column, its bins, whether these are categories, its first line.
COLUMN = record(np.int64, "feature n_bins is_set line")
#: Rules of growth; scales are powers of two, those of sums for the values of leaves.
RULE = record(
    np.int64,
    "h_bits c_bits shift room min_rows max_depth max_leaves dither",
    np.float64,
    "l2 min_hessian smooth g_scale h_scale g_sums h_sums w_sums rate curb longest",
)
#: Counts of nodes and free histograms, the node whose rows are being taken (-1 for none), the rows
#: from which on a node is handed out, whether this one is, and the last open node.
STATE = record(np.int64, "n_nodes n_free pending share shared top")
#: A split of a place: the column of its feature, and where its left child is (the other follows).
MOVE = record(np.int64, "place feature child")
#: Where the rows of a node begin and end in one block, and sums of a leaf in one block.
SPAN, SUMS = record(np.int64, "start stop"), record(np.int64, "g h w")
#: A category and what it is sorted by.
RANK = record(np.int64, "bin", np.float64, "key")


class Rows(NamedTuple):
    """Training rows: bins, derivatives, these packed, and the order of rows, with room beside."""

    codes: np.ndarray
    derivatives: np.ndarray
    packed: np.ndarray
    order: np.ndarray
    aside: np.ndarray


class Plan(NamedTuple):
    """Features worth a split, those tried by node, the rules of growth, and what may interact.

    Features of one line of ``groups`` may be on one way from the root; without lines all may.
    """

    columns: np.ndarray
    tried: np.ndarray
    rule: np.ndarray
    groups: np.ndarray
    allowed: np.ndarray


class Tree(NamedTuple):
    """Nodes so far, the side of every bin, spans by block, histograms, the free ones, counts.

    ``alive`` marks, by node, the groups that hold all features on the way to it. The first
    histograms serve the blocks of a node.
    """

    nodes: np.ndarray
    sides: np.ndarray
    spans: np.ndarray
    hists: np.ndarray
    free: np.ndarray
    state: np.ndarray
    alive: np.ndarray


class Leaves(NamedTuple):
    """What settles leaves: rows by node, weights (or none); sums by block, steps, predictions."""

    nodes: np.ndarray
    spans: np.ndarray
    order: np.ndarray
    derivatives: np.ndarray
    weight: np.ndarray
    sums: np.ndarray
    steps: np.ndarray
    raw: np.ndarray
