"""Forward stagewise additive modelling."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from corollary.ensemble import best_stump, line_search, stagewise_dictionary
from corollary.ensemble.stagewise._steps import additive_loss
from corollary.risk import (
    AbsoluteLoss,
    CostLoss,
    EpsilonInsensitiveLoss,
    ExponentialLoss,
    HingeLoss,
    LogisticLoss,
    PinballLoss,
    RampLoss,
    SquaredHingeLoss,
    SquareLoss,
    SquareMarginLoss,
)

MARGIN = [ExponentialLoss(), LogisticLoss(), HingeLoss(), SquaredHingeLoss(), SquareMarginLoss()]
REGRESSION = [SquareLoss(), AbsoluteLoss(), PinballLoss(0.2), EpsilonInsensitiveLoss(0.1)]


def problem(seed, labels, n=12):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], size=n) if labels else 3 * rng.normal(size=n)
    f, h = rng.normal(size=(2, n))
    h[0], h[1] = y[0], -y[1]  # the best step is finite
    return y, f, h, rng.uniform(0.2, 2, size=n)


@pytest.mark.parametrize("loss", [*MARGIN, *REGRESSION], ids=lambda loss: loss.name)
@given(seed=st.integers(0, 10**6))
def test_line_search_finds_the_minimum(loss, seed):
    y, f, h, w = problem(seed, loss in MARGIN)

    def risk(step):
        return w @ loss(y, f + step * h)

    step = line_search(loss, y, f, h, sample_weight=w)
    around = [risk(step + d) for d in (-1e-3, 1e-3)]
    assert risk(step) <= min(around) + 1e-12
    grid = min(risk(a) for a in np.linspace(step - 5, step + 5, 201))
    assert risk(step) <= grid + 1e-9 * abs(grid)


def test_line_search_by_hand():
    assert line_search("absolute", [1.0, 2.0, 9.0], [0.0] * 3, [1.0] * 3) == pytest.approx(2.0)
    # Of n labels k are wrong along h: half the log-odds.
    step = line_search("exponential", [1, 1, 1, -1], [0.0] * 4, [1.0] * 4)
    assert step == pytest.approx(0.5 * np.log(3), abs=1e-14)
    assert line_search("square", [1.0], [0.0], [0.0]) == 0.0
    # Where the loss falls for ever, the step is long, and finite.
    assert 25 < line_search("logistic", [1, -1], [0.0, 0.0], [1.0, -1.0]) < 100


def test_a_loss_that_is_not_convex_does_not_rise(seed):
    for s in range(20):
        y, f, h, w = problem(seed + s, True)
        loss = RampLoss()
        step = line_search(loss, y, f, h, sample_weight=w)
        assert w @ loss(y, f + step * h) <= w @ loss(y, f)


def stumps(X):
    columns = []
    for j in range(X.shape[1]):
        for t in [-np.inf, *np.unique(X[:, j])[1:]]:
            columns.append(np.where(X[:, j] >= t, 1, -1))
    H = np.column_stack(columns)
    return np.unique(np.hstack([H, -H]), axis=1)


@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_exponential_loss_over_a_dictionary_is_adaboost(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(10, 2))
    y = rng.choice([-1, 1], size=10)
    X[1], y[0], y[1] = X[0], 1, -1  # not separable
    H = stumps(X)
    path = stagewise_dictionary(H, y, "exponential", n_steps=4)
    D = np.full(10, 1 / 10)
    for column, length in zip(path.chosen, path.lengths):
        error = best_stump(X, y, sample_weight=D).error
        # A stump and its mirror image with a negative length are one step.
        h = np.sign(length) * H[:, column]
        assert D[h != y].sum() == pytest.approx(error, abs=1e-9)
        alpha = 0.5 * np.log((1 - error) / error)
        assert abs(length) == pytest.approx(alpha, abs=1e-9)
        D = D * np.exp(-alpha * y * h)
        D /= D.sum()
    assert np.all(np.diff(path.losses) <= 0)


@given(st.integers(0, 10**6))
def test_square_loss_over_a_dictionary_is_matching_pursuit(seed):
    rng = np.random.default_rng(seed)
    H, y = rng.normal(size=(10, 6)), rng.normal(size=10)
    path = stagewise_dictionary(H, y, "square", n_steps=5)
    assert len(path.chosen) == 5
    residual = y.copy()
    for column, length in zip(path.chosen, path.lengths):
        gains = (residual @ H) ** 2 / (H**2).sum(axis=0)
        assert column == gains.argmax()
        assert length == pytest.approx(residual @ H[:, column] / (H[:, column] ** 2).sum())
        residual = residual - length * H[:, column]
    np.testing.assert_allclose(path.scores, y - residual)
    np.testing.assert_allclose(path.losses[-1], np.mean(residual**2))


@given(st.integers(0, 10**6))
def test_each_pair_is_the_best_pair(seed):
    rng = np.random.default_rng(seed)
    H, y = rng.normal(size=(8, 4)), rng.choice([-1, 1], size=8)
    w = rng.uniform(0.1, 1, size=8)
    path = stagewise_dictionary(H, y, "logistic", n_steps=1, sample_weight=w)
    brute = min(
        minimize_scalar(
            lambda a, h=h: w @ np.logaddexp(0, -y * a * h) / w.sum(),
            bounds=(-60, 60),
            method="bounded",
        ).fun
        for h in H.T
    )
    assert path.losses[1] <= brute + 1e-9


def test_the_run_ends_where_nothing_helps():
    path = stagewise_dictionary([[1.0], [1.0]], [1, -1], "logistic", n_steps=5)
    assert len(path.chosen) == 0
    assert path.losses.tolist() == [pytest.approx(np.log(2))]


def test_errors():
    with pytest.raises(ValueError, match="needs a loss of one real score"):
        line_search("zero_one", [1], [0.0], [1.0])
    with pytest.raises(ValueError, match="needs a loss of one real score"):
        additive_loss(CostLoss(costs=((0.0, 1.0), (1.0, 0.0)), classes=(0, 1)), "here")
    with pytest.raises(TypeError, match="slope"):
        line_search(lambda y, p: (y - p) ** 2, [1.0], [0.0], [1.0])
    with pytest.raises(ValueError, match="as many scores and directions"):
        line_search("square", [1.0], [0.0, 1.0], [1.0])
    with pytest.raises(ValueError, match="n_samples, n_functions"):
        stagewise_dictionary([1.0], [1.0])
    with pytest.raises(ValueError, match="n_steps of at least 1"):
        stagewise_dictionary([[1.0]], [1], n_steps=0)
