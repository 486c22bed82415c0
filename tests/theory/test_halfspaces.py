"""Halfspaces, boxes and sines: shattered sets, impossible labellings, exact counts."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corollary.theory import (
    fits_rectangle,
    halfspace_dichotomies,
    halfspace_shattered_set,
    halfspace_weights,
    is_shattered,
    linear_dichotomies,
    radon_partition,
    rectangle_shattered_set,
    separating_halfspace,
    sine_labels,
    sine_parameter,
    unrealisable_labels,
)

seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_number_of_dichotomies_in_general_position(width, affine):
    rng = np.random.default_rng(width)
    for n in range(1, 7):
        X = rng.normal(size=(n, width))
        found = halfspace_dichotomies(X, affine=affine)
        assert len(found) == linear_dichotomies(n, width, affine=affine)
        assert len(np.unique(found, axis=0)) == len(found)
        assert set(found.ravel()) == {-1, 1}
        assert (len(found) == 2**n) == (n <= width + affine)


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_standard_set_is_shattered_by_the_stated_weights(width, affine):
    X = halfspace_shattered_set(width, affine=affine)
    assert np.array_equal(X[affine:], np.eye(width))  # and the origin
    assert not np.any(X[:affine])
    for labels in product([-1, 1], repeat=len(X)):
        weights, offset = halfspace_weights(labels, affine=affine)
        # The origin has half the margin of the others, either way.
        margins = labels * (X @ weights + offset)
        assert np.all(margins[affine:] >= 0.5)
        assert np.all(margins[:affine] == 0.5)
        assert np.abs(weights).tolist() == [1.0] * width
        if not affine:
            assert offset == 0.0


@given(seeds, st.integers(1, 4))
@settings(max_examples=30)
def test_radon_partition_cannot_be_separated(seed, width):
    X = np.random.default_rng(seed).normal(size=(width + 2, width))
    partition = radon_partition(X)
    one = partition.labels == 1
    assert np.all(partition.weights >= 0)
    assert partition.weights[one].sum() == pytest.approx(1)
    assert partition.weights[~one].sum() == pytest.approx(1)
    assert partition.weights[~one] @ X[~one] == pytest.approx(partition.point, abs=1e-9)
    assert partition.weights[one] @ X[one] == pytest.approx(partition.point, abs=1e-9)
    assert separating_halfspace(X, partition.labels) is None


@given(seeds, st.integers(1, 4))
@settings(max_examples=30)
def test_homogeneous_certificate_cannot_be_realised(seed, width):
    X = np.random.default_rng(seed).normal(size=(width + 1, width))
    labels = unrealisable_labels(X)
    assert -1 in labels
    assert separating_halfspace(X, labels, affine=False) is None
    # sign(0) = +1 does not help: no w has the positive products at least 0 and the others below 0.
    for w in np.random.default_rng(seed).normal(size=(500, width)):
        assert not np.array_equal(np.where(X @ w >= 0, 1, -1), labels)


def test_separating_weights_do_separate():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.5]]), np.array([1, -1, 1])
    weights = separating_halfspace(X, y)
    assert np.all(y * (X @ weights[:2] + weights[2]) >= 1 - 1e-9)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_diamond_is_shattered_by_boxes(width):
    X = rectangle_shattered_set(width)
    assert np.array_equal(X, np.vstack([np.eye(width), -np.eye(width)]))
    assert all(fits_rectangle(X, labels) for labels in product([-1, 1], repeat=len(X)))


def test_no_five_points_of_the_plane_are_shattered_by_boxes():
    rng = np.random.default_rng(0)
    for _ in range(20):
        X = rng.normal(size=(5, 2))
        extreme = {X[:, j].argmin() for j in (0, 1)} | {X[:, j].argmax() for j in (0, 1)}
        labels = np.array([1 if i in extreme else -1 for i in range(5)])
        if len(extreme) < 5:
            assert not fits_rectangle(X, labels)
        realised = [y for y in product([-1, 1], repeat=5) if fits_rectangle(X, y)]
        assert not is_shattered(np.array(realised))


def test_sines_reproduce_every_labelling():
    for labels in product([-1, 1], repeat=8):
        assert np.array_equal(sine_labels(sine_parameter(labels), 8), labels)


def test_sines_are_exact_far_beyond_floats():
    rng = np.random.default_rng(0)
    for n in (16, 40):
        labels = rng.choice([-1, 1], n)
        theta = sine_parameter(labels)
        assert np.array_equal(sine_labels(theta, n), labels)
    labels = np.full(17, -1)
    theta, x = sine_parameter(labels), 10.0 ** -np.arange(1, 18)
    floats = np.where(np.sin(np.pi * float(theta) * x) >= 0, 1, -1)
    assert not np.array_equal(floats, labels)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: separating_halfspace([[1.0]], [2]), "one label"),
        (lambda: separating_halfspace([1.0], [1]), "finite points"),
        (lambda: halfspace_dichotomies(np.zeros((17, 1))), "at most 16"),
        (lambda: radon_partition([[0.0], [1.0]]), "at least n_features"),
        (lambda: unrealisable_labels([[1.0, 0.0]]), "at least n_features"),
        (lambda: halfspace_weights([0]), "labels -1 and"),
        (lambda: sine_parameter([0]), "labels -1 and"),
        (lambda: rectangle_shattered_set(0), "positive whole number"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
