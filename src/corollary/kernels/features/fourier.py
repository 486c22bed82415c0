"""Random features: finitely many random numbers whose inner products estimate a kernel.

With K frequencies the error of one kernel value falls as ``1 / sqrt(K)``; :func:`feature_count`
says how many a wanted error needs. A linear model on the features then costs what K features
cost, whatever the number of rows.
"""

import math
from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np

from corollary.core.estimator import Count, check_squares, fitted
from corollary.core.parallel import row_products
from corollary.core.schema import Array, Number, Optional
from corollary.kernels import _arrays as arrays
from corollary.kernels._arrays import generator
from corollary.kernels.base import Kernel
from corollary.kernels.features._base import FeatureMap, Seed
from corollary.kernels.vectors.radial import RBF


def fourier_features(
    X: Any, frequencies: Any, *, mass: float = 1.0, form: str = "cos_sin", phases: Any = None
) -> np.ndarray:
    """Return random Fourier features for given frequencies.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Inputs.
    frequencies : array-like of shape (K, d)
        Draws w from the normalised spectral measure.
    mass : float, default=1.0
        Total mass Z of the spectral measure, ``k(x, x)``.
    form : {"cos_sin", "phase", "complex"}, default="cos_sin"
        ``sqrt(Z/K) (cos <w, x>, sin <w, x>)`` with 2K columns;
        ``sqrt(2Z/K) cos(<w, x> + b)`` with K columns; or ``sqrt(Z/K) exp(i <w, x>)``.
    phases : array-like of shape (K,) or None, default=None
        Phases b, uniform on [0, 2 pi), which the form "phase" needs.

    Returns
    -------
    features : ndarray of shape (n, K) or (n, 2K)
        Complex for the form "complex", whose inner product is ``<a, b> = sum a conj(b)``.

    Notes
    -----
    All are unbiased. The forms "cos_sin" and "complex" have squared norm Z exactly; the variance
    of one frequency is ``Z^2/2 + Z k(2D)/2 - k(D)^2`` at difference D, and larger by ``Z^2/2``
    for the form "phase".

    Examples
    --------
    >>> from corollary.kernels import fourier_features, RBF
    >>> w = RBF().spectral_sample(50, 2, random_state=0)
    >>> features = fourier_features([[0.3, 1.0]], w)
    >>> round(float((features**2).sum()), 12)
    1.0
    """
    if form not in ("cos_sin", "phase", "complex"):
        raise ValueError(
            "The 'form' parameter of fourier_features must be a str among {'complex', 'cos_sin', "
            f"'phase'}}. Got {form!r} instead."
        )
    X = np.asarray(arrays.vectors("fourier_features", X))
    W = np.asarray(arrays.vectors("fourier_features", frequencies))
    n, K = len(X), len(W)
    if form == "phase" and (phases is None or np.shape(phases) != (K,)):
        raise ValueError(f"The form 'phase' needs one phase for each of the {K} frequencies.")
    features = np.empty(
        (n, 2 * K if form == "cos_sin" else K), complex if form == "complex" else float
    )
    size = math.sqrt((2 if form == "phase" else 1) * mass / max(1, K))

    def work(a: int, b: int) -> None:
        angles = row_products(X[a:b], W.T)
        if form == "phase":
            angles += phases
            np.cos(angles, out=features[a:b])
        elif form == "complex":
            np.exp(1j * angles, out=features[a:b])
        else:
            np.cos(angles, out=features[a:b, :K])
            np.sin(angles, out=features[a:b, K:])
        features[a:b] *= size

    arrays.in_row_blocks(work, n, K)
    return features


class RandomFourierFeatures(FeatureMap):
    """Random Fourier features of a stationary kernel.

    Parameters
    ----------
    kernel : Kernel or None, default=None
        A kernel with a spectral measure: RBF, Laplacian, Matern, RationalQuadratic, Periodic,
        their sums, products and multiples. None for ``RBF()``.
    n_components : int, default=100
        Number K of frequencies; see :func:`feature_count`.
    form : {"cos_sin", "phase"}, default="cos_sin"
        Cosine and sine of every frequency (2K columns, smaller variance), or one cosine with a
        random phase (K columns, as scikit-learn's ``RBFSampler``).
    random_state : int, Generator, RandomState or None, default=None
        Seed or generator of the frequencies.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_components, n_features)
        Draws from the spectral measure.
    phases_ : ndarray of shape (n_components,)
        Phases; only for the form "phase".
    mass_ : float
        Mass ``k(x, x)`` of the spectral measure.

    See Also
    --------
    fourier_features : The features themselves.
    Nystroem : Features that look at the data.

    Notes
    -----
    Guarantee: for one pair of inputs the inner product misses the kernel by ``epsilon`` or more
    with probability at most ``2 exp(-K epsilon^2 / (2 Z^2))`` ("cos_sin"); simulated in
    ``tests/kernels/test_random_features.py``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import RandomFourierFeatures, RBF
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> Z = RandomFourierFeatures(RBF(2.0), n_components=2000, random_state=0).fit_transform(X)
    >>> Z.shape
    (20, 4000)
    >>> bool(np.abs(Z @ Z.T - RBF(2.0).gram(X)).max() < 0.1)
    True
    """

    kernel: Kernel | None = None
    _: KW_ONLY
    n_components: Count = 100
    form: Literal["cos_sin", "phase"] = "cos_sin"
    random_state: Seed = None

    frequencies_: np.ndarray = fitted(Array("f", "k", "d"))
    phases_: np.ndarray = fitted(Optional(Array("f", "k")))
    mass_: float = fitted(Number(0))

    def _fits_together(self) -> str | None:
        if (self.form == "phase") == hasattr(self, "phases_"):
            return None
        return "phases and form do not belong together"

    def _fit(self, X: np.ndarray, sample_weight: np.ndarray | None) -> None:
        kernel = RBF() if self.kernel is None else self.kernel
        rng = generator(self.random_state)
        self.mass_ = float(kernel.spectral_mass())
        self.frequencies_ = np.asarray(
            kernel.spectral_sample(self.n_components, X.shape[1], rng), dtype=float
        )
        if self.form == "phase":
            self.phases_ = rng.uniform(0.0, 2.0 * math.pi, size=self.n_components)
        elif hasattr(self, "phases_"):
            del self.phases_

    def _transform(self, X: np.ndarray) -> np.ndarray:
        check_squares(self, X)  # or angles could be infinite
        phases = getattr(self, "phases_", None)
        return fourier_features(
            X, self.frequencies_, mass=self.mass_, form=self.form, phases=phases
        )

    @property
    def _n_features_out(self) -> int:
        return len(self.frequencies_) * (2 if self.form == "cos_sin" else 1)
