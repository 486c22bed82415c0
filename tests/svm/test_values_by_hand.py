"""Machines of two points, by hand."""

import math

import numpy as np
import pytest

from corollary.svm import SVC, support_vector_bound, svm_pair
from corollary.theory import compression_bound

# Two points at a distance of 4: the dual weights of the hard margin are 2 / 16.
X, Y = np.array([[0.0, 3.0], [0.0, -1.0]]), np.array([1.0, -1.0])


@pytest.mark.parametrize("C", [math.inf, 10.0])
def test_two_points(C):
    solution = svm_pair(X @ X.T, Y, C=C)
    assert solution.beta == pytest.approx([0.125, -0.125])
    assert solution.intercept == pytest.approx(-0.5)
    assert solution.dual == pytest.approx(0.125)
    model = SVC(kernel="linear", C=C).fit(X, Y)
    assert model.dual_coef_ == pytest.approx(np.array([[-0.125, 0.125]]))
    assert model.decision_function([[0.0, 3.0], [7.0, 1.0]]) == pytest.approx([1.0, 0.0])


def test_a_low_price_bounds_the_weights():
    solution = svm_pair(X @ X.T, Y, C=0.05)
    assert solution.beta == pytest.approx([0.05, -0.05])
    # The sum of the weights less half of 0.05^2 times 16.
    assert solution.dual == pytest.approx(0.1 - 0.02)


def test_bounds():
    assert support_vector_bound(3, 12) == 0.25
    # 10 sets of 2 in 5 rows, 5 sizes, 3 other rows.
    assert compression_bound(5, 2, 0.1) == pytest.approx(1 - 500 ** (-1 / 3))
    assert compression_bound(5, 5, 0.1) == 1.0
    one = compression_bound(100, 2, 0.1, errors=1)
    price = (math.log(4950) + math.log(100) + math.log(10)) / 98
    share = 1 / 98
    divergence = share * math.log(share / one) + (1 - share) * math.log((1 - share) / (1 - one))
    assert divergence == pytest.approx(price)
    assert one > share
