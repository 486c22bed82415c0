"""What the section on unusual rows says, in types; the JSON schema is made from them."""

from typing import Annotated, Literal, TypedDict

from corollary.reporting.page._content import Count, Fraction, Length


class ReasonContent(TypedDict):
    column: str
    value: str
    place: Literal["high", "low", "usual"]


class RowNameContent(TypedDict):
    column: str
    value: str


class UnusualRowContent(TypedDict):
    position: Count
    names: list[RowNameContent]
    part: Literal["training", "calibration", "test"]
    p: Fraction
    p_words: str
    reasons: list[ReasonContent]


class UnusualErrorsContent(TypedDict):
    n: Count
    value: float
    low: float | None
    high: float | None
    elsewhere: float
    p: Fraction
    shown: bool


class ClusterContent(TypedDict):
    label: str
    n: Count
    medians: list[float]
    words: list[str]


class ClustersContent(TypedDict):
    sentence: str
    p: Fraction
    level: Fraction
    n: Count
    columns: Annotated[list[str], Length(1, 2)]
    rows: Annotated[list[ClusterContent], Length(2)]
    points: Annotated[list[Annotated[list[float], Length(3, 3)]], Length(0, 400)]


class UnusualRowsSection(TypedDict):
    heading: str
    finding: str
    called: Count
    judged: Count
    rate: Fraction | None  # of false discoveries, where it is bounded
    threshold: Fraction | None  # p-value up to which rows are called, here and by predict
    rows: list[UnusualRowContent]
    errors: UnusualErrorsContent | None
    clusters: ClustersContent | None
    method: list[str]
