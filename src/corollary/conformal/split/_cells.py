"""Calibration scores in cells, each of which has a threshold of its own."""

from typing import Any, NamedTuple

import numpy as np

from corollary.conformal._order import grouped_threshold, threshold, weighted_thresholds


class Cells(NamedTuple):
    """Scores, cell after cell, ascending within each if they have weights, and sizes of cells."""

    scores: np.ndarray
    weights: np.ndarray | None
    sizes: np.ndarray

    @classmethod
    def of(
        cls, scores: np.ndarray, weights: np.ndarray | None, cells: np.ndarray | None, n_cells: int
    ) -> "Cells":
        """Sort scores by the number of their cell, -1 for none; None if there is one cell."""
        if cells is None and weights is None:
            return cls(scores, None, np.array([len(scores)]))
        cells = np.zeros(len(scores), dtype=np.intp) if cells is None else cells
        order = np.lexsort((np.arange(len(scores)) if weights is None else scores, cells))
        # Rows that count in no cell come first, and are cut off.
        order = order[int((cells < 0).sum()) :]
        sizes = np.bincount(cells[order], minlength=n_cells)
        return cls(scores[order], None if weights is None else weights[order], sizes)

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        """Return the values of each cell."""
        ends = self.sizes.cumsum().tolist()
        return [values[start:end] for start, end in zip([0, *ends], ends)]

    def counts(self) -> np.ndarray:
        """Return how many rows are in each cell or, if they weigh what groups do, groups."""
        if self.weights is None:
            return self.sizes
        return np.array([weights.sum() for weights in self.split(self.weights)])

    def thresholds(self, confidence: float) -> np.ndarray:
        """Return the threshold of each cell, if scores have no weights or those of groups."""
        if self.weights is None:
            return np.array([threshold(scores, confidence) for scores in self.split(self.scores)])
        cells = zip(self.split(self.scores), self.split(self.weights))
        return np.array([grouped_threshold(*cell, confidence) for cell in cells])

    def weighted_thresholds(
        self, groups: np.ndarray, n_classes: int, new_weights: np.ndarray, confidence: float
    ) -> np.ndarray:
        """Return thresholds, of shape (n_samples, n_classes), of rows with groups and weights."""
        assert self.weights is not None
        table = np.full((len(groups), n_classes), np.inf)
        cells = zip(self.split(self.scores), self.split(self.weights))
        for cell, (scores, weights) in enumerate(cells):
            rows = np.flatnonzero(groups == cell // n_classes)
            table[rows, cell % n_classes] = weighted_thresholds(
                scores, weights, new_weights[rows], confidence
            )
        return table

    def problem(self, level: float | None, thresholds: Any) -> str | None:
        """Say why these cannot be the scores of a calibration at a level, or None."""
        if np.isnan(self.scores).any():
            return "a score is not a number"
        if self.weights is not None:
            if not np.isfinite(self.weights).all():
                return "a weight is not a number"
            if any(np.any(scores[1:] < scores[:-1]) for scores in self.split(self.scores)):
                return "its scores are not sorted"
        if (level is None) != (thresholds is None) or level in (0, 1):
            return "its thresholds have no level"
        if level is not None and not np.array_equal(thresholds, self.thresholds(level)):
            return "its thresholds are not those of its scores"
        return None
