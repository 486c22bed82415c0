import math

import numpy as np
import pytest
from scipy.stats import binom

from corollary.certificates import Quantity, error_quantile_certificate, hoeffding_certificate
from corollary.theory import rows_needed


def brute_force(target, empirical, delta):
    n = 1
    while binom.cdf(math.ceil(n * empirical - 1e-9), n, target) > delta:
        n += 1
    return n


@pytest.mark.parametrize(
    ("target", "empirical"), [(0.01, 0.0), (0.5, 0.0), (0.022, 2 / 143), (0.3, 0.25), (0.9, 0.5)]
)
def test_rows_needed_is_the_smallest_number(target, empirical):
    assert rows_needed(target, empirical, delta=0.05) == brute_force(target, empirical, 0.05)


def test_rows_needed_reaches_large_numbers_quickly():
    n = int(rows_needed(0.1001, 0.1, delta=0.05))
    assert 10**7 < n < 10**8
    assert binom.cdf(math.ceil(n * 0.1 - 1e-9), n, 0.1001) <= 0.05


def test_rows_needed_ends():
    assert rows_needed(1.0, 0.5) == 1.0
    assert rows_needed(0.1, 0.1) == math.inf
    assert rows_needed(0.1, 0.1, method="hoeffding") == math.inf
    assert rows_needed(0.2, 0.1, method="hoeffding") == math.ceil(math.log(20) / 0.02)
    assert rows_needed(2.0, 1.0, method="hoeffding", high=10) == math.ceil(100 * math.log(20) / 2)
    with pytest.raises(ValueError, match="must be an error rate"):
        rows_needed(0.5, -1.0)
    with pytest.raises(ValueError, match="'method' parameter of rows_needed"):
        rows_needed(0.5, method="magic")


def test_bounded_loss_with_its_own_range():
    quantity = Quantity("mean of min(|error|, 10)", 0.0, 10.0, None)
    certificate = hoeffding_certificate(2.0, 100, confidence=0.9, quantity=quantity)
    assert certificate.bound == pytest.approx(2 + 10 * math.sqrt(math.log(10) / 200))
    assert (certificate.empirical, certificate.n_samples) == (2.0, 100)
    assert "the mean of min(|error|, 10) over such rows is at most 3.0" in str(certificate)
    with pytest.raises(ValueError, match=r"must lie in \[0, 10\]"):
        hoeffding_certificate(11.0, 100, quantity=quantity)


def test_error_quantile_counts_absolute_values():
    errors = np.array([-5.0, 1.0, -2.0, 3.0, 4.0] * 20)
    certificate = error_quantile_certificate(errors, 0.5, confidence=0.9)
    assert certificate.empirical == 3.0
    assert certificate.bound == 3.0
    assert certificate.quantity.name == "50% quantile of the absolute error"


def test_rows_needed_for_no_number():
    with pytest.raises(ValueError, match="must be numbers"):
        rows_needed(float("nan"))
