"""Clusters are found where a valley lies between them, and only there."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from corollary.cluster import find_valley, split_at_valleys, valley_p_value
from corollary.cluster._windows import best_windows

LEVEL, RUNS = 0.05, 40


@pytest.mark.parametrize("chances", [(1, 1, 1), (3, 1, 1), (1, 2, 2), (0, 1, 4), (1, 1, 0)])
@pytest.mark.parametrize("n", [1, 6, 13])
def test_windows_of_a_unimodal_law_rarely_show_a_valley(n, chances):
    """Whatever n rows count, p is at most t with probability at most t: all counts, no draws."""
    law = multinomial(n, np.array([*chances, 2.0]) / (sum(chances) + 2))
    counts = [c for c in itertools.product(range(n + 1), repeat=3) if sum(c) <= n]
    weight = np.array([law.pmf([*c, n - sum(c)]) for c in counts])
    p = np.array([valley_p_value(*c) for c in counts])
    for t in np.unique(p):
        assert weight[p <= t].sum() <= t + 1e-12


def test_p_values_by_hand():
    assert valley_p_value(0, 0, 0) == 1.0
    assert valley_p_value(8, 0, 8) == 0.5**8
    assert valley_p_value(100, 3, 7) == pytest.approx((1 + 10 + 45 + 120) / 1024)
    assert valley_p_value(7, 3, 100) == valley_p_value(100, 3, 7)


CLEAN = {
    "gaussian": lambda rng, n: rng.normal(size=(n, 3)),
    "wide": lambda rng, n: rng.normal(size=(n, 30)),
    "uniform": lambda rng, n: rng.uniform(size=(n, 2)),
    "skewed": lambda rng, n: rng.lognormal(size=(n, 4)),
    "heavy": lambda rng, n: rng.standard_t(2, size=(n, 4)),
    "correlated": lambda rng, n: (
        rng.uniform(size=(n, 1)) @ rng.normal(size=(1, 6)) + 0.01 * rng.normal(size=(n, 6))
    ),
    "rounded": lambda rng, n: np.rint(rng.normal(3, 1.2, size=(n, 3))),
    # Two values are one step apart, and a number of rows off the lattice changes nothing.
    "two values": lambda rng, n: np.column_stack([rng.integers(0, 2, n), rng.normal(size=n)]),
    "nearly rounded": lambda rng, n: np.where(
        rng.random((n, 1)) < 0.1, rng.uniform(2, 6, (n, 1)), rng.integers(2, 7, (n, 1))
    ),
}


@pytest.mark.parametrize("name", CLEAN)
@pytest.mark.parametrize("n", [30, 240])
def test_one_hill_is_seldom_taken_for_two(name, n):
    """So many false alarms have a probability under 1e-6 at the stated level."""
    rng = np.random.default_rng(5)
    alarms = sum(
        find_valley(CLEAN[name](rng, n), random_state=run).p_value <= LEVEL for run in range(RUNS)
    )
    assert binom.sf(alarms - 1, RUNS, LEVEL) > 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_windows_are_apart_and_equally_wide(seed):
    """The exact p-value rests on it; the clearest of all such windows is taken."""
    rng = np.random.default_rng(seed)
    # Narrow hills: the windows that count most would lie partly in the valley.
    values = rng.choice([0.0, 0.3, 1.0], 80) + rng.uniform(0, 0.02, 80) + 0.1 * rng.random(80) ** 3
    score, edges = best_windows(values)
    low, high = np.quantile(values, [0.01, 0.99])
    cell, starts = (high - low) / 96, edges[::2]
    width = edges[1] - edges[0]
    np.testing.assert_allclose(edges[1::2] - starts, width)
    assert (np.diff(starts) > width - 1e-9).all()
    cells = np.histogram(values, bins=96, range=(low, high))[0]
    brute = -np.inf
    for w in (4, 6, 9, 14, 20, 28):
        counts = np.array([cells[i : i + w].sum() for i in range(97 - w)])
        for middle in range(w, len(counts) - w):
            hill = min(counts[: middle - w + 1].max(), counts[middle + w :].max())
            brute = max(brute, (hill - counts[middle]) / max(hill + counts[middle], 1) ** 0.5)
    assert score == pytest.approx(brute)
    assert round(width / cell) in (4, 6, 9, 14, 20, 28)


# Around nearly empty cells the rows are the denser, the nearer they lie: windows of four cells are
# fullest where they reach into the valley. Four full cells on either side of a wide one are simple.
NARROW = [1, 3, 5, 7, 10, 10, 13, 14, 18, 19, 20, 0, 2, 1, 22, 18, 16, 15, 12, 11, 9, 6, 4, 4]
WIDE = [20] * 4 + [0] * 40 + [20] * 4


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (NARROW, [38, 42, 42, 46, 46, 50]),
        (NARROW[::-1], [38, 42, 42, 46, 46, 50]),
        (WIDE, [32, 36, 36, 40, 76, 80]),  # of equally empty middles the first
    ],
)
def test_each_side_of_a_valley_has_its_fullest_window(cells, expected):
    """It may touch the valley's window, and no cell may belong to both."""
    rows = np.repeat(32.5 + np.arange(len(cells)), cells)
    values = np.concatenate([rows, np.repeat([0.0, 96.0], len(rows) // 20)])
    np.testing.assert_allclose(best_windows(values)[1], expected)


def _blobs(rng, sizes, centres):
    parts = [rng.normal(size=(k, len(c))) + c for k, c in zip(sizes, centres)]
    return np.vstack(parts), np.repeat(np.arange(len(sizes)), sizes)


def _agree(found, truth):
    table = np.zeros((found.max() + 1, truth.max() + 1))
    np.add.at(table, (found, truth), 1)
    return table.max(axis=0).sum() / len(truth) if len(table) == table.shape[1] else 0.0


@pytest.mark.parametrize(
    ("sizes", "centres"),
    [
        ((100, 60), [(0, 0, 0), (0, 6, 0)]),
        ((100, 90, 80), [(0, 0), (7, 0), (0, 7)]),
        ((150, 120), [(0,) * 30, (1.6,) * 30]),  # apart along no column alone
    ],
)
def test_separated_clusters_are_found_and_cut(sizes, centres):
    rng = np.random.default_rng(1)
    X, truth = _blobs(rng, sizes, centres)
    order = rng.permutation(len(X))
    found = split_at_valleys(X[order], random_state=0)
    assert found.p_value < 1e-4
    assert found.n_clusters == len(sizes)
    assert _agree(found.labels, truth[order]) > 0.97
    assert (np.diff(np.bincount(found.labels)) <= 0).all()  # the largest first


def test_power_at_a_stated_distance():
    """Centres six spreads apart, 40 rows each: shown in most draws, by either half."""
    shown = 0
    for run in range(20):
        X, _ = _blobs(np.random.default_rng(run), (40, 40), [(0, 0), (6, 0)])
        shown += find_valley(X, random_state=run).p_value <= LEVEL
    assert shown >= 15


def test_a_valley_across_correlated_columns():
    """The largest spread has no valley; two thin layers beside each other do."""
    rng = np.random.default_rng(2)
    t, side = rng.normal(size=300), np.repeat([0, 1], 150)
    X = np.column_stack([t, t + 0.4 * side]) + 0.03 * rng.normal(size=(300, 2))
    assert find_valley(X, random_state=0).p_value < 1e-6
    assert find_valley(X[:150], random_state=0).p_value > LEVEL


def test_units_of_columns_do_not_matter_and_constants_do_not_hurt():
    X, _ = _blobs(np.random.default_rng(3), (60, 60), [(0, 0), (8, 8)])
    moved = np.column_stack([X * [1e6, 1e-6] + [5, 3], np.full(120, 7.0)])
    first, second = (find_valley(rows, random_state=0) for rows in (X, moved))
    assert second.counts == first.counts
    assert first.p_value == 2 * valley_p_value(*first.counts)  # either half may have shown it
    assert second.p_value == first.p_value
    assert find_valley(np.ones((40, 2)), random_state=0).p_value == 1.0


def test_few_rows_show_nothing_and_many_are_drawn():
    two = np.repeat([[0.0], [100.0]], 10, axis=0) + np.arange(20)[:, None] * 1e-3
    assert split_at_valleys(two, random_state=0).n_clusters == 1
    assert find_valley(two[:1], random_state=0).p_value == 1.0
    X, _ = _blobs(np.random.default_rng(4), (3000, 3000), [(0,), (9,)])
    assert sum(find_valley(X, max_rows=100, random_state=0).counts) <= 50
    assert len(split_at_valleys(X, max_rows=100, random_state=0).labels) == 6000


def test_same_seed_same_answer_and_at_most_so_many_clusters():
    X, _ = _blobs(np.random.default_rng(6), (80, 80, 80), [(0, 0), (9, 0), (0, 9)])
    first, second = (split_at_valleys(X, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.labels, second.labels)
    assert split_at_valleys(X, max_clusters=2, random_state=3).n_clusters == 2
    assert split_at_valleys(X, max_clusters=1, random_state=3).p_value == 1.0
