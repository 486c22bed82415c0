"""The batch perceptron as an estimator."""

import warnings
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from corollary.core.compat import Interval, fit_context
from corollary.core.estimator import check_training_data
from corollary.core.schema import Array, Integer, Schema
from corollary.linear._classifier import FITTED_CLASSIFIER, LinearClassifier, scores_fit_classes
from corollary.linear.separation.perceptron_run import perceptron_run


class Perceptron(LinearClassifier):
    """Classify by the perceptron, several classes by one against the rest.

    Parameters
    ----------
    fit_intercept : bool, default=False
        Whether to append a constant feature of one. The classical method, and its bounds, have
        none: the plane goes through the origin.
    max_iter : int, default=1000
        Largest number of passes. Data that are not separable never satisfy the perceptron.
    shuffle : bool, default=False
        Whether each pass visits the rows in a fresh random order; else in their given order.
    random_state : int, RandomState instance or None, default=None
        Source of the orders.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; one row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Weight of the constant feature; zero without it.
    n_iter_ : int
        Passes made, the verifying one included; the largest over the classes.
    n_mistakes_ : ndarray of int, shape (1,) or (n_classes,)
        Mistakes made in all passes.
    separated_ : ndarray of bool, shape (1,) or (n_classes,)
        Whether the last pass made no mistake.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X has any.

    See Also
    --------
    perceptron_pass_bound : How many passes a margin allows.
    perceptron_risk_bound : Expected risk.

    Notes
    -----
    Unlike scikit-learn's class of this name there is no penalty, no step size (it would only
    scale the weights), no intercept unless asked for, and the rows keep their order.

    Examples
    --------
    >>> from corollary.linear import Perceptron
    >>> X = [[2.0, 1.0], [1.0, 2.0], [-1.0, -1.5], [-2.0, -1.0]]
    >>> model = Perceptron().fit(X, ["up", "up", "down", "down"])
    >>> model.predict([[3.0, 3.0]])
    array(['up'], dtype='<U4')
    >>> model.n_iter_, model.n_mistakes_
    (2, array([1]))
    """

    _parameter_constraints: dict = {
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
    }

    _schema = Schema(
        scores_fit_classes,
        **FITTED_CLASSIFIER,
        n_iter_=Integer(1),
        n_mistakes_=Array("i", "r"),
        separated_=Array("b", "r"),
    )

    def __init__(
        self,
        *,
        fit_intercept: bool = False,
        max_iter: int = 1000,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the perceptron.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        self : Perceptron
            The fitted model.
        """
        X, y, _ = check_training_data(self, X, y, accept_sparse="csr")
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(
                "Perceptron needs rows of at least 2 classes. Got one class: "
                f"{self.classes_.tolist()[0]!r}."
            )
        if self.fit_intercept:
            ones = np.ones((X.shape[0], 1))
            X = sparse.hstack([X, ones], "csr") if sparse.issparse(X) else np.hstack([X, ones])
        random = check_random_state(self.random_state)
        positive = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        runs = [
            perceptron_run(
                X,
                np.where(y == label, 1, -1),
                max_passes=self.max_iter,
                shuffle=self.shuffle,
                random_state=random,
            )
            for label in positive
        ]
        weights = np.array([run.weights for run in runs])
        self.coef_ = weights[:, : self.n_features_in_]
        self.intercept_ = weights[:, -1] if self.fit_intercept else np.zeros(len(runs))
        self.n_iter_ = max(run.passes for run in runs)
        self.n_mistakes_ = np.array([int(run.mistakes.sum()) for run in runs])
        self.separated_ = np.array([run.separated for run in runs])
        if not self.separated_.all():
            warnings.warn(
                f"Perceptron still made mistakes in pass max_iter={self.max_iter}: the classes "
                "may not be separable by a plane"
                + ("" if self.fit_intercept else " through the origin")
                + ". Increase max_iter, set fit_intercept=True, or use LogisticRegression.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self
