"""What one step of EM needs of the rows: a summary, which runs over memory, files and clusters."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from corollary.core.summary import Chunk, Summary
from corollary.mixture.em.evidence import latent_posterior, log_evidence
from corollary.mixture.gaussian._conditional import conditional_parts
from corollary.mixture.gaussian._whitened import (
    Components,
    Whitened,
    log_joint_of,
    patterns,
    raised,
    whiten,
)

#: Weight below which a component has no rows, and stays where it is.
_NO_ROWS = 10 * np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class MixtureSums(Summary):
    """Log-likelihood and weighted moments of rows under components, about the present means.

    ``second`` has matrices, of which the lower triangle counts, or squares if components are
    diagonal. Values that are missing add what is expected of them given their row.
    """

    components: Components
    whitened: Whitened
    weight: float
    log_likelihood: float
    counts: np.ndarray
    first: np.ndarray
    second: np.ndarray

    @classmethod
    def of(cls, components: Components) -> Self:
        """Return the summary of no rows."""
        k, d = components.means.shape
        second = np.zeros((k, d) if components.is_diagonal else (k, d, d))
        zeros = np.zeros(k), np.zeros((k, d)), second
        return cls(components, whiten(components), 0.0, 0.0, *zeros)

    def empty(self) -> Self:
        """Return the summary of no rows under the same components."""
        zeros = (np.zeros_like(a) for a in (self.counts, self.first, self.second))
        return type(self)(self.components, self.whitened, 0.0, 0.0, *zeros)

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of a chunk ``(X, None, sample_weight)``."""
        X, weight = read_chunk(chunk)
        sums = self.empty()
        total = float(len(X) if weight is None else weight.sum())
        if np.isnan(X.sum()):  # one pass without a temporary; a false alarm does no harm
            likelihood = 0.0
            for rows, columns in patterns(X):
                w = None if weight is None else weight[rows]
                complete = len(columns) == X.shape[1]
                add = sums._add_complete if complete else sums._add_incomplete
                likelihood += add(X[np.ix_(rows, columns)], w, columns)
        else:
            likelihood = sums._add_complete(X, weight)
        return self.merge(replace(sums, weight=total, log_likelihood=likelihood))

    def merge(self, other: Self) -> Self:
        """Add the sums of other rows."""
        return type(self)(
            self.components,
            self.whitened,
            self.weight + other.weight,
            self.log_likelihood + other.log_likelihood,
            self.counts + other.counts,
            self.first + other.first,
            self.second + other.second,
        )

    def _add_complete(self, X: np.ndarray, weight: Any, columns: Any = None) -> float:
        """Add rows without missing values in place, and return their log-likelihood."""
        from corollary.mixture._loops.em import sums_loop

        diagonal = self.components.is_diagonal
        second = np.empty((0, *self.first.shape)) if diagonal else self.second
        squares = self.second if diagonal else np.empty((0, 0))
        X = np.ascontiguousarray(X)
        sums = self.counts, self.first, second, squares
        return float(sums_loop(X, weight, self.whitened, *sums))

    def _add_incomplete(self, X: np.ndarray, weight: Any, columns: np.ndarray) -> float:
        """Add rows that have some columns only, and return their log-likelihood."""
        components = self.components
        d = components.means.shape[1]
        others = np.setdiff1d(np.arange(d), columns)
        joint = log_joint_of(components.of_columns(columns), X)
        r = latent_posterior(joint)
        if weight is not None:
            r *= weight[:, None]
        totals = r.sum(axis=0)
        self.counts[:] += totals
        deviations = np.zeros((len(X), d))
        if not components.is_diagonal:
            slopes, rest = conditional_parts(components.matrices, columns, others)
        for j, mean in enumerate(components.means):
            deviations[:, columns] = X - mean[columns]
            if components.is_diagonal:  # what is missing is expected at the mean
                self.first[j] += r[:, j] @ deviations
                self.second[j] += r[:, j] @ deviations**2
                self.second[j, others] += totals[j] * components.variances[j, others]
                continue
            deviations[:, others] = deviations[:, columns] @ slopes[j].T
            self.first[j] += r[:, j] @ deviations
            self.second[j] += (r[:, j, None] * deviations).T @ deviations
            self.second[j, others[:, None], others] += totals[j] * rest[j]
        evidence = log_evidence(joint)
        return float(evidence.sum() if weight is None else weight @ evidence)


def read_chunk(chunk: Chunk) -> tuple[np.ndarray, np.ndarray | None]:
    """Return rows and their weights in double precision."""
    X = np.asarray(chunk[0], dtype=np.float64)
    weight = chunk[2] if len(chunk) > 2 else None
    return X, None if weight is None else np.ascontiguousarray(weight, dtype=np.float64)


def maximise(sums: MixtureSums, reg_covar: float = 0.0, floor: float = 0.0) -> Components:
    """Return the M-step, the best components for sums; one without rows stays as it is."""
    old, totals = sums.components, sums.counts
    if not np.isfinite(sums.log_likelihood) or not totals.sum() > 0:
        raise ValueError(
            "The likelihood of a mixture must be a finite number. Got "
            f"{sums.log_likelihood}: squares of the numbers overflow, or no component is possible. "
            "Scale the columns to about one."
        )
    has_rows = totals > _NO_ROWS
    some = np.where(has_rows, totals, 1.0)[:, None]
    steps = np.where(has_rows[:, None], sums.first / some, 0.0)
    weights = totals / totals.sum()
    means = old.means + steps
    if old.is_diagonal:
        variances = sums.second / some - steps**2
        variances = np.where(has_rows[:, None], np.maximum(variances, 0.0), old.variances)
        if old.kind == "spherical":
            variances = variances.mean(axis=1)
        return Components(weights, means, np.maximum(variances + reg_covar, floor), old.kind)
    lower = np.tril(sums.second)
    second = lower + np.tril(sums.second, -1).transpose(0, 2, 1)
    outer = steps[:, :, None] * steps[:, None, :]
    if old.kind == "tied":
        tied = (second - totals[:, None, None] * outer).sum(axis=0) / totals.sum()
        return Components(weights, means, _regular(tied, reg_covar, floor), "tied")
    covariances = second / some[:, :, None] - outer
    covariances[~has_rows] = old.covariances[~has_rows]
    return Components(weights, means, _regular(covariances, reg_covar, floor), "full")


def _regular(covariances: np.ndarray, reg_covar: float, floor: float) -> np.ndarray:
    """Add to the diagonal, and raise small eigenvalues."""
    return raised(covariances + reg_covar * np.eye(covariances.shape[-1]), floor)
