"""From a table to everything the report says: named stages, no clock, one seed."""

from typing import Any

import numpy as np

from corollary.core.blas import one_blas_thread
from corollary.reporting._errors import ReportError
from corollary.reporting._model import ReportModel
from corollary.reporting._records import Evidence
from corollary.reporting._settings import Settings
from corollary.reporting.models._compare import SELECTION_RULE, as_candidates
from corollary.reporting.models._losses import Loss, absolute_error, log_loss
from corollary.reporting.models._selection import Clock, Selection, select_model
from corollary.reporting.models._trials import predict_with
from corollary.reporting.table._profile import inspect_table, profile_table
from corollary.reporting.table._read import Table, check_target
from corollary.reporting.table._split import Split, find_twins, repeats_by_nature, split_rows
from corollary.reporting.table._target import Target, read_target
from corollary.reporting.trust._calibration import (
    IntervalCalibration,
    SetCalibration,
    calibrate_intervals,
    calibrate_sets,
    learn_difficulty,
)
from corollary.reporting.trust._importance import (
    EFFECT_COLUMNS,
    REPEATS,
    column_effects,
    column_importances,
    find_stand_ins,
)
from corollary.reporting.trust._nearest import describe_worst
from corollary.reporting.trust._test_rows import certify_rows, judge, predict_test_rows
from corollary.reporting.trust._training_rows import certify_training_rows

#: Folds of the comparison; few are enough for many rows, where each fit costs seconds.
FOLDS, FAST_FOLDS, MANY_ROWS = 5, 3, 5_000
#: Test rows up to which every column is shuffled several times; more rows need fewer shuffles.
FEW_TEST_ROWS = 500


def measure(
    table: Table,
    target: str,
    *,
    task: str = "auto",
    confidence: float = 0.95,
    coverage: float = 0.9,
    seed: int = 0,
    fast: bool = False,
    command: str = "",
) -> tuple[Evidence, ReportModel]:
    """Measure everything that a report says.

    Parameters
    ----------
    table : Table
        The data, from :func:`read_table` or :func:`read_demo`.
    target : str
        Target column.
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of prediction.
    confidence : float, default=0.95
        Confidence of certificates and of intervals on scores.
    coverage : float, default=0.9
        Wanted coverage of sets and intervals.
    seed : int, default=0
        Seed; the same seed gives the same evidence, apart from times.
    fast : bool, default=False
        Whether to compare fewer models by fewer folds.
    command : str, default=""
        The command that reproduces the report.

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
    settings = Settings(task, confidence, coverage, seed, fast)
    return measure_table(table, target, settings, command)


# Products of a report are small: BLAS threads would spend more time on waiting for each other than
# they save, and rows are divided among threads elsewhere.
@one_blas_thread()
def measure_table(
    table: Table, target: str, settings: Settings, command: str
) -> tuple[Evidence, ReportModel]:
    """Measure everything that a report says, by settings that were checked."""
    confidence, coverage, seed = settings.confidence, settings.coverage, settings.seed
    task, fast = settings.task, settings.fast
    clock = Clock()
    with clock.stage("profiling"):
        check_target(table, target)
        goal = read_target(table, target, task)
        columns = table.columns.select([name for name in table.columns.names if name != target])
        columns = columns.take(goal.rows) if goal.n_dropped else columns
        n_folds = count_folds(len(columns), fast)
        plans = inspect_table(columns)
        # A row number or a key tells twins apart to the eye, not to a model.
        used = [name for name in columns.names if not plans[name].get("why")]
        frame = columns.select(used)
        groups = find_twins(frame) if used else np.arange(len(goal.values))
        split = split_rows(
            goal.values,
            goal.task,
            groups,
            by_nature=repeats_by_nature(frame, groups),
            coverage=coverage,
            n_folds=n_folds,
            seed=seed,
        )
        profile = profile_table(columns, plans, goal, split)
        if not used:
            raise ReportError(
                "data",
                f"No column of {table.name} can be used: every one is empty, constant or an "
                "identifier.",
            )
    notes = [*table.notes, *goal.notes, *split.notes]
    fitted = select_model(frame, goal, split, seed=seed, fast=fast, notes=notes, clock=clock)
    with clock.stage("calibrating"):
        calibration, calibrated = _calibrate(frame, goal, split, fitted, coverage)
    with clock.stage("testing"):
        features = fitted.encoder.transform(frame.take(split.test))
        test = predict_test_rows(
            table, goal, split.test, fitted.predictor, calibration, features, fitted.loss
        )
        gain, verdict = judge(test, confidence, notes)
        certificates = certify_rows(fitted.predictor, features, test.truth, confidence, notes)
        training_certificates = certify_training_rows(
            fitted.predictor,
            fitted.encoder,
            frame.take(split.train),
            fitted.features,
            goal.values[split.train],
            frame.take(split.calibration),
            confidence,
            whole=len(used) == len(profile.columns),
        )
    with clock.stage("explaining"):
        importances, effects = _explain(
            frame, goal, split, fitted, features, confidence=confidence, seed=seed, fast=fast
        )
        worst = describe_worst(test, goal, features, fitted.features, split.train, frame)
    evidence = Evidence(
        data_name=table.name,
        target=target,
        task=goal.task,
        classes=goal.classes,
        confidence=confidence,
        coverage=coverage,
        seed=seed,
        loss_name=fitted.loss_name,
        profile=profile,
        n_train=len(split.train),
        n_calibration=len(split.calibration),
        n_test=len(split.test),
        selection_rule=SELECTION_RULE,
        candidates=as_candidates(fitted.trials, fitted.chosen, fitted.n_folds, confidence),
        test=test,
        verdict=verdict,
        gain=gain,
        certificates=certificates,
        importances=importances,
        effects=effects,
        command=command,
        versions=_versions(),
        hashes={"data": table.sha256},
        seconds=clock.seconds,
        date="",
        notes=tuple(notes),
        importance_loss=fitted.loss_name.partition(" (")[0]
        if fitted.severe
        else _IMPORTANCE_NAMES[goal.task],
        worst=worst,
        training_certificates=training_certificates,
        calibrated=calibrated,
    )
    model = ReportModel(
        columns=tuple(used),
        encoder=fitted.encoder,
        predictor=fitted.predictor,
        calibration=calibration,
        target=target,
        task=goal.task,
        classes=goal.classes,
        coverage=coverage,
        label=fitted.chosen.label,
        data_sha256=table.sha256,
    )
    return evidence, model


_IMPORTANCE_NAMES = {"classification": "log loss", "regression": "absolute error"}


def count_folds(n: int, fast: bool) -> int:
    """Choose the number of folds of the comparison."""
    return FAST_FOLDS if fast or n > MANY_ROWS else FOLDS


def _calibrate(
    frame: Any, goal: Target, split: Split, fitted: Selection, coverage: float
) -> tuple[SetCalibration | IntervalCalibration, tuple[int, ...]]:
    """Calibrate sets or intervals, and count the rows behind each threshold."""
    y = goal.values[split.calibration]
    d = fitted.predictor.n_features
    features = np.empty((0, d))
    if len(y):
        features = fitted.encoder.transform(frame.take(split.calibration))
    prediction = predict_with(fitted.predictor, features)
    if goal.task == "classification":
        return calibrate_sets(prediction, y, coverage), (len(y),)
    logs = fitted.predictor.logs
    held_out = fitted.chosen.prediction
    difficulty = learn_difficulty(
        fitted.features[fitted.compared],
        goal.values[split.train][fitted.compared],
        held_out,
        log=bool(len(logs) and logs.all()),
    )
    found = calibrate_intervals(difficulty, held_out, features, y, prediction, coverage)
    rows = np.bincount(found.bands(prediction), minlength=len(found.thresholds))
    return found, tuple(rows.tolist())


def _explain(
    frame: Any,
    goal: Target,
    split: Split,
    fitted: Selection,
    features: np.ndarray,
    *,
    confidence: float,
    seed: int,
    fast: bool,
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    if not fitted.predictor.estimators:
        return (), ()  # guessing looks at no column
    y = goal.values[split.test]
    loss: Loss = log_loss if goal.task == "classification" else absolute_error
    if fitted.severe:
        loss = fitted.loss  # a few rows would decide every absolute error
    importances = column_importances(
        fitted.predictor,
        fitted.encoder,
        features,
        y,
        loss,
        stand_ins=find_stand_ins(fitted.encoder, fitted.features),
        confidence=confidence,
        repeats=1 if fast else REPEATS if len(y) <= FEW_TEST_ROWS else 2,
        seed=seed,
    )
    of_class = (0, "")
    if goal.classes:
        # Two classes: the rarer one, which is what is usually looked for; more: the commonest.
        counts = np.bincount(goal.values, minlength=len(goal.classes))
        k = int(counts.argmin() if len(goal.classes) == 2 else counts.argmax())
        of_class = (k, goal.classes[k])
    effects = column_effects(
        fitted.predictor,
        fitted.encoder,
        frame.take(split.test),
        features,
        [importance.column for importance in importances[:EFFECT_COLUMNS]],
        of_class,
        seed,
    )
    return importances, effects


def _versions() -> dict[str, str]:
    import platform
    from importlib.metadata import version

    from corollary import __version__

    packages = ("numpy", "scipy", "scikit-learn", "pandas", "jax")
    return {
        "corollary": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }
