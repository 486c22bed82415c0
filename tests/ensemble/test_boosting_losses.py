"""Losses of boosting: derivatives by finite differences, starts, leaf values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.ensemble import (
    ExponentialBoostingLoss,
    LogisticBoostingLoss,
    NormalBoostingLoss,
    PinballBoostingLoss,
    PoissonBoostingLoss,
    QuantilesBoostingLoss,
    SoftmaxBoostingLoss,
    SquareBoostingLoss,
    calibrated_scale,
    weighted_quantile,
)

SMOOTH = {
    "square": SquareBoostingLoss(),
    "logistic": LogisticBoostingLoss(),
    "exponential": ExponentialBoostingLoss(),
    "poisson": PoissonBoostingLoss(),
    "softmax": SoftmaxBoostingLoss(3),
    "normal": NormalBoostingLoss(),
}


def case(name, seed, n=12):
    rng = np.random.default_rng(seed)
    loss = SMOOTH[name]
    raw = rng.normal(size=(n, loss.n_outputs))
    if name in ("logistic", "exponential"):
        y = rng.integers(0, 2, n).astype(float)
    elif name == "softmax":
        y = np.arange(n) % 3.0
    elif name == "poisson":
        y = rng.poisson(2.0, n).astype(float)
    else:
        y = rng.normal(size=n)
    return loss, y, raw


@pytest.mark.parametrize("name", sorted(SMOOTH))
def test_gradients_are_finite_differences(seed, name):
    loss, y, raw = case(name, seed)
    w = np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
    gradient, hessian = loss.derivatives(y, raw, w)
    for k in range(loss.n_outputs):
        step = np.zeros(loss.n_outputs)
        step[k] = 1e-5
        up, here, down = (loss.value(y, raw + s * step) for s in (1, 0, -1))
        np.testing.assert_allclose(gradient[k], w * (up - down) / 2e-5, rtol=1e-5, atol=1e-8)
        curvature = w * (up - 2 * here + down) / 1e-10
        if name == "softmax":  # Friedman's factor K / (K - 1)
            np.testing.assert_allclose(hessian[k], 1.5 * curvature, atol=1e-4)
        elif name == "normal":  # Fisher's information: the expected curvature
            expected = w * (np.exp(-2 * raw[:, 1]) if k == 0 else 2.0)
            np.testing.assert_allclose(hessian[k], expected)
        else:
            np.testing.assert_allclose(hessian[k], curvature, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", sorted(SMOOTH))
def test_no_constant_beats_the_start(seed, name):
    loss, y, _ = case(name, seed, n=40)
    w = np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
    start = loss.start(y, w)
    best = loss.mean(y, np.tile(start, (len(y), 1)), w)
    for step in np.random.default_rng(seed).normal(scale=0.1, size=(50, loss.n_outputs)):
        assert loss.mean(y, np.tile(start + step, (len(y), 1)), w) >= best - 1e-12


@given(st.integers(0, 1000), st.floats(0.02, 0.98))
def test_a_leaf_of_residuals_holds_their_quantile(seed, level):
    rng = np.random.default_rng(seed)
    y, raw, w = rng.normal(size=30), rng.normal(size=(30, 1)), rng.uniform(0.1, 1.0, 30)
    loss = PinballBoostingLoss(level)
    (step,) = loss.leaf_value(y, raw, w)
    best = loss.mean(y, raw + step, w)
    assert all(loss.mean(y, raw + r, w) >= best - 1e-12 for r in y - raw[:, 0])


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=30), st.floats(0.01, 0.99))
def test_weighted_quantile_is_the_quantile_of_copies(values, level):
    values = np.array(values, dtype=float)
    weights = np.arange(1, len(values) + 1) % 4
    if weights.sum() == 0:
        return
    copies = np.repeat(values, weights)
    expected = np.quantile(copies, level, method="inverted_cdf")
    assert weighted_quantile(values, level, weights) == expected
    assert weighted_quantile(copies, level) == expected


def test_a_leaf_puts_the_right_shares_below_several_quantiles(seed):
    rng = np.random.default_rng(seed)
    loss = QuantilesBoostingLoss((0.1, 0.3, 0.5, 0.8))
    y = rng.gamma(2.0, size=500)
    raw = loss.start(y) + 0.3 * rng.normal(size=(500, 4))
    after = loss.quantiles(raw + loss.leaf_value(y, raw))
    share = (y[:, None] <= after + 1e-12).mean(axis=0)
    np.testing.assert_allclose(share, loss.levels, atol=1.1 / 500)


@given(st.integers(0, 10_000))
def test_quantiles_are_ordered_for_any_raw_prediction(seed):
    raw = np.random.default_rng(seed).normal(scale=50.0, size=(20, 5))
    found = QuantilesBoostingLoss((0.1, 0.2, 0.4, 0.6, 0.9)).quantiles(raw)
    assert (np.diff(found, axis=1) >= 0).all()
    assert np.isfinite(found).all()


def test_the_levels_take_turns():
    loss = QuantilesBoostingLoss((0.1, 0.5, 0.9))
    assert [loss.parameters(t)[2] for t in range(4)] == [0.5, 0.9, 0.1, 0.5]
    y, raw = np.array([0.0, 10.0]), np.array([[0.0, 5.0, 0.0]] * 2)
    for t in range(3):
        level = loss.parameters(t)[2]
        gradient, _ = loss.derivatives(y, raw, iteration=t)
        np.testing.assert_allclose(gradient[0], [1 - level, -level])


def test_the_scale_of_a_leaf_widens_to_its_best_value():
    loss = NormalBoostingLoss()
    y = np.array([3.0, -3.0])
    raw = np.zeros((2, 2))
    gradient, hessian = loss.derivatives(y, raw)
    step = loss.temper(np.array([-gradient[1].sum() / hessian[1].sum()]), 1)[0]
    assert step == pytest.approx(np.log(3.0))
    assert loss.temper(np.array([-0.4]), 1)[0] == -0.4


def test_a_quantile_of_nothing():
    with pytest.raises(ValueError, match="at least one value"):
        weighted_quantile([], 0.5)


@pytest.mark.parametrize("truth", [(0.7, 0.5), (-2.0, 0.0), (0.3, 1.6)], ids=str)
def test_the_scale_is_calibrated_as_a_grid_would(seed, truth):
    rng = np.random.default_rng(seed)
    s, weight = rng.normal(size=300), rng.uniform(0.5, 2.0, size=300)
    squares = (np.exp(truth[0] + truth[1] * s) * rng.normal(size=300)) ** 2 + 1e-12
    a, b = calibrated_scale(squares, s, weight)
    rows = weight.sum() ** 2 / (weight**2).sum()
    a -= 0.5 * np.log((rows + 1) / (rows - 2))

    def loss(shift, factor):
        scale = shift + factor * s
        return np.average(scale + 0.5 * squares * np.exp(-2 * scale), weights=weight)

    shifts, factors = np.linspace(truth[0] - 3, truth[0] + 3, 201), np.linspace(0, 1, 51)
    assert loss(a, b) <= min(loss(x, y) for x in shifts for y in factors) + 1e-12
    assert 0.0 <= b <= 1.0


def test_the_calibrated_scale_of_few_rows_is_wider():
    assert calibrated_scale(np.ones(5), np.zeros(5))[0] == pytest.approx(0.5 * np.log(6 / 3))
