"""Finding the unit of independence by measuring."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.estimator import checked
from corollary.validation.dependence._folds import Losses, Problem, deal, pose_problem, sample_units
from corollary.validation.dependence._hashes import number_units
from corollary.validation.dependence._later import add_later, add_panel
from corollary.validation.dependence._measure import Measurement, measure
from corollary.validation.dependence._search.candidate import Candidate
from corollary.validation.dependence._search.candidates import (
    MOST_MEASURED,
    ORDER,
    find_candidates,
)
from corollary.validation.dependence._search.table import Reading, pairs_of, read_table
from corollary.validation.dependence._search.told import told_candidates
from corollary.validation.dependence.records import MOMENTS, Dependence, Unit

#: Chance of a false question of a table, and the shares of the error that are worth one; the last
#: for later rows of a file without dates, whose order may mean anything.
LEVEL, LEAST_COST, LEAST_LATER, LEAST_LATER_UNDATED = 0.02, 0.07, 0.06, 0.1
#: Share of the pairs of one partition that lie within another if it holds it.
SAME = 0.95
#: Distinct whole numbers of a target up to which they are classes.
FEW_CLASSES = 5
#: Rows without which nothing is measured.
LEAST_ROWS = 40
SIGNS_OF_DESIGN = frozenset(
    {"agreement", "closeness", "even sizes", "fixed columns", "one row a moment", "dated"}
)


@checked
def find_dependence(
    X: Any,
    y: Any,
    *,
    task: Literal["auto", "classification", "regression"] = "auto",
    groups: Any = None,
    time: Any = None,
    order: bool = False,
    measured: Any = None,
    model: Any = None,
    random_state: Any = None,
) -> Dependence:
    r"""Find rows that depend on each other, and measure what that is worth to a model.

    Rows of one origin resemble each other: copies of a record, the orders of a customer, the days
    of a month. Errors of rows that are dealt at random are then those for further rows of origins
    already seen, and nothing is said about new ones. Candidates are found without a model:
    rows that agree or nearly agree more than chance explains (:func:`agreement_lift`,
    :func:`near_copies`), columns that may name an owner (:func:`even_sizes_p_value`), dates and
    the order of the rows (:func:`serial_correlation`). Each is then measured: the loss of a model
    with whole units left out against rows dealt at random (:func:`unit_excess`), and what the
    residuals of a unit tell about each other (:func:`intraclass_correlation`). Where there is an
    order of time, products of residuals with columns are looked at as well, so that a boundary that
    turns is seen though residuals keep their mean. A unit matters if it is worth 7 of 100 of the
    error or more, and chance does not explain it.

    Parameters
    ----------
    X : data frame, ColumnTable or array-like of shape (n_rows, n_columns)
        The columns, pandas or polars; identifiers and row numbers too, for they say what belongs
        together.
    y : array-like of shape (n_rows,)
        Targets, numbers or labels.
    task : {"auto", "classification", "regression"}, default="auto"
        What the targets are; "auto" takes numbers of more than five values as numbers.
    groups : array-like of shape (n_rows,), or a list of several, default=None
        Owner of each row, if known; several may be nested.
    time : array-like of shape (n_rows,) or None, default=None
        When each row was, as dates or numbers, if known.
    order : bool, default=False
        Whether the rows are known to be in order of time.
    measured : array-like of int or None, default=None
        Positions of the rows whose targets may be read; None for all. Units are found in the
        columns of all rows.
    model : estimator or None, default=None
        Regressor, or classifier with probabilities, that measures; it is shown numbers, with texts
        by alphabetical rank. None takes fully grown, extremely randomised trees, which remember
        what they have seen: weaker models hide the structure.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    dependence : Dependence
        The units that were examined, whether they matter, and which rows are copies.

    Raises
    ------
    ValueError
        If lengths differ, moments cannot be read, or groups hold one owner or owners of one row
        each.

    Notes
    -----
    Guarantee: none; it is a rule, whose power and false alarms are measured by
    ``python -m bench.dependence``. Whole numbers that stand for a closed set of kinds (zip codes)
    cannot be told from owners. At most 2,000 rows and 6 candidates are measured.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from corollary.validation import find_dependence
    >>> rng = np.random.default_rng(0)
    >>> owner = np.repeat(np.arange(60), 5)
    >>> table = pd.DataFrame({"x": rng.normal(size=300), "client": 1000 + 7 * owner})
    >>> target = table["x"] + rng.normal(size=60)[owner] + 0.5 * rng.normal(size=300)
    >>> dependence = find_dependence(table, target, random_state=0)
    >>> dependence.unit.kind, dependence.unit.columns, dependence.unit.n_units
    ('owner', ('client',), 60)
    """
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    table, targets = read_table(X), np.asarray(y)
    n = len(targets)
    if targets.ndim != 1 or table.n_rows != n:
        raise ValueError(
            "find_dependence needs one target for each row. Got targets of shape "
            f"{targets.shape} for {table.n_rows} rows."
        )
    rows = _measured_rows(targets, measured)
    told = told_candidates(n, groups, time, order)
    if len(rows) < LEAST_ROWS:
        return Dependence(tuple(replace(c.unit, matters=True) for c in told), np.arange(n))
    problem = pose_problem(
        table.features,
        targets,
        rows,
        is_classes=_is_classes(task, targets[rows]),
        model=model,
        seed=seed,
    )
    search = find_candidates(table, _indicators(problem), rows) if table.names else []
    candidates = _choose(told, search)
    units = _decide(problem, table, candidates, rows, np.random.default_rng(seed))
    units.sort(key=lambda u: pairs_of(u.codes))
    return Dependence(tuple(units), _copies(units, n))


def _measured_rows(targets: np.ndarray, measured: Any) -> np.ndarray:
    """Return the positions of rows whose target may be read and is there."""
    import pandas as pd

    rows = np.arange(len(targets)) if measured is None else np.unique(np.asarray(measured))
    if len(rows) and not (rows[0] >= 0 and rows[-1] < len(targets)):
        raise ValueError(
            "find_dependence needs measured rows as positions from 0 to the number of rows less 1. "
            f"Got {rows[0]} to {rows[-1]} for {len(targets)} rows."
        )
    return rows[~np.asarray(pd.isna(targets[rows]))]


def _is_classes(task: str, targets: np.ndarray) -> bool:
    """Whether targets are labels."""
    if task != "auto":
        return task == "classification"
    numeric = np.issubdtype(targets.dtype, np.number)
    return not numeric or len(np.unique(targets)) <= FEW_CLASSES


def _indicators(problem: Problem) -> np.ndarray:
    """Return targets as columns of numbers: themselves, or the three commonest classes."""
    if not problem.n_classes:
        return problem.target[:, None]
    return (problem.target[:, None] == np.arange(min(3, problem.n_classes))).astype(float)


def _choose(told: list[Candidate], search: list[Candidate]) -> list[Candidate]:
    """Take the candidates to measure, finest first; equal partitions are one."""
    if any(c.unit.kind in MOMENTS for c in told):
        search = [c for c in search if c.unit.kind not in MOMENTS]
    search.sort(key=lambda c: (ORDER.index(c.unit.kind), -c.rank, -pairs_of(c.unit.codes)))
    kept = list(told)
    for candidate in search:
        codes = candidate.unit.codes
        if not any(min(_shared(codes, k.unit.codes)) > SAME for k in kept):
            kept.append(candidate)
    kept.sort(key=lambda c: (not c.unit.told, -_design(c) - c.rank))
    kept = kept[: max(MOST_MEASURED, len(told))]
    return sorted(kept, key=lambda c: (ORDER.index(c.unit.kind), pairs_of(c.unit.codes)))


def _design(candidate: Candidate) -> int:
    """Count the signs that rows were collected unit by unit."""
    return len(SIGNS_OF_DESIGN.intersection(candidate.unit.signs))


def _shared(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Shares of the pairs within units of one partition that lie within units of the other."""
    both = pairs_of(number_units(first.astype(np.int64) * (int(second.max()) + 1) + second))
    return both / max(pairs_of(first), 1.0), both / max(pairs_of(second), 1.0)


def _holds(coarse: Unit, fine: Unit) -> bool:
    """Whether units of one partition lie within units of another."""
    return _shared(fine.codes, coarse.codes)[0] > SAME


def _decide(
    problem: Problem,
    table: Reading,
    candidates: list[Candidate],
    measured: np.ndarray,
    rng: np.random.Generator,
) -> list[Unit]:
    """Measure the candidates one after the other and say which matter."""
    units: list[Unit] = []
    mattering: list[Measurement] = []
    bases: dict[int, Losses] = {}
    for candidate in candidates:
        unit = candidate.unit
        coarser = [m for m in mattering if m.candidate.unit.kind not in MOMENTS]
        if not unit.told and any(_holds(m.candidate.unit, unit) for m in coarser):
            continue  # its rows are kept together already
        rows = measured[sample_units(number_units(unit.codes[measured]), rng)]
        within = [m for m in mattering if _holds(unit, m.candidate.unit)]
        finer = max(within, key=lambda m: m.effect.loss_apart, default=None)
        codes = None if finer is None else finer.candidate.unit.codes
        # All candidates that are measured on all rows share one base.
        key = -1 if finer is None and len(rows) == len(measured) else len(units)
        if key not in bases:
            bases[key] = _base(problem, rows, finer, rng)
        base = bases[key]
        measurement = measure(problem, candidate, rows, base, codes, rng)
        if unit.kind in MOMENTS and candidate.forward:
            measurement = add_later(problem, table, measurement, base, codes, rng)
        owners = [m for m in mattering if m.candidate.unit.kind in ("owner", "joined")]
        if unit.kind == "time" and candidate.forward and owners and finer is None:
            measurement = add_panel(problem, table, measurement, owners[-1], rng)
        matters = unit.told or _matters(measurement, len(candidates), mattering)
        units.append(replace(unit, effect=measurement.effect, matters=matters))
        mattering += [measurement] * matters
    return units


def _base(
    problem: Problem, rows: np.ndarray, finer: Measurement | None, rng: np.random.Generator
) -> Losses:
    """Return losses to compare with: of rows dealt at random, or of a finer unit left out."""
    if finer is None:
        return problem.out_of_fold(rows, deal(np.arange(len(rows)), rng))
    if np.array_equal(finer.rows, rows):
        return finer.apart
    return problem.out_of_fold(rows, deal(number_units(finer.candidate.unit.codes[rows]), rng))


def _matters(measurement: Measurement, n_candidates: int, mattering: list[Measurement]) -> bool:
    """Whether a unit is worth a question."""
    candidate, effect = measurement.candidate, measurement.effect
    unit, level = candidate.unit, LEVEL / n_candidates / 2
    hint = effect.hint >= LEAST_COST and effect.p_hint < level
    cost = effect.cost.value >= LEAST_COST and effect.p_cost < level
    # The excess on the latest quarter scatters; the earliest says more about a steady drift.
    ahead = effect.later or 0.0
    least = LEAST_LATER if unit.kind == "time" else LEAST_LATER_UNDATED
    drifts = ahead >= least or (
        unit.kind == "time" and measurement.ends >= LEAST_COST and ahead >= least / 3
    )
    later = drifts and (effect.p_later or 0.0) < level
    if measurement.added is not None:
        # A unit within it matters already: only what it adds counts.
        return later or (measurement.added >= LEAST_COST and measurement.p_added < level)
    if unit.kind == "order" and any(_lies_together(m.candidate.unit) for m in mattering):
        return False
    if unit.kind == "time" and not unit.signs:
        # The file is sorted by a feature: both must speak.
        return hint and cost
    collected = _design(candidate) > 0 and unit.kind not in MOMENTS
    return hint or later or (cost and collected)


def _lies_together(unit: Unit) -> bool:
    """Whether the rows of a unit follow each other in the file, or are ordered in time."""
    n_runs = 1 + int((np.diff(unit.codes) != 0).sum())
    return unit.kind == "time" or n_runs < 3 * unit.n_units


def _copies(units: list[Unit], n: int) -> np.ndarray:
    """Give the same number to rows that are copies or near copies of each other."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    partitions = [u.codes for u in units if u.is_copied and (u.matters or u.kind == "copies")]
    if not partitions:
        return np.arange(n)
    links = []
    for codes in partitions:
        order = np.argsort(codes, kind="stable")
        same = codes[order[1:]] == codes[order[:-1]]
        links.append(np.column_stack([order[:-1][same], order[1:][same]]))
    first, second = np.concatenate(links).T
    graph = coo_matrix((np.ones(len(first)), (first, second)), (n, n))
    return number_units(connected_components(graph, directed=False)[1])
