"""Support vector classifiers with a kernel."""

from dataclasses import KW_ONLY
from itertools import combinations
from typing import Any, Literal

import numpy as np

from corollary.core.estimator import (
    ClassWeight,
    Count,
    NoEffect,
    Positive,
    PositiveOrInfinite,
    RandomSeed,
    Share,
)
from corollary.core.protocols import DeterminingRows
from corollary.svm.dual._pairs import PairSolution, hard_pair, nu_pair, soft_pair
from corollary.svm.machines._machine import Gamma, KernelLike, Steps
from corollary.svm.machines._pairwise import PairwiseClassifier


class SVC(PairwiseClassifier):
    r"""Classify by the hyperplane of widest margin in a kernel's feature space.

    Minimises :math:`\frac12 \|w\|^2 + C \sum_i \max(0, 1 - y_i f(x_i))` over
    :math:`f = \langle w, \phi(\cdot) \rangle + b`; several classes by one machine for each pair.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack; large values allow few violations of the margin. Infinity is the hard
        margin, which exists only for classes that can be separated.
    kernel : Kernel, str or callable, default="rbf"
        Any kernel of this library, or object of scikit-learn's ``gaussian_process.kernels``; one of
        scikit-learn's names "rbf", "linear", "poly" and "sigmoid", with the three parameters below;
        "precomputed", when X is a Gram matrix; or a function of two sets of rows, with which the
        model cannot be saved.
    degree : int, default=3
        For the named polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        For named kernels, as in ``exp(-gamma |x - y|^2)``; "scale" is one over the number of
        features times the (weighted) variance of X, "auto" one over the number of features.
    coef0 : float, default=0.0
        For the named polynomial and sigmoid kernels.
    shrinking : bool, default=True
        Not used: the solver shrinks as it sees fit, and the result is the same.
    probability : bool, default=False
        Whether to learn probabilities, for which each pair of classes is fitted five times more
        (:func:`platt_scaling`, :func:`couple_pairs`).
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Whether slack is paid linearly or squared.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in units of the margin; a tenth of it is
        the largest duality gap relative to the objective (where slack is not squared).
    cache_size : float, default=200
        Megabytes for the solver, in all.
    class_weight : dict, "balanced" or None, default=None
        Factors of C for classes; "balanced" gives all classes the same total weight.
    verbose : bool, default=False
        Not used: long work shows its progress in a terminal by itself.
    max_iter : int, default=-1
        Largest number of pair steps; -1 for ten million, or a hundred for each row if that is
        more. When it is reached, a warning names the duality gap.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Scores of more than two classes: one for each class, or one for each pair.
    break_ties : bool, default=True
        Whether scores decide between classes of equal votes, so that ``predict`` is the argmax of
        ``decision_function``; otherwise the first of them is chosen. scikit-learn's default is
        False.
    random_state : int, RandomState instance or None, default=None
        Source of the folds of `probability`.
    warm_start : bool, default=False
        Whether ``fit`` starts from the weights of the last one: for another C on the same rows, or
        to go on after ``max_iter`` steps.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    class_weight_ : ndarray of shape (n_classes,)
        Factors of C used.
    support_ : ndarray of int of shape (n_support,)
        Training rows that are support vectors, class by class.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        Those rows; None if the kernel is "precomputed".
    n_support_ : ndarray of int of shape (n_classes,)
        Support vectors of each class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
        Signed weights, in LIBSVM's order: for a support vector of class i, its weight in the
        pairs with the other classes.
    intercept_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Offset of each pair.
    coef_ : ndarray or sparse matrix of shape (n_pairs, n_features)
        Weights of the features; with a linear kernel only.
    probA_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Factors of the scores of pairs in their sigmoids; empty without `probability`.
    probB_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Their offsets; empty without `probability`.
    kernel_ : Kernel
        The kernel used; None if the kernel is "precomputed".
    objective_ : float
        Value of the dual problem, summed over the pairs; the primal value is at most ``dual_gap_``
        larger.
    dual_gap_ : float
        Primal value minus dual value, summed over the pairs.
    kkt_violation_ : float
        Largest violation of the optimality conditions.
    n_iter_ : ndarray of int of shape (n_classes * (n_classes - 1) / 2,)
        Pair steps made.
    fit_status_ : int
        0 if the problem was solved to `tol`, else 1.
    shape_fit_ : tuple of int
        Shape of the training rows.

    See Also
    --------
    NuSVC : The share of margin errors as parameter.
    corollary.svm.smo : The solver.

    Notes
    -----
    Probabilities are learnt from scores of rows that the machines did not see; the most probable
    class need not be the predicted one. :func:`calibrate_machine` and scikit-learn's
    ``CalibratedClassifierCV`` are other ways to them.

    Rows of weight zero are left out; a row of weight k counts like k equal rows. If a precomputed
    matrix is not positive semi-definite, a warning says so and a stationary point is returned.
    Same data, same bits, for any number of threads.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import SVC
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), [0, 0, 1, 1]
    >>> model = SVC(C=10.0, gamma=2.0).fit(X, y)
    >>> model.predict(X), len(model.support_)
    (array([0, 0, 1, 1]), 4)
    """

    _: KW_ONLY
    C: PositiveOrInfinite = 1.0
    kernel: KernelLike = "rbf"
    degree: Count = 3
    gamma: Gamma = "scale"
    coef0: float = 0.0
    shrinking: NoEffect = True
    probability: bool = False
    loss: Literal["hinge", "squared_hinge"] = "hinge"
    tol: Positive = 1e-3
    cache_size: Positive = 200
    class_weight: ClassWeight = None
    verbose: NoEffect = False
    max_iter: Steps = -1
    decision_function_shape: Literal["ovr", "ovo"] = "ovr"
    break_ties: bool = True
    random_state: RandomSeed = None
    warm_start: bool = False

    def _solve_pair(self, gram: Any, y: np.ndarray, weight: np.ndarray, start: Any) -> PairSolution:
        options = {"tol": self.tol, "max_iter": self.max_iter, "cache_size": self.cache_size}
        if np.isinf(self.C):
            return hard_pair(gram, y, **options)
        return soft_pair(gram, y, self.C * weight, loss=self.loss, start=start, **options)

    def _price_factors(self) -> Any:
        return self.class_weight

    def determining_rows(self, X: Any, y: Any) -> DeterminingRows | None:
        """Say which training rows are support vectors, if these determine the machines.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The training rows, in their order.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        determining : DeterminingRows or None
            None if the kernel, the prices or an offset may depend on the other rows, or the
            machines are not solved to `tol`.
        """
        if isinstance(self.kernel, str):
            scaled = isinstance(self.gamma, str) and self.gamma == "scale"
            if self.kernel == "precomputed" or (self.kernel != "linear" and scaled):
                return None
        if isinstance(self.class_weight, str) or self.kkt_violation_ > self.tol:
            return None
        if not self._offsets_are_determined(X):
            return None
        rows = np.zeros(len(y), dtype=bool)
        rows[self.support_] = True
        return DeterminingRows(rows, "support-vectors")

    def _offsets_are_determined(self, X: Any) -> bool:
        """Tell whether each pair of classes has a support vector on its margin.

        Without one the offset is the middle of an interval whose ends other rows may set. The
        weights alone do not tell, since the prices of rows may differ.
        """
        if np.isinf(self.C) or self.loss == "squared_hinge":
            return True
        dual = self._weights()
        on = np.abs(np.abs(self._pair_scores(self._new(X))[self.support_]) - 1.0) <= 2.0 * self.tol
        ends = np.concatenate([[0], np.cumsum(self.n_support_)])
        for pair, (i, j) in enumerate(combinations(range(len(self.classes_)), 2)):
            one, other = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            used = (dual[j - 1, one] != 0) & on[one, pair]
            used_other = (dual[i, other] != 0) & on[other, pair]
            if not (used.any() or used_other.any()):
                return False
        return True


class NuSVC(PairwiseClassifier):
    r"""Classify with a margin whose errors are at most a given share of the rows.

    Parameters
    ----------
    nu : float, default=0.5
        At most this share of the rows has a margin below one, and at least this share are support
        vectors.
    kernel : Kernel, str or callable, default="rbf"
        As in :class:`SVC`.
    degree : int, default=3
        For the named polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        For named kernels.
    coef0 : float, default=0.0
        For the named polynomial and sigmoid kernels.
    shrinking : bool, default=True
        Not used: the solver shrinks as it sees fit, and the result is the same.
    probability : bool, default=False
        Whether to learn probabilities, for which each pair of classes is fitted five times more
        (:func:`platt_scaling`, :func:`couple_pairs`).
    tol : float, default=1e-3
        Largest violation of the optimality conditions.
    cache_size : float, default=200
        Megabytes for the solver.
    class_weight : dict, "balanced" or None, default=None
        Not used, as in scikit-learn: it would multiply a price of slack, which nu stands for. Give
        weights of rows.
    verbose : bool, default=False
        Not used: long work shows its progress in a terminal by itself.
    max_iter : int, default=-1
        Largest number of pair steps; -1 for ten million, or a hundred for each row if that is more.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Scores of more than two classes: one for each class, or one for each pair.
    break_ties : bool, default=True
        Whether scores decide between classes of equal votes, so that ``predict`` is the argmax of
        ``decision_function``; otherwise the first of them is chosen. scikit-learn's default is
        False.
    random_state : int, RandomState instance or None, default=None
        Source of the folds of `probability`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    class_weight_ : ndarray of shape (n_classes,)
        Ones.
    support_ : ndarray of int of shape (n_support,)
        Training rows that are support vectors, class by class.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        Those rows; None if the kernel is "precomputed".
    n_support_ : ndarray of int of shape (n_classes,)
        Support vectors of each class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
        Signed weights, in the order of :class:`SVC`.
    intercept_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Offset of each pair.
    coef_ : ndarray or sparse matrix of shape (n_pairs, n_features)
        Weights of the features; with a linear kernel only.
    probA_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Factors of the scores of pairs in their sigmoids; empty without `probability`.
    probB_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Their offsets; empty without `probability`.
    kernel_ : Kernel
        The kernel used; None if the kernel is "precomputed".
    objective_ : float
        Value of the dual problem before margins are scaled to one, summed over the pairs.
    dual_gap_ : float
        Primal value minus dual value, summed over the pairs.
    kkt_violation_ : float
        Largest violation of the optimality conditions.
    n_iter_ : ndarray of int of shape (n_classes * (n_classes - 1) / 2,)
        Pair steps made.
    fit_status_ : int
        0 if the problem was solved to `tol`, else 1.
    shape_fit_ : tuple of int
        Shape of the training rows.

    See Also
    --------
    SVC : The price of slack as parameter.

    References
    ----------
    .. [1] B. Schoelkopf, A. J. Smola, R. C. Williamson, P. L. Bartlett (2000). New support vector
       algorithms. Neural Computation 12, 1207-1245.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import NuSVC
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> NuSVC(nu=0.5, kernel="linear").fit(X, [0, 0, 1, 1]).predict([[-0.1], [0.1]])
    array([0, 1])
    """

    _: KW_ONLY
    nu: Share = 0.5
    kernel: KernelLike = "rbf"
    degree: Count = 3
    gamma: Gamma = "scale"
    coef0: float = 0.0
    shrinking: NoEffect = True
    probability: bool = False
    tol: Positive = 1e-3
    cache_size: Positive = 200
    class_weight: NoEffect = None
    verbose: NoEffect = False
    max_iter: Steps = -1
    decision_function_shape: Literal["ovr", "ovo"] = "ovr"
    break_ties: bool = True
    random_state: RandomSeed = None

    def _solve_pair(self, gram: Any, y: np.ndarray, weight: np.ndarray, start: Any) -> PairSolution:
        options = {"tol": self.tol, "max_iter": self.max_iter, "cache_size": self.cache_size}
        return nu_pair(gram, y, weight, self.nu, **options)
