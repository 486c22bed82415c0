"""Linear models: logistic regression, ridge regression and the lasso."""

from typing import Any

import numpy as np

from corollary.core.estimator import without_memory
from corollary.reporting.models._candidates import Situation, register_candidate

#: Rows x features x squared classes up to which a sparse logistic regression takes seconds.
SPARSE_WORK = 2_000_000


def _inner_folds(situation: Situation) -> int:
    work = situation.n * situation.d * max(situation.n_classes, 1)
    return 3 if situation.fast or work > 200_000 else max(2, min(5, situation.n // 2))


def _fit_logistic(
    situation: Situation,
    X: np.ndarray,
    y: np.ndarray,
    strengths: tuple[float, ...],
    **settings: Any,
) -> Any:
    """Choose the penalty on the rows of classes that every fold can hold, then fit all rows."""
    from corollary.linear import LogisticRegression, LogisticRegressionCV

    counts = np.bincount(y)
    folds = max(2, min(_inner_folds(situation), int(np.sort(counts)[-2])))
    rows = counts[y] >= folds
    l1 = settings.pop("l1_ratio", 0.0)
    search = LogisticRegressionCV(Cs=strengths, l1_ratios=(l1,), cv=folds, **settings)
    try:
        with without_memory():
            strength = float(search.fit(X[rows], y[rows]).C_)
    except ValueError:  # fewer than two classes have rows enough
        strength = 1.0
    return LogisticRegression(C=strength, l1_ratio=l1, **settings).fit(X, y)


@register_candidate(
    "logistic",
    "logistic regression",
    "Linear scores turned into probabilities, with a squared penalty chosen by cross-validation.",
    tasks=("classification",),
    settings=("C",),
    learnt=("coef_", "intercept_"),
)
def _logistic(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    strengths = (0.003, 0.03, 0.3, 3.0) if situation.fast else tuple(10.0 ** np.arange(-3, 3))
    return _fit_logistic(situation, X, y, strengths, max_iter=200)


@register_candidate(
    "sparse-logistic",
    "sparse logistic regression",
    "Logistic regression whose penalty sets weak coefficients to zero.",
    tasks=("classification",),
    applies=lambda s: not s.fast and s.d > 1 and s.n * s.d * s.n_classes**2 <= SPARSE_WORK,
    settings=("C",),
    learnt=("coef_", "intercept_"),
)
def _sparse_logistic(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    strengths = tuple(10.0 ** np.arange(-2.0, 2.0, 0.5))
    return _fit_logistic(situation, X, y, strengths, l1_ratio=1.0, tol=1e-3, max_iter=200)


_RIDGE = "Linear model with a squared penalty chosen by leave-one-out error"
_LASSO = "Linear model whose penalty, chosen by cross-validation, sets weak coefficients to zero"


@register_candidate(
    "ridge",
    "ridge regression",
    f"{_RIDGE}.",
    tasks=("regression",),
    settings=("alpha_",),
    learnt=("coef_", "intercept_"),
)
@register_candidate(
    "ridge-log",
    "ridge regression of the logarithm",
    f"{_RIDGE}, fitted to the logarithm of the target.",
    tasks=("regression",),
    log=True,
    settings=("alpha_",),
    learnt=("coef_", "intercept_"),
)
def _ridge(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.linear import RidgeCV

    return RidgeCV(alphas=tuple(10.0 ** np.arange(-3.0, 6.0))).fit(X, y)


@register_candidate(
    "lasso",
    "lasso",
    f"{_LASSO}.",
    tasks=("regression",),
    applies=lambda s: not s.fast and s.d > 1 and not s.log,
    settings=("alpha_",),
    learnt=("coef_", "intercept_"),
    article="the",
)
@register_candidate(
    "lasso-log",
    "lasso of the logarithm",
    f"{_LASSO}, fitted to the logarithm of the target.",
    tasks=("regression",),
    applies=lambda s: not s.fast and s.d > 1,
    log=True,
    settings=("alpha_",),
    learnt=("coef_", "intercept_"),
    article="the",
)
def _lasso(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.linear import LassoCV

    return LassoCV(cv=_inner_folds(situation)).fit(X, y)
