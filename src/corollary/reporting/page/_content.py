"""What the page and the JSON of a report say: the parts that several sections share.

The JSON schema is made from these types (:func:`corollary.reporting.json_schema`).
"""

from typing import Annotated, Literal, NamedTuple, NotRequired, TypedDict


class Range(NamedTuple):
    """The least and the largest number that is possible."""

    least: float
    most: float | None = None


class Length(NamedTuple):
    """The least and the largest number of items."""

    least: int
    most: int | None = None


Count = Annotated[int, Range(0)]
Fraction = Annotated[float, Range(0, 1)]


class NumberHistogram(TypedDict):
    edges: list[float | str | None]
    counts: list[Count]


class LevelHistogram(TypedDict):
    labels: list[str]
    counts: list[Count]
    other: Count


class EstimateContent(TypedDict):
    value: float | None
    low: float | None
    high: float | None
    n: Count


class ForestRow(TypedDict):
    label: str
    value: float
    low: float | None
    high: float | None
    text: str
    note: NotRequired[str]
    strong: NotRequired[bool]
    muted: NotRequired[bool]
    warn: NotRequired[bool]
    n: NotRequired[Count]
    p: NotRequired[Fraction]


class Forest(TypedDict):
    rows: list[ForestRow]
    reference: float | None
    reference_label: str
    axis: str
    percent: NotRequired[bool]
    domain: NotRequired[Annotated[list[float], Length(2, 2)]]


class Mark(TypedDict):
    at: float
    label: str


class Strip(TypedDict):
    value: float
    low: float | None
    high: float | None
    domain: Annotated[list[float], Length(2, 2)]
    marks: list[Mark]


class Card(TypedDict):
    key: Literal["how-good", "how-sure", "how-wrong", "why", "still-true"]
    question: str
    number: str
    caption: str
    interval: str
    n: Count | None
    sentence: str
    section: str
    strip: Strip | None


class UnitContent(TypedDict):
    kind: Literal["joined", "owner", "time", "order"]
    columns: list[str]
    n_units: Count
    told: bool
    error_seen: float | None
    error_unseen: float | None


class ScopeContent(TypedDict):
    rows: str
    sentence: str
    unit: UnitContent | None


class DecisionsContent(TypedDict):
    verdict: Literal["shown", "not shown", "worse"]
    wrong: Count
    wrong_by_guessing: Count
    rows: Count
    found_class: str | None
    found: Count | None
    rows_of_class: Count | None


class VerdictContent(TypedDict):
    phrase: Literal["better than guessing, shown", "not shown", "worse"]
    headline: str
    act: bool
    sentence: str
    scope: ScopeContent | None
    rule: str
    gain: EstimateContent
    decisions: DecisionsContent | None
    cards: Annotated[list[Card], Length(5, 5)]
