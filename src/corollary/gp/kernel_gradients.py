r"""Gradients of :math:`\langle W,K_\theta\rangle` in the hyper-parameters of a kernel.

All a gradient of the evidence needs from a kernel is :math:`\sum_{ij}W_{ij}\,\partial K_{ij}` for
one matrix W. For a function f of :math:`r^2=\sum_k(x_{ik}-x_{jk})^2/\ell_k^2` and the symmetric
matrix :math:`M=W\circ f'(r^2)`,

.. math:: \frac{\partial\langle W,K\rangle}{\partial\log\ell_k}
   = -\frac{2}{\ell_k^2}\sum_{ij}M_{ij}(x_{ik}-x_{jk})^2
   = -\frac{4}{\ell_k^2}\Bigl(\sum_i x_{ik}^2 (M1)_i-\sum_i x_{ik}(Mx_k)_i\Bigr),

one matrix product for all length scales, and no array larger than the Gram matrix. Sums, products
and multiples follow by the chain rule. Any other kernel is differentiated by JAX, in double
precision and with rows padded to few sizes so that new data rarely compile anew; one that JAX
cannot trace is differentiated by differences.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from corollary.kernels import RBF, Constant, Kernel, Matern, Product, RationalQuadratic, Scaled, Sum
from corollary.kernels.stationary import squared_distances

Pullback = Callable[[np.ndarray], np.ndarray]


def gram_with_gradient(kernel: Kernel, X: np.ndarray) -> tuple[np.ndarray, Pullback]:
    r"""Return the Gram matrix and a function that gives gradients of its inner products.

    Parameters
    ----------
    kernel : Kernel
        A kernel on vectors.
    X : ndarray of shape (n, d)
        Inputs.

    Returns
    -------
    K : ndarray of shape (n, n)
        The Gram matrix.
    gradient : callable
        ``gradient(W)`` for a symmetric matrix W is the gradient of
        :math:`\sum_{ij}W_{ij}K_{ij}` in the vector of ``kernel.with_parameters``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import gram_with_gradient
    >>> from corollary.kernels import RBF
    >>> K, gradient = gram_with_gradient(2.0 * RBF(), np.array([[0.0], [1.0]]))
    >>> gradient(np.ones((2, 2))).round(6)  # in log 2 and in the log of the length scale
    array([6.426123, 2.426123])
    """
    if type(kernel) is Sum:
        parts = [gram_with_gradient(part, X) for part in kernel.terms]
        K = parts[0][0].copy()
        for value, _ in parts[1:]:
            K += value
        return K, lambda W: np.concatenate([pull(W) for _, pull in parts])
    if type(kernel) is Product:
        return _product(kernel, X)
    if type(kernel) is Scaled:
        inner, pull = gram_with_gradient(kernel.kernel, X)
        scale = kernel.scale

        def scaled(W: np.ndarray) -> np.ndarray:
            return scale * np.concatenate([[_inner(W, inner)], pull(W)])

        return scale * inner, scaled
    if type(kernel) is Constant:
        K = kernel.gram(X)
        return K, lambda W: np.array([kernel.value * W.sum()])
    if type(kernel) in (RBF, Matern, RationalQuadratic):
        return _radial(kernel, X)
    return kernel.gram(X), lambda W: _traced(kernel, X, W)


def _inner(A: np.ndarray, B: np.ndarray) -> float:
    return float(np.vdot(A, B))


def _product(kernel: Product, X: np.ndarray) -> tuple[np.ndarray, Pullback]:
    parts = [gram_with_gradient(part, X) for part in kernel.factors]
    K = parts[0][0].copy()
    for value, _ in parts[1:]:
        K *= value

    def pull(W: np.ndarray) -> np.ndarray:
        gradients = []
        for i, (_, inner) in enumerate(parts):
            others = W.copy()
            for j, (value, _) in enumerate(parts):
                if j != i:
                    others *= value
            gradients.append(inner(others))
        return np.concatenate(gradients)

    return K, pull


def _radial(kernel: Any, X: np.ndarray) -> tuple[np.ndarray, Pullback]:
    K = kernel.gram(X)

    def pull(W: np.ndarray) -> np.ndarray:
        P, _ = kernel._prepare(X, None)
        Z = P[0]
        slope, more = _slope(kernel, K, P, W)
        slope *= W
        # One product gives the row sums too.
        MZ = slope @ np.column_stack([np.ones(len(Z)), Z])
        along = -4.0 * (
            np.einsum("ij,i,ij->j", Z, MZ[:, 0], Z) - np.einsum("ij,ij->j", Z, MZ[:, 1:])
        )
        scales = along if np.ndim(kernel.length_scale) else np.array([along.sum()])
        return np.concatenate([scales, more])

    return K, pull


def _slope(
    kernel: Any, K: np.ndarray, P: Any, W: np.ndarray, Q: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return f'(r^2) as a new array, and the gradient in parameters that are not length scales."""
    none = np.empty(0)
    if type(kernel) is RBF:
        return -0.5 * K, none
    r2 = squared_distances(P, P if Q is None else Q, Q is None)
    if type(kernel) is RationalQuadratic:
        base = 1.0 + 0.5 * r2 / kernel.alpha
        # k = exp(-a log(1 + r2 / 2a)), differentiated in log a.
        change = kernel.alpha * K * ((1.0 - 1.0 / base) - np.log(base))
        return -0.5 * K / base, np.array([_inner(W, change)])
    r = np.sqrt(r2)
    if kernel.nu == 0.5:
        # The slope is infinite at distance zero, where it multiplies zero.
        return np.where(r > 0, -0.5 * K / np.where(r > 0, r, 1.0), 0.0), none
    root = np.sqrt(2.0 * kernel.nu)
    factor = -1.5 if kernel.nu == 1.5 else -5.0 / 6.0 * (1.0 + root * r)
    return factor * np.exp(-root * r), none


def _traced(kernel: Kernel, X: np.ndarray, W: np.ndarray) -> np.ndarray:
    from corollary.core.training import bucket

    vector = kernel.parameters().vector
    if not len(vector):
        return vector
    n, size = len(X), bucket(len(X), minimum=64)
    padded = np.concatenate([X, np.broadcast_to(X[:1], (size - n, X.shape[1]))])
    weights = np.zeros((size, size))
    weights[:n, :n] = W
    # Equal in everything but the numbers: one compiled function for one form of kernel.
    form = kernel.with_parameters(np.zeros(len(vector)))
    import jax

    with jax.enable_x64(True):
        try:
            return np.array(_compiled(form)(vector, padded, weights))
        except (TypeError, AttributeError, NotImplementedError, jax.errors.JAXTypeError):
            pass  # the kernel, or the map inside it, is not written for JAX
    return _differences(kernel, vector, X, W)


@lru_cache(maxsize=32)
def _compiled(form: Kernel) -> Any:
    import jax

    def product(vector: Any, X: Any, W: Any) -> Any:
        return (W * form.with_parameters(vector).gram(X)).sum()

    return jax.jit(jax.grad(product))


def _differences(kernel: Kernel, vector: np.ndarray, X: np.ndarray, W: np.ndarray) -> np.ndarray:
    step = 1e-5
    gradient = np.empty(len(vector))
    for i in range(len(vector)):
        ends = []
        for sign in (1.0, -1.0):
            moved = vector.copy()
            moved[i] += sign * step
            ends.append(_inner(W, kernel.with_parameters(moved).gram(X)))
        gradient[i] = (ends[0] - ends[1]) / (2.0 * step)
    return gradient
