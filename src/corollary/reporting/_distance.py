"""The rule by which rows are called unusual: one distance, one tail, one threshold.

The report calls rows of its table by it, and the model keeps it for new rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from corollary.anomaly import AnomalyDetector, TailLaw
from corollary.core.estimator import without_memory
from corollary.core.schema import Array, Instance, List, Number, Schema, Text
from corollary.representation import ColumnPlan, ColumnTable, NumberPlan, TableEncoder

#: Columns that bear this share of a distance are named, but no more than so many.
MOST_OF_IT, MOST_NAMED = 0.7, 3
#: Share of the nearest rows that the second fit of a distance keeps.
KEPT = 0.9
#: Ranges of training values beyond which all are equally far.
FAR = 1e6


def _fits_together(rule: "DistanceRule") -> str | None:
    if not isinstance(rule.detector, AnomalyDetector) or not isinstance(rule.tail, TailLaw):
        return "its parts are not a detector and a tail"
    known = getattr(rule.detector, "n_features_in_", None) == len(rule.features)
    return None if known and len(rule.features) else "its detector takes other columns"


@dataclass(frozen=True, eq=False)
class DistanceRule:
    """Whether a row is farther from the training rows than such rows are.

    Parameters
    ----------
    columns : tuple of str
        The quantities that distances are measured in.
    features : ndarray of int of shape (n_columns,)
        Where they stand among the encoded features.
    detector : AnomalyDetector
        From quantities to distances.
    tail : TailLaw
        How often a row like those of training lies as far, by logarithms of distances.
    rate : float
        Expected share of ordinary rows among the rows of the table that are called, at most.
    threshold : float
        Rows with at most this p-value are called.

    See Also
    --------
    ReportModel : Flags new rows by it.

    Examples
    --------
    >>> from corollary.reporting import measure, read_demo
    >>> rule = measure(read_demo("iris"), "species", fast=True)[1].distance
    >>> rule.columns[:2], rule.rate, rule.tail.n
    (('sepal length (cm)', 'sepal width (cm)'), 0.1, 90)
    """

    columns: tuple[str, ...]
    features: np.ndarray
    detector: AnomalyDetector
    tail: TailLaw
    rate: float
    threshold: float

    _schema = Schema(
        _fits_together,
        columns=List(Text(), "q"),
        features=Array("i", "q", low=0),
        detector=Instance("score_samples", "contributions"),
        tail=Instance("p_values"),
        rate=Number(0.0, 1.0),
        threshold=Number(0.0, 1.0),
    )

    def p_values(self, features: np.ndarray) -> np.ndarray:
        """Tell how often a row like those of training lies as far from them.

        Parameters
        ----------
        features : ndarray of shape (n, n_features)
            Encoded rows.

        Returns
        -------
        p_values : ndarray of shape (n,)
            1 for the nine tenths of ordinary rows that are not far.
        """
        return self.tail.p_values(log_distances(self.detector, features[:, self.features]))

    def reasons(self, features: np.ndarray) -> list[tuple[str, ...]]:
        """Name the columns that make rows far, those that add most first.

        Parameters
        ----------
        features : ndarray of shape (n, n_features)
            Encoded rows.

        Returns
        -------
        reasons : list of tuple of str
            At most three columns for each row.
        """
        if not len(features):
            return []
        parts = np.maximum(self.detector.contributions(features[:, self.features]), 0.0)
        named = []
        for row in parts / np.maximum(parts.sum(axis=1, keepdims=True), 1e-300):
            order = np.argsort(-row, kind="stable")
            needed = int(np.searchsorted(np.cumsum(row[order]), MOST_OF_IT)) + 1
            named.append(tuple(self.columns[j] for j in order[: min(needed, MOST_NAMED)]))
        return named


def fit_distance(features: np.ndarray, seed: int) -> AnomalyDetector:
    """Fit distances to rows, and again without the farthest of them, which would hide others."""
    detector = AnomalyDetector("mahalanobis", calibration_size=0.0, random_state=seed)
    with without_memory():
        near = detector.fit(features).score_samples(features)
        kept = near >= np.quantile(near, 1 - KEPT)
        return detector.fit(features[kept]) if kept.sum() > 1 else detector


def log_distances(detector: AnomalyDetector, features: np.ndarray) -> np.ndarray:
    """Give the logarithms of distances; squares of them differ by a factor only."""
    squares = np.maximum(-detector.score_samples(features), np.finfo(float).tiny)
    return np.log(squares)


def without_limit(features: np.ndarray, encoder: TableEncoder, table: ColumnTable) -> np.ndarray:
    """Put quantities where they are that the encoder keeps near its training rows."""
    features = features.copy()
    for plan, place in _number_plans(encoder.plans_):
        column = table[plan.name]
        reach = FAR * (plan.high - plan.low)
        for mask, _ in plan.out_of_reach(column):
            there = np.clip(column.numbers[mask], plan.low - reach, plan.high + reach)
            there = plan.logarithm(there) if plan.log else there
            features[mask, place] = (there - encoder.centre_[place]) / encoder.scale_[place]
    return features


def quantities(plans: Sequence[ColumnPlan]) -> dict[str, int]:
    """Find the feature of each column that is a quantity: its logarithm if it has one."""
    return {plan.name: place for plan, place in _number_plans(plans)}


def _number_plans(plans: Sequence[ColumnPlan]) -> Iterator[tuple[NumberPlan, int]]:
    start = 0
    for plan in plans:
        if isinstance(plan, NumberPlan) and plan.kind == "numeric":
            yield plan, start + plan.log
        start += plan.width
