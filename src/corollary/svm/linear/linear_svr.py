"""Linear support vector regression for many rows and features."""

from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from corollary.core.estimator import (
    Count,
    NoEffect,
    NonNegative,
    Positive,
    RandomSeed,
    Regressor,
    fitted,
)
from corollary.core.parallel import row_products
from corollary.core.schema import Array, Integer, Number
from corollary.svm.linear._solver import best_linear_svm, report_unfinished, with_constant

_SLACK = {"epsilon_insensitive": "hinge", "squared_epsilon_insensitive": "squared_hinge"}


class LinearSVR(Regressor):
    r"""Regress on a hyperplane with a tube in which errors cost nothing.

    Minimises :math:`\frac12 (\|w\|^2 + v^2) + C \sum_i \max(0, |y_i - \langle w, x_i \rangle - s v|
    - \varepsilon)`, or the squares of these errors; the intercept :math:`s v` is the weight of a
    feature of constant value s.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half width of the tube.
    tol : float, default=1e-4
        Largest violation of the optimality conditions.
    C : float, default=1.0
        Price of errors outside the tube.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        Whether errors outside the tube are paid linearly or squared.
    fit_intercept : bool, default=True
        Whether there is a constant feature.
    intercept_scaling : float, default=1.0
        Its value s; a large one makes the penalty on the intercept small.
    dual : bool or "auto", default="auto"
        Not used: the solver that suits the rows is taken, and the machine is the same.
    verbose : int, default=0
        Not used.
    random_state : int, RandomState instance or None, default=None
        Source of the order in which rows are visited, by dual coordinate descent.
    max_iter : int, default=1000
        Largest number of passes over the rows.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    intercept_ : ndarray of shape (1,)
        Offset.
    objective_ : float
        Value of the dual problem.
    dual_gap_ : float
        Primal value minus dual value.
    kkt_violation_ : float
        Largest violation of the optimality conditions.
    n_iter_ : int
        Passes made.

    See Also
    --------
    SVR : Kernels, and an intercept that is not penalised.
    linear_svm : The solver.

    Notes
    -----
    An error above the tube and one below it are the slacks of two margins, :math:`y_i -
    \varepsilon` and :math:`-y_i - \varepsilon`; so the solvers of :class:`LinearSVC` are used.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import LinearSVR
    >>> X = np.arange(20.0)[:, None] / 10
    >>> model = LinearSVR(C=100.0, random_state=0).fit(X, 3.0 * X[:, 0] + 1.0)
    >>> model.coef_.round(2), model.intercept_.round(2)
    (array([3.]), array([1.]))
    """

    _: KW_ONLY
    epsilon: NonNegative = 0.0
    tol: Positive = 1e-4
    C: Positive = 1.0
    loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = "epsilon_insensitive"
    fit_intercept: bool = True
    intercept_scaling: Positive = 1.0
    dual: NoEffect = "auto"
    verbose: NoEffect = 0
    random_state: RandomSeed = None
    max_iter: Count = 1000

    coef_: np.ndarray = fitted(Array("f", "d"))
    intercept_: np.ndarray = fitted(Array("f", 1))
    objective_: float = fitted(Number())
    dual_gap_: float = fitted(Number())
    kkt_violation_: float = fitted(Number(0))
    n_iter_: int = fitted(Integer(1))

    _rows = {"accept_sparse": "csr"}
    _training_rows = {"finite_squares": True}

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        n = len(y)
        price = self.C * (np.ones(n) if sample_weight is None else sample_weight)
        if self.fit_intercept:
            X = with_constant(X, self.intercept_scaling)
        machine = best_linear_svm(
            sparse.vstack([X, X], format="csr") if sparse.issparse(X) else np.vstack([X, X]),
            np.repeat([1.0, -1.0], n),
            _SLACK[self.loss],
            check_random_state(self.random_state),
            C=np.tile(price, 2),
            margin=np.concatenate([y - self.epsilon, -y - self.epsilon]),
            tol=self.tol,
            max_iter=self.max_iter,
        )
        split = X.shape[1] - self.fit_intercept
        self.coef_ = machine.coef[:split].copy()
        self.intercept_ = np.zeros(1)
        if self.fit_intercept:
            self.intercept_ = self.intercept_scaling * machine.coef[split:]
        self.objective_, self.dual_gap_ = machine.objective, machine.gap
        self.kkt_violation_, self.n_iter_ = machine.violation, machine.n_iter
        if not machine.converged:
            report_unfinished(self)

    def _predict(self, X: Any) -> np.ndarray:
        return row_products(X, self.coef_) + self.intercept_
