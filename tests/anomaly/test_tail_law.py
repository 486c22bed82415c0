"""A tail that reference rows measured calls normal rows as rarely as it says."""

import numpy as np
import pytest
from scipy.stats import beta, binom

from corollary.anomaly import TailLaw, tail_p_values

LAWS = {
    "exponential": lambda rng, n: rng.exponential(size=n),
    "gaussian distance": lambda rng, n: np.linalg.norm(rng.normal(size=(n, 4)), axis=1),
    "power of a distance": lambda rng, n: np.log(rng.pareto(1.5, size=n) + 1),
    "logarithms, skewed": lambda rng, n: np.log(np.linalg.norm(rng.lognormal(size=(n, 3)), axis=1)),
    "logarithms, heavy": lambda rng, n: np.log(
        np.linalg.norm(rng.standard_t(3, size=(n, 3)), axis=1)
    ),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("n", [5, 20, 60, 300])
def test_p_values_of_further_rows_are_valid(name, n):
    """Each draw brings a new reference and one further row, so that the draws are independent."""
    rng, runs = np.random.default_rng(0), 4000
    draws = LAWS[name](rng, runs * (n + 1)).reshape(runs, n + 1)
    p = np.array([TailLaw.of(row[:-1]).p_values(row[-1:])[0] for row in draws])
    for level in (0.1, 0.02, 0.005):
        assert binom.sf((p <= level).sum() - 1, runs, level) > 1e-5


def test_the_exponential_tail_is_exact():
    """At n = 60, p below 1% comes in 1% of the draws: not fewer."""
    rng, runs = np.random.default_rng(1), 20_000
    draws = rng.exponential(size=(runs, 61))
    p = np.array([TailLaw.of(row[:-1]).p_values(row[-1:])[0] for row in draws])
    hits = (p <= 0.01).sum()
    low, high = beta.ppf([1e-4, 1 - 1e-4], [hits, hits + 1], [runs - hits + 1, runs - hits])
    assert low <= 0.01 <= high


def test_by_hand():
    """Scores 1 to 10: two spacings, with 3 and 2 rows above and the further one."""
    law = TailLaw.of(np.arange(10.0)[::-1])
    assert law == TailLaw(10, 8.0, 2 / 11, (4 + 3) / 2, 2)
    p = law.p_values([8.0, 15.0])
    np.testing.assert_allclose(p, [1.0, 2 / 11 * (1 + 7 / 7) ** -2])


def test_ranks_are_left_where_the_rate_falls():
    """A tail that thickens refutes the assumption: the largest of all is the start."""
    rng = np.random.default_rng(2)
    scores = np.exp(3 * rng.exponential(size=200))
    law = TailLaw.of(scores)
    assert law.n_spacings == 0
    np.testing.assert_allclose(
        law.p_values([scores.max(), scores.max() * 1.01, 1e300]), [1.0, 1 / 201, 1 / 201]
    )
    assert TailLaw.of([3.0]).p_values([4.0]) == 0.5
    assert TailLaw.of(np.ones(50)).n_spacings == 0


def test_some_anomalies_do_not_hide_each_other():
    rng = np.random.default_rng(3)
    clean = rng.exponential(size=180)
    law = TailLaw.of(np.append(clean, np.full(6, 1e6)))
    assert law.p_values([1e6])[0] < 1e-12
    assert law.p_values(clean).min() > 1e-4


def test_bad_input_is_told():
    with pytest.raises(ValueError, match=r"needs a list of finite scores\. Got 1 finite ones"):
        TailLaw.of([1.0, np.nan])
    with pytest.raises(ValueError, match=r"p_values needs scores that are numbers\. Got 1 NaN"):
        TailLaw.of(np.arange(20.0)).p_values([1.0, np.nan])


def test_spacings_beyond_all_numbers_leave_ranks():
    scores = 1.7e308 * np.linspace(-1, 1, 40)
    assert TailLaw.of(scores) == TailLaw(40, 1.7e308, 1 / 41, 0.0, 0)
    np.testing.assert_allclose(tail_p_values(scores).p_values, np.arange(40, 0, -1) / 40)


def test_a_rate_that_does_not_fall_beyond_the_seventh_decile_is_not_enough():
    """Seven tenths lie close together, and the sample's seventh decile often among them."""
    rng, runs, n = np.random.default_rng(4), 4000, 12
    draws = np.where(
        rng.random((runs, n + 1)) < 0.7,
        1e-3 * rng.random((runs, n + 1)),
        1 + rng.exponential(size=(runs, n + 1)),
    )
    p = np.array([TailLaw.of(row[:-1]).p_values(row[-1:])[0] for row in draws])
    assert binom.sf((p <= 0.001).sum() - 1, runs, 0.001) < 1e-6
    for level in (0.001, 0.01, 0.1):
        chance = level + binom.sf(int(0.7 * n) - 1, n, 0.7)
        assert binom.sf((p <= level).sum() - 1, runs, chance) > 1e-5
