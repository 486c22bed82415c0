"""Linear support vector classification for many rows and features."""

import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from corollary.core.compat import Interval, StrOptions, fit_context
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
from corollary.svm.linear_dual import linear_svm


def _scores_fit(model: Any) -> str | None:
    rows = 1 if len(model.classes_) == 2 else len(model.classes_)
    if len(model.classes_) < 2 or model.coef_.shape[0] != rows:
        return f"{model.coef_.shape[0]} rows of coefficients do not fit the classes"
    return None


class LinearSVC(ClassifierMixin, BaseEstimator):
    r"""Classify by a hyperplane of wide margin, several classes by one against the rest.

    Minimises :math:`\frac12 (\|w\|^2 + v^2) + C \sum_i \ell(y_i (\langle w, x_i \rangle + s v))`
    with the hinge loss or its square; the intercept :math:`s v` is the weight of a feature of
    constant value s.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        Whether slack is paid linearly or squared.
    tol : float, default=1e-4
        Largest violation of the optimality conditions.
    C : float, default=1.0
        Price of slack.
    fit_intercept : bool, default=True
        Whether there is a constant feature.
    intercept_scaling : float, default=1.0
        Its value s; a large one makes the penalty on the intercept small.
    class_weight : dict, "balanced" or None, default=None
        Factors of C for classes; "balanced" gives all classes the same total weight.
    random_state : int, RandomState instance or None, default=None
        Source of the order in which rows are visited.
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
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if the training rows had names.
    fingerprint_ : Fingerprint
        Memory of the training rows.

    See Also
    --------
    SVC : Kernels, and an intercept that is not penalised.
    linear_svm : The solver.

    Notes
    -----
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

    _parameter_constraints: dict = {
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "random_state": ["random_state"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }
    _schema = Schema(
        _scores_fit,
        classes_=Labels("k"),
        coef_=Array("f", "r", "d"),
        intercept_=Array("f", "r"),
        objective_=Number(),
        dual_gap_=Number(),
        kkt_violation_=Number(0),
        n_iter_=Integer(1),
        n_features_in_=Size("d"),
        feature_names_in_=Optional(Strings("d")),
        fingerprint_=Optional(Instance("merge", "overlap")),
    )

    def __init__(
        self,
        *,
        loss: str = "squared_hinge",
        tol: float = 1e-4,
        C: float = 1.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        random_state: Any = None,
        max_iter: int = 1000,
    ) -> None:
        self.loss = loss
        self.tol = tol
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.max_iter = max_iter

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the machines.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Factors of C for rows.

        Returns
        -------
        self : LinearSVC
            The fitted model.
        """
        X, y, weight = check_training_data(
            self, X, y, sample_weight=sample_weight, accept_sparse="csr", finite_squares=True
        )
        check_classification_targets(y)
        self.classes_, code = np.unique(y, return_inverse=True)
        k = len(self.classes_)
        weight = np.ones(len(y)) if weight is None else weight
        mass = np.bincount(code, weights=weight, minlength=k)
        if k < 2 or not mass.all():
            raise ValueError(
                "LinearSVC needs rows of positive weight in every class, more than one class. Got "
                f"weight in {self.classes_[mass > 0].tolist()} of {self.classes_.tolist()}."
            )
        if isinstance(self.class_weight, str):
            factor = mass.sum() / (k * mass)
        else:
            factor = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        if self.fit_intercept:
            one = np.full((len(y), 1), float(self.intercept_scaling))
            X = sparse.hstack([X, one], format="csr") if sparse.issparse(X) else np.hstack([X, one])
        random = check_random_state(self.random_state)
        found = [
            linear_svm(
                X,
                np.where(code == c, 1.0, -1.0),
                C=self.C * weight * factor[code],
                loss=self.loss,
                tol=self.tol,
                max_iter=self.max_iter,
                random_state=random,
            )
            for c in ([1] if k == 2 else range(k))
        ]
        coef = np.array([one.coef for one in found])
        if self.fit_intercept:
            self.intercept_ = self.intercept_scaling * coef[:, -1]
            coef = np.ascontiguousarray(coef[:, :-1])
        else:
            self.intercept_ = np.zeros(len(coef))
        self.coef_ = coef
        self.objective_ = float(sum(one.objective for one in found))
        self.dual_gap_ = float(sum(one.gap for one in found))
        self.kkt_violation_ = max(one.violation for one in found)
        self.n_iter_ = max(one.n_iter for one in found)
        if not all(one.converged for one in found):
            warnings.warn(
                f"LinearSVC stopped after {self.n_iter_} passes with a KKT violation of "
                f"{self.kkt_violation_:.2g} (tol={self.tol:.2g}) and a duality gap of "
                f"{self.dual_gap_:.2g} (objective {self.objective_:.4g}). Increase max_iter="
                f"{self.max_iter} or tol, or scale the features.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one score, positive for the second class; else one per class.
        """
        X = check_new_data(self, X, accept_sparse="csr")
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Return the label with the highest score; a zero score means the first class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels from ``classes_``.
        """
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]
