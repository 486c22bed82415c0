import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from corollary.risk import (
    ExponentialLoss,
    HingeLoss,
    LogisticLoss,
    PerceptronLoss,
    RampLoss,
    SquaredHingeLoss,
    SquareMarginLoss,
    ZeroOneLoss,
    bound_error_rate,
    domination_constant,
    half_log_odds,
    probability_from_half_log_odds,
)

DOMINATING = [
    (HingeLoss(), 1),
    (SquaredHingeLoss(), 1),
    (ExponentialLoss(), 1),
    (SquareMarginLoss(), 1),
    (RampLoss(0.5), 1),
    (LogisticLoss(), 1 / np.log(2)),
]


@pytest.mark.parametrize(("loss", "constant"), DOMINATING, ids=repr)
def test_surrogates_dominate_the_zero_one_loss_sharply(loss, constant):
    assert np.isclose(domination_constant(loss), constant)
    s = np.linspace(-5, 5, 1001)  # contains 0
    dominating = constant * loss.of_margin(s)
    assert np.all((s <= 0) <= dominating + 1e-12)
    # Any smaller constant fails at s = 0.
    assert not np.all((s <= 0) <= 0.999 * dominating)
    for y in (-1, 1):
        mistakes = ZeroOneLoss(scores=True)(np.full(s.size, y), y * s)
        assert np.all(mistakes <= (s <= 0))


def test_the_perceptron_loss_does_not_dominate():
    assert domination_constant(PerceptronLoss()) == np.inf
    assert bound_error_rate("perceptron", 0.0) == 1


def test_error_rate_is_below_the_bound(seed):
    rng = np.random.default_rng(seed)
    for n in (1, 2, 5, 100):
        for _ in range(20):
            y = rng.choice([-1, 1], n)
            f = rng.normal(scale=3, size=n) * rng.integers(0, 2, n)  # some exact zeros
            error = np.mean(np.where(f >= 0, 1, -1) != y)
            for loss, _ in DOMINATING:
                assert error <= bound_error_rate(loss, loss(y, f).mean()) + 1e-12


def test_exponential_risk_is_minimised_by_half_the_log_odds():
    for p in (0.01, 0.2, 0.5, 0.75, 0.99):
        found = minimize_scalar(lambda f, p=p: p * np.exp(-f) + (1 - p) * np.exp(f))
        assert np.isclose(half_log_odds(p), found.x, atol=1e-6)
        f = half_log_odds(p)
        for sign in (-1, 1):
            back = np.exp(sign * f) / (np.exp(f) + np.exp(-f))
            assert np.isclose(back, p if sign == 1 else 1 - p)


def test_round_trip():
    p = np.linspace(0, 1, 101)
    np.testing.assert_allclose(probability_from_half_log_odds(half_log_odds(p)), p, atol=1e-14)
    assert probability_from_half_log_odds(800.0) == 1


def test_errors():
    with pytest.raises(TypeError, match="domination_constant needs a margin loss"):
        domination_constant("square")
    with pytest.raises(ValueError, match=r"'probability' parameter of half_log_odds"):
        half_log_odds([0.5, 1.1])
    with pytest.raises(ValueError, match="must not be negative"):
        bound_error_rate("hinge", -0.1)


def test_error_rates_by_hand():
    assert bound_error_rate("hinge", 0.3) == 0.3
    assert bound_error_rate("hinge", 3.0) == 1.0
    assert bound_error_rate("logistic", 0.3) == pytest.approx(0.3 / np.log(2))
    assert bound_error_rate("perceptron", 0.3) == 1.0
    assert half_log_odds(0.9) == pytest.approx(np.log(3))
    assert probability_from_half_log_odds(np.log(3)) == pytest.approx(0.9)
