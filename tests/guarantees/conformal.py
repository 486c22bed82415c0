"""Coverage of conformal intervals and sets, and control of risks.

A trial's truth is the score of a fresh row and its bound the threshold that must cover it, so that
the share of violations is the share of misses.
"""

import numpy as np

from corollary.conformal import (
    conformal_quantile,
    exchangeability_test,
    full_conformal_ridge,
    group_maxima,
    hierarchical_plus_coverage,
    hierarchical_plus_intervals,
    hierarchical_quantile,
    learn_then_test,
    plus_coverage,
    plus_intervals,
    risk_controlling_setting,
    weighted_conformal_quantile,
)
from tests.guarantees.registry import guarantee

ALPHA = 0.2


def around_the_middle(low, high, y):
    """An interval as the bound of a distance; an unbounded one covers or does not."""
    if not np.isfinite([low, high]).all():
        return 0.0, float(not low <= y <= high)
    return (high - low) / 2, abs(y - (high + low) / 2)


def split(rng, n=10):
    scores = np.abs(rng.standard_cauchy(n + 1))
    return conformal_quantile(scores[:-1], 1 - ALPHA), scores[-1]


def plain_quantile(rng, n=10):
    scores = np.abs(rng.standard_cauchy(n + 1))
    return np.quantile(scores[:-1], 1 - ALPHA, method="inverted_cdf"), scores[-1]


guarantee(
    "conformal.finite-sample-quantile",
    "10 Cauchy scores",
    delta=ALPHA,
    repetitions=4000,
    faults={"the plain empirical quantile": plain_quantile},
)(split)


@guarantee("conformal.finite-sample-quantile", "4 scores, the fewest", delta=ALPHA)
def split_of_four(rng):
    return split(rng, n=4)


def in_the_noisy_group(rng, pooled):
    """Two groups of one half each; the second is ten times as noisy, and the new row is of it."""
    groups = rng.random(60) < 0.5
    scores = np.abs(rng.normal(size=60)) * np.where(groups, 10.0, 1.0)
    chosen = scores if pooled else scores[groups]
    return conformal_quantile(chosen, 1 - ALPHA), 10 * abs(rng.normal())


guarantee(
    "conformal.group-conditional",
    "60 rows, the noisier of two groups",
    delta=ALPHA,
    repetitions=1000,
    faults={"one threshold for both groups": lambda rng: in_the_noisy_group(rng, True)},
)(lambda rng: in_the_noisy_group(rng, False))


def shifted(rng, n=50, ratio=lambda x: 2 * x, mass=True):
    """Inputs uniform on (0, 1) in calibration, of density 2x later; noise grows with them."""
    x, new = rng.random(n), np.sqrt(rng.random())
    scores, fresh = np.abs(x**2 * rng.normal(size=n)), abs(new**2 * rng.normal())
    at_new = ratio(new) if mass else 0.0
    return weighted_conformal_quantile(scores, ratio(x), [at_new], 1 - ALPHA)[0], fresh


guarantee(
    "conformal.covariate-shift",
    "50 rows, known density ratio 2x",
    delta=ALPHA,
    repetitions=2000,
    faults={"weights forgotten": lambda rng: shifted(rng, ratio=lambda x: 1 + 0 * x)},
)(shifted)
guarantee(
    "conformal.covariate-shift",
    "3 rows, known density ratio 2x",
    delta=ALPHA,
    repetitions=2000,
    faults={"no mass at the new row": lambda rng: shifted(rng, n=3, mass=False)},
)(lambda rng: shifted(rng, n=3))


def group_sizes(rng, n_groups, sizes):
    """All 6; from 1 to 200 or 20, the smaller the likelier; or 1 and 40."""
    if sizes == "6":
        return np.full(n_groups, 6)
    if sizes in ("1 to 200", "1 to 20"):
        most = int(sizes.split()[-1])
        return np.exp(rng.uniform(0, np.log(most + 1), size=n_groups)).astype(int)
    return np.where(rng.random(n_groups) < 0.5, 1, 40)


def new_group(rng, n_groups, quantile, sizes="6", harder=None, noise=1.0, alpha=0.1):
    """Owners in towns, both with effects; the last owner is new, and one of its rows is drawn."""
    m = group_sizes(rng, n_groups + 1, sizes)
    g = np.repeat(np.arange(n_groups + 1), m)
    towns = rng.normal(size=n_groups // 3 + 1)[rng.integers(n_groups // 3 + 1, size=n_groups + 1)]
    scale = {"large": m**0.5, "small": 10.0 / m, None: np.ones(n_groups + 1)}[harder]
    effect = scale * (1.5 * rng.standard_t(4, size=n_groups + 1) + towns)
    scores = np.abs(effect[g] + noise * scale[g] * rng.normal(size=len(g)))
    old = g < n_groups
    return quantile(scores[old], g[old], 1 - alpha), float(rng.choice(scores[~old]))


def counting_rows(scores, groups, confidence):
    return conformal_quantile(scores, confidence)


def without_the_new_group(scores, groups, confidence):
    weights = 1 / np.bincount(groups)[groups]
    return weighted_conformal_quantile(scores, weights, [0.0], confidence)[0]


for n_groups in (9, 20, 40):
    for sizes, harder in (("6", None), ("1 to 200", None), ("1 to 200", "large")):
        world = f"{n_groups} groups, {sizes} rows" + (", large ones harder" if harder else "")

        def trial(rng, n_groups=n_groups, sizes=sizes, harder=harder):
            return new_group(rng, n_groups, hierarchical_quantile, sizes, harder)

        guarantee("conformal.hierarchical", world, delta=0.1, verify=5000)(trial)

guarantee(
    "conformal.hierarchical",
    "9 groups, small ones harder",
    delta=0.1,
    verify=5000,
    faults={
        "rows counted instead of groups": lambda rng: new_group(
            rng, 9, counting_rows, "1 or 40", "small"
        )
    },
)(lambda rng: new_group(rng, 9, hierarchical_quantile, "1 or 40", "small"))
guarantee(
    "conformal.hierarchical",
    "5 groups of rows that are copies",
    delta=0.2,
    repetitions=1000,
    verify=5000,
    faults={
        "K for K + 1": lambda rng: new_group(rng, 5, without_the_new_group, noise=0.0, alpha=0.2)
    },
)(lambda rng: new_group(rng, 5, hierarchical_quantile, noise=0.0, alpha=0.2))
guarantee("conformal.hierarchical", "1 group", delta=0.5)(
    lambda rng: new_group(rng, 1, hierarchical_quantile, alpha=0.5)
)


def whole_group(rng, n_groups, quantile, alpha=0.1):
    """All rows of the new group at once: its largest score is what must be covered."""
    m = group_sizes(rng, n_groups + 1, "1 to 200")
    g = np.repeat(np.arange(n_groups + 1), m)
    scores = np.abs(rng.normal(size=n_groups + 1)[g] + rng.normal(size=len(g)))
    old = g < n_groups
    return quantile(scores[old], g[old], 1 - alpha), float(scores[~old].max())


guarantee(
    "conformal.hierarchical",
    "all rows of a new group, 19 before",
    delta=0.1,
    repetitions=1000,
    verify=5000,
    faults={"one row for all": lambda rng: whole_group(rng, 19, hierarchical_quantile)},
)(
    lambda rng: whole_group(
        rng, 19, lambda s, g, level: conformal_quantile(group_maxima(s, g), level)
    )
)


def leave_one_out(rng, n=9, in_sample=False):
    """Nearest neighbour regression of noise, the least stable of models."""
    X, y = rng.normal(size=n + 1), rng.normal(size=n + 1)
    gaps = np.abs(X[:, None] - X[None, :n])
    if not in_sample:
        gaps[np.arange(n), np.arange(n)] = np.inf
    residuals = np.abs(y[:n] - y[gaps[:n].argmin(axis=1)])
    said = np.empty(n)
    for i in range(n):
        gap = gaps[n].copy()
        gap[i] = np.inf
        said[i] = y[gap.argmin()]
    low, high = plus_intervals(said[None], residuals, np.arange(n), 1 - ALPHA)[0]
    return around_the_middle(low, high, y[n])


guarantee(
    "conformal.jackknife-plus",
    "nearest neighbour of 9 rows, sold at 1 - 2 alpha",
    delta=1 - plus_coverage(9, 9, 1 - ALPHA),
    repetitions=1000,
    verify=5000,
    faults={"residuals of rows the model has seen": lambda rng: leave_one_out(rng, in_sample=True)},
)(leave_one_out)


@guarantee(
    "conformal.cv-plus",
    "mean of 12 rows in 3 folds",
    delta=1 - plus_coverage(12, 3, 1 - ALPHA),
    verify=5000,
)
def three_folds(rng):
    y, folds = rng.standard_t(3, size=13), np.arange(12) % 3
    said = np.array([y[:12][folds != k].mean() for k in range(3)])
    low, high = plus_intervals(said[None], np.abs(y[:12] - said[folds]), folds, 1 - ALPHA)[0]
    return around_the_middle(low, high, y[12])


def left_out_owners(
    rng, n_groups, n_folds, ends=hierarchical_plus_intervals, sizes="1 to 20", seen=False, alpha=0.1
):
    """Nearest row of other owners; small owners are hard, and a row of the last owner is new."""
    m = group_sizes(rng, n_groups + 1, sizes)
    g = np.repeat(np.arange(n_groups + 1), m)
    X = 20 * rng.normal(size=n_groups + 1)[g] + 0.1 * rng.normal(size=len(g))
    y = (rng.standard_t(3, size=n_groups + 1) * 4 / m)[g] + 0.2 * rng.normal(size=len(g))
    old, new = np.flatnonzero(g < n_groups), rng.choice(np.flatnonzero(g == n_groups))
    fold = g[old] % n_folds
    said, residuals = np.empty((1, n_folds)), np.empty(len(old))
    for k in range(n_folds):
        left, kept = old[fold == k], old[fold != k]
        gaps = np.abs(X[np.append(left, new)][:, None] - X[kept])
        answers = y[kept[gaps.argmin(axis=1)]]
        said[0, k], residuals[fold == k] = answers[-1], np.abs(y[left] - answers[:-1])
    if seen:  # other rows of the owner train
        gaps = np.abs(X[old][:, None] - X[old]) + np.diag(np.full(len(old), np.inf))
        residuals = np.abs(y[old] - y[old[gaps.argmin(axis=1)]])
    low, high = ends(said, residuals, fold, g[old], 1 - alpha)[0]
    return around_the_middle(low, high, y[new])


def ends_by_rows(said, residuals, folds, groups, confidence):
    return plus_intervals(said, residuals, folds, confidence)


for n_groups, n_folds in ((10, 10), (20, 20), (40, 10), (41, 10)):

    def owners_trial(rng, n_groups=n_groups, n_folds=n_folds, **fault):
        return left_out_owners(rng, n_groups, n_folds, **fault)

    guarantee(
        "conformal.hierarchical-plus",
        f"nearest row, {n_groups} owners of 1 to 20 rows, {n_folds} folds",
        delta=1 - hierarchical_plus_coverage(n_groups, n_folds, 0.9),
        repetitions=300,
        verify=5000,
    )(owners_trial)


guarantee(
    "conformal.hierarchical-plus",
    "nearest row, 5 owners of 1 or 40 rows, sold at 1 - 2 alpha",
    delta=1 - hierarchical_plus_coverage(5, 5, 0.8),
    repetitions=1000,
    verify=5000,
    faults={
        "rows counted instead of owners": lambda rng: left_out_owners(
            rng, 5, 5, ends_by_rows, "1 or 40", alpha=0.2
        )
    },
)(lambda rng: left_out_owners(rng, 5, 5, sizes="1 or 40", alpha=0.2))
guarantee(
    "conformal.hierarchical-plus",
    "nearest row, 9 owners of 6 rows, the fewest",
    delta=1 - hierarchical_plus_coverage(9, 9, 0.9),
    verify=5000,
    faults={
        "residuals of rows whose owner has trained": lambda rng: left_out_owners(
            rng, 9, 9, sizes="6", seen=True
        )
    },
)(lambda rng: left_out_owners(rng, 9, 9, sizes="6"))


@guarantee("conformal.full", "ridge, 8 rows of 2 features", delta=ALPHA, verify=5000)
def full_ridge(rng):
    X, y = rng.normal(size=(9, 2)), rng.standard_t(3, size=9)
    low, high = full_conformal_ridge(X[:8], y[:8], X[8:], confidence=1 - ALPHA)[0]
    return around_the_middle(low, high, y[8])


TARGET, DELTA = 0.2, 0.1


def monotone_risk(rng):
    """The risk of setting k is its level; the answer's risk must not exceed the target."""
    levels = np.linspace(0.5, 0, 101)
    column = risk_controlling_setting(rng.random((60, 1)) < levels, TARGET, delta=DELTA)
    return TARGET, 0.0 if column is None else levels[column]


def monotone_risk_by_the_mean(rng):
    levels = np.linspace(0.5, 0, 101)
    below = (rng.random((60, 1)) < levels).mean(axis=0) <= TARGET
    return TARGET, levels[np.argmax(below)]


guarantee(
    "conformal.risk-control",
    "60 rows, 101 monotone settings",
    delta=DELTA,
    repetitions=400,
    faults={"the mean loss for its bound": monotone_risk_by_the_mean},
)(monotone_risk)


def many_settings(rng, correction):
    """Twenty settings, all just too risky: none may pass."""
    losses = rng.random((60, 20)) < TARGET + 1e-3
    passed = learn_then_test(losses, TARGET, delta=DELTA, correction=correction)
    return TARGET, TARGET + 1e-3 if passed.any() else 0.0


def without_correction(rng):
    losses = rng.random((60, 20)) < TARGET + 1e-3
    passed = [learn_then_test(losses[:, [k]], TARGET, delta=DELTA)[0] for k in range(20)]
    return TARGET, TARGET + 1e-3 if any(passed) else 0.0


guarantee(
    "conformal.learn-then-test",
    "60 rows, 20 settings, Holm",
    delta=DELTA,
    verify=5000,
    faults={"no price for many tests": without_correction},
)(lambda rng: many_settings(rng, "holm"))
guarantee("conformal.learn-then-test", "60 rows, 20 settings in sequence", delta=DELTA)(
    lambda rng: many_settings(rng, "fixed-sequence")
)


@guarantee("conformal.exchangeability", "100 normal scores", delta=0.2, verify=4000)
def exchangeable(rng):
    seed = int(rng.integers(2**31))
    result = exchangeability_test(rng.normal(size=100), random_state=seed)
    return 5.0, float(result.capital.max())
