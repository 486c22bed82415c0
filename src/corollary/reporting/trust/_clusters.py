"""Clusters of the training rows, where a test shows that there are any."""

from dataclasses import dataclass

import numpy as np

from corollary.reporting.models._selection import Comparison
from corollary.reporting.table._profile import Subject
from corollary.reporting.table._split import Split
from corollary.representation import NumberPlan

#: Chance, at most, that rows without clusters are cut; rows of the test and clusters, at most.
LEVEL, MOST_TESTED, MOST_CLUSTERS = 0.05, 10_000, 6
MOST_POINTS = 400
#: Columns that move along with the first one this closely would draw a line.
ALONG = 0.9


@dataclass(frozen=True)
class RealClusters:
    """Clusters that a valley separates, and two columns to see them by."""

    p_value: float  # that there is a valley at all
    sizes: tuple[int, ...]  # rows of each cluster, the largest first
    n_rows: int  # that were tested
    columns: tuple[str, ...]  # two, or one if there is no other
    medians: tuple[tuple[float, ...], ...]  # of these columns, by cluster
    points: tuple[tuple[float, float, int], ...]  # some of the rows, with their cluster


def find_clusters(
    subject: Subject,
    split: Split,
    comparison: Comparison,
    places: dict[str, int],
    seed: int,
) -> RealClusters | None:
    """Look for clusters among the quantities of the training rows; None if none are shown.

    Rows of a period depend on the rows before them, which the test does not allow for.
    """
    from corollary.cluster import split_at_valleys

    complete = {
        plan.name
        for plan in comparison.encoder.plans_
        if isinstance(plan, NumberPlan) and not plan.missing and not plan.tokens
    }
    names = [name for name in places if name in complete]
    if split.population.kind == "period" or not names:
        return None
    rng, units = np.random.default_rng(seed), split.units_of(split.train)
    rows = rng.permutation(len(split.train))
    if units is not None:
        rows = rows[np.unique(units[rows], return_index=True)[1]]
    rows = np.sort(rows[:MOST_TESTED] if units is None else rng.permutation(rows)[:MOST_TESTED])
    X = comparison.features[rows][:, [places[name] for name in names]]
    found = split_at_valleys(X, level=LEVEL, max_clusters=MOST_CLUSTERS, random_state=seed)
    if found.n_clusters == 1:
        return None
    axes = _axes(X, found.labels)
    numbers = [subject.used[names[j]].numbers[split.train[rows]] for j in axes]
    drawn = np.sort(rng.permutation(len(rows))[:MOST_POINTS])
    both = numbers if len(axes) == 2 else []
    return RealClusters(
        found.p_value,
        tuple(np.bincount(found.labels).tolist()),
        len(rows),
        tuple(names[j] for j in axes),
        tuple(
            tuple(float(np.median(values[found.labels == k])) for values in numbers)
            for k in range(found.n_clusters)
        ),
        tuple((float(both[0][i]), float(both[1][i]), int(found.labels[i])) for i in drawn)
        if both
        else (),
    )


def _axes(X: np.ndarray, labels: np.ndarray) -> list[int]:
    """Choose the column that tells the clusters apart best, and another that does not repeat it."""
    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    means = np.array([Z[labels == k].mean(axis=0) for k in range(labels.max() + 1)])
    between = np.bincount(labels) @ means**2 / len(Z)
    order = np.argsort(-between, kind="stable")
    first = int(order[0])
    along = np.abs(Z.T @ Z[:, first]) / len(Z)
    others = [int(j) for j in order[1:] if spread[j] > 0]
    apart = [j for j in others if along[j] < ALONG]
    return [first, *(apart or others)[:1]]
