"""Several classes by a machine for every pair of them, as LIBSVM has it."""

from abc import abstractmethod
from itertools import combinations
from typing import Any

import numpy as np

from corollary.core.estimator import ScoringClassifier, class_factors, fitted
from corollary.core.schema import Array
from corollary.svm.dual._pairs import PairSolution
from corollary.svm.machines._machine import KernelMachine


class PairwiseClassifier(KernelMachine, ScoringClassifier):
    """Fit a machine for every pair of classes; classes are chosen by votes."""

    class_weight_: np.ndarray = fitted(Array("f", "k", low=0))
    dual_coef_: np.ndarray = fitted(Array("f", "q", "s"))
    intercept_: np.ndarray = fitted(Array("f", "p"))
    n_support_: np.ndarray = fitted(Array("i", "k", low=0))

    def _fits_together(self) -> str | None:
        """Say what is wrong with the sizes of a loaded classifier, or None."""
        k = len(self.classes_)
        if k < 2 or self.dual_coef_.shape[0] != k - 1 or len(self.intercept_) != k * (k - 1) // 2:
            return f"weights of shape {self.dual_coef_.shape} do not fit {k} classes"
        if int(self.n_support_.sum()) != len(self.support_):
            return "the numbers of support vectors do not add up"
        if not (np.isfinite(self.dual_coef_).all() and np.isfinite(self.intercept_).all()):
            return "the weights are not finite"
        return super()._fits_together()

    @abstractmethod
    def _solve_pair(self, gram: Any, y: np.ndarray, weight: np.ndarray, start: Any) -> PairSolution:
        """Solve the problem of two classes, labelled -1 and 1."""

    def _fit(self, X: Any, codes: np.ndarray, sample_weight: np.ndarray | None) -> None:
        weight = np.ones(len(codes)) if sample_weight is None else sample_weight
        k = len(self.classes_)
        mass = np.bincount(codes, weights=weight, minlength=k)
        if np.count_nonzero(mass) < k:
            present = self.classes_[mass > 0].tolist()
            raise ValueError(
                f"{type(self).__name__} needs rows of positive weight in every class. "
                f"Got weight in {present} of {self.classes_.tolist()}."
            )
        factors = class_factors(getattr(self, "class_weight", None), self.classes_, mass)
        self.class_weight_ = np.ones(k) if factors is None else factors
        self._choose_kernel(X, weight)
        weight = weight * self.class_weight_[codes]
        members = [np.flatnonzero((codes == c) & (weight > 0)) for c in range(k)]
        coef = np.zeros((k - 1, len(codes)))
        previous = self._previous(len(codes), k)
        solutions = []
        for i, j in combinations(range(k), 2):
            rows = np.sort(np.concatenate([members[i], members[j]]))
            # Two classes: the second is positive; more: the first of each pair, as in LIBSVM.
            sign = np.where(codes[rows] == (j if k == 2 else i), 1.0, -1.0)
            start = None
            if previous is not None:
                start = np.where(codes[rows] == i, previous[j - 1, rows], previous[i, rows])
            solution = self._solve_pair(self._gram_of(X, rows), sign, weight[rows], start)
            solutions.append(solution)
            coef[j - 1, rows[codes[rows] == i]] = solution.beta[codes[rows] == i]
            coef[i, rows[codes[rows] == j]] = solution.beta[codes[rows] == j]
        support = np.flatnonzero(coef.any(axis=0))
        support = support[np.argsort(codes[support], kind="stable")]
        self._keep_support(X, support)
        self.dual_coef_ = np.ascontiguousarray(coef[:, support])
        self.n_support_ = np.bincount(codes[support], minlength=k)
        self.intercept_ = np.array([solution.intercept for solution in solutions])
        self.n_iter_ = np.array([solution.result.n_iter for solution in solutions])
        self._report(
            [solution.result for solution in solutions],
            [solution.gap for solution in solutions],
            sum(solution.dual for solution in solutions),
        )

    def _previous(self, n: int, k: int) -> np.ndarray | None:
        """Return the signed weights of the last fit, if this one may start from them."""
        if not getattr(self, "warm_start", False) or not hasattr(self, "dual_coef_"):
            return None
        if self.support_.max(initial=-1) >= n or self.dual_coef_.shape[0] != k - 1:
            return None
        previous = np.zeros((k - 1, n))
        previous[:, self.support_] = self.dual_coef_
        return previous

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
        if self.decision_function_shape == "ovo" and len(getattr(self, "classes_", ())) > 2:
            return self._pair_scores(self._new(X))
        return super().decision_function(X)

    def _pair_scores(self, X: Any) -> np.ndarray:
        k = len(self.classes_)
        ends = np.concatenate([[0], np.cumsum(self.n_support_)])
        coef = np.zeros((len(self.support_), k * (k - 1) // 2))
        for p, (i, j) in enumerate(combinations(range(k), 2)):
            one, other = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            coef[one, p] = self.dual_coef_[j - 1, one]
            coef[other, p] = self.dual_coef_[i, other]
        return self._expand(X, coef) + self.intercept_

    def _scores(self, X: Any) -> np.ndarray:
        scores = self._pair_scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else self._votes(scores)

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
