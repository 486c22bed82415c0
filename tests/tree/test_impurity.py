"""Impurities and information gain."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corollary.tree import gini_index, information_gain, misclassification, node_entropy


def test_two_classes_have_the_closed_forms():
    p = np.linspace(0.0, 1.0, 101)
    shares = np.column_stack([p, 1 - p])
    np.testing.assert_allclose(misclassification(shares), np.minimum(p, 1 - p), atol=1e-15)
    np.testing.assert_allclose(gini_index(shares), 2 * p * (1 - p), atol=1e-15)
    with np.errstate(divide="ignore", invalid="ignore"):
        binary = -(p * np.log(p) + (1 - p) * np.log(1 - p))
    np.testing.assert_allclose(node_entropy(shares), np.nan_to_num(binary), atol=1e-15)


@pytest.mark.parametrize("impurity", [misclassification, gini_index, node_entropy])
def test_pure_nodes_have_none_and_even_ones_most(impurity):
    assert impurity([0.0, 1.0, 0.0]) == 0.0
    rng = np.random.default_rng(0)
    some = rng.dirichlet(np.ones(4), size=200)
    assert impurity([0.25] * 4) >= impurity(some).max()


def test_information_gain_is_the_drop_in_entropy():
    # H(S) - sum |S_v|/|S| H(S_v), by hand for 3 + 5 rows in two branches.
    y = [0, 0, 0, 1, 1, 1, 1, 1]
    branches = ["a", "a", "b", "b", "b", "b", "b", "b"]
    h = lambda *p: -sum(q * np.log(q) for q in p if q)  # noqa: E731
    expected = h(3 / 8, 5 / 8) - 2 / 8 * h(1.0) - 6 / 8 * h(1 / 6, 5 / 6)
    assert information_gain(y, branches) == pytest.approx(expected, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 3)), min_size=1),
    st.sampled_from(["gini", "entropy", "misclassification"]),
)
def test_gain_is_never_negative_and_weights_are_copies(rows, criterion):
    y, branch, weight = (np.array(column) for column in zip(*rows))
    if not weight.any():
        weight = weight + 1
    gain = information_gain(y, branch, criterion=criterion, sample_weight=weight)
    assert gain >= -1e-12
    copies = np.repeat(np.arange(len(y)), weight)
    again = information_gain(y[copies], branch[copies], criterion=criterion)
    assert gain == pytest.approx(again, abs=1e-12)


def test_errors():
    with pytest.raises(ValueError, match="add up to one"):
        gini_index([0.5, 0.6])
    with pytest.raises(ValueError, match="one branch for each"):
        information_gain([0, 1], [0])
    with pytest.raises(ValueError, match="'criterion' parameter of information_gain"):
        information_gain([0, 1], [0, 1], criterion="variance")


def test_gains_by_hand():
    # Branches that are as mixed as the whole gain nothing, however little they weigh.
    assert information_gain([0, 1, 0, 1], [0, 0, 1, 1], sample_weight=[0.25] * 4) == 0.0
    assert information_gain([0, 1], [0, 1], sample_weight=[0.5, 0.5]) == pytest.approx(np.log(2))
    # Pure branches gain all of 2 (1/4) (3/4); the other one keeps 3/4 of 4/9.
    gain = information_gain([0, 1, 1, 1], ["a", "b", "b", "b"], criterion="gini")
    assert gain == pytest.approx(3 / 8)
    mixed = information_gain([0, 0, 1, 1], [0, 1, 1, 1], criterion="gini")
    assert mixed == pytest.approx(1 / 2 - 3 / 4 * 4 / 9)
