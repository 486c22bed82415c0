"""Several classes by a machine for every pair of them, as LIBSVM has it."""

from itertools import combinations
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from corollary.core.estimator import check_training_data
from corollary.core.schema import Array, Labels
from corollary.svm.machine import FITTED_MACHINE, KernelMachine, machine_fits

FITTED_PAIRS = {
    **FITTED_MACHINE,
    "classes_": Labels("k"),
    "class_weight_": Array("f", "k", low=0),
    "dual_coef_": Array("f", "q", "s"),
    "intercept_": Array("f", "p"),
    "n_support_": Array("i", "k", low=0),
}


def pairs_fit_classes(model: Any) -> str | None:
    """Say what is wrong with the sizes of a loaded classifier, or None."""
    k = len(model.classes_)
    if k < 2 or model.dual_coef_.shape[0] != k - 1 or len(model.intercept_) != k * (k - 1) // 2:
        return f"weights of shape {model.dual_coef_.shape} do not fit {k} classes"
    if int(model.n_support_.sum()) != len(model.support_):
        return "the numbers of support vectors do not add up"
    if not (np.isfinite(model.dual_coef_).all() and np.isfinite(model.intercept_).all()):
        return "the weights are not finite"
    return machine_fits(model)


class PairwiseClassifier(ClassifierMixin, KernelMachine):
    """Fit a machine for every pair of classes; classes are chosen by votes."""

    decision_function_shape: str
    classes_: np.ndarray
    dual_coef_: np.ndarray
    intercept_: np.ndarray
    n_support_: np.ndarray

    def _solve_pair(self, gram: Any, y: np.ndarray, weight: np.ndarray, start: Any) -> Any:
        raise NotImplementedError  # abstract: every classifier defines it

    def _fit_pairs(self, X: Any, y: Any, sample_weight: Any) -> Self:
        precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        X, y, weight = check_training_data(
            self, X, y, sample_weight=sample_weight, accept_sparse=False if precomputed else "csr"
        )
        check_classification_targets(y)
        self.classes_, code = np.unique(y, return_inverse=True)
        weight = np.ones(len(y)) if weight is None else weight
        k = len(self.classes_)
        mass = np.bincount(code, weights=weight, minlength=k)
        if np.count_nonzero(mass) < k or k < 2:
            present = self.classes_[mass > 0].tolist()
            raise ValueError(
                f"{type(self).__name__} needs rows of positive weight in every class, more than "
                f"one class. Got weight in {present} of {self.classes_.tolist()}."
            )
        self.class_weight_ = self._class_weights(y, mass)
        self._choose_kernel(X, weight)
        weight = weight * self.class_weight_[code]
        members = [np.flatnonzero((code == c) & (weight > 0)) for c in range(k)]
        coef = np.zeros((k - 1, len(y)))
        previous = self._previous(len(y), k)
        solutions = []
        for i, j in combinations(range(k), 2):
            rows = np.sort(np.concatenate([members[i], members[j]]))
            # Two classes: the second is positive; more: the first of each pair, as in LIBSVM.
            sign = np.where(code[rows] == (j if k == 2 else i), 1.0, -1.0)
            start = None
            if previous is not None:
                start = np.where(code[rows] == i, previous[j - 1, rows], previous[i, rows])
            solution = self._solve_pair(self._gram_of(X, rows), sign, weight[rows], start)
            solutions.append(solution)
            coef[j - 1, rows[code[rows] == i]] = solution.beta[code[rows] == i]
            coef[i, rows[code[rows] == j]] = solution.beta[code[rows] == j]
        found = np.flatnonzero(coef.any(axis=0))
        support = found[np.argsort(code[found], kind="stable")]
        self._keep_support(X, support)
        self.dual_coef_ = np.ascontiguousarray(coef[:, support])
        self.n_support_ = np.bincount(code[support], minlength=k)
        self.intercept_ = np.array([solution.intercept for solution in solutions])
        self.n_iter_ = np.array([solution.result.n_iter for solution in solutions])
        self._report(
            [solution.result for solution in solutions],
            [solution.gap for solution in solutions],
            sum(solution.dual for solution in solutions),
        )
        return self

    def _class_weights(self, y: np.ndarray, mass: np.ndarray) -> np.ndarray:
        given = getattr(self, "class_weight", None)
        if isinstance(given, str):  # "balanced": a row of weight k counts k times
            return mass.sum() / (len(mass) * mass)
        return np.asarray(compute_class_weight(given, classes=self.classes_, y=y))

    def _previous(self, n: int, k: int) -> np.ndarray | None:
        """Return the signed weights of the last fit, if this one may start from them."""
        if not getattr(self, "warm_start", False) or not hasattr(self, "dual_coef_"):
            return None
        if self.support_.max(initial=-1) >= n or self.dual_coef_.shape[0] != k - 1:
            return None
        previous = np.zeros((k - 1, n))
        previous[:, self.support_] = self.dual_coef_
        return previous

    def _pair_scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        k = len(self.classes_)
        ends = np.concatenate([[0], np.cumsum(self.n_support_)])
        coef = np.zeros((len(self.support_), k * (k - 1) // 2))
        for p, (i, j) in enumerate(combinations(range(k), 2)):
            one, other = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            coef[one, p] = self.dual_coef_[j - 1, one]
            coef[other, p] = self.dual_coef_[i, other]
        return self._expand(X, coef) + self.intercept_

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; kernel values with the training rows if the kernel is "precomputed".

        Returns
        -------
        scores : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            For two classes one score, positive for the second class. Else votes, with ties broken
            by the sums of scores, for each class; or, with ``decision_function_shape="ovo"``, the
            score of each pair, positive for its first class.
        """
        scores = self._pair_scores(X)
        if len(self.classes_) == 2:
            return scores[:, 0]
        return scores if self.decision_function_shape == "ovo" else self._votes(scores)

    def _votes(self, scores: np.ndarray) -> np.ndarray:
        k = len(self.classes_)
        votes, sums = np.zeros((len(scores), k)), np.zeros((len(scores), k))
        for p, (i, j) in enumerate(combinations(range(k), 2)):
            sums[:, i] += scores[:, p]
            sums[:, j] -= scores[:, p]
            votes[:, i] += scores[:, p] >= 0
            votes[:, j] += scores[:, p] < 0
        # Sums are squeezed into (-1/3, 1/3): they decide between equal votes only.
        return votes + sums / (3.0 * (np.abs(sums) + 1.0))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of the highest score; a zero score means the first class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; kernel values with the training rows if the kernel is "precomputed".

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels from ``classes_``.
        """
        scores = self._pair_scores(X)
        if len(self.classes_) == 2:
            return self.classes_[(scores[:, 0] > 0).astype(int)]
        return self.classes_[self._votes(scores).argmax(axis=1)]
