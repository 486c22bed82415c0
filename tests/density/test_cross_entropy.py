"""Cross-entropy is entropy plus divergence."""

import math

import numpy as np
import pytest

from corollary.density import (
    Exponential,
    Normal,
    Poisson,
    family_cross_entropy,
    finite_cross_entropy,
    gaussian_cross_entropy,
    maximum_likelihood,
)


def test_finite_laws_by_hand():
    parts = finite_cross_entropy([0.5, 0.25, 0.25], [0.25, 0.25, 0.5])
    log2 = math.log(2)
    assert parts.cross_entropy == pytest.approx(0.5 * 2 * log2 + 0.25 * 2 * log2 + 0.25 * log2)
    assert parts.entropy == pytest.approx(1.5 * log2)
    assert parts.divergence == pytest.approx(0.25 * log2)
    excluded = finite_cross_entropy([0.5, 0.5], [1.0, 0.0])
    assert excluded.cross_entropy == excluded.divergence == math.inf
    assert finite_cross_entropy([1.0, 0.0], [0.5, 0.5]).entropy == 0.0


def test_normal_laws_by_simulation_of_nothing_but_formulas():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 3, 3))
    P, Q = A @ A.T + np.eye(3), B @ B.T + np.eye(3)
    m, k = rng.normal(size=(2, 3))
    parts = gaussian_cross_entropy(m, P, k, Q)
    assert parts.cross_entropy == pytest.approx(parts.entropy + parts.divergence)
    assert parts.entropy == pytest.approx(0.5 * np.log(np.linalg.det(2 * math.pi * math.e * P)))
    same = gaussian_cross_entropy(m, P, m, P)
    assert same.cross_entropy == pytest.approx(same.entropy)
    # One dimension against the family's own finite law.
    one = gaussian_cross_entropy([1.0], [[2.0]], [0.5], [[3.0]])
    law = family_cross_entropy(Normal(), [1.0, 2.0], Normal(), [0.5, 3.0])
    np.testing.assert_allclose(one, law, rtol=1e-10)


def test_families_by_hand():
    parts = family_cross_entropy(Exponential(), [2.0], Exponential(), [3.0])
    assert parts.cross_entropy == pytest.approx(-math.log(3) + 3 / 2)
    assert parts.entropy == pytest.approx(1 - math.log(2))
    assert parts.divergence == pytest.approx(math.log(2 / 3) + 3 / 2 - 1)
    counts = family_cross_entropy(Poisson(), [2.0], Poisson(), [3.0])
    assert counts.divergence == pytest.approx(2 * math.log(2 / 3) + 1)
    assert counts.cross_entropy == pytest.approx(counts.entropy + counts.divergence)


def test_the_likeliest_parameters_are_the_nearest():
    points, probability = Poisson().law([2.0])
    likeliest = maximum_likelihood(Poisson(), points, sample_weight=probability).theta
    nearest = min(
        np.arange(1.5, 2.5, 0.01),
        key=lambda t: family_cross_entropy(Poisson(), [2.0], Poisson(), [t]).divergence,
    )
    assert likeliest[0] == pytest.approx(2.0)
    assert nearest == pytest.approx(2.0)
