"""The Gaussian mixture as an estimator."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import fit_context
from corollary.core.estimator import (
    ArrayLike,
    Count,
    CountFromZero,
    Density,
    NoEffect,
    NonNegative,
    RandomSeed,
    check_squares,
    fitted,
    read_source,
)
from corollary.core.schema import Array, Flag, Integer, Number
from corollary.core.summary import ArraySource, Source
from corollary.mixture.em.evidence import latent_posterior, log_evidence
from corollary.mixture.gaussian._conditional import ConditionalMoments, impute
from corollary.mixture.gaussian._search import MixtureState, SourceEM, best_start
from corollary.mixture.gaussian._starts import InitParams, RowSample, blank_components
from corollary.mixture.gaussian._whitened import (
    Components,
    CovarianceType,
    log_joint_of,
    precisions_of,
)
from corollary.mixture.gaussian.law import MixtureLaw
from corollary.optimize import Stop, iterate

#: Full, tied, diagonal and spherical covariances.
_COVARIANCES = (
    Array("f", "c", "d", "d") | Array("f", "d", "d") | Array("f", "c", "d") | Array("f", "c")
)


class GaussianMixture(Density):
    r"""A mixture of Gaussian laws, fitted by expectation-maximisation.

    Besides what scikit-learn's class of this name does, it takes sample weights, missing values,
    which are integrated out, and rows from files and clusters (:meth:`fit_source`).

    Parameters
    ----------
    n_components : int, default=1
        Number of components.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        A matrix for each component, one for all, variances for each, or one variance for each.
    tol : float, default=1e-3
        EM ends when the mean log-likelihood of a row changes by no more; 0 runs ``max_iter`` steps.
    reg_covar : float, default=1e-6
        Added to the diagonal of covariances in every step. It keeps them regular, at the price that
        the likelihood may fall by about as much; ``covariance_floor`` does not have that price.
    max_iter : int, default=100
        Largest number of steps; with 0 the start is the result.
    n_init : int, default=1
        Fits from different starts, of which the best is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        Start with the clusters of k-means, with random responsibilities, or with means at rows,
        which are far from each other for "k-means++", and the covariance of all rows.
    weights_init : array-like of shape (n_components,) or None, default=None
        Weights to start with.
    means_init : array-like of shape (n_components, n_features) or None, default=None
        Means to start with.
    precisions_init : array-like or None, default=None
        Inverses of the covariances to start with, in the shape of ``covariances_``.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of starts and of :meth:`sample`.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the last solution.
    verbose : int, default=0
        Has no effect: long fits show their progress.
    verbose_interval : int, default=10
        Has no effect, like ``verbose``.
    n_starts : int, default=1
        Cheap starts for each fit: of so many, each improved by ten steps on a sample of the rows,
        the best is taken. The sample has five rows for each parameter, at least 2,048 and at most
        16,384.
    covariance_floor : float, default=0.0
        Least eigenvalue of covariances. Smaller ones are raised to it, which is the best covariance
        above the floor: with ``reg_covar=0`` the likelihood never falls.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Weights.
    means_ : ndarray of shape (n_components, n_features)
        Means.
    covariances_ : ndarray
        Of shape (n_components, n_features, n_features), (n_features, n_features), (n_components,
        n_features) or (n_components,), by the covariance type.
    precisions_ : ndarray
        Their inverses.
    precisions_cholesky_ : ndarray
        Upper triangular factors of the inverses, the transposed inverses of the Cholesky factors.
    converged_ : bool
        Whether the best fit met the tolerance.
    n_iter_ : int
        Its number of steps.
    lower_bound_ : float
        Mean log-likelihood of a row before its last step.
    lower_bounds_ : ndarray of shape (number of iterations,)
        The same before every step; with ``reg_covar=0`` it never falls.

    See Also
    --------
    choose_components : Chooses the number of components on held-out rows.
    DirichletProcessMixture : Has a law of the number of clusters.

    Notes
    -----
    The likelihood of two or more components has no maximum: one that shrinks onto a row raises it
    without bound. What EM ends at is a local one, kept from that by ``reg_covar`` or the floor.

    Each step is one :class:`~corollary.core.summary.Summary` of the rows, so that threads, chunks
    and workers do not change a bit. Moments are taken about the present means, which keeps small
    covariances far from the origin accurate.

    References
    ----------
    Dempster, Laird and Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm.
    Ghahramani and Jordan (1994), Supervised learning from incomplete data via an EM approach.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import GaussianMixture
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) + np.repeat([[-3.0, 0.0], [3.0, 0.0]], 100, axis=0)
    >>> X[::4, 1] = np.nan
    >>> model = GaussianMixture(2, random_state=0).fit(X)
    >>> np.sort(model.means_[:, 0]).round(1)
    array([-3. ,  2.9])
    """

    n_components: Count = 1
    _: KW_ONLY
    covariance_type: CovarianceType = "full"
    tol: NonNegative = 1e-3
    reg_covar: NonNegative = 1e-6
    max_iter: CountFromZero = 100
    n_init: Count = 1
    init_params: InitParams = "kmeans"
    weights_init: ArrayLike | None = None
    means_init: ArrayLike | None = None
    precisions_init: ArrayLike | None = None
    random_state: RandomSeed = None
    warm_start: bool = False
    verbose: NoEffect = 0
    verbose_interval: NoEffect = 10
    n_starts: Count = 1
    covariance_floor: NonNegative = 0.0

    weights_: np.ndarray = fitted(Array("f", "c", low=0))
    means_: np.ndarray = fitted(Array("f", "c", "d"))
    covariances_: np.ndarray = fitted(_COVARIANCES)
    precisions_: np.ndarray = fitted(_COVARIANCES)
    precisions_cholesky_: np.ndarray = fitted(_COVARIANCES)
    converged_: bool = fitted(Flag())
    n_iter_: int = fitted(Integer(0))
    lower_bound_: float = fitted(Number(infinite=True))
    lower_bounds_: np.ndarray = fitted(Array("f", "*"))

    _rows = {"ensure_all_finite": "allow-nan"}

    def fit_source(
        self,
        data: Any,
        *,
        columns: Sequence[str] | None = None,
        sample_weight: str | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Fit the mixture to data that need not fit in memory, one pass for each step.

        The result has the bits of ``fit`` on the same rows, with any number ``n_jobs`` of threads.
        See :func:`corollary.core.summary.open_source` for data, in which missing values are NaN or
        null; ``columns`` are the names of those to take, by default all but ``sample_weight``.
        """
        self._validate_params()
        names: Any = {"columns": columns, "sample_weight": sample_weight, "n_jobs": n_jobs}
        how: Any = {"several_passes": True, "supervised": False, "missing": True}
        source, sample = read_source(
            self, data, lambda source: RowSample.of_width(source.n_features), **names, **how
        )
        self._solve(source, sample, n_jobs)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit the mixture and return the most probable component of every row.

        See :class:`GaussianMixture`; the parameters are those of :meth:`fit`.
        """
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable component of every row X. See :class:`GaussianMixture`."""
        return self._joint(self._new(X)).argmax(axis=1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every component given each row, in which NaN is missing.

        See :class:`GaussianMixture`; the result has a row for each row and a column for each
        component.
        """
        return latent_posterior(self._joint(self._new(X)))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log density of rows, by their weights if there are any."""
        return float(np.average(self.score_samples(X), weights=sample_weight))

    def sample(self, n_samples: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows, and return them in the order of their components, with these.

        See :class:`GaussianMixture`; ``n_samples`` is the number of rows.
        """
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(
                f"Invalid value for 'n_samples': {n_samples} . GaussianMixture.sample draws at "
                "least one row."
            )
        random = check_random_state(self.random_state)
        components = self._components
        counts = random.multinomial(n_samples, self.weights_ / self.weights_.sum())
        if components.is_diagonal:
            spreads = np.sqrt(components.variances)
            rows = [
                mean + spread * random.standard_normal(size=(n, len(mean)))
                for mean, spread, n in zip(self.means_, spreads, counts)
            ]
        else:
            rows = [
                random.multivariate_normal(mean, covariance, int(n))
                for mean, covariance, n in zip(self.means_, components.matrices, counts)
            ]
        return np.vstack(rows), np.repeat(np.arange(len(counts)), counts)

    def bic(self, X: Any) -> float:
        """Return the Bayesian criterion for rows X, low if good. See :class:`GaussianMixture`."""
        density = self.score_samples(X)
        return float(-2 * density.sum() + self._n_parameters() * np.log(len(density)))

    def aic(self, X: Any) -> float:
        """Return Akaike's criterion for rows X, low if good. See :class:`GaussianMixture`."""
        return float(-2 * self.score_samples(X).sum() + 2 * self._n_parameters())

    def to_law(self) -> MixtureLaw:
        """Return the mixture as a law, which has margins and conditions.

        It has a matrix for each component, whatever the covariance type.
        """
        check_is_fitted(self)
        components = self._components
        return MixtureLaw(components.weights, components.means, components.matrices)

    def impute(self, X: Any) -> ConditionalMoments:
        """Return rows with missing values filled, as :meth:`MixtureLaw.impute` does.

        See :class:`MixtureLaw`.
        """
        X = self._new(X)
        return impute(self._components, X)

    @property
    def _components(self) -> Components:
        return Components(self.weights_, self.means_, self.covariances_, self.covariance_type)

    def _fits_together(self) -> str | None:
        k, d = self.means_.shape
        expected = blank_components(k, d, self.covariance_type).covariances.shape
        arrays = (self.covariances_, self.precisions_, self.precisions_cholesky_)
        if any(array.shape != expected for array in arrays):
            return f"covariances have not the shape of covariance type {self.covariance_type!r}"
        return None

    def _joint(self, X: np.ndarray) -> np.ndarray:
        """Return the log density of validated rows and components."""
        return log_joint_of(self._components, X)

    def _log_density(self, X: np.ndarray) -> np.ndarray:
        joint = self._joint(X)
        far = (joint == -np.inf).all(axis=1)  # squares of distances are beyond all numbers
        joint[far] = 0.0
        return np.where(far, -np.inf, log_evidence(joint))

    def _n_parameters(self) -> int:
        """Count free parameters."""
        k, d = self.means_.shape
        matrix = d * (d + 1) // 2
        shapes = {"full": k * matrix, "tied": matrix, "diag": k * d, "spherical": k}
        return shapes[self.covariance_type] + k * d + k - 1

    def _fit(self, X: np.ndarray, sample_weight: np.ndarray | None) -> None:
        source = ArraySource((X, None, sample_weight))
        sample = source.reduce(RowSample.of_width(X.shape[1]))
        self._solve(source, sample, None)

    def _solve(self, source: Source, sample: RowSample, n_jobs: int | None) -> None:
        """Run EM from every start and keep the best end."""
        if sample.n_rows < self.n_components:
            raise ValueError(
                f"Expected n_samples >= n_components but got n_components = {self.n_components}, "
                f"n_samples = {sample.n_rows}. GaussianMixture needs a row of positive weight for "
                "every component: decrease n_components."
            )
        check_squares(self, sample.filled())
        em = SourceEM(source, self, n_jobs)
        random = check_random_state(self.random_state)
        states: Iterable[MixtureState] = (
            em.init(best_start(self, sample, random)) for _ in range(self.n_init)
        )
        if self.warm_start and hasattr(self, "converged_"):
            states = [MixtureState(self._components, self.lower_bound_)]
        stop, description = Stop(step=self.tol) if self.tol > 0 else None, "fitting a mixture"
        runs = (
            iterate(em, state=state, stop=stop, max_iter=self.max_iter, description=description)
            for state in states
        )
        self._keep(max(runs, key=lambda run: run.state.value))

    def _keep(self, run: Any) -> None:
        """Set what was learnt."""
        components: Components = run.state.components
        self.weights_, self.means_ = components.weights, components.means
        self.covariances_ = components.covariances
        self.precisions_cholesky_, self.precisions_ = precisions_of(components)
        self.converged_, self.n_iter_ = run.status == "converged", run.n_iter
        self.lower_bound_ = float(run.state.value)
        self.lower_bounds_ = np.array(run.history.value, dtype=float)
        if not self.converged_ and self.max_iter > 0:
            warnings.warn(
                "GaussianMixture did not converge: the best of its starts still changed by more "
                f"than tol={self.tol:g} after {run.n_iter} steps. Increase max_iter or tol, or try "
                "other init_params.",
                ConvergenceWarning,
                stacklevel=5,
            )
