r"""One machine for all classes together.

With a vector :math:`w_z` for every class, minimises

.. math:: \tfrac12 \sum_z \|w_z\|^2 + C \sum_i \max\bigl(0, 1 - \langle w_{z_i}, x_i \rangle
          + \max_{z \ne z_i} \langle w_z, x_i \rangle\bigr).

The functional margin, a difference of two scores, is no distance: the distance to the boundary
between classes is that difference over :math:`\|w_{z_i} - w_z\|`. For two classes this is the
machine for a pair with :math:`w = w_1 - w_2` and twice the price.
"""

import warnings
from dataclasses import KW_ONLY
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from corollary.core.estimator import (
    Count,
    Positive,
    PositiveOrInfinite,
    RandomSeed,
    ScoringClassifier,
    fitted,
)
from corollary.core.schema import Array
from corollary.kernels import Kernel, Linear
from corollary.svm.machines._machine import Gamma, KernelLike, KernelMachine


class JointSolution(NamedTuple):
    """Dual weights of the joint machine.

    Parameters
    ----------
    tau : ndarray of shape (n_samples, n_classes)
        Weights; ``w_z = sum_i tau[i, z] x_i``. Rows sum to zero, and only the weight of a row's own
        class is positive.
    objective : float
        Value of the dual problem.
    gap : float
        Value of the primal problem minus that of the dual one.
    violation : float
        Largest violation of the optimality conditions.
    n_iter : int
        Passes made.
    converged : bool
        Whether the violation is at most the tolerance.
    """

    tau: np.ndarray
    objective: float
    gap: float
    violation: float
    n_iter: int
    converged: bool


def joint_svm(
    X: Any,
    code: Any,
    *,
    C: Any = 1.0,
    precomputed: bool = False,
    tol: float = 1e-4,
    max_iter: int = 1000,
    random_state: Any = None,
) -> JointSolution:
    """Fit the joint machine of several classes by dual coordinate descent.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        Rows, or their Gram matrix.
    code : array-like of int of shape (n_samples,)
        Classes, numbered from 0.
    C : float or array-like of shape (n_samples,), default=1.0
        Price of slack; infinity for the hard margin, which exists only for separable classes.
    precomputed : bool, default=False
        Whether X is a Gram matrix.
    tol : float, default=1e-4
        Largest violation of the optimality conditions.
    max_iter : int, default=1000
        Largest number of passes over the rows.
    random_state : int, RandomState instance or None, default=None
        Source of the order of rows.

    Returns
    -------
    solution : JointSolution
        Dual weights, objective, gap and what was reached.

    References
    ----------
    .. [1] K. Crammer, Y. Singer (2001). On the algorithmic implementation of multiclass
       kernel-based vector machines. JMLR 2, 265-292.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import joint_svm
    >>> X = np.eye(3)
    >>> solution = joint_svm(X, [0, 1, 2], C=10.0, random_state=0)
    >>> (X.T @ solution.tau).round(4)
    array([[ 0.6667, -0.3333, -0.3333],
           [-0.3333,  0.6667, -0.3333],
           [-0.3333, -0.3333,  0.6667]])
    """
    from corollary.svm._loops.joint import pass_gram, pass_rows

    X = np.ascontiguousarray(X, dtype=np.float64)
    code = np.asarray(code, dtype=np.int64)
    n = len(X)
    if X.ndim != 2 or code.shape != (n,) or (n and code.min() < 0):
        raise ValueError(
            "joint_svm needs a table of rows and one class, numbered from 0, for each. Got shapes "
            f"{X.shape} and {code.shape}."
        )
    if precomputed and X.shape != (n, n):
        raise ValueError(f"With precomputed=True, X must be square. Got shape {X.shape}.")
    k = int(code.max()) + 1
    price = np.broadcast_to(np.asarray(C, dtype=np.float64), (n,)).copy()
    if not (price >= 0).all():
        raise ValueError(f"The 'C' parameter of joint_svm must be positive. Got {C!r} instead.")
    tau = np.zeros((n, k))
    paying = np.flatnonzero(price)
    random = check_random_state(random_state)
    state = np.zeros((n, k)) if precomputed else np.zeros((k, X.shape[1]))
    squares = np.einsum("ij,ij->i", X, X)
    violation, passes = np.inf, 0
    while violation > tol and passes < max_iter:
        order = random.permutation(paying)
        passes += 1
        if precomputed:
            violation = pass_gram(X, code, order, price, tau, state)
        else:
            violation = pass_rows(X, squares, code, order, price, tau, state)
    scores = state if precomputed else X @ state.T
    norm = float((tau * scores).sum())
    true_scores = scores[np.arange(n), code]
    others = scores.copy()
    others[np.arange(n), code] = -np.inf
    slack = np.maximum(0.0, 1.0 - true_scores + others.max(axis=1)) if k > 1 else np.zeros(n)
    paid = float(price[paying] @ slack[paying]) if np.isfinite(price).all() else 0.0
    dual = float(tau[np.arange(n), code].sum()) - 0.5 * norm
    return JointSolution(
        tau, dual, 0.5 * norm + paid - dual, float(violation), passes, bool(violation <= tol)
    )


class MulticlassSVC(KernelMachine, ScoringClassifier):
    """Classify by one joint machine: every class has scores, and the highest wins.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack; infinity for the hard margin, which exists only for classes that can be
        separated.
    kernel : Kernel, str or callable, default="linear"
        As in :class:`SVC`. With "linear" training costs O(n_features) a step, else O(n_samples),
        and the Gram matrix is held.
    degree : int, default=3
        For the named polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        For named kernels.
    coef0 : float, default=0.0
        For the named polynomial and sigmoid kernels.
    fit_intercept : bool, default=True
        Whether one is added to the kernel: a constant feature, whose weight is penalised.
    tol : float, default=1e-4
        Largest violation of the optimality conditions.
    max_iter : int, default=1000
        Largest number of passes over the rows.
    random_state : int, RandomState instance or None, default=None
        Source of the order in which rows are visited.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    support_ : ndarray of int of shape (n_support,)
        Training rows that are support vectors.
    support_vectors_ : ndarray of shape (n_support, n_features)
        Those rows; None if the kernel is "precomputed".
    dual_coef_ : ndarray of shape (n_classes, n_support)
        Weights of the support vectors in the scores of each class.
    intercept_ : ndarray of shape (n_classes,)
        Offsets of the scores.
    kernel_ : Kernel
        The kernel used; None if the kernel is "precomputed".
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
    SVC : One machine for each pair of classes.
    StructuralSVM : Outputs with structure.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from corollary.svm import MulticlassSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MulticlassSVC(max_iter=10000, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    """

    _: KW_ONLY
    C: PositiveOrInfinite = 1.0
    kernel: KernelLike = "linear"
    degree: Count = 3
    gamma: Gamma = "scale"
    coef0: float = 0.0
    fit_intercept: bool = True
    tol: Positive = 1e-4
    max_iter: Count = 1000
    random_state: RandomSeed = None

    dual_coef_: np.ndarray = fitted(Array("f", "k", "s"))
    intercept_: np.ndarray = fitted(Array("f", "k"))

    _training_rows = {"finite_squares": True}

    def _row_checks(self) -> dict[str, Any]:
        return {}

    def _fit(self, X: Any, codes: np.ndarray, sample_weight: np.ndarray | None) -> None:
        self._choose_kernel(X, sample_weight)
        price: Any = self.C
        if sample_weight is not None:
            weight = np.maximum(sample_weight, 1e-300)
            price = np.where(sample_weight > 0, self.C * weight, 0.0)
        by_rows = isinstance(self.kernel_, Linear)
        if by_rows:
            inputs = np.hstack([X, np.ones((len(codes), 1))]) if self.fit_intercept else X
        else:
            inputs = self._whole_gram(X) + float(self.fit_intercept)
        solution = joint_svm(
            inputs,
            codes,
            C=price,
            precomputed=not by_rows,
            tol=self.tol,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )
        support = np.flatnonzero(solution.tau.any(axis=1))
        self._keep_support(X, support, np.ascontiguousarray(solution.tau[support].T))
        k = len(self.classes_)
        self.intercept_ = solution.tau.sum(axis=0) if self.fit_intercept else np.zeros(k)
        self.n_iter_ = solution.n_iter
        self.objective_, self.dual_gap_ = solution.objective, solution.gap
        self.kkt_violation_ = solution.violation
        if not solution.converged:
            hard = " If the classes cannot be separated, there is no hard margin: use a finite C."
            warnings.warn(
                f"MulticlassSVC stopped after {solution.n_iter} passes with a KKT violation of "
                f"{solution.violation:.2g} (tol={self.tol:.2g}) and a duality gap of "
                f"{solution.gap:.2g} (objective {solution.objective:.4g}). Increase max_iter="
                f"{self.max_iter} or tol, or scale the features."
                + (hard if np.isinf(self.C) else ""),
                ConvergenceWarning,
                stacklevel=3,
            )

    def _whole_gram(self, X: np.ndarray) -> np.ndarray:
        if self.kernel_ is None:
            return X
        if isinstance(self.kernel_, Kernel):
            return np.asarray(self.kernel_.gram(X))
        return np.asarray(self.kernel_(X, X), dtype=np.float64)

    def _scores(self, X: Any) -> np.ndarray:
        scores = self._expand(X, self.dual_coef_.T) + self.intercept_
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
