"""Histograms of derivatives: against plain sums, and the same bits however rows are cut."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.core.summary import reduce, slice_rows
from corollary.ensemble import GradientHistogram
from corollary.ensemble._loops.records import SPAN
from corollary.tree import find_bins


def rows(seed, n):
    rng = np.random.default_rng(seed)
    X = np.stack([rng.integers(0, 5, n), rng.normal(size=n).round(1), np.ones(n)], axis=1)
    X[rng.random(n) < 0.2, 1] = np.nan
    bins = find_bins(X)
    derivatives = np.stack([rng.normal(size=n), rng.uniform(0.1, 2.0, n)], axis=1)
    nodes = rng.integers(0, 6, n).astype(np.int32)
    codes = np.asfortranarray(np.minimum(bins.transform(X), bins.n_bins.astype(np.uint8)))
    return bins, codes, derivatives, nodes


def histogram_of(bins, derivatives, nodes):
    peaks = np.abs(derivatives).max(axis=0)
    return GradientHistogram.of(bins, n_rows=len(derivatives), peaks=tuple(peaks), nodes=nodes)


@pytest.mark.parametrize("n", [200, 40_000])
def test_sums_are_those_of_the_rows(seed, n):
    bins, codes, derivatives, nodes = rows(seed, n)
    histogram = histogram_of(bins, derivatives, [4, 1])
    learnt = np.flatnonzero(np.arange(n) % 3).astype(np.uint32)
    total = reduce(histogram, (codes, histogram.pack(derivatives, rows=learnt), nodes))
    assert total.columns["feature"].tolist() == [0, 1]  # the third has one value
    for node in (4, 1):
        for feature in (0, 1):
            sums = np.zeros((int(bins.n_bins[feature]) + 1, 3))
            mine = learnt[nodes[learnt] == node]
            np.add.at(sums, codes[mine, feature], np.c_[derivatives[mine], np.ones(len(mine))])
            gradient, hessian, count = total.read(node, feature)
            np.testing.assert_array_equal(count, sums[:, 2])
            # A row is rounded by less than a unit, with a standard deviation of at most a half.
            room = 3.0 * np.sqrt(len(mine))
            for sum_, exact, unit in zip((gradient, hessian), sums.T, ("g_scale", "h_scale")):
                assert np.abs(sum_ - exact).max() <= room * total.rule[0][unit]


@given(cuts=st.lists(st.integers(0, 3000), max_size=6), threads=st.integers(1, 3))
def test_any_cut_of_rows_gives_the_same_bits(cuts, threads):
    bins, codes, derivatives, nodes = rows(0, 3000)
    histogram = histogram_of(bins, derivatives, [0, 2, 5])
    words = histogram.pack(derivatives)
    whole = histogram.update((codes, words, nodes))
    ends = sorted({0, 3000, *cuts})
    parts = []
    for a, b in itertools.pairwise(ends):
        packed = histogram.pack(derivatives[a:b], first=a)
        np.testing.assert_array_equal(packed, words[a:b])
        parts.append((codes[a:b], packed, nodes[a:b]))
    np.testing.assert_array_equal(reduce(histogram, parts, n_jobs=threads).sums, whole.sums)
    merged = histogram
    for part in reversed(parts):  # whole numbers have no order
        merged = histogram.update(part).merge(merged)
    np.testing.assert_array_equal(merged.sums, whole.sums)


def test_a_node_less_one_child_is_the_other(seed):
    bins, codes, derivatives, nodes = rows(seed, 2000)
    below = histogram_of(bins, derivatives, [0, 1])
    words = below.pack(derivatives)
    children = below.update((codes, words, nodes % 2))
    above = histogram_of(bins, derivatives, [0])
    parent = above.update((codes, words, np.zeros(2000, dtype=np.int32)))
    np.testing.assert_array_equal(parent.sums[0] - children.sums[0], children.sums[1])


def test_grouped_rows_are_the_rows(seed):
    bins, codes, derivatives, nodes = rows(seed, 500)
    histogram = histogram_of(bins, derivatives, [3])
    words = histogram.pack(derivatives)
    mine = np.flatnonzero(nodes == 3).astype(np.uint32)
    spans = np.zeros(4, dtype=SPAN)
    spans[3] = 0, len(mine)
    grouped = histogram.update_grouped(codes, words, mine[::-1].copy(), spans)
    np.testing.assert_array_equal(grouped.sums, histogram.update((codes, words, nodes)).sums)


def test_rounding_has_no_systematic_error(seed):
    n = 100_000
    bins, _, _, _ = rows(seed, 100)
    histogram = GradientHistogram.of(bins, n_rows=n, peaks=(1.0, 1.0), nodes=[0])
    derivatives = np.full((n, 2), 0.3 + 1e-4)
    words = histogram.pack(derivatives)
    rule = histogram.rule[0]
    gradient = (words >> (rule["h_bits"] + rule["c_bits"])) * rule["g_scale"]
    assert abs(gradient - derivatives[:, 0]).max() <= rule["g_scale"]
    assert abs(gradient.mean() - derivatives[0, 0]) < 1e-3 * rule["g_scale"]


def test_sums_start_from_what_there_is(seed):
    bins, codes, derivatives, nodes = rows(seed, 300)
    histogram = histogram_of(bins, derivatives, [0, 1, 2])
    data = codes, histogram.pack(derivatives), nodes
    start = histogram.update(slice_rows(data, 0, 100))
    total = reduce(start, slice_rows(data, 100, 300))
    np.testing.assert_array_equal(total.sums, histogram.update(data).sums)
