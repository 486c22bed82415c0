"""The batch perceptron as an estimator."""

import warnings
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from corollary.core.compat import fit_context
from corollary.core.estimator import Count, RandomSeed, fitted
from corollary.core.protocols import DeterminingRows
from corollary.core.schema import Array, Integer
from corollary.linear._classifier import LinearClassifier
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

    _: KW_ONLY
    fit_intercept: bool = False
    max_iter: Count = 1000
    shuffle: bool = False
    random_state: RandomSeed = None

    n_iter_: int = fitted(Integer(1))
    n_mistakes_: np.ndarray = fitted(Array("i", "r"))
    separated_: np.ndarray = fitted(Array("b", "r"))

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the perceptron, which knows no weights of rows.

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
        X, y, _ = self._check(X, y, None, dtype=np.float64)
        self._fit(X, self._code(y), None)
        return self

    def _fit(self, X: Any, codes: np.ndarray, sample_weight: np.ndarray | None) -> None:
        if self.fit_intercept:
            X = _with_constant(X)
        random = check_random_state(self.random_state)
        n_classes = len(self.classes_)
        runs = [
            perceptron_run(
                X,
                np.where(codes == code, 1, -1),
                max_passes=self.max_iter,
                shuffle=self.shuffle,
                random_state=random,
            )
            for code in ([1] if n_classes == 2 else range(n_classes))
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
                stacklevel=4,
            )

    def determining_rows(self, X: Any, y: Any) -> DeterminingRows | None:
        """Say which training rows the run was ever mistaken at; the others left no trace in it.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training rows, in their order.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        determining : DeterminingRows or None
            None for several classes, or if the run cannot be repeated on these rows.
        """
        labels = np.asarray(y)
        if self.shuffle or len(self.classes_) != 2 or not np.isin(labels, self.classes_).all():
            return None
        rows, weights = self._new(X), self.coef_[0]
        if self.fit_intercept:
            rows, weights = _with_constant(rows), np.append(weights, self.intercept_)
        signs = np.where(labels == self.classes_[1], 1, -1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = perceptron_run(rows, signs, max_passes=self.max_iter)
        if not np.array_equal(again.weights, weights):
            return None
        return DeterminingRows(again.mistakes > 0, "mistakes")


def _with_constant(X: Any) -> Any:
    ones = np.ones((X.shape[0], 1))
    return sparse.hstack([X, ones], "csr") if sparse.issparse(X) else np.hstack([X, ones])
