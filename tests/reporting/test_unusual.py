"""Rows unlike the others: called as rarely by mistake as the page says, here and in predict."""

from dataclasses import replace

import jsonschema
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, fisher_exact, mannwhitneyu

import corollary
from corollary.reporting import from_memory, json_schema, load_model, measure, predict_file
from corollary.reporting.page._render import render_page, to_dict
from corollary.reporting.page.sections import _unusual_rows as section
from corollary.reporting.trust._unusual import RATE
from tests.reporting.evidence_parts import in_period, page_of, with_units

NAMES = ["a", "b", "c"]


def _table(rng, n, law="correlated"):
    shape = 0.6 + 0.4 * np.eye(3)
    # By Cholesky factors: singular vectors, and so the rows, would depend on the processor.
    Z = rng.multivariate_normal(np.zeros(3), shape, size=n, method="cholesky")
    X = {"correlated": Z, "skewed": np.exp(Z), "heavy": Z / np.sqrt(rng.chisquare(4, (n, 1)) / 4)}
    frame = pd.DataFrame(X[law], columns=NAMES)
    return frame.assign(y=frame["a"] + rng.normal(size=n))


def _measured(frame, target="y", **options):
    return measure(from_memory(frame), target, fast=True, independent=True, **options)


def _planted(rng, n, k):
    """Unlike the others in one column, or in two that usually move along."""
    frame, rows = _table(rng, n), rng.choice(n, k, replace=False)
    frame.loc[rows[: k // 2], "b"] += 25.0
    frame.loc[rows[k // 2 :], ["a", "c"]] += np.array([10.0, -10.0])
    return frame, rows


@pytest.mark.parametrize("law", ["correlated", "skewed", "heavy"])
def test_ordinary_tables_are_quiet(law):
    """If no row is unlike the others, any call is a false discovery: at most the rate has one."""
    runs = 25
    calls = [_measured(_table(np.random.default_rng(r), 60, law))[0].unusual for r in range(runs)]
    loud = sum(found.n_called > 0 for found in calls if found.controlled)
    assert binom.sf(loud - 1, runs, RATE) > 1e-3
    assert sum(found.controlled for found in calls) > runs / 2


@pytest.fixture(scope="module")
def planted():
    frame, rows = _planted(np.random.default_rng(0), 400, 8)
    return *_measured(frame), frame, rows


def test_false_discoveries_among_planted_rows():
    shares, caught = [], []
    for run in range(12):
        rng = np.random.default_rng(100 + run)
        frame, rows = _planted(rng, 240, 6)
        found = _measured(frame)[0].unusual
        called = {row.position for row in found.shown}
        assert len(called) == found.n_called
        shares.append(len(called - set(rows.tolist())) / max(len(called), 1))
        caught.append(len(called & set(rows.tolist())) / 6)
    assert np.mean(shares) <= RATE + 3 * np.std(shares) / np.sqrt(12)
    assert np.mean(caught) > 0.5


def test_rows_their_columns_and_the_threshold(planted):
    evidence, model, frame, rows = planted
    found = evidence.unusual
    called = {row.position: row for row in found.shown}
    assert set(rows) <= set(called)
    assert found.n_judged == len(frame)
    assert found.threshold == pytest.approx(RATE * found.n_called / len(frame))
    assert model.distance.threshold == found.threshold
    for row in rows[:4]:
        first = called[row].reasons[0]
        assert (first.column, first.place) == ("b", "high")
        assert first.value == frame.loc[row, "b"]
    for row in rows[4:]:
        assert {reason.column for reason in called[row].reasons} >= {"a", "c"}
    assert max(row.p_value for row in found.shown) <= found.threshold


def test_unusual_rows_are_listed_by_the_names_that_readers_know():
    frame, rows = _planted(np.random.default_rng(8), 300, 4)
    frame.insert(0, "customer", [f"C{i:05d}" for i in np.random.default_rng(9).permutation(300)])
    content = to_dict(_measured(frame)[0])
    jsonschema.validate(content, json_schema())
    listed = content["sections"]["unusual_rows"]["rows"]
    assert {row["position"] for row in listed} >= set(rows)
    for row in listed:
        name = frame["customer"][row["position"]]
        assert row["names"] == [{"column": "customer", "value": name}]
        assert f"<bdi>{name}</bdi></td>" in render_page(content)


def test_no_row_is_measured_by_itself():
    """Ten columns, 60 rows: a distance that knew a row would call it near."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(100, 20))).rename(columns=lambda j: f"x{j}")
    frame["y"] = rng.normal(size=100)
    new = pd.DataFrame(rng.normal(size=(4000, 20)), columns=frame.columns[:-1])
    _, model = _measured(frame)
    # A tenth of the rows like those of training lies beyond the ninth decile, or fewer.
    beyond = model.distance.p_values(model._encode(new)) < 1
    assert 0.03 < beyond.mean() < 0.2


def test_targets_play_no_role(planted):
    evidence, _, frame, _ = planted
    other = frame.assign(y=frame["y"] + 50 * (frame["y"] > 8))
    assert evidence.unusual.shown == _measured(frame)[0].unusual.shown  # same seed
    # Other targets deal other rows, but the rows that are unlike the others stay the same.
    again = {row.position for row in _measured(other)[0].unusual.shown}
    assert len(again & {row.position for row in evidence.unusual.shown}) >= 7


def test_predict_flags_at_the_threshold_of_the_report(planted, tmp_path):
    evidence, model, _, _ = planted
    rng = np.random.default_rng(9)
    new = _table(rng, 4000).drop(columns="y")
    # No wolf: of rows like those of training at most the threshold's share, and the ranges of
    # three columns alone would be left by far more.
    flags = model.flags(new)
    assert np.mean([flag != "" for flag in flags]) <= 4 * evidence.unusual.threshold
    outside = np.column_stack(
        [mask for name in NAMES for mask, _ in _ranges(model, new, name)]
    ).any(axis=1)
    assert outside.mean() > np.mean([flag != "" for flag in flags])
    odd = new.head(3).copy()
    odd.loc[0, "b"] = 60.0
    odd.loc[1, ["a", "c"]] = [6.0, -6.0]
    flags = model.predict_table(odd)["unusual"].tolist()
    assert flags == model.flags(odd)
    assert flags[0].startswith("far from the training rows (p = ")
    assert flags[0].endswith("): b above the training range")
    assert flags[1].startswith("far from the training rows (p = ")
    assert {"a", "c"} <= set(flags[1].split(": ")[1].replace(",", "").split())
    assert flags[2] == ""
    corollary.save(model, tmp_path / "m.corollary")
    assert load_model(tmp_path / "m.corollary").flags(odd) == flags
    odd.to_csv(tmp_path / "new.csv", index=False)
    notes = predict_file(tmp_path / "m.corollary", tmp_path / "new.csv")[1]
    said = f"flagged as far at p ≤ {evidence.unusual.threshold:.2g}, the threshold of the report"
    assert said in notes[-1]
    assert notes[-1].startswith("2 of 3 rows are unlike the training rows; see 'unusual'.")


def _ranges(model, new, name):
    from corollary.representation import ColumnTable

    plans = dict(zip(model.columns, model.encoder.plans_))
    return plans[name].beyond(ColumnTable.of(new)[name])


def test_what_the_model_cannot_read_is_flagged_whatever_the_distance(planted):
    _, model, frame, _ = planted
    odd = frame.drop(columns="y").head(2).astype(object)
    odd.loc[0, "a"] = "forty"
    assert model.flags(odd)[0] == "a: 'forty' is not a number"
    assert model.flags(odd.drop(columns="a"))[1] == "a: column absent"


def test_models_without_the_rule_flag_ranges(planted):
    _, model, frame, _ = planted
    former = replace(model, distance=None)
    odd = frame.drop(columns="y").head(1).assign(b=40.0)
    assert former.flags(odd) == ["b: above the training range"]


def test_whether_the_model_errs_more(planted):
    evidence = planted[0]
    called = np.zeros(len(evidence.test.truth), dtype=bool)
    called[:6] = True
    found = replace(evidence.unusual, called=called)
    errors = replace(evidence, unusual=found).unusual_errors
    sizes = evidence.test.errors
    assert errors.value == pytest.approx(sizes[:6].mean())
    assert errors.elsewhere == pytest.approx(sizes[6:].mean())
    tested = mannwhitneyu(sizes[:6], sizes[6:], alternative="greater").pvalue
    assert errors.p_value == pytest.approx(tested)
    truth = evidence.test.truth + 100.0 * called
    worse = replace(evidence, unusual=found, test=replace(evidence.test, truth=truth))
    assert worse.unusual_errors.shown
    assert "The model errs more on them, shown: mean error" in section.build(worse)["finding"]
    none = replace(evidence, unusual=replace(found, called=np.zeros_like(called)))
    assert none.unusual_errors is None
    assert "No test row is among them" in section.build(none)["finding"]
    # Of units the means are compared: three of two rows each.
    units = np.arange(len(called)) // 2
    by_unit = with_units(replace(evidence, unusual=found), units).unusual_errors
    means = sizes[: len(units) // 2 * 2].reshape(-1, 2).mean(axis=1)
    assert by_unit.n == 3
    assert by_unit.value == pytest.approx(means[:3].mean())


def test_whether_classes_are_wrong_more_often():
    rng = np.random.default_rng(3)
    frame = _table(rng, 300).assign(y=lambda f: np.where(f["y"] > 0, "yes", "no"))
    evidence = _measured(frame)[0]
    called = np.zeros(len(evidence.test.truth), dtype=bool)
    called[:5] = True
    errors = replace(evidence, unusual=replace(evidence.unusual, called=called)).unusual_errors
    wrong = evidence.test.wrong
    table = [[wrong[:5].sum(), 5 - wrong[:5].sum()], [wrong[5:].sum(), (~wrong[5:]).sum()]]
    assert errors.p_value == pytest.approx(fisher_exact(table, alternative="greater").pvalue)
    assert errors.value == wrong[:5].mean()
    assert 0 <= errors.low <= errors.value <= errors.high <= 1


def test_rows_of_units_count_once():
    """Forty owners of five equal rows each: the tail is that of forty rows at most."""
    rng = np.random.default_rng(5)
    owners = _table(rng, 60)
    frame = owners.loc[np.repeat(np.arange(60), 5)].reset_index(drop=True)
    frame["b"] += 0.01 * rng.normal(size=300)
    frame["owner"] = [f"o{i}" for i in np.repeat(np.arange(60), 5)]
    evidence = measure(from_memory(frame), "y", fast=True, group="owner")[0]
    assert evidence.unusual.n_reference <= 40
    text = page_of(evidence)
    assert "each of another owner" in text
    assert "rows of one owner may be called together" in text


def test_clusters_are_drawn_where_they_are_real(planted):
    assert planted[0].unusual.clusters is None
    assert "Clusters" not in page_of(planted[0])
    rng = np.random.default_rng(6)
    frame = _table(rng, 240)
    frame.loc[:119, ["a", "b"]] += 9.0
    evidence = _measured(frame.sample(frac=1, random_state=0))[0]
    found = evidence.unusual.clusters
    assert len(found.sizes) == 2
    assert min(found.sizes) > 50
    assert set(found.columns) <= {"a", "b", "c"}
    assert abs(found.medians[0][0] - found.medians[1][0]) > 7
    content = to_dict(evidence)
    jsonschema.validate(content, json_schema())
    page = page_of(evidence)
    assert page.count('class="cluster-') == len(found.points)
    assert "fall into 2 clusters" in page
    # The test does not allow for rows that depend on those before them.
    later = measure(from_memory(frame.assign(t=np.arange(240))), "y", fast=True, time="t")[0]
    assert later.unusual.clusters is None


def test_the_page_says_what_holds(planted):
    evidence = planted[0]
    content = to_dict(evidence)
    jsonschema.validate(content, json_schema())
    found = content["sections"]["unusual_rows"]
    assert f"{found['called']} of 400 rows are unlike the others" in found["finding"]
    assert "at most 10% are expected to be ordinary" in found["finding"]
    assert found["threshold"] == evidence.unusual.threshold
    assert "not proved for them" in " ".join(section.build(in_period(evidence))["method"])
    ranked = replace(evidence.unusual, controlled=False, n_called=0, shown=(), n_reference=240)
    built = section.build(replace(evidence, unusual=ranked))
    assert "1 in 241 ordinary rows is flagged" in built["finding"]
    assert built["rate"] is None


def test_data_with_unusual_rows_are_not_called_free_of_findings(planted):
    evidence = planted[0]
    finding = to_dict(evidence)["sections"]["data"]["finding"]
    called = evidence.unusual.n_called
    assert called > 1
    assert f"{called} rows are unlike the others" in finding
    assert "Nothing" not in finding


def test_too_few_rows_and_no_quantities_are_one_line():
    rng = np.random.default_rng(8)
    evidence, model = _measured(_table(rng, 15))
    assert evidence.unusual.why_not == "few rows"
    assert model.distance is None
    built = section.build(evidence)
    assert built["finding"].endswith("too few to call any row unusual: at least 20 are needed.")
    assert built["method"] == []
    levels = pd.DataFrame({"kind": rng.choice(list("pqr"), 80), "y": rng.normal(size=80)})
    evidence, model = _measured(levels)
    assert section.build(evidence)["finding"].startswith("No column is a quantity")
    assert page_of(evidence)
    assert model.flags(levels) == [""] * 80


@pytest.mark.parametrize("law", ["correlated", "skewed"])
@pytest.mark.parametrize("row", [0, 1, 4, 5])
def test_the_encoders_reach_hides_no_row(law, row):
    """Predictions trust no number far beyond its range; how far it lies is another question."""
    frame = _table(np.random.default_rng(3), 300, law)
    frame.loc[row, "b"] = 1e6
    found, model = _measured(frame)
    assert [each.position for each in found.unusual.shown] == [row]
    assert found.unusual.shown[0].p_value < 1e-4
    assert found.unusual.shown[0].reasons[0].column == "b"
    (flag,) = model.flags(frame.iloc[[row]])
    assert flag == "b: far above the training range" or flag.startswith("far from the training")
