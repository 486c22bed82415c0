"""Linear support vector classification for many rows and features."""

from dataclasses import KW_ONLY
from typing import Annotated, Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import Only
from corollary.core.estimator import (
    ClassWeight,
    Count,
    NoEffect,
    Positive,
    RandomSeed,
    ScoringClassifier,
    class_factors,
    fitted,
)
from corollary.core.parallel import row_products
from corollary.core.schema import Array, Integer, Number, Sparse
from corollary.svm.linear._solver import best_linear_svm, report_unfinished, with_constant
from corollary.svm.linear.linear_dual import LinearDual


class LinearSVC(ScoringClassifier):
    r"""Classify by a hyperplane of wide margin, several classes by one against the rest.

    Minimises :math:`\frac12 (\|w\|^2 + v^2) + C \sum_i \ell(y_i (\langle w, x_i \rangle + s v))`
    with the hinge loss or its square, or the sum of the sizes of the weights in place of half their
    squares; the intercept :math:`s v` is the weight of a feature of constant value s.

    Parameters
    ----------
    penalty : {"l1", "l2"}, default="l2"
        Whether weights cost their sizes, so that many are zero, or half their squares. "l1" asks
        for squared slack.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        Whether slack is paid linearly or squared.
    dual : bool or "auto", default="auto"
        Not used: the solver that suits the rows is taken, and the machine is the same.
    tol : float, default=1e-4
        Largest violation of the optimality conditions.
    C : float, default=1.0
        Price of slack.
    multi_class : {"ovr"}, default="ovr"
        Each class against the others; for "crammer_singer", all classes together, take
        :class:`MulticlassSVC`.
    fit_intercept : bool, default=True
        Whether there is a constant feature.
    intercept_scaling : float, default=1.0
        Its value s; a large one makes the penalty on the intercept small.
    class_weight : dict, "balanced" or None, default=None
        Factors of C for classes; "balanced" gives all classes the same total weight.
    verbose : int, default=0
        Not used.
    random_state : int, RandomState instance or None, default=None
        Source of the order in which rows are visited, by dual coordinate descent.
    max_iter : int, default=1000
        Largest number of passes over the rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; one row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Offsets.
    objective_ : float
        Value of the dual problem, summed over the machines.
    dual_gap_ : float
        Primal value minus dual value, summed over the machines.
    kkt_violation_ : float
        Largest violation of the optimality conditions.
    n_iter_ : int
        Passes made; the largest over the machines.

    See Also
    --------
    SVC : Kernels, and an intercept that is not penalised.
    linear_svm, primal_svm, sparse_svm : The solvers.

    Notes
    -----
    With squared slack and dense rows, more of them than features and at most 1,000 features, each
    machine is found by a handful of Newton steps in the primal (:func:`primal_svm`), whatever the
    units of the features; otherwise by dual coordinate descent (:func:`linear_svm`).

    A class weight is a factor for the rows of its class in every machine; scikit-learn's class of
    this name uses it for three and more classes only where the class is the positive one.

    References
    ----------
    .. [1] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi, S. Sundararajan (2008). A dual
       coordinate descent method for large-scale linear SVM. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import LinearSVC
    >>> X = np.array([[-2.0, 0.0], [-1.0, 1.0], [1.0, 0.0], [2.0, -1.0]])
    >>> LinearSVC(random_state=0).fit(X, ["no", "no", "yes", "yes"]).predict([[3.0, 0.0]])
    array(['yes'], dtype='<U3')
    """

    penalty: Literal["l1", "l2"] = "l2"
    loss: Literal["hinge", "squared_hinge"] = "squared_hinge"
    _: KW_ONLY
    dual: NoEffect = "auto"
    tol: Positive = 1e-4
    C: Positive = 1.0
    multi_class: Annotated[str, Only("ovr", instead="MulticlassSVC has 'crammer_singer'")] = "ovr"
    fit_intercept: bool = True
    intercept_scaling: Positive = 1.0
    class_weight: ClassWeight = None
    verbose: NoEffect = 0
    random_state: RandomSeed = None
    max_iter: Count = 1000

    coef_: Any = fitted(Array("f", "r", "d") | Sparse("r", "d"))
    intercept_: np.ndarray = fitted(Array("f", "r"))
    objective_: float = fitted(Number(infinite=True))
    dual_gap_: float = fitted(Number(infinite=True))
    kkt_violation_: float = fitted(Number(0, infinite=True))
    n_iter_: int = fitted(Integer(1))

    _rows = {"accept_sparse": "csr"}
    _training_rows = {"finite_squares": True}

    def _fits_together(self) -> str | None:
        rows = 1 if len(self.classes_) == 2 else len(self.classes_)
        if len(self.classes_) < 2 or self.coef_.shape[0] != rows:
            return f"{self.coef_.shape[0]} rows of coefficients do not fit the classes"
        return None

    def _fit(self, X: Any, codes: np.ndarray, sample_weight: np.ndarray | None) -> None:
        if self.penalty == "l1" and self.loss == "hinge":
            raise ValueError(
                "LinearSVC(penalty='l1') is offered with squared slack. Got loss='hinge'; set "
                "loss='squared_hinge', or penalty='l2'."
            )
        k = len(self.classes_)
        weight = np.ones(len(codes)) if sample_weight is None else sample_weight
        mass = np.bincount(codes, weights=weight, minlength=k)
        if not mass.all():
            raise ValueError(
                "LinearSVC needs rows of positive weight in every class. Got weight in "
                f"{self.classes_[mass > 0].tolist()} of {self.classes_.tolist()}."
            )
        factors = class_factors(self.class_weight, self.classes_, mass)
        if factors is not None:
            weight = weight * factors[codes]
        if self.fit_intercept:
            X = with_constant(X, self.intercept_scaling)
        machines = self._machines(X, codes, weight)
        self._keep([machine.coef for machine in machines])
        self.objective_ = float(sum(machine.objective for machine in machines))
        self.dual_gap_ = float(sum(machine.gap for machine in machines))
        self.kkt_violation_ = max(machine.violation for machine in machines)
        self.n_iter_ = max(machine.n_iter for machine in machines)
        if not all(machine.converged for machine in machines):
            report_unfinished(self)

    def _machines(self, X: Any, codes: np.ndarray, weight: np.ndarray) -> list[LinearDual]:
        """Train each class against the rest, of two classes the second only."""
        random = check_random_state(self.random_state)
        options: dict[str, Any] = {"C": self.C * weight, "tol": self.tol, "max_iter": self.max_iter}
        options["penalty"] = self.penalty
        return [
            best_linear_svm(X, np.where(codes == c, 1.0, -1.0), self.loss, random, **options)
            for c in ([1] if len(self.classes_) == 2 else range(len(self.classes_)))
        ]

    def _keep(self, rows: list[np.ndarray]) -> None:
        coef = np.array(rows)
        if self.fit_intercept:
            self.intercept_ = self.intercept_scaling * coef[:, -1]
            coef = np.ascontiguousarray(coef[:, :-1])
        else:
            self.intercept_ = np.zeros(len(coef))
        self.coef_ = coef

    def _scores(self, X: Any) -> np.ndarray:
        scores = row_products(X, self.coef_.T) + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def sparsify(self) -> Self:
        """Keep the coefficients as a sparse matrix.

        Returns
        -------
        self : LinearSVC
            The fitted model.
        """
        check_is_fitted(self)
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep the coefficients as an array again.

        Returns
        -------
        self : LinearSVC
            The fitted model.
        """
        check_is_fitted(self)
        self.coef_ = self.coef_.toarray() if sparse.issparse(self.coef_) else self.coef_
        return self
