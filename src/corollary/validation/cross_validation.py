"""Every row predicted once by a model that did not see it."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from corollary.core.compat import safe_indexing
from corollary.core.display import Tabular
from corollary.core.population import Population
from corollary.risk import LossLike
from corollary.theory import unit_means
from corollary.validation._fold_loop import fold_losses
from corollary.validation.cross_validated_intervals import overlap_inflation

_ALIKE = Population()


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(Tabular):
    """Losses of rows, each under a model that was fitted without it.

    Parameters
    ----------
    losses : ndarray of shape (n_samples,)
        One loss per row; the mean over repeats if a row was held out more than once, NaN if never.
    fold_risks : ndarray of shape (n_folds,)
        Mean loss of each fold.
    fold_sizes : ndarray of shape (n_folds,)
        Held-out rows of each fold.
    train_sizes : ndarray of shape (n_folds,)
        Training rows of each fold.
    units : ndarray of shape (n_samples,) or None, default=None
        Number of each row's unit, from 0; None if rows were not grouped.
    population : Population
        Of which rows the losses speak: such rows, rows of new units, or those of a period.
    """

    losses: np.ndarray
    fold_risks: np.ndarray
    fold_sizes: np.ndarray
    train_sizes: np.ndarray
    units: np.ndarray | None = None
    population: Population = _ALIKE

    def __repr__(self) -> str:
        n = int(np.isfinite(self.losses).sum())
        units = "" if self.units is None else f" of {len(self._pieces)} units"
        speaks = "" if self.population.kind == "alike" else f", speaks of {self.population.rows}"
        return (
            f"CrossValidation(risk={self.risk:.6g}, standard_error={self.standard_error:.3g}, "
            f"{len(self.fold_risks)} folds, {n} rows{units}{speaks})"
        )

    def __str__(self) -> str:
        return (
            f"The mean loss of {self.population.rows} is {self.risk:.4g}, with a standard error of "
            f"{self.standard_error:.2g}, by {len(self.fold_risks)} folds of "
            f"{int(self._seen.sum()):,} rows."
        )

    def _columns(self) -> dict[str, np.ndarray]:
        return {
            "fold": np.arange(1, 1 + len(self.fold_risks)),
            "risk": self.fold_risks,
            "rows": self.fold_sizes,
            "training rows": self.train_sizes,
        }

    @property
    def risk(self) -> float:
        """Mean loss over the rows that were held out; with units, the mean of the units' means.

        A unit counts once, however many rows it has: the loss of a row of a new unit.
        """
        return float(np.nanmean(self.losses)) if self.units is None else float(self._pieces.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of the mean that allows for shared training rows.

        Folds are not independent: their training rows overlap. The variance of fold risks is
        inflated by the ratio of held-out to training rows (Nadeau and Bengio 2003), which corrects
        most of the optimism of the plain formula; no unbiased estimate exists. With units it is the
        variance of their means that is inflated.
        """
        pieces, k = self._pieces, len(self.fold_risks)
        if len(pieces) < 2:
            return math.nan
        ratio = float(np.mean(self.fold_sizes / self.train_sizes))
        # How often a unit was held out; each fold is one piece of its own.
        repeats = 1.0 if self.units is None else self.fold_sizes.sum() / self._seen.sum()
        spread = float(np.std(pieces, ddof=1)) / math.sqrt(len(pieces) * repeats)
        return spread * overlap_inflation(k, ratio)

    @property
    def degrees_of_freedom(self) -> int:
        """Pieces of evidence less one: folds, or units where rows are grouped."""
        return len(self._pieces) - 1

    @property
    def _seen(self) -> np.ndarray:
        """Which rows were held out."""
        return ~np.isnan(self.losses)

    @property
    def _pieces(self) -> np.ndarray:
        """Mean losses of what counts: folds, or units."""
        if self.units is None:
            return self.fold_risks
        return unit_means(self.losses[self._seen], self.units[self._seen])


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    loss: LossLike = "auto",
    cv: Any = 5,
    groups: Any = None,
    time: Any = None,
    method: str = "predict",
    sample_weight: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> CrossValidation:
    """Estimate the risk of a learner by K-fold, leave-one-out or random splits, by units or time.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn estimator; the whole of a pipeline is refitted per fold, so that nothing
        leaks from held-out rows.
    X : array-like or data frame of shape (n_samples, n_features)
        Inputs, handed to the estimator as they came.
    y : array-like of shape (n_samples,)
        Outputs.
    loss : str, Loss or callable, default="auto"
        ``loss(y_true, prediction)``, entry by entry. "auto" is the zero-one loss, for
        regressors the squared one.
    cv : int, "loo", splitter or iterable, default=5
        Number of folds (of equal class shares for classifiers), "loo" for one row or unit at a
        time, any splitter of scikit-learn (random splits too), or pairs of row positions.
    groups : array-like of shape (n_samples,) or None, default=None
        The unit of each row: a client, a patient. Whole units are left out (:func:`unit_folds` for
        a number of folds; a splitter that divides a unit is refused), and units are counted: the
        risk is that of a row of a new unit.
    time : array-like of shape (n_samples,) or None, default=None
        When each row happened: numbers or dates. A number of folds then means
        :func:`forward_folds`; `cv` may be :class:`ForwardChaining` or :class:`BlockKFold`. With
        `groups` as well, time makes the folds and units are counted.
    method : str, default="predict"
        Which method of the estimator predicts.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights for fitting.
    n_jobs : int or None, default=None
        Folds in parallel, through joblib: the backend may be a cluster.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds when `cv` is a number.

    Returns
    -------
    outcome : CrossValidation
        Losses by row and by fold.

    See Also
    --------
    least_squares_loo : Leave-one-out residuals without refitting.
    nested_risk : For learners that tune themselves.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from corollary.linear import Ridge
    >>> from corollary.validation import cross_validate
    >>> X, y = load_diabetes(return_X_y=True)
    >>> outcome = cross_validate(Ridge(), X, y, loss="square", random_state=0)
    >>> len(outcome.fold_risks)
    5

    Rows of clients, of which there will be new ones:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> client = np.repeat(np.arange(30), 6)
    >>> X = rng.normal(size=(30, 2))[client]
    >>> y = rng.normal(size=30)[client]
    >>> from corollary.neighbors import KNeighborsRegressor
    >>> model = KNeighborsRegressor(n_neighbors=1)
    >>> cross_validate(model, X, y, random_state=0).risk
    0.0
    >>> outcome = cross_validate(model, X, y, groups=client, random_state=0)
    >>> outcome.risk > 1, outcome.population.rows
    (True, 'rows of new owners')
    """
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)

    def fit(train: np.ndarray) -> Any:
        how = {} if weights is None else {"sample_weight": weights[train]}
        return clone(estimator).fit(safe_indexing(X, train), safe_indexing(y, train), **how)

    outcome = fold_losses(
        fit,
        estimator,
        X,
        y,
        loss=loss,
        cv=cv,
        groups=groups,
        time=time,
        method=method,
        n_jobs=n_jobs,
        random_state=random_state,
    )
    return CrossValidation(*outcome)
