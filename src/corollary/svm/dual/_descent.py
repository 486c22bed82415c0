"""Blocks of variables, chosen by their violation and optimised by pair steps."""

from typing import Any, NamedTuple

import numpy as np

from corollary.core.parallel import one_blas_thread
from corollary.core.progress import track
from corollary.kernels import GramTiles, PrecomputedTiles
from corollary.svm.dual._row_cache import RowCache
from corollary.svm.dual.optimality import SMOResult

# A block has this many variables, more if more are free and less if fewer violate.
_BLOCK = 1024
_SMALLEST_BLOCK = 128
_LARGEST_BLOCK = 16_384
# Pair steps for each variable of a block before the block is chosen anew; so often does the
# compiled loop return, so that Ctrl-C works.
_STEPS = 10
# Steps without a limit of the user's: problems that need more are badly scaled, and get a warning.
_MOST_STEPS, _MOST_STEPS_PER_ROW = 10_000_000, 100
# The gap may be at most this share of the tolerance, relative to the objective, but need not be
# less than the last number: then violations decide.
_GAP_SHARE, _SMALLEST_GAP = 0.1, 1e-8
# Violations below this share of the tolerance are not asked for, whatever the gap.
_SMALLEST_VIOLATION = 1e-3
# Problems with more rows than this are first solved in single precision, to this tolerance.
_ROUGH_ROWS, _ROUGH_TOL = 4096, 1e-4


def minimise(
    gram: GramTiles,
    linear: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    *,
    epsilon: float = 0.0,
    groups: np.ndarray | None = None,
    start: np.ndarray | None = None,
    tol: float = 1e-3,
    max_iter: int = -1,
    cache_size: float = 500.0,
) -> SMOResult:
    """Minimise the dual on a Gram matrix that comes in tiles; see :func:`smo`."""
    n = gram.n
    groups = np.zeros(n, dtype=np.int64) if groups is None else groups
    problem = _Problem(linear, lower, upper, float(epsilon), groups, int(groups.max(initial=0)) + 1)
    beta = np.zeros(n) if start is None else start.copy()
    budget = _Budget(default_max_iter(n) if max_iter < 0 else max_iter, cache_size)
    with one_blas_thread(), track("support vector machine") as progress:
        if n <= _BLOCK:
            return _descend(_whole(gram), problem, beta, tol, budget, progress)
        rough = gram.single()
        # Most of the way on rows in single precision, which are faster; their rounding is in the
        # gradient, and so the last steps, and all that is reported, are on exact ones.
        if rough is not gram and n > _ROUGH_ROWS:
            beta = _descend(rough, problem, beta, max(tol, _ROUGH_TOL), budget, progress).beta
        return _descend(gram, problem, beta, tol, budget, progress)


def _whole(gram: GramTiles) -> PrecomputedTiles:
    """Compute a small matrix once."""
    if isinstance(gram, PrecomputedTiles):
        return gram
    with RowCache(gram, 0.0) as rows:
        return PrecomputedTiles(rows.block(np.arange(gram.n), precise=True))


def default_max_iter(n_samples: int) -> int:
    """Return the largest number of pair steps for so many rows, if the user gives none."""
    return max(_MOST_STEPS, _MOST_STEPS_PER_ROW * n_samples)


class _Problem(NamedTuple):
    """What is minimised, but for the matrix."""

    linear: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    epsilon: float
    groups: np.ndarray
    n_groups: int


class _Budget:
    """Pair steps that are left, and memory."""

    def __init__(self, max_iter: int, cache_size: float) -> None:
        self.left, self.megabytes, self.spent = max_iter, cache_size, 0


def _descend(
    gram: GramTiles,
    problem: _Problem,
    beta: np.ndarray,
    tol: float,
    budget: _Budget,
    progress: Any,
) -> SMOResult:
    """Minimise on one matrix from given weights, in place, until the tolerance is reached."""
    from corollary.svm._loops.optimality import measure
    from corollary.svm._loops.smo import solve_block

    n = gram.n
    linear, lower, upper, epsilon, groups, n_groups = problem
    rest = linear.astype(np.float64, copy=True)
    # Half of the memory is for the block, half for rows.
    largest = int(min(n, _LARGEST_BLOCK, max(_BLOCK, np.sqrt(budget.megabytes * 2**20 / 16))))
    block = np.argsort(groups, kind="stable") if n <= _BLOCK else np.empty(0, dtype=np.int64)

    offsets = np.zeros(n_groups)
    steps, stalled, stalls, best, first = 0, 0, 0, np.inf, 0.0
    target, relative_gap = tol, max(_GAP_SHARE * tol, _SMALLEST_GAP)
    # Without bounds the gap is finite by chance only.
    bounded = bool(np.isfinite(lower).all() and np.isfinite(upper).all())
    with RowCache(gram, budget.megabytes / 2) as rows:
        moved = np.flatnonzero(beta)
        for i in range(0, len(moved), _BLOCK):
            rows.subtract_product(rest, moved[i : i + _BLOCK], beta[moved[i : i + _BLOCK]])
        while True:
            violation, objective, gap = measure(
                rest, linear, beta, lower, upper, epsilon, groups, offsets
            )
            if np.isnan(objective):
                raise ValueError(
                    "A support vector machine needs finite kernel values. Got some that overflow; "
                    "divide the features by a constant so that they are about one."
                )
            first = max(first, abs(objective)) if steps == 0 else first
            done = violation <= tol
            if done:
                # Small violations of many variables with wide bounds: go on with smaller ones, but
                # not for ever. A minimum of zero has no relative gap: the start has a scale.
                rounding = 1e-14 * float(np.abs(rest).max() + np.abs(linear).max())
                small = violation <= max(_SMALLEST_VIOLATION * tol, rounding)
                done = small or not bounded or gap <= relative_gap * max(abs(objective), first)
                target = min(target, 0.3 * violation)
            progress(violation=violation, objective=objective)
            # Once rounding moves the objective, further steps are noise.
            fell = np.isinf(best) or objective < best - 1e-15 * abs(best)
            stalled = 0 if fell else stalled + 1
            stalls += stalled > 0
            best = min(best, objective)
            if done or budget.left <= 0 or stalled > 20:
                break
            if n > _BLOCK:
                up, down = slopes(rest, beta, lower, upper, epsilon)
                free = _free(beta, lower, upper, epsilon)
                block = _choose(up, down, groups, n_groups, block, free, largest)
            new_beta, new_rest = beta[block], rest[block]
            ends = np.searchsorted(groups[block], np.arange(n_groups + 1))
            made = solve_block(
                # Rounding to single precision may turn a step uphill; then it is not used again.
                rows.block(block, precise=len(block) <= 512 or stalls > 0),
                new_rest,
                new_beta,
                lower[block],
                upper[block],
                ends,
                epsilon,
                max(0.5 * target, 0.1 * violation) if len(block) < n else target,
                min(max(_STEPS * len(block), 20_000), budget.left),
            )[0]
            steps += made
            budget.left -= made
            change = new_beta - beta[block]
            changed = np.flatnonzero(change)
            beta[block] = new_beta
            for i in range(0, len(changed), _BLOCK):
                part = changed[i : i + _BLOCK]
                rows.subtract_product(rest, block[part], change[part])
    budget.spent += steps
    return SMOResult(
        beta,
        linear - rest,
        offsets,
        float(objective),
        float(max(violation, 0.0)),
        float(gap),
        budget.spent,
        bool(done or (violation <= tol and stalled > 20)),
    )


def slopes(
    rest: np.ndarray, beta: np.ndarray, lower: np.ndarray, upper: np.ndarray, epsilon: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gain per unit of moving each variable up, and the loss of moving it down."""
    up = np.where(beta < upper, rest - np.where(beta >= 0, epsilon, -epsilon), -np.inf)
    down = np.where(beta > lower, rest - np.where(beta > 0, epsilon, -epsilon), np.inf)
    return up, down


def _free(beta: np.ndarray, lower: np.ndarray, upper: np.ndarray, epsilon: float) -> np.ndarray:
    """Say which variables rest neither at a bound nor at the kink of the absolute value."""
    return (beta > lower) & (beta < upper) & ((beta != 0) | (epsilon == 0))


def _choose(
    up: np.ndarray,
    down: np.ndarray,
    groups: np.ndarray,
    n_groups: int,
    block: np.ndarray,
    free: np.ndarray,
    largest: int,
) -> np.ndarray:
    """Choose the variables of the next block: violators first, then those of the last one."""
    n = len(up)
    n_free = int(np.count_nonzero(free))
    # Variables that are part of a violating pair; near the end these are few, and so is the block.
    violating = np.ones(n, dtype=bool)
    if n_groups == 1:
        violating = (up > down.min()) | (down < up.max())
    n_violating = int(np.count_nonzero(violating))
    others = n_violating - int(np.count_nonzero(violating & free))
    size = max(_SMALLEST_BLOCK, min(_BLOCK, n_violating), n_free + min(n_free // 2, others))
    size = min(largest, size)
    if n <= size:
        return np.argsort(groups, kind="stable")
    each = max(1, (size // 2 if len(block) else size) // (2 * n_groups))
    chosen = np.zeros(n, dtype=bool)
    for g in range(n_groups):
        members = np.flatnonzero(groups == g) if n_groups > 1 else np.arange(n)
        for values in (-up[members], down[members]):
            few = min(each, len(members) - 1)
            extremes = np.argpartition(values, few)[:few] if few else np.zeros(1, dtype=np.int64)
            chosen[members[extremes[np.isfinite(values[extremes])]]] = True
    for more in (block[free[block]], block):
        more = more[~chosen[more]]
        chosen[more[: max(0, size - int(np.count_nonzero(chosen)))]] = True
    some = np.flatnonzero(chosen)
    return some if n_groups == 1 else some[np.argsort(groups[some], kind="stable")]
