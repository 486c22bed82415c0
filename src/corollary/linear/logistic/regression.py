r"""Logistic and multinomial (softmax) regression.

The model says :math:`P(y = k \mid x) \propto e^{\langle w_k, x \rangle + b_k}`; with two
classes one score, the log odds of the second class, is enough. It is fitted by maximum
likelihood with an optional l1, l2 or mixed penalty on the coefficients (never on the intercept).
"""

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets

from corollary.core.compat import fit_context
from corollary.core.estimator import (
    ClassWeight,
    Count,
    Fraction,
    NoEffect,
    Positive,
    PositiveOrInfinite,
    RandomSeed,
    class_factors,
    fitted,
    read_source,
    refuse_one_class,
)
from corollary.core.schema import Array, Text
from corollary.core.summary import ArraySource, Source
from corollary.linear._classifier import ProbabilisticLinearClassifier
from corollary.linear._parameters import LogisticSolver
from corollary.linear.logistic._census import Census, ColumnSpread
from corollary.linear.logistic._problem import (
    LogisticProblem,
    choose_solver,
    separation,
    solve,
    subsample_start,
)
from corollary.optimize import NewtonResult


class LogisticRegression(ProbabilisticLinearClassifier):
    r"""Classify by a linear model of the log odds.

    Minimises, as scikit-learn's class of this name does,

    .. math:: \frac1S \sum_i s_i \bigl( -\log P(y_i \mid x_i) \bigr)
              + \frac1{C S} \Bigl( \tfrac{1 - \rho}{2} \|w\|_2^2 + \rho \|w\|_1 \Bigr)

    with sample weights :math:`s_i` (``sample_weight`` times ``class_weight``), their sum S, and
    :math:`\rho` the ``l1_ratio``. Sums over rows run in threads over fixed blocks: memory beyond
    the data is that of a few blocks, and the answer does not depend on the number of threads.

    Parameters
    ----------
    penalty : {"l1", "l2", "elasticnet", "deprecated"} or None, default="deprecated"
        scikit-learn's older way to say what ``C`` and ``l1_ratio`` say: "l2" is ``l1_ratio=0``,
        "l1" is ``l1_ratio=1``, "elasticnet" takes ``l1_ratio`` as it is, None is ``C=numpy.inf``.
        By default they speak for themselves.
    C : float, default=1.0
        Inverse strength of the penalty; infinity for no penalty.
    l1_ratio : float or None, default=0.0
        Share of the l1 norm in the penalty: 0 (or None) for ridge, 1 for lasso.
    dual : bool, default=False
        Changes nothing: the minimum is the same.
    tol : float, default=1e-4
        Largest allowed entry of the gradient of the objective, or of the violation of the
        optimality conditions with an l1 penalty. Newton also requires that the squared Newton
        decrement, an estimate of twice the remaining gain, is at most ``tol ** 2``.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    intercept_scaling : float, default=1
        With ``solver="liblinear"`` only: the intercept is penalised like the coefficient of a
        feature of this constant size.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weight of each class; "balanced" gives every class the same total weight.
    random_state : int, RandomState instance or None, default=None
        Nothing here is random; accepted so that code written for scikit-learn runs.
    solver : str, default="auto"
        "newton" (iteratively reweighted least squares) takes the fewest passes over the data
        and needs memory for a square matrix of the number of parameters; "lbfgs" suits many
        parameters; "proximal" (proximal Newton with coordinate descent) is the one for an l1
        penalty. "auto" chooses among them. scikit-learn's names lead to the minimum that they
        stand for: "newton-cholesky" is "newton", and "newton-cg", "sag", "saga" and "liblinear"
        choose like "auto"; "liblinear" also penalises the intercept, and takes two classes only.
    max_iter : int, default=100
        Largest number of steps.
    verbose : int, default=0
        Changes nothing: long work shows its progress in a terminal by itself.
    warm_start : bool, default=False
        Whether to start from the coefficients of the previous fit.
    n_jobs : int or None, default=None
        Threads; None means one per available core.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients; one row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts; zero if not fitted.
    n_iter_ : ndarray of shape (1,)
        Steps taken on the full data.
    converged_ : bool
        Whether the tolerance was met.
    solver_ : str
        The solver that was used.

    See Also
    --------
    LogisticRegressionCV : Chooses C (and ``l1_ratio``) by cross-validation.
    separability : Says beforehand whether a fit without penalty has a solution.

    Notes
    -----
    Without penalty (``C=numpy.inf``) no minimiser exists if some direction separates the classes,
    or the rows of one category from the rest: the likelihood grows for ever along it. Both cases
    are recognised and lead to a warning; the coefficients returned are then those at which the
    tolerance was met.

    With several classes every class has its own coefficients, of which one set is redundant. The
    l2 penalty makes them sum to zero over the classes, and without penalty we choose the solution
    with that property.

    References
    ----------
    .. [1] A. Albert and J. A. Anderson (1984). On the existence of maximum likelihood estimates
       in logistic regression models. Biometrika 71, 1-10.
    .. [2] J. D. Lee, Y. Sun and M. A. Saunders (2014). Proximal Newton-type methods for
       minimizing composite functions. SIAM Journal on Optimization 24, 1420-1443.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from corollary.linear import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    >>> model.predict_proba(X[:1]).round(3)
    array([[0.982, 0.018, 0.   ]])
    >>> LogisticRegression(C=0.05, l1_ratio=1.0).fit(X, y == 2).coef_.round(1)
    array([[0. , 0. , 1.1, 0. ]])
    """

    penalty: Literal["l1", "l2", "elasticnet", "deprecated"] | None = "deprecated"
    _: KW_ONLY
    C: PositiveOrInfinite = 1.0
    l1_ratio: Fraction | None = 0.0
    dual: bool = False
    tol: Positive = 1e-4
    fit_intercept: bool = True
    intercept_scaling: Positive = 1
    class_weight: ClassWeight = None
    random_state: RandomSeed = None
    solver: LogisticSolver = "auto"
    max_iter: Count = 100
    verbose: NoEffect = 0
    warm_start: bool = False
    n_jobs: int | None = None

    n_iter_: np.ndarray = fitted(Array("i", 1))
    converged_: bool = fitted()
    solver_: str = fitted(Text(("newton", "lbfgs", "proximal")))

    _training_rows: ClassVar[dict[str, Any]] = {"finite_squares": True, "order": "C"}

    def _fit(self, X: Any, codes: np.ndarray, sample_weight: np.ndarray | None) -> None:
        source = ArraySource((X, codes) if sample_weight is None else (X, codes, sample_weight))
        census = source.reduce(Census(self.classes_, known=True), self.n_jobs)
        self._fit_rows(source, census, codes=True)

    @fit_context(prefer_skip_nested_validation=True)
    def fit_source(
        self,
        data: Any,
        *,
        target: str | None = None,
        columns: Sequence[str] | None = None,
        sample_weight: str | None = None,
    ) -> Self:
        """Fit the model to data that need not fit in memory.

        The first pass over the data finds the classes; every step of the solver is another.

        Parameters
        ----------
        data : path, data frame, Dask collection, or iterable of chunks
            See :func:`corollary.core.summary.open_source`. Arrays and chunks hold ``(X, y)`` or
            ``(X, y, sample_weight)``. A generator will not do, since it can be read only once.
        target : str or None, default=None
            Name of the column that holds the labels, for files and data frames: strings, whole
            numbers or truth values.
        columns : sequence of str or None, default=None
            Names of the features; None for all other columns.
        sample_weight : str or None, default=None
            Name of the column of weights.

        Returns
        -------
        self : LogisticRegression
            The fitted model.
        """
        source, census = read_source(
            self,
            data,
            lambda _: Census(),
            target=target,
            columns=columns,
            sample_weight=sample_weight,
            n_jobs=self.n_jobs,
            one_target=True,
            several_passes=True,
            labels=True,
        )
        check_classification_targets(census.classes)
        refuse_one_class(self, census.classes)
        self.classes_ = census.classes
        self._fit_rows(source, census, codes=False)
        return self

    def _fit_rows(self, source: Source, census: Census, *, codes: bool) -> None:
        """Fit to rows wherever they are, in the same steps; they hold codes or labels."""
        problem = self._problem(source, census.totals)
        if not codes:
            problem = replace(problem, classes=self.classes_)
        if self.fit_intercept and problem.intercept_scaling is None and not census.is_sparse:
            problem = replace(problem, offset=source.reduce(ColumnSpread(), self.n_jobs).offset())
        solver = choose_solver(problem, self.solver, is_sparse=census.is_sparse)
        start, hessian = self._start(problem, problem.offset), None
        if start is None:
            guess = subsample_start(problem, census.n_rows, solver)
            if guess is not None:
                start, hessian = guess.x, guess.hessian
        self._solve(problem, solver, start, hessian)
        if problem.offset is not None:
            self.intercept_ = self.intercept_ - self.coef_ @ problem.offset

    def _strength(self) -> tuple[float, float]:
        """Return C and the share of the l1 norm that the parameters ask for."""
        if self.penalty is None:
            return np.inf, 0.0
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise ValueError(
                "l1_ratio must be specified when penalty is elasticnet. Give a number from 0 to 1."
            )
        shares = {"l1": 1.0, "l2": 0.0}
        return float(self.C), float(shares.get(self.penalty, self.l1_ratio or 0.0))

    def _problem(self, source: Source, totals: np.ndarray) -> LogisticProblem:
        """Return the problem of rows with codes, given the total weight of each class."""
        factors = class_factors(self.class_weight, self.classes_, totals)
        if factors is not None:
            totals = totals * factors
        if not totals.sum() > 0:
            raise ValueError(
                "LogisticRegression needs rows with positive weight. The weights sum to 0."
            )
        n_outputs = 1 if len(totals) == 2 else len(totals)
        machine = self.solver == "liblinear"
        if machine and n_outputs > 1:
            raise ValueError(
                "The 'liblinear' solver does not support multiclass classification (n_classes >= "
                "3). Use solver='auto', or wrap the estimator in a OneVsRestClassifier."
            )
        C, l1_ratio = self._strength()
        return LogisticProblem(
            source,
            (n_outputs, source.n_features + self.fit_intercept),
            float(totals.sum()),
            C,
            l1_ratio,
            self.fit_intercept,
            class_weight=factors,
            n_jobs=self.n_jobs,
            intercept_scaling=float(self.intercept_scaling) if machine else None,
        )

    def _start(
        self, problem: LogisticProblem, offset: np.ndarray | None = None
    ) -> np.ndarray | None:
        if not (self.warm_start and hasattr(self, "coef_")):
            return None
        self.densify()
        intercept = self.intercept_
        if offset is not None and self.coef_.shape[1] == len(offset):
            intercept = intercept + self.coef_ @ offset
        start = np.hstack([self.coef_] + [intercept[:, None]] * self.fit_intercept)
        if start.shape != problem.shape:
            return None
        if problem.shape[0] > 1 and not problem.l1.any():
            start = start - start.mean(axis=0)
        return start.ravel()

    def _solve(
        self,
        problem: LogisticProblem,
        solver: str,
        start: np.ndarray | None,
        hessian: np.ndarray | None = None,
    ) -> None:
        result = solve(
            problem,
            np.zeros(problem.size) if start is None else start,
            solver=solver,
            tol=self.tol,
            max_iter=self.max_iter,
            hessian=hessian,
        )
        self.coef_, self.intercept_ = problem.split(result.x)
        self.n_iter_ = np.array([result.n_iter], dtype=np.int32)
        self.converged_ = result.converged
        self.solver_ = solver
        self._report(problem, result)

    def _report(self, problem: LogisticProblem, result: NewtonResult) -> None:
        if np.isinf(problem.C):
            kind = separation(problem, result.x)
            if kind is not None:
                what = "the classes" if kind == "complete" else "some rows from the rest"
                warnings.warn(
                    f"No minimiser exists: the features separate {what}, and without penalty "
                    f"(C={problem.C}) the coefficients grow without end. Those reached at "
                    f"tol={self.tol} are returned. Set C to a finite number.",
                    ConvergenceWarning,
                    stacklevel=7,
                )
                return
        if not result.converged:
            warnings.warn(
                f"LogisticRegression(solver={self.solver_!r}) stopped after "
                f"max_iter={self.max_iter} steps at a gradient of {result.gradient_norm:.1e}; "
                f"tol={self.tol:.1e} was asked for. Increase max_iter, or bring the features to "
                "one scale.",
                ConvergenceWarning,
                stacklevel=7,
            )
