"""What a symmetric matrix P says about quadratic functions: convexity, flat directions, infima."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

#: Eigenvalues below this share of the largest one are rounding.
FLAT = 1e-12
#: Sums whose terms cancel up to this share of their sizes are zero.
ROUNDING = 1e-12
#: So is what is below this share of the largest size: residues of zeros, which have no terms.
NOTHING = 1e-50


@dataclass(frozen=True, eq=False)
class Curvature:
    """Flat directions of a convex quadratic function, and a root of the inverse on the others."""

    convex: bool
    #: Orthonormal columns on which P vanishes.
    flat: np.ndarray
    #: A matrix R with R'R = P on the other directions.
    root: np.ndarray
    _factor: Any

    @classmethod
    def of(cls, P: np.ndarray) -> "Curvature":
        """Factorise P, by Cholesky where it is safely positive definite."""
        n = len(P)
        if not P.any():
            return cls(True, np.eye(n), np.zeros((0, n)), None)
        try:
            root = linalg.cholesky(P)
            if root.diagonal().min() ** 2 > 1e-8 * P.diagonal().max():
                return cls(True, np.zeros((n, 0)), root, root)
        except linalg.LinAlgError:
            pass
        values, vectors = linalg.eigh(P)
        size = np.abs(values).max()
        curved = values > FLAT * size
        root = np.sqrt(values[curved])[:, None] * vectors[:, curved].T
        return cls(bool(values[0] >= -FLAT * size), vectors[:, ~curved], root, None)

    def dip(self, w: np.ndarray) -> float:
        """Return minus the infimum of x'Px/2 + w'x, for w without a share in flat directions."""
        if self._factor is not None:
            share = linalg.solve_triangular(self._factor, w, trans=1)
        else:
            share = (self.root @ w) / np.maximum(np.sum(self.root**2, axis=1), 1e-300)
        return 0.5 * float(share @ share)

    def slope(self, w: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Return the share of w in flat directions, with zeros where it is rounding.

        The sizes are those of the terms that w is the sum of.
        """
        share = self.flat.T @ w
        rounding = ROUNDING * (np.abs(self.flat).T @ sizes) + NOTHING * sizes.max(initial=0.0)
        return np.where(np.abs(share) <= rounding, 0.0, share)
