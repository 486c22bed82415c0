"""Missing entries of a table, filled by a matrix of low rank."""

import warnings
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from corollary.core.estimator import (
    Count,
    NonNegative,
    Positive,
    Probability,
    RandomSeed,
    Transformer,
    check_squares,
    fitted,
)
from corollary.core.parallel import one_blas_thread, row_products
from corollary.core.schema import Array, Integer, Number, Optional
from corollary.core.summary import block_rows
from corollary.decomposition._linalg import with_signs
from corollary.decomposition.nuclear_norm import soft_impute_alpha_max, soft_impute_path

#: Squared errors beyond this multiple of those of column means are worth a warning.
_CLEARLY_WORSE = 1.1


class SoftImpute(OneToOneFeatureMixin, Transformer):
    r"""Fill missing entries so that the sum of singular values stays small.

    Parameters
    ----------
    alpha : float or None, default=None
        Penalty on the sum of singular values. None takes the one of a path whose completion errs
        least on entries that were held out, and fits it to all entries.
    n_alphas : int, default=20
        Length of that path.
    held_out : float, default=0.1
        Share of the seen entries that are held out.
    tol : float, default=1e-6
        Proved gap to stop at, relative to the objective.
    max_iter : int, default=1000
        Largest number of steps for a penalty.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the choice of held-out entries.

    Attributes
    ----------
    alpha_ : float
        The penalty.
    alphas_, errors_ : ndarray of shape (n_alphas,)
        Penalties that were tried, and the mean squared errors of their completions on held-out
        entries; only if `alpha` is None.
    components_ : ndarray of shape (rank, `n_features_in_`)
        Right singular vectors of the completion.
    singular_values_ : ndarray of shape (rank,)
        Its singular values, of rows times the roots of their weights.
    gap_ : float
        How far the objective can lie above the least one.
    n_iter_ : int
        Steps for the last penalty.

    Notes
    -----
    The completion is that of :func:`soft_impute`. It has no mean of its own: subtract that of each
    column first, if it has one.

    With the completion's right singular vectors V and singular values D, let
    :math:`B=VD^{1/2}`. The nuclear norm is the least value of :math:`\frac12(\|A\|^2+\|B\|^2)` over
    :math:`AB^\top=X`, so that each row of A solves a ridge regression of the row's seen entries on
    those rows of B, with penalty :math:`\alpha/2`. New rows are filled by this regression, and
    training rows get the completion back.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.decomposition import SoftImpute
    >>> X = np.outer([1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0])
    >>> X[0, 2] = np.nan
    >>> SoftImpute(1e-3).fit_transform(X)[0].round(2)
    array([2., 1., 4.])

    Columns that have means and units are standardised first, and the result is scaled back:

    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> wine = load_wine().data
    >>> hidden = np.random.default_rng(0).random(wine.shape) < 0.1
    >>> holes = np.where(hidden, np.nan, wine)
    >>> scaler = StandardScaler().fit(holes)
    >>> filled = SoftImpute(random_state=0).fit_transform(scaler.transform(holes))
    >>> truth = scaler.transform(wine)
    >>> by_means = np.mean(truth[hidden] ** 2)
    >>> float(round(np.mean((filled - truth)[hidden] ** 2) / by_means, 1))
    0.6
    >>> scaler.inverse_transform(filled).shape
    (178, 13)
    """

    alpha: NonNegative | None = None
    _: KW_ONLY
    n_alphas: Count = 20
    held_out: Probability = 0.1
    tol: Positive = 1e-6
    max_iter: Count = 1000
    random_state: RandomSeed = None

    alpha_: float = fitted(Number(0))
    alphas_: np.ndarray = fitted(Optional(Array("f", "a", low=0)))
    errors_: np.ndarray = fitted(Optional(Array("f", "a", low=0)))
    components_: np.ndarray = fitted(Array("f", "r", "d"))
    singular_values_: np.ndarray = fitted(Array("f", "r", low=0))
    gap_: float = fitted(Number(infinite=True))
    n_iter_: int = fitted(Integer(1))

    _rows: ClassVar[dict[str, Any]] = {"ensure_all_finite": "allow-nan"}

    def _fit(self, X: Any, sample_weight: np.ndarray | None) -> None:
        for name in ("alphas_", "errors_"):
            self.__dict__.pop(name, None)
        if sample_weight is not None:
            # Copies of a row have the singular values of one row times the root of their number.
            X = X[sample_weight > 0] * np.sqrt(sample_weight[sample_weight > 0])[:, None]
        check_squares(self, np.nan_to_num(X))
        if np.isnan(X).all():
            raise ValueError(
                "SoftImpute needs rows with entries that are seen. Got NaN only; drop columns and "
                "rows that hold nothing."
            )
        # Threads that share out many small decompositions wait for each other: on two busy cores
        # a hundred times as long as one thread takes.
        with one_blas_thread():
            self.alpha_ = self._choose(X) if self.alpha is None else float(self.alpha)
            largest = soft_impute_alpha_max(X)
            steps: Any = [self.alpha_]
            if 0 < self.alpha_ < largest:
                steps = np.geomspace(largest, self.alpha_, 10)
            path = soft_impute_path(X, steps, tol=self.tol, max_iter=self.max_iter)
        solution = path.solutions[-1]
        if solution.status != "optimal":
            warnings.warn(
                f"SoftImpute reached max_iter={self.max_iter} with a gap of "
                f"{solution.certificate.gap:.2g}. Raise max_iter, tol or alpha.",
                ConvergenceWarning,
                stacklevel=3,
            )
        _, sizes, rows = np.linalg.svd(solution.x, full_matrices=False)
        rank = int(np.sum(sizes > 1e-10 * largest))
        self.components_, self.singular_values_ = with_signs(rows[:rank]), sizes[:rank]
        self.gap_, self.n_iter_ = float(solution.certificate.gap), max(1, int(solution.n_iter))

    def _choose(self, X: np.ndarray) -> float:
        """Return the penalty whose completion errs least on held-out entries."""
        places = np.argwhere(~np.isnan(X))
        order = check_random_state(self.random_state).permutation(len(places))
        aside = places[order[: max(1, int(self.held_out * len(places)))]]
        if len(aside) == len(places):
            raise ValueError(
                f"SoftImpute needs entries to fit and others to hold out. Got {len(places)}; give "
                "`alpha`."
            )
        seen = X.copy()
        seen[tuple(aside.T)] = np.nan
        path = soft_impute_path(seen, self.n_alphas, tol=self.tol, max_iter=self.max_iter)
        truth = X[tuple(aside.T)]
        errors = [np.mean((one.x[tuple(aside.T)] - truth) ** 2) for one in path.solutions]
        with np.errstate(invalid="ignore"):  # columns without entries count as zero
            means = np.nan_to_num(np.nansum(seen, axis=0) / np.sum(~np.isnan(seen), axis=0))
        by_means = np.mean((means[aside[:, 1]] - truth) ** 2)
        if min(errors) > _CLEARLY_WORSE * by_means:
            warnings.warn(
                "SoftImpute completes held-out entries worse than the means of their columns do: "
                f"mean squared error {min(errors):.3g} against {by_means:.3g}. It has no means "
                "of its own; standardise the columns first, as by "
                "make_pipeline(StandardScaler(), SoftImpute()).",
                UserWarning,
                stacklevel=3,
            )
        self.alphas_, self.errors_ = path.alphas, np.array(errors)
        return float(path.alphas[int(np.argmin(errors))])

    def _transform(self, X: Any) -> np.ndarray:
        missing = np.isnan(X)
        if not missing.any() or not len(self.singular_values_):
            return np.where(missing, 0.0, X)
        return np.where(missing, self._completed(X), X)

    def _completed(self, X: np.ndarray) -> np.ndarray:
        """Return the completion of rows, at all of their entries."""
        B = self.components_.T * np.sqrt(self.singular_values_)
        rank = B.shape[1]
        products = (B[:, :, None] * B[:, None, :]).reshape(len(B), -1)
        ridge = max(self.alpha_ / 2, 1e-12 * float(self.singular_values_[0])) * np.eye(rank)
        completed = np.empty(X.shape)
        step = block_rows((products,))
        for i in range(0, len(X), step):
            part = X[i : i + step]
            seen = ~np.isnan(part)
            squares = row_products(seen.astype(np.float64), products).reshape(-1, rank, rank)
            targets = row_products(np.where(seen, part, 0.0), B)
            codes = np.linalg.solve(squares + ridge, targets[:, :, None])[:, :, 0]
            completed[i : i + step] = row_products(codes, B.T)
        return completed
