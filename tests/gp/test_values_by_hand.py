"""A process of two points, by hand, and a fit that learns."""

import math

import numpy as np
import pytest

from corollary.gp import (
    GaussianProcessRegressor,
    SparseGaussianProcessRegressor,
    condition_gaussian,
    sample_prior,
)
from corollary.kernels import RBF, Linear


def test_two_points():
    # Standardised targets are -1 and 1 of scale 3/2; variances 1/10 and 9/10 / (9/4) make 1/2.
    model = GaussianProcessRegressor(RBF(1.0), alpha=0.1, optimizer=None, normalize_y=True)
    model.fit([[0.0], [1.0]], [1.0, 4.0], noise=[0.9, 0.9])
    k = math.exp(-0.5)
    weight = 1 / (1.5 - k)
    mean = 2.5 - 1.5 * weight * (1 - k)
    assert model.predict([[0.0]]) == pytest.approx([mean])
    rows = GaussianProcessRegressor(RBF(1.0), alpha=[0.5, 0.5], optimizer=None, normalize_y=True)
    assert rows.fit([[0.0], [1.0]], [1.0, 4.0]).predict([[0.0]]) == pytest.approx([mean])
    evidence = -weight - 0.5 * math.log(1.5**2 - k**2) - math.log(2 * math.pi)
    assert model.log_marginal_likelihood_value_ == pytest.approx(evidence)


def test_conditions():
    law = condition_gaussian([1.0, 2.0], [[1.0, 0.5], [0.5, 1.0]], [1], [4.0])
    assert (law.mean.tolist(), law.covariance.tolist()) == ([2.0], [[0.75]])
    nothing = condition_gaussian([1.0], [[4.0]], [], [])
    assert (nothing.mean.tolist(), nothing.covariance.tolist()) == ([1.0], [[4.0]])
    # Two measurements of one thing that differ by rounding: their mean counts.
    almost = 1 - 1e-15
    covariance = [[1.0, 0.5, 0.5 + 1e-9], [0.5, 1.0, almost], [0.5 + 1e-9, almost, 1.0]]
    law = condition_gaussian([0.0] * 3, covariance, [1, 2], [2.0, 2.0001])
    assert law.mean == pytest.approx([1.000025], rel=1e-6)


def test_draws():
    x = [[0.0], [9.0]]
    draws = sample_prior(RBF(), x, 4000, mean=[1.0, -1.0], noise=[0.0, 3.0], random_state=0)
    assert draws.shape == (2, 4000)
    assert draws.mean(axis=1) == pytest.approx([1.0, -1.0], abs=5 * 2 / math.sqrt(4000))
    assert draws.var(axis=1) == pytest.approx([1.0, 4.0], rel=5 * math.sqrt(2 / 4000))


def test_rows_are_predicted_in_blocks(monkeypatch):
    monkeypatch.setattr("corollary.gp.exact.regressor.BLOCK", 2)
    model = GaussianProcessRegressor(RBF(1.0), alpha=0.1, optimizer=None)
    model.fit([[0.0], [1.0]], [1.0, 4.0])
    rows = [[0.0], [0.5], [1.0], [2.0], [3.0]]
    mean, spread = model.predict(rows, return_std=True)
    each = [model.predict([row], return_std=True) for row in rows]
    assert mean == pytest.approx([value.item() for value, _ in each])
    assert model.predict(rows) == pytest.approx(mean)
    assert spread == pytest.approx([value.item() for _, value in each])


def test_a_fit_learns():
    x = np.linspace(0, 6, 25)[:, None]
    y = np.sin(x[:, 0])
    fixed = GaussianProcessRegressor(RBF(0.1), alpha=0.01, optimizer=None).fit(x, y)
    learnt = GaussianProcessRegressor(RBF(0.1), alpha=0.01).fit(x, y)
    assert fixed.kernel_.length_scale == pytest.approx(0.1)
    assert learnt.log_marginal_likelihood_value_ > fixed.log_marginal_likelihood_value_ + 10
    # Two equal targets speak for a long scale; one target says nothing of scales.
    two = GaussianProcessRegressor(RBF(0.5), alpha=0.01).fit([[0.0], [1.0]], [1.0, 1.0])
    assert two.kernel_.length_scale > 1
    few = SparseGaussianProcessRegressor(RBF(0.1), alpha=0.01, n_inducing=8, optimizer=None).fit(
        x, y
    )
    best = SparseGaussianProcessRegressor(RBF(0.1), alpha=0.01, n_inducing=8, tol=0.1).fit(x, y)
    assert few.n_iter_ == 0
    assert best.n_iter_ > 0
    assert best.elbo_ > few.elbo_ + 5
    calls = []
    fixed = GaussianProcessRegressor(Linear(), alpha=0.1, optimizer=lambda *how: calls.append(how))
    assert (fixed.fit([[0.0], [1.0]], [1.0, 2.0]).n_iter_, calls) == (0, [])
    one = GaussianProcessRegressor(RBF(0.5), alpha=0.01).fit([[0.0]], [1.0])
    assert one.kernel_.length_scale == pytest.approx(0.5)
