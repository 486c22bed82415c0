"""What the first screen says of probabilities, decisions and bounds agrees with its numbers."""

from dataclasses import replace

import numpy as np
import pytest

from corollary.core.certificate import format_share
from corollary.reporting._records import Evidence
from corollary.reporting.page._render import to_dict
from corollary.reporting.page.verdict import _verdict as verdict
from corollary.validation import Estimate
from tests.reporting import worked_example
from tests.reporting.evidence_parts import in_period


def deciding_like_guessing(better: int = 0) -> Evidence:
    """Evidence of a model that calls all rows as guessing does, but for some it gets right."""
    evidence = worked_example.breast_cancer()
    rows = evidence.test
    prediction = np.array(rows.baseline)
    missed = np.flatnonzero(rows.truth != rows.baseline)
    prediction[missed[:better]] = rows.truth[missed[:better]]
    return replace(evidence, test=replace(rows, prediction=prediction))


def test_better_probabilities_are_not_called_better_decisions():
    evidence = deciding_like_guessing(better=2)
    guessing = int((evidence.test.truth != evidence.test.baseline).sum())
    said = verdict.build(evidence)
    assert said["phrase"] == "better than guessing, shown"  # of the loss
    headline = "Better probabilities than guessing, shown; better decisions, not shown."
    assert said["headline"] == headline
    assert said["act"]
    wrong = f"{guessing - 2} of 143 rows wrong, {guessing} by guessing"
    assert f"Its decisions are not shown to be better: {wrong}." in said["sentence"]
    assert f"It finds 2 of {guessing} rows of malignant" in said["sentence"]


def test_decisions_that_are_worse_are_called_so():
    evidence = deciding_like_guessing()
    inverted = replace(evidence.test, prediction=1 - evidence.test.baseline)
    said = verdict.build(replace(evidence, test=inverted))
    assert said["headline"] == "Better probabilities than guessing, shown; worse decisions."
    assert "Its decisions are worse" in said["sentence"]


def test_better_decisions_are_counted_and_the_rarer_class_is_named():
    evidence = worked_example.breast_cancer()
    malignant = evidence.test.truth == evidence.classes.index("malignant")
    found = int((malignant & ~evidence.test.wrong).sum())
    said = verdict.build(evidence)
    assert said["headline"] == "Better than guessing, shown."
    assert "Its decisions are better:" in said["sentence"]
    assert said["decisions"]["found"] == found
    assert said["decisions"]["found_class"] == "malignant"
    assert f"It finds {found} of {malignant.sum()} rows of malignant" in said["sentence"]


def test_of_several_classes_the_one_found_least_is_named():
    evidence = worked_example.three_classes()
    truth = np.asarray(evidence.test.truth)
    prediction = np.where(truth == 1, 0, truth)
    evidence = replace(evidence, test=replace(evidence.test, prediction=prediction))
    n = int((truth == 1).sum())
    assert (
        f"it finds none of {n} rows of {evidence.classes[1]}."
        in (verdict.build(evidence)["sentence"])
    )


def test_in_a_period_decisions_are_compared_by_stretches():
    evidence = in_period(deciding_like_guessing(better=40))
    assert evidence.decisions.verdict == "shown"
    better = evidence.test.prediction != evidence.test.baseline
    stretches = np.where(better, 0, 1 + np.arange(len(better)) % 9)
    rows = replace(evidence.test, stretches=stretches)
    assert replace(evidence, test=rows).decisions.verdict == "not shown"


@pytest.mark.parametrize("build", [worked_example.breast_cancer, worked_example.diabetes])
def test_the_gain_is_stated_as_a_share_of_what_guessing_loses(build):
    evidence = build()
    unit = evidence.test.baseline_loss.mean()
    model, guess = evidence.test.loss, evidence.test.baseline_loss
    worth = evidence.worth
    assert worth.value == pytest.approx(evidence.gain.value / unit)
    # The interval of a ratio of means: its error is that of loss - ratio * loss of guessing.
    spread = np.std(model - model.mean() / unit * guess, ddof=1) / unit / np.sqrt(len(guess))
    assert worth.high - worth.low == pytest.approx(2 * 1.97 * spread, rel=0.2)
    assert worth.low < worth.value < worth.high <= 1
    share = 100 * (1 - evidence.test.loss.mean() / unit)
    text = verdict.build(evidence)["sentence"].split(" smaller than")[0].rsplit(" is ")[-1]
    assert float(text.rstrip("%")) == pytest.approx(share, rel=0.02)
    assert "in units of" not in verdict.build(evidence)["sentence"]


def test_a_share_of_what_guessing_loses_says_of_zero_what_the_gain_says():
    evidence = worked_example.breast_cancer()
    unit = evidence.test.baseline_loss.mean()
    uncertain = replace(evidence, gain=Estimate(0.5 * unit, -0.1 * unit, 1.2 * unit, 143))
    assert uncertain.worth.low == pytest.approx(-0.1)
    assert uncertain.worth.high <= 1


def test_a_gain_of_nearly_all_is_not_written_as_all():
    evidence = worked_example.diabetes()
    rows = replace(evidence.test, loss=0.0002 * evidence.test.baseline_loss)
    unit = rows.baseline_loss.mean()
    gain = Estimate(0.9998 * unit, 0.9996 * unit, 0.9999 * unit, 111)
    said = verdict.build(replace(evidence, test=rows, gain=gain))["sentence"]
    assert "is 99.98% smaller than" in said


def test_a_typical_error_that_is_no_smaller_is_a_doubt():
    evidence = worked_example.diabetes()
    rows = evidence.test
    worse = replace(rows, prediction=rows.truth + 2 * np.abs(rows.truth - rows.baseline))
    assert "half of its errors exceed" in verdict.build(replace(evidence, test=worse))["sentence"]
    assert "half of its errors exceed" not in verdict.build(evidence)["sentence"]


def test_no_mistake_among_few_sure_rows_is_not_written_as_never_wrong():
    evidence = deciding_like_guessing()
    right = np.flatnonzero(~evidence.test.wrong)[:5]
    stated = np.full_like(evidence.test.probability, 0.5)
    stated[right, evidence.test.truth[right]] = 0.95
    stated[right, 1 - evidence.test.truth[right]] = 0.05
    evidence = replace(evidence, test=replace(evidence.test, probability=stated))
    card = verdict.how_wrong(evidence)
    bound = 1 - 0.05 ** (1 / 5)  # no mistake among five rows, at 95%
    # The bound says less than that of all rows, so that the surest mistake is the number.
    assert (card["number"], card["caption"]) == ("50%", "sure, and yet wrong")
    assert "0 of 5 rows wrong" in card["sentence"]
    assert f"at most {format_share(bound)}" in card["sentence"]


def test_new_data_that_nobody_has_seen_have_no_number():
    for name in ("breast_cancer", "diabetes", "tiny"):
        card = verdict.still_true(worked_example.BUILDERS[name]())
        assert (card["number"], card["caption"]) == ("not checked", "on new data yet")
        assert 'corollary.load("model.corollary")' in card["sentence"]


def test_a_column_has_one_interval_wherever_its_importance_is_stated():
    evidence = worked_example.breast_cancer()
    card, section = verdict.why(evidence), to_dict(evidence)["sections"]["why"]
    ends = card["strip"]["low"], card["strip"]["high"]
    bar = section["forest"]["rows"][0]
    assert (bar["low"], bar["high"]) == pytest.approx(ends)
    first = section["importances"][0]
    assert (first["increase"]["low"], first["increase"]["high"]) == pytest.approx(ends)


def test_a_rate_has_one_bound_on_the_first_screen():
    evidence = worked_example.coin_flips()
    candidates = tuple(replace(c, chosen=c.baseline) for c in evidence.candidates)
    evidence = replace(evidence, candidates=candidates)
    assert verdict.how_wrong(evidence)["interval"] == verdict.how_good(evidence)["interval"]


def test_a_gain_without_a_share_is_stated_as_it_is():
    evidence = worked_example.diabetes()
    rows = replace(evidence.test, baseline_loss=np.zeros(len(evidence.test.truth)))
    evidence = replace(evidence, test=rows, verdict="worse", gain=Estimate(-0.5, -0.7, -0.3, 111))
    assert (
        "is 0.50 larger than that of guessing (95% interval 0.30 to 0.70)"
        in (verdict.build(evidence)["sentence"])
    )


def test_columns_that_cost_nothing_are_not_said_to_cost_most():
    evidence = worked_example.coin_flips()
    idle = tuple(
        replace(i, increase=Estimate(0.0, -0.1, 0.1, 75), stand_ins=())
        for i in evidence.importances
    )
    evidence = replace(evidence, importances=idle)
    section = to_dict(evidence)["sections"]["why"]
    for said in (verdict.why(evidence)["sentence"], section["finding"]):
        assert said.startswith("No single column is shown to matter: shuffling none of them raises")
