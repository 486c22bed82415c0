"""The cost of k-means in its three forms, and variance by pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from corollary.cluster import (
    centers_cost,
    centroids,
    nearest_centers,
    pairwise_cost,
    pairwise_variance,
    partition_cost,
)

X = np.array([[0.0], [1.0], [5.0], [8.0]])
LABELS = np.array([0, 0, 1, 1])


def test_values_by_hand():
    assert partition_cost(X, LABELS) == pairwise_cost(X, LABELS) == 5.0
    assert centers_cost(X, LABELS, [[0.0], [5.0]]) == 10.0
    assert centroids(X, LABELS).tolist() == [[0.5], [6.5]]
    assert nearest_centers(X, [[0.0], [2.0]]).tolist() == [0, 0, 1, 1]  # of equally near the first
    weight = [1.0, 3.0, 0.0, 2.0]
    assert centroids(X, LABELS, sample_weight=weight).tolist() == [[0.75], [8.0]]
    assert partition_cost(X, LABELS, sample_weight=weight) == pytest.approx(0.75)
    assert pairwise_cost(X, LABELS, sample_weight=weight) == pytest.approx(0.75)
    assert np.isnan(centroids(X, LABELS, n_clusters=3)[2]).all()


@given(st.integers(0, 10**6))
def test_three_forms_are_one_number(seed):
    rng = np.random.default_rng(seed)
    n, d, k = rng.integers(1, 30), rng.integers(1, 7), rng.integers(1, 5)
    rows, labels = rng.normal(size=(n, d)) + 100, rng.integers(0, k, n)
    weight = rng.integers(0, 3, n).astype(float)
    weight[0] = 1.0
    for w in (None, weight):
        cost = partition_cost(rows, labels, sample_weight=w)
        means = np.nan_to_num(centroids(rows, labels, sample_weight=w))
        assert pairwise_cost(rows, labels, sample_weight=w) == pytest.approx(cost, abs=1e-8)
        assert centers_cost(rows, labels, means, sample_weight=w) == pytest.approx(cost)
        other = means + rng.normal(size=means.shape)
        assert centers_cost(rows, labels, other, sample_weight=w) >= cost - 1e-9
        nearest = nearest_centers(rows, other)
        least = centers_cost(rows, nearest, other, sample_weight=w)
        assert least <= centers_cost(rows, labels, other, sample_weight=w) + 1e-9


def test_weight_is_copies():
    rng = np.random.default_rng(0)
    rows, labels, weight = rng.normal(size=(20, 3)), rng.integers(0, 3, 20), rng.integers(0, 4, 20)
    copies = np.repeat(np.arange(20), weight)
    for cost in (partition_cost, pairwise_cost):
        one = cost(rows, labels, sample_weight=weight)
        assert one == pytest.approx(cost(rows[copies], labels[copies]))


@pytest.mark.parametrize("n", [1, 2, 700])
def test_variance_is_half_the_mean_squared_distance(n):
    rng = np.random.default_rng(n)
    rows, weight = rng.normal(size=(n, 3)) * [1, 2, 3] + 7, rng.uniform(size=n)
    assert pairwise_variance(rows) == pytest.approx(rows.var(axis=0).sum(), rel=1e-12, abs=1e-12)
    mean = np.average(rows, axis=0, weights=weight)
    variance = np.average(((rows - mean) ** 2).sum(axis=1), weights=weight)
    assert pairwise_variance(rows, sample_weight=weight) == pytest.approx(variance, abs=1e-12)
    assert pairwise_variance(sparse.csr_matrix(rows)) == pytest.approx(rows.var(axis=0).sum())


def test_the_cost_of_a_subset_is_no_larger():
    rng = np.random.default_rng(1)
    for _ in range(50):
        rows = rng.normal(size=(rng.integers(2, 12), 2))
        part = rng.permutation(len(rows))[: rng.integers(1, len(rows))]
        own, whole = np.zeros(len(part), dtype=int), np.zeros(len(rows), dtype=int)
        assert partition_cost(rows[part], own) <= partition_cost(rows, whole) + 1e-12


def test_sparse_rows_cost_the_same():
    rng = np.random.default_rng(2)
    rows, labels = rng.normal(size=(30, 5)) * (rng.uniform(size=(30, 5)) < 0.4), np.arange(30) % 3
    thin = sparse.csr_matrix(rows)
    assert partition_cost(thin, labels) == pytest.approx(partition_cost(rows, labels))
    assert pairwise_cost(thin, labels) == pytest.approx(pairwise_cost(rows, labels))
    assert centroids(thin, labels) == pytest.approx(centroids(rows, labels))
    assert np.array_equal(nearest_centers(thin, rows[:4]), nearest_centers(rows, rows[:4]))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: partition_cost(X, [0, 1]), "one for each of 4 rows"),
        (lambda: partition_cost(X, [0.0, 1.0, 0.0, 1.0]), "whole numbers"),
        (lambda: partition_cost(X, [-1, 0, 0, 0]), "from 0 on"),
        (lambda: centers_cost(X, LABELS, [[1.0]]), "below n_clusters=1"),
        (lambda: centers_cost(X, LABELS, [[1.0, 2.0]]), "number of features"),
        (lambda: partition_cost(X, LABELS, sample_weight=[0, 0, 0, 0]), "non-zero"),
        (lambda: nearest_centers([[np.nan]], [[0.0]]), "NaN"),
    ],
)
def test_bad_input_is_told(call, words):
    with pytest.raises(ValueError, match=words):
        call()
