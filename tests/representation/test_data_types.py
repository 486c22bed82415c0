import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from corollary.representation import (
    DataType,
    Measurement,
    check_euclidean,
    check_pairwise,
    classify_data_type,
    contingency_table,
    to_pairwise,
)


@pytest.mark.parametrize(
    ("shape", "objects", "data_type", "n_values"),
    [
        ((5, 3), ["patients"], DataType.VECTORIAL, 3),
        ((5,), "patients", DataType.VECTORIAL, 1),
        ((4, 6), ["words", "documents"], DataType.DYADIC, 1),
        ((4, 4), ["cities", "cities"], DataType.PAIRWISE, 1),
        ((4, 4, 2), ["cities", "cities"], DataType.PAIRWISE, 2),
        ((2, 3, 4), ["users", "items", "times"], DataType.POLYADIC, 1),
    ],
)
def test_type_follows_from_the_sets_of_objects(shape, objects, data_type, n_values):
    measurement = Measurement(np.zeros(shape), objects)
    assert measurement.data_type is data_type
    assert measurement.n_values == n_values
    assert not measurement.derived


def test_features_become_kernels_and_distances(seed):
    X = np.random.default_rng(seed).normal(size=(6, 3))
    euclidean = to_pairwise(Measurement(X, ["patients"]))
    assert euclidean.data_type is DataType.PAIRWISE
    assert euclidean.objects == ("patients", "patients")
    assert euclidean.derived
    by_hand = [[np.linalg.norm(a - b) for b in X] for a in X]
    np.testing.assert_allclose(euclidean.values, by_hand, atol=1e-12)
    assert check_pairwise(euclidean.values, kind="dissimilarity")
    assert check_euclidean(euclidean.values).dimension == 3
    np.testing.assert_allclose(
        to_pairwise(X, "squared_euclidean").values, np.square(by_hand), atol=1e-12
    )
    np.testing.assert_allclose(to_pairwise(X, "linear").values, X @ X.T)
    kernel = to_pairwise(X, rbf_kernel).values
    assert check_pairwise(kernel)
    np.testing.assert_allclose(kernel, np.exp(-np.square(by_hand) / 3))


@pytest.mark.parametrize(
    ("matrix", "kind", "axiom", "witness"),
    [
        (np.zeros((2, 3)), "any", "square", (2, 3)),
        ([[0, np.inf], [0, 0]], "any", "finite", (0, 1)),
        ([[1, 2], [3, 1]], "similarity", "symmetry", (0, 1)),
        ([[0, -1], [-1, 0]], "dissimilarity", "non-negativity", (0, 1)),
        ([[0, 1], [1, 2]], "dissimilarity", "diagonal", (1, 1)),
    ],
)
def test_what_makes_a_matrix_pairwise(matrix, kind, axiom, witness):
    check = check_pairwise(matrix, kind=kind)
    assert (check.holds, check.axiom, check.witness) == (False, axiom, witness)


def test_weaker_kinds_accept_more():
    turned = [[1, 2], [3, 1]]
    assert check_pairwise(turned, kind="any")
    assert check_pairwise([[1, -2], [-2, 5]])


def test_contingency_table_counts(seed):
    rng = np.random.default_rng(seed)
    words, documents = rng.choice(["a", "b", "c"], 200), rng.integers(0, 4, 200)
    table, rows, columns = contingency_table(words, documents, objects=("words", "documents"))
    assert table.data_type is DataType.DYADIC
    assert rows.tolist() == ["a", "b", "c"]
    for i, word in enumerate(rows):
        for j, document in enumerate(columns):
            assert table.values[i, j] == np.sum((words == word) & (documents == document))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Measurement(np.zeros((2, 2, 2)), ["a"]), "Got an array with 3 axes"),
        (lambda: Measurement(np.zeros((2, 3)), ["a", "a"]), "'a' has 2 objects on one axis and 3"),
        (lambda: classify_data_type([]), "at least one set"),
        (lambda: check_pairwise([[1]], kind="x"), "'kind' parameter of check_pairwise"),
        (lambda: to_pairwise([[1.0]], "cosine"), "'relation' parameter of to_pairwise"),
        (
            lambda: to_pairwise(Measurement(np.zeros((2, 2)), ["a", "b"])),
            "needs vectorial data. Got dyadic data",
        ),
        (lambda: contingency_table([1, 2], [1]), "of the same length"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
