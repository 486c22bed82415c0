"""Groups where the model errs more than elsewhere, or whose sets and intervals hold too rarely."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from corollary.reporting._records import Evidence
from corollary.reporting.trust._pieces import Pieces
from corollary.reporting.trust.errors._groups import Group, Groups
from corollary.validation import holm

MOST_SHOWN = 8
MOST_COVERED = 6
LEAST_ERRORS = 5  # with fewer, a picture of groups shows single rows


@dataclass(frozen=True)
class GroupError:
    """The errors of one group; the intervals of all groups hold together."""

    group: Group
    value: float  # mean error or share wrong, over pieces of evidence
    low: float
    high: float
    rows: int
    p: float  # corrected for all looks
    weak: bool


@dataclass(frozen=True)
class WeakGroups:
    """The clearest of the groups that were looked at."""

    shown: tuple[GroupError, ...]  # the weakest first
    n_tested: int
    n_weak: int
    rows: int  # looked at
    n: int  # pieces of evidence among them
    overall: float
    few_errors: bool  # whether a picture would show single rows


@dataclass(frozen=True)
class CoveredGroup:
    """How often sets or intervals held the truth in one group."""

    group: Group
    share: float
    low: float
    high: float
    hits: int
    rows: int
    p: float  # corrected for all looks
    low_coverage: bool


@dataclass(frozen=True)
class CoveredGroups:
    """The groups that were held most rarely."""

    shown: tuple[CoveredGroup, ...]
    n_tested: int
    n_low: int


def find_weak_groups(evidence: Evidence) -> WeakGroups | None:
    """Compare every one-column group with the other test rows."""
    cut = evidence.groups
    if not cut.groups:
        return None
    regression = evidence.task == "regression"
    errors = evidence.test.errors if regression else evidence.test.wrong
    errors = np.asarray(errors, dtype=float)[cut.picked]
    pieces = Pieces.of(evidence).take(cut.picked)
    if pieces.units is not None:
        p_values = unit_tests(cut.members, errors, pieces)
    else:
        p_values = row_tests(cut.members, errors, regression)
    adjusted = holm(p_values)
    level = 1 - evidence.confidence
    means = np.array([pieces.take(inside).mean(errors[inside]) for inside in cut.members])
    # Significant groups first, then the largest mean errors.
    order = np.lexsort((-means, np.where(adjusted <= level, adjusted, 1.0)))[:MOST_SHOWN]
    joint = 1 - level / len(cut.groups)
    shown = []
    for i in order:
        inside = cut.members[i]
        low, high = _interval(errors[inside], pieces.take(inside), joint, regression)
        size, p = int(inside.sum()), float(adjusted[i])
        shown.append(
            GroupError(cut.groups[i], float(means[i]), low, high, size, p, bool(p <= level))
        )
    weak = int((adjusted <= level).sum())
    few = not (weak or regression or errors.sum() >= LEAST_ERRORS)
    overall = pieces.mean(errors)
    return WeakGroups(
        tuple(shown), len(cut.groups), weak, len(errors), pieces.n, overall, bool(few)
    )


def _interval(
    errors: np.ndarray, pieces: Pieces, joint: float, regression: bool
) -> tuple[float, float]:
    if not regression:
        return pieces.share_interval(errors > 0, joint)
    found = pieces.mean_interval(errors, joint)
    return max(found.low, 0.0), found.high


def row_tests(members: np.ndarray, errors: np.ndarray, regression: bool) -> np.ndarray:
    """Test each group of rows against all other rows, one-sided: Fisher's test or Welch's."""
    from scipy import stats

    # Group by group: one product with the whole matrix would copy it as numbers.
    size, n = members.sum(axis=1), len(errors)
    inside = np.array([errors[mask].sum() for mask in members])
    if not regression:
        return stats.hypergeom.sf(inside - 1, n, errors.sum(), size)
    squares = np.array([np.square(errors[mask]).sum() for mask in members])
    others, outside = n - size, errors.sum() - inside
    mean_a, mean_b = inside / size, outside / others
    var_a = np.maximum(squares - size * mean_a**2, 0) / (size - 1) / size
    left = (errors**2).sum() - squares
    var_b = np.maximum(left - others * mean_b**2, 0) / (others - 1) / others
    return _welch(mean_a - mean_b, var_a, var_b, size, others)


def unit_tests(members: np.ndarray, errors: np.ndarray, pieces: Pieces) -> np.ndarray:
    """Test the means of units inside each group against those outside, one-sided (Welch).

    A unit with rows on both sides counts on both. Its two means go up and down together, which
    makes their difference scatter less than the test supposes.
    """
    sides = [
        [pieces.take(mask).values(errors[mask]) for mask in (inside, ~inside)] for inside in members
    ]
    mean, spread, size = (
        np.array([[f(values) for values in pair] for pair in sides]).T
        for f in (np.mean, lambda values: np.var(values, ddof=1) / len(values), len)
    )
    return _welch(mean[0] - mean[1], *spread, *size)


def _welch(
    difference: np.ndarray, var_a: np.ndarray, var_b: np.ndarray, a: np.ndarray, b: np.ndarray
) -> np.ndarray:
    """Give the one-sided p-values of differences of means with the squared errors of both."""
    from scipy import stats

    spread = var_a + var_b
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = spread**2 / (var_a**2 / (a - 1) + var_b**2 / (b - 1))
        statistic = difference / np.sqrt(spread)
    return np.where(spread > 0, stats.t.sf(statistic, np.nan_to_num(freedom, nan=1.0)), 1.0)


def find_covered_groups(evidence: Evidence) -> CoveredGroups | None:
    """Look for groups whose sets or intervals hold more rarely than wanted."""
    if evidence.held is None:
        return None
    cut = evidence.groups
    if not cut.groups:
        return None
    held = evidence.held.held[cut.picked]
    pieces = Pieces.of(evidence).take(cut.picked)
    adjusted = holm(_too_rare(cut, held, pieces, evidence.coverage))
    level, tested = 1 - evidence.confidence, len(cut.groups)
    shares = np.array([pieces.take(inside).mean(held[inside]) for inside in cut.members])
    order = np.lexsort((np.arange(tested), shares, adjusted))[:MOST_COVERED]
    shown = []
    for i in order:
        inside, p = cut.members[i], float(adjusted[i])
        ends = pieces.take(inside).share_interval(held[inside], 1 - level / tested)
        counted = int(held[inside].sum()), int(inside.sum())
        shown.append(
            CoveredGroup(cut.groups[i], float(shares[i]), *ends, *counted, p, bool(p <= level))
        )
    return CoveredGroups(tuple(shown), tested, int((adjusted <= level).sum()))


def _too_rare(cut: Groups, held: np.ndarray, pieces: Pieces, coverage: float) -> np.ndarray:
    """Bound the chance of so few hits, or fewer, if a group were held as often as wanted."""
    if pieces.units is None and not pieces.period:
        hits = np.array([int(held[inside].sum()) for inside in cut.members])
        return special.bdtr(hits.astype(float), cut.members.sum(axis=1), coverage)
    means = [pieces.take(inside).values(held[inside]) for inside in cut.members]
    return np.array([chernoff_p_value(values, coverage) for values in means])


def chernoff_p_value(values: Sequence[float] | np.ndarray, mean: float) -> float:
    r"""Bound the chance of so small an average of numbers in [0, 1] with at least that mean.

    By Chernoff and Hoeffding it is at most :math:`e^{-n D}`, where D is the relative entropy
    between coins that show heads as often as the average and as the mean. The numbers need not be
    independent: it is enough that each has that mean given those before it.
    """
    average = float(np.mean(values))
    if average >= mean:
        return 1.0
    entropy = special.rel_entr(average, mean) + special.rel_entr(1 - average, 1 - mean)
    return float(np.exp(-len(values) * entropy))
