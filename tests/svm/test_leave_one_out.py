"""Leave-one-out: equal to naive retraining, and bounded by the support vectors."""

import numpy as np
import pytest
from sklearn import svm as peer

from corollary.kernels import RBF
from corollary.svm import choose_C, svm_leave_one_out, svm_pair


def data(seed, n=30, noise=0.7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + noise * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:4] = 1.0, 1.0, -1.0, -1.0
    return X, y


@pytest.mark.parametrize("C", [0.05, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(4))
def test_equals_naive_retraining(seed, C):
    X, y = data(seed)
    K = RBF(1.0).gram(X)
    result = svm_leave_one_out(K, y, C=C)
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        other = peer.SVC(kernel="precomputed", C=C, tol=1e-9).fit(K[np.ix_(rest, rest)], y[rest])
        score = other.decision_function(K[[i]][:, rest])[0]
        if abs(score) > 1e-5:
            assert result.wrong[i] == (y[i] * score < 0)
    assert result.refits < len(y) or C == 0.05


@pytest.mark.parametrize("seed", range(10))
def test_error_is_at_most_the_share_of_support_vectors(seed):
    X, y = data(seed, n=20)
    K = RBF(1.0).gram(X)
    support = np.count_nonzero(svm_pair(K, y, C=2.0, tol=1e-6).beta)
    result = svm_leave_one_out(K, y, C=2.0)
    assert result.error <= support / 20
    assert result.refits == support


def test_hard_margin_leave_one_out():
    X, y = data(0, noise=0.0)
    X[:4] += 3.0 * y[:4, None]
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    X[:, 0] += 0.3 * y
    result = svm_leave_one_out(X @ X.T, y, C=np.inf)
    assert result.refits <= 4
    assert result.error <= result.refits / len(y)


def test_choice_of_the_price():
    X, y = data(3, n=40)
    K = RBF(1.0).gram(X)
    prices = [0.01, 1.0, 1000.0]
    chosen, errors = choose_C(K, y, prices)
    np.testing.assert_array_equal(errors, [svm_leave_one_out(K, y, C=C).error for C in prices])
    assert errors[prices.index(chosen)] == errors.min()


def test_bad_input():
    with pytest.raises(ValueError, match="at least two rows of each label"):
        svm_leave_one_out(np.eye(3), [1, 1, -1])
    with pytest.raises(ValueError, match="'Cs' parameter of choose_C"):
        choose_C(np.eye(4), [1, 1, -1, -1], [])
