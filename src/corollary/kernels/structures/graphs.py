"""Kernels between graphs on one vertex set, and between the vertices of one graph."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.schema import Array, Number, Schema, Text
from corollary.kernels import _arrays as arrays
from corollary.kernels._parametrised import hyperparameter
from corollary.kernels.base import Kernel


@dataclass(frozen=True, eq=False)
class EdgeCount(Kernel):
    """Edges that two graphs on the same vertices share.

    Inputs are adjacency matrices, an array of shape (n, v, v).

    Parameters
    ----------
    count : {"edges", "entries"}, default="edges"
        "edges" looks at one triangle (and loops), so that every undirected edge counts once.
        "entries" is the inner product of whole adjacency matrices: the number of shared edges of
        directed graphs, and twice the number of shared non-loop edges of undirected ones.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import EdgeCount
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> triangle = 1 - np.eye(3)
    >>> EdgeCount()(path, triangle), EdgeCount(count="entries")(path, triangle)
    (2.0, 4.0)
    """

    count: str = "edges"
    _schema = Schema(count=Text(("edges", "entries")))

    def __post_init__(self) -> None:
        if self.count not in ("edges", "entries"):
            raise ValueError(
                "The 'count' parameter of EdgeCount must be a str among {'edges', 'entries'}. "
                f"Got {self.count!r} instead."
            )

    def _single(self, x: Any) -> Any:
        return np.asarray(x)[None]

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        P, Q = arrays.both(self._vectors, X, X if Y is None else Y)
        if P.shape[1] != Q.shape[1]:
            raise ValueError("EdgeCount compares graphs on one vertex set. Got different sizes.")
        return P, Q

    def _vectors(self, graphs: Any) -> np.ndarray:
        A = np.asarray(graphs, dtype=np.float64)
        if A.ndim != 3 or A.shape[1] != A.shape[2]:
            raise ValueError(
                "EdgeCount needs adjacency matrices of one size, an array of shape (n, v, v). "
                f"Got shape {A.shape}."
            )
        if not np.isfinite(A).all():
            raise ValueError("EdgeCount needs finite numbers. The input contains NaN or infinity.")
        if self.count == "entries":
            return A.reshape(len(A), -1)
        if not np.array_equal(A, A.transpose(0, 2, 1)):
            raise ValueError(
                "EdgeCount with count='edges' needs undirected graphs, that is symmetric adjacency "
                "matrices. Use count='entries' for directed graphs."
            )
        rows, columns = np.triu_indices(A.shape[1])
        return A[:, rows, columns]

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        return arrays.dot(P, Q)

    def _diag(self, P: Any) -> Any:
        return arrays.squares(P)


def graph_laplacian(adjacency: Any) -> np.ndarray:
    """Return the Laplacian ``D - A`` of an undirected graph.

    Parameters
    ----------
    adjacency : array-like of shape (v, v)
        Symmetric, non-negative weights; loops do not matter.

    Returns
    -------
    laplacian : ndarray of shape (v, v)
        Degrees on the diagonal, minus the weights elsewhere; rows sum to zero.

    Examples
    --------
    >>> from corollary.kernels import graph_laplacian
    >>> graph_laplacian([[0, 1], [1, 0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    A = np.array(adjacency, dtype=np.float64)
    square = A.ndim == 2 and A.shape[0] == A.shape[1]
    if not square or not np.array_equal(A, A.T) or not (np.isfinite(A) & (A >= 0)).all():
        raise ValueError(
            "graph_laplacian needs a symmetric adjacency matrix with finite, non-negative weights. "
            f"Got an array of shape {A.shape}."
        )
    np.fill_diagonal(A, 0.0)
    return np.diag(A.sum(axis=1)) - A


@dataclass(frozen=True, eq=False)
class Diffusion(Kernel):
    """Diffusion kernel ``exp(-beta L)`` between the vertices of a graph.

    Inputs are vertex numbers, an array of shape (n,).

    Parameters
    ----------
    adjacency : array-like of shape (v, v)
        Symmetric, non-negative weights of the graph with Laplacian L.
    beta : float, default=1.0
        Positive time of diffusion: 0 would be the identity; the longer, the smoother.

    Notes
    -----
    Row i is the law at time beta of a random walk in continuous time that starts in vertex i and
    takes an edge at the rate of its weight, so that rows sum to one.

    Examples
    --------
    >>> from corollary.kernels import Diffusion
    >>> Diffusion([[0, 1], [1, 0]], beta=0.5).gram([0, 1]).round(4)
    array([[0.6839, 0.3161],
           [0.3161, 0.6839]])
    """

    adjacency: Any
    beta: Any = hyperparameter(1.0)
    _schema = Schema(adjacency=Array("f", "v", "v", low=0), beta=Number(0))

    def __post_init__(self) -> None:
        self._settle("beta")
        A = np.array(self.adjacency, dtype=np.float64)
        values, vectors = np.linalg.eigh(graph_laplacian(A))
        A.flags.writeable = False
        object.__setattr__(self, "adjacency", A)
        object.__setattr__(self, "_spectrum", (np.maximum(values, 0.0), vectors))

    def _single(self, x: Any) -> Any:
        return np.reshape(x, 1)

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        return arrays.both(self._features, X, X if Y is None else Y)

    def _features(self, vertices: Any) -> Any:
        index, v = np.ravel(vertices), len(self.adjacency)
        if index.dtype.kind not in "iu" or (index < 0).any() or (index >= v).any():
            raise ValueError(
                f"This Diffusion kernel compares vertices: whole numbers from 0 to {v - 1}. "
                f"Got {vertices!r}."
            )
        values, vectors = self._spectrum  # type: ignore[attr-defined]
        xp = self.beta.__array_namespace__() if arrays.is_traced(self.beta) else np
        return xp.asarray(vectors[index]) * xp.exp(-0.5 * self.beta * xp.asarray(values))

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        return P @ Q.T

    def _diag(self, P: Any) -> Any:
        return arrays.squares(P)
