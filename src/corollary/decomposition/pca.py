"""Principal component analysis."""

from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import fit_context
from corollary.core.estimator import (
    Count,
    CountFromZero,
    NoEffect,
    NonNegative,
    Probability,
    RandomSeed,
    fitted,
    remember_rows,
)
from corollary.core.fingerprint import Fingerprint
from corollary.core.parallel import row_products
from corollary.core.protocols import AffineMap
from corollary.core.schema import Array, Instance, Integer, Optional, Text
from corollary.core.summary import Moments, block_rows
from corollary.decomposition._spectrum import Rows, Spectrum, moments_of, of_moments
from corollary.decomposition._subspace_model import SubspaceModel
from corollary.decomposition.n_components import (
    components_for_share,
    minka_evidence,
    profile_likelihood,
)


class PCA(SubspaceModel):
    """Project rows on the directions along which they vary most.

    Parameters
    ----------
    n_components : int, float, {"mle", "profile"} or None, default=None
        How many directions to keep: a number; the least that explain more than a share in (0, 1) of
        the variance; Minka's choice (:func:`minka_evidence`), the elbow of the scree plot
        (:func:`profile_likelihood`), or all of them.
    copy : bool, default=True
        Not used: rows are never overwritten.
    whiten : bool, default=False
        Whether to divide projections by their standard deviations.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized"}, default="auto"
        "covariance_eigh" takes eigenvectors of the covariance, in one pass over the rows; "full"
        takes the singular value decomposition of all rows, which resolves directions whose spread
        is below 1e-8 of the largest; "arpack" and "randomized" find leading directions only.
        "auto" takes the covariance up to 1,000 features if there are at least as many rows;
        otherwise "full" up to 500 rows and features or if all directions are needed, and
        "randomized" if not.
    tol : float, default=0.0
        Tolerance of ARPACK; 0 for the precision of the machine.
    iterated_power : int or "auto", default="auto"
        Steps of the randomised solver after the first. "auto" ends as soon as the residual of every
        component is below 0.002 of the largest singular value, of which variances have an error of
        the second order, and after 6 steps at the latest.
    n_oversamples : int, default=10
        Further vectors of the randomised solver.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        Not used: the vectors of the randomised solver are always orthonormal.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the randomised solver and of ARPACK.
    centre : bool, default=True
        Whether to subtract the mean. Without it directions are those of the second moment about
        zero, divided by the total weight, and the transform subtracts nothing.

    Attributes
    ----------
    components_ : ndarray of shape (`n_components_`, `n_features_in_`)
        Directions of length one as rows, in descending order of variance, each with a positive
        entry of largest absolute value.
    explained_variance_ : ndarray of shape (`n_components_`,)
        Variances along them; sums of squares are divided by the total weight less one.
    explained_variance_ratio_ : ndarray of shape (`n_components_`,)
        Their shares of the variance of all directions.
    singular_values_ : ndarray of shape (`n_components_`,)
        Singular values of the centred rows.
    mean_ : ndarray of shape (`n_features_in_`,)
        What is subtracted from rows; zero if `centre` is False.
    n_components_ : int
        Number of components.
    n_samples_ : int
        Number of training rows with a positive weight.
    noise_variance_ : float
        Mean variance of the directions that were left out, for the density.
    svd_solver_ : str
        The solver that was used.
    moments_ : Moments
        Count, mean and scatter matrix of the rows, if the solver was "covariance_eigh"; further
        rows are added to them by :meth:`partial_fit`.

    Notes
    -----
    The mathematics on its own is :func:`leading_eigenspace`, the same in the feature space of a
    kernel :class:`KernelPCA`, and the Gaussian model behind the density :class:`ProbabilisticPCA`.
    Scikit-learn's class of this name has no weights, no `centre` and no `partial_fit`; its
    ``IncrementalPCA`` approximates what :meth:`partial_fit` computes exactly.

    References
    ----------
    K. Pearson (1901). On lines and planes of closest fit to systems of points in space.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.decomposition import PCA
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> pca = PCA(n_components=1).fit(X)
    >>> pca.explained_variance_ratio_.round(4)
    array([0.9924])
    >>> pca.transform([[2, 2]]).round(4)
    array([[2.7668]])
    """

    n_components: CountFromZero | Probability | Literal["mle", "profile"] | None = None
    _: KW_ONLY
    copy: NoEffect = True
    whiten: bool = False
    svd_solver: Literal["auto", "full", "covariance_eigh", "arpack", "randomized"] = "auto"
    tol: NonNegative = 0.0
    iterated_power: Literal["auto"] | CountFromZero = "auto"
    n_oversamples: Count = 10
    power_iteration_normalizer: NoEffect = "auto"
    random_state: RandomSeed = None
    centre: bool = True

    explained_variance_ratio_: np.ndarray = fitted(Array("f", "k"))
    singular_values_: np.ndarray = fitted(Array("f", "k", low=0))
    n_samples_: int = fitted(Integer(1))
    svd_solver_: str = fitted(Text())
    moments_: Any = fitted(Optional(Instance("merge", "covariance")))

    _rows: ClassVar[dict[str, Any]] = {
        "accept_sparse": ("csr", "csc"),
        "dtype": [np.float64, np.float32],
    }
    _training_rows: ClassVar[dict[str, Any]] = {"finite_squares": True}

    def _fits_together(self) -> str | None:
        moments = getattr(self, "moments_", None)
        if moments is None:
            return None
        same = isinstance(moments, Moments) and len(moments.mean) == self.n_features_in_
        return None if same else "its moments are of other features"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = self.svd_solver != "full"
        return tags

    def _fit(self, X: Any, sample_weight: np.ndarray | None) -> None:
        self.__dict__.pop("moments_", None)
        solver = self._solver(X)
        self._refuse_count(solver, X.shape)
        if solver == "covariance_eigh":
            self.moments_ = moments_of(X, sample_weight)
            spectrum = of_moments(self.moments_, self.centre)
        else:
            spectrum = self._decompose_rows(X, sample_weight, solver)
        self._keep(spectrum, solver, X.dtype)

    def _solver(self, X: Any) -> str:
        """Return the solver for rows of this shape."""
        if self.svd_solver == "full" and sparse.issparse(X):
            raise TypeError(
                "PCA with svd_solver='full' needs dense rows. Got a sparse matrix; take 'auto', "
                "'covariance_eigh', 'arpack' or 'randomized', or give X.toarray()."
            )
        if self.svd_solver != "auto":
            return self.svd_solver
        n, d = X.shape
        if d <= 1000 and n >= d:
            return "covariance_eigh"
        count = self.n_components
        few = isinstance(count, Integral) and 1 <= int(count) < 0.8 * min(n, d)
        if few and max(n, d) > 500:
            return "randomized"
        return "covariance_eigh" if sparse.issparse(X) else "full"

    def _refuse_count(self, solver: str, shape: tuple[int, int]) -> None:
        """Refuse numbers of components that rows of this shape, or a solver, do not have."""
        count, least, most = self.n_components, 0, min(shape)
        if solver in ("arpack", "randomized"):
            if not (count is None or isinstance(count, Integral)):
                raise ValueError(
                    f"PCA with svd_solver='{solver}' finds a number of components that is told. "
                    f"Got n_components={count!r}; take 'full' or 'covariance_eigh'."
                )
            least, most = 1, most - (solver == "arpack")
        elif isinstance(count, str) and shape[0] < shape[1]:
            raise ValueError(
                f"n_components={count!r} is only supported if n_samples >= n_features. Got "
                f"{shape[0]} rows of {shape[1]} features."
            )
        if isinstance(count, Integral) and not least <= count <= most:
            raise ValueError(
                f"n_components={count!r} must be between {least} and {most} for "
                f"min(n_samples, n_features)={min(shape)} and svd_solver='{solver}'."
            )

    def _decompose_rows(self, X: Any, sample_weight: np.ndarray | None, solver: str) -> Spectrum:
        """Decompose the rows themselves."""
        rows = Rows(X, sample_weight, centre=self.centre)
        if solver == "full":
            return rows.full()
        random = check_random_state(self.random_state)
        most = min(rows.n_rows, X.shape[1])
        k = most - (solver == "arpack") if self.n_components is None else int(self.n_components)
        if solver == "arpack":
            return rows.arpack(k, tol=self.tol, random=random)
        steps = None if self.iterated_power == "auto" else int(self.iterated_power)
        return rows.randomized(k, oversamples=self.n_oversamples, steps=steps, random=random)

    def _keep(self, spectrum: Spectrum, solver: str, dtype: Any = np.float64) -> None:
        """Choose how many directions to keep, and keep them in the precision of the rows."""
        values = spectrum.values
        k = _count(self.n_components, values, spectrum.freedom + self.centre)
        # The sum of what is left is more precise than a difference, where it is known.
        whole = len(values) == spectrum.rank
        left = float(values[k:].sum()) if whole else spectrum.total - float(values[:k].sum())
        self.n_components_, self.n_samples_, self.svd_solver_ = k, spectrum.n_rows, solver
        self.mean_ = spectrum.mean.astype(dtype)
        self.components_ = spectrum.vectors[:k].astype(dtype)
        self.explained_variance_ = values[:k].astype(dtype)
        total = spectrum.total if spectrum.total > 0 else 1.0
        self.explained_variance_ratio_ = (values[:k] / total).astype(dtype)
        self.singular_values_ = np.sqrt(values[:k] * spectrum.freedom).astype(dtype)
        self.noise_variance_ = max(0.0, left) / max(1, spectrum.rank - k)

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows; the result is that of ``fit`` on all rows seen, up to rounding.

        Parameters are those of ``fit``. See :class:`PCA`.
        """
        self._require_moments("partial_fit")
        more = hasattr(self, "components_")
        if more and not hasattr(self, "moments_"):
            raise ValueError(
                f"PCA.partial_fit adds rows to moments, which svd_solver={self.svd_solver_!r} does "
                "not keep. Fit with svd_solver='covariance_eigh' first, or start with a new model."
            )
        memory = getattr(self, "fingerprint_", Fingerprint())
        X, _, sample_weight = self._check(X, None, sample_weight, reset=not more)
        if more:
            self.fingerprint_ = memory
            remember_rows(self, X, more=True)
        self._learn(moments_of(X, sample_weight, self.moments_ if more else None))
        return self

    def _require_moments(self, method: str) -> None:
        """Refuse solvers that read the rows more than once."""
        if self.svd_solver not in ("auto", "covariance_eigh"):
            raise ValueError(
                f"PCA.{method} decomposes the covariance of the rows. Got svd_solver="
                f"{self.svd_solver!r}; take 'auto' or 'covariance_eigh'."
            )

    def _learn(self, moments: Moments) -> None:
        """Learn from moments alone."""
        self._refuse_count("covariance_eigh", (moments.n_rows, len(moments.mean)))
        spectrum = of_moments(moments, self.centre)
        self.moments_ = moments
        self._keep(spectrum, "covariance_eigh")

    def _transform(self, X: Any) -> np.ndarray:
        directions, shift = self.as_affine()
        if sparse.issparse(X):
            return (np.asarray(X @ directions.T) + shift).astype(X.dtype)
        Z = np.empty((X.shape[0], self.n_components_), dtype=X.dtype)
        step = block_rows((X,))
        for i in range(0, X.shape[0], step):  # centred before the product, which cancels less
            Z[i : i + step] = row_products(X[i : i + step] - self.mean_, directions.T)
        return Z

    def as_affine(self) -> AffineMap:
        """Return the map of a row as a matrix of directions and an offset.

        Whitened directions are divided by their standard deviations.
        """
        check_is_fitted(self)
        rows = self.components_.astype(np.float64)
        if self.whiten:
            scale = np.sqrt(self.explained_variance_.astype(np.float64))
            rows = rows / np.maximum(scale, np.finfo(self.components_.dtype).eps)[:, None]
        return AffineMap(rows, -(rows @ self.mean_))

    def _way_back(self) -> np.ndarray:
        scale = np.sqrt(self.explained_variance_)[:, None]
        return self.components_ * scale if self.whiten else self.components_


def _count(n_components: Any, values: np.ndarray, n_samples: float) -> int:
    """Return how many of the directions to keep."""
    if n_components is None:
        return len(values)
    if isinstance(n_components, Integral):
        return min(int(n_components), len(values))
    if isinstance(n_components, Real):
        return components_for_share(values, float(n_components))
    if len(values) < 2:
        return len(values)
    quality = profile_likelihood(values)
    if n_components == "mle":
        quality = minka_evidence(values, n_samples)
    return 1 + int(np.argmax(quality))
