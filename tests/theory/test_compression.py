"""The compression bound at sizes where factorials lose their digits."""

import math

import pytest

from corollary.theory import compression_bound


@pytest.mark.parametrize("n", [50, 10**6, 10**12, 10**18])
@pytest.mark.parametrize("size", [0, 1, 7])
def test_number_of_sets_is_exact(n, size):
    price = (math.log(math.comb(n, size)) + math.log(n) + math.log(20)) / (n - size)
    assert compression_bound(n, size, 0.05) == pytest.approx(-math.expm1(-price), rel=1e-9)


def test_every_row_needed_or_wrong_proves_nothing():
    assert compression_bound(5, 5, 0.05) == 1
    assert compression_bound(5, 2, 0.05, errors=3) == 1
    with pytest.raises(ValueError, match=r"size <= n_samples and errors"):
        compression_bound(5, 6, 0.05)
