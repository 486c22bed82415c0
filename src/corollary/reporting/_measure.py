"""From a table to everything the report says: stages that each return a record, one seed.

::

    read -> inspect -> examine -> split, compare -> fit -> calibrate -> test -> judge -> explain

A stage sees the records of those before it and nothing else; what had to be decided on the way is
a note of its record.
"""

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from corollary.core.parallel import one_blas_thread
from corollary.reporting._clock import Clock, Stage
from corollary.reporting._model import ReportModel
from corollary.reporting._promise import make_promise
from corollary.reporting._records import Effect, Evidence, Finding, Importance, WorstRow
from corollary.reporting._settings import Settings
from corollary.reporting._settle import Settled, settle
from corollary.reporting._structure import describe_structure
from corollary.reporting.models._compare import as_candidates
from corollary.reporting.models._in_turn import InTurn, predict_in_turn
from corollary.reporting.models._losses import Loss, absolute_error
from corollary.reporting.models._predictor import Predictor
from corollary.reporting.models._selection import Comparison, fit_chosen
from corollary.reporting.models._trials import predict_with
from corollary.reporting.table._dependence import examine
from corollary.reporting.table._profile import Subject, inspect, profile_table
from corollary.reporting.table._read import Table
from corollary.reporting.table._split import Split
from corollary.reporting.table._structure_findings import structure_findings
from corollary.reporting.trust._calibration import calibrate
from corollary.reporting.trust._computed import ask_computed
from corollary.reporting.trust._importance import (
    EFFECT_COLUMNS,
    REPEATS,
    column_effects,
    column_importances,
    find_stand_ins,
)
from corollary.reporting.trust._nearest import describe_worst
from corollary.reporting.trust._pieces import counted_pieces
from corollary.reporting.trust._test_rows import Tested, test_model
from corollary.reporting.trust._unusual import judge_rows

#: Test rows up to which every column is shuffled several times; more rows need fewer shuffles.
FEW_TEST_ROWS = 500


def measure(
    table: Table, target: str, *, command: str = "", **options: Any
) -> tuple[Evidence, ReportModel]:
    """Measure everything that a report says.

    Parameters
    ----------
    table : Table
        The data, from :func:`read_table` or :func:`read_demo`.
    target : str
        Target column.
    command : str, default=""
        The command that reproduces the report.
    **options : dict
        As for :func:`report`: `task`, `confidence`, `coverage`, `seed`, `fast`, `group`, `time`,
        `horizon`, `order`, `independent`.

    Returns
    -------
    evidence : Evidence
        What was measured.
    model : ReportModel
        The model the report describes.

    Raises
    ------
    ReportError
        When the data or the target cannot be used.

    See Also
    --------
    report : Measure and write the report.

    Examples
    --------
    >>> from corollary.reporting import measure, read_demo
    >>> table = read_demo("iris")
    >>> evidence, model = measure(table, table.target, fast=True)
    >>> evidence.verdict
    'shown'
    """
    settings = Settings.of(**options)
    return measure_table(table, target, settings, command)


def _naming(settled: Settled, whole: Subject) -> tuple[str, ...]:
    """List the columns by which a reader knows a row: its owner or time, and identifiers."""
    owners = () if settled.unit is None else settled.unit.columns
    return tuple(dict.fromkeys((*owners, *whole.keys)))[:2]


# Products of a report are small: BLAS threads would spend more time on waiting for each other than
# they save, and rows are divided among threads elsewhere.
@one_blas_thread()
def measure_table(
    table: Table, target: str, settings: Settings, command: str
) -> tuple[Evidence, ReportModel]:
    """Measure everything that a report says, by settings that were checked."""
    clock = Clock()
    with clock.stage(Stage.PROFILING):
        whole = inspect(table, target, settings.task)
    with clock.stage(Stage.EXAMINING):
        examined = examine(whole, settings)
    settled = settle(examined, settings, clock)
    subject, split, comparison = settled.subject, settled.split, settled.comparison
    with clock.stage(Stage.PROFILING):
        structure = describe_structure(examined, settled, settings)
        findings = structure_findings(structure, split.population, subject.target.task)
        profile = profile_table(replace(whole, plans=subject.plans), findings)
    y = subject.target.values[split.train]
    with clock.stage(Stage.FITTING):
        predictor, comparison = fit_chosen(comparison, y)
        turn = predict_in_turn(comparison, y) if split.in_turn else None
    moments = None if settled.unit is None else settled.unit.moments
    with clock.stage(Stage.CALIBRATING):
        earlier = None if moments is None else moments[split.train]
        calibrated = calibrate(subject, split, comparison, predictor, settings, earlier, turn)
    with clock.stage(Stage.TESTING):
        tested = test_model(
            subject,
            split,
            comparison,
            predictor,
            calibrated,
            settings,
            None if moments is None else moments[split.test],
            turn,
        )
    with clock.stage(Stage.JUDGING):
        naming = _naming(settled, whole)
        unusual, distance = judge_rows(
            subject, split, comparison, calibrated.features, tested.features, settings, naming
        )
    with clock.stage(Stage.EXPLAINING):
        explained = explain(subject, split, comparison, predictor, tested, settings, turn)
    goal = subject.target
    profile = replace(profile, findings=(*explained.questions, *profile.findings))
    evidence = Evidence(
        data_name=table.name,
        target=target,
        task=goal.task,
        classes=goal.classes,
        confidence=settings.confidence,
        coverage=settings.coverage,
        seed=settings.seed,
        loss=comparison.loss.name,
        profile=profile,
        n_train=len(split.train),
        n_calibration=len(split.calibration),
        n_test=len(split.test),
        selection_rule=comparison.rule,
        candidates=as_candidates(
            comparison.trials,
            comparison.chosen,
            comparison.n_folds,
            settings.confidence,
            comparison.units,
        ),
        test=tested.rows,
        verdict=tested.verdict,
        gain=tested.gain,
        certificates=tested.certificates,
        importances=explained.importances,
        effects=explained.effects,
        command=command,
        versions=_versions(),
        hashes={"data": table.sha256},
        seconds=clock.seconds,
        date="",
        notes=(*table.notes, *goal.notes, *split.notes, *comparison.notes, *tested.notes),
        importance_loss=explained.loss,
        worst=explained.worst,
        training_certificates=tested.training_certificates,
        calibrated=calibrated.rows,
        population=split.population,
        structure=structure,
        unusual=unusual,
    )
    held = 0.0 if evidence.held is None else float(np.mean(evidence.held.held))
    model = ReportModel(
        columns=tuple(subject.used.names),
        encoder=comparison.encoder,
        predictor=predictor,
        calibration=calibrated.calibration,
        target=target,
        task=goal.task,
        classes=goal.classes,
        coverage=settings.coverage,
        label=comparison.chosen.label,
        data_sha256=table.sha256,
        promise=make_promise(settled, settings.coverage, held),
        keys=whole.keys,
        distance=distance,
    )
    return evidence, model


@dataclass(frozen=True, eq=False)
class Explained:
    """What the predictions lean on, and the rows that they missed most."""

    importances: tuple[Importance, ...]  # most important first
    effects: tuple[Effect, ...]  # for the most important columns
    worst: tuple[WorstRow, ...]  # the worst test rows with the training rows they resemble
    loss: str  # the loss whose rise the importances state
    questions: tuple[Finding, ...] = ()  # what only the reader can answer


def explain(
    subject: Subject,
    split: Split,
    comparison: Comparison,
    predictor: Predictor,
    tested: Tested,
    settings: Settings,
    turn: InTurn | None,
) -> Explained:
    """Shuffle columns, move them, and set the worst test rows beside training rows."""
    goal, encoder, features = subject.target, comparison.encoder, tested.features
    loss: Loss = comparison.loss
    name = comparison.loss.name.name
    if goal.task == "regression" and not comparison.loss.name.of_logarithm:
        # Where a few rows do not decide them, absolute errors are in the unit of the target.
        loss, name = absolute_error, "absolute error"
    worst = describe_worst(tested.rows, goal, features, comparison.features, split, subject.columns)
    if not predictor.estimators:
        return Explained((), (), worst, name)  # guessing looks at no column
    n = len(split.test)
    importances = column_importances(
        partial(predict_with, predictor) if turn is None else turn.predict,
        encoder,
        features,
        goal.values[split.test],
        loss,
        predicted=tested.predicted if turn is None else turn.predict(features),
        stand_ins=find_stand_ins(encoder, comparison.features),
        confidence=settings.confidence,
        repeats=1 if settings.fast else REPEATS if n <= FEW_TEST_ROWS else 2,
        seed=settings.seed,
        inflation=counted_pieces(tested.rows).inflation,
    )
    of_class = (0, "")
    if goal.classes:
        # Two classes: the rarer one, which is what is usually looked for; more: the commonest.
        counts = np.bincount(goal.values, minlength=len(goal.classes))
        k = int(counts.argmin() if len(goal.classes) == 2 else counts.argmax())
        of_class = (k, goal.classes[k])
    effects = column_effects(
        predictor,
        encoder,
        subject.used.take(split.test),
        features,
        [importance.column for importance in importances[:EFFECT_COLUMNS]],
        of_class,
        settings.seed,
        predicted=tested.predicted,
    )
    questions: tuple[Finding, ...] = ()
    if loss is absolute_error:
        questions = ask_computed(goal.name, tested.rows, importances)
    return Explained(importances, effects, worst, name, questions)


@cache
def _version(package: str) -> str:
    """Read an installed package's version once: its metadata takes longer than a small model."""
    from importlib.metadata import version

    return version(package)


def _versions() -> dict[str, str]:
    import platform

    from corollary import __version__

    packages = ("numpy", "scipy", "scikit-learn", "pandas", "jax")
    return {
        "corollary": __version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in packages},
    }
