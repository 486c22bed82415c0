r"""Histograms of gradient boosting: sums of derivatives by node, feature and bin, as a summary.

Derivatives enter as whole numbers. First derivative, second derivative and a count of 1 are three
fields of one 64-bit word, so that one addition per row and feature updates all three; the fields of
up to 16,383 words cannot overflow, and then they are added to a line of two sums: that of first
derivatives, and that of second derivatives shifted by some bits plus the number of rows. Sums of
whole numbers have no order. So the histogram of rows is the same, bit by bit, for any threads, any
batches of a file and any partitions of a cluster, and that of a node less that of one child is that
of the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from corollary.core.summary import Chunk, Summary
from corollary.ensemble.boosting._layout import (
    DITHER_ABOVE,
    as_read,
    divide_word,
    lay_out,
    scale_of,
    width_of,
)
from corollary.tree import Bins


@dataclass(frozen=True, eq=False)
class GradientHistogram(Summary):
    """Sums of first and second derivatives and counts of rows, by node, feature and bin.

    A chunk is ``(codes, words, nodes)``: the bins of rows, their derivatives as :meth:`pack` writes
    them (0 for rows that are left out), and the node of each row. Rows of other nodes are not
    counted.

    Parameters
    ----------
    columns : ndarray of records
        Features worth a split.
    rule : ndarray of records of shape (1,)
        How derivatives are written.
    slots : ndarray of int64 of shape (n_nodes,)
        For every node its row of ``sums``, or -1.
    sums : ndarray of int64 of shape (n_slots, width)
        Histograms, two numbers for every bin.

    Notes
    -----
    Guarantee: the sums are the same bits for any cut of the rows; checked by
    ``tests/ensemble/test_gradient_boosting_histogram.py::test_any_cut_of_rows_gives_the_same_bits``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.core.summary import reduce
    >>> from corollary.ensemble import GradientHistogram
    >>> from corollary.tree import find_bins
    >>> X = np.array([[1.0], [2.0], [1.0], [2.0]])
    >>> derivatives = np.array([[0.5, 1.0], [-0.25, 1.0], [0.5, 1.0], [0.75, 1.0]])
    >>> bins, nodes = find_bins(X), np.array([0, 0, 0, 1], dtype=np.int32)
    >>> histogram = GradientHistogram.of(bins, n_rows=4, peaks=(0.75, 1.0), nodes=[0, 1])
    >>> chunk = bins.transform(X), histogram.pack(derivatives), nodes
    >>> gradient, hessian, count = reduce(histogram, chunk).read(node=0, feature=0)
    >>> gradient.round(6), count
    (array([ 1.  , -0.25,  0.  ]), array([2, 1, 0]))
    """

    columns: np.ndarray
    rule: np.ndarray
    slots: np.ndarray
    sums: np.ndarray

    @classmethod
    def of(
        cls, bins: Bins, *, n_rows: int, peaks: tuple[float, float], nodes: Sequence[int]
    ) -> Self:
        """Return an empty histogram.

        Parameters
        ----------
        bins : Bins
            Bins of all features.
        n_rows : int
            Most rows that will be counted.
        peaks : tuple of float
            Largest absolute first and second derivative.
        nodes : sequence of int
            Nodes whose rows are counted.

        Returns
        -------
        histogram : GradientHistogram
            Without rows.
        """
        from corollary.ensemble._loops.records import RULE

        word, rule = divide_word(n_rows), np.zeros(1, dtype=RULE)
        for name in ("room", "c_bits", "h_bits", "shift"):
            rule[name] = getattr(word, name)
        rule["dither"] = n_rows > DITHER_ABOVE
        rule["g_scale"] = 1.0 / scale_of(word.g_limit, peaks[0])
        rule["h_scale"] = 1.0 / scale_of(word.h_limit, peaks[1])
        slots = np.full(max(nodes, default=-1) + 1, -1, dtype=np.int64)
        slots[list(nodes)] = np.arange(len(nodes))
        return cls.over(lay_out(bins), rule, slots)

    @classmethod
    def over(cls, columns: np.ndarray, rule: np.ndarray, slots: np.ndarray) -> Self:
        """Return an empty histogram of this layout.

        Parameters
        ----------
        columns : ndarray of records
            Features worth a split.
        rule : ndarray of records of shape (1,)
            How derivatives are written.
        slots : ndarray of int64 of shape (n_nodes,)
            For every node its row of ``sums``, or -1.

        Returns
        -------
        histogram : GradientHistogram
            Without rows.
        """
        shape = int(slots.max(initial=-1)) + 1, width_of(columns)
        return cls(columns, rule, slots, np.zeros(shape, dtype=np.int64))

    def pack(
        self, derivatives: np.ndarray, *, rows: np.ndarray | None = None, first: int = 0
    ) -> np.ndarray:
        """Write derivatives as words, rounded to whole numbers.

        Parameters
        ----------
        derivatives : ndarray of shape (n_samples, 2)
            First and second derivatives of consecutive rows.
        rows : ndarray of uint32 or None, default=None
            Those that are learnt from; None for all.
        first : int, default=0
            Rows before these ones. The direction of rounding depends on the position of a row.

        Returns
        -------
        words : ndarray of int64 of shape (n_samples,)
            The words; 0 for rows that are left out.
        """
        from corollary.ensemble._loops.rows import pack

        if rows is None:
            rows = np.arange(len(derivatives), dtype=np.uint32)
        words = np.zeros(len(derivatives), dtype=np.int64)
        pack(derivatives, rows, first, self.rule, words)
        return words

    def empty(self) -> Self:
        """Return the histogram of no rows, of the same nodes."""
        return replace(self, sums=np.zeros_like(self.sums))

    def update(self, chunk: Chunk) -> Self:
        """Add rows ``(codes, words, nodes)``."""
        from corollary.ensemble._loops.records import SPAN

        codes, words, nodes = chunk
        order = np.argsort(nodes, kind="stable")
        ends = np.searchsorted(nodes[order], np.arange(len(self.slots) + 1))
        spans = np.zeros(len(self.slots), dtype=SPAN)
        spans["start"], spans["stop"] = ends[:-1], ends[1:]
        return self.update_grouped(codes, words, order.astype(np.uint32), spans)

    def update_grouped(
        self, codes: np.ndarray, words: np.ndarray, order: np.ndarray, spans: np.ndarray
    ) -> Self:
        """Add rows that are in the order of their nodes.

        Parameters
        ----------
        codes : ndarray of uint8 of shape (n_samples, n_features)
            Bins, or the columns of these end to end.
        words : ndarray of int64 of shape (n_samples,)
            Derivatives.
        order : ndarray of uint32
            Numbers of rows.
        spans : ndarray of records of shape (n_nodes,)
            Where the rows of each node ``start`` and ``stop`` in the order.

        Returns
        -------
        histogram : GradientHistogram
            With these rows.
        """
        from corollary.ensemble._loops.rows import tally

        flat = as_read(np.ravel(codes, order="F"))
        work = np.zeros(512 + min(len(words), int(self.rule["room"][0])), dtype=np.int64)
        sums = self.sums.copy()
        tally(flat, words, order, spans, self.slots, self.columns, self.rule, work, sums)
        return replace(self, sums=sums)

    def merge(self, other: Self) -> Self:
        """Add the rows of another."""
        return replace(self, sums=self.sums + other.sums)

    def read(self, node: int, feature: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the sums of a node by bins of a feature.

        Parameters
        ----------
        node : int
            One of the nodes.
        feature : int
            A feature that has more than one value.

        Returns
        -------
        gradient : ndarray of shape (n_bins + 1,)
            Sums of first derivatives; the last is that of rows whose value is missing.
        hessian : ndarray of shape (n_bins + 1,)
            Sums of second derivatives.
        count : ndarray of int64 of shape (n_bins + 1,)
            Rows.
        """
        column = self.columns[self.columns["feature"] == feature][0]
        stop = column["line"] + 2 * (column["n_bins"] + 1)
        lines = self.sums[self.slots[node], column["line"] : stop].reshape(-1, 2)
        shift = self.rule["shift"][0]
        gradient, hessian = lines[:, 0] * self.rule["g_scale"], lines[:, 1] >> shift
        return gradient, hessian * self.rule["h_scale"], lines[:, 1] & ((1 << int(shift)) - 1)
