"""Choice of the penalty of logistic regression by cross-validation."""

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets

from corollary.core.compat import Interval, StrOptions, fit_context
from corollary.core.estimator import check_training_data
from corollary.core.progress import track
from corollary.core.schema import Array, Number, Schema
from corollary.linear._classifier import (
    FITTED_CLASSIFIER,
    ProbabilisticLinearClassifier,
    scores_fit_classes,
)
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
    l1_ratios : sequence of float, default=(0.0,)
        Shares of the l1 norm in the penalty to try.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    cv : int, cross-validation generator, iterable or None, default=None
        Folds; None means 5 stratified ones.
    scoring : str, callable or None, default="neg_log_loss"
        What is best; None means accuracy.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weight of each class.
    solver : {"auto", "newton", "lbfgs", "proximal"}, default="auto"
        As in :class:`LogisticRegression`.
    tol : float, default=1e-4
        As in :class:`LogisticRegression`.
    max_iter : int, default=100
        As in :class:`LogisticRegression`.
    n_jobs : int or None, default=None
        Threads of every fit; None means one per available core.
    random_state : int, RandomState instance or None, default=None
        Nothing here is random; accepted so that code written for scikit-learn runs.

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
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X has any.

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

    _parameter_constraints: dict = {
        "Cs": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "l1_ratios": ["array-like"],
        "fit_intercept": ["boolean"],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "solver": [StrOptions({"auto", "newton", "lbfgs", "proximal"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    _schema = Schema(
        scores_fit_classes,
        **FITTED_CLASSIFIER,
        C_=Number(0),
        l1_ratio_=Number(0, 1),
        Cs_=Array("f", "c"),
        l1_ratios_=Array("f", "l"),
        scores_=Array("f", "f", "l", "c"),
        coefs_paths_=Array("f", "f", "l", "c", "r", "*"),
        n_iter_=Array("i", "f", "l", "c"),
    )

    def __init__(
        self,
        *,
        Cs: int | Sequence[float] = 10,
        l1_ratios: Sequence[float] = (0.0,),
        fit_intercept: bool = True,
        cv: Any = None,
        scoring: Any = "neg_log_loss",
        class_weight: Any = None,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.scoring = scoring
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the penalty and fit.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights, used in fits and in scores.

        Returns
        -------
        self : LogisticRegressionCV
            The fitted model.
        """
        from sklearn.model_selection import check_cv

        X, y, sample_weight = check_training_data(
            self,
            X,
            y,
            sample_weight=sample_weight,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            finite_squares=True,
        )
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(
                "LogisticRegressionCV needs rows of at least 2 classes. Got one class: "
                f"{self.classes_.tolist()[0]!r}."
            )
        if isinstance(self.Cs, Integral):
            self.Cs_ = np.logspace(-4, 4, int(self.Cs))
        else:
            self.Cs_ = np.sort(np.asarray(self.Cs, dtype=np.float64))
        self.l1_ratios_ = np.asarray(self.l1_ratios, dtype=np.float64)
        folds = list(check_cv(self.cv, y, classifier=True).split(X, y))
        self._walk(X, y, sample_weight, folds)
        mean = self.scores_.mean(axis=0)
        # Candidates ascend in C: the first best has the strongest penalty.
        i, j = np.unravel_index(int(np.argmax(mean)), mean.shape)
        self.l1_ratio_, self.C_ = float(self.l1_ratios_[i]), float(self.Cs_[j])
        best = self._model().set_params(C=self.C_, l1_ratio=self.l1_ratio_)
        best.fit(X, y, sample_weight)
        self.coef_, self.intercept_ = best.coef_, best.intercept_
        return self

    def _model(self) -> LogisticRegression:
        return LogisticRegression(
            fit_intercept=self.fit_intercept,
            class_weight=self.class_weight,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
        )

    def _score(
        self, model: LogisticRegression, X: Any, y: np.ndarray, weight: np.ndarray | None
    ) -> float:
        if self.scoring == "neg_log_loss":
            # scikit-learn's scorer refuses folds in which only one class occurs.
            own = np.searchsorted(self.classes_, y)
            return float(
                np.average(model.predict_log_proba(X)[np.arange(len(y)), own], weights=weight)
            )
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
                stacklevel=3,
            )
