"""What the sections about errors, reasons and new data say, and the report as a whole."""

from typing import Annotated, Literal, NotRequired, TypedDict

from corollary.reporting.page._content import (
    Count,
    EstimateContent,
    Forest,
    Fraction,
    Length,
    Mark,
    VerdictContent,
)


class WeakGroups(TypedDict):
    sentence: str
    n_tested: Count
    n_shown: Count
    n: Count
    forest: Forest | None
    method: str


class WorstRowContent(TypedDict):
    position: Count
    truth: str
    prediction: str
    error: str
    direction: Literal["too high", "too low", "exact", "right", "wrong"]
    interval: str
    held: bool | None
    values: list[str]


class NeighbourContent(TypedDict):
    of: Count
    position: Count
    distance: str
    truth: str
    values: list[str]


class WorstRows(TypedDict):
    columns: list[str]
    rows: Annotated[list[WorstRowContent], Length(0, 20)]
    n: Count
    n_wrong: Count | None
    neighbours: Annotated[list[NeighbourContent], Length(0, 60)]
    distance: str


class ScatterCells(TypedDict):
    x_edges: list[float]
    y_edges: list[float]
    counts: list[Annotated[list[Count], Length(3, 3)]]


class Scatter(TypedDict):
    points: Annotated[list[Annotated[list[float | bool], Length(3, 3)]], Length(0, 2000)]
    cells: ScatterCells | None
    ribbon: list[Annotated[list[float], Length(3, 3)]]
    domain: Annotated[list[float], Length(2, 2)]
    x_label: str
    y_label: str
    n: Count
    description: str


class ErrorHistogram(TypedDict):
    edges: list[float]
    counts: list[Count]
    marks: list[Mark]
    x_label: str
    y_label: str


class ErrorQuantile(TypedDict):
    level: Fraction
    label: str
    value: float
    low: float | None
    high: float | None
    words: str
    interval: str
    n: Count


class ConfusedPair(TypedDict):
    truth: str
    predicted: str
    n: Count
    of: Count
    share: Fraction
    low: Fraction
    high: Fraction


class Confusion(TypedDict):
    classes: list[str]
    table: list[list[Count]]
    pairs: list[ConfusedPair]
    n: Count


class Threshold(TypedDict):
    threshold: Fraction
    called: Count
    hits: Count
    false_alarms: Count
    missed: Count
    caught: Fraction | None
    caught_low: Fraction
    caught_high: Fraction
    right: Fraction | None
    right_low: Fraction
    right_high: Fraction


Thresholds = TypedDict(
    "Thresholds",
    {
        "class": str,
        "other": str,
        "n": Count,
        "positives": Count,
        "rows": Annotated[list[Threshold], Length(9, 9)],
        "fine": Annotated[list[Annotated[list[Count], Length(2, 2)]], Length(99, 99)],
    },
)


class ErrorsSection(TypedDict):
    heading: str
    finding: str
    weak: WeakGroups | None
    worst: WorstRows
    scatter: NotRequired[Scatter]
    histogram: NotRequired[ErrorHistogram]
    quantiles: NotRequired[list[ErrorQuantile]]
    confusion: NotRequired[Confusion]
    thresholds: NotRequired[Thresholds | None]
    method: list[str]


class ImportanceContent(TypedDict):
    column: str
    increase: EstimateContent
    words: str
    matters: bool
    stand_ins: list[str]


class EffectContent(TypedDict):
    column: str
    grid: list[float | str]
    mean: list[float]
    density: list[float]
    n_levels_hidden: Count
    numeric: bool
    dated: bool
    together: bool
    domain: Annotated[list[float], Length(2, 2)]
    percent: bool
    of_class: str


class WhySection(TypedDict):
    heading: str
    finding: str
    loss: str
    importances: list[ImportanceContent]
    forest: Forest
    n_not_drawn: Count
    n_listed: Count
    rest: str
    effects: list[EffectContent]
    of_class: str
    method: list[str]


class DetectableRow(TypedDict):
    n: Count
    detectable: float | None


class DetectableContent(TypedDict):
    quantity: str
    percent: bool
    now: float
    now_words: str
    rows: list[DetectableRow]


class SeenRange(TypedDict):
    column: str
    kind: str
    seen: str


class NewDataSection(TypedDict):
    heading: str
    finding: str
    detectable: DetectableContent
    ranges: list[SeenRange]
    method: list[str]


class StageTime(TypedDict):
    stage: str
    seconds: float
    words: str


class ReproduceSection(TypedDict):
    heading: str
    finding: str
    command: str
    seed: int
    versions: dict[str, str]
    hashes: dict[str, str]
    stages: list[StageTime]
    network: str


class LimitsSection(TypedDict):
    heading: str
    finding: str
    limits: Annotated[list[str], Length(1)]


class Sections(TypedDict):
    """Sections by name; each states its type in its module."""


class RowsOfParts(TypedDict):
    all: Count
    train: Count
    calibration: Count
    test: Count


class PopulationContent(TypedDict):
    kind: Literal["new units", "period"]
    unit: str | list[str]
    start: str | float
    end: str | float
    rows: str
    pieces: str
    n: Count


class ReportContent(TypedDict):
    schema_version: Literal[1]
    data: str
    target: str
    date: str
    task: Literal["classification", "regression"]
    classes: list[str]
    confidence: Fraction
    coverage: Fraction
    seed: int
    loss: str
    rows: RowsOfParts
    n_columns: Count
    population: NotRequired[PopulationContent]
    unsaved: NotRequired[str]
    verdict: VerdictContent
    sections: Sections
