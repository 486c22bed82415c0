r"""The cones of conic programs, as vectors.

A constraint is :math:`s=h-Gx\in K`. Each cone knows its projection, how far a vector is outside,
its centre e, and the map :math:`Q_{\sqrt z}`, which stretches a cone onto itself and takes e to z:
:math:`y_i\mapsto z_iy_i` for numbers, :math:`Y\mapsto Z^{1/2}YZ^{1/2}` for matrices. All are their
own duals, except the point zero, whose dual is everything.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

_ROOT = math.sqrt(2.0)


@dataclass(frozen=True)
class Orthant:
    """Vectors without negative entries."""

    size: int

    def project(self, v: np.ndarray) -> np.ndarray:
        """Return the nearest vector of the cone."""
        return np.maximum(v, 0.0)

    def project_dual(self, z: np.ndarray) -> np.ndarray:
        """Return the nearest vector of the dual cone."""
        return self.project(z)

    def margin(self, v: np.ndarray) -> float:
        """Return the largest t with v - te in the cone: positive for inner vectors."""
        return float(v.min(initial=math.inf))

    def excess(self, v: np.ndarray) -> float:
        """Return how far a vector is outside; infinity for one that is not of numbers."""
        margin = self.margin(v)
        return math.inf if math.isnan(margin) else max(0.0, -margin)

    def dual_excess(self, z: np.ndarray) -> float:
        """Return the same for the dual cone."""
        return self.excess(z)

    def centre(self) -> np.ndarray:
        """Return e."""
        return np.ones(self.size)

    def stretch(self, z: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Apply the map that takes e to z to the columns of v."""
        return (z * v.T).T

    def products(self, z: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Return what must vanish for complementary z and s."""
        return z * s

    def pack(self, value: Any) -> np.ndarray:
        """Turn a multiplier as people write it into a vector."""
        return np.atleast_1d(np.asarray(value, dtype=float))

    def unpack(self, z: np.ndarray) -> np.ndarray:
        """Turn a vector into a multiplier as people write it."""
        return z


class Origin(Orthant):
    """The vector zero, for equations; its dual cone is everything."""

    def project(self, v: np.ndarray) -> np.ndarray:
        return np.zeros_like(v)

    def project_dual(self, z: np.ndarray) -> np.ndarray:
        return z

    def margin(self, v: np.ndarray) -> float:
        """Return infinity: equations have no inside, and strictness does not ask for one."""
        return math.inf

    def excess(self, v: np.ndarray) -> float:
        size = float(np.abs(v).max(initial=0.0))
        return math.inf if math.isnan(size) else size

    def dual_excess(self, z: np.ndarray) -> float:
        return 0.0

    def centre(self) -> np.ndarray:
        return np.zeros(self.size)

    def stretch(self, z: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Stretch all directions alike, because multipliers of equations are free."""
        return max(1.0, float(np.abs(z).max(initial=0.0))) * v


class SecondOrder(Orthant):
    r"""Vectors :math:`(t,u)` with :math:`\|u\|\le t`."""

    def project(self, v: np.ndarray) -> np.ndarray:
        t, u = v[0], v[1:]
        length = float(np.linalg.norm(u))
        if length <= t:
            return v
        if length <= -t:
            return np.zeros_like(v)
        middle = (t + length) / 2
        return np.concatenate([[middle], middle / length * u])

    def margin(self, v: np.ndarray) -> float:
        """Return by how much the norm is below its bound."""
        return float(v[0] - np.linalg.norm(v[1:]))

    def centre(self) -> np.ndarray:
        return np.eye(1, self.size)[0]

    def stretch(self, z: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Apply 2rr' - det(r)J for the root r of z in the algebra of the cone."""
        length = float(np.linalg.norm(z[1:]))
        low, high = math.sqrt(max(z[0] - length, 0.0)), math.sqrt(max(z[0] + length, 0.0))
        axis = z[1:] / length if length > 0 else np.zeros(self.size - 1)
        root = np.concatenate([[(high + low) / 2], (high - low) / 2 * axis])
        mirrored = v.copy()
        mirrored[1:] *= -1.0
        return 2 * np.multiply.outer(root, root @ v).reshape(v.shape) - low * high * mirrored

    def products(self, z: np.ndarray, s: np.ndarray) -> np.ndarray:
        return np.atleast_1d(z @ s)


@dataclass(frozen=True)
class Semidefinite(Orthant):
    r"""Symmetric matrices without negative eigenvalues, as vectors.

    The vector holds the upper triangle, column after column, with entries off the diagonal times
    :math:`\sqrt2`, so that inner products of vectors are those of matrices.
    """

    order: int = 0

    @classmethod
    def of_order(cls, order: int) -> "Semidefinite":
        """Return the cone of matrices with so many rows."""
        return cls(order * (order + 1) // 2, order)

    @property
    def _corner(self) -> tuple[np.ndarray, np.ndarray]:
        columns, rows = np.tril_indices(self.order)
        return rows, columns

    def pack(self, value: Any) -> np.ndarray:
        value = np.asarray(value, dtype=float)
        if value.shape != (self.order, self.order):
            return value.ravel()
        rows, columns = self._corner
        symmetric = (value + value.T) / 2
        return np.where(rows == columns, 1.0, _ROOT) * symmetric[rows, columns]

    def unpack(self, z: np.ndarray) -> np.ndarray:
        rows, columns = self._corner
        matrix = np.zeros((self.order, self.order))
        matrix[rows, columns] = matrix[columns, rows] = z / np.where(rows == columns, 1.0, _ROOT)
        return matrix

    def project(self, v: np.ndarray) -> np.ndarray:
        values, vectors = np.linalg.eigh(self.unpack(v))
        return v if values[0] >= 0 else self.pack((vectors * np.maximum(values, 0)) @ vectors.T)

    def margin(self, v: np.ndarray) -> float:
        """Return the least eigenvalue."""
        return float(np.linalg.eigvalsh(self.unpack(v))[0])

    def centre(self) -> np.ndarray:
        return self.pack(np.eye(self.order))

    def stretch(self, z: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Apply Y to the product of the root of Z, Y and the root of Z."""
        values, vectors = np.linalg.eigh(self.unpack(z))
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        columns = v.reshape(self.size, -1).T
        stretched = [self.pack(root @ self.unpack(column) @ root) for column in columns]
        return np.array(stretched).T.reshape(v.shape)

    def products(self, z: np.ndarray, s: np.ndarray) -> np.ndarray:
        return np.atleast_1d(z @ s)
