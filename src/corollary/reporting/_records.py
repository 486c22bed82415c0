"""What a report knows: the one record that every section reads.

The stages (:mod:`corollary.reporting._measure`) measure and fill an :class:`Evidence`; a section
turns part of it into a dictionary, and the dictionary into HTML. What follows from the test rows
alone is measured by :mod:`corollary.reporting.trust` when it is first asked for. A section computes
nothing, and nothing is rendered while measuring.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from corollary.core.certificate import Population as Population
from corollary.reporting._structure import Structure
from corollary.validation import Estimate as Estimate

if TYPE_CHECKING:
    from corollary.reporting.trust._coverage import Coverage
    from corollary.reporting.trust._detection import Detection
    from corollary.reporting.trust._reliability import Reliability
    from corollary.reporting.trust._unusual import UnusualRows
    from corollary.reporting.trust.errors._classes import CommonestClass, FoundClass, WrongClasses
    from corollary.reporting.trust.errors._confusion import Confusion, Thresholds
    from corollary.reporting.trust.errors._groups import Groups
    from corollary.reporting.trust.errors._rate import Decisions, ErrorRate
    from corollary.reporting.trust.errors._scatter import Scatter
    from corollary.reporting.trust.errors._sizes import ErrorSizes
    from corollary.reporting.trust.errors._unusual import UnusualErrors
    from corollary.reporting.trust.errors._weak_groups import CoveredGroups, WeakGroups
    from corollary.reporting.trust.errors._worst import WorstRows

Task = Literal["classification", "regression"]
Verdict = Literal["shown", "not shown", "worse"]


@dataclass(frozen=True)
class LossName:
    """What a loss is called, and what a reader should know of its unit."""

    name: str  # in words, e.g. ``"log loss"``
    remark: str = ""  # its unit
    # whether it compares logarithms: the target is so skewed that a few rows decide every average
    of_logarithm: bool = False

    @property
    def label(self) -> str:
        """Name and remark."""
        return f"{self.name} ({self.remark})" if self.remark else self.name


@dataclass(frozen=True)
class Finding:
    """Something about the data that a reader should know."""

    # machine-readable name, e.g. ``"constant-column"``, ``"twins-across-split"``, ``"predicts-
    # alone"``, ``"impossible-value"``
    kind: str
    sentence: str  # the finding in plain words, with its numbers
    act: bool = False  # whether the reader must act; harmless facts stay grey
    columns: tuple[str, ...] = ()  # columns concerned
    # some of the rows concerned, as positions in the file (first data row is 0)
    rows: tuple[int, ...] = ()


@dataclass(frozen=True)
class ProfiledColumn:
    """Profile of one column."""

    name: str  # its name as in the file
    # one of ``"numeric"``, ``"category"``, ``"boolean"``, ``"date"``, ``"text"``, ``"constant"``,
    # ``"empty"``
    kind: str
    # scale type: ``"nominal"``, ``"ordinal"``, ``"interval"``, ``"ratio"`` or ``"absolute"``
    scale: str
    n_missing: int  # missing values
    n_distinct: int  # distinct values
    used: bool  # whether the models see it
    numbers: dict[str, Any]  # for numeric and date columns: ``min, q25, median, q75, max, mean``
    # ``{"edges": [...], "counts": [...]}`` or ``{"labels": [...], "counts": [...], "other": int}``
    histogram: dict[str, Any]
    why_unused: str = ""  # reason, when it is not used
    names_rows: bool = False  # whether it is an identifier, by which a reader knows a row


@dataclass(frozen=True)
class Profile:
    """Profile of the table."""

    n_rows: int  # rows in the file that have a target
    n_dropped: int  # rows left out because their target is missing
    columns: tuple[ProfiledColumn, ...]  # every column but the target
    target: ProfiledColumn  # the target
    findings: tuple[Finding, ...]  # what is odd, most important first


@dataclass(frozen=True)
class Candidate:
    """A model that took part in the comparison."""

    name: str  # machine-readable name, e.g. ``"logistic"``
    label: str  # name for readers
    description: str  # one sentence: what it is
    loss: Estimate  # cross-validated mean loss with its interval
    # paired difference of its loss to that of the chosen model (positive = worse)
    versus_chosen: Estimate
    # paired difference of its loss to that of the baseline (negative = better)
    versus_baseline: Estimate
    # whether this is the model of the report. The baseline itself can be, when nothing else is
    # better by more than chance would make it
    chosen: bool
    baseline: bool  # whether this is the trivial predictor
    indistinguishable: bool  # whether its paired interval to the chosen model contains zero
    seconds: float  # time of its cross-validation
    size: int  # fitted numbers (coefficients, weights)
    settings: dict[str, Any] = field(default_factory=dict)  # settings chosen, for the reader
    error: str = ""  # why it could not take part; the other fields are then not meaningful
    words: str = ""  # name inside a sentence, with its article; empty if that is the label
    # for a bag of models, the mean loss of its training rows as judged by the members that have not
    # seen them
    out_of_bag: float | None = None


@dataclass(frozen=True)
class Neighbour:
    """A training row that a test row resembles."""

    position: int  # position in the file
    distance: float  # distance in encoded features
    truth: float  # class index or number
    values: dict[str, Any]  # raw values by column


@dataclass(frozen=True)
class WorstRow:
    """A test row that was predicted badly, and the training rows it resembles most."""

    row: int  # its place among the test rows
    neighbours: tuple[Neighbour, ...]  # the nearest first
    far: bool  # whether it is farther from all training rows than 95% of test rows are


@dataclass(frozen=True)
class TestRows:
    """The rows no choice ever saw, and what the chosen model says about them."""

    __test__ = False  # not a test class, whatever its name suggests to pytest

    positions: np.ndarray  # positions in the file
    table: dict[str, list[Any]]  # raw values of every column, for showing rows to the reader
    truth: np.ndarray  # class index or number
    prediction: np.ndarray  # class index or number
    baseline: np.ndarray  # what the baseline predicts
    loss: np.ndarray  # loss of the chosen model by row, in the comparison's loss
    baseline_loss: np.ndarray  # loss of the baseline by row
    probability: np.ndarray | None = None  # class probabilities (classification)
    low: np.ndarray | None = None  # lower ends of the prediction intervals (regression)
    high: np.ndarray | None = None  # upper ends (regression)
    sets: np.ndarray | None = None  # prediction sets (classification)
    # number of the unit (owner) of each row; None where every row is a unit of its own
    units: np.ndarray | None = None
    # of a period, number of the stretch of each row: rows that follow each other err alike
    stretches: np.ndarray | None = None
    # folds, where every row was predicted without its fold; 0 for rows that were kept aside
    folds: int = 0

    @property
    def wrong(self) -> np.ndarray:
        """Mark the rows whose class is predicted wrongly."""
        return np.asarray(self.truth) != np.asarray(self.prediction)

    @property
    def errors(self) -> np.ndarray:
        """Compute the sizes of a regression's errors."""
        return np.abs(np.asarray(self.truth) - np.asarray(self.prediction))


@dataclass(frozen=True)
class Importance:
    """How much worse the model gets without knowing a column (its values permuted)."""

    column: str  # column of the file
    increase: Estimate  # rise of the headline loss when the column is shuffled in the test rows
    stand_ins: tuple[str, ...] = ()  # columns that carry nearly the same information


@dataclass(frozen=True)
class Effect:
    """Mean prediction as one column moves."""

    column: str  # column of the file
    grid: list[Any]  # values (numbers, or category names)
    mean: list[float]  # mean prediction (classification: mean probability of ``of_class``)
    density: list[float]  # share of rows near each grid value
    of_class: str = ""  # class whose probability is shown (classification)
    dated: bool = False  # whether the values are moments, written as in ISO 8601
    together: bool = False  # whether the other columns move along, as they do in the rows


@dataclass(frozen=True)
class Evidence:
    """Everything a report says.

    Parameters
    ----------
    data_name : str
        File name or name of the bundled data.
    target : str
        Target column.
    task : {"classification", "regression"}
        Kind of prediction.
    classes : tuple of str
        Class names in index order; empty for regression.
    confidence : float
        Confidence of certificates and intervals on scores.
    coverage : float
        Wanted coverage of sets and intervals.
    seed : int
        Seed.
    loss : LossName
        The loss of the comparison.
    profile : Profile
        The data.
    n_train : int
        Training rows.
    n_calibration : int
        Calibration rows.
    n_test : int
        Test rows.
    selection_rule : str
        The rule by which the model was chosen, in a sentence.
    candidates : tuple of Candidate
        Best first; the baseline last.
    test : TestRows
        Held-out rows.
    verdict : {"shown", "not shown", "worse"}
        Whether the chosen model beats the baseline on the test rows.
    gain : Estimate
        Paired difference baseline loss minus chosen loss on the test rows.
    certificates : tuple
        :class:`corollary.certificates.Certificate` objects, tightest first.
    importances : tuple of Importance
        Most important first.
    effects : tuple of Effect
        For the most important columns.
    command : str
        The command that reproduces the report.
    versions : dict of str to str
        Python, this library and what it stands on.
    hashes : dict of str to str
        SHA-256 of the data and of the model file.
    seconds : dict of str to float
        Time per stage, in order.
    date : str
        ISO date, or empty.
    notes : tuple of str, default=()
        Things the pipeline had to decide or leave out, in sentences (for Limits).
    importance_loss : str, default=""
        The loss whose rise the importances state, in words; empty if it is that of the comparison.
    worst : tuple of WorstRow, default=()
        The worst test rows with the training rows they resemble.
    training_certificates : tuple, default=()
        :class:`corollary.certificates.Certificate` objects that rest on training rows alone.
    calibrated : tuple of int, default=()
        Calibration rows behind each threshold of sets or intervals.
    population : Population, default=Population()
        Of which rows the report speaks: rows drawn like these, rows of new units, or the rows of
        the test period.
    structure : Structure, default=Structure()
        Which rows belong together, and what that is worth to the model.
    unsaved : str, default=""
        Why there is no model file, if there is none.
    unusual : UnusualRows or None, default=None
        Rows unlike the others.

    Examples
    --------
    >>> from corollary.reporting import measure, read_demo
    >>> evidence, model = measure(read_demo("iris"), "species", fast=True)
    >>> evidence.classes, evidence.n_test
    (('setosa', 'versicolor', 'virginica'), 38)
    """

    data_name: str
    target: str
    task: Task
    classes: tuple[str, ...]
    confidence: float
    coverage: float
    seed: int
    loss: LossName
    profile: Profile
    n_train: int
    n_calibration: int
    n_test: int
    selection_rule: str
    candidates: tuple[Candidate, ...]
    test: TestRows
    verdict: Verdict
    gain: Estimate
    certificates: tuple[Any, ...]
    importances: tuple[Importance, ...]
    effects: tuple[Effect, ...]
    command: str
    versions: dict[str, str]
    hashes: dict[str, str]
    seconds: dict[str, float]
    date: str
    notes: tuple[str, ...] = ()
    importance_loss: str = ""
    worst: tuple[WorstRow, ...] = ()
    training_certificates: tuple[Any, ...] = ()
    calibrated: tuple[int, ...] = ()
    population: Population = field(default_factory=Population)
    structure: Structure = field(default_factory=Structure)
    unsaved: str = ""
    unusual: "UnusualRows | None" = None

    @cached_property
    def n_pieces(self) -> int:
        """Pieces of evidence among the test rows: units, or rows that are units themselves."""
        from corollary.reporting.trust._pieces import Pieces

        return Pieces.of(self).n

    @cached_property
    def error_rate(self) -> "ErrorRate":
        """How often the class is wrong (classification)."""
        from corollary.reporting.trust.errors._rate import measure_error_rate

        return measure_error_rate(self)

    @cached_property
    def decisions(self) -> "Decisions":
        """Whether the model is wrong less often than guessing (classification)."""
        from corollary.reporting.trust.errors._rate import compare_decisions

        return compare_decisions(self)

    @cached_property
    def wrong_classes(self) -> "WrongClasses":
        """Which mistakes were made, and how many where the model was sure (classification)."""
        from corollary.reporting.trust.errors._classes import measure_wrong_classes

        return measure_wrong_classes(self)

    @cached_property
    def commonest(self) -> "CommonestClass":
        """The commonest class of the test rows (classification)."""
        from corollary.reporting.trust.errors._classes import find_commonest

        return find_commonest(self)

    @cached_property
    def least_found(self) -> "FoundClass | None":
        """The rarer of two classes, or the one of several that is found least."""
        from corollary.reporting.trust.errors._classes import find_least_found

        return find_least_found(self)

    @cached_property
    def confusion(self) -> "Confusion":
        """What was called what (classification)."""
        from corollary.reporting.trust.errors._confusion import measure_confusion

        return measure_confusion(self)

    @cached_property
    def thresholds(self) -> "Thresholds | None":
        """What other thresholds would do (two classes with probabilities)."""
        from corollary.reporting.trust.errors._confusion import measure_thresholds

        return measure_thresholds(self)

    @cached_property
    def error_sizes(self) -> "ErrorSizes":
        """How large the errors are (regression)."""
        from corollary.reporting.trust.errors._sizes import measure_error_sizes

        return measure_error_sizes(self)

    @cached_property
    def scatter(self) -> "Scatter":
        """Predictions against what happened (regression)."""
        from corollary.reporting.trust.errors._scatter import measure_scatter

        return measure_scatter(self)

    @cached_property
    def worst_rows(self) -> "WorstRows":
        """The test rows that were predicted worst."""
        from corollary.reporting.trust.errors._worst import measure_worst

        return measure_worst(self)

    @cached_property
    def unusual_errors(self) -> "UnusualErrors | None":
        """Whether the model errs more on the test rows that are unlike the others."""
        from corollary.reporting.trust.errors._unusual import compare_unusual

        return compare_unusual(self)

    @cached_property
    def groups(self) -> "Groups":
        """Groups of test rows, cut by one column."""
        from corollary.reporting.trust.errors._groups import find_groups

        return find_groups(self)

    @cached_property
    def weak_groups(self) -> "WeakGroups | None":
        """Groups of rows where the model errs more than elsewhere."""
        from corollary.reporting.trust.errors._weak_groups import find_weak_groups

        return find_weak_groups(self)

    @cached_property
    def covered_groups(self) -> "CoveredGroups | None":
        """Groups of rows whose sets or intervals hold too rarely."""
        from corollary.reporting.trust.errors._weak_groups import find_covered_groups

        return find_covered_groups(self)

    @cached_property
    def reliability(self) -> "Reliability | None":
        """Whether stated probabilities agree with what happened."""
        from corollary.reporting.trust._reliability import measure_reliability

        return measure_reliability(self)

    @cached_property
    def held(self) -> "Coverage | None":
        """How often sets or intervals held the truth."""
        from corollary.reporting.trust._coverage import measure_coverage

        return measure_coverage(self)

    @cached_property
    def detection(self) -> "Detection":
        """Which error on new rows would be told from the present one."""
        from corollary.reporting.trust._detection import measure_detection

        return measure_detection(self)

    @cached_property
    def test_loss(self) -> Estimate:
        """Mean loss on the test rows."""
        from corollary.reporting.trust._pieces import Pieces

        return Pieces.of(self).mean_interval(np.asarray(self.test.loss, float), self.confidence)

    @cached_property
    def worth(self) -> Estimate:
        """The gain as a share of the loss of guessing on the same rows."""
        from corollary.reporting.trust._pieces import measure_worth

        return measure_worth(self)

    @cached_property
    def rows_to_show(self) -> int | None:
        """Rows in all that would show a gain such as was measured; None where nothing is gained."""
        from corollary.reporting.trust._pieces import rows_to_show

        return rows_to_show(self)

    @cached_property
    def rows_to_halve(self) -> tuple[int | None, ...]:
        """Rows that would halve the gap of each certificate; None for those that are vacuous."""
        from corollary.reporting.trust._halving import rows_to_halve

        return tuple(map(rows_to_halve, self.certificates))

    @cached_property
    def training_rows_to_halve(self) -> tuple[int | None, ...]:
        """Rows that would halve the gap of each certificate that rests on training rows."""
        from corollary.reporting.trust._halving import rows_to_halve

        return tuple(map(rows_to_halve, self.training_certificates))

    @cached_property
    def rises(self) -> tuple[Estimate, ...]:
        """The rises of the loss by importance, widened so that they hold for all columns."""
        from corollary.reporting.trust._looks import widen

        looks = len(self.importances)
        return tuple(widen(i.increase, looks, self.confidence) for i in self.importances)
