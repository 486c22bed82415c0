"""Linear separability, strict and weak."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corollary.linear import functional_margin, separability

CORNERS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [([-1, -1, -1, 1], True), ([-1, 1, 1, 1], True), ([-1, 1, 1, -1], False)],
    ids=["and", "or", "xor"],
)
def test_and_and_or_are_separable_and_xor_is_not(labels, expected):
    found = separability(CORNERS, labels)
    assert found.separable is expected
    if expected:
        assert functional_margin(CORNERS, labels, found.coef, found.intercept) > 0


def directions(X):
    """Every direction that matters in the plane: normals of the rows, and those in between."""
    angles = [np.arctan2(x[1], x[0]) for x in X if x.any()]
    turns = np.concatenate([np.add(angles, np.pi / 2), np.add(angles, -np.pi / 2), [0.0]])
    turns = np.unique(np.mod(turns, 2 * np.pi))
    between = (turns + np.append(turns[1:], turns[0] + 2 * np.pi)) / 2
    # Normals are taken exactly, since they decide the weak case.
    exact = [np.array(v, dtype=float) for x in X if x.any() for v in ([-x[1], x[0]], [x[1], -x[0]])]
    return [*exact, *np.column_stack([np.cos(between), np.sin(between)])]


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_answers_agree_with_every_direction_in_the_plane(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, 2)).astype(float)  # a lattice: many rows on common lines
    y = rng.choice([-1, 1], size=n)
    strict = weak = False
    for w in directions(X):
        score = X @ w
        strict |= bool((y * score > 1e-9).all())
        weak |= bool(np.where(y > 0, score >= -1e-9, score < -1e-9).all())
    if not X.any():
        weak = bool((y > 0).all())
    assert separability(X, y, fit_intercept=False).separable == strict
    assert separability(X, y, strict=False, fit_intercept=False).separable == weak


def test_points_on_the_plane_count_as_positive_in_the_weak_sense():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, -1.0]])
    assert not separability(X, [1, 1, -1], fit_intercept=False).separable
    found = separability(X, [1, 1, -1], strict=False, fit_intercept=False)
    assert found.separable
    assert found.coef[1] > 0
    assert not separability(X, [-1, -1, 1], strict=False, fit_intercept=False).separable


def test_one_class_needs_a_vector_that_is_not_zero():
    around = np.array([[1.0, 0], [-1, 1], [-1, -1]])
    assert not separability(around, [1, 1, 1], strict=False, fit_intercept=False).separable
    assert separability(around[:, :1] @ [[1.0, 0.0]], [1] * 3, strict=False,
                        fit_intercept=False).separable  # fmt: skip
    found = separability(around[:2], [1, 1], strict=False, fit_intercept=False)
    assert found.separable
    assert found.coef.any()
    assert separability(around, [1, 1, 1]).separable


def test_scales_of_rows_and_columns_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4))
    y = np.sign(X @ [1.0, -2.0, 0.5, 0.0] + 0.1).astype(int)
    scaled = X * [1e-9, 1.0, 1e6, 1e-3]
    found = separability(scaled, y)
    assert found.separable
    assert functional_margin(scaled, y, found.coef, found.intercept) > 0
    y[:2] *= -1
    assert separability(scaled, y).separable == separability(X, y).separable


def test_more_points_than_a_plane_can_shatter(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 5))
    assert not separability(X, rng.choice([-1, 1], size=400)).separable
    assert separability(X[:6], rng.choice([-1, 1], size=6)).separable  # general position


def test_labels_are_checked():
    with pytest.raises(ValueError, match="'y' parameter of separability must hold 4 labels -1 or"):
        separability(CORNERS, [0, 1, 1, 1])
