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
from typing import Annotated, Any, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone, is_classifier, is_regressor
from sklearn.model_selection import check_cv
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import fit_context, safe_indexing
from corollary.core.estimator import Predictor, fitted
from corollary.core.schema import Array, Instance, Integer, Labels, List, Nullable, Optional, Text
from corollary.ensemble._members import (
    aligned_probabilities,
    label_codes,
    members_fit,
    winners,
)
from corollary.ensemble.combining._named import NamedEnsemble
from corollary.ensemble.combining._out_of_fold import fold_predictions, member_columns
from corollary.ensemble.combining.simplex import simplex_least_squares, simplex_log_loss

_METHODS = ("predict_proba", "decision_function", "predict")


class _Stacking(NamedEnsemble):
    """Out-of-fold predictions, fitting, and the final step."""

    final_estimator: Predictor | None = None
    _: KW_ONLY
    cv: Annotated[Any, "cv_object"] = None
    n_jobs: int | None = None
    passthrough: bool = False

    weights_: np.ndarray | None = fitted(Nullable(Array("f", "b")))
    final_estimator_: Any = fitted(Nullable(Instance("predict")))
    stack_methods_: list[str] = fitted(List(Text(_METHODS), "b"))
    n_columns_: list[int] = fitted(Optional(List(Integer(1, 2**20), "b")))

    def _fits_together(self) -> str | None:
        n_members = len(self.estimators_)
        if len(self._active()) != n_members or len(self.stack_methods_) != n_members:
            return "its fitted members are not those it lists"
        if (self.weights_ is None) == (self.final_estimator_ is None):
            return "it needs either weights or a final estimator"
        for member, method in zip(self.estimators_, self.stack_methods_):
            if method not in _METHODS or not hasattr(member, method):
                return f"a member has no method {str(method)[:30]!r}"
        if self.weights_ is not None:
            if len(self.weights_) != n_members:
                return "there is not one weight for each member"
            if not np.all(self.weights_ >= 0) or abs(self.weights_.sum() - 1) > 1e-9:
                return "its weights are not convex"
            if is_classifier(self) and set(self.stack_methods_) != {"predict_proba"}:
                return "weights are for probabilities"
        else:
            check_is_fitted(self.final_estimator_)
            kind = is_classifier if is_classifier(self) else is_regressor
            if not kind(self.final_estimator_):
                return "its final estimator is of the wrong kind"
            if is_classifier(self):
                label_codes("StackingClassifier", self.classes_, self.final_estimator_.classes_)
        return members_fit(self)

    def _methods(self, active: list[tuple[str, Any]]) -> list[str]:
        return ["predict"] * len(active)

    def _narrow(self, blocks: list[np.ndarray]) -> list[np.ndarray]:
        return [
            # Of two probabilities that sum to one, one is enough.
            block[:, 1:] if method == "predict_proba" and block.shape[1] == 2 else block
            for block, method in zip(blocks, self.stack_methods_)
        ]

    def _final_columns(self, blocks: list[np.ndarray], X: Any) -> np.ndarray:
        """Put the columns of members side by side for a final estimator."""
        parts = self._narrow(blocks)
        if self.passthrough:
            from scipy import sparse

            if sparse.issparse(X):
                return sparse.hstack([*parts, X], format="csr")
            parts.append(np.asarray(X))
        return np.hstack(parts)

    def _splits(self, X: Any, y: np.ndarray, groups: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        splitter = check_cv(self.cv, y, classifier=is_classifier(self))
        folds = []
        for train, held_out in splitter.split(X, y, groups):
            train, held_out = np.asarray(train), np.asarray(held_out)
            shared = np.intersect1d(train, held_out)
            if len(shared):
                raise ValueError(
                    f"The folds of {type(self).__name__} must keep rows aside: {len(shared)} rows "
                    "are both fitted and predicted in one fold, and would leak. Use another cv."
                )
            folds.append((train, held_out))
        if not folds:
            raise ValueError(f"The cv of {type(self).__name__} gives no folds.")
        return folds

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Self:
        active = self._active()
        self.stack_methods_ = self._methods(active)
        X, y, sample_weight = self._check_rows(X, y, sample_weight)
        classes = self.classes_ if is_classifier(self) else None
        who, keywords = type(self).__name__, self._fit_parameters(sample_weight)
        splits = self._splits(X, y, groups)
        pieces = list(
            Parallel(n_jobs=self.n_jobs)(
                delayed(fold_predictions)(who, member, method, (X, y, keywords[n]), fold, classes)
                for (n, member), method in zip(active, self.stack_methods_)
                for fold in splits
            )
        )
        # A row may be held out never (series), once, or several times (repeated folds): every
        # prediction counts as a row of its own.
        rows = np.concatenate([held_out for _, held_out in splits])
        step = len(splits)
        blocks = [np.concatenate(pieces[i * step : (i + 1) * step]) for i in range(len(active))]
        self.n_columns_ = [block.shape[1] for block in self._narrow(blocks)]
        self.weights_, self.final_estimator_ = None, None
        if self.final_estimator is None:
            weights = None if sample_weight is None else sample_weight[rows]
            self.weights_ = self._convex(blocks, y[rows], weights)
        else:
            final = {name: values[rows] for name, values in keywords["final_estimator"].items()}
            columns = self._final_columns(blocks, safe_indexing(X, rows))
            self.final_estimator_ = clone(self.final_estimator).fit(columns, y[rows], **final)
        self.estimators_ = self._fit_members(X, y, keywords)
        return self

    def _inner(self) -> dict[str, Any]:
        last = {} if self.final_estimator is None else {"final_estimator": self.final_estimator}
        return super()._inner() | last

    def _convex(self, blocks: list[np.ndarray], y: np.ndarray, weights: Any) -> np.ndarray:
        return simplex_least_squares(np.hstack(blocks), y, sample_weight=weights)

    def _blocks(self, X: Any) -> list[np.ndarray]:
        self._check_new(X)
        classes = self.classes_ if is_classifier(self) else None
        return [
            member_columns(type(self).__name__, member, method, X, classes)
            for member, method in zip(self.estimators_, self.stack_methods_)
        ]

    def transform(self, X: Any) -> Any:
        """Return what members fitted to all rows say, as a final estimator would get it.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows. Of training rows the members have seen the targets.

        Returns
        -------
        columns : ndarray or sparse matrix of shape (n_samples, n_columns)
            Predictions; of two probabilities the second one; then the features, if
            ``passthrough``.
        """
        return self._final_columns(self._blocks(X), X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the columns of :meth:`transform`.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the features; None for those of training.

        Returns
        -------
        names : ndarray of str
            Such as ``stackingregressor_ridge``; then the features, if ``passthrough``.
        """
        check_is_fitted(self)
        counts = getattr(self, "n_columns_", None)
        if counts is None:
            raise ValueError(
                f"This {type(self).__name__} was saved by a version that did not note how many "
                "columns its members give. Fit it again to name them."
            )
        return self._names_out(counts, input_features, more=self.passthrough)


class StackingRegressor(RegressorMixin, _Stacking):
    r"""Combine regressors by weights learnt from out-of-fold predictions.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Names and regressors; "drop" in place of one leaves it out. Rows reach them as they came,
        and pipelines are fitted anew, as a whole, in every fold.
    final_estimator : estimator or None, default=None
        Regressor that combines the predictions; None for convex weights by least squares.
    cv : int, splitter, iterable or None, default=None
        Folds, as in scikit-learn's model selection; None for five. Rows need not be held out
        exactly once: series splits and repeated folds work, and rows that are never held out do
        not count for the combination.
    n_jobs : int or None, default=None
        Fits at a time; None for one.
    passthrough : bool, default=False
        Whether a final estimator gets the features besides the predictions.

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

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fit members and their combination.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights; then every member must take them.
        groups : array-like of shape (n_samples,) or None, default=None
            Groups for splitters that keep them together.

        Returns
        -------
        self : StackingRegressor
            The fitted model.
        """
        return self._fit(X, y, sample_weight, groups)

    def predict(self, X: Any) -> np.ndarray:
        """Combine the members' predictions.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predictions.
        """
        blocks = self._blocks(X)
        if self.weights_ is not None:
            return np.hstack(blocks) @ self.weights_
        return self.final_estimator_.predict(self._final_columns(blocks, X))


def _gives_probabilities(self: "StackingClassifier") -> bool:
    return self.final_estimator is None or hasattr(self.final_estimator, "predict_proba")


class StackingClassifier(ClassifierMixin, _Stacking):
    r"""Combine classifiers by weights learnt from out-of-fold predictions.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Names and classifiers; "drop" in place of one leaves it out. Rows reach them as they came,
        and pipelines are fitted anew, as a whole, in every fold.
    final_estimator : estimator or None, default=None
        Classifier that combines what the members say; None for convex weights of their
        probabilities by the log loss.
    cv : int, splitter, iterable or None, default=None
        Folds, as in scikit-learn's model selection; None for five, stratified. Rows need not be
        held out exactly once.
    n_jobs : int or None, default=None
        Fits at a time; None for one.
    passthrough : bool, default=False
        Whether a final estimator gets the features besides the predictions.
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

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fit members and their combination.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights; then every member must take them.
        groups : array-like of shape (n_samples,) or None, default=None
            Groups for splitters that keep them together.

        Returns
        -------
        self : StackingClassifier
            The fitted model.
        """
        return self._fit(X, y, sample_weight, groups)

    def _methods(self, active: list[tuple[str, Any]]) -> list[str]:
        methods = []
        for name, member in active:
            choices = _METHODS if self.stack_method == "auto" else (self.stack_method,)
            method = next((m for m in choices if hasattr(member, m)), None)
            if self.final_estimator is None and method != "predict_proba":
                raise ValueError(
                    f"Convex weights of StackingClassifier need probabilities, and {name!r} has no "
                    "predict_proba. Calibrate it, or give a final_estimator."
                    if not hasattr(member, "predict_proba")
                    else "Convex weights of StackingClassifier take stack_method='predict_proba' "
                    f"or 'auto'. Got {self.stack_method!r}; give a final_estimator to use it."
                )
            if method is None:
                raise ValueError(
                    f"StackingClassifier: {name!r} has no method {self.stack_method!r}. Use "
                    "stack_method='auto'."
                )
            methods.append(method)
        return methods

    def _convex(self, blocks: list[np.ndarray], y: np.ndarray, weights: Any) -> np.ndarray:
        columns = np.searchsorted(self.classes_, y)
        rows = np.arange(len(y))
        likelihoods = np.column_stack([block[rows, columns] for block in blocks])
        return simplex_log_loss(likelihoods, sample_weight=weights)

    def _mixture(self, blocks: list[np.ndarray]) -> np.ndarray:
        assert self.weights_ is not None
        return np.tensordot(self.weights_, np.array(blocks), axes=1)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable labels.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels.
        """
        blocks = self._blocks(X)
        if self.weights_ is not None:
            return self.classes_[winners(self._mixture(blocks))]
        return self.final_estimator_.predict(self._final_columns(blocks, X))

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
            return self._mixture(blocks)
        columns = self._final_columns(blocks, X)
        final = self.final_estimator_
        return aligned_probabilities("StackingClassifier", self.classes_, final, columns)
