"""Evidence from real data and really fitted models, without the pipeline.

Used by the tests of the rendering half and to look at pages while designing them. Models are
scikit-learn's; everything is seeded. ``python -m tests.reporting.worked_example NAME``
prints a page.
"""

import functools
import math
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from corollary.core.certificate import Assumption, Quantity
from corollary.reporting._records import (
    Effect,
    Evidence,
    Finding,
    Importance,
    LossName,
    TestRows,
)
from corollary.validation import Estimate
from tests.reporting.evidence_parts import (
    COVERAGE,
    candidate,
    certificates,
    common,
    effects,
    importances,
    page_of,
    paired,
    profile,
    split,
)

HOSTILE = [
    "<script>document.title='owned'</script>",
    '"><img src=x onerror="document.title=\'owned\'">',
    "</title></style></script><svg onload=document.title='owned'>",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(1)",
    "\u202edesrever\x00\x07",
    "",
    "a name that goes on " * 20,
    "&lt;b&gt; & 'quotes' \"double\" `back`",
    "行列名前" * 12,
    "]]>--><!--",
    "line\nbreak\tand tab",
]


# ---------------------------------------------------------------------------------------------
# measuring, in the simplest way that is right
# ---------------------------------------------------------------------------------------------


def classify(
    data_name, table, y, classes, target="diagnosis", seed=0, findings=(), explained=8
) -> Evidence:
    rng = np.random.default_rng(seed)
    train, calibration, test = split(table, y, seed, True)
    models = {
        "logistic": (
            "Logistic regression",
            "A weighted sum of the columns, squeezed into a probability.",
            make_pipeline(StandardScaler(), LogisticRegression(C=1.0, max_iter=2000)),
        ),
        "sparse": (
            "Stronger penalty",
            "The same with smaller weights.",
            make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=2000)),
        ),
        "booster": (
            "Gradient boosting",
            "Many small trees, each correcting the last.",
            HistGradientBoostingClassifier(max_iter=40, random_state=seed),
        ),
        "baseline": (
            "Always the class shares",
            "Ignores every column.",
            DummyClassifier(strategy="prior"),
        ),
    }
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)

    def log_loss(probability, truth):
        return -np.log(np.clip(probability[np.arange(len(truth)), truth], 1e-12, 1))

    out = {}
    for name, (_, _, model) in models.items():
        losses = np.empty(len(train))
        for a, b in folds.split(train, y[train]):
            model.fit(table.iloc[train[a]], y[train[a]])
            losses[b] = log_loss(model.predict_proba(table.iloc[train[b]]), y[train[b]])
        out[name] = losses
    best = min((n for n in out if n != "baseline"), key=lambda n: out[n].mean())
    order = sorted(out, key=lambda n: (n == "baseline", out[n].mean()))
    found = tuple(
        candidate(
            n,
            models[n][0],
            models[n][1],
            out[n],
            out[best],
            out["baseline"],
            chosen=n == best,
            baseline=n == "baseline",
            seconds=0.02 + 0.3 * (n == "booster"),
            size=1 if n == "baseline" else table.shape[1] + 1 + 2400 * (n == "booster"),
            settings={"penalty": 1.0} if n == "logistic" else {},
        )
        for n in order
    )
    model = models[best][2].fit(table.iloc[train], y[train])
    base = models["baseline"][2].fit(table.iloc[train], y[train])
    probability = model.predict_proba(table.iloc[test])
    losses = log_loss(probability, y[test])
    base_probability = base.predict_proba(table.iloc[test])
    base_losses = log_loss(base_probability, y[test])
    scores = (
        1
        - model.predict_proba(table.iloc[calibration])[np.arange(len(calibration)), y[calibration]]
    )
    k = math.ceil((len(calibration) + 1) * COVERAGE)
    limit = np.sort(scores)[k - 1] if k <= len(scores) else np.inf
    prediction = probability.argmax(axis=1)
    sets = 1 - probability <= limit
    sets[np.arange(len(test)), prediction] = True  # never empty
    wrong = (prediction != y[test]).astype(float)
    gain = paired(base_losses - losses)
    names = list(table.columns[:explained])
    explain = importances(
        table.iloc[test],
        lambda t: log_loss(model.predict_proba(t), y[test]),
        losses,
        rng,
        names,
    )
    of_class = len(classes) - 1
    shown = effects(
        table.iloc[test],
        lambda t: float(model.predict_proba(t)[:, of_class].mean()),
        [i.column for i in explain[:6]],
        classes[of_class],
    )
    return Evidence(
        **common(
            data_name=data_name,
            target=target,
            task="classification",
            classes=tuple(classes),
            loss=LossName("log loss"),
            profile=profile(table, pd.Series(np.array(classes)[y], name=target), findings),
            n_train=len(train),
            n_calibration=len(calibration),
            n_test=len(test),
            candidates=found,
            test=TestRows(
                positions=test,
                table={str(c): table[c].iloc[test].tolist() for c in table.columns},
                truth=y[test],
                prediction=prediction,
                baseline=base_probability.argmax(axis=1),
                loss=losses,
                baseline_loss=base_losses,
                probability=probability,
                sets=sets,
            ),
            verdict="shown" if gain.low > 0 else "worse" if gain.high < 0 else "not shown",
            gain=gain,
            certificates=certificates("error rate", wrong),
            importances=explain,
            effects=shown,
            command=f"corollary report {data_name}.csv --target {target} --seed {seed}",
        )
    )


@functools.cache
def breast_cancer() -> Evidence:
    bunch = datasets.load_breast_cancer(as_frame=True)
    classes = [str(c) for c in bunch.target_names][::-1]
    findings = (
        Finding(
            "predicts-alone",
            "worst perimeter alone separates the classes almost as well as all columns together. "
            "Is it known at the time of prediction?",
            columns=("worst perimeter",),
        ),
        Finding("no-missing", "No value is missing."),
    )
    return classify(
        "breast_cancer",
        bunch.data,
        1 - bunch.target.to_numpy(),
        classes,
        findings=findings,
        explained=30,
    )


@functools.cache
def three_classes() -> Evidence:
    bunch = datasets.load_wine(as_frame=True)
    names = ["Barolo", "Grignolino", "Barbera"]
    return classify("wine", bunch.data, bunch.target.to_numpy(), names, target="cultivar")


@functools.cache
def coin_flips() -> Evidence:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(300, 20)), columns=[f"x{i}" for i in range(20)])
    return classify("coins", table, rng.integers(0, 2, 300), ["heads", "tails"], target="side")


@functools.cache
def wide(columns: int = 200) -> Evidence:
    rng = np.random.default_rng(4)
    table = pd.DataFrame(
        rng.normal(size=(400, columns)), columns=[f"measurement number {i}" for i in range(columns)]
    )
    y = (table.iloc[:, 0] + table.iloc[:, 1] + rng.normal(size=400) > 0).to_numpy().astype(int)
    evidence = classify("wide", table, y, ["no", "yes"], target="outcome", explained=20)
    noise = (Importance(c, Estimate(1e-4, -1e-3, 1e-3, 100)) for c in table.columns[20:])
    return replace(evidence, importances=(*evidence.importances, *noise))


@functools.cache
def hostile() -> Evidence:
    rng = np.random.default_rng(5)
    table = pd.DataFrame(rng.normal(size=(300, len(HOSTILE))), columns=HOSTILE)
    y = (table.iloc[:, 0] + 0.5 * rng.normal(size=300) > 0).to_numpy().astype(int)
    evidence = classify(
        HOSTILE[0], table, y, [HOSTILE[1], HOSTILE[2]], target=HOSTILE[3], explained=len(HOSTILE)
    )
    rows = evidence.test
    categories = [HOSTILE[i % len(HOSTILE)] for i in range(len(rows.truth))]
    raw = {**rows.table, HOSTILE[0]: categories}
    columns = tuple(
        replace(
            c,
            kind="category",
            numbers={},
            histogram={"labels": HOSTILE, "counts": [5] * 12, "other": 0},
        )
        if c.name == HOSTILE[0]
        else c
        for c in evidence.profile.columns
    )
    findings = tuple(Finding(h, h, act=i % 2 == 0, columns=(h,)) for i, h in enumerate(HOSTILE))
    return replace(
        evidence,
        test=replace(rows, table=raw),
        profile=replace(evidence.profile, columns=columns, findings=findings),
        effects=(
            Effect(HOSTILE[0], HOSTILE, [0.1] * 12, [0.1] * 12, HOSTILE[1]),
            *evidence.effects[1:],
        ),
        candidates=tuple(
            replace(c, label=HOSTILE[1], description=HOSTILE[2], settings={HOSTILE[0]: HOSTILE[1]})
            for c in evidence.candidates
        ),
        selection_rule=HOSTILE[1],
        command=HOSTILE[0],
        versions={HOSTILE[1]: HOSTILE[2]},
        hashes={HOSTILE[1]: HOSTILE[2]},
        seconds={HOSTILE[1]: 1.0},
        notes=tuple(HOSTILE),
        date=HOSTILE[0],
        certificates=tuple(
            replace(
                c,
                quantity=Quantity(HOSTILE[1], predicate=HOSTILE[0]),
                theorem=HOSTILE[2],
                observed=HOSTILE[0],
                assumptions=(Assumption(HOSTILE[1]),),
            )
            for c in evidence.certificates
        ),
    )


@functools.cache
def tiny() -> Evidence:
    bunch = datasets.load_breast_cancer(as_frame=True)
    rows = np.r_[0:15, 520:540]
    table = bunch.data.iloc[rows, :5].reset_index(drop=True)
    y = 1 - bunch.target.to_numpy()[rows]
    return classify("tiny", table, y, ["benign", "malignant"], explained=5)


@functools.cache
def vacuous() -> Evidence:
    evidence = tiny()
    return replace(
        evidence,
        certificates=tuple(
            replace(c, bound=1.0, vacuous=True, rows_missing=float("inf") if i == 0 else 24.0)
            for i, c in enumerate(evidence.certificates)
        ),
    )


# ---------------------------------------------------------------------------------------------
# regression
# ---------------------------------------------------------------------------------------------


@functools.cache
def diabetes() -> Evidence:
    bunch = datasets.load_diabetes(as_frame=True, scaled=False)
    table, y = bunch.data.copy(), bunch.target.to_numpy()
    table["sex"] = np.where(table["sex"] > 1, "male", "female")
    seed = 0
    rng = np.random.default_rng(seed)
    numeric = table.assign(sex=(table["sex"] == "male").astype(float))
    train, calibration, test = split(table, y, seed, False)
    models = {
        "ridge": (
            "Ridge regression",
            "A weighted sum of the columns with shrunken weights.",
            make_pipeline(StandardScaler(), RidgeCV(alphas=np.logspace(-2, 3, 11))),
        ),
        "booster": (
            "Gradient boosting",
            "Many small trees, each correcting the last.",
            HistGradientBoostingRegressor(max_iter=40, random_state=seed),
        ),
        "baseline": (
            "Always the median",
            "Ignores every column.",
            DummyRegressor(strategy="median"),
        ),
    }
    out = {}
    for name, (_, _, model) in models.items():
        losses = np.empty(len(train))
        for a, b in KFold(5, shuffle=True, random_state=seed).split(train):
            model.fit(numeric.iloc[train[a]], y[train[a]])
            losses[b] = np.abs(model.predict(numeric.iloc[train[b]]) - y[train[b]])
        out[name] = losses
    best = "ridge"
    found = tuple(
        candidate(
            n,
            *models[n][:2],
            out[n],
            out[best],
            out["baseline"],
            chosen=n == best,
            baseline=n == "baseline",
            seconds=0.02,
            size=11,
            settings={},
        )
        for n in ("ridge", "booster", "baseline")
    )
    model = models[best][2].fit(numeric.iloc[train], y[train])
    difficulty = HistGradientBoostingRegressor(max_iter=20, min_samples_leaf=30, random_state=seed)
    difficulty.fit(numeric.iloc[train], out[best])

    def spread(t):
        return np.maximum(difficulty.predict(t), 10.0)

    scores = np.abs(model.predict(numeric.iloc[calibration]) - y[calibration])
    scores = scores / spread(numeric.iloc[calibration])
    limit = np.sort(scores)[math.ceil((len(scores) + 1) * COVERAGE) - 1]
    prediction = model.predict(numeric.iloc[test])
    reach = limit * spread(numeric.iloc[test])
    losses = np.abs(prediction - y[test])
    base = np.full(len(test), np.median(y[train]))
    base_losses = np.abs(base - y[test])
    gain = paired(base_losses - losses)
    explain = importances(
        numeric.iloc[test],
        lambda t: np.abs(model.predict(t) - y[test]),
        losses,
        rng,
        numeric.columns,
    )
    shown = effects(
        numeric.iloc[test],
        lambda t: float(model.predict(t).mean()),
        [i.column for i in explain if i.column != "sex"][:5],
    )
    by_sex = [float(model.predict(numeric.iloc[test].assign(sex=v)).mean()) for v in (0.0, 1.0)]
    share = float((table["sex"].iloc[test] == "male").mean())
    shown += (Effect("sex", ["female", "male"], by_sex, [1 - share, share]),)
    return Evidence(
        **common(
            data_name="diabetes",
            target="progression",
            task="regression",
            classes=(),
            loss=LossName("absolute error"),
            profile=profile(table, pd.Series(y, name="progression")),
            n_train=len(train),
            n_calibration=len(calibration),
            n_test=len(test),
            candidates=found,
            test=TestRows(
                positions=test,
                table={c: table[c].iloc[test].tolist() for c in table.columns},
                truth=y[test],
                prediction=prediction,
                baseline=base,
                loss=losses,
                baseline_loss=base_losses,
                low=prediction - reach,
                high=prediction + reach,
            ),
            verdict="shown" if gain.low > 0 else "worse" if gain.high < 0 else "not shown",
            gain=gain,
            certificates=certificates("mean absolute error", np.minimum(losses, 321.0), 321.0),
            importances=explain,
            effects=shown,
            command="corollary report diabetes.csv --target progression --seed 0",
        )
    )


@functools.cache
def many_rows(rows: int = 1_000_000, columns: int = 200) -> Evidence:
    """A regression with very many test rows; the columns share one list, to spare memory."""
    evidence = diabetes()
    rng = np.random.default_rng(6)
    truth = rng.gamma(2.0, 60.0, rows)
    noise = rng.normal(size=rows)
    prediction = truth + 0.2 * truth * noise
    shared = rng.normal(size=rows).tolist()
    names = [f"measurement number {i}" for i in range(columns)]
    losses = np.abs(truth - prediction)
    numbers = evidence.profile.columns[0]
    return replace(
        evidence,
        n_test=rows,
        profile=replace(
            evidence.profile, columns=tuple(replace(numbers, name=name) for name in names)
        ),
        importances=tuple(
            Importance(name, Estimate(1 / (i + 1), 0.9 / (i + 1), 1.1 / (i + 1), rows))
            for i, name in enumerate(names)
        ),
        effects=(),
        test=TestRows(
            positions=np.arange(rows),
            table=dict.fromkeys(names, shared),
            truth=truth,
            prediction=prediction,
            baseline=np.full(rows, 120.0),
            loss=losses,
            baseline_loss=np.abs(truth - 120.0),
            low=prediction * 0.7,
            high=prediction * 1.3,
        ),
    )


def grouped(seed, weak, rows=400, columns=6) -> Evidence:
    """Classes that are called wrongly with probability `weak` in one group, 0.1 elsewhere."""
    rng = np.random.default_rng(seed)
    evidence = coin_flips()
    names = [f"c{i}" for i in range(columns)]
    table = {name: rng.choice(["a", "b", "c"], rows).tolist() for name in names}
    chance = np.where(np.array(table["c0"]) == "b", weak, 0.1)
    truth = np.zeros(rows, dtype=int)
    prediction = (rng.random(rows) < chance).astype(int)
    template = replace(evidence.profile.columns[0], kind="category")
    return replace(
        evidence,
        profile=replace(
            evidence.profile, columns=tuple(replace(template, name=name) for name in names)
        ),
        test=replace(
            evidence.test,
            positions=np.arange(rows),
            truth=truth,
            prediction=prediction,
            table=table,
        ),
    )


BUILDERS = {
    "breast_cancer": breast_cancer,
    "diabetes": diabetes,
    "three_classes": three_classes,
    "coin_flips": coin_flips,
    "wide": wide,
    "hostile": hostile,
    "tiny": tiny,
    "vacuous": vacuous,
    "many_rows": many_rows,
}

if __name__ == "__main__":
    sys.stdout.write(page_of(BUILDERS[sys.argv[1]]()))
