import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corollary.core.training import bucket, draw_batches, pad_rows


@given(n=st.integers(1, 10**7), minimum=st.integers(1, 2000))
def test_buckets_are_large_enough_few_and_not_wasteful(n, minimum):
    size = bucket(n, minimum=minimum)
    assert size >= n
    assert size <= max(minimum, np.sqrt(2) * n + 1)
    assert bucket(size, minimum=minimum) == size


@given(
    n=st.integers(1, 40),
    batch_size=st.integers(1, 50),
    seed=st.integers(0, 2**31),
    cut=st.integers(1, 30),
)
def test_every_epoch_visits_every_row_once_however_it_is_cut(n, batch_size, seed, cut):
    weight = np.random.default_rng(seed).uniform(0.1, 1, n)
    n_batches = -(-n // batch_size)
    total = 3 * n_batches
    whole = draw_batches(seed, weight, batch_size, 0, total, total)
    epochs = whole.rows.reshape(3, -1)
    for epoch in epochs:
        assert sorted(epoch[epoch < n]) == list(range(n))
        assert np.all(epoch[epoch >= n] == n)
    np.testing.assert_allclose(whole.share.reshape(3, -1).sum(axis=1), 1, rtol=1e-5)
    assert whole.last.tolist() == ([False] * (n_batches - 1) + [True]) * 3
    cut = min(cut, total)
    first = draw_batches(seed, weight, batch_size, 0, cut, total)
    np.testing.assert_array_equal(first.rows[:cut], whole.rows[:cut])
    if cut < total:
        second = draw_batches(seed, weight, batch_size, cut, total - cut, total)
        np.testing.assert_array_equal(second.rows[: total - cut], whole.rows[cut:])
        np.testing.assert_array_equal(second.last[: total - cut], whole.last[cut:])


def test_orders_are_new_in_every_epoch_and_for_every_seed():
    def order(seed, epoch):
        return draw_batches(seed, np.ones(50), 10, 5 * epoch, 5, 5).rows.ravel().tolist()

    orders = [order(seed, epoch) for seed in range(3) for epoch in range(3)]
    assert len({tuple(o) for o in orders}) == 9
    # Weights do not enter the order.
    assert draw_batches(0, np.arange(1.0, 51), 10, 0, 5, 5).rows.ravel().tolist() == orders[0]


def test_padding_copies_a_real_row_with_weight_zero():
    padded = pad_rows({"x": np.array([[3.0], [4.0]]), "weight": np.ones(2)}, 4)
    assert padded["x"].tolist() == [[3.0], [4.0], [3.0], [3.0]]
    assert padded["weight"].tolist() == [1, 1, 0, 0]
