import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.neural._ensemble import PREDICTION_ROWS, ensemble_outputs
from corollary.neural._validation import disjoint_rows
from corollary.neural.mlp import apply_mlp, init_mlp


@given(
    counts=st.lists(st.integers(1, 60), min_size=1, max_size=4),
    fraction=st.sampled_from([0.1, 0.2, 0.5]),
    seed=st.integers(0, 1000),
)
def test_held_out_parts_are_disjoint_and_stratified(counts, fraction, seed):
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    period = round(1 / fraction)
    parts = [disjoint_rows(y, fraction, m, seed, discrete=True) for m in range(period)]
    joined = np.concatenate(parts)
    assert len(set(joined.tolist())) == len(joined)
    for part in parts:
        assert len(part) != 1
        if not len(part):
            continue
        held = np.bincount(y[part], minlength=len(counts))
        assert np.all(held < counts), "every class must be left to learn from"
        assert np.all(np.abs(held - np.array(counts) * fraction) <= 1)
    if sum(c for c in counts if c > 1) >= 2 * period:
        assert len(joined) == sum(c for c in counts if c > 1)


def test_more_members_than_parts_get_new_parts():
    y = np.zeros(100, int)
    parts = [tuple(disjoint_rows(y, 0.5, m, 0, discrete=True)) for m in range(6)]
    assert len(set(parts)) == 6


def test_numeric_targets_are_spread():
    y = np.random.default_rng(0).exponential(size=200)
    for member in range(10):
        rows = disjoint_rows(y, 0.1, member, 0, discrete=False)
        ranks = np.sort(np.argsort(np.argsort(y))[rows])
        assert ranks.tolist() == list(range(member, 200, 10))
    two = disjoint_rows(np.column_stack([y, y]), 0.1, 0, 0, discrete=False)
    assert len(two) == 20


@pytest.mark.parametrize("n", [1, PREDICTION_ROWS - 1, PREDICTION_ROWS + 1])
def test_outputs_in_blocks_equal_outputs_at_once(n):
    networks = [init_mlp([3, 4, 2], random_state=i) for i in range(3)]
    X = np.random.default_rng(0).normal(size=(n, 3))
    outputs = ensemble_outputs(networks, X, "relu")
    assert outputs.shape == (3, n, 2)
    for member, network in enumerate(networks):
        double = [array.astype(np.float64) for array in network]
        np.testing.assert_allclose(outputs[member], apply_mlp(double, X), rtol=1e-12)
