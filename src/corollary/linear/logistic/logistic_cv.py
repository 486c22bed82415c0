"""Choice of the penalty of logistic regression by cross-validation."""

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY
from numbers import Integral
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from corollary.core.compat import Only
from corollary.core.estimator import (
    ArrayLike,
    ClassWeight,
    Count,
    NoEffect,
    Positive,
    RandomSeed,
    fitted,
)
from corollary.core.progress import track
from corollary.core.schema import Array, Number
from corollary.linear._classifier import ProbabilisticLinearClassifier
from corollary.linear._parameters import Folds, LogisticSolver
from corollary.linear.logistic.regression import LogisticRegression


class LogisticRegressionCV(ProbabilisticLinearClassifier):
    """Logistic regression with C and ``l1_ratio`` chosen by cross-validation.

    In every fold the models are fitted from the strongest penalty to the weakest, each started
    from the one before. The best mean score wins, among equals the strongest penalty; the winner
    is fitted again on all rows.

    Parameters
    ----------
    Cs : int or sequence of float, default=10
        Inverse strengths of the penalty to try; a number means that many on a logarithmic grid
        from 1e-4 to 1e4.
    l1_ratios : sequence of float or None, default=(0.0,)
        Shares of the l1 norm in the penalty to try; None is (0.0,).
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    cv : int, cross-validation generator, iterable or None, default=None
        Folds; None means 5 stratified ones.
    dual : bool, default=False
        Changes nothing: the minimum is the same.
    penalty : {"l1", "l2", "elasticnet", "deprecated"}, default="deprecated"
        scikit-learn's older way to say what ``l1_ratios`` says: "l2" is (0.0,), "l1" is (1.0,) and
        "elasticnet" takes ``l1_ratios`` as they are.
    scoring : str, callable or None, default="neg_log_loss"
        What is best; None means accuracy.
    solver : str, default="auto"
        As in :class:`LogisticRegression`.
    tol : float, default=1e-4
        As in :class:`LogisticRegression`.
    max_iter : int, default=100
        As in :class:`LogisticRegression`.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weight of each class.
    n_jobs : int or None, default=None
        Threads of every fit; None means one per available core.
    verbose : int, default=0
        Changes nothing: long work shows its progress in a terminal by itself.
    refit : bool, default=True
        Whether the winner is fitted again on all rows; otherwise the coefficients that were best
        in each fold are averaged, and so are their penalties.
    intercept_scaling : float, default=1.0
        As in :class:`LogisticRegression`.
    random_state : int, RandomState instance or None, default=None
        Nothing here is random; accepted so that code written for scikit-learn runs.
    use_legacy_attributes : bool, default=False
        False: attributes have the forms below, which scikit-learn has with False as well.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients; one row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts; zero if not fitted.
    C_ : float
        The chosen C.
    l1_ratio_ : float
        The chosen ``l1_ratio``.
    Cs_ : ndarray of shape (n_cs,)
        Candidates, ascending.
    l1_ratios_ : ndarray of shape (n_l1_ratios,)
        Candidates.
    scores_ : ndarray of shape (n_folds, n_l1_ratios, n_cs)
        Score of every candidate on every fold.
    coefs_paths_ : ndarray of shape (n_folds, n_l1_ratios, n_cs, n_outputs, n_dof)
        Coefficients of every fit, the intercept last if there is one.
    n_iter_ : ndarray of shape (n_folds, n_l1_ratios, n_cs)
        Steps of every fit.

    See Also
    --------
    LogisticRegression : One fit with given C.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from corollary.linear import LogisticRegressionCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegressionCV(Cs=[0.01, 0.1, 1.0, 10.0]).fit(scale(X), y)
    >>> model.C_
    1.0
    """

    _: KW_ONLY
    Cs: Count | ArrayLike = 10
    l1_ratios: ArrayLike | None = (0.0,)
    fit_intercept: bool = True
    cv: Folds = None
    dual: bool = False
    penalty: Literal["l1", "l2", "elasticnet", "deprecated"] = "deprecated"
    scoring: str | Callable[..., Any] | None = "neg_log_loss"
    solver: LogisticSolver = "auto"
    tol: Positive = 1e-4
    max_iter: Count = 100
    class_weight: ClassWeight = None
    n_jobs: int | None = None
    verbose: NoEffect = 0
    refit: bool = True
    intercept_scaling: Positive = 1.0
    random_state: RandomSeed = None
    use_legacy_attributes: Annotated[
        bool | str,
        Only(False, "warn", instead="attributes have the form of use_legacy_attributes=False"),
    ] = False

    C_: float = fitted(Number(0, infinite=True))
    l1_ratio_: float = fitted(Number(0, 1))
    Cs_: np.ndarray = fitted(Array("f", "c", infinite=True))
    l1_ratios_: np.ndarray = fitted(Array("f", "l"))
    scores_: np.ndarray = fitted(Array("f", "f", "l", "c", nan=True, infinite=True))
    coefs_paths_: np.ndarray = fitted(Array("f", "f", "l", "c", "r", "*"))
    n_iter_: np.ndarray = fitted(Array("i", "f", "l", "c"))

    _training_rows: ClassVar[dict[str, Any]] = {"finite_squares": True, "order": "C"}

    def _fit(self, X: Any, codes: np.ndarray, sample_weight: np.ndarray | None) -> None:
        from sklearn.model_selection import check_cv

        if isinstance(self.Cs, Integral):
            self.Cs_ = np.logspace(-4, 4, int(self.Cs))
        else:
            self.Cs_ = np.sort(np.asarray(self.Cs, dtype=np.float64))
        named = {"l1": (1.0,), "l2": (0.0,)}.get(self.penalty, self.l1_ratios)
        self.l1_ratios_ = np.asarray((0.0,) if named is None else named, dtype=np.float64)
        if not np.all((self.l1_ratios_ >= 0) & (self.l1_ratios_ <= 1)):
            raise ValueError(
                "l1_ratios must be an array-like of numbers between 0 and 1; got "
                f"(l1_ratios={self.l1_ratios!r})."
            )
        y = self.classes_[codes]  # a scorer may ask for labels
        folds = list(check_cv(self.cv, y, classifier=True).split(X, y))
        self._walk(X, y, sample_weight, folds)
        # A fold counts as much as the rows it judges; a scorer may not be a mean over rows.
        masses = None
        if sample_weight is not None:
            masses = np.array([sample_weight[test].sum() for _, test in folds])
        if self.refit:
            self._refit(X, y, sample_weight, masses)
        else:
            self._average(masses)

    def _refit(
        self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None, masses: np.ndarray | None
    ) -> None:
        """Fit the candidate of the best mean score to all rows."""
        mean = np.average(self.scores_, axis=0, weights=masses)
        # Candidates ascend in C: the first best has the strongest penalty.
        i, j = np.unravel_index(int(np.argmax(mean)), mean.shape)
        self.l1_ratio_, self.C_ = float(self.l1_ratios_[i]), float(self.Cs_[j])
        best = self._model().set_params(C=self.C_, l1_ratio=self.l1_ratio_)
        best.fit(X, y, sample_weight)
        self.coef_, self.intercept_ = best.coef_, best.intercept_

    def _average(self, masses: np.ndarray | None) -> None:
        """Average what was best in each fold."""
        flat = self.scores_.reshape(len(self.scores_), -1).argmax(axis=1)
        i, j = np.unravel_index(flat, self.scores_.shape[1:])
        best = self.coefs_paths_[np.arange(len(flat)), i, j]
        path = np.average(best, axis=0, weights=masses)
        self.C_ = float(np.average(self.Cs_[j], weights=masses))
        self.l1_ratio_ = float(np.average(self.l1_ratios_[i], weights=masses))
        self.coef_, self.intercept_ = path, np.zeros(len(path))
        if self.fit_intercept:
            self.coef_, self.intercept_ = path[:, :-1].copy(), path[:, -1].copy()

    def _model(self) -> LogisticRegression:
        return LogisticRegression(
            fit_intercept=self.fit_intercept,
            class_weight=self.class_weight,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
            intercept_scaling=self.intercept_scaling,
        )

    def _score(
        self, model: LogisticRegression, X: Any, y: np.ndarray, weight: np.ndarray | None
    ) -> float:
        if self.scoring == "neg_log_loss":
            # scikit-learn's scorer refuses folds in which only one class occurs.
            codes = np.searchsorted(self.classes_, y)
            log_likelihood = model.predict_log_proba(X)[np.arange(len(y)), codes]
            return float(np.average(log_likelihood, weights=weight))
        from sklearn.metrics import check_scoring

        score = check_scoring(model, scoring=self.scoring)
        return score(model, X, y, **({} if weight is None else {"sample_weight": weight}))

    def _walk(self, X: Any, y: np.ndarray, weight: np.ndarray | None, folds: list) -> None:
        shape = (len(folds), len(self.l1_ratios_), len(self.Cs_))
        n_outputs = 1 if len(self.classes_) == 2 else len(self.classes_)
        n_dof = X.shape[1] + self.fit_intercept
        self.scores_, self.n_iter_ = np.empty(shape), np.empty(shape, dtype=np.int32)
        self.coefs_paths_ = np.empty((*shape, n_outputs, n_dof))
        unfinished = 0
        with track("cross-validating", total=self.scores_.size) as step:
            for f, (train, test) in enumerate(folds):
                missing = np.setdiff1d(self.classes_, y[train])
                if len(missing):
                    raise ValueError(
                        f"LogisticRegressionCV: class {missing.tolist()[0]!r} is missing from the "
                        f"training rows of fold {f}. Use fewer folds, or stratified ones."
                    )
                inner = (X[train], y[train], None if weight is None else weight[train])
                outer = (X[test], y[test], None if weight is None else weight[test])
                for i, ratio in enumerate(self.l1_ratios_):
                    model = self._model().set_params(warm_start=True, l1_ratio=float(ratio))
                    for j, C in enumerate(self.Cs_):
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore", ConvergenceWarning)
                            model.set_params(C=float(C)).fit(*inner)
                        unfinished += not model.converged_
                        self.scores_[f, i, j] = self._score(model, *outer)
                        self.n_iter_[f, i, j] = model.n_iter_[0]
                        path = self.coefs_paths_[f, i, j]
                        path[:, : X.shape[1]] = model.coef_
                        if self.fit_intercept:
                            path[:, -1] = model.intercept_
                        step(score=self.scores_[f, i, j])
        if unfinished:
            warnings.warn(
                f"LogisticRegressionCV: {unfinished} of {self.scores_.size} fits stopped at "
                f"max_iter={self.max_iter} before tol={self.tol:.1e} was met. Increase max_iter, "
                "or bring the features to one scale.",
                ConvergenceWarning,
                stacklevel=5,
            )
