"""Kernel objects of scikit-learn inside our processes: which they are, and their hyper-parameters.

A process that was given such an object gives one back as ``kernel_``, and takes and returns
hyper-parameters in its order and on its scale, ``kernel_.theta``.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np

from corollary.core.compat import HasMethods
from corollary.kernels import Kernel, as_kernel

#: A kernel of ours, or of scikit-learn's Gaussian processes.
Covariance = Kernel | Annotated[Any, HasMethods(["diag", "clone_with_theta"])]
Optimizer = Literal["fmin_l_bfgs_b"] | Callable[..., Any] | None
# What is added to the diagonal beside kernel objects of scikit-learn, as there.
NUGGET = 1e-10


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


def separates_equal_rows(kernel: Kernel, X: np.ndarray) -> bool:
    """Say whether a kernel has noise that belongs to rows, so that equal rows are not one."""
    K = kernel.gram(np.repeat(X[:1], 2, axis=0))
    return bool(K[0, 1] != K[0, 0])
