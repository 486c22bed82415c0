"""What stacks share: out-of-fold predictions, and the combination that is learnt from them."""

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Annotated, Any, Self

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import check_cv
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import StrOptions, fit_context, safe_indexing
from corollary.core.estimator import NoEffect, Predictor, fitted
from corollary.core.schema import Array, Instance, Integer, List, Nullable, Optional, Text
from corollary.ensemble._members import label_codes, members_fit
from corollary.ensemble.combining._named import NamedEnsemble
from corollary.ensemble.combining._out_of_fold import fold_predictions, member_columns

METHODS = ("predict_proba", "decision_function", "predict")


class Stack(NamedEnsemble):
    """An ensemble whose combination is learnt; subclasses say what convex weights minimise."""

    final_estimator: Predictor | None = None
    _: KW_ONLY
    cv: Annotated[Any, "cv_object", StrOptions({"prefit"})] = None
    n_jobs: int | None = None
    passthrough: bool = False
    verbose: NoEffect = 0

    weights_: np.ndarray | None = fitted(Nullable(Array("f", "b")))
    final_estimator_: Any = fitted(Nullable(Instance("predict")))
    stack_methods_: list[str] = fitted(List(Text(METHODS), "b"))
    n_columns_: list[int] = fitted(Optional(List(Integer(1, 2**20), "b")))

    @abstractmethod
    def _methods(self, active: list[tuple[str, Any]]) -> list[str]:
        """Return how each member predicts."""

    def _final(self) -> Any:
        """Return the estimator that combines what members say; None for convex weights."""
        return self.final_estimator

    @property
    def stack_method_(self) -> list[str]:
        """How each member predicts."""
        check_is_fitted(self)
        return self.stack_methods_

    @abstractmethod
    def _convex(self, blocks: list[np.ndarray], y: np.ndarray, weights: Any) -> np.ndarray:
        """Learn convex weights from out-of-fold predictions."""

    @abstractmethod
    def _mix(self, weights: np.ndarray, blocks: list[np.ndarray]) -> np.ndarray:
        """Average what members say by convex weights."""

    @abstractmethod
    def _answers(self, mixed: np.ndarray) -> np.ndarray:
        """Turn averages into predictions."""

    def _fits_together(self) -> str | None:
        n_members = len(self.estimators_)
        if len(self._active()) != n_members or len(self.stack_methods_) != n_members:
            return "its fitted members are not those it lists"
        if (self.weights_ is None) == (self.final_estimator_ is None):
            return "it needs either weights or a final estimator"
        for member, method in zip(self.estimators_, self.stack_methods_):
            if method not in METHODS or not hasattr(member, method):
                return f"a member has no method {str(method)[:30]!r}"
        problem = self._final_problem() if self.weights_ is None else self._weights_problem()
        return problem or members_fit(self, regressors=self._takes_regressors)

    def _weights_problem(self) -> str | None:
        """Say what is wrong with convex weights of a loaded stack."""
        assert self.weights_ is not None
        if len(self.weights_) != len(self.estimators_):
            return "there is not one weight for each member"
        if not np.all(self.weights_ >= 0) or abs(self.weights_.sum() - 1) > 1e-9:
            return "its weights are not convex"
        if is_classifier(self) and set(self.stack_methods_) != {"predict_proba"}:
            return "weights are for probabilities"
        return None

    def _final_problem(self) -> str | None:
        """Say what is wrong with the final estimator of a loaded stack."""
        check_is_fitted(self.final_estimator_)
        kind = is_classifier if is_classifier(self) else is_regressor
        if not kind(self.final_estimator_):
            return "its final estimator is of the wrong kind"
        if is_classifier(self):
            label_codes(type(self).__name__, self.classes_, self.final_estimator_.classes_)
        return None

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fit members and their combination.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their targets or labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights; then every member must take them.
        groups : array-like of shape (n_samples,) or None, default=None
            Groups for splitters that keep them together.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        active = self._active()
        self.stack_methods_ = self._methods(active)
        X, y, sample_weight = self._check_rows(X, y, sample_weight)
        keywords = self._fit_parameters(sample_weight)
        if self.cv == "prefit":
            self.estimators_ = [member for _, member in active]
            for member in self.estimators_:
                check_is_fitted(member)
            rows, blocks = np.arange(len(y)), self._blocks(X)
        else:
            rows, blocks = self._out_of_fold(X, y, keywords, self._splits(X, y, groups))
        self.n_columns_ = [block.shape[1] for block in self._narrow(blocks)]
        self.weights_, self.final_estimator_ = None, None
        if self._final() is None:
            weights = None if sample_weight is None else sample_weight[rows]
            self.weights_ = self._convex(blocks, y[rows], weights)
        else:
            final = {name: values[rows] for name, values in keywords["final_estimator"].items()}
            columns = self._final_columns(blocks, safe_indexing(X, rows))
            self.final_estimator_ = clone(self._final()).fit(columns, y[rows], **final)
        if self.cv != "prefit":
            self.estimators_ = self._fit_members(X, y, keywords)
        return self

    def _out_of_fold(
        self, X: Any, y: np.ndarray, keywords: dict[str, Any], splits: list[Any]
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return which rows were held out, and what each member says of them.

        A row may be held out never (series), once, or several times (repeated folds): every
        prediction counts as a row of its own.
        """
        classes = self.classes_ if is_classifier(self) else None
        who, active = type(self).__name__, self._active()
        pieces = list(
            Parallel(n_jobs=self.n_jobs)(
                delayed(fold_predictions)(who, member, method, (X, y, keywords[n]), fold, classes)
                for (n, member), method in zip(active, self.stack_methods_)
                for fold in splits
            )
        )
        rows = np.concatenate([held_out for _, held_out in splits])
        step = len(splits)
        spans = [slice(i * step, (i + 1) * step) for i in range(len(active))]
        return rows, [np.concatenate(pieces[span]) for span in spans]

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

    def _inner(self) -> dict[str, Any]:
        final = self._final()
        return super()._inner() | ({} if final is None else {"final_estimator": final})

    def _blocks(self, X: Any) -> list[np.ndarray]:
        X = self._new(X)
        classes = self.classes_ if is_classifier(self) else None
        return [
            member_columns(type(self).__name__, member, method, X, classes)
            for member, method in zip(self.estimators_, self.stack_methods_)
        ]

    def predict(self, X: Any, **predict_params: Any) -> np.ndarray:
        """Combine what the members say.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        **predict_params
            What the ``predict`` of a final estimator is given besides, such as ``return_std``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predictions, or the most probable labels.
        """
        blocks = self._blocks(X)
        if self.weights_ is not None:
            if predict_params:
                raise TypeError(
                    f"{type(self).__name__} without a final_estimator averages its members, and "
                    f"its predict takes rows only. Got {', '.join(predict_params)}."
                )
            return self._answers(self._mix(self.weights_, blocks))
        return self.final_estimator_.predict(self._final_columns(blocks, X), **predict_params)

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
