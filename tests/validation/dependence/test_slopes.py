"""Slopes that differ between units: by hand, as a law, and what is refused."""

import numpy as np
import pytest

from corollary.validation import intraclass_p_value, slope_correction, slope_p_values


def test_products_with_columns_standardised_within_units_are_tested():
    rng = np.random.default_rng(0)
    units, X, residuals = np.repeat(np.arange(6), 5), rng.normal(size=(30, 2)), rng.normal(size=30)
    for j, p_value in enumerate(slope_p_values(residuals, X, units)):
        x = X[:, j].reshape(6, 5)
        x = ((x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)).ravel()
        assert p_value == pytest.approx(intraclass_p_value(residuals * x, units), rel=1e-9)


def test_the_test_keeps_its_level_where_columns_wander():
    rng, units = np.random.default_rng(1), np.repeat(np.arange(40), 10)
    p_values = []
    for _ in range(300):
        X = np.cumsum(rng.normal(size=(400, 1)), axis=0)
        p_values.append(slope_p_values(rng.normal(size=400), X, units)[0])
    # 15 of 300 are expected below 0.05; more than 28 happen in 0.1% of such tests.
    assert sum(p < 0.05 for p in p_values) <= 28
    assert 0.3 < np.mean(p_values) < 0.7


def test_correction_by_hand():
    # Two units with slopes 2 and 0; x has mean 0 and mean square 1 within each.
    x, units = np.tile([1.0, -1.0], 4)[:, None], np.repeat([0, 1], 4)
    residuals = np.array([2.0, -2.0, 2.0, -2.0, 0.0, 0.0, 0.0, 0.0])
    # Products are 2, 2, 2, 2, 0, 0, 0, 0: correlation 1 within units, so all of it is known.
    np.testing.assert_allclose(slope_correction(residuals, x, units, level=0.9), np.zeros(8))
    noisy = residuals + np.array([0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0])
    products = np.array([2.0, 2.0, 2.0, 3.0])
    others = (products.sum() - products) / 3
    rho = products @ others / (products @ products)
    weight = 3 * rho / (1 + 2 * rho)
    expected = np.append(x[:4, 0] * (products - weight * others), np.zeros(4))
    np.testing.assert_allclose(slope_correction(noisy, x, units, level=0.9), expected)


def test_columns_that_say_nothing_are_left_alone():
    rng, units = np.random.default_rng(2), np.repeat(np.arange(10), 8)
    residuals, X = (
        rng.normal(size=(80, 2)),
        np.column_stack([np.full(80, 5.0), rng.normal(size=80)]),
    )
    assert slope_p_values(residuals, X, units)[0] == 1.0
    np.testing.assert_array_equal(slope_correction(residuals, X, units, level=1e-6), residuals)


@pytest.mark.parametrize(
    ("X", "units"),
    [(np.ones(3), [0, 0, 1]), (np.ones((2, 1)), [0, 0, 1]), ([[np.nan]] * 3, [0, 0, 1])],
)
def test_shapes_are_checked(X, units):
    with pytest.raises(ValueError, match="one row of finite numbers"):
        slope_p_values(np.ones(3), X, units)
