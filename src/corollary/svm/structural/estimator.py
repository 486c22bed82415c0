"""The structural machine as an estimator."""

import warnings
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import fit_context
from corollary.core.estimator import Count, Learner, Positive, fitted, refuse_one_class
from corollary.core.schema import Array, Instance, Integer, Labels, Number, Optional, Size
from corollary.svm.structural.problem import ClassLabels, StructuredProblem
from corollary.svm.structural.solver import structural_svm


class StructuralSVM(ClassifierMixin, Learner):
    """Predict outputs with structure: sequences of labels, or whatever has an argmax.

    Parameters
    ----------
    problem : StructuredProblem or None, default=None
        Features, loss and argmax; None for the classes of rows of numbers, with a constant
        feature. These rows are centred first, so that a shift of all rows changes nothing.
    C : float, default=1.0
        Price of slack.
    tol : float, default=1e-3
        Largest violation of a constraint, in units of the loss.
    max_iter : int, default=1000
        Largest number of rounds over the training rows.

    Attributes
    ----------
    coef_ : ndarray of shape (size,)
        Weights of the joint features.
    problem_ : StructuredProblem
        The problem used.
    classes_ : ndarray of shape (n_classes,)
        Labels, if the problem is None.
    n_constraints_ : int
        Constraints that entered the program.
    objective_ : float
        Value of the primal problem.
    dual_gap_ : float
        How much smaller the minimum may be.
    n_iter_ : int
        Rounds made.

    See Also
    --------
    structural_svm : The method as a function.
    LabelChain : Sequences of labels.
    MulticlassSVC : Classes of rows, faster.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import LabelChain, StructuralSVM
    >>> X = [np.array([[1.0], [2.0], [-1.0]]), np.array([[-1.0], [-2.0]])]
    >>> model = StructuralSVM(LabelChain(n_labels=2, n_features=1), C=10.0)
    >>> model.fit(X, [np.array([1, 1, 0]), np.array([0, 0])]).predict(X)
    [array([1, 1, 0]), array([0, 0])]
    """

    problem: StructuredProblem | None = None
    _: KW_ONLY
    C: Positive = 1.0
    tol: Positive = 1e-3
    max_iter: Count = 1000

    coef_: np.ndarray = fitted(Array("f", "*"))
    problem_: StructuredProblem = fitted(Instance("argmax"))
    classes_: np.ndarray = fitted(Optional(Labels("k")))
    n_constraints_: int = fitted(Integer(0))
    objective_: float = fitted(Number(infinite=True))
    dual_gap_: float = fitted(Number(0, infinite=True))
    n_iter_: int = fitted(Integer(1))
    n_features_in_: int = fitted(Optional(Size("d")))

    def _fits_together(self) -> str | None:
        """Say what is wrong with the problem, the weights and the classes of a loaded machine."""
        problem = self.problem_
        if not isinstance(problem, StructuredProblem) or len(self.coef_) != problem.size:
            return "the weights do not belong to the problem"
        if self.problem is not None:
            return None if self.problem == problem else "it was fitted to another problem"
        classes = getattr(self, "classes_", None)
        n_features = getattr(self, "n_features_in_", None) or 0
        of_classes = ClassLabels(0 if classes is None else len(classes), n_features + 1)
        return None if problem == of_classes else "the problem does not belong to the classes"

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Train the machine.

        Parameters
        ----------
        X : sequence of inputs, or array-like of shape (n_samples, n_features)
            Inputs of the problem's kind.
        y : sequence of outputs, or array-like of shape (n_samples,)
            Outputs of the problem's kind.

        Returns
        -------
        self : StructuralSVM
            The fitted model.
        """
        if self.problem is None:
            X, y, _ = self._check(X, y, None, finite_squares=True)
            check_classification_targets(y)
            self.classes_, y = np.unique(y, return_inverse=True)
            refuse_one_class(self, self.classes_)
            # A common offset of the rows couples all constraints, and pair steps crawl.
            mean = X.mean(axis=0)
            X = np.hstack([X - mean, np.ones((len(X), 1))])
            self.problem_ = ClassLabels(len(self.classes_), X.shape[1])
        else:
            self.problem_ = self.problem
        solution = structural_svm(
            self.problem_, X, y, C=self.C, tol=self.tol, max_iter=self.max_iter
        )
        self.coef_ = solution.w
        if self.problem is None:
            coef = solution.w.reshape(len(self.classes_), -1).copy()
            coef[:, -1] -= coef[:, :-1] @ mean
            self.coef_ = coef.ravel()
        self.n_constraints_ = solution.n_constraints
        self.objective_ = solution.objective
        self.dual_gap_ = solution.gap
        self.n_iter_ = solution.n_iter
        if not solution.converged:
            warnings.warn(
                f"StructuralSVM stopped after {solution.n_iter} rounds with a duality gap of "
                f"{solution.gap:.2g} (objective {solution.objective:.4g}). Increase max_iter="
                f"{self.max_iter} or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def predict(self, X: Any) -> Any:
        """Predict outputs.

        Parameters
        ----------
        X : sequence of inputs, or array-like of shape (n_samples, n_features)
            Inputs of the problem's kind.

        Returns
        -------
        y : list of outputs, or ndarray of shape (n_samples,)
            The outputs of highest score.
        """
        check_is_fitted(self)
        if self.problem is not None:
            return [self.problem_.argmax(self.coef_, x) for x in X]
        X = self._new(X)
        X = np.hstack([X, np.ones((len(X), 1))])
        return self.classes_[[self.problem_.argmax(self.coef_, x) for x in X]]
