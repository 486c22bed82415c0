"""What a report knows: the one record that every section reads.

The stages (:mod:`corollary.reporting._measure`) measure and fill an :class:`Evidence`; a section
turns part of it into a dictionary, and the dictionary into HTML. Nothing is measured while
rendering, and nothing is rendered while measuring.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from corollary.validation import Estimate

Task = Literal["classification", "regression"]
Verdict = Literal["shown", "not shown", "worse"]


@dataclass(frozen=True)
class LossName:
    """What a loss is called, and what a reader should know of its unit.

    Parameters
    ----------
    name : str
        In words, e.g. ``"log loss"``.
    remark : str, default=""
        Its unit.
    of_logarithm : bool, default=False
        Whether it compares logarithms: the target is so skewed that a few rows decide every
        average.
    """

    name: str
    remark: str = ""
    of_logarithm: bool = False

    @property
    def label(self) -> str:
        """Name and remark."""
        return f"{self.name} ({self.remark})" if self.remark else self.name


@dataclass(frozen=True)
class Finding:
    """Something about the data that a reader should know.

    Parameters
    ----------
    kind : str
        Machine-readable name, e.g. ``"constant-column"``, ``"twins-across-split"``,
        ``"predicts-alone"``, ``"impossible-value"``.
    sentence : str
        The finding in plain words, with its numbers.
    act : bool, default=False
        Whether the reader must act; harmless facts stay grey.
    columns : tuple of str, default=()
        Columns concerned.
    rows : tuple of int, default=()
        Some of the rows concerned, as positions in the file (first data row is 0).
    """

    kind: str
    sentence: str
    act: bool = False
    columns: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()


@dataclass(frozen=True)
class ProfiledColumn:
    """Profile of one column.

    Parameters
    ----------
    name : str
        Its name as in the file.
    kind : str
        One of ``"numeric"``, ``"category"``, ``"boolean"``, ``"date"``, ``"text"``,
        ``"constant"``, ``"empty"``.
    scale : str
        Scale type: ``"nominal"``, ``"ordinal"``, ``"interval"``, ``"ratio"`` or ``"absolute"``.
    n_missing : int
        Missing values.
    n_distinct : int
        Distinct values.
    used : bool
        Whether the models see it.
    numbers : dict
        For numeric and date columns: ``min, q25, median, q75, max, mean``.
    histogram : dict
        ``{"edges": [...], "counts": [...]}`` or ``{"labels": [...], "counts": [...],
        "other": int}``.
    why_unused : str, default=""
        Reason, when it is not used.
    """

    name: str
    kind: str
    scale: str
    n_missing: int
    n_distinct: int
    used: bool
    numbers: dict[str, Any]
    histogram: dict[str, Any]
    why_unused: str = ""


@dataclass(frozen=True)
class Profile:
    """Profile of the table.

    Parameters
    ----------
    n_rows : int
        Rows in the file that have a target.
    n_dropped : int
        Rows left out because their target is missing.
    columns : tuple of ProfiledColumn
        Every column but the target.
    target : ProfiledColumn
        The target.
    findings : tuple of Finding
        What is odd, most important first.
    """

    n_rows: int
    n_dropped: int
    columns: tuple[ProfiledColumn, ...]
    target: ProfiledColumn
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Candidate:
    """A model that took part in the comparison.

    Parameters
    ----------
    name : str
        Machine-readable name, e.g. ``"logistic"``.
    label : str
        Name for readers.
    description : str
        One sentence: what it is.
    loss : Estimate
        Cross-validated mean loss with its interval.
    versus_chosen : Estimate
        Paired difference of its loss to that of the chosen model (positive = worse).
    versus_baseline : Estimate
        Paired difference of its loss to that of the baseline (negative = better).
    chosen : bool
        Whether this is the model of the report. The baseline itself can be, when nothing else is
        better by more than chance would make it.
    baseline : bool
        Whether this is the trivial predictor.
    indistinguishable : bool
        Whether its paired interval to the chosen model contains zero.
    seconds : float
        Time of its cross-validation.
    size : int
        Fitted numbers (coefficients, weights).
    settings : dict
        Settings chosen, for the reader.
    error : str, default=""
        Why it could not take part; the other fields are then not meaningful.
    out_of_bag : float or None, default=None
        For a bag of models, the mean loss of its training rows as judged by the members that have
        not seen them.
    """

    name: str
    label: str
    description: str
    loss: Estimate
    versus_chosen: Estimate
    versus_baseline: Estimate
    chosen: bool
    baseline: bool
    indistinguishable: bool
    seconds: float
    size: int
    settings: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    out_of_bag: float | None = None


@dataclass(frozen=True)
class Neighbour:
    """A training row that a test row resembles.

    Parameters
    ----------
    position : int
        Position in the file.
    distance : float
        Distance in encoded features.
    truth : int or float
        Class index or number.
    values : dict of str to object
        Raw values by column.
    """

    position: int
    distance: float
    truth: float
    values: dict[str, Any]


@dataclass(frozen=True)
class WorstRow:
    """A test row that was predicted badly, and the training rows it resembles most.

    Parameters
    ----------
    row : int
        Its place among the test rows.
    neighbours : tuple of Neighbour
        The nearest first.
    far : bool
        Whether it is farther from all training rows than 95% of test rows are.
    """

    row: int
    neighbours: tuple[Neighbour, ...]
    far: bool


@dataclass(frozen=True)
class TestRows:
    """The rows no choice ever saw, and what the chosen model says about them.

    Parameters
    ----------
    positions : ndarray of shape (n,)
        Positions in the file.
    table : dict of str to list
        Raw values of every column, for showing rows to the reader.
    truth : ndarray of shape (n,)
        Class index or number.
    prediction : ndarray of shape (n,)
        Class index or number.
    baseline : ndarray of shape (n,)
        What the baseline predicts.
    loss : ndarray of shape (n,)
        Loss of the chosen model by row, in the comparison's loss.
    baseline_loss : ndarray of shape (n,)
        Loss of the baseline by row.
    probability : ndarray of shape (n, n_classes) or None
        Class probabilities (classification).
    low : ndarray of shape (n,) or None
        Lower ends of the prediction intervals (regression).
    high : ndarray of shape (n,) or None
        Upper ends (regression).
    sets : ndarray of bool of shape (n, n_classes) or None
        Prediction sets (classification).
    """

    __test__ = False  # not a test class, whatever its name suggests to pytest

    positions: np.ndarray
    table: dict[str, list[Any]]
    truth: np.ndarray
    prediction: np.ndarray
    baseline: np.ndarray
    loss: np.ndarray
    baseline_loss: np.ndarray
    probability: np.ndarray | None = None
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    sets: np.ndarray | None = None


@dataclass(frozen=True)
class Importance:
    """How much worse the model gets without knowing a column (its values permuted).

    Parameters
    ----------
    column : str
        Column of the file.
    increase : Estimate
        Rise of the headline loss when the column is shuffled in the test rows.
    stand_ins : tuple of str, default=()
        Columns that carry nearly the same information.
    """

    column: str
    increase: Estimate
    stand_ins: tuple[str, ...] = ()


@dataclass(frozen=True)
class Effect:
    """Mean prediction as one column moves.

    Parameters
    ----------
    column : str
        Column of the file.
    grid : list
        Values (numbers, or category names).
    mean : list of float
        Mean prediction (classification: mean probability of ``of_class``).
    density : list of float
        Share of rows near each grid value.
    of_class : str, default=""
        Class whose probability is shown (classification).
    """

    column: str
    grid: list[Any]
    mean: list[float]
    density: list[float]
    of_class: str = ""


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
