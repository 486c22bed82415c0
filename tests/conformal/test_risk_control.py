import numpy as np
import pytest
from scipy.stats import binom

from corollary.conformal import (
    hoeffding_bentkus_p_values,
    learn_then_test,
    risk_controlling_setting,
)


@pytest.mark.parametrize("n", [1, 2, 7, 30, 200])
@pytest.mark.parametrize("target", [0.05, 0.1, 0.5])
def test_p_values_of_coins_are_valid_exactly(n, target):
    """P(p <= u) <= u by adding up the binomial law, at every value that p can take."""
    counts = np.arange(n + 1)
    p = np.array([hoeffding_bentkus_p_values(np.arange(n) < count, target)[0] for count in counts])
    law = binom.pmf(counts, n, target)
    for u in p[p < 1]:
        assert law[p <= u].sum() <= u + 1e-12


def test_p_values_by_hand():
    p = hoeffding_bentkus_p_values(np.zeros(20), 0.1)[0]
    assert p == pytest.approx(min(0.9**20, np.e * 0.9**20))
    losses = np.arange(10) < 3
    kl = 0.3 * np.log(0.3 / 0.6) + 0.7 * np.log(0.7 / 0.4)
    expected = min(np.exp(-10 * kl), np.e * binom.cdf(3, 10, 0.6))
    assert hoeffding_bentkus_p_values(losses, 0.6)[0] == pytest.approx(expected)
    assert hoeffding_bentkus_p_values(np.ones(10), 0.6)[0] == 1.0


def test_corrections_are_ordered_and_a_sequence_stops_at_the_first_failure():
    rng = np.random.default_rng(0)
    losses = rng.random((300, 1)) < [0.01, 0.3, 0.02, 0.03]
    assert learn_then_test(losses, 0.1).tolist() == [True, False, False, False]
    bonferroni = learn_then_test(losses, 0.1, correction="bonferroni")
    holm = learn_then_test(losses, 0.1, correction="holm")
    assert bonferroni.tolist() == holm.tolist() == [True, False, True, True]
    assert np.all(holm >= bonferroni)


def test_a_monotone_rule_is_as_bold_as_allowed():
    uniform = np.random.default_rng(0).random((2000, 1))
    levels = np.linspace(0.5, 0, 26)
    column = risk_controlling_setting(uniform < levels, 0.2)
    assert 0.15 < levels[column] < 0.2
    assert risk_controlling_setting(np.ones((50, 3)), 0.2) is None
    with pytest.raises(ValueError, match="never rise along the columns"):
        risk_controlling_setting(uniform < levels[::-1], 0.2)
    with pytest.raises(ValueError, match=r"losses in \[0, 1\]"):
        learn_then_test([[2.0]], 0.2)
