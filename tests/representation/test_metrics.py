"""Metric, ultrametric, Euclidean and scalar-product checkers."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import pdist, squareform

from corollary.representation import (
    check_euclidean,
    check_metric,
    check_scalar_product,
    check_ultrametric,
    discrete_metric,
    induced_norm,
)


def distances(seed, n=12, d=3, power=1):
    points = np.random.default_rng(seed).normal(size=(n, d))
    return squareform(pdist(points)) ** power


# -- metric ----------------------------------------------------------------------------------


def test_euclidean_distances_are_a_metric_and_squared_ones_are_not(seed):
    assert check_metric(distances(seed))
    line = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    assert check_metric(line)
    check = check_metric(line**2)
    assert not check
    assert check.axiom == "triangle"
    assert check.witness == (0, 1, 2)
    i, j, k = check_metric(distances(seed, power=2)).witness
    D = distances(seed, power=2)
    assert D[i, k] > D[i, j] + D[j, k]


def test_discrete_metric_is_an_ultrametric_and_euclidean():
    for n in (1, 2, 5):
        assert check_metric(discrete_metric(n))
        assert check_ultrametric(discrete_metric(n))
        check = check_euclidean(discrete_metric(n))
        assert check
        assert check.dimension == n - 1  # a regular simplex


@pytest.mark.parametrize(
    ("matrix", "axiom", "witness"),
    [
        ([[0, -1], [-1, 0]], "non-negativity", (0, 1)),
        ([[0, 1], [1, 0.5]], "identity", (1, 1)),
        ([[0, 0], [0, 0]], "identity", (0, 1)),
        ([[0, 1], [2, 0]], "symmetry", (0, 1)),
        ([[0, 3, 1], [3, 0, 1], [1, 1, 0]], "triangle", (0, 2, 1)),
    ],
)
def test_every_axiom_has_a_witness(matrix, axiom, witness):
    check = check_metric(matrix)
    assert not check.holds
    assert (check.axiom, check.witness) == (axiom, witness)
    assert str(witness[0]) in check.message


@given(st.lists(st.integers(0, 5), min_size=6, max_size=6))
def test_triangle_by_brute_force(sides):
    D = squareform(np.array(sides, dtype=float) + 1)
    triples = list(product(range(4), repeat=3))
    assert bool(check_metric(D)) == all(D[i, k] <= D[i, j] + D[j, k] for i, j, k in triples)
    strong = all(D[i, k] <= max(D[i, j], D[j, k]) for i, j, k in triples)
    assert bool(check_ultrametric(D)) == strong


def test_single_linkage_gives_an_ultrametric(seed):
    condensed = pdist(np.random.default_rng(seed).normal(size=(15, 2)))
    tree = linkage(condensed, method="single")
    assert check_ultrametric(squareform(cophenet(tree)))
    check = check_ultrametric(squareform(condensed))
    assert check.axiom == "ultrametric"
    i, j, k = check.witness
    D = squareform(condensed)
    assert D[i, k] > max(D[i, j], D[j, k])


# -- Euclidean -------------------------------------------------------------------------------


@given(st.integers(1, 4), st.integers(0, 10**6))
def test_points_are_recovered_up_to_a_motion(d, seed):
    D = distances(seed, n=8, d=d)
    check = check_euclidean(D)
    assert check
    assert check.dimension == d
    np.testing.assert_allclose(squareform(pdist(check.points)), D, atol=1e-8)
    np.testing.assert_allclose(check.points.mean(axis=0), 0, atol=1e-10)


def test_criterion_equals_the_centred_matrix(seed):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        D = squareform(1 + rng.uniform(size=10))
        J = np.eye(5) - 1 / 5
        smallest = np.linalg.eigvalsh(-J @ D**2 @ J / 2)[0]
        assert bool(check_euclidean(D)) == (smallest > -1e-9)


def test_a_metric_that_is_not_euclidean():
    # A star with three legs: the centre at distance 1 from leaves that are 2 apart.
    star = [[0, 1, 1, 1], [1, 0, 2, 2], [1, 2, 0, 2], [1, 2, 2, 0]]
    assert check_metric(star)
    check = check_euclidean(star)
    assert not check
    assert check.points is None
    assert check.eigenvalues[-1] < -0.1
    assert check_euclidean(np.sqrt(np.array(star, dtype=float)))  # its root is


# -- scalar product --------------------------------------------------------------------------


def test_matrix_forms(seed):
    root = np.random.default_rng(seed).normal(size=(3, 3))
    assert check_scalar_product(root @ root.T + np.eye(3))
    check = check_scalar_product([[1.0, 2.0], [2.0, 1.0]])
    assert check.axiom == "positive definiteness"
    (x,) = check.witness
    assert x @ np.array([[1.0, 2.0], [2.0, 1.0]]) @ x < 0
    check = check_scalar_product([[1.0, 0.5], [0.0, 1.0]])
    assert check.axiom == "symmetry"
    assert check_scalar_product([[1.0, 1.0], [1.0, 1.0]]).axiom == "positive definiteness"


def test_function_forms(seed):
    A = np.array([[2.0, 1.0], [1.0, 3.0]])
    assert check_scalar_product(lambda x, y: x @ A @ y, dimension=2, random_state=seed)
    cases = {
        "bilinearity": lambda x, y: np.abs(x) @ np.abs(y),
        "symmetry": lambda x, y: x @ (A + [[0, 1], [0, 0]]) @ y,
        "positive definiteness": lambda x, y: x[0] * y[0],
    }
    for axiom, form in cases.items():
        assert check_scalar_product(form, dimension=2, random_state=seed).axiom == axiom
    x, y = check_scalar_product(cases["bilinearity"], dimension=2, random_state=seed).witness
    assert x.shape == y.shape == (2,)


@given(st.integers(0, 10**6))
def test_induced_norm_is_a_norm(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 3))
    A = root @ root.T + 0.1 * np.eye(3)
    x, y = rng.normal(size=(2, 3))
    norm = induced_norm(np.array([x, y, x + y, -2 * x]), A)
    assert np.isclose(norm[0], np.sqrt(x @ A @ x))
    assert norm[2] <= norm[0] + norm[1] + 1e-12
    assert np.isclose(norm[3], 2 * norm[0])
    # Cauchy-Schwarz and the parallelogram identity
    assert abs(x @ A @ y) <= norm[0] * norm[1] + 1e-12
    sides = norm[2] ** 2 + induced_norm(x - y, A) ** 2
    assert np.isclose(sides, 2 * norm[0] ** 2 + 2 * norm[1] ** 2)
    assert np.isclose(induced_norm(x, lambda u, v: u @ A @ v), norm[0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: check_metric([[0, 1]]), r"check_metric needs a square matrix. Got shape \(1, 2\)"),
        (lambda: check_metric([[np.nan]]), "without NaN"),
        (lambda: check_euclidean([[0, 1], [2, 0]]), "check_metric says which"),
        (lambda: check_scalar_product(max), "needs the dimension"),
        (lambda: induced_norm([1.0, 1.0], [[1, 0], [0, -1]]), "which is not positive"),
        (lambda: induced_norm([1.0], lambda x, y: -1.0), "with itself is negative: -1"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
