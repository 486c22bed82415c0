"""The default road to the gradients of a kernel: JAX, or differences where JAX cannot follow."""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from corollary.kernels.base import Kernel

# From the weights of an inner product with the Gram matrix to its gradients in the kernel's
# parameters and in the points.
Pullback = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
# The gradient in points that do not move; it can be added to that of others.
NO_POINTS = np.zeros((0, 1))


def gram_gradient(kernel: "Kernel", X: Any, Y: Any, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradients of ``<W, k(X, Y)>`` in the parameters, and in X if Y is not None."""
    vector = kernel.parameters().vector
    # Graphs, vertices and strings do not move by a little.
    moves = Y is not None and np.asarray(X).dtype.kind == "f" and np.ndim(X) == 2
    if not len(vector) and not moves:
        return vector, NO_POINTS
    if Y is None:
        traced = _in_jax(_compiled_gram, kernel, vector, _padded(X), _widened(_widened(W).T).T)
        if traced is not None:
            return np.array(traced), NO_POINTS
    elif moves:
        X = np.asarray(X)
        traced = _in_jax(_compiled_cross, kernel, vector, X, _padded(Y), _widened(W))
        if traced is not None:
            return np.array(traced[0]), np.array(traced[1])

    def inner(flat: np.ndarray) -> float:
        moved = flat[len(vector) :].reshape(X.shape) if moves else X
        return float(np.vdot(W, kernel.with_parameters(flat[: len(vector)]).gram(moved, Y)))

    start = np.concatenate([vector, X.ravel()]) if moves else vector
    gradient = _differences(inner, start)
    by_points = gradient[len(vector) :].reshape(X.shape) if moves else NO_POINTS
    return gradient[: len(vector)], by_points


def diag_gradient(kernel: "Kernel", X: Any, weight: np.ndarray) -> np.ndarray:
    """Return the gradient of the weighted sum of the diagonal in the parameters."""
    vector = kernel.parameters().vector
    if not len(vector):
        return vector
    traced = _in_jax(_compiled_diagonal, kernel, vector, _padded(X), _widened(weight[None])[0])
    if traced is not None:
        return np.array(traced)
    return _differences(lambda v: float(weight @ kernel.with_parameters(v).diag(X)), vector)


def _padded(X: Any) -> np.ndarray:
    """Repeat the first row up to one of few numbers of rows: one compiled function for each."""
    from corollary.core.training import bucket

    X = np.asarray(X)
    return X[np.r_[: len(X), np.zeros(bucket(len(X), minimum=64) - len(X), dtype=int)]]


def _widened(W: np.ndarray) -> np.ndarray:
    """Give the columns of padded rows no weight."""
    from corollary.core.training import bucket

    n = W.shape[1]
    return np.pad(W, [(0, 0), (0, bucket(n, minimum=64) - n)])


def _in_jax(compiled: Any, kernel: "Kernel", vector: np.ndarray, *arrays: np.ndarray) -> Any:
    """Differentiate in double precision; None if the kernel is not written for JAX."""
    from corollary.core.xla import jax

    # Equal in everything but the numbers: one compiled function for one form of kernel.
    form = kernel.with_parameters(np.zeros(len(vector)))
    with jax.enable_x64(True):
        try:
            return compiled(form)(vector, *arrays)
        except (TypeError, AttributeError, NotImplementedError, jax.errors.JAXTypeError):
            return None


@lru_cache(maxsize=32)
def _compiled_gram(form: "Kernel") -> Any:
    from corollary.core.xla import jax

    def product(vector: Any, X: Any, W: Any) -> Any:
        return (W * form.with_parameters(vector).gram(X)).sum()

    return jax.jit(jax.grad(product))


@lru_cache(maxsize=32)
def _compiled_cross(form: "Kernel") -> Any:
    from corollary.core.xla import jax

    def product(vector: Any, X: Any, Y: Any, W: Any) -> Any:
        return (W * form.with_parameters(vector).gram(X, Y)).sum()

    return jax.jit(jax.grad(product, argnums=(0, 1)))


@lru_cache(maxsize=32)
def _compiled_diagonal(form: "Kernel") -> Any:
    from corollary.core.xla import jax

    def total(vector: Any, X: Any, weight: Any) -> Any:
        return (weight * form.with_parameters(vector).diag(X)).sum()

    return jax.jit(jax.grad(total))


def _differences(function: Callable[[np.ndarray], float], at: np.ndarray) -> np.ndarray:
    step = 1e-5
    gradient = np.empty(len(at))
    for i in range(len(at)):
        moved = at.copy()
        moved[i] += step
        above = function(moved)
        moved[i] -= 2.0 * step
        gradient[i] = (above - function(moved)) / (2.0 * step)
    return gradient
