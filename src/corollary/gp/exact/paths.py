r"""Draws from a posterior that can be evaluated anywhere, any number of times.

Matheron's rule turns a draw f of the prior into one of the posterior,
:math:`f(\cdot)+k(\cdot,X)(K+\sigma^2I)^{-1}(y-f(X)-\epsilon)`, with :math:`\epsilon` fresh noise.
The prior draw is a sum of random waves whose frequencies follow the kernel's spectral measure; the
correction is exact. Away from the data the error is that of the waves, of order one over the root
of their number.
"""

from typing import Any

import numpy as np

from corollary.gp.exact._factor import Factor, solve
from corollary.kernels import Kernel


class PosteriorPaths:
    """Functions drawn from the posterior of a Gaussian process.

    Parameters
    ----------
    kernel : Kernel
        A stationary kernel with a spectral measure.
    X : ndarray of shape (n, d)
        Observed points.
    y : ndarray of shape (n,)
        Observed values, with the prior mean subtracted.
    noise : ndarray of shape (n,)
        Their noise variances.
    factor : Factor
        Of the kernel matrix with noise.
    n_paths : int, default=1
        How many functions.
    n_frequencies : int, default=1000
        Random waves in each; every frequency carries a sine and a cosine.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.
    shift : float, default=0.0
        Added to the values of every path: the mean of the targets.
    scale : float, default=1.0
        Multiplies the values before: the scale of the targets.

    See Also
    --------
    GaussianProcessRegressor.sample_paths : How these are usually made.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import GaussianProcessRegressor
    >>> X = np.linspace(0.0, 5.0, 20)[:, None]
    >>> model = GaussianProcessRegressor(random_state=0).fit(X, np.sin(X).ravel())
    >>> paths = model.sample_paths(3, random_state=0)
    >>> paths(np.array([[2.5], [2.6]])).shape
    (2, 3)
    """

    def __init__(
        self,
        kernel: Kernel,
        X: np.ndarray,
        y: np.ndarray,
        noise: np.ndarray,
        factor: Factor,
        *,
        n_paths: int = 1,
        n_frequencies: int = 1000,
        random_state: Any = None,
        shift: float = 0.0,
        scale: float = 1.0,
    ) -> None:
        from sklearn.utils import check_random_state

        if n_paths < 1 or n_frequencies < 1:
            raise ValueError(
                "PosteriorPaths needs at least one path and one frequency. "
                f"Got n_paths={n_paths} and n_frequencies={n_frequencies}."
            )
        rng = check_random_state(random_state)
        self.kernel, self.X, self.shift, self.scale = kernel, X, shift, scale
        self._frequencies = kernel.spectral_sample(n_frequencies, X.shape[1], rng)
        amplitude = np.sqrt(kernel.spectral_mass() / n_frequencies)
        self._weights = amplitude * rng.standard_normal((2 * n_frequencies, n_paths))
        errors = np.sqrt(noise + factor.jitter)[:, None] * rng.standard_normal((len(X), n_paths))
        self._correction = solve(factor, y[:, None] - self._prior(X) - errors)

    def _prior(self, X: np.ndarray) -> np.ndarray:
        phase = X @ self._frequencies.T
        return np.concatenate([np.cos(phase), np.sin(phase)], axis=1) @ self._weights

    def __call__(self, X: Any) -> np.ndarray:
        """Evaluate the functions."""
        X = np.asarray(X, dtype=float)
        if X.ndim != 2 or X.shape[1] != self.X.shape[1]:
            raise ValueError(
                f"Paths need rows of {self.X.shape[1]} features. Got an array of shape {X.shape}."
            )
        values = self._prior(X) + self.kernel.gram(X, self.X) @ self._correction
        return self.shift + self.scale * values
