"""Gram matrices of pairs of classes, with what lies within a class computed once."""

import numpy as np

from corollary.kernels import GramTiles, PrecomputedTiles

# Pairs of classes with at most this many rows have their matrix whole.
WHOLE_ROWS = 1024


class PairGrams:
    """The matrices of all pairs of small classes; those within a class are computed once."""

    def __init__(self, gram: GramTiles, members: list[np.ndarray]) -> None:
        self.gram, self.members = gram, members
        self.within = [self._within(rows) for rows in members]

    @staticmethod
    def fit(members: list[np.ndarray], megabytes: float) -> bool:
        """Tell whether classes are several, every pair is small, and there is the memory."""
        sizes = np.sort([len(rows) for rows in members])
        enough = 8 * float((sizes**2).sum()) <= megabytes * 2**20
        return bool(len(sizes) > 2 and sizes[-2:].sum() <= WHOLE_ROWS and enough)

    def _within(self, rows: np.ndarray) -> np.ndarray:
        K = np.array(self.gram.tile(self.gram.rows(rows), self.gram.columns(rows)))
        # Rounding may have made it unsymmetric.
        np.copyto(K, K.T.copy(), where=np.tri(len(rows), k=-1, dtype=bool))
        K[np.arange(len(rows)), np.arange(len(rows))] = self.gram.diagonal[rows]
        return K

    def pair(self, i: int, j: int) -> PrecomputedTiles:
        """Return the matrix of the rows of class i, followed by those of class j."""
        m, gram = len(self.members[i]), self.gram
        K = np.empty((m + len(self.members[j]),) * 2)
        K[:m, :m], K[m:, m:] = self.within[i], self.within[j]
        K[:m, m:] = gram.tile(gram.rows(self.members[i]), gram.columns(self.members[j]))
        K[m:, :m] = K[:m, m:].T
        return PrecomputedTiles(K)
