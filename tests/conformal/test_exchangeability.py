import numpy as np
import pytest

from corollary.conformal import exchangeability_test
from corollary.core.simulate import assert_bound_holds


@pytest.mark.parametrize("n", [1, 5, 100])
def test_false_alarms_are_as_rare_as_claimed(n, seed):
    rng = np.random.default_rng([seed, n])
    alarms = sum(
        exchangeability_test(rng.normal(size=n).round(), random_state=i).p_value <= 0.2
        for i in range(300)
    )
    assert_bound_holds(alarms, 300, 0.2)


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_change_is_found_in_both_directions(sign):
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(size=300), sign * 1.5 + rng.normal(size=300)])
    result = exchangeability_test(scores, random_state=0)
    assert result.p_value < 1e-6
    assert result.p_value == pytest.approx(1 / result.capital.max())
    assert exchangeability_test(rng.permutation(scores), random_state=0).p_value > 0.01


def test_capital_by_hand():
    """The first rank is the uniform number itself; the three gamblers start with equal purses."""
    uniform = np.random.RandomState(3).random_sample(1)[0]
    capital = exchangeability_test([7.0], random_state=3).capital
    assert capital[0] == pytest.approx(np.mean([1 - (uniform - 0.5), 1, 1 + (uniform - 0.5)]))


def test_nan_is_refused():
    with pytest.raises(ValueError, match="free of NaN"):
        exchangeability_test([1.0, np.nan])
