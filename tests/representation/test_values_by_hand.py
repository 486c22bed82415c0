"""Axioms and scales of the smallest tables, by hand."""

import numpy as np
import pytest

from corollary.representation import (
    ScaleType,
    check_euclidean,
    check_metric,
    check_pairwise,
    check_scalar_product,
    discrete_metric,
    infer_scale_type,
    is_invariant,
)


def test_metrics():
    assert discrete_metric(2).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert check_metric([[0.0]])
    twins = check_metric([[0.0, 0.0], [0.0, 0.0]])
    assert not twins
    assert twins.axiom == "identity"
    # Three points pairwise at 2 but for two at 5: a detour is shorter.
    broken = check_metric([[0.0, 2.0, 5.0], [2.0, 0.0, 2.0], [5.0, 2.0, 0.0]])
    assert broken.axiom == "triangle"
    refused = check_euclidean([[0.0, 2.0, 5.0], [2.0, 0.0, 2.0], [5.0, 2.0, 0.0]])
    assert (bool(refused), refused.dimension, refused.points) == (False, -1, None)
    line = check_euclidean([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])
    assert (bool(line), line.dimension) == (True, 1)
    assert np.abs(np.diff(line.points[:, 0])) == pytest.approx([1.0, 2.0])
    assert check_scalar_product(lambda x, y: float(x @ y), dimension=3, random_state=0)
    assert not check_scalar_product(lambda x, y: float(x @ y) ** 2, dimension=1, random_state=0)


def test_scales():
    calls = []

    def mean(data):
        calls.append(len(data))
        return np.mean(data)

    moved = is_invariant(mean, "ratio", [1.0, 2.0], relation="equivariant", random_state=0)
    assert (bool(moved), moved.n_trials) == (True, 50)
    assert len(calls) == 51
    changed = is_invariant(np.mean, "ratio", [1.0, 2.0], random_state=0)
    assert not changed
    assert changed.expected == 1.5
    assert changed.found == pytest.approx(np.mean(changed.transformed))
    assert infer_scale_type([0.0, 1.0, 1.0]).scale == ScaleType.NOMINAL
    assert infer_scale_type([1.0, 1.0, 1.0]).scale == ScaleType.NOMINAL


def test_nothing_is_related_to_nothing():
    assert check_pairwise(np.empty((0, 0)), kind="dissimilarity")
