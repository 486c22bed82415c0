"""Kernel objects of scikit-learn inside our processes: which they are, and their hyper-parameters.

A process that was given such an object gives one back as ``kernel_``, and takes and returns
hyper-parameters in its order and on its scale, ``kernel_.theta``.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from scipy.linalg import block_diag
from scipy.optimize import minimize
from sklearn.utils import check_random_state

from corollary.core.compat import HasMethods
from corollary.core.parallel import one_blas_thread
from corollary.kernels import Kernel, as_kernel

#: A kernel of ours, or of scikit-learn's Gaussian processes.
Covariance = Kernel | Annotated[Any, HasMethods(["diag", "clone_with_theta"])]
Optimizer = Literal["fmin_l_bfgs_b"] | Callable[..., Any] | None
# What is added to the diagonal beside kernel objects of scikit-learn, as there.
NUGGET = 1e-10
# Rows of which another search costs next to nothing.
FEW = 500


def is_foreign(kernel: Any) -> bool:
    """Say whether a kernel is an object of scikit-learn's."""
    return kernel is not None and not isinstance(kernel, Kernel)


def slopes(theirs: Any) -> np.ndarray:
    """Return the derivatives of our hyper-parameters in theirs, of shape (theirs, ours).

    Both are logarithms, each of ours a whole or half multiple of one of theirs.
    """
    theta = np.array(theirs.theta)

    def vector(theta: np.ndarray) -> np.ndarray:
        return as_kernel(theirs.clone_with_theta(theta)).parameters().vector

    here = vector(theta)
    rows = [vector(theta + step) - here for step in np.eye(len(theta))]
    return np.round(2.0 * np.reshape(rows, (len(theta), len(here)))) / 2.0


def ask(
    optimizer: Callable[..., Any], theirs: Any, search: Any, seen: Any, start: Any = None
) -> np.ndarray:
    """Leave a search to a function, and return the hyper-parameters of ours that it found.

    The function is asked in terms of scikit-learn's object if there is one, from its own
    hyper-parameters or from where a search of ours has ended.
    """
    first = search.theta
    if is_foreign(theirs):
        scale, origin, bounds = slopes(theirs), np.array(theirs.theta), theirs.bounds
        first = as_kernel(theirs).parameters().vector
        if search.learn_noise:  # which their object does not know of
            scale, ends = block_diag(scale, 1.0), [[search.low[-1], search.high[-1]]]
            bounds = np.vstack([bounds, ends])
            first, origin = (np.append(v, search.theta[-1]) for v in (first, origin))
    else:
        scale, origin = np.eye(len(first)), first
        bounds = np.stack([search.low, search.high], axis=1)

    def at(theta: Any) -> np.ndarray:
        return first + (np.asarray(theta, dtype=float) - origin) @ scale

    def objective(theta: np.ndarray, eval_gradient: bool = True) -> Any:
        with one_blas_thread():
            value, gradient = search.evidence(seen, at(theta))
        return (-value, -scale @ gradient) if eval_gradient else -value

    if start is not None:
        shares = np.maximum(np.square(scale).sum(axis=1), 0.25)
        begin = np.clip(origin + scale @ (start - first) / shares, *bounds.T)
    else:
        begin = origin
    return at(optimizer(objective, begin, bounds)[0])


def climb_as_theirs(
    theirs: Any, n_rows: int, n_restarts: int, random_state: Any
) -> Callable[..., Any]:
    """Return scikit-learn's search: L-BFGS-B to where the gradient vanishes, from several starts.

    It begins where a search of ours has ended, of few rows also at the hyper-parameters of
    scikit-learn's object, and at random places between the bounds.
    """
    rng = check_random_state(random_state)

    def optimizer(objective: Any, theta: np.ndarray, bounds: np.ndarray) -> tuple[Any, float]:
        begins = [theta]
        if n_rows <= FEW:
            begins.append(np.append(theirs.theta, theta[len(theirs.theta) :]))
        begins += [rng.uniform(*bounds.T) for _ in range(n_restarts)]
        ends = [
            minimize(objective, begin, jac=True, bounds=bounds, method="L-BFGS-B")
            for begin in begins
        ]
        best = min(ends, key=lambda end: end.fun)
        return best.x, best.fun

    return optimizer


def refuse_compound(kernel: Any) -> None:
    """Raise for several kernels in one object, which is what a process of classes gives back."""
    from sklearn.gaussian_process.kernels import CompoundKernel

    if isinstance(kernel, CompoundKernel):
        raise ValueError(
            "kernel cannot be a CompoundKernel. Give GaussianProcessClassifier the kernel of one "
            "class; each class learns its own."
        )


def separates_equal_rows(kernel: Kernel, X: np.ndarray) -> bool:
    """Say whether a kernel has noise that belongs to rows, so that equal rows are not one."""
    K = kernel.gram(np.repeat(X[:1], 2, axis=0))
    return bool(K[0, 1] != K[0, 0])
