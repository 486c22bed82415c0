"""The batch perceptron as an estimator."""

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from corollary.core.compat import fit_context
from corollary.core.estimator import (
    ClassWeight,
    Count,
    Fraction,
    NoEffect,
    NonNegative,
    Positive,
    Probability,
    RandomSeed,
    class_factors,
    fitted,
    remember_rows,
)
from corollary.core.protocols import DeterminingRows
from corollary.core.schema import Array, Integer, Number, Optional
from corollary.linear._classifier import LinearClassifier
from corollary.linear.separation._training import Rule, Trained, train
from corollary.linear.separation.perceptron_run import perceptron_run


class Perceptron(LinearClassifier):
    """Classify by the perceptron, several classes by one against the rest.

    A row on the wrong side of the plane, or on it, is added to the weights; the others leave them
    as they are. A pass without mistake ends the run.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None, default=None
        Penalty on the weights, by which each row that is visited draws them towards zero.
    alpha : float, default=0.0001
        Strength of the penalty.
    l1_ratio : float, default=0.15
        Share of l1 in "elasticnet".
    fit_intercept : bool, default=True
        Whether there is an intercept. The bounds are for planes through the origin, without it.
    max_iter : int, default=1000
        Largest number of passes. Data that are not separable never satisfy the perceptron.
    tol : float or None, default=1e-3
        Passes end when the mean loss, or with ``early_stopping`` the share of right answers, has
        improved by less than this in ``n_iter_no_change`` passes; None to go on until a pass makes
        no mistake.
    shuffle : bool, default=True
        Whether each pass visits the rows in a fresh random order; else in their given order.
    verbose : int, default=0
        Changes nothing.
    eta0 : float, default=1.0
        Step size; without a penalty it only scales the weights.
    n_jobs : int or None, default=None
        Changes nothing: classes are trained one after another.
    random_state : int, RandomState instance or None, default=0
        Source of the orders.
    early_stopping : bool, default=False
        Whether improvement is that of the answers to some rows kept aside.
    validation_fraction : float, default=0.1
        Their share.
    n_iter_no_change : int, default=5
        Passes without improvement that end the run.
    class_weight : dict, "balanced" or None, default=None
        Factor on the steps of each class.
    warm_start : bool, default=False
        Whether to start from the weights of the previous fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; one row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept; zero without it.
    n_iter_ : int
        Passes made, the verifying one included; the largest over the classes.
    t_ : float
        Rows visited, plus one.
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
    The classical perceptron, for which the bounds are, is
    ``Perceptron(fit_intercept=False, shuffle=False, tol=None)``. Sparse rows give the model of the
    same dense rows; scikit-learn takes smaller steps of the intercept for them.

    Examples
    --------
    >>> from corollary.linear import Perceptron
    >>> X = [[2.0, 1.0], [1.0, 2.0], [-1.0, -1.5], [-2.0, -1.0]]
    >>> model = Perceptron(fit_intercept=False, shuffle=False)
    >>> model.fit(X, ["up", "up", "down", "down"]).predict([[3.0, 3.0]])
    array(['up'], dtype='<U4')
    >>> model.n_iter_, model.n_mistakes_
    (2, array([1]))
    """

    _: KW_ONLY
    penalty: Literal["l2", "l1", "elasticnet"] | None = None
    alpha: NonNegative = 0.0001
    l1_ratio: Fraction = 0.15
    fit_intercept: bool = True
    max_iter: Count = 1000
    tol: NonNegative | None = 1e-3
    shuffle: bool = True
    verbose: NoEffect = 0
    eta0: Positive = 1.0
    n_jobs: NoEffect = None
    random_state: RandomSeed = 0
    early_stopping: bool = False
    validation_fraction: Probability = 0.1
    n_iter_no_change: Count = 5
    class_weight: ClassWeight = None
    warm_start: bool = False

    n_iter_: int = fitted(Integer(1))
    t_: float = fitted(Optional(Number(1.0)))
    n_mistakes_: np.ndarray = fitted(Array("i", "r"))
    separated_: np.ndarray = fitted(Array("b", "r"))

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Fit the perceptron.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their labels.
        coef_init : array-like of shape (n_features,) or (n_classes, n_features), default=None
            Weights to start from.
        intercept_init : array-like of shape (1,) or (n_classes,), default=None
            Intercepts to start from.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Factors on the steps of rows.

        Returns
        -------
        self : Perceptron
            The fitted model.
        """
        before = vars(self).copy() if self.warm_start else {}
        X, y, sample_weight = self._check(X, y, sample_weight, dtype=np.float64)
        codes = self._code(y)
        if coef_init is None and intercept_init is None and "coef_" in before:
            same = np.array_equal(before["classes_"], self.classes_)
            if same and before["coef_"].shape[1] == X.shape[1]:
                coef_init, intercept_init = self.densify().coef_, self.intercept_
        start = self._begin(coef_init, intercept_init)
        ended = self._pass(X, codes, sample_weight, start, self.max_iter)
        if self.tol is not None and not ended:
            where = "" if self.fit_intercept else " through the origin"
            warnings.warn(
                f"Perceptron still made mistakes in pass max_iter={self.max_iter}: the classes "
                f"may not be separable by a plane{where}. Increase max_iter or tol, set "
                "fit_intercept=True, or use LogisticRegression.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Make one pass over more rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that may come; needed in the first call.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Factors on the steps of rows.

        Returns
        -------
        self : Perceptron
            The model of all rows so far.
        """
        from sklearn.utils.validation import validate_data

        from corollary.core.compat import check_sample_weight

        first = not hasattr(self, "coef_")
        if first and classes is None:
            raise ValueError(
                "classes must be passed on the first call to partial_fit: later rows may hold "
                "labels that these do not."
            )
        if isinstance(self.class_weight, str):
            raise ValueError(
                "class_weight 'balanced' is not supported for partial_fit, which does not know the "
                "rows to come. Give the factors as a dict."
            )
        checks = self._row_checks() | {"dtype": np.float64}
        X, y = validate_data(self, X, y, reset=first, **checks)
        if sample_weight is not None:
            sample_weight = check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
        if first:
            self._code(np.asarray(classes))
        if not np.isin(y, self.classes_).all() or (
            classes is not None and not np.array_equal(np.unique(classes), self.classes_)
        ):
            raise ValueError(
                f"`classes` and labels must be those of the first call, {self.classes_.tolist()}. "
                "Fit a new Perceptron for others."
            )
        before = getattr(self, "t_", 1.0)
        start = self._begin(*((None, None) if first else (self.densify().coef_, self.intercept_)))
        self._pass(X, np.searchsorted(self.classes_, y), sample_weight, start, 1)
        self.t_ += before - 1.0
        remember_rows(self, X, more=not first)
        return self

    def _begin(self, coef: Any, intercept: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return copies of weights and intercepts to start from; zeros if None."""
        n_rows = 1 if len(self.classes_) == 2 else len(self.classes_)
        parts = []
        for name, given, size in (
            ("coef_init", coef, (n_rows, self.n_features_in_)),
            ("intercept_init", intercept, (n_rows,)),
        ):
            part = np.zeros(size) if given is None else np.array(given, dtype=np.float64)
            if part.size != int(np.prod(size)):
                raise ValueError(
                    f"Provided {name} does not match dataset: shape {size} is needed. Got "
                    f"{part.shape}."
                )
            parts.append(part.reshape(size))
        return parts[0], parts[1]

    def _pass(
        self,
        X: Any,
        codes: np.ndarray,
        sample_weight: np.ndarray | None,
        start: tuple[np.ndarray, np.ndarray],
        max_passes: int,
    ) -> bool:
        """Make passes over rows, from given weights on; say whether a stopping rule ended them."""
        weight = np.ones(len(codes)) if sample_weight is None else sample_weight
        totals = np.bincount(codes, weights=weight, minlength=len(self.classes_))
        factors = class_factors(self.class_weight, self.classes_, totals)
        steps = self.eta0 * (weight if factors is None else weight * factors[codes])
        random = check_random_state(self.random_state)
        rows, kept = self._split(codes, random)
        share = {None: 0.0, "l2": 0.0, "l1": 1.0, "elasticnet": self.l1_ratio}[self.penalty]
        pull = 0.0 if self.penalty is None else self.eta0 * self.alpha
        rule = Rule(
            max(0.0, 1.0 - (1.0 - share) * pull),
            share * pull,
            max_passes,
            self.tol if max_passes > 1 else None,
            self.n_iter_no_change,
        )
        Z = X if sparse.issparse(X) else np.ascontiguousarray(X)
        runs: list[Trained] = []
        n_classes = len(self.classes_)
        for k, code in enumerate([1] if n_classes == 2 else range(n_classes)):
            signs = np.where(codes == code, 1, -1)
            runs.append(
                train(
                    Z,
                    signs,
                    steps,
                    (start[0][k], start[1][k : k + self.fit_intercept].copy()),
                    (lambda: random.permutation(rows)) if self.shuffle else (lambda: rows),
                    rule,
                    None if kept is None else _judge(X[kept], signs[kept]),
                )
            )
        self.coef_ = np.array([run.weights for run in runs])
        self.intercept_ = np.array([run.intercept for run in runs])
        self.n_iter_ = max(run.passes for run in runs)
        self.t_ = float(1 + self.n_iter_ * len(rows))
        self.n_mistakes_ = np.array([run.n_mistakes for run in runs])
        self.separated_ = np.array([run.separated for run in runs])
        return all(run.stopped for run in runs)

    def _split(self, codes: np.ndarray, random: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the rows to learn from and, with early stopping, those kept aside."""
        if not self.early_stopping:
            return np.arange(len(codes)), None
        from sklearn.model_selection import StratifiedShuffleSplit

        seed = random.randint(2**31 - 1)
        splitter = StratifiedShuffleSplit(1, test_size=self.validation_fraction, random_state=seed)
        rows, kept = next(splitter.split(codes, codes))
        return np.sort(rows), kept

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
        classical = not self.shuffle and self.penalty is None and not self.early_stopping
        if not (classical and len(self.classes_) == 2 and np.isin(labels, self.classes_).all()):
            return None
        rows, weights = self._new(X), self.densify().coef_[0]
        if self.fit_intercept:
            rows, weights = _with_constant(rows), np.append(weights, self.intercept_)
        signs = np.where(labels == self.classes_[1], 1, -1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = perceptron_run(rows, signs, max_passes=self.max_iter)
        if not np.array_equal(again.weights * self.eta0, weights):
            return None
        return DeterminingRows(again.mistakes > 0, "mistakes")


def _with_constant(X: Any) -> Any:
    ones = np.ones((X.shape[0], 1))
    return sparse.hstack([X, ones], "csr") if sparse.issparse(X) else np.hstack([X, ones])


def _judge(X: Any, signs: np.ndarray) -> Callable[[np.ndarray, np.ndarray], float]:
    """Return the share of right answers to rows kept aside, as a function of the weights."""

    def share(weights: np.ndarray, intercept: np.ndarray) -> float:
        scores = X @ weights + intercept.sum()
        return float(np.mean(np.where(scores > 0, 1, -1) == signs))

    return share
