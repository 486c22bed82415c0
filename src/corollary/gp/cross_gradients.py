r"""Gradients of :math:`\langle W,k(Z,X)\rangle` in a kernel's hyper-parameters and in Z.

Inducing points Z are parameters too. With :math:`r_{ij}^2=\sum_k(z_{ik}-x_{jk})^2/\ell_k^2`, a
kernel :math:`f(r^2)` and :math:`M=W\circ f'(r^2)`,

.. math:: \frac{\partial\langle W,K\rangle}{\partial z_{ik}}
   = \frac{2}{\ell_k^2}\Bigl(z_{ik}(M1)_i-(Mx_k)_i\Bigr),\qquad
   \frac{\partial\langle W,K\rangle}{\partial\log\ell_k}
   = -\frac{2}{\ell_k^2}\sum_{ij}M_{ij}(z_{ik}-x_{jk})^2,

and one matrix product gives all of them. Other kernels are differentiated by JAX, or by differences
if JAX cannot trace them.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from corollary.gp.kernel_gradients import _slope
from corollary.kernels import RBF, Constant, Kernel, Matern, Product, RationalQuadratic, Scaled, Sum

CrossPullback = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
RADIAL = (RBF, Matern, RationalQuadratic)


def cross_gram_with_gradient(
    kernel: Kernel, Z: np.ndarray, X: np.ndarray
) -> tuple[np.ndarray, CrossPullback]:
    r"""Return a Gram matrix of two sets and a function that gives gradients of inner products.

    Parameters
    ----------
    kernel : Kernel
        A kernel on vectors.
    Z : ndarray of shape (m, d)
        Inputs that the gradient is wanted in.
    X : ndarray of shape (n, d)
        Other inputs, held fixed.

    Returns
    -------
    K : ndarray of shape (m, n)
        ``k(Z[i], X[j])``.
    gradient : callable
        ``gradient(W)`` returns the gradients of :math:`\sum_{ij}W_{ij}K_{ij}` in the vector of
        ``kernel.with_parameters`` and in Z.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import cross_gram_with_gradient
    >>> from corollary.kernels import RBF
    >>> Z, X = np.array([[0.0]]), np.array([[1.0]])
    >>> K, gradient = cross_gram_with_gradient(2.0 * RBF(), Z, X)
    >>> by_parameters, by_points = gradient(np.ones((1, 1)))
    >>> by_parameters.round(4), by_points.round(4)
    (array([1.2131, 1.2131]), array([[1.2131]]))
    """
    if type(kernel) is Scaled:
        inner, pull = cross_gram_with_gradient(kernel.kernel, Z, X)
        scale = kernel.scale

        def scaled(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            by_parameters, by_points = pull(W)
            first = [float(np.vdot(W, inner))]
            return scale * np.concatenate([first, by_parameters]), scale * by_points

        return scale * inner, scaled
    if type(kernel) is Sum:
        parts = [cross_gram_with_gradient(part, Z, X) for part in kernel.terms]
        return sum(K for K, _ in parts[1:]) + parts[0][0], lambda W: _gathered(
            [pull(W) for _, pull in parts]
        )
    if type(kernel) is Product:
        return _product(kernel, Z, X)
    if type(kernel) is Constant:
        value = kernel.value
        K = np.full((len(Z), len(X)), value)
        return K, lambda W: (np.array([value * W.sum()]), np.zeros_like(Z))
    if type(kernel) in RADIAL:
        return _radial(kernel, Z, X)
    return kernel.gram(Z, X), lambda W: _traced(kernel, Z, X, W)


def diagonal_gradient(kernel: Kernel, X: np.ndarray, weight: np.ndarray) -> np.ndarray:
    r"""Return the gradient of :math:`\sum_iw_ik(x_i,x_i)` in the hyper-parameters.

    Parameters
    ----------
    kernel : Kernel
        A kernel on vectors.
    X : ndarray of shape (n, d)
        Inputs.
    weight : ndarray of shape (n,)
        The numbers :math:`w_i`.

    Returns
    -------
    gradient : ndarray of shape (p,)
        In the vector of ``kernel.with_parameters``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import diagonal_gradient
    >>> from corollary.kernels import RBF
    >>> diagonal_gradient(2.0 * RBF(), np.zeros((3, 1)), np.ones(3))
    array([6., 0.])
    """
    if type(kernel) is Scaled:
        total = float(weight @ kernel.kernel.diag(X))
        inner = diagonal_gradient(kernel.kernel, X, weight)
        return kernel.scale * np.concatenate([[total], inner])
    if type(kernel) is Sum:
        return np.concatenate([diagonal_gradient(part, X, weight) for part in kernel.terms])
    if type(kernel) in RADIAL:  # one at distance zero, whatever the length scales
        return np.zeros(len(kernel.parameters().values))
    vector = kernel.parameters().vector
    if not len(vector):
        return vector
    traced = _in_jax(_compiled_diagonal, kernel, vector, X, weight)
    if traced is not None:
        return np.array(traced)
    return _differences(lambda v: float(weight @ kernel.with_parameters(v).diag(X)), vector)


def _gathered(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    by_points = parts[0][1].copy()
    for _, more in parts[1:]:
        by_points += more
    return np.concatenate([by_parameters for by_parameters, _ in parts]), by_points


def _product(kernel: Product, Z: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, CrossPullback]:
    parts = [cross_gram_with_gradient(part, Z, X) for part in kernel.factors]
    K = parts[0][0].copy()
    for value, _ in parts[1:]:
        K *= value

    def pull(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        gradients = []
        for i, (_, inner) in enumerate(parts):
            others = W.copy()
            for j, (value, _) in enumerate(parts):
                if j != i:
                    others *= value
            gradients.append(inner(others))
        return _gathered(gradients)

    return K, pull


def _radial(kernel: Any, Z: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, CrossPullback]:
    P, Q = kernel._prepare(Z, X)
    K = kernel._evaluate(P, Q, False)

    def pull(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        U, V = P[0], Q[0]
        slope, more = _slope(kernel, K, P, W, Q)
        slope *= W
        # One product gives the row sums too.
        MV = slope @ np.column_stack([np.ones(len(V)), V])
        rows, columns = MV[:, :1], np.ones(len(U)) @ slope
        along = -2.0 * (rows[:, 0] @ U**2 + columns @ V**2 - 2.0 * (U * MV[:, 1:]).sum(axis=0))
        scales = along if np.ndim(kernel.length_scale) else np.array([along.sum()])
        by_points = 2.0 * (rows * U - MV[:, 1:]) / kernel.length_scale
        return np.concatenate([scales, more]), by_points

    return K, pull


def _traced(
    kernel: Kernel, Z: np.ndarray, X: np.ndarray, W: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    from corollary.core.training import bucket

    vector = kernel.parameters().vector
    n, size = len(X), bucket(len(X), minimum=64)
    padded = np.concatenate([X, np.broadcast_to(X[:1], (size - n, X.shape[1]))])
    weights = np.zeros((len(Z), size))
    weights[:, :n] = W
    found = _in_jax(_compiled, kernel, vector, Z, padded, weights)
    if found is not None:
        return np.array(found[0]), np.array(found[1])

    def inner(flat: np.ndarray) -> float:
        moved = flat[len(vector) :].reshape(Z.shape)
        return float(np.vdot(W, kernel.with_parameters(flat[: len(vector)]).gram(moved, X)))

    gradient = _differences(inner, np.concatenate([vector, Z.ravel()]))
    return gradient[: len(vector)], gradient[len(vector) :].reshape(Z.shape)


def _in_jax(compiled: Any, kernel: Kernel, vector: np.ndarray, *arrays: np.ndarray) -> Any:
    """Differentiate in double precision; None if the kernel is not written for JAX."""
    import jax

    # Equal in everything but the numbers: one compiled function for one form of kernel.
    form = kernel.with_parameters(np.zeros(len(vector)))
    with jax.enable_x64(True):
        try:
            return compiled(form)(vector, *arrays)
        except (TypeError, AttributeError, NotImplementedError, jax.errors.JAXTypeError):
            return None


@lru_cache(maxsize=32)
def _compiled(form: Kernel) -> Any:
    import jax

    def product(vector: Any, Z: Any, X: Any, W: Any) -> Any:
        return (W * form.with_parameters(vector).gram(Z, X)).sum()

    return jax.jit(jax.grad(product, argnums=(0, 1)))


@lru_cache(maxsize=32)
def _compiled_diagonal(form: Kernel) -> Any:
    import jax

    def product(vector: Any, X: Any, weight: Any) -> Any:
        return (weight * form.with_parameters(vector).diag(X)).sum()

    return jax.jit(jax.grad(product))


def _differences(value: Callable[[np.ndarray], float], vector: np.ndarray) -> np.ndarray:
    step = 1e-5
    gradient = np.empty(len(vector))
    for i in range(len(vector)):
        ends = []
        for sign in (1.0, -1.0):
            moved = vector.copy()
            moved[i] += sign * step
            ends.append(value(moved))
        gradient[i] = (ends[0] - ends[1]) / (2.0 * step)
    return gradient
