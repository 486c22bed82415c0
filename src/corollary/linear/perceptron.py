r"""The batch perceptron, its leave-one-out error, and its guarantees.

The model is :math:`\mathrm{sign}\langle w, x \rangle`. Starting from w = 0, rows are visited in
passes; wherever :math:`y_i \langle w, x_i \rangle \le 0` the row is added,
:math:`w \leftarrow w + y_i x_i`. The first pass without a mistake ends the run, and w then
separates the data. There is no step size.

With :math:`\|x_i\| \le R` and margin :math:`\gamma` the run makes at most
:math:`(R / \gamma)^2` mistakes in all, in any order.
"""

import warnings
from collections.abc import Iterator
from itertools import count, repeat
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from corollary.core.compat import Interval, fit_context, validate_params
from corollary.core.estimator import check_training_data
from corollary.core.schema import Array, Integer, Schema
from corollary.linear.geometry import signs
from corollary.linear.linear_classifier import (
    FITTED_CLASSIFIER,
    LinearClassifier,
    scores_fit_classes,
)


class PerceptronRun(NamedTuple):
    """What happened in a run of the perceptron.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        The last weights.
    mistakes : ndarray of int, shape (n_samples,)
        How often each row was mistaken; ``weights`` is the sum of ``mistakes * y * x``.
    passes : int
        Passes made, the verifying one included.
    separated : bool
        Whether the last pass made no mistake.

    Examples
    --------
    >>> from corollary.linear import perceptron_run
    >>> perceptron_run([[1.0, 0.0], [0.0, 2.0]], [1, -1]).weights
    array([ 1., -2.])
    """

    weights: np.ndarray
    mistakes: np.ndarray
    passes: int
    separated: bool


class PerceptronLeaveOneOut(NamedTuple):
    """Leave-one-out errors of the cyclic perceptron.

    Parameters
    ----------
    wrong : ndarray of bool, shape (n_samples,)
        Whether each row is mistaken by the perceptron trained on the others.
    error : float
        Their share.
    refits : int
        Rows that had to be refitted.

    Examples
    --------
    >>> from corollary.linear import perceptron_loo
    >>> perceptron_loo([[1.0, 0.0], [0.0, 1.0]], [1, 1]).error
    1.0
    """

    wrong: np.ndarray
    error: float
    refits: int


def perceptron_run(
    X: Any,
    y: Any,
    *,
    max_passes: int = 1000,
    shuffle: bool = False,
    random_state: Any = None,
) -> PerceptronRun:
    """Run the perceptron until a pass without mistake.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels -1 and 1.
    max_passes : int, default=1000
        Largest number of passes. The perceptron stops by itself only on data that a plane
        through the origin separates with positive margin.
    shuffle : bool, default=False
        Whether each pass visits the rows in a fresh random order; else in their given order.
    random_state : int, RandomState instance or None, default=None
        Source of the orders.

    Returns
    -------
    run : PerceptronRun
        Weights, mistakes and passes.

    Examples
    --------
    >>> from corollary.linear import perceptron_run
    >>> perceptron_run([[1.0]], [1])
    PerceptronRun(weights=array([1.]), mistakes=array([1]), passes=2, separated=True)
    """
    X = sparse.csr_matrix(X, dtype=np.float64) if sparse.issparse(X) else _rows(X)
    y = signs("perceptron_run", y, X.shape[0])
    random, rows = check_random_state(random_state), np.arange(X.shape[0])
    orders = (random.permutation(len(rows)) for _ in count()) if shuffle else repeat(rows)
    return _run("perceptron_run", X, y, orders, max_passes)


def _run(
    who: str, X: Any, y: np.ndarray, orders: Iterator[np.ndarray], max_passes: int
) -> PerceptronRun:
    """Play the rounds of the online perceptron pass by pass, each pass in the next order."""
    from corollary.online.linear_state import coefficients, learn, make_settings, make_state

    settings = make_settings(loss="perceptron")
    state = make_state(settings, X.shape[1])
    mistakes, separated, passes = np.zeros(X.shape[0], dtype=np.int64), False, 0
    while not separated and passes < max_passes:
        order = next(orders)
        state, _, slopes = learn(settings, state, X, y, order=order, who=who)
        wrong = order[slopes[:, 0] != 0]
        mistakes[wrong] += 1
        separated, passes = not len(wrong), passes + 1
    return PerceptronRun(coefficients(state)[0][0], mistakes, passes, separated)


def perceptron_loo(X: Any, y: Any, *, max_passes: int = 100_000) -> PerceptronLeaveOneOut:
    r"""Return the leave-one-out error of the cyclic perceptron.

    A row that the full run never mistook leaves no trace in it: the run without that row is the
    same, bit for bit, and classifies the row correctly. Only mistaken rows are refitted. The
    argument holds for any order whose restriction to the remaining rows is the order that would
    be run on them, as a fixed order is.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels -1 and 1; a plane through the origin must separate them with positive margin.
    max_passes : int, default=100000
        Largest number of passes of a run.

    Returns
    -------
    result : PerceptronLeaveOneOut
        Which rows are wrong, the error, and how many refits it took.

    Notes
    -----
    Guarantee: the number of wrong rows is at most the number of rows mistaken by the full run,
    hence at most :math:`(R / \gamma)^2`; checked by
    ``tests/linear/test_perceptron.py::test_loo_counts_stay_below_the_mistake_bound``.

    Examples
    --------
    >>> from corollary.linear import perceptron_loo
    >>> X = [[1.0, 0.0], [0.9, 0.1], [-1.0, 0.1], [-0.8, 0.0]]
    >>> perceptron_loo(X, [1, 1, -1, -1])
    PerceptronLeaveOneOut(wrong=array([False, False, False, False]), error=0.0, refits=1)
    """
    X = _rows(X)
    n = len(X)
    y = signs("perceptron_loo", y, n)
    if n < 2:
        raise ValueError(f"perceptron_loo needs at least 2 rows. Got {n}.")

    def run(skip: int) -> PerceptronRun:
        rows = np.delete(np.arange(n), skip) if skip >= 0 else np.arange(n)
        outcome = _run("perceptron_loo", X, y, repeat(rows), max_passes)
        if not outcome.separated:
            raise ValueError(
                f"perceptron_loo: no pass without mistake within max_passes={max_passes}. The "
                "method needs data that a plane through the origin separates; see "
                "separability(X, y, fit_intercept=False), or increase max_passes."
            )
        return outcome

    mistakes = run(-1).mistakes
    refit = np.flatnonzero(mistakes)
    wrong = np.zeros(n, dtype=bool)
    for k in refit:
        wrong[k] = y[k] * (X[k] @ run(int(k)).weights) <= 0
    return PerceptronLeaveOneOut(wrong, float(wrong.mean()), len(refit))


@validate_params(
    {
        "radius": [Interval(Real, 0, None, closed="neither")],
        "margin": [Interval(Real, 0, None, closed="neither")],
    },
    prefer_skip_nested_validation=True,
)
def perceptron_pass_bound(radius: float, margin: float) -> int:
    r"""Return an upper bound on the passes of the batch perceptron.

    Parameters
    ----------
    radius : float
        R, at least the length of every row.
    margin : float
        :math:`\gamma > 0`, at most the margin of the data set (plane through the origin).

    Returns
    -------
    passes : int
        :math:`\lfloor (R / \gamma)^2 \rfloor + 1`: every pass but the last makes a mistake,
        and the last one verifies.

    Notes
    -----
    Guarantee: holds for every data set and every order of the rows; checked by
    ``tests/linear/test_perceptron.py::test_passes_stay_below_the_bound``. Without the last pass
    the bound would be false: one row x = 1, y = 1 takes two passes.

    Examples
    --------
    >>> from corollary.linear import perceptron_pass_bound
    >>> perceptron_pass_bound(1.0, 1.0)
    2
    """
    _check_margin("perceptron_pass_bound", radius, margin)
    # Rounding of a measured radius or margin must not push an exact ratio below an integer.
    return int(np.floor((radius / margin) ** 2 * (1 + 1e-9))) + 1


@validate_params(
    {
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "radius": [Interval(Real, 0, None, closed="neither")],
        "margin": [Interval(Real, 0, None, closed="neither"), None],
        "mean_inverse_squared_margin": [Interval(Real, 0, None, closed="neither"), None],
    },
    prefer_skip_nested_validation=True,
)
def perceptron_risk_bound(
    n_samples: int,
    radius: float,
    *,
    margin: float | None = None,
    mean_inverse_squared_margin: float | None = None,
) -> float:
    r"""Return an upper bound on the expected risk of the cyclic perceptron.

    For n independent rows from a law whose samples are almost surely separable through the origin
    with positive margin, and with :math:`\|x\| \le R`,

    .. math:: P\{y \langle w(S_n), x \rangle \le 0\}
              \le \frac{R^2}{n + 1} \, E\Bigl[ \frac1{\gamma^2(S_{n+1})} \Bigr],

    the probability being over the sample and a fresh row.

    Parameters
    ----------
    n_samples : int
        n, number of training rows.
    radius : float
        R, at least the length of every row that can occur.
    margin : float or None, default=None
        A number that the margin of n + 1 rows almost surely exceeds or equals.
    mean_inverse_squared_margin : float or None, default=None
        :math:`E[1/\gamma^2(S_{n+1})]`, if known. Exactly one of the two must be given.

    Returns
    -------
    bound : float
        The bound; vacuous if it is 1 or more.

    Notes
    -----
    Guarantee: in expectation over samples, not with high probability for one sample; checked by
    ``tests/linear/test_perceptron.py::test_risk_bound_holds_on_a_law_with_margin``. The proof is
    :func:`perceptron_loo`'s: the expected leave-one-out error on n + 1 rows is the expected risk
    after n rows.

    Examples
    --------
    >>> from corollary.linear import perceptron_risk_bound
    >>> perceptron_risk_bound(99, 1.0, margin=0.5)
    0.04
    """
    if (margin is None) == (mean_inverse_squared_margin is None):
        raise ValueError(
            "perceptron_risk_bound needs exactly one of margin and mean_inverse_squared_margin. "
            f"Got margin={margin} and mean_inverse_squared_margin={mean_inverse_squared_margin}."
        )
    if margin is None:
        assert mean_inverse_squared_margin is not None
        margin = float(mean_inverse_squared_margin) ** -0.5
    _check_margin("perceptron_risk_bound", radius, margin)
    return float((radius / margin) ** 2 / (n_samples + 1))


def _check_margin(name: str, radius: float, margin: float) -> None:
    # A margin is a distance to a plane through the origin, so it cannot exceed the length.
    if margin > radius * (1 + 1e-12):
        raise ValueError(
            f"{name}: the margin cannot exceed the radius, since |<w, x>| <= ||w|| ||x||. Got "
            f"margin {margin:.6g} and radius {radius:.6g}."
        )


def _rows(X: Any) -> np.ndarray:
    X = np.ascontiguousarray(X, dtype=np.float64)
    if X.ndim != 2 or not np.isfinite(X).all():
        raise ValueError(
            "The rows must be a table of finite numbers of shape (n_samples, n_features). Got "
            f"shape {X.shape}" + (" with NaN or infinity." if X.ndim == 2 else ".")
        )
    return X


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
