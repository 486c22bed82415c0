"""From tables as they come to complete rows of numbers in comparable units."""

from typing import Any, NamedTuple

import numpy as np

from corollary.core.frames import as_frame, as_pandas
from corollary.core.summary import Moments, reduce
from corollary.mixture import GaussianMixture, MixtureLaw
from corollary.representation import TableEncoder

#: Added to the variances of standardised columns, so that any column can be told from the others.
_RIDGE = 1e-6
#: Standard deviations beyond which all values are alike, so that differences of squares are exact.
_FAR = 1e7


def is_mixed(X: Any) -> bool:
    """Say whether a table has columns that are not numbers."""
    frame = as_frame(X)
    return frame is not None and not all(
        dtype.is_numeric() or str(dtype) == "Boolean" for dtype in frame.schema.values()
    )


class Preparation(NamedTuple):
    """How rows become numbers: an encoder or None, units, and a Gaussian that fills gaps."""

    encoder: TableEncoder | None
    centre: np.ndarray
    scale: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray

    @classmethod
    def learn(
        cls, X: Any, weight: np.ndarray | None, *, mixed: bool, standardize: bool
    ) -> "Preparation":
        """Learn from training rows."""
        encoder = None
        if mixed:
            encoder = TableEncoder().fit(as_pandas(X))
            X = encoder.transform(as_pandas(X))
        gaps = np.isnan(X)
        if not gaps.any():
            chunk = (X,) if weight is None else (X, None, weight)
            moments = reduce(Moments.of_width(X.shape[1]), chunk)
            return cls.of_moments(moments, standardize=standardize, encoder=encoder)
        if (empty := np.flatnonzero(gaps.all(axis=0))).size:
            raise ValueError(
                f"AnomalyDetector needs a value in every column. Column {empty[0]} has none among "
                f"{len(X)} rows that fit its score; leave it out."
            )
        present = ~gaps * (1.0 if weight is None else weight[:, None])
        total = present.sum(axis=0)
        centre = np.nansum(X * present, axis=0) / total
        variance = np.nansum((X - centre) ** 2 * present, axis=0) / total
        centre, scale = _units(centre, variance, standardize)
        unit = np.sqrt(np.where(variance > 0, variance, 1.0)) / scale
        Z = (X - centre) / scale / unit
        law = GaussianMixture(1, reg_covar=_RIDGE).fit(Z, sample_weight=weight).to_law()
        covariance = law.covariances[0] * np.outer(unit, unit)
        return cls(encoder, centre, scale, law.means[0] * unit, covariance)

    @classmethod
    def of_moments(
        cls, moments: Moments, *, standardize: bool, encoder: TableEncoder | None = None
    ) -> "Preparation":
        """Take units and law from moments of complete rows."""
        covariance = moments.covariance()
        variance = np.diag(covariance).copy()
        centre, scale = _units(moments.mean, variance, standardize)
        covariance = covariance / np.outer(scale, scale)
        ridge = _RIDGE * np.where(variance > 0, variance / scale**2, 1.0)
        mean = (moments.mean - centre) / scale
        return cls(encoder, centre, scale, mean, covariance + np.diag(ridge))

    def rows(self, X: Any) -> np.ndarray:
        """Return complete rows in units of the columns."""
        if self.encoder is not None:
            X = self.encoder.transform(as_pandas(X))
        reach = _FAR * np.sqrt(np.diag(self.covariance))
        with np.errstate(over="ignore"):
            Z = X - self.centre
            Z /= self.scale
        near = reach.min() - np.abs(self.mean).max()
        if -near < Z.min(initial=0.0) and Z.max(initial=0.0) < near:  # neither far nor missing
            return Z
        np.clip(Z, self.mean - reach, self.mean + reach, out=Z)
        gaps = np.isnan(Z).any(axis=1)
        if gaps.any():
            law = MixtureLaw(np.ones(1), self.mean[None], self.covariance[None])
            Z[gaps] = law.impute(Z[gaps]).mean
        return Z

    def by_column(self, features: np.ndarray, n_columns: int) -> np.ndarray:
        """Sum what features say over the columns that they come from."""
        if self.encoder is None:
            return features
        sums = np.zeros((len(features), n_columns))
        for feature, column in enumerate(self.encoder.feature_columns_):
            sums[:, column] += features[:, feature]
        return sums


def _units(
    mean: np.ndarray, variance: np.ndarray, standardize: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return what is subtracted from columns, and what they are divided by."""
    if not standardize:
        return np.zeros(len(mean)), np.ones(len(mean))
    # Rounding leaves a constant column with a variance far below the square of its value.
    flat = variance <= 1e-24 * mean**2
    return mean, np.where(flat, 1.0, np.sqrt(np.where(flat, 1.0, variance)))
