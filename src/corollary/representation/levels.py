"""Levels of a category as numbers: an indicator each, or frequency and target statistics.

Indicators serve up to a few dozen levels. Beyond, a level is described by how often it occurs
and by the mean target of its rows, shrunk towards the overall mean as far as the data ask for.
"""

import numpy as np

from corollary.representation._kinds import Plan

#: A level with fewer training rows than this is rare: one row teaches nothing that repeats.
RARE = 5


def learn_indicators(codes: np.ndarray, levels: list[str]) -> Plan:
    """Learn an indicator per level."""
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    order = sorted(range(len(levels)), key=lambda i: levels[i])
    known = [levels[i] for i in order if counts[i] >= RARE]
    rare = len(known) < len(levels)
    missing = bool((codes < 0).any())
    if len(known) < 2 and len(levels) > len(known):  # tiny tables: nothing would be left
        known, rare = [levels[i] for i in order], False
    shown = known[1:] if len(known) == 2 and not rare and not missing else known
    features = [[f"={level}", "no"] for level in shown]
    features += [["=(rare)", "no"]] * rare + [[" missing", "no"]] * missing
    return {
        "levels": shown,
        "rare": rare,
        "missing": missing,
        "seen": sorted(levels),
        "features": features,
    }


def apply_indicators(plan: Plan, codes: np.ndarray, levels: list[str]) -> np.ndarray:
    """Encode levels as indicators or as statistics, by a plan of this module."""
    width = len(plan["features"])
    place = {level: j for j, level in enumerate(plan["levels"])}
    quiet = set(plan["seen"]) - set(plan["levels"]) if not plan["rare"] else set()
    table = np.full(len(levels) + 1, -1)
    for i, level in enumerate(levels):
        # Without a rare level in training, an unknown one is no level at all: zeros everywhere.
        other = len(place) if plan["rare"] and level not in quiet else -1
        table[i] = place.get(level, other)
    table[-1] = width - 1 if plan["missing"] else -1
    block = np.zeros((len(codes), width + 1))
    block[np.arange(len(codes)), table[codes]] = 1.0
    return block[:, :width]


def level_statistics(
    codes: np.ndarray, target: np.ndarray, n_levels: int
) -> tuple[np.ndarray, np.ndarray]:
    r"""Mean target of each level, shrunk towards the overall mean.

    A level with :math:`n` rows and mean :math:`m` gets :math:`(n m + k \bar y) / (n + k)`, where
    :math:`k`, the variance within levels over the variance between them, is estimated by moments
    (an empirical-Bayes estimate for a normal model).
    """
    prior = target.mean(axis=0)
    rows = codes >= 0
    counts = np.bincount(codes[rows], minlength=n_levels).astype(np.float64)
    statistics = np.empty((n_levels, target.shape[1]))
    for j in range(target.shape[1]):
        sums = np.bincount(codes[rows], weights=target[rows, j], minlength=n_levels)
        means = sums / np.maximum(counts, 1.0)
        total = float(((target[rows, j] - prior[j]) ** 2).sum())
        between = float((counts * (means - prior[j]) ** 2).sum())
        n, g = counts.sum(), float((counts > 0).sum())
        within = (total - between) / max(n - g, 1.0)
        # E[between] = (g - 1) within + (n - sum of squared counts / n) * variance of level means
        spread = (between - (g - 1.0) * within) / max(n - (counts**2).sum() / max(n, 1.0), 1.0)
        strength = within / spread if spread > 0 else np.inf
        if within <= 0:
            strength = 1.0  # every repeated level is pure: still trust one row only half
        weight = counts / (counts + strength) if np.isfinite(strength) else np.zeros(n_levels)
        statistics[:, j] = prior[j] + weight * (means - prior[j])
    return statistics, prior


def learn_levels(
    codes: np.ndarray, levels: list[str], target: np.ndarray | None, max_levels: int
) -> Plan:
    """Learn to describe levels by frequency and target statistics."""
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    missing = bool((codes < 0).any())
    plan = {"levels": levels, "counts": counts, "missing": missing}
    if target is None:
        # Without a target, the commonest levels speak for themselves.
        top = np.argsort(-counts, kind="stable")[:max_levels]
        statistics = np.zeros((len(levels), len(top)))
        statistics[top, np.arange(len(top))] = 1.0
        prior = np.zeros(len(top))
        names = [[f"={levels[i]}", "no"] for i in top]
    else:
        statistics, prior = level_statistics(codes, target, len(levels))
        several = target.shape[1] > 1
        names = [
            [f" target mean {j}" * several or " target mean", "each"]
            for j in range(target.shape[1])
        ]
    features = [[" log frequency", "each"], *names] + [[" missing", "no"]] * missing
    return plan | {"statistics": statistics, "prior": prior, "features": features}


def apply_levels(plan: Plan, codes: np.ndarray, levels: list[str]) -> np.ndarray:
    """Encode levels as indicators or as statistics, by a plan of this module."""
    known = {level: i for i, level in enumerate(plan["levels"])}
    n_known = len(known)
    # Position n_known stands for "never seen"; the last entry of `where` serves code -1.
    where = np.asarray([*(known.get(level, n_known) for level in levels), n_known])[codes]
    frequency = np.log1p(np.append(plan["counts"], 0.0))
    statistics = np.vstack([plan["statistics"], plan["prior"]])
    parts = [frequency[where], statistics[where]]
    if plan["missing"]:
        parts.append((codes < 0).astype(np.float64))
    return np.column_stack(parts)


def cross_fitted_levels(
    plan: Plan,
    codes: np.ndarray,
    levels: list[str],
    target: np.ndarray,
    folds: np.ndarray,
) -> np.ndarray:
    """Encode training rows so that no row's own target enters its features."""
    block = apply_levels(plan, codes, levels)
    for fold in np.unique(folds):
        inside = folds == fold
        statistics, prior = level_statistics(codes[~inside], target[~inside], len(levels))
        counted = np.bincount(codes[~inside & (codes >= 0)], minlength=len(levels)) > 0
        statistics[~counted] = prior
        block[inside, 1 : 1 + target.shape[1]] = np.vstack([statistics, prior])[codes[inside]]
    return block
