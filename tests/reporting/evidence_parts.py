"""Parts of an Evidence, computed by other means than the pipeline under test."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import special, stats
from sklearn.model_selection import train_test_split

from corollary.core.certificate import Assumption, Certificate, Population, Quantity
from corollary.reporting._records import (
    Candidate,
    Effect,
    Importance,
    Profile,
    ProfiledColumn,
)
from corollary.reporting.page._render import render_page, to_dict
from corollary.validation import Estimate

CONFIDENCE = 0.95
COVERAGE = 0.9


def page_of(evidence) -> str:
    """The page of a report, made as the command makes it."""
    return render_page(to_dict(evidence))


def with_units(evidence, units, unit="person"):
    """The same evidence, about rows of new units."""
    certificates = tuple(
        replace(c, population=Population("new units", unit), n_samples=len(np.unique(units)))
        for c in evidence.certificates
    )
    return replace(
        evidence,
        test=replace(evidence.test, units=np.asarray(units)),
        population=Population("new units", unit),
        certificates=certificates,
    )


def in_period(evidence, start="2020-05-01", end="2020-07-31"):
    """The same evidence, about the rows of one period."""
    population = Population("period", start=start, end=end)
    certificates = tuple(replace(c, population=population) for c in evidence.certificates)
    return replace(evidence, population=population, certificates=certificates)


def paired(difference: np.ndarray) -> Estimate:
    n = len(difference)
    mean = float(difference.mean())
    half = float(stats.t.ppf(0.975, n - 1) * difference.std(ddof=1) / math.sqrt(n))
    return Estimate(mean, mean - half, mean + half, n)


def profile(table: pd.DataFrame, target: pd.Series, findings=()) -> Profile:
    columns = [column_profile(table[name]) for name in table.columns]
    return Profile(len(table), 0, tuple(columns), column_profile(target), tuple(findings))


def column_profile(values: pd.Series) -> ProfiledColumn:
    known = values.dropna()
    if values.dtype.kind in "if" and values.nunique() > 2:
        counts, edges = np.histogram(known, bins=20)
        q = known.quantile([0, 0.25, 0.5, 0.75, 1]).tolist()
        numbers = dict(zip(("min", "q25", "median", "q75", "max"), q))
        numbers["mean"] = float(known.mean())
        histogram = {"edges": edges.tolist(), "counts": counts.tolist()}
        kind, scale = "numeric", "ratio"
    else:
        top = known.astype(str).value_counts()
        histogram = {
            "labels": top.index[:12].tolist(),
            "counts": top.iloc[:12].tolist(),
            "other": int(top.iloc[12:].sum()),
        }
        numbers, kind, scale = {}, "category", "nominal"
    used = values.nunique() > 1
    return ProfiledColumn(
        name=str(values.name),
        kind=kind if used else "constant",
        scale=scale,
        n_missing=int(values.isna().sum()),
        n_distinct=int(values.nunique()),
        used=used,
        numbers=numbers,
        histogram=histogram,
        why_unused="" if used else "It has the same value in every row.",
    )


def certificates(kind: str, losses: np.ndarray, upper: float = 1.0) -> tuple[Certificate, ...]:
    n, mean = len(losses), float(losses.mean())
    assumptions = (
        Assumption("The rows are independent draws from the population the claim is about."),
        Assumption("No choice about the model was made on these rows.", checked=True),
    )
    hoeffding = mean + upper * math.sqrt(math.log(1 / (1 - CONFIDENCE)) / (2 * n))
    variance = float(losses.var(ddof=1))
    log_term = math.log(2 / (1 - CONFIDENCE))
    bernstein = mean + math.sqrt(2 * variance * log_term / n) + 7 * upper * log_term / (3 * (n - 1))
    found = [("theory.hoeffding", hoeffding), ("theory.empirical-bernstein", bernstein)]
    observed = f"{mean:.3g} on average"
    if kind == "error rate":
        k = int(losses.sum())
        observed = f"{k} of {n}"
        found.append(
            ("theory.clopper-pearson", float(special.betaincinv(k + 1, n - k, CONFIDENCE)))
        )
        quantity = Quantity()
    else:
        quantity = Quantity(kind, 0.0, upper, None)
        cut = f"Absolute errors beyond {upper:.3g} are counted as {upper:.3g}."
        assumptions += (Assumption(cut, checked=True),)
    return tuple(
        Certificate(
            quantity=quantity,
            empirical=mean,
            bound=min(bound, upper),
            confidence=CONFIDENCE,
            theorem=theorem,
            n_samples=n,
            observed=observed,
            assumptions=assumptions,
            vacuous=bound >= upper,
            rows_missing=float(3 * n) if bound >= upper else 0,
        )
        for theorem, bound in sorted(found, key=lambda item: item[1])
    )


def stand_ins(table: pd.DataFrame, name: str) -> tuple[str, ...]:
    correlation = table.corr(numeric_only=True)[name].abs().drop(name)
    return tuple(correlation[correlation > 0.9].sort_values(ascending=False).index[:4])


def importances(table, loss_of, losses, rng, names) -> tuple[Importance, ...]:
    found = []
    for name in names:
        shuffled = table.copy()
        shuffled[name] = rng.permutation(shuffled[name].to_numpy())
        rise = paired(loss_of(shuffled) - losses)
        found.append(Importance(name, rise, stand_ins(table, name)))
    return tuple(sorted(found, key=lambda i: -i.increase.value))


def effects(table, mean_prediction, names, of_class="") -> tuple[Effect, ...]:
    found = []
    for name in names:
        grid = np.quantile(table[name], np.linspace(0.02, 0.98, 20))
        grid = np.unique(grid)
        means = [mean_prediction(table.assign(**{name: value})) for value in grid]
        edges = np.concatenate([[-np.inf], (grid[1:] + grid[:-1]) / 2, [np.inf]])
        density = np.histogram(table[name], edges)[0] / len(table)
        found.append(Effect(name, grid.tolist(), means, density.tolist(), of_class))
    return tuple(found)


def common(**values) -> dict:
    base = {
        "confidence": CONFIDENCE,
        "coverage": COVERAGE,
        "seed": 0,
        "selection_rule": "The smallest model that cannot be told from the best.",
        "versions": {"python": "3.11.7", "corollary": "0.1.0", "numpy": "2.4.0", "scipy": "1.17.1"},
        "hashes": {"data": "ab" * 32, "model": "0f" * 32},
        "seconds": {
            "read and profile": 0.12,
            "compare models": 2.41,
            "calibrate": 0.05,
            "certify": 0.01,
            "explain": 0.84,
        },
        "date": "2026-11-15",
        "notes": ("Hyper-parameters other than the penalty were left at their defaults.",),
    }
    return {**base, **values}


def split(table, target, seed, stratify):
    index = np.arange(len(table))
    rest, test = train_test_split(
        index, test_size=0.25, random_state=seed, stratify=target if stratify else None
    )
    train, calibration = train_test_split(
        rest, test_size=0.25, random_state=seed, stratify=target[rest] if stratify else None
    )
    return train, calibration, test


def candidate(name, label, description, out_of_fold, chosen_loss, base_loss, **more) -> Candidate:
    versus = paired(out_of_fold - chosen_loss)
    return Candidate(
        name=name,
        label=label,
        description=description,
        loss=paired(out_of_fold),
        versus_chosen=versus,
        versus_baseline=paired(out_of_fold - base_loss),
        indistinguishable=versus.low <= 0 <= versus.high and not more["chosen"],
        **more,
    )


# ---------------------------------------------------------------------------------------------
# classification
# ---------------------------------------------------------------------------------------------
