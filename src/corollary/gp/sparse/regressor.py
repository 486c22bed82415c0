"""Sparse Gaussian process regression as an estimator, for many rows."""

import warnings
from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from corollary.core.estimator import Count, Positive, RandomSeed, fitted
from corollary.core.parallel import one_blas_thread, row_products, row_solves
from corollary.core.schema import Array, Number
from corollary.core.summary import reduce_blocks
from corollary.gp._defaults import default_search, spread_of, standardise
from corollary.gp._process import ProcessRegressor
from corollary.gp.learning.search import Search
from corollary.gp.sparse._blocks import row_blocks
from corollary.gp.sparse._learnt import LearntInducing
from corollary.gp.sparse.inducing import learn_inducing, spread_points
from corollary.gp.sparse.sums import InducingLaw, InducingSums, inducing_law
from corollary.gp.sparse.variational import whitened_law
from corollary.kernels import Kernel


class SparseGaussianProcessRegressor(ProcessRegressor):
    r"""Gaussian process regression through inducing points, for hundreds of thousands of rows.

    The model is that of :class:`GaussianProcessRegressor`. Its posterior is approximated by one
    that the values of f at m inducing points Z determine, and hyper-parameters and Z maximise a
    lower bound of the evidence.

    Parameters
    ----------
    kernel : Kernel or None, default=None
        Covariance of f, of the standardised target if ``normalize_y``. None for a constant times
        an RBF kernel with one length scale for each feature, which starts at the scales of the
        data.
    n_inducing : int, default=256
        Number m of inducing points; as many as there are distinct rows if those are fewer, and
        then the model is the exact one. Time grows with its square.
    alpha : float or "evidence", default="evidence"
        Noise variance :math:`\sigma^2` (in units of the standardised target if
        ``normalize_y``); "evidence" learns it.
    optimizer : {"fmin_l_bfgs_b", "adam"} or None, default="fmin_l_bfgs_b"
        "fmin_l_bfgs_b" takes few steps on the exact gradient of the collapsed bound, first on
        parts of the rows and then on all; "adam" takes many on mini-batches of the variational
        bound. None keeps the kernel, ``alpha`` and the points as they are.
    learn_inducing : bool, default=True
        Whether the inducing points move.
    normalize_y : bool, default=True
        Whether the target is centred and divided by its standard deviation. Without, the prior
        mean of f is zero.
    max_iter : int, default=100
        Steps on all rows at most; passes over them with "adam".
    tol : float, default=3e-4
        Improvement of the bound for each row, in one step (on average over five) or pass, below
        which the search ends.
    batch_size : int, default=1024
        Rows of a mini-batch, with "adam".
    learning_rate : float, default=0.01
        Step size of "adam".
    random_state : int, RandomState instance or None, default=None
        Determines the first inducing points, the parts of the rows and the batches.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with the hyper-parameters used.
    inducing_points_ : ndarray of shape (m, n_features)
        Inducing points Z.
    noise_variance_ : float
        Noise variance in units of the target.
    elbo_ : float
        Lower bound of the log evidence of the (standardised) targets.
    weights_ : ndarray of shape (m,)
        Weights of the inducing points in the mean.
    L_ : ndarray of shape (m, m)
        Cholesky factor of their kernel matrix.
    inner_root_ : ndarray of shape (m, m)
        Cholesky factor of the matrix B that the rows make of it.
    jitter_ : float
        What was added to the diagonal of the kernel matrix, a hundred-millionth of its mean.
    y_mean_ : float
        Prior mean of f.
    y_scale_ : float
        What the target was divided by.
    n_iter_ : int
        Steps on all rows, or passes over them; 0 if nothing was learnt.

    See Also
    --------
    GaussianProcessRegressor : Exact, for up to a few thousand rows.
    corollary.gp.collapsed_bound : The bound and its gradient.
    corollary.gp.variational_bound : The bound that mini-batches estimate.

    Notes
    -----
    Time grows like n m^2 for n rows, memory like n d + m^2. Whatever the optimiser, the law of the
    values at the inducing points is the best one, in closed form. A row of weight k counts like k
    equal rows. With "fmin_l_bfgs_b" the result does not depend on the number of threads, bit for
    bit.

    Guarantee: ``elbo_`` is at most the log evidence of the exact model with the same
    hyper-parameters; checked by
    ``tests/gp/test_sparse_regressor.py::test_elbo_is_at_most_the_evidence``. The bands are those
    of an approximation; where the inducing points suffice they cover draws from the prior at their
    level: ``tests/gp/test_sparse_regressor.py::test_bands_cover_draws_from_the_prior``.

    References
    ----------
    .. [1] M. Titsias (2009). Variational learning of inducing variables in sparse Gaussian
       processes. AISTATS.
    .. [2] J. Hensman, N. Fusi, N. D. Lawrence (2013). Gaussian processes for big data. UAI.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import SparseGaussianProcessRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0.0, 6.0, size=(2000, 1))
    >>> y = np.sin(X).ravel() + 0.1 * rng.normal(size=2000)
    >>> model = SparseGaussianProcessRegressor(n_inducing=15, random_state=0).fit(X, y)
    >>> mean, std = model.predict([[1.5], [9.0]], return_std=True)
    >>> mean[:1].round(1), bool(std[0] < 0.1 < std[1])  # sure within the data, not beyond
    (array([1.]), True)
    """

    kernel: Kernel | None = None
    _: KW_ONLY
    n_inducing: Count = 256
    alpha: Positive | Literal["evidence"] = "evidence"
    optimizer: Literal["fmin_l_bfgs_b", "adam"] | None = "fmin_l_bfgs_b"
    learn_inducing: bool = True
    normalize_y: bool = True
    max_iter: Count = 100
    tol: Positive = 3e-4
    batch_size: Count = 1024
    learning_rate: Positive = 0.01
    random_state: RandomSeed = None

    inducing_points_: np.ndarray = fitted(Array("f", "m", "d"))
    elbo_: float = fitted(Number(infinite=True))
    weights_: np.ndarray = fitted(Array("f", "m"))
    L_: np.ndarray = fitted(Array("f", "m", "m"))
    inner_root_: np.ndarray = fitted(Array("f", "m", "m"))

    def _fits_together(self) -> str | None:
        return self.kernel_.problem_with(self.inducing_points_)

    def _fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        weight = sample_weight
        if weight is not None:
            keep = weight > 0
            X, y, weight = X[keep], y[keep], weight[keep]
        target, self.y_mean_, self.y_scale_ = standardise(y, weight, normalise=self.normalize_y)
        spread, learns = spread_of(X, weight), self.optimizer is not None
        search = default_search(
            self.kernel, self.alpha, spread, target, weight, learns=learns, who=self
        )
        rng = check_random_state(self.random_state)
        Z = spread_points(X, self.n_inducing, scale=spread, random_state=rng)
        self.n_iter_ = 0
        self.kernel_, variance = search.kernel, search.variance
        if learns and len(y) > 1:
            learnt = self._learn(X, target, weight, search, Z, spread, rng)
            Z, self.n_iter_ = learnt.Z, learnt.n_iter
            self.kernel_, variance = search.split(learnt.theta)
        self.inducing_points_ = Z
        sums, law = self._law(X, target, weight, self.kernel_, variance, Z)
        self.elbo_, self.weights_, self.inner_root_ = law.bound, law.weights, law.inner_root
        self.L_, self.jitter_ = sums.root, sums.jitter
        self.noise_variance_ = variance * self.y_scale_**2

    def _learn(
        self,
        X: np.ndarray,
        y: np.ndarray,
        weight: Any,
        search: Search,
        Z: np.ndarray,
        spread: np.ndarray,
        rng: Any,
    ) -> LearntInducing:
        # At all distinct rows the bound is the evidence: no point could lie better.
        move = self.learn_inducing and len(Z) == self.n_inducing
        options = {"weight": weight, "learn_points": move, "scale": spread}
        if self.optimizer == "adam":
            from corollary.gp.sparse._batches import Schedule, learn_by_batches

            start = search.split(search.theta)
            best = whitened_law(self._law(X, y, weight, *start, Z)[1])
            schedule = Schedule(
                self.batch_size,
                self.learning_rate,
                self.max_iter,
                self.tol,
                seed=int(rng.randint(2**31)),
            )
            learnt = learn_by_batches(X, y, search, Z, best, schedule=schedule, **options)
        else:
            learnt = learn_inducing(
                X, y, search, Z, max_iter=self.max_iter, tol=self.tol, random_state=rng, **options
            )
        if not learnt.converged:
            what = "passes over the rows" if self.optimizer == "adam" else "steps"
            warnings.warn(
                f"The evidence bound was still rising after max_iter={self.max_iter} {what}. "
                f"Raise max_iter, or tol={self.tol:.2g}.",
                ConvergenceWarning,
                stacklevel=5,
            )
        return learnt

    @staticmethod
    def _law(
        X: np.ndarray, y: np.ndarray, weight: Any, kernel: Kernel, variance: float, Z: np.ndarray
    ) -> tuple[InducingSums, InducingLaw]:
        with one_blas_thread():
            sums = reduce_blocks(InducingSums.at(kernel, Z), row_blocks(len(Z), X, y, weight))
            return sums, inducing_law(sums, variance)

    def _mean(self, X: np.ndarray) -> np.ndarray:
        Z, weights = self.inducing_points_, self.weights_
        blocks = row_blocks(len(weights), X)
        return np.concatenate(
            [row_products(self.kernel_.gram(rows, Z), weights) for (rows,) in blocks]
        )

    def _pointwise(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        means, variances = [], []
        for (rows,) in row_blocks(len(self.weights_), X):
            mean, V, U = self._project(rows)
            kept = np.einsum("ij,ij->i", U, U) - np.einsum("ij,ij->i", V, V)
            means.append(mean)
            variances.append(self.kernel_.diag(rows) + kept)
        return np.concatenate(means), np.concatenate(variances)

    def _jointly(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, V, U = self._project(X)
        return mean, self.kernel_.gram(X) - V @ V.T + U @ U.T

    def _project(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the mean and the two factors of what the points take from and give to it."""
        cross = self.kernel_.gram(X, self.inducing_points_)
        V = row_solves(self.L_, cross)
        return row_products(cross, self.weights_), V, row_solves(self.inner_root_, V)
