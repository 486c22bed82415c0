"""The nearest training rows, against brute force."""

import numpy as np

from corollary.reporting.trust._nearest import nearest_rows


def test_nearest_rows_are_those_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    training, rows = rng.normal(size=(300, 5)), rng.normal(size=(20, 5))
    found, distance = nearest_rows(rows, training, 4)
    all_pairs = np.linalg.norm(rows[:, None] - training[None], axis=2)
    np.testing.assert_array_equal(found, np.argsort(all_pairs, axis=1)[:, :4])
    np.testing.assert_allclose(distance, np.sort(all_pairs, axis=1)[:, :4])


def test_equal_distances_go_by_position_and_few_rows_give_few():
    training = np.array([[1.0], [-1.0], [0.0], [1.0]])
    found, distance = nearest_rows(np.array([[0.0]]), training, 9)
    assert found.tolist() == [[2, 0, 1, 3]]
    assert distance.tolist() == [[0.0, 1.0, 1.0, 1.0]]


def test_large_coordinates_lose_no_digits():
    training = 1e8 + np.arange(50.0)[:, None]
    found, distance = nearest_rows(np.array([[1e8 + 7.25]]), training, 2)
    assert found.tolist() == [[7, 8]]
    np.testing.assert_allclose(distance, [[0.25, 0.75]])
