r"""Stacking: a combination learnt from out-of-fold predictions.

The weights of members must not be learnt from rows that the members were fitted to: the one that
overfits most would get most. Every member, a whole pipeline if it is one, is therefore cloned and
fitted on the other folds, and predicts the fold kept aside; the combination is learnt from these
predictions alone. Then the members are fitted to all rows.

By default the combination is convex: weights of the simplex that minimise the squared error, or
the log loss of averaged probabilities. They cannot overfit much, and the result never leaves the
range of its members.
"""

from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from corollary.core.estimator import fitted
from corollary.core.parallel import row_products
from corollary.core.schema import Labels
from corollary.ensemble._members import aligned_probabilities, winners
from corollary.ensemble.combining._stack import METHODS, Stack


class StackingRegressor(RegressorMixin, Stack):
    r"""Combine regressors by weights learnt from out-of-fold predictions.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Names and regressors; "drop" in place of one leaves it out. Rows reach them as they came,
        and pipelines are fitted anew, as a whole, in every fold.
    final_estimator : estimator or None, default=None
        Regressor that combines the predictions; None for convex weights by least squares.
    cv : int, splitter, iterable, "prefit" or None, default=None
        Folds, as in scikit-learn's model selection; None for five. Rows need not be held out
        exactly once: series splits and repeated folds work, and rows that are never held out do
        not count for the combination. "prefit" takes members that are fitted already, as they are.
    n_jobs : int or None, default=None
        Fits at a time; None for one.
    passthrough : bool, default=False
        Whether a final estimator gets the features besides the predictions.
    verbose : int, default=0
        Changes nothing: in a terminal long work shows its progress by itself.

    Attributes
    ----------
    estimators_ : list of estimators
        Members, fitted to all rows.
    named_estimators_ : Bunch
        Fitted members by name.
    weights_ : ndarray of shape (n_members,) or None
        Convex weights; None with a final estimator.
    final_estimator_ : estimator or None
        The fitted final estimator; None with convex weights.
    stack_methods_ : list of str
        How each member predicts.
    stack_method_ : list of str
        The same, under scikit-learn's name.
    n_columns_ : list of int
        How many columns each member gives a final estimator.

    See Also
    --------
    simplex_least_squares : The convex weights.
    VotingRegressor : Weights given by hand.

    Notes
    -----
    Guarantee: on the out-of-fold predictions the convex combination has at most the squared error
    of the best member, and no prediction that enters it comes from a model that saw the row;
    checked by ``tests/ensemble/test_stacking.py::test_nothing_leaks``. A fold that shares rows
    between fitting and predicting is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import StackingRegressor, StumpRegressor
    >>> from corollary.linear import LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> members = [("line", LinearRegression()), ("stump", StumpRegressor())]
    >>> model = StackingRegressor(members).fit(X, X[:, 0] + (X[:, 1] > 0))
    >>> model.weights_.round(2), bool(model.weights_.sum().round(9) == 1)
    (array([1., 0.]), True)
    """

    def _methods(self, active: list[tuple[str, Any]]) -> list[str]:
        return ["predict"] * len(active)

    def _convex(self, blocks: list[np.ndarray], y: np.ndarray, weights: Any) -> np.ndarray:
        from corollary.optimize import simplex_least_squares

        return simplex_least_squares(np.hstack(blocks), y, sample_weight=weights)

    def _mix(self, weights: np.ndarray, blocks: list[np.ndarray]) -> np.ndarray:
        return row_products(np.hstack(blocks), weights)

    def _answers(self, mixed: np.ndarray) -> np.ndarray:
        return mixed


def _gives_scores(stack: Any) -> bool:
    final = getattr(stack, "final_estimator_", None) or stack.final_estimator
    if final is not None:
        final.decision_function  # noqa: B018, whose error says who has none
    return True


def _gives_probabilities(self: "StackingClassifier") -> bool:
    return self.final_estimator is None or hasattr(self.final_estimator, "predict_proba")


class StackingClassifier(ClassifierMixin, Stack):
    r"""Combine classifiers by weights learnt from out-of-fold predictions.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Names and classifiers; "drop" in place of one leaves it out. Rows reach them as they came,
        and pipelines are fitted anew, as a whole, in every fold.
    final_estimator : estimator or None, default=None
        Classifier that combines what the members say; None for convex weights of their
        probabilities by the log loss.
    cv : int, splitter, iterable, "prefit" or None, default=None
        Folds, as in scikit-learn's model selection; None for five, stratified. Rows need not be
        held out exactly once. "prefit" takes members that are fitted already, as they are.
    n_jobs : int or None, default=None
        Fits at a time; None for one.
    passthrough : bool, default=False
        Whether a final estimator gets the features besides the predictions.
    verbose : int, default=0
        Changes nothing: in a terminal long work shows its progress by itself.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        What a final estimator gets of each member; "auto" takes the first that the member has.
        Convex weights take probabilities.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    estimators_ : list of estimators
        Members, fitted to all rows.
    named_estimators_ : Bunch
        Fitted members by name.
    weights_ : ndarray of shape (n_members,) or None
        Convex weights; None with a final estimator.
    final_estimator_ : estimator or None
        The fitted final estimator; None with convex weights.
    stack_methods_ : list of str
        How each member predicts.
    stack_method_ : list of str
        The same, under scikit-learn's name.
    n_columns_ : list of int
        How many columns each member gives a final estimator.

    See Also
    --------
    simplex_log_loss : The convex weights.
    VotingClassifier : Weights given by hand.

    Notes
    -----
    Guarantee: as :class:`StackingRegressor`, with the log loss in place of the squared error.
    Members are fitted to the labels themselves. A member that meets fewer classes in a fold gives
    the others probability zero.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from corollary.ensemble import StackingClassifier, StumpClassifier
    >>> from corollary.linear import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("line", LogisticRegression()), ("stump", StumpClassifier())]
    >>> StackingClassifier(members).fit(X, y).weights_.round(2)
    array([1., 0.])
    """

    _: KW_ONLY
    stack_method: Literal["auto", "predict_proba", "decision_function", "predict"] = "auto"

    classes_: np.ndarray = fitted(Labels("k"))

    _takes_regressors = True

    def _methods(self, active: list[tuple[str, Any]]) -> list[str]:
        methods = []
        choices = METHODS if self.stack_method == "auto" else (self.stack_method,)
        for name, member in active:
            method = next((m for m in choices if hasattr(member, m)), None)
            if method is None:
                raise ValueError(
                    f"StackingClassifier needs members with {' or '.join(choices)}. {name!r} has "
                    "none. Use another member, or stack_method='auto'."
                )
            methods.append(method)
        return methods

    def _final(self) -> Any:
        if self.final_estimator is not None:
            return self.final_estimator
        if all(method == "predict_proba" for method in self._methods(self._active())):
            return None
        # Scores and labels have no convex combination that is a probability.
        from corollary.linear import LogisticRegression

        return LogisticRegression()

    def _convex(self, blocks: list[np.ndarray], y: np.ndarray, weights: Any) -> np.ndarray:
        from corollary.optimize import simplex_log_loss

        columns = np.searchsorted(self.classes_, y)
        rows = np.arange(len(y))
        likelihoods = np.column_stack([block[rows, columns] for block in blocks])
        return simplex_log_loss(likelihoods, sample_weight=weights)

    def _mix(self, weights: np.ndarray, blocks: list[np.ndarray]) -> np.ndarray:
        mixed = row_products(np.stack(blocks, axis=-1).reshape(-1, len(blocks)), weights)
        return mixed.reshape(blocks[0].shape)

    def _answers(self, mixed: np.ndarray) -> np.ndarray:
        return self.classes_[winners(mixed)]

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the combined probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        blocks = self._blocks(X)
        if self.weights_ is not None:
            return self._mix(self.weights_, blocks)
        columns = self._final_columns(blocks, X)
        final = self.final_estimator_
        return aligned_probabilities("StackingClassifier", self.classes_, final, columns)

    @available_if(_gives_scores)
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of the final estimator, or log odds of averaged probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one score, positive for the second class; else one per class.
        """
        check_is_fitted(self)
        if self.weights_ is None:
            return self.final_estimator_.decision_function(self._final_columns(self._blocks(X), X))
        logs = np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny))
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs
