"""Every row predicted once by a model that did not see it."""

import math
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, LeaveOneOut, check_cv

from corollary.core.compat import safe_indexing
from corollary.risk import LossLike
from corollary.validation._losses import loss_of


class CrossValidation(NamedTuple):
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
    """

    losses: np.ndarray
    fold_risks: np.ndarray
    fold_sizes: np.ndarray
    train_sizes: np.ndarray

    def __repr__(self) -> str:
        n = int(np.isfinite(self.losses).sum())
        return (
            f"CrossValidation(risk={self.risk:.6g}, standard_error={self.standard_error:.3g}, "
            f"{len(self.fold_risks)} folds, {n} rows)"
        )

    @property
    def risk(self) -> float:
        """Mean loss over the rows that were held out."""
        return float(np.nanmean(self.losses))

    @property
    def standard_error(self) -> float:
        """Standard error of the mean that allows for shared training rows.

        Folds are not independent: their training rows overlap. The variance of fold risks is
        inflated by the ratio of held-out to training rows (Nadeau and Bengio 2003), which corrects
        most of the optimism of the plain formula; no unbiased estimate exists.
        """
        k = len(self.fold_risks)
        if k < 2:
            return math.nan
        ratio = float(np.mean(self.fold_sizes / self.train_sizes))
        return float(np.std(self.fold_risks, ddof=1)) * math.sqrt(1 / k + ratio)


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    loss: LossLike = "auto",
    cv: Any = 5,
    groups: Any = None,
    method: str = "predict",
    sample_weight: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> CrossValidation:
    """Estimate the risk of a learner by K-fold, leave-one-out or random splits.

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
        Number of folds (of equal class shares for classifiers), "loo" for one row at a time, any
        splitter of scikit-learn (random splits too), or pairs of row positions.
    groups : array-like of shape (n_samples,) or None, default=None
        Rows that belong together, for splitters that keep groups whole.
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
    """
    from joblib import Parallel, delayed

    y_array, measure = np.asarray(y), loss_of(estimator, loss)
    splits = list(_splitter(estimator, y_array, cv, random_state).split(X, y_array, groups))
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)

    def one(train: np.ndarray, test: np.ndarray) -> np.ndarray:
        how = {} if weights is None else {"sample_weight": weights[train]}
        model = clone(estimator).fit(safe_indexing(X, train), safe_indexing(y, train), **how)
        prediction = getattr(model, method)(safe_indexing(X, test))
        return np.asarray(measure(y_array[test], prediction), dtype=float)

    fold_losses = Parallel(n_jobs=n_jobs)(delayed(one)(train, test) for train, test in splits)
    sums, counts = np.zeros(len(y_array)), np.zeros(len(y_array))
    for (_, test), losses in zip(splits, fold_losses):
        np.add.at(sums, test, losses)
        np.add.at(counts, test, 1)
    with np.errstate(invalid="ignore"):
        mean = sums / counts
    return CrossValidation(
        mean,
        np.array([losses.mean() for losses in fold_losses]),
        np.array([len(test) for _, test in splits]),
        np.array([len(train) for train, _ in splits]),
    )


def _splitter(estimator: Any, y: np.ndarray, cv: Any, random_state: Any) -> Any:
    if isinstance(cv, str):
        if cv != "loo":
            raise ValueError(
                "The 'cv' parameter of cross_validate must be a number of folds, 'loo', a splitter "
                f"or pairs of rows. Got {cv!r} instead."
            )
        return LeaveOneOut()
    if isinstance(cv, Integral):
        if not 2 <= int(cv) <= len(y):
            raise ValueError(
                "The 'cv' parameter of cross_validate must be from 2 to the number of rows, "
                f"{len(y)}. Got {cv!r} instead."
            )
        standard = check_cv(int(cv), y, classifier=is_classifier(estimator))
        # Rows in the order of a file are often sorted; folds must not be.
        least = np.unique(y, return_counts=True)[1].min() if is_classifier(estimator) else cv
        if least < cv:
            standard = KFold(int(cv))
        return type(standard)(int(cv), shuffle=True, random_state=random_state)
    return check_cv(cv, y, classifier=is_classifier(estimator))
