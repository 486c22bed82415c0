"""What the first screen says: verdict, cards, importance, doubts."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from corollary.core.certificate import Assumption
from corollary.reporting._records import Finding, LossName
from corollary.reporting.page._render import to_dict
from corollary.reporting.page.sections import _calibration as calibration
from corollary.reporting.page.sections import _data as data
from corollary.reporting.page.sections import _facts as facts
from corollary.reporting.page.verdict import _verdict as verdict
from corollary.reporting.trust._pieces import measure_gain
from corollary.validation import Estimate
from tests.reporting import worked_example


@pytest.mark.parametrize(
    ("outcome", "gain", "phrase", "headline"),
    [
        ("shown", (0.5, 0.4, 0.6), "better than guessing, shown", "Better than guessing, shown."),
        ("not shown", (0.1, -0.1, 0.3), "not shown", "Better than guessing, not shown."),
        ("worse", (-0.5, -0.6, -0.4), "worse", "Worse than guessing."),
    ],
)
def test_verdict_is_one_of_three_phrases(outcome, gain, phrase, headline):
    evidence = replace(worked_example.breast_cancer(), verdict=outcome, gain=Estimate(*gain, 143))
    section = verdict.build(evidence)
    assert section["phrase"] == phrase
    assert section["headline"] == headline
    assert section["act"] is (outcome != "shown")
    word = {"shown": "smaller", "not shown": "cannot be told apart", "worse": "larger"}[outcome]
    assert word in section["sentence"]


def test_verdict_says_when_guessing_itself_was_chosen():
    evidence = worked_example.coin_flips()
    candidates = tuple(replace(c, chosen=c.baseline) for c in evidence.candidates)
    evidence = replace(evidence, candidates=candidates)
    assert "describes guessing itself" in verdict.build(evidence)["sentence"]
    assert "guessing was chosen" in to_dict(evidence)["sections"]["models"]["finding"]


def test_verdict_says_when_rows_are_too_few():
    evidence = replace(worked_example.tiny(), verdict="not shown")
    assert evidence.gain.low > 0
    assert "9 rows that no choice ever saw are too few" in verdict.build(evidence)["sentence"]


def test_coin_flips_are_not_shown():
    assert verdict.build(worked_example.coin_flips())["phrase"] == "not shown"


def test_card_of_quality_counts_by_hand():
    evidence = worked_example.breast_cancer()
    wrong = int(np.sum(evidence.test.truth != evidence.test.prediction))
    guess = np.mean(evidence.test.truth != 0)
    card = verdict.how_good(evidence)
    upper = stats.binomtest(wrong, 143, alternative="less").proportion_ci(0.95, "exact").high
    assert card["sentence"].startswith(f"{wrong} of 143 unseen rows wrong ({wrong / 143:.1%}).")
    assert f"at most {math.ceil(1000 * upper) / 10}% of such rows" in card["sentence"]
    assert f"Always guessing benign: {guess:.0%}" in card["sentence"]
    assert card["n"] == 143


def test_card_of_worst_errors_names_the_direction():
    evidence = worked_example.diabetes()
    size = np.abs(evidence.test.truth - evidence.test.prediction)
    worst = int(size.argmax())
    side = "high" if evidence.test.prediction[worst] > evidence.test.truth[worst] else "low"
    card = verdict.how_wrong(evidence)
    assert f"worst {size[worst]:.0f} (predicted too {side})" in card["sentence"]
    assert card["caption"] == f"worst error, too {side}"
    flipped = replace(
        evidence,
        test=replace(evidence.test, truth=evidence.test.prediction, prediction=evidence.test.truth),
    )
    other = {"high": "low", "low": "high"}[side]
    assert f"predicted too {other}" in verdict.how_wrong(flipped)["sentence"]


def test_card_of_classes_counts_sure_mistakes():
    evidence = worked_example.hostile()
    sure = evidence.test.probability.max(axis=1) >= 0.9
    wrong = evidence.test.truth != evidence.test.prediction
    text = f"Where it was at least 90% sure, {np.sum(sure & wrong)} of {sure.sum()} rows wrong"
    assert verdict.how_wrong(evidence)["sentence"].startswith(text)


def test_a_bound_on_a_handful_of_sure_rows_is_not_the_headline():
    """Of 0 mistakes in 1 row one can say "at most 95% wrong", which all rows together beat."""
    evidence = worked_example.hostile()
    rows = evidence.test
    shares = 0.3 + 0.4 * rows.probability  # nobody is sure
    shares /= shares.sum(axis=1, keepdims=True)
    right, wrong = (np.flatnonzero((rows.truth == rows.prediction) == x)[0] for x in (True, False))
    cards = []
    for sure in (right, wrong):
        probability = shares.copy()
        probability[sure] = 0.01 / (shares.shape[1] - 1)
        probability[sure, rows.prediction[sure]] = 0.99
        test = replace(rows, probability=probability)
        cards.append(verdict.how_wrong(replace(evidence, test=test)))
    quiet, loud = cards
    surest = np.max(shares[np.arange(len(shares)), rows.prediction][rows.truth != rows.prediction])
    assert (quiet["number"], quiet["caption"]) == (f"{surest:.0%}", "sure, and yet wrong")
    assert "0 of 1 row wrong (95% confidence: at most 95.0%)." in quiet["sentence"]
    assert quiet["n"] == len(rows.truth)
    assert loud["number"].startswith("≤ ")  # sure and wrong more often than elsewhere is news


def test_every_card_has_a_number_a_sentence_and_its_rows():
    for name in ("breast_cancer", "diabetes", "three_classes", "tiny"):
        for card in verdict.build(worked_example.BUILDERS[name]())["cards"]:
            assert card["number"]
            assert card["sentence"].endswith(".")
            assert card["interval"]
            assert card["n"] > 0


def test_importance_says_association_and_stand_ins():
    card = verdict.why(worked_example.breast_cancer())
    assert "Association, not cause" in card["sentence"]
    assert "worst texture" in card["sentence"]


def test_the_interval_of_the_foremost_column_allows_for_its_having_been_picked():
    evidence = worked_example.breast_cancer()
    top, looks = evidence.importances[0].increase, len(evidence.importances)
    factor = stats.norm.ppf(1 - 0.025 / looks) / stats.norm.ppf(0.975)
    strip = verdict.why(evidence)["strip"]
    assert strip["high"] - top.value == pytest.approx(factor * (top.high - top.value))
    assert f"corrected for {looks} looks" in verdict.why(evidence)["sentence"]


def test_why_states_the_interval_of_the_first_screen():
    evidence = worked_example.breast_cancer()
    looks = len(evidence.importances)
    interval = verdict.why(evidence)["interval"]
    finding = to_dict(evidence)["sections"]["why"]["finding"]
    assert f"(95% interval, corrected for {looks} looks, {interval})" in finding


def test_the_smallest_error_of_few_rows_is_bounded_by_zero():
    evidence = worked_example.diabetes()
    rows = evidence.test
    cut = {k: getattr(rows, k)[:4] for k in ("truth", "prediction", "baseline", "loss")}
    few = replace(evidence, test=replace(rows, **cut), n_test=4)
    assert "95% interval 0 to unbounded" in verdict.how_good(few)["sentence"].replace("0.0", "0")


def test_sets_and_intervals_that_say_nothing_are_said_to():
    evidence = worked_example.breast_cancer()
    every = np.ones_like(evidence.test.sets)
    sets = replace(evidence, test=replace(evidence.test, sets=every))
    said = calibration.coverage_summary(sets)["sentence"]
    assert said.endswith("(100%); but every set names all classes, so they say nothing.")
    evidence = worked_example.diabetes()
    endless = np.full(len(evidence.test.truth), np.inf)
    intervals = replace(evidence, test=replace(evidence.test, low=-endless, high=endless))
    said = calibration.coverage_summary(intervals)["sentence"]
    assert "have no end, so they say nothing" in said
    assert "unknown" not in said


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((-4.2051, -0.00025, 4.1049), "−4.21 · −0.0002 · 4.1"),
        ((0.69, 20.13, 463.2), "0.69 · 20.1 · 463"),
        ((0.4, 28.9, 71.6), "0.4 · 28.9 · 71.6"),
        ((2.5, 2.5, 2.5), "2.5 · 2.5 · 2.5"),
    ],
)
def test_small_plots_have_digits_in_proportion(values, text):
    assert data._three(list(values)) == text


def test_dates_are_summed_up_by_the_first_and_the_last():
    column = worked_example.breast_cancer().profile.columns[0]
    ends = {"min": "2023-01-01T23:43:06", "median": "2023-12-02T10:00:00", "max": "2024-11-30"}
    dates = replace(column, kind="date", numbers=ends)
    assert data._summary(dates) == "2023-01-01 – 2024-11-30"
    one_day = {"min": "2023-01-01T08:10:06", "median": "", "max": "2023-01-01T23:43:06"}
    assert data._summary(replace(dates, numbers=one_day)) == "2023-01-01, 08:10 – 23:43"


def test_values_are_written_as_the_data_have_them():
    assert [facts.cell(v) for v in (0.3, 12.5, 1200.0, True, np.False_)] == [
        "0.3", "12.5", "1,200", "True", "False",
    ]  # fmt: skip


def test_counts_of_certificates_have_their_thousands_separated():
    evidence = worked_example.breast_cancer()
    many = [
        replace(
            c, observed="9 of 12500", assumptions=(Assumption("The 12500 rows are independent."),)
        )
        for c in evidence.certificates
    ]
    section = to_dict(replace(evidence, certificates=tuple(many)))["sections"]["certificate"]
    assert section["assumptions"][0]["text"] == "The 12,500 rows are independent."
    assert "9 of 12,500" in section["certificates"][0]["sentence"]
    assert section["certificates"][0]["observed_words"] == "9 of 12,500"


def test_guessing_is_said_to_use_no_column():
    evidence = worked_example.coin_flips()
    candidates = tuple(replace(c, chosen=c.baseline) for c in evidence.candidates)
    evidence = replace(evidence, candidates=candidates)
    card = verdict.why(evidence)
    assert (card["number"], card["section"]) == ("none", "models")
    assert "why" not in to_dict(evidence)["sections"]


def test_a_column_that_predicts_alone_is_asked_about_on_the_first_screen():
    evidence = worked_example.breast_cancer()
    asked = Finding("predicts-alone", "A question.", columns=("biopsy",))
    evidence = replace(evidence, profile=replace(evidence.profile, findings=(asked,)))
    assert "But biopsy alone predicts almost perfectly" in verdict.build(evidence)["sentence"]
    assert "1 question for you below" in to_dict(evidence)["sections"]["data"]["finding"]


def test_where_a_few_rows_decide_every_mean_the_median_error_is_stated():
    evidence = worked_example.diabetes()
    evidence = replace(
        evidence, loss=LossName("squared error of the logarithm", "in units of x", True)
    )
    errors = np.sort(np.abs(evidence.test.truth - evidence.test.prediction))
    card = verdict.how_good(evidence)
    middle = errors[math.ceil(len(errors) / 2) - 1]
    assert card["strip"]["value"] == middle
    assert card["strip"]["low"] < middle < card["strip"]["high"]
    assert card["caption"] == "off in the median"


def test_a_gain_above_zero_is_not_written_as_zero():
    evidence = worked_example.diabetes()
    n = len(evidence.test.truth)
    spread = stats.zscore(np.linspace(-1, 1, n), ddof=1) * np.sqrt(n) / stats.t.ppf(0.975, n - 1)
    gains = 0.05 + 0.0499 * spread  # the interval of their mean starts just above zero
    rows = replace(evidence.test, baseline_loss=np.ones(n), loss=1 - gains)
    evidence = replace(evidence, test=rows, gain=measure_gain(rows, 0.95))
    assert 0 < evidence.worth.low < 0.001
    said = verdict.build(evidence)["sentence"]
    assert "is 5.0% smaller than" in said
    low = said.split("(95% interval ")[1].split("%")[0]
    assert 0 < float(low) < 0.1


def test_nothing_important_is_said_to_be_so():
    evidence = worked_example.coin_flips()
    flat = tuple(
        replace(i, increase=Estimate(0.0, -0.1, 0.1, 75), stand_ins=())
        for i in evidence.importances
    )
    assert (
        "No single column is shown to matter"
        in verdict.why(replace(evidence, importances=flat))["sentence"]
    )
