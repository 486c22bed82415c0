"""Loss, gradient and Hessian of the logistic and softmax models."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import log_softmax

from corollary.core.summary import reduce
from corollary.linear import LogisticTerms, log_loss_terms
from corollary.linear.logistic._census import Census


def make_rows(rng, n=60, d=4, n_classes=2):
    return rng.normal(size=(n, d)), rng.integers(n_classes, size=n), rng.random(n) * 3


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_derivatives_agree_with_finite_differences(seed, n_classes, fit_intercept):
    rng = np.random.default_rng(seed)
    X, y, w = make_rows(rng, n_classes=n_classes)
    shape = (1 if n_classes == 2 else n_classes, 4 + fit_intercept)
    x = rng.normal(size=shape)

    def sums(flat, curvature=False):
        start = LogisticTerms(flat.reshape(shape), fit_intercept=fit_intercept, curvature=curvature)
        return reduce(start, (X, y, w))

    terms = sums(x.ravel(), curvature=True)
    h = 1e-5
    for j, e in enumerate(np.eye(x.size)):
        up, down = sums(x.ravel() + h * e), sums(x.ravel() - h * e)
        slope = (up.loss - down.loss) / (2 * h)
        assert terms.gradient.ravel()[j] == pytest.approx(slope, rel=1e-6, abs=1e-6)
        column = (up.gradient - down.gradient).ravel() / (2 * h)
        np.testing.assert_allclose(terms.hessian[:, j], column, rtol=1e-6, atol=1e-6)


def test_gradient_and_hessian_are_the_formulas(seed):
    rng = np.random.default_rng(seed)
    X, y, _ = make_rows(rng)
    s, w = 2 * y - 1, rng.normal(size=4)
    terms = reduce(LogisticTerms(w[None], fit_intercept=False, curvature=True), (X, y))
    sigma = 1 / (1 + np.exp(s * (X @ w)))
    np.testing.assert_allclose(terms.loss, np.log(1 + np.exp(-s * (X @ w))).sum())
    np.testing.assert_allclose(terms.gradient[0], -(s * sigma) @ X)
    np.testing.assert_allclose(terms.hessian, X.T @ np.diag(sigma * (1 - sigma)) @ X)
    assert terms.margin == (s * (X @ w)).min()
    assert terms.reach == (s * (X @ w)).max()


def test_softmax_loss_agrees_with_scipy(seed):
    rng = np.random.default_rng(seed)
    scores, y = 5 * rng.normal(size=(50, 4)), rng.integers(4, size=50)
    loss, p = log_loss_terms(scores, y)
    np.testing.assert_allclose(loss, -log_softmax(scores, axis=1)[np.arange(50), y])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


@given(st.integers(0, 2**32 - 1), st.floats(-50, 50))
def test_adding_one_number_to_all_scores_changes_nothing(seed, shift):
    rng = np.random.default_rng(seed)
    scores, y = rng.normal(size=(5, 3)), rng.integers(3, size=5)
    for a, b in zip(log_loss_terms(scores, y), log_loss_terms(scores + shift, y)):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_two_softmax_scores_are_one_logistic_score(seed):
    rng = np.random.default_rng(seed)
    scores, y = rng.normal(size=(30, 2)), rng.integers(2, size=30)
    one = log_loss_terms(scores[:, 1:] - scores[:, :1], y)
    two = log_loss_terms(scores, y)
    np.testing.assert_allclose(one[0], two[0])
    np.testing.assert_allclose(one[1][:, 0], two[1][:, 1])


def test_extreme_scores_do_not_overflow():
    loss, p = log_loss_terms(np.array([[1e4], [-1e4]]), np.array([0, 0]))
    assert loss.tolist() == [1e4, 0.0]
    assert p.ravel().tolist() == [1.0, 0.0]


@pytest.mark.parametrize("columns", [None, np.array([0, 2])])
def test_sparse_rows_give_the_same_sums(seed, columns):
    rng = np.random.default_rng(seed)
    X, y, w = make_rows(rng, n_classes=3)
    X[rng.random(X.shape) < 0.5] = 0
    start = LogisticTerms(rng.normal(size=(3, 5)), curvature=True, columns=columns)
    dense, thin = reduce(start, (X, y, w)), reduce(start, (sparse.csr_matrix(X), y, w))
    np.testing.assert_allclose(dense.gradient, thin.gradient)
    np.testing.assert_allclose(dense.hessian, thin.hessian, atol=1e-12)
    size = 3 * (3 if columns is not None else 5)
    assert dense.hessian.shape == (size, size)


def test_restricted_hessian_is_a_part_of_the_whole(seed):
    rng = np.random.default_rng(seed)
    X, y, _ = make_rows(rng)
    x = rng.normal(size=(1, 5))
    whole = reduce(LogisticTerms(x, curvature=True), (X, y)).hessian
    part = reduce(LogisticTerms(x, curvature=True, columns=np.array([1, 3])), (X, y)).hessian
    np.testing.assert_allclose(part, whole[np.ix_([1, 3, 4], [1, 3, 4])])


def test_sums_are_a_summary(seed):
    rng = np.random.default_rng(seed)
    X, y, w = make_rows(rng)
    start = LogisticTerms(rng.normal(size=(1, 5)), curvature=True)
    parts = [start.update((X[:20], y[:20], w[:20])), start.update((X[20:], y[20:], w[20:]))]
    one, two = start.update((X, y, w)), parts[0].merge(parts[1])
    np.testing.assert_allclose(one.hessian, two.hessian)
    np.testing.assert_allclose(one.loss, two.loss)
    assert one.margin == two.margin
    assert start.merge(one) is one
    assert one.merge(start.empty()) is one
    assert start.gradient is None


def test_leads_over_the_other_classes_by_hand():
    # Scores 1, 2, 4 of both rows; the first is of the last class, the second of the middle one.
    weights = np.array([[1.0], [2.0], [4.0]])
    sums = reduce(LogisticTerms(weights, fit_intercept=False), (np.ones((2, 1)), np.array([2, 1])))
    assert (sums.reach, sums.margin) == (2.0, -2.0)


def test_labels_that_are_no_class_are_refused():
    start = LogisticTerms(np.zeros((1, 2)), classes=np.array(["a", "b"]))
    with pytest.raises(ValueError, match="'c', which is not among the classes"):
        start.update((np.ones((1, 1)), np.array(["c"])))


def test_rows_without_weight_have_no_margin():
    rows = (np.array([[1.0], [1.0]]), np.array([1, 0]), np.array([1.0, 0.0]))
    start = LogisticTerms(np.ones((1, 1)), fit_intercept=False)
    assert start.update(rows).margin == 1.0


def test_census_counts_classes_by_weight(seed):
    rng = np.random.default_rng(seed)
    X, y, w = make_rows(rng, n_classes=3)
    labels = np.array(["b", "a", "c"])[y]
    chunks = [(X[:1], labels[:1], w[:1]), (X[1:30], labels[1:30], w[1:30]),
              (X[30:], labels[30:], w[30:])]  # fmt: skip
    total = Census()
    for chunk in chunks:
        total = total.update(chunk)
    assert total.classes.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(total.totals, [w[labels == c].sum() for c in "abc"])
