"""Several classes by a machine for every pair of them, as LIBSVM has it."""

from abc import abstractmethod
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from corollary.core.estimator import ScoringClassifier, class_factors, fitted
from corollary.core.parallel import one_blas_thread, ordered_map, row_products
from corollary.core.schema import Array, Optional
from corollary.svm.dual._pairs import PairSolution
from corollary.svm.machines._folds import stratified_folds
from corollary.svm.machines._machine import KernelMachine
from corollary.svm.machines._pair_grams import PairGrams
from corollary.svm.machines.platt import couple_pairs, platt_scaling

# Votes are counted for this many pairs at a time.
_PAIRS_AT_ONCE = 2**21


def _has_probabilities(machine: Any) -> bool:
    if not machine.probability:
        raise AttributeError(
            f"predict_proba is not available when probability=False. Fit {type(machine).__name__} "
            "with probability=True."
        )
    return True


class PairwiseClassifier(KernelMachine, ScoringClassifier):
    """Fit a machine for every pair of classes; classes are chosen by votes."""

    class_weight_: np.ndarray = fitted(Array("f", "k", low=0))
    intercept_: np.ndarray = fitted(Array("f", "p"))
    n_support_: np.ndarray = fitted(Array("i", "k", low=0))
    probA_: np.ndarray = fitted(Optional(Array("f", "*")))
    probB_: np.ndarray = fitted(Optional(Array("f", "*")))

    def _fits_together(self) -> str | None:
        """Say what is wrong with the sizes of a loaded classifier, or None."""
        k = len(self.classes_)
        if k < 2 or self.dual_coef_.shape[0] != k - 1 or len(self.intercept_) != k * (k - 1) // 2:
            return f"weights of shape {self.dual_coef_.shape} do not fit {k} classes"
        if int(self.n_support_.sum()) != len(self.support_):
            return "the numbers of support vectors do not add up"
        sigmoids = [getattr(self, name, np.empty(0)) for name in ("probA_", "probB_")]
        if any(len(one) not in (0, len(self.intercept_)) for one in sigmoids):
            return "the sigmoids do not fit the pairs"
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
        factors = class_factors(self._price_factors(), self.classes_, mass)
        self.class_weight_ = np.ones(k) if factors is None else factors
        self._choose_kernel(X, weight)
        weight = weight * self.class_weight_[codes]
        members = [np.flatnonzero((codes == c) & (weight > 0)) for c in range(k)]
        coef = np.zeros((k - 1, len(codes)))
        previous = self._previous(len(codes), k)
        small = PairGrams.fit(members, self.cache_size) and self._has_tiles()
        with one_blas_thread():
            grams = PairGrams(self._gram_of(X, np.arange(len(codes))), members) if small else None

        def solve(pair: tuple[int, int]) -> tuple[np.ndarray, PairSolution]:
            i, j = pair
            rows = np.concatenate([members[i], members[j]])
            if grams is None:
                rows = np.sort(rows)
            # Two classes: the second is positive; more: the first of each pair, as in LIBSVM.
            sign = np.where(codes[rows] == (j if k == 2 else i), 1.0, -1.0)
            start = None
            if previous is not None:
                start = np.where(codes[rows] == i, previous[j - 1, rows], previous[i, rows])
            gram = self._gram_of(X, rows) if grams is None else grams.pair(i, j)
            return rows, self._solve_pair(gram, sign, weight[rows], start)

        solutions, pairs = [], list(combinations(range(k), 2))
        with one_blas_thread():
            # Large problems have threads of their own.
            solved = ordered_map(solve, pairs, workers=1 if grams is None else None)
            for (i, j), (rows, solution) in zip(pairs, solved):
                solutions.append(solution)
                coef[j - 1, rows[codes[rows] == i]] = solution.beta[codes[rows] == i]
                coef[i, rows[codes[rows] == j]] = solution.beta[codes[rows] == j]
        support = np.flatnonzero(coef.any(axis=0))
        support = support[np.argsort(codes[support], kind="stable")]
        self._keep_support(X, support, np.ascontiguousarray(coef[:, support]))
        self.n_support_ = np.bincount(codes[support], minlength=k).astype(np.int32)
        self.intercept_ = np.array([solution.intercept for solution in solutions])
        self.n_iter_ = np.array([solution.result.n_iter for solution in solutions])
        self._report(
            [solution.result for solution in solutions],
            [solution.gap for solution in solutions],
            sum(solution.dual for solution in solutions),
        )
        self.probA_ = self.probB_ = np.empty(0)
        if self.probability:
            seed = check_random_state(self.random_state).randint(2**31)
            sigmoids = [self._sigmoid(X, members[i], members[j], weight, seed) for i, j in pairs]
            self.probA_, self.probB_ = np.array(sigmoids).T.copy()

    def _sigmoid(
        self, X: Any, one: np.ndarray, other: np.ndarray, weight: np.ndarray, seed: int
    ) -> tuple[float, float]:
        """Fit the sigmoid of a pair to scores of rows that five machines did not see."""
        rows = np.concatenate([one, other])
        sign = np.repeat([1.0, -1.0], [len(one), len(other)])
        fold = stratified_folds((sign > 0).astype(int), 5, seed)
        scores = np.empty(len(rows))
        for k in np.unique(fold):
            new, seen = fold == k, fold != k
            # Where a class has one row there is no machine without it; as LIBSVM has it.
            scores[new] = sign[seen][0] if seen.any() else 0.0
            if len(np.unique(sign[seen])) == 2:
                part = rows[seen]
                solution = self._solve_pair(self._gram_of(X, part), sign[seen], weight[part], None)
                values = row_products(self._cross(X, rows[new], part), solution.beta)
                scores[new] = values + solution.intercept
        return platt_scaling(scores, sign > 0, weight[rows])

    def _price_factors(self) -> Any:
        """Return the factors of prices for classes, if the machine has a price."""
        return None

    def _previous(self, n: int, k: int) -> np.ndarray | None:
        """Return the signed weights of the last fit, if this one may start from them."""
        if not getattr(self, "warm_start", False) or not hasattr(self, "dual_coef_"):
            return None
        if self.support_.max(initial=-1) >= n or self.dual_coef_.shape[0] != k - 1:
            return None
        previous = np.zeros((k - 1, n))
        previous[:, self.support_] = self._weights()
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

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; kernel values with the training rows if the kernel is "precomputed".

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``; rows sum to one. The most probable class need not
            be the one that :meth:`predict` chooses by scores.
        """
        scores, k = self._pair_scores(self._new(X)), len(self.classes_)
        if not len(getattr(self, "probA_", ())):
            raise NotFittedError(
                f"predict_proba is not available when fitted with probability=False. Fit "
                f"{type(self).__name__} again."
            )
        first = expit(-(self.probA_ * (-scores if k == 2 else scores) + self.probB_))
        if k == 2:
            return np.hstack([first, 1.0 - first])
        pairs = np.full((len(scores), k, k), 0.5)
        for p, (i, j) in enumerate(combinations(range(k), 2)):
            pairs[:, i, j], pairs[:, j, i] = first[:, p], 1.0 - first[:, p]
        return couple_pairs(pairs)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithm of the probability of every class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; kernel values with the training rows if the kernel is "precomputed".

        Returns
        -------
        log_probability : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _choose(self, scores: np.ndarray) -> np.ndarray:
        """Return the labels of the highest scores, or of the most votes alone."""
        return super()._choose(scores if self.break_ties or scores.ndim == 1 else np.rint(scores))

    def _pair_scores(self, X: Any) -> np.ndarray:
        """Return the scores of pairs: of each class, the weights against the k - 1 others."""
        k, dual = len(self.classes_), self._weights()
        ends = np.concatenate([[0], np.cumsum(self.n_support_)])
        against = np.zeros((X.shape[0], k, k))
        for c, (a, b) in enumerate(pairwise(ends)):
            others = np.arange(k) != c
            against[:, c, others] = self._expand(X, dual[:, a:b].T, slice(a, b))
        i, j = np.triu_indices(k, 1)
        return against[:, i, j] + against[:, j, i] + self.intercept_

    def _plane_weights(self) -> np.ndarray:
        k, dual = len(self.classes_), self._weights()
        ends = np.concatenate([[0], np.cumsum(self.n_support_)])
        weights = np.zeros((k * (k - 1) // 2, len(self.support_)))
        for p, (i, j) in enumerate(combinations(range(k), 2)):
            one, other = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            weights[p, one], weights[p, other] = dual[j - 1, one], dual[i, other]
        return weights

    def _scores(self, X: Any) -> np.ndarray:
        k = len(self.classes_)
        if k == 2:
            return self._pair_scores(X)[:, 0]
        step = max(1, _PAIRS_AT_ONCE // k**2)
        starts = range(0, max(1, X.shape[0]), step)
        return np.concatenate([self._votes(self._pair_scores(X[a : a + step])) for a in starts])

    def _votes(self, scores: np.ndarray) -> np.ndarray:
        """Return the votes of all pairs for each class, with ties broken by sums of scores."""
        k = len(self.classes_)
        i, j = np.triu_indices(k, 1)
        signed, wins = np.zeros((len(scores), k, k)), np.zeros((len(scores), k, k), dtype=bool)
        signed[:, i, j], signed[:, j, i] = scores, -scores
        wins[:, i, j], wins[:, j, i] = scores >= 0, scores < 0
        sums = signed.sum(axis=2)
        # Sums are squeezed into (-1/3, 1/3): they decide between equal votes only.
        return wins.sum(axis=2) + sums / (3.0 * (np.abs(sums) + 1.0))
