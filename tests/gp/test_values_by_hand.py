"""A process of two points, by hand, and a fit that learns."""

import math

import numpy as np
import pytest

from corollary.gp import GaussianProcessRegressor
from corollary.kernels import RBF


def test_two_points():
    # Standardised targets are -1 and 1 of scale 3/2; variances 1/10 and 9/10 / (9/4) make 1/2.
    model = GaussianProcessRegressor(RBF(1.0), alpha=0.1, optimizer=None, normalize_y=True)
    model.fit([[0.0], [1.0]], [1.0, 4.0], noise=[0.9, 0.9])
    k = math.exp(-0.5)
    weight = 1 / (1.5 - k)
    mean = 2.5 - 1.5 * weight * (1 - k)
    assert model.predict([[0.0]]) == pytest.approx([mean])
    evidence = -weight - 0.5 * math.log(1.5**2 - k**2) - math.log(2 * math.pi)
    assert model.log_marginal_likelihood_value_ == pytest.approx(evidence)


def test_a_fit_learns():
    x = np.linspace(0, 6, 25)[:, None]
    y = np.sin(x[:, 0])
    fixed = GaussianProcessRegressor(RBF(0.1), alpha=0.01, optimizer=None).fit(x, y)
    learnt = GaussianProcessRegressor(RBF(0.1), alpha=0.01).fit(x, y)
    assert fixed.kernel_.length_scale == pytest.approx(0.1)
    assert learnt.log_marginal_likelihood_value_ > fixed.log_marginal_likelihood_value_ + 10
