"""Kernels of which optimisers may change less than they would."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from corollary.core.schema import Array, Schema
from corollary.kernels._differentiation import Pullback
from corollary.kernels._tiles import GramTiles
from corollary.kernels.algebra._wrapper import KERNEL, Wrapper
from corollary.kernels.base import Kernel


@dataclass(frozen=True, eq=False)
class Restricted(Wrapper):
    """The same kernel, whose hyper-parameters have other bounds or are fixed.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    low : array-like of shape (p,)
        Smallest values, one for each hyper-parameter of ``kernel.parameters()``.
    high : array-like of shape (p,)
        Largest values; where they are the smallest, the hyper-parameter is fixed at what the
        kernel has.

    Examples
    --------
    >>> from corollary.kernels import RBF, Restricted
    >>> kernel = Restricted(2.0 * RBF(3.0), low=[2.0, 0.1], high=[2.0, 10.0])
    >>> kernel.parameters().names, kernel.with_parameters([0.0]).kernel
    (('kernel.kernel.length_scale',), Scaled(scale=2.0, kernel=RBF(length_scale=1.0)))
    """

    kernel: Kernel
    low: Any
    high: Any
    _schema = Schema(kernel=KERNEL, low=Array("f", "p"), high=Array("f", "p"))

    def __post_init__(self) -> None:
        super().__post_init__()
        needed = sum(1 for _ in self.kernel._leaves(""))
        for name in ("low", "high"):
            bounds = np.array(getattr(self, name), dtype=np.float64)
            if bounds.shape != (needed,) or not np.isfinite(bounds).all():
                raise ValueError(
                    f"The {name!r} parameter of Restricted must have one finite number for each of "
                    f"the {needed} hyper-parameters of the kernel. Got {getattr(self, name)!r}."
                )
            bounds.flags.writeable = False
            object.__setattr__(self, name, bounds)
        if np.any(self.low > self.high):
            raise ValueError(
                "Restricted needs bounds that enclose something. Got a smallest value above the "
                f"largest one: low={self.low.tolist()}, high={self.high.tolist()}."
            )

    @property
    def _free(self) -> np.ndarray:
        return np.asarray(self.low < self.high)

    def _leaves(self, prefix: str) -> Any:
        leaves = self.kernel._leaves(f"{prefix}kernel.")
        for (name, value, meta), low, high in zip(leaves, self.low, self.high):
            if low < high:
                yield name, value, {**meta, "low": float(low), "high": float(high)}

    def _rebuilt(self, vector: Any, at: int) -> tuple[Self, int]:
        free, values = self._free, list(self.kernel.parameters().vector)
        for i in np.flatnonzero(free):
            values[i], at = vector[at], at + 1
        whole = vector.__array_namespace__().stack(values) if values else vector[:0]
        return type(self)(self.kernel._rebuilt(whole, 0)[0], self.low, self.high), at

    def gram_with_gradient(self, X: Any, Y: Any = None) -> tuple[np.ndarray, Pullback]:
        """Return the kernel inside, differentiated in what is free."""
        K, pull = self.kernel.gram_with_gradient(X, Y)

        def free(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            by_parameters, by_points = pull(W)
            return by_parameters[self._free], by_points

        return K, free

    def diag_gradient(self, X: Any, weight: np.ndarray) -> np.ndarray:
        """Return the gradient of the kernel inside in what is free."""
        return self.kernel.diag_gradient(X, weight)[self._free]

    def tiles(self, X: Any) -> GramTiles:
        """Return the tiles of the kernel inside."""
        return self.kernel.tiles(X)

    def spectral_mass(self) -> float:
        """Return the mass of the kernel inside."""
        return self.kernel.spectral_mass()

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return self.kernel._spectral_sample(n, d, rng)
