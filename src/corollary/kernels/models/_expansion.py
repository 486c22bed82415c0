"""What functions ``f(x) = sum_i a_i k(x_i, x)`` of the training rows share."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from corollary.core.estimator import Learner, fitted
from corollary.core.parallel import row_products
from corollary.core.schema import Array, Instance, Nullable, Sparse
from corollary.kernels.base import Kernel
from corollary.kernels.named import KernelName, chosen_kernel

KernelOrMatrix = Kernel | Literal[KernelName, "precomputed"] | Callable[..., Any]
# Predictions hold this many kernel values at a time.
VALUES_AT_ONCE = 2**24


class KernelExpansion(Learner):
    """A function of training rows; subclasses declare ``kernel`` and its three parameters."""

    dual_coef_: np.ndarray = fitted(Array("f", "n"))
    X_fit_: Any = fitted(Nullable(Array("f", "n", "d") | Sparse("n", "d")))
    kernel_: Any = fitted(Nullable(Instance("gram")))

    _rows = {"accept_sparse": "csr"}

    def _fits_together(self) -> str | None:
        """Say what is wrong with a loaded model's kernel and the rows it compares with, or None."""
        if (self.kernel_ is None) != (self.X_fit_ is None):
            return "the kernel and its rows must both be there, or neither"
        precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        if (self.kernel_ is None) != precomputed:
            return "a kernel must be there unless the matrix is precomputed"
        if self.kernel_ is None and len(self.dual_coef_) != self.n_features_in_:
            return "a precomputed matrix has as many columns as there are coefficients"
        return None if self.kernel_ is None else self.kernel_.problem_with(self.X_fit_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    def _training_gram(self, X: Any) -> np.ndarray:
        """Return the Gram matrix of training, and keep the kernel and what predictions need."""
        self.kernel_ = self.X_fit_ = None
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            K = X.toarray() if hasattr(X, "toarray") else X
            if K.shape[0] != K.shape[1]:
                raise ValueError(
                    "With kernel='precomputed', X must be the square Gram matrix of the training "
                    f"inputs. Got shape {K.shape}."
                )
            if not np.allclose(K, K.T, rtol=0, atol=1e-8 * np.abs(K).max(initial=0.0)):
                raise ValueError(
                    "With kernel='precomputed', X must be a symmetric Gram matrix. Got a matrix "
                    "that differs from its transpose."
                )
            return K
        self.kernel_ = chosen_kernel(self, X.shape[1])
        self.X_fit_ = X
        return self.kernel_.gram(X)

    def _expand(self, X: Any) -> np.ndarray:
        """Return the function's values at validated rows, a block of rows at a time."""
        if self.kernel_ is None:
            return row_products(X, self.dual_coef_)
        step = max(1, VALUES_AT_ONCE // max(1, len(self.dual_coef_)))
        starts = range(0, X.shape[0], step)
        parts = (self.kernel_.gram(X[i : i + step], self.X_fit_) for i in starts)
        return np.concatenate([row_products(K, self.dual_coef_) for K in parts])
