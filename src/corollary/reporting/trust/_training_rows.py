"""What theory proves about the chosen model from its training rows alone.

Bounds of this kind hold for every plane at once, so it does not matter that the plane was chosen
after a look at the rows. What may not depend on the rows is the space in which planes are drawn.
The models see columns centred and scaled by their training rows; here the same plane is written in
units that the calibration rows set, which no fit has touched.
"""

from typing import Any

import numpy as np

from corollary.core.certificate import Assumption
from corollary.core.protocols import Plane
from corollary.reporting.models._predictor import Predictor
from corollary.representation import ColumnTable, TableEncoder

#: Where the encoder does not follow a quantity: it fills gaps, and holds what lies beyond the
#: training range by more than its width.
RANGE = Assumption(
    "No column of a new row is missing or lies beyond its training range by more than the width "
    "of that range.",
    "population",
)


def certify_training_rows(
    predictor: Predictor,
    encoder: TableEncoder,
    table: ColumnTable,
    features: np.ndarray,
    y: np.ndarray,
    calibration: ColumnTable,
    confidence: float,
    *,
    whole: bool,
) -> tuple[Any, ...]:
    """Offer the theorems about training rows that apply to the chosen model."""
    plane = _plane(predictor)
    if plane is None:
        return ()  # before any column is read, which takes time
    raw = _as_measured(encoder, table, features)
    if raw is None:
        return ()
    from corollary.certificates import certify

    weights, intercept = plane
    centre, scale = _units(encoder, calibration)
    slope = weights / encoder.scale_
    rule = Plane(slope * scale, float(intercept + slope @ (centre - encoder.centre_)))
    rows = (raw - centre) / scale
    if not np.array_equal(rule.predict(rows), predictor.predict(features)):
        return ()
    found = certify(rule, rows, y, seen=True, confidence=confidence)
    return tuple(sorted((_with_range(c, whole) for c in found), key=lambda c: c.bound))


def _plane(predictor: Predictor) -> tuple[np.ndarray, float] | None:
    if not predictor.classification or len(predictor.estimators) != 1:
        return None
    estimator = predictor.estimators[0]
    coef = np.atleast_2d(getattr(estimator, "coef_", np.empty((0, 0))))
    intercept = np.ravel(getattr(estimator, "intercept_", ()))
    if coef.shape != (1, predictor.n_features) or len(intercept) != 1:
        return None
    if np.asarray(estimator.classes_).tolist() != [0, 1] or len(predictor.constant) != 2:
        return None
    return np.asarray(coef[0], dtype=np.float64), float(intercept[0])


def _as_measured(
    encoder: TableEncoder, table: ColumnTable, features: np.ndarray
) -> np.ndarray | None:
    """Give the numbers behind the features if each is one column, centred and scaled."""
    columns = [table.columns[j].numbers for j in encoder.feature_columns_]
    if not columns:
        return None
    raw = np.column_stack(columns)
    given = features * encoder.scale_ + encoder.centre_
    span = np.abs(encoder.centre_) + encoder.scale_
    if not np.isfinite(raw).all() or not np.all(np.abs(given - raw) <= 1e-9 * (span + np.abs(raw))):
        return None
    return raw


def _units(encoder: TableEncoder, calibration: ColumnTable) -> tuple[np.ndarray, np.ndarray]:
    """Centre and spread of the calibration rows; zero and one where they tell nothing."""
    d = len(encoder.feature_columns_)
    centre, scale = np.zeros(d), np.ones(d)
    if len(calibration) < 2:
        return centre, scale
    for k, j in enumerate(encoder.feature_columns_):
        known = calibration.columns[j].numbers
        known = known[np.isfinite(known)]
        if len(known) > 1 and np.ptp(known) > 0:
            peak = float(np.abs(known).max())  # squares of very large numbers stay in range
            centre[k], scale[k] = (known / peak).mean() * peak, (known / peak).std() * peak
    return centre, scale


def _with_range(certificate: Any, whole: bool) -> Any:
    """Add what the encoder asks for, and tick what the way this was computed makes true."""
    from dataclasses import replace

    made_true = ("rows", "choice") if whole else ("rows",)
    kept = (a.vouched() if a.about in made_true else a for a in certificate.assumptions)
    return replace(certificate, assumptions=(*kept, RANGE))
