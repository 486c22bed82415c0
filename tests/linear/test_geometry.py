"""Hyperplanes, threshold classifiers and margins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls
from sklearn.svm import SVC

from corollary.linear import (
    canonical_hyperplane,
    dataset_margin,
    functional_margin,
    geometric_margin,
    nearest_to_origin,
    project_onto_hyperplane,
    signed_distance,
    threshold_classifier,
)

seeds = st.integers(0, 2**32 - 1)


def separable_data(rng, n, d, radius=1.0, margin=0.1):
    """Rows in the ball of a radius with y <v, x> >= margin for a unit vector v."""
    v = rng.normal(size=d)
    v /= np.linalg.norm(v)
    rows = []
    while len(rows) < n:
        x = rng.normal(size=d)
        x *= radius * rng.random() ** (1 / d) / np.linalg.norm(x)
        if abs(x @ v) >= margin:
            rows.append(x)
    X = np.array(rows)
    return X, np.sign(X @ v).astype(int), v


def margin_by_nnls(points):
    """Distance from 0 to a hull: nnls on [V'; 1] gives the nearest point up to scale."""
    A = np.vstack([points.T, np.ones(len(points))])
    share = nnls(A, np.append(np.zeros(points.shape[1]), 1.0))[0]
    return np.linalg.norm(share @ points) / share.sum()


@given(seeds)
def test_projections_lie_on_the_plane_and_are_orthogonal(seed):
    rng = np.random.default_rng(seed)
    X, w, b = rng.normal(size=(6, 3)), rng.normal(size=3), rng.normal()
    p = project_onto_hyperplane(X, w, b)
    np.testing.assert_allclose(p @ w + b, 0, atol=1e-12)
    on_plane = project_onto_hyperplane(rng.normal(size=(6, 3)), w, b)
    np.testing.assert_allclose(((X - p) * (p - on_plane)).sum(axis=1), 0, atol=1e-12)
    distance = signed_distance(X, w, b)
    np.testing.assert_allclose(np.linalg.norm(X - p, axis=1), np.abs(distance))
    assert (np.sign(distance) == np.sign(X @ w + b)).all()


@given(seeds, st.floats(1e-3, 1e3))
def test_distances_and_margins_ignore_the_length_of_the_normal(seed, c):
    rng = np.random.default_rng(seed)
    X, w, b, y = rng.normal(size=(6, 3)), rng.normal(size=3), rng.normal(), np.ones(6)
    np.testing.assert_allclose(signed_distance(X, c * w, c * b), signed_distance(X, w, b))
    assert geometric_margin(X, y, c * w, c * b) == pytest.approx(geometric_margin(X, y, w, b))
    assert functional_margin(X, y, c * w, c * b) == pytest.approx(c * functional_margin(X, y, w, b))


def test_distance_is_the_shortest_way_to_the_plane():
    w, b, x = np.array([3.0, 4.0]), -5.0, np.array([[2.0, 1.0]])
    t = np.linspace(-10, 10, 200_001)[:, None]
    plane = np.array([0.6, 0.8]) * 1.0 + t * np.array([-0.8, 0.6])
    shortest = np.linalg.norm(plane - x, axis=1).min()
    assert abs(signed_distance(x, w, b)[0]) == pytest.approx(shortest, abs=1e-8)


def test_threshold_classifier_states_labels_and_ties():
    X = [[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]]
    assert threshold_classifier(X, [1.0, 0.0]).tolist() == [1, -1, -1]
    assert threshold_classifier(X, [1.0, 0.0], tie="above").tolist() == [1, 1, -1]
    # f(x) = 0 if <w, x> + b > 0, else 1
    assert threshold_classifier(X, [1.0, 0.0], labels=(1, 0)).tolist() == [0, 1, 1]
    assert threshold_classifier(X, [1.0, 0.0], 1.0, labels=("no", "yes")).tolist() == [
        "yes",
        "yes",
        "no",
    ]
    with pytest.raises(ValueError, match="must hold two labels"):
        threshold_classifier(X, [1.0, 0.0], labels=(1, 2, 3))
    with pytest.raises(ValueError, match="The 'tie' parameter of threshold_classifier"):
        threshold_classifier(X, [1.0, 0.0], tie="left")


@given(seeds)
def test_generated_data_have_the_prescribed_radius_and_margin(seed):
    rng = np.random.default_rng(seed)
    X, y, v = separable_data(rng, 12, 3, radius=2.0, margin=0.3)
    assert np.linalg.norm(X, axis=1).max() <= 2.0
    assert geometric_margin(X, y, v) >= 0.3
    assert dataset_margin(X, y).margin >= geometric_margin(X, y, v) - 1e-12


@given(seeds, st.integers(1, 12), st.integers(1, 5))
def test_margin_is_the_distance_from_the_origin_to_the_hull(seed, n, d):
    rng = np.random.default_rng(seed)
    X, y, _ = separable_data(rng, n, d, margin=0.05)
    found = dataset_margin(X, y)
    assert found.margin == pytest.approx(margin_by_nnls(y[:, None] * X), rel=1e-8)
    assert geometric_margin(X, y, found.coef) == pytest.approx(found.margin, rel=1e-12)
    assert found.margin <= found.upper * (1 + 1e-12)
    assert found.upper == pytest.approx(found.margin, rel=1e-9)


def test_margin_agrees_with_a_grid_of_angles(seed):
    rng = np.random.default_rng(seed)
    X, y, _ = separable_data(rng, 10, 2, margin=0.1)
    angle = np.linspace(0, 2 * np.pi, 100_001)
    W = np.column_stack([np.cos(angle), np.sin(angle)])
    grid = (y[:, None] * (X @ W.T)).min(axis=0).max()
    assert dataset_margin(X, y).margin == pytest.approx(grid, abs=1e-4)
    assert dataset_margin(X, y).margin >= grid - 1e-12


def test_margin_with_intercept_is_that_of_a_hard_margin_machine(seed):
    rng = np.random.default_rng(seed)
    X, y, _v = separable_data(rng, 40, 3, margin=0.2)
    # The machine loses digits on points far from the origin; the margin does not care.
    machine = SVC(kernel="linear", C=1e8, tol=1e-10).fit(X, y)
    X = X + 5.0
    found = dataset_margin(X, y, fit_intercept=True)
    assert found.margin == pytest.approx(1 / np.linalg.norm(machine.coef_), rel=1e-6)
    assert geometric_margin(X, y, found.coef, found.intercept) == pytest.approx(found.margin)
    w, b = canonical_hyperplane(X, y, found.coef, found.intercept)
    assert functional_margin(X, y, w, b) == pytest.approx(1.0)
    assert 1 / np.linalg.norm(w) == pytest.approx(found.margin)
    np.testing.assert_allclose(w, machine.coef_[0], rtol=1e-3)


@given(seeds)
def test_two_points_have_half_their_distance_as_margin(seed):
    X = np.random.default_rng(seed).normal(size=(2, 4))
    found = dataset_margin(X, [1, -1], fit_intercept=True)
    assert found.margin == pytest.approx(np.linalg.norm(X[0] - X[1]) / 2)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_data_that_cannot_be_separated_have_no_margin(fit_intercept):
    X = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    found = dataset_margin(X, [1, 1, -1, -1], fit_intercept=fit_intercept)
    assert found.margin == 0.0
    assert not found.coef.any()
    assert found.upper < 1e-12
    assert dataset_margin([[0.0, 0.0], [1.0, 0.0]], [1, 1]).margin == 0.0


def test_margin_of_many_points_stays_exact(seed):
    rng = np.random.default_rng(seed)
    X, y, _ = separable_data(rng, 2000, 8, margin=0.02)
    found = dataset_margin(X, y)
    assert 0.02 <= found.margin <= found.upper <= found.margin * (1 + 1e-9)


def test_shortest_vector_of_a_face():
    V = np.array([[2.0, 1, 0], [2.0, -1, 1], [2.0, 0, -1], [5.0, 0, 0]])
    found = nearest_to_origin(lambda v: V[np.argmin(V @ v)], V[3])
    np.testing.assert_allclose(found, [2.0, 0, 0], atol=1e-12)


def test_errors_say_what_to_do():
    with pytest.raises(ValueError, match=r"separates the classes strictly\. Got functional margin"):
        canonical_hyperplane([[1.0]], [-1], [1.0])
    with pytest.raises(ValueError, match="needs points of both classes"):
        dataset_margin([[1.0]], [1], fit_intercept=True)
    with pytest.raises(ValueError, match="'coef' parameter of signed_distance must be a non-zero"):
        signed_distance([[1.0, 2.0]], [0.0, 0.0])
    with pytest.raises(ValueError, match="'X' parameter of signed_distance must be a table"):
        signed_distance([1.0, 2.0], [1.0, 0.0])
    with pytest.raises(ValueError, match="'y' parameter of dataset_margin must hold 1 labels -1"):
        dataset_margin([[1.0]], [0])
