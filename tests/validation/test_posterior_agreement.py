"""Agreement of posteriors."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.risk import kl_divergence
from corollary.validation import (
    agreement_curve,
    posterior_agreement,
    posterior_log_loss,
)

seeds = st.integers(0, 2**32 - 1)


@given(seeds)
def test_agreement_of_posteriors(seed):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(5), size=2)
    loss = posterior_log_loss(p, q)
    entropy = -np.sum(p * np.log(p))
    assert loss == pytest.approx(entropy + kl_divergence(p, q))
    assert posterior_agreement(p, q) == pytest.approx(posterior_agreement(q, p))
    assert posterior_agreement(p, q) <= loss + 1e-12
    # For a Gibbs posterior the loss is mean cost plus log partition, which may not be dropped.
    cost, beta = rng.random(5), 3.0
    other = np.exp(-beta * cost)
    by_parts = beta * (p @ cost) + math.log(other.sum())
    assert posterior_log_loss(p, other / other.sum()) == pytest.approx(by_parts)


def test_curve_by_hand():
    # Costs 0 and 1 on both samples: the cheap hypothesis has mass 1 / (1 + exp(-beta)).
    first, second = [[0.0, 1.0]], [[0.0, 2.0]]
    p, q = 1 / (1 + math.exp(-1.5)), 1 / (1 + math.exp(-3.0))
    curve = agreement_curve(first, second, [1.5])
    assert curve.agreement[0] == pytest.approx(-math.log(p * q + (1 - p) * (1 - q)))
    assert curve.log_loss[0] == pytest.approx(-p * math.log(q) - (1 - p) * math.log(1 - q))
    # Samples that agree on which is the best hypothesis, and on nothing else.
    first, second = [[0.0, 1.0, 2.0]], [[0.0, 2.0, 1.0]]
    sure = agreement_curve(first, second, [0.0, 40.0]).agreement
    assert sure == pytest.approx([math.log(3), 0.0])


def test_temperatures_of_agreement():
    rng = np.random.default_rng(0)
    truth = np.linspace(0, 3, 8)
    first, second = truth + rng.normal(size=(2, 400, 8))
    curve = agreement_curve(first, second, np.array([0.0, 0.5, 1.0, 2.0, 20.0, 200.0]))
    assert curve.agreement[0] == pytest.approx(math.log(8))
    assert 0 < curve.best < 20
    assert np.all(curve.agreement <= curve.log_loss + 1e-9)
    assert posterior_agreement([0.0, 1.0], [0.0, 1.0]) == 0.0
    assert posterior_agreement([0.0, 1.0], [1.0, 0.0]) == math.inf
    assert posterior_log_loss([0.5, 0.5], [1.0, 0.0]) == math.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: posterior_agreement([1.0], [0.5, 0.5]), "same hypotheses"),
        (lambda: agreement_curve([1.0], [1.0], [-1.0]), "not negative"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_agreement_by_hand():
    p, q = [0.5, 0.5, 0.0], [0.25, 0.5, 0.25]
    assert posterior_agreement(p, q) == pytest.approx(-math.log(0.375))
    assert posterior_agreement([1.0, 0.0], [0.0, 1.0]) == math.inf
    assert posterior_log_loss(p, q) == pytest.approx(1.5 * math.log(2))
