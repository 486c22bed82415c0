"""Kernels of mapped inputs, which users write ``k.with_inputs(map)``."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.schema import Instance, Schema
from corollary.kernels._differentiation import NO_POINTS, Pullback
from corollary.kernels.algebra._wrapper import KERNEL, Wrapper
from corollary.kernels.base import Kernel
from corollary.kernels.vectors.dot_product import Linear


@dataclass(frozen=True, eq=False)
class InputMap(Wrapper):
    """A kernel of mapped inputs, ``k(map(x), map(y))``.

    Parameters
    ----------
    kernel : Kernel
        The kernel on what the map returns.
    map : callable
        ``map(X)`` takes n inputs of any kind and returns n of those the kernel takes. The kernel
        can be saved if the map is an object that can.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import RBF
    >>> warped = RBF().with_inputs(np.log)
    >>> round(warped([1.0], [np.e]), 6)  # exp(-1/2)
    0.606531
    """

    kernel: Kernel
    map: Callable[[Any], Any]
    _schema = Schema(kernel=KERNEL, map=Instance("__call__"))

    stationary = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.map):
            raise TypeError(f"The 'map' of InputMap must be callable. Got {self.map!r} instead.")

    def _single(self, x: Any) -> Any:
        # Numbers are rows of numbers; strings, graphs and the like are taken as they are.
        array = x if hasattr(x, "__array_namespace__") else np.asarray(x)
        numeric = not isinstance(array, np.ndarray) or array.dtype.kind in "biuf"
        return array.__array_namespace__().reshape(array, (1, -1)) if numeric else [x]

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        if not hasattr(X, "__array_namespace__") and np.asarray(X).dtype.kind in "biuf":
            X = np.asarray(X)
        if Y is not None and not hasattr(Y, "__array_namespace__"):
            Y = np.asarray(Y) if np.asarray(Y).dtype.kind in "biuf" else Y
        return self.kernel._prepare(self.map(X), None if Y is None else self.map(Y))

    def gram_with_gradient(self, X: Any, Y: Any = None) -> tuple[np.ndarray, Pullback]:
        """See :meth:`Kernel.gram_with_gradient`; the map does not depend on the parameters."""
        if Y is not None:
            return super().gram_with_gradient(X, Y)
        K, pull = self.kernel.gram_with_gradient(self.map(X))
        return K, lambda W: (pull(W)[0], NO_POINTS)

    def diag_gradient(self, X: Any, weight: np.ndarray) -> np.ndarray:
        """Return the gradient of the kernel inside at the mapped inputs."""
        return self.kernel.diag_gradient(self.map(X), weight)


def from_feature_map(map: Callable[[Any], Any]) -> Kernel:
    """Return the kernel ``<map(x), map(y)>`` of a feature map.

    Parameters
    ----------
    map : callable
        ``map(X)`` takes n inputs and returns an array of shape (n, N).

    Returns
    -------
    kernel : Kernel
        The linear kernel of the features. An orthogonal change of the features gives the same
        kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import from_feature_map
    >>> kernel = from_feature_map(lambda X: np.hstack([X, X**2]))
    >>> kernel([1.0], [3.0])
    12.0
    """
    return Linear().with_inputs(map)
