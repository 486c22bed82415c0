"""The structural machine as an estimator."""

import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import Interval, fit_context
from corollary.core.estimator import check_new_data, check_training_data
from corollary.core.schema import (
    Array,
    Instance,
    Integer,
    Labels,
    Number,
    Optional,
    Schema,
    Size,
    Strings,
)
from corollary.svm.structural import ClassLabels, StructuredProblem, structural_svm


def _fits_problem(model: Any) -> str | None:
    """Say what is wrong with the problem, the weights and the classes of a loaded machine."""
    problem = model.problem_
    if not isinstance(problem, StructuredProblem) or len(model.coef_) != problem.size:
        return "the weights do not belong to the problem"
    if model.problem is not None:
        return None if model.problem == problem else "it was fitted to another problem"
    classes = getattr(model, "classes_", None)
    wanted = ClassLabels(
        0 if classes is None else len(classes), (getattr(model, "n_features_in_", None) or 0) + 1
    )
    return None if problem == wanted else "the problem does not belong to the classes"


class StructuralSVM(ClassifierMixin, BaseEstimator):
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
    n_features_in_ : int
        Number of features, if the problem is None.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if the problem is None and the training rows had names.
    fingerprint_ : Fingerprint
        Memory of the training rows, if the problem is None.

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

    _parameter_constraints: dict = {
        "problem": [StructuredProblem, None],
        "C": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }
    _schema = Schema(
        _fits_problem,
        coef_=Array("f", "*"),
        problem_=Instance("argmax"),
        classes_=Optional(Labels("k")),
        n_constraints_=Integer(0),
        objective_=Number(),
        dual_gap_=Number(0),
        n_iter_=Integer(1),
        n_features_in_=Optional(Size("d")),
        feature_names_in_=Optional(Strings("d")),
        fingerprint_=Optional(Instance("merge", "overlap")),
    )

    def __init__(
        self,
        problem: StructuredProblem | None = None,
        *,
        C: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
    ) -> None:
        self.problem = problem
        self.C = C
        self.tol = tol
        self.max_iter = max_iter

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
            X, y, _ = check_training_data(self, X, y, finite_squares=True)
            check_classification_targets(y)
            self.classes_, y = np.unique(y, return_inverse=True)
            if len(self.classes_) < 2:
                raise ValueError(
                    "StructuralSVM needs rows of more than one class. Got one class: "
                    f"{self.classes_.tolist()}."
                )
            # A common offset of the rows couples all constraints, and pair steps crawl.
            mean = X.mean(axis=0)
            X = np.hstack([X - mean, np.ones((len(X), 1))])
            self.problem_: StructuredProblem = ClassLabels(len(self.classes_), X.shape[1])
        else:
            self.problem_ = self.problem
        found = structural_svm(self.problem_, X, y, C=self.C, tol=self.tol, max_iter=self.max_iter)
        self.coef_ = found.w
        if self.problem is None:
            coef = found.w.reshape(len(self.classes_), -1).copy()
            coef[:, -1] -= coef[:, :-1] @ mean
            self.coef_ = coef.ravel()
        self.n_constraints_ = found.n_constraints
        self.objective_ = found.objective
        self.dual_gap_ = found.gap
        self.n_iter_ = found.n_iter
        if not found.converged:
            warnings.warn(
                f"StructuralSVM stopped after {found.n_iter} rounds with a duality gap of "
                f"{found.gap:.2g} (objective {found.objective:.4g}). Increase max_iter="
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
        X = check_new_data(self, X)
        X = np.hstack([X, np.ones((len(X), 1))])
        return self.classes_[[self.problem_.argmax(self.coef_, x) for x in X]]
