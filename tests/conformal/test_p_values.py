"""Conformal p-values, with and without weights, and what is chosen by them."""

import numpy as np
import pytest

from corollary.conformal import conformal_p_values, conformal_quantile, weighted_selection
from corollary.validation import benjamini_hochberg


@pytest.mark.parametrize("n", [0, 1, 2, 5, 20])
def test_p_values_equal_the_definition(n, seed):
    rng = np.random.default_rng([seed, n])
    old, new = (
        rng.normal(size=n).round(1),
        np.append(rng.normal(size=9).round(1), [np.inf, -np.inf]),
    )
    plain = [(1 + sum(old >= s)) / (n + 1) for s in new]
    np.testing.assert_allclose(conformal_p_values(old, new), plain, rtol=1e-12)
    w, v = rng.exponential(size=n), rng.exponential(size=len(new))
    truth = [(w[old >= s].sum() + u) / (w.sum() + u) for s, u in zip(new, v)]
    found = conformal_p_values(old, new, weights=w, new_weights=v)
    np.testing.assert_allclose(found, truth, rtol=1e-12)
    copies = rng.integers(0, 4, size=n)
    np.testing.assert_allclose(
        conformal_p_values(old, new, weights=copies),
        conformal_p_values(np.repeat(old, copies), new),
    )


def test_p_values_without_mass_or_with_all_of_it_are_one():
    assert conformal_p_values([1.0], [5.0], new_weights=[np.inf]) == [1.0]
    assert conformal_p_values([1.0], [5.0], weights=[0.0], new_weights=[0.0]) == [1.0]


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95])
def test_p_values_are_small_beyond_the_quantile(confidence, seed):
    rng = np.random.default_rng(seed)
    old, new = rng.normal(size=39), rng.normal(size=200)
    beyond = new > conformal_quantile(old, confidence)
    assert (beyond == (conformal_p_values(old, new) <= 1 - confidence + 1e-12)).all()


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([np.nan], [1.0]), {}, "free of NaN"),
        (([1.0], [[1.0]]), {}, "one-dimensional"),
        (([1.0], [1.0]), {"weights": [-1.0]}, "not negative"),
        (([1.0], [1.0]), {"weights": [1.0, 2.0]}, "each of 1 rows"),
        (([1.0], [1.0]), {"new_weights": [np.nan]}, "not negative"),
    ],
)
def test_p_values_refuse(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        conformal_p_values(*arguments, **options)


def chosen_by_definition(old, new, level, w, v):
    """Algorithm 1 of Jin and Candes with deterministic pruning, row by row."""
    m = len(new)
    p = [(w[old >= s].sum() + u) / (w.sum() + u) for s, u in zip(new, v)]
    counts = []
    for j in range(m):
        others = [
            0.0
            if k == j
            else (w[old >= new[k]].sum() + v[j] * (new[j] >= new[k])) / (w.sum() + v[j])
            for k in range(m)
        ]
        counts.append(int((benjamini_hochberg(np.minimum(others, 1)) <= level + 1e-12).sum()))
    passed = [p[j] <= level * counts[j] / m + 1e-12 for j in range(m)]
    sizes = [r for r in range(1, m + 1) if sum(a and c <= r for a, c in zip(passed, counts)) >= r]
    most = max(sizes, default=0)
    return [a and c <= most for a, c in zip(passed, counts)]


@pytest.mark.parametrize("n", [5, 30, 100])
@pytest.mark.parametrize("m", [1, 4, 25])
def test_selection_equals_the_definition(n, m, seed):
    rng, any_chosen = np.random.default_rng([seed, n, m]), False
    for level in (0.1, 0.3, 0.6):
        old, new = rng.normal(size=n), rng.normal(size=m) + 3.0 * (rng.random(m) < 0.6)
        w, v = rng.exponential(size=n), rng.exponential(size=m) / 5
        found = weighted_selection(old, new, level, weights=w, new_weights=v)
        assert found.tolist() == chosen_by_definition(old, new, level, w, v)
        any_chosen = any_chosen or found.any()
        even = weighted_selection(old, new, level, weights=np.ones(n), new_weights=np.ones(m))
        by_bh = benjamini_hochberg(conformal_p_values(old, new)) <= level * (1 + 1e-12)
        assert even.tolist() == by_bh.tolist()
    assert any_chosen or n == 5 or m == 1


def test_selection_of_no_rows_and_refusals():
    assert weighted_selection([1.0], [], 0.1, weights=[1.0], new_weights=[]).shape == (0,)
    with pytest.raises(ValueError, match="finite"):
        weighted_selection([1.0], [1.0], 0.1, weights=[1.0], new_weights=[np.inf])


def test_weights_whose_sums_are_beyond_all_numbers(seed):
    """Only their proportions count."""
    rng = np.random.default_rng(seed)
    old, new, w, v = rng.normal(size=20), rng.normal(size=6) + 1, rng.random(20), rng.random(6)
    small, large = ({"weights": w * f, "new_weights": v * f} for f in (1.0, 2.0**1023))
    np.testing.assert_array_equal(
        conformal_p_values(old, new, **large), conformal_p_values(old, new, **small)
    )
    chosen = weighted_selection(old, new, 0.5, **small)
    np.testing.assert_array_equal(weighted_selection(old, new, 0.5, **large), chosen)
    assert chosen.any()
    one = conformal_p_values(old, new, weights=w * 2.0**1023, new_weights=np.full(6, np.inf))
    np.testing.assert_array_equal(one, 1.0)
