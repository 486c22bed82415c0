"""What the sections say: intervals against other implementations, wording, rounding, findings."""

import ast
import math
import pathlib
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from corollary.conformal import coverage_law
from corollary.core.certificate import format_share
from corollary.core.simulate import assert_bound_holds
from corollary.reporting._records import Finding
from corollary.reporting.page import _format as formats
from corollary.reporting.page._render import to_dict
from corollary.reporting.page.sections import _calibration as calibration
from corollary.reporting.page.sections import _certificate as certificate
from corollary.reporting.page.sections import _errors as errors
from corollary.reporting.page.sections import _groups as groups
from corollary.reporting.page.sections import _new_data as new_data
from corollary.reporting.page.verdict import _verdict as verdict
from corollary.reporting.trust._bins import equal_count_bins
from corollary.reporting.trust._looks import widen
from corollary.reporting.trust.errors._weak_groups import row_tests
from corollary.validation import Estimate, share_interval, share_upper
from tests.reporting import worked_example


def _number(text):
    return float(text.replace("−", "-").replace(",", "").rstrip("%"))


# ------------------------------------------------------------------------------------ numbers


def test_powers_of_ten_are_carried():
    assert formats.number(9.999e15) == "1.00×10¹⁶"
    assert formats.number(-9.999e-6) == "−1.00×10⁻⁵"
    assert formats.number(9.99e15) == "9.99×10¹⁵"


@given(st.floats(-1e7, 1e7), st.integers(-3, 6))
def test_fixed_rounds_where_it_is_told(value, decimals):
    down = _number(formats.fixed(value, decimals, "down"))
    up = _number(formats.fixed(value, decimals, "up"))
    nearest = _number(formats.fixed(value, decimals))
    slack = 1e-9 * max(abs(value), 1e-3)  # numbers are taken with twelve digits
    assert down <= value + slack
    assert up >= value - slack
    assert down - slack <= nearest <= up + slack
    assert up - down <= 10.0**-decimals + slack


@given(st.floats(-1e5, 1e5), st.floats(1e-3, 1e4), st.floats(1e-3, 1e4))
def test_intervals_are_rounded_outwards_and_hold_their_estimate(value, below, above):
    texts = formats.triple(value, value - below, value + above)
    shown, low, high = (_number(t) for t in texts)
    slack = 1e-9 * max(abs(value), above, below, 1)
    assert low <= value - below + slack
    assert high >= value + above - slack
    assert low - slack <= shown <= high + slack


@given(st.integers(0, 500), st.integers(1, 500))
def test_percentages_are_rounded_outwards(k, n):
    k = min(k, n)
    low, high = share_interval(k, n, 0.95)
    shown, a, b = (_number(t) for t in formats.percent_triple(k / n, low, high))
    assert a <= 100 * low + 1e-9
    assert b >= 100 * high - 1e-9
    assert a - 1e-9 <= shown <= b + 1e-9


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-0.0, "0"), (1234.5, "1,234"), (123456.0, "123,000"), (0.00456789, "0.00457"),
        (-12.345, "−12.3"), (math.inf, "unbounded"), (math.nan, "unknown"), (3e12, "3.00×10¹²"),
    ],
)  # fmt: skip
def test_numbers_have_few_digits(value, text):
    assert formats.number(value) == text


def test_numbers_of_the_study_are_worded_as_it_asks():
    assert formats.percent(2 / 143) == "1.4%"
    assert formats.percent(share_upper(2, 143, 0.95), "up") == "4.4%"
    assert formats.percent(0.368) == "37%"
    assert formats.number(4853.0) == "4,853"


@pytest.mark.parametrize("text", ["\x00", "a\u202eb", "\u200f", "\x1b[31m", "\u2028"])
def test_invisible_characters_are_made_visible(text):
    assert "\ufffd" in formats.clean(text)


@given(st.text(), st.integers(5, 60))
def test_labels_are_never_empty_and_never_long(text, most):
    assert 0 < len(formats.label(text, most)) <= max(most, len("(no name)"))


# ------------------------------------------------------------------------- calibration, errors


def test_calibration_bins_hold_twenty_rows_or_are_pooled():
    curve = calibration.probability_curve(worked_example.breast_cancer())
    assert min(b["n"] for b in curve["bins"]) >= 20
    assert sum(b["n"] for b in curve["bins"]) == 143
    pooled = calibration.probability_curve(worked_example.tiny())
    assert len(pooled["bins"]) == 1
    assert "one pooled bin" in pooled["sentence"]


def test_calibration_bands_are_exact_and_joint():
    curve = calibration.probability_curve(worked_example.breast_cancer())
    joint = 1 - 0.05 / len(curve["bins"])
    for b in curve["bins"]:
        exact = stats.binomtest(b["hits"], b["n"]).proportion_ci(joint, method="exact")
        assert (b["low"], b["high"]) == pytest.approx((exact.low, exact.high))


def test_overconfident_probabilities_are_found():
    evidence = worked_example.many_rows(2_000, 2)
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 2_000)
    stated = np.where(rng.random(2_000) < 0.8, truth, 1 - truth) * 0.98 + 0.01
    probability = np.column_stack([1 - stated, stated])
    evidence = replace(
        evidence,
        task="classification",
        classes=("no", "yes"),
        test=replace(
            evidence.test,
            truth=truth,
            prediction=probability.argmax(axis=1),
            probability=probability,
            low=None,
            high=None,
        ),
    )
    curve = calibration.probability_curve(evidence)
    assert all(b["off"] for b in curve["bins"])
    assert "too high" in curve["sentence"] or "too low" in curve["sentence"]


def _intervals_of_constant_width(rows=2_000):
    """Noise grows with the prediction, the intervals do not: right on average, wrong at the top."""
    evidence = worked_example.many_rows(rows, 2)
    rng = np.random.default_rng(1)
    prediction = rng.uniform(0, 100, rows)
    truth = prediction + rng.normal(size=rows) * prediction / 20
    width = np.quantile(np.abs(truth - prediction), 0.9)
    return replace(
        evidence,
        test=replace(
            evidence.test,
            truth=truth,
            prediction=prediction,
            low=prediction - width,
            high=prediction + width,
        ),
    )


def test_a_band_that_is_not_covered_is_marked():
    summary = calibration.coverage_summary(_intervals_of_constant_width())
    assert summary["value"] == pytest.approx(0.9, abs=0.01)
    marked = [b["warn"] for b in summary["bands"]]
    assert not any(marked[:3])
    assert marked[-1]
    assert "in the worst band of predictions (80" in summary["sentence"]


def test_bands_of_honest_intervals_are_not_marked():
    summary = calibration.coverage_summary(worked_example.diabetes())
    assert not any(b["warn"] for b in summary["bands"])


def test_worst_rows_are_the_worst_in_order():
    evidence = worked_example.diabetes()
    worst = errors.build(evidence)["worst"]
    size = np.abs(evidence.test.truth - evidence.test.prediction)
    order = np.argsort(-size, kind="stable")[:20]
    assert [r["position"] for r in worst["rows"]] == evidence.test.positions[order].tolist()
    first = order[0]
    held = evidence.test.low[first] <= evidence.test.truth[first] <= evidence.test.high[first]
    assert worst["rows"][0]["held"] is bool(held)


def test_small_errors_of_large_numbers_stay_visible_among_the_worst_rows():
    evidence = worked_example.diabetes()
    rows, rng = evidence.test, np.random.default_rng(0)
    small = rows.truth + 0.01 * rng.choice([-1, 1], len(rows.truth))
    rows = replace(rows, prediction=small, low=small - 0.02, high=small + 0.02)
    worst = to_dict(replace(evidence, test=rows))["sections"]["errors"]["worst"]["rows"]
    assert all(float(row["error"]) == pytest.approx(0.01) for row in worst)
    assert all(
        row["interval"].split(" to ")[0] != row["interval"].split(" to ")[1] for row in worst
    )


def test_confusion_and_thresholds_count_by_hand():
    evidence = worked_example.breast_cancer()
    section = errors.build(evidence)
    truth, prediction = evidence.test.truth, evidence.test.prediction
    table = [[int(np.sum((truth == i) & (prediction == j))) for j in (0, 1)] for i in (0, 1)]
    assert section["confusion"]["table"] == table
    thresholds = section["thresholds"]
    assert [r["threshold"] for r in thresholds["rows"]] == [
        0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9,
    ]  # fmt: skip
    for row in thresholds["rows"]:
        called = evidence.test.probability[:, 1] >= row["threshold"]
        assert row["missed"] == np.sum(~called & (truth == 1))
        assert row["false_alarms"] == np.sum(called & (truth == 0))
        assert thresholds["fine"][round(100 * row["threshold"]) - 1] == [
            row["missed"], row["false_alarms"],
        ]  # fmt: skip


def test_error_quantiles_are_order_statistics():
    evidence = worked_example.diabetes()
    size = np.sort(np.abs(evidence.test.truth - evidence.test.prediction))
    for q in errors.build(evidence)["quantiles"]:
        assert np.mean(size <= q["value"]) >= q["level"] - 1e-12
        assert q["low"] <= q["value"]
        assert q["high"] is None or q["high"] >= q["value"]


# --------------------------------------------------------------------------------- weak groups


def test_a_weak_group_is_found_and_named(seed):
    weak = groups.build(worked_example.grouped(seed, 0.5))
    assert weak["n_shown"] >= 1
    assert weak["forest"]["rows"][0]["label"] == "c0: b"
    assert weak["forest"]["rows"][0]["warn"]
    assert "most clearly c0: b" in weak["sentence"]


def test_weak_groups_are_rarely_found_where_there_are_none():
    found = sum(groups.build(worked_example.grouped(s, 0.1))["n_shown"] > 0 for s in range(100))
    assert_bound_holds(found, 100, 0.05)


def test_group_tests_equal_scipy():
    evidence = worked_example.grouped(0, 0.3)
    wrong = evidence.test.truth != evidence.test.prediction
    inside = np.array(evidence.test.table["c1"]) == "a"
    table = [
        [np.sum(wrong & inside), np.sum(~wrong & inside)],
        [np.sum(wrong & ~inside), np.sum(~wrong & ~inside)],
    ]
    p = stats.fisher_exact(table, alternative="greater").pvalue
    members, numbers = inside[None, :], wrong.astype(float)
    assert row_tests(members, numbers, regression=False)[0] == pytest.approx(p)
    values = np.random.default_rng(0).exponential(size=len(wrong))
    p = stats.ttest_ind(
        values[inside], values[~inside], equal_var=False, alternative="greater"
    ).pvalue
    assert row_tests(members, values, regression=True)[0] == pytest.approx(p)


def test_groups_of_missing_values_and_odd_types_are_formed():
    evidence = worked_example.diabetes()
    table = dict(evidence.test.table)
    table["age"] = [None if i % 4 == 0 else v for i, v in enumerate(table["age"])]
    table["bmi"] = ["x"] * len(table["bmi"])
    table["sex"] = [None if i % 3 else [1, 2] for i in range(len(table["sex"]))]
    cut = replace(evidence, test=replace(evidence.test, table=table)).groups
    names = [groups.name_group(group) for group in cut.groups]
    assert "age missing" in names
    assert cut.members[names.index("age missing")].sum() == 28
    assert not any(name.startswith("bmi") for name in names)
    assert {"sex: missing", "sex: [1, 2]"} <= set(names)


# ----------------------------------------------------------------- certificate, new data, data


@pytest.mark.parametrize("rows", [(85,), (60, 55, 58)])
def test_the_promise_is_the_lower_quantile_of_the_coverage_law(rows):
    evidence = replace(worked_example.breast_cancer(), calibrated=rows)
    floors = [coverage_law(n, 0.1).ppf(0.05 / len(rows)) for n in rows]
    words = calibration.promise(evidence)
    assert f"at least {format_share(min(floors), 'lower')} of all such rows" in words
    assert ("in each of 3 ranges" in words) == (len(rows) == 3)
    assert calibration.promise(replace(evidence, calibrated=(5,))) == ""


def test_groups_that_intervals_hold_too_rarely_are_found(seed):
    evidence = worked_example.many_rows(600, 3)
    rng = np.random.default_rng(seed)
    group = rng.choice(["north", "south", "west"], 600)
    held = rng.random(600) < np.where(group == "south", 0.6, 0.95)
    test = evidence.test
    test = replace(
        test,
        table={**test.table, "region": group.tolist()},
        low=np.where(held, test.truth - 1, test.truth + 1),
        high=test.truth + 2,
    )
    region = replace(evidence.profile.columns[0], name="region", kind="category")
    columns = (*evidence.profile.columns, region)
    evidence = replace(evidence, test=test, profile=replace(evidence.profile, columns=columns))
    found = calibration.coverage_summary(evidence)["groups"]
    assert found["rows"][0]["label"] == "region: south"
    assert found["rows"][0]["warn"]
    assert found["rows"][0]["hits"] == held[group == "south"].sum()
    assert "most clearly region: south" in found["sentence"]
    honest = replace(test, low=np.where(rng.random(600) < 0.92, test.truth - 1, test.truth + 1))
    found = calibration.coverage_summary(replace(evidence, test=honest))["groups"]
    assert found["n_shown"] == 0
    assert "None of" in found["sentence"]


def test_certificate_states_gap_rows_and_assumptions():
    section = certificate.build(worked_example.breast_cancer())
    best = section["certificates"][0]
    assert best["theorem"] == "theory.clopper-pearson"
    assert best["gap"] == pytest.approx(best["bound"] - best["empirical"])
    rows = best["rows_to_halve"]
    # So many rows with the same share of errors do halve the gap; 5% fewer do not.
    for n, enough in ((rows, True), (int(0.95 * rows), False)):
        k = math.ceil(best["empirical"] * n - 1e-9)
        gap = share_upper(k, n, 0.95) - best["empirical"]
        assert (gap <= best["gap"] / 2) is enough
    kept = {a["text"]: a["kept"] for a in section["assumptions"]}
    assert sorted(kept.values()) == [False, True]


def test_vacuous_is_said_aloud():
    section = certificate.build(worked_example.vacuous())
    assert section["all_vacuous"]
    assert "every bound is vacuous" in section["finding"]
    assert "At least 24 more rows" in section["finding"]
    assert "More rows alone would not change that" in section["certificates"][0]["sentence"]
    assert section["certificates"][0]["rows_to_halve"] is None


def test_detectable_error_rates_are_detected(seed):
    evidence = worked_example.breast_cancer()
    table = new_data.detectable(evidence)
    wrong = int(np.sum(evidence.test.truth != evidence.test.prediction))
    limit = share_upper(wrong, 143, 0.95)
    rng = np.random.default_rng(seed)
    for row in table["rows"]:
        allowed = stats.binom.ppf(0.95, row["n"], limit)
        hits = rng.binomial(row["n"], row["detectable"], 4_000) > allowed
        assert np.mean(hits) == pytest.approx(0.8, abs=0.03)
        assert np.mean(rng.binomial(row["n"], limit, 4_000) > allowed) <= 0.065


def test_few_test_rows_detect_nothing_and_say_so():
    evidence = worked_example.tiny()
    rows = evidence.test
    all_wrong = replace(evidence, test=replace(rows, prediction=1 - rows.truth))
    assert {r["detectable"] for r in new_data.detectable(all_wrong)["rows"]} == {None}
    assert "too few to notice" in verdict.still_true(all_wrong)["sentence"]
    assert "would not reveal a change" in new_data.build(all_wrong)["finding"]


def test_findings_that_need_action_come_first_and_are_counted():
    evidence = worked_example.breast_cancer()
    findings = (
        Finding("harmless", "A fact.", rows=(3,)),
        Finding("twins-across-split", "10 rows are twins.", act=True, rows=tuple(range(30))),
    )
    evidence = replace(evidence, profile=replace(evidence.profile, findings=findings))
    section = to_dict(evidence)["sections"]["data"]
    assert "1 finding needs your attention" in section["finding"]
    assert section["findings"][0]["act"]
    assert section["findings"][0]["where"] == "Rows 1, 2, 3, 4, 5, 6, 7, 8 and 22 more."
    assert section["findings"][1]["where"] == "Row 4."


def test_clean_data_raise_no_alarm():
    section = to_dict(worked_example.diabetes())["sections"]["data"]
    assert "Nothing found that needs your attention" in section["finding"]


def test_failed_candidates_are_named():
    evidence = worked_example.breast_cancer()
    broken = replace(evidence.candidates[1], error="It ran out of memory.")
    evidence = replace(
        evidence, candidates=(evidence.candidates[0], broken, *evidence.candidates[2:])
    )
    section = to_dict(evidence)["sections"]["models"]
    assert section["failed"] == [{"label": broken.label, "error": "It ran out of memory."}]
    assert len(section["candidates"]) == 3


def test_indistinguishable_models_are_marked():
    section = to_dict(worked_example.diabetes())["sections"]["models"]
    notes = {r["label"]: r["note"] for r in section["forest"]["rows"]}
    assert notes["Gradient boosting"] == "indistinguishable"
    assert "Gradient boosting is indistinguishable from it" in section["finding"]


def test_limits_speak_of_dropped_rows_unused_columns_and_notes():
    evidence = worked_example.breast_cancer()
    columns = (
        replace(evidence.profile.columns[0], used=False, why_unused="It is constant."),
        *evidence.profile.columns[1:],
    )
    profile = replace(evidence.profile, n_dropped=7, columns=columns)
    lines = " ".join(to_dict(replace(evidence, profile=profile))["sections"]["limits"]["limits"])
    assert "7 rows without a value of diagnosis" in lines
    assert "mean radius was not used" in lines
    assert "left at their defaults" in lines


def test_sentences_never_show_six_digits():
    for name in ("breast_cancer", "diabetes", "three_classes"):
        report = to_dict(worked_example.BUILDERS[name]())
        texts = [c["sentence"] for c in report["verdict"]["cards"]]
        texts += [s["finding"] for s in report["sections"].values()]
        for text in texts:
            assert not re.search(r"\d\.\d{5,}", text), text


def test_importance_is_corrected_for_the_number_of_columns():
    rise = Estimate(1.0, 0.1, 1.9, 100)  # 2.2 standard errors above zero
    assert widen(rise, 1, 0.95).low > 0
    assert widen(rise, 20, 0.95).low < 0
    assert widen(Estimate(1.0, 0.5, 1.5, 100), 20, 0.95).low > 0  # 3.9 standard errors
    assert widen(Estimate(1.0, -math.inf, math.inf, 1), 1, 0.95).low < 0


@given(st.integers(0, 1000), st.integers(1, 12), st.integers(1, 30))
def test_bins_cover_all_rows_once_with_the_least_count(n, most, least):
    bins = equal_count_bins(n, most, least)
    covered = [i for b in bins for i in range(b.start, b.stop)]
    assert covered == list(range(n))
    assert len(bins) <= most
    if n >= least:
        assert all(b.stop - b.start >= least for b in bins)


# -------------------------------------------------------------------- sections compute nothing

PAGE = pathlib.Path(calibration.__file__).parents[1]
COMPUTING = ("numpy", "scipy", "pandas", "sklearn", "corollary.validation", "corollary.theory")
METHODS = {
    *("mean", "sum", "std", "var", "min", "max", "argmin", "argmax", "argsort", "sort", "any"),
    *("all", "cumsum", "dot", "nonzero", "prod", "ptp"),
}


def _imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module, alias.name) for alias in node.names)


def computations(source):
    """What a module of the page computes instead of reading it from records.

    It imports nothing that computes, takes from ``trust`` only records and constants, and calls no
    method of arrays other than those that read values.
    """
    tree = ast.parse(source)
    found = []
    for module, name in _imports(tree):
        whole = f"{module}.{name}"
        if any(f"{whole}.".startswith(f"{package}.") for package in COMPUTING):
            found.append(whole)
        if module.startswith("corollary.reporting.trust") and not name[:1].isupper():
            found.append(whole)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found += [node.func.attr] * (node.func.attr in METHODS)
    return found


@pytest.mark.parametrize("path", sorted(PAGE.rglob("*.py")), ids=lambda p: p.stem)
def test_the_page_computes_nothing(path):
    assert computations(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "fault",
    [
        "import numpy as np",
        "from scipy import special",
        "from corollary.validation import share_upper",
        "from corollary import theory",
        "def f():\n    from corollary.theory import compare_losses",
        "from corollary.reporting.trust._coverage import held_truth",
        "share = evidence.test.wrong.mean()",
    ],
)
def test_a_page_that_computes_is_noticed(fault):
    assert computations(fault)
