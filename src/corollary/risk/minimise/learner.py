"""The learning problem: a learner maps a training set to a predictor.

In this library a learner is a scikit-learn estimator (``fit(X, y)``, then ``predict(X)``) or any
function ``learn(X, y)`` that returns a predictor; a predictor is a function of X or a fitted
estimator. The functions here let everything else accept both.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from corollary.risk._records import OrderSensitivity

Predictor: TypeAlias = Callable[[Any], np.ndarray]


@runtime_checkable
class Learner(Protocol):
    """What every estimator of the library offers: ``fit`` and ``predict``.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from corollary.risk import Learner
    >>> isinstance(LinearRegression(), Learner)
    True
    """

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from a training set.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Outputs.

        Returns
        -------
        self : object
            The learner, which can predict now.
        """

    def predict(self, X: Any) -> Any:
        """Predict the outputs of new inputs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted outputs.
        """


def as_predictor(model: Any, *, method: str = "predict") -> Predictor:
    """Return the prediction function of a fitted estimator or of a function.

    Parameters
    ----------
    model : fitted estimator or callable
        An estimator with the method, or a function of X.
    method : str, default="predict"
        Which method of an estimator predicts, for instance "decision_function".

    Returns
    -------
    predictor : callable
        Maps X to predictions.

    Raises
    ------
    TypeError
        If the object can do neither.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from corollary.risk import as_predictor
    >>> predict = as_predictor(LinearRegression().fit([[0.0], [1.0]], [0.0, 2.0]))
    >>> predict([[2.0]]).round(6)
    array([4.])
    """
    if hasattr(model, method):
        return getattr(model, method)
    if callable(model) and not isinstance(model, type):
        return model
    raise TypeError(f"A predictor must be callable or have a {method!r} method. Got {model!r}.")


def as_learner(learner: Any, *, method: str = "predict") -> Callable[[Any, Any], Predictor]:
    """Return a function that learns: training set in, predictor out.

    Parameters
    ----------
    learner : estimator or callable
        An estimator, which is cloned at every call, or a function ``learn(X, y)`` that returns a
        predictor.
    method : str, default="predict"
        Which method of an estimator predicts.

    Returns
    -------
    learn : callable
        ``learn(X, y)`` returns a predictor.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from corollary.risk import as_learner
    >>> learn = as_learner(LinearRegression())
    >>> learn([[0.0], [1.0]], [0.0, 2.0])([[2.0]]).round(6)
    array([4.])
    """
    if hasattr(learner, "fit") and not isinstance(learner, type):
        return lambda X, y: as_predictor(clone(learner).fit(X, y), method=method)
    if callable(learner) and not isinstance(learner, type):
        return lambda X, y: as_predictor(learner(X, y), method=method)
    raise TypeError(
        "A learner must be an estimator with fit, or a callable learn(X, y) that returns a "
        f"predictor. Got {learner!r}."
    )


def order_sensitivity(
    learner: Any,
    X: Any,
    y: Any,
    X_new: Any,
    *,
    n_permutations: int = 5,
    method: str = "predict",
    tol: float = 1e-8,
    random_state: Any = None,
) -> OrderSensitivity:
    """Measure whether a learner's predictions depend on the order of its training rows.

    A deterministic batch learner gives the same predictor for every order, up to rounding and
    ties; learners that see one row at a time, and those that resample, do not.

    Parameters
    ----------
    learner : estimator or callable
        See :func:`as_learner`.
    X : array-like of shape (n_samples, n_features)
        Training inputs.
    y : array-like of shape (n_samples,)
        Training outputs.
    X_new : array-like of shape (n_new, n_features)
        Where to compare predictions.
    n_permutations : int, default=5
        How many random orders to try.
    method : str, default="predict"
        Which method of an estimator predicts.
    tol : float, default=1e-8
        Numbers closer than this, relative to the largest prediction, count as equal.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the orders.

    Returns
    -------
    sensitivity : OrderSensitivity
        Share of changed predictions and largest difference.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from corollary.risk import order_sensitivity
    >>> X = np.arange(6.0)[:, None]
    >>> order_sensitivity(LinearRegression(), X, [0, 1, 1, 2, 3, 3], X, random_state=0).changed
    0.0
    """
    learn, rng = as_learner(learner, method=method), check_random_state(random_state)
    X, y = np.asarray(X), np.asarray(y)
    reference = np.asarray(learn(X, y)(X_new))
    numeric = reference.dtype.kind in "iufb"
    scale = tol * max(1.0, float(np.abs(reference).max())) if numeric else 0.0
    changed, largest = 0.0, 0.0 if numeric else np.nan
    for _ in range(n_permutations):
        order = rng.permutation(len(y))
        predictions = np.asarray(learn(X[order], y[order])(X_new))
        if numeric:
            gap = np.abs(predictions.astype(float) - reference.astype(float))
            changed = max(changed, float((gap > scale).mean()))
            largest = max(largest, float(gap.max()))
        else:
            changed = max(changed, float((predictions != reference).mean()))
    return OrderSensitivity(changed, largest)
