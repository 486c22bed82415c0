"""What the sections about data, models, certificates and calibration say."""

from typing import Annotated, Literal, TypedDict

from corollary.reporting.page._content import (
    Count,
    EstimateContent,
    Forest,
    Fraction,
    Length,
    LevelHistogram,
    NumberHistogram,
)


class RowCounts(TypedDict):
    rows: Count
    dropped: Count
    columns: Count
    used: Count
    train: Count
    calibration: Count
    test: Count
    folds: Count  # by which every row was trained on and tested in turn; 0 if some were kept aside


class FindingContent(TypedDict):
    kind: str
    sentence: str
    act: bool
    columns: list[str]
    rows: list[Count]
    where: str


class ColumnContent(TypedDict):
    name: str
    kind: Literal["numeric", "category", "boolean", "date", "text", "constant", "empty"]
    scale: str
    n_missing: Count
    missing_share: Fraction
    n_distinct: Count
    used: bool
    why_unused: str
    numbers: dict[str, float | str | None]
    histogram: NumberHistogram | LevelHistogram
    summary: str


class DataSection(TypedDict):
    heading: str
    finding: str
    counts: RowCounts
    findings: list[FindingContent]
    n_findings_hidden: Count
    target: ColumnContent
    columns: list[ColumnContent]
    n_hidden: Count
    method: list[str]


class CandidateContent(TypedDict):
    name: str
    label: str
    description: str
    loss: EstimateContent
    loss_words: str
    versus_chosen: EstimateContent
    versus_baseline: EstimateContent
    versus_baseline_words: str
    chosen: bool
    baseline: bool
    indistinguishable: bool
    seconds: float
    time_words: str
    size: Count
    settings: dict[str, str]
    out_of_bag: float | None


class Retest(TypedDict):
    claim: EstimateContent
    test: EstimateContent
    agree: bool
    sentence: str


class Failure(TypedDict):
    label: str
    error: str


class ModelsSection(TypedDict):
    heading: str
    finding: str
    loss: str
    candidates: Annotated[list[CandidateContent], Length(1)]
    forest: Forest
    retest: Retest
    failed: list[Failure]
    method: list[str]
    out_of_bag: str


class CertificateContent(TypedDict):
    claim: str
    sentence: str
    quantity: str
    percent: bool
    empirical: float | None
    bound: float | None
    bound_words: str
    observed_words: str
    gap: float | None
    gap_words: str
    direction: Literal["upper", "lower"]
    confidence: Fraction
    theorem: str
    theorem_label: str
    n: Count
    vacuous: bool
    rows_missing: float | None
    rows_to_halve: Count | None
    assumptions: list[str]
    idea: str
    page: str


class AssumptionContent(TypedDict):
    text: str
    kept: bool


class TrainingProofs(TypedDict):
    sentence: str
    certificates: list[CertificateContent]
    assumptions: list[AssumptionContent]


class CertificateSection(TypedDict):
    heading: str
    finding: str
    certificates: Annotated[list[CertificateContent], Length(1)]
    forests: list[Forest]
    assumptions: list[AssumptionContent]
    all_vacuous: bool
    method: list[str]
    training: TrainingProofs


Bin = TypedDict(
    "Bin",
    {
        "from": Fraction,
        "to": Fraction,
        "predicted": Fraction,
        "observed": Fraction,
        "low": Fraction,
        "high": Fraction,
        "hits": Count,
        "n": Count,
        "off": bool,
    },
)


class ProbabilityCurve(TypedDict):
    bins: Annotated[list[Bin], Length(1)]
    histogram: NumberHistogram | LevelHistogram
    x_label: str
    y_label: str
    n: Count
    sentence: str


class Band(TypedDict):
    label: str
    lines: list[str]
    n: Count
    hits: Count
    value: Fraction
    low: Fraction
    high: Fraction
    size: float | None
    warn: bool


class SetSize(TypedDict):
    classes: Count
    rows: Count


class CoveredGroup(TypedDict):
    label: str
    n: Count
    hits: Count
    value: Fraction
    low: Fraction
    high: Fraction
    p: Fraction
    warn: bool


class CoveredGroups(TypedDict):
    sentence: str
    n_tested: Count
    n_shown: Count
    rows: list[CoveredGroup]


class Coverage(TypedDict):
    kind: Literal["sets", "intervals"]
    nominal: Fraction
    value: Fraction
    low: Fraction
    high: Fraction
    hits: Count
    n: Count
    by: str
    bands: list[Band]
    sizes: list[SetSize]
    median_width: float | None
    sentence: str
    promise: str
    groups: CoveredGroups | None


class CalibrationSection(TypedDict):
    heading: str
    finding: str
    probability: ProbabilityCurve | None
    coverage: Coverage | None
    method: list[str]
