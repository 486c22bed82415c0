"""Reports about rows of new units and about periods: what is counted, and in which words."""

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from corollary.core.simulate import assert_bound_holds
from corollary.reporting._structure import Structure, UnitFact
from corollary.reporting.page._render import to_dict
from corollary.reporting.page.sections import _groups as groups
from corollary.reporting.trust._pieces import Pieces, measure_gain
from corollary.reporting.trust.errors._weak_groups import chernoff_p_value, row_tests, unit_tests
from corollary.validation import share_upper
from tests.reporting import worked_example
from tests.reporting.evidence_parts import in_period, page_of, with_units


def _persons(evidence, size=3):
    """Persons with one row to a dozen, in no order."""
    rng = np.random.default_rng(8)
    n = len(evidence.test.truth)
    return with_units(evidence, rng.integers(0, n // size, n) * 7 + 100)


def _by_person(evidence, values):
    """The mean over persons of their means, by another road."""
    frame = pd.DataFrame({"person": evidence.test.units, "value": np.asarray(values, float)})
    return frame.groupby("person")["value"].mean()


def test_error_rate_and_coverage_are_means_over_units():
    evidence = _persons(worked_example.hostile())
    wrong = evidence.test.truth != evidence.test.prediction
    rate, n = evidence.error_rate, len(np.unique(evidence.test.units))
    assert rate.value == pytest.approx(_by_person(evidence, wrong).mean())
    assert rate.value != wrong.mean()
    assert rate.n == evidence.n_pieces == n
    assert rate.baseline == pytest.approx(
        _by_person(evidence, evidence.test.truth != evidence.test.baseline).mean()
    )
    held = evidence.test.sets[np.arange(len(wrong)), evidence.test.truth]
    assert evidence.held.share == pytest.approx(_by_person(evidence, held).mean())
    assert evidence.held.low <= evidence.held.share <= evidence.held.high


def test_units_of_one_row_are_rows():
    """Exact binomial bounds, whatever the units are called."""
    plain = worked_example.breast_cancer()
    evidence = with_units(plain, 5_000 - np.arange(len(plain.test.truth)))
    wrong = int(np.sum(plain.test.truth != plain.test.prediction))
    upper = stats.binomtest(wrong, 143, alternative="less").proportion_ci(0.95, "exact").high
    assert evidence.error_rate.upper == pytest.approx(upper)
    exact = stats.binomtest(wrong, 143).proportion_ci(0.95, "exact")
    ends = evidence.error_rate.low, evidence.error_rate.high
    assert ends == pytest.approx((exact.low, exact.high))
    for mine, theirs in zip(evidence.reliability.bins, plain.reliability.bins):
        assert (mine.observed, mine.low, mine.high) == pytest.approx(
            (theirs.observed, theirs.low, theirs.high)
        )
    gain, rows = measure_gain(evidence.test, 0.95), measure_gain(plain.test, 0.95)
    assert (gain.value, gain.low, gain.high) == pytest.approx((rows.value, rows.low, rows.high))


def test_gain_and_loss_count_units():
    evidence = _persons(worked_example.diabetes())
    rows = evidence.test
    means = _by_person(evidence, rows.baseline_loss - rows.loss)
    gain = measure_gain(rows, 0.95)
    assert (gain.value, gain.n) == (pytest.approx(means.mean()), len(means))
    half = stats.t.ppf(0.975, len(means) - 1) * means.sem()
    # The correction for skewness moves both ends the same way and hardly changes the width.
    assert gain.high - gain.low == pytest.approx(2 * half, rel=0.05)
    assert evidence.test_loss.value == pytest.approx(_by_person(evidence, rows.loss).mean())


def test_median_and_nine_of_ten_give_each_unit_the_same_weight():
    evidence = _persons(worked_example.diabetes())
    errors, units = evidence.test.errors, evidence.test.units
    sizes = pd.Series(units).map(pd.Series(units).value_counts()).to_numpy()
    # Every row as often as makes all units equally large: plain quantiles of those.
    many = np.repeat(errors, 27720 // sizes)
    for value, level in zip(evidence.error_sizes.within, (0.5, 0.9, 0.99)):
        assert value == np.quantile(many, level, method="inverted_cdf")
    median = evidence.error_sizes.median
    assert median.value == evidence.error_sizes.within[0]
    assert median.low < median.value < median.high


def test_bounds_of_the_page_hold_for_new_units_where_those_of_rows_do_not():
    """Twenty persons with twelve rows each; a fifth of all persons is always wrong."""
    rng = np.random.default_rng(2)
    evidence, units = worked_example.breast_cancer(), np.repeat(np.arange(20), 12)
    missed, by_rows = 0, 0
    for _ in range(200):
        wrong = np.repeat(rng.random(20) < 0.2, 12)
        test = replace(
            evidence.test, truth=np.zeros(240, int), prediction=wrong.astype(int), units=units
        )
        pieces = Pieces.of(replace(evidence, test=test))
        low, high = pieces.share_interval(wrong, 0.95)
        missed += not (low <= 0.2 <= high and pieces.share_upper(wrong, 0.95) >= 0.2)
        by_rows += share_upper(int(wrong.sum()), 240, 0.95) < 0.2
    assert_bound_holds(missed, 200, 0.1)  # either interval or bound
    with pytest.raises(AssertionError):
        assert_bound_holds(by_rows, 200, 0.1)


def _worlds_of_units(seed, effect=0.0, persons=80, rows=5):
    """Groups and errors that persons have, not rows."""
    rng = np.random.default_rng(seed)
    inside = np.repeat(rng.random(persons) < 0.5, rows)
    own = rng.exponential(size=persons)
    errors = np.repeat(own, rows) + 0.1 * rng.random(persons * rows) + effect * inside
    return inside[None, :], errors, np.repeat(np.arange(persons), rows)


def test_weak_groups_of_units_are_rarely_found_where_there_are_none():
    found, by_rows = 0, 0
    for seed in range(200):
        members, errors, units = _worlds_of_units(seed)
        found += unit_tests(members, errors, Pieces(len(units), units))[0] <= 0.05
        by_rows += row_tests(members, errors, regression=True)[0] <= 0.05
    assert_bound_holds(found, 200, 0.05)
    with pytest.raises(AssertionError):
        assert_bound_holds(by_rows, 200, 0.05)


def test_group_tests_of_units_equal_scipy_on_their_means():
    members, errors, units = _worlds_of_units(0, effect=0.5)
    means = pd.Series(errors).groupby(units).mean().to_numpy()
    inside = members[0][::5]
    p = stats.ttest_ind(means[inside], means[~inside], equal_var=False, alternative="greater")
    found = unit_tests(members, errors, Pieces(len(units), units))[0]
    assert found == pytest.approx(p.pvalue)


def test_a_weak_group_of_persons_is_found():
    evidence = worked_example.grouped(3, 0.6, rows=600)
    units = np.arange(600) // 3
    weak = groups.build(with_units(evidence, units))
    assert weak["forest"]["rows"][0]["label"] == "c0: b"
    assert weak["forest"]["rows"][0]["warn"]
    assert "at least 20 of 200 persons" in weak["method"]
    assert "Welch’s test on the mean of each person" in weak["method"]


@pytest.mark.parametrize(("hits", "n"), [(0, 1), (3, 10), (15, 20), (70, 100)])
def test_the_chance_of_rare_hits_is_bounded(hits, n):
    """For coins, against the exact chance; by hand for no hit: (1 - 0.9)^n."""
    values = np.r_[np.ones(hits), np.zeros(n - hits)]
    bound = chernoff_p_value(values, 0.9)
    assert stats.binom.cdf(hits, n, 0.9) <= bound * (1 + 1e-9)
    assert bound < 1
    if not hits:
        assert bound == pytest.approx(0.1**n)
    assert chernoff_p_value(np.ones(5), 0.9) == 1


def test_new_persons_are_named_on_every_page_that_speaks_of_them():
    evidence = _persons(worked_example.breast_cancer())
    report, n = to_dict(evidence), evidence.n_pieces
    good = report["verdict"]["cards"][0]
    assert good["caption"] == "of rows of new persons wrong"
    assert f"of the rows of {n} new persons wrong" in good["sentence"]
    assert "of rows of new persons. " in good["sentence"]
    assert "Each person counts the same" in good["sentence"]
    assert good["n"] == n
    sentence = report["verdict"]["sentence"]
    assert f"143 rows of {n} new persons that no choice ever saw" in sentence
    assert "person by person" in report["verdict"]["rule"]
    sections = report["sections"]
    assert "of rows of new persons are classified wrongly" in sections["certificate"]["finding"]
    assert f"the rows of {n} new persons" in sections["calibration"]["finding"]
    assert "hierarchical conformal" in " ".join(sections["calibration"]["method"])
    assert "at least 90% of rows of new persons" in sections["calibration"]["coverage"]["promise"]
    assert sections["limits"]["limits"][0].startswith(f"The test rows belong to only {n} persons")
    assert "rows of new persons drawn like these" in " ".join(sections["limits"]["limits"])
    assert "holds for rows of new persons" in sections["new_data"]["finding"]
    assert report["population"] == {
        "kind": "new units", "unit": "person", "start": "", "end": "",
        "rows": "rows of new persons", "pieces": "persons", "n": n,
    }  # fmt: skip
    page = page_of(evidence)
    assert "unseen row" not in page
    assert "of such rows" not in page
    assert "rows like these" not in page
    assert "Clopper and Pearson" not in " ".join(sections["calibration"]["method"])


def test_new_persons_are_named_where_numbers_are_predicted():
    evidence = _persons(worked_example.diabetes())
    report, n = to_dict(evidence), evidence.n_pieces
    card = report["verdict"]["cards"][0]
    assert card["sentence"].startswith(f"Half of the rows of {n} new persons are off by at most")
    assert "unseen row" not in page_of(evidence)
    rows = report["sections"]["errors"]["quantiles"]
    assert {row["n"] for row in rows} == {n}
    assert "one row drawn from each person" in report["sections"]["errors"]["method"][0]


@pytest.mark.parametrize("name", ["breast_cancer", "diabetes", "tiny", "coin_flips"])
def test_a_period_is_named_and_nothing_is_said_to_be_proved_for_later_rows(name):
    evidence = in_period(worked_example.BUILDERS[name]())
    report = to_dict(evidence)
    later = "Nothing proves it for later rows."
    assert later in report["verdict"]["sentence"]
    assert later in report["verdict"]["cards"][4]["sentence"]
    assert later in " ".join(report["sections"]["limits"]["limits"])
    assert "later rows" in report["sections"]["certificate"]["finding"]
    assert "rows from 2020-05-01 to 2020-07-31 that no choice" in report["verdict"]["sentence"]
    page = page_of(evidence)
    assert "unseen row" not in page
    assert "of such rows" not in page
    assert "rows like these" not in page
    assert report["population"]["rows"] == "the rows from 2020-05-01 to 2020-07-31"


def test_shares_of_a_period_have_the_bound_that_needs_no_independence():
    evidence = in_period(worked_example.breast_cancer())
    wrong = int(np.sum(evidence.test.truth != evidence.test.prediction))
    upper = wrong / 143 + math.sqrt(math.log(20) / (2 * 143))  # Hoeffding and Azuma
    assert evidence.error_rate.upper == pytest.approx(upper)
    reach = math.sqrt(math.log(40) / (2 * 143))
    share = evidence.held.share
    assert evidence.held.low == pytest.approx(share - reach)
    assert evidence.held.high == pytest.approx(min(share + reach, 1))
    sizes = in_period(worked_example.diabetes()).error_sizes
    assert (sizes.median.low, sizes.median.high) == (None, None)


def test_the_law_of_rows_drawn_alike_promises_nothing_about_others():
    plain = replace(worked_example.breast_cancer(), calibrated=(85,))
    assert plain.held.promised > 0.8
    for evidence in (_persons(plain), in_period(plain)):
        assert evidence.held.promised is None
        assert "Proved by" not in page_of(evidence)


def test_rows_of_persons_are_not_mixed_up_by_their_order():
    evidence = _persons(worked_example.diabetes())
    other = replace(evidence, test=replace(evidence.test, units=999 - evidence.test.units))
    assert other.error_sizes.mean == pytest.approx(evidence.error_sizes.mean)
    assert other.held.low == pytest.approx(evidence.held.low, abs=0.05)


def test_no_interval_is_drawn_for_the_errors_of_a_period():
    card, *_ = to_dict(in_period(worked_example.diabetes()))["verdict"]["cards"]
    assert card["interval"].startswith("no interval")
    assert card["strip"]["low"] == card["strip"]["value"] == card["strip"]["high"]
    card, *_ = to_dict(worked_example.diabetes())["verdict"]["cards"]
    assert card["strip"]["low"] < card["strip"]["value"] < card["strip"]["high"]


def test_options_are_set_apart_from_the_words_and_names_stay_escaped():
    fact = UnitFact("owner", ("<b>--x",), 20, 100, told=False, asked=True, worth=0.5)
    evidence = _persons(worked_example.diabetes())
    page = page_of(replace(evidence, structure=Structure(headline=fact)))
    (scope,) = re.findall(r'<p class="scope">(.*?)</p>', page)
    assert "<code>--independent</code>" in scope
    assert "<code>--group</code> &lt;b&gt;" in scope
    assert "<b>" not in scope
