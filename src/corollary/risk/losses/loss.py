"""What a loss is: the contract that risks, minimisers and certificates are written against.

A loss compares a truth with a prediction, in this order, entry by entry::

    losses = loss(y_true, prediction)

Besides its values a loss knows its slope and curvature in the prediction, how a real-valued
prediction becomes an output (:meth:`Loss.select`), the prediction that minimises its expectation
when the law of the truth is known (:meth:`Loss.minimiser`), and its least upper bound, Lipschitz
and smoothness constants on a range of predictions. Losses of one real prediction also have a
compiled scalar form, which loops reach by :attr:`Loss.code` and :attr:`Loss.shape`::

    from corollary.risk import loss_slope           # a part of loops: imports Numba
    slope = loss_slope(code, shape, y_true, prediction)

Conventions. Binary labels are -1 and +1, and ``sign(0) = +1``: a score of exactly zero is a
mistake for the label -1 only. Arrays are combined entry by entry; a vector of truths and a column
of predictions are refused instead of being broadcast into a matrix.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np

from corollary.risk.losses._checks import check_range

# What every function that takes a loss accepts; see check_loss.
LossLike: TypeAlias = "str | Loss | Callable[[Any, Any], Any]"

_LOSSES: dict[str, type["Loss"]] = {}


def sign(score: Any) -> np.ndarray:
    """Turn scores into labels -1 and +1, with ``sign(0) = +1``.

    Parameters
    ----------
    score : array-like
        Real scores.

    Returns
    -------
    label : ndarray of the same shape, dtype=int64
        +1 where the score is at least zero, else -1.

    Examples
    --------
    >>> from corollary.risk import sign
    >>> sign([-0.3, 0.0, 2.0])
    array([-1,  1,  1])
    """
    return np.where(np.asarray(score, dtype=float) >= 0, 1, -1)


class Loss(ABC):
    """A loss of one prediction, applied entry by entry.

    Subclasses are frozen dataclasses: two losses with the same parameters are equal, and a loss
    can be stored in an estimator's parameters.

    Attributes
    ----------
    name : str
        The name by which :func:`check_loss` finds it.
    convex : bool
        Whether the loss is convex in the prediction.
    differentiable : bool
        Whether the loss is differentiable in the prediction everywhere.
    code : int
        Number of the compiled form; -1 where there is none.

    Examples
    --------
    >>> from corollary.risk import Loss, check_loss
    >>> loss = check_loss("absolute")
    >>> isinstance(loss, Loss), loss.convex, loss.lipschitz, loss.upper_bound_on(0, 5)
    (True, True, 1.0, 5.0)
    """

    name: ClassVar[str] = ""
    convex: ClassVar[bool] = True
    differentiable: ClassVar[bool] = True
    code: ClassVar[int] = -1
    _advice: ClassVar[str] = ""  # what to do without a slope

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.name:
            _LOSSES[cls.name] = cls

    @property
    def shape(self) -> float:
        """The number that the compiled form takes besides truth and prediction."""
        return 0.0

    def __call__(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return the loss of every prediction."""
        return self.value(y_true, prediction)

    @abstractmethod
    def value(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return the loss of every prediction; calling the loss does the same.

        Parameters
        ----------
        y_true : array-like
            Truths.
        prediction : array-like
            Predictions.

        Returns
        -------
        value : ndarray
            Losses.
        """

    def slope(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return the derivative of every loss in its prediction.

        Parameters
        ----------
        y_true : array-like
            Truths.
        prediction : array-like
            Predictions.

        Returns
        -------
        slope : ndarray of the shape of ``prediction``
            Derivatives; at a kink, one element of the subdifferential.

        Raises
        ------
        TypeError
            If the loss has none that leads anywhere.
        """
        raise TypeError(f"{type(self).__name__} has no useful slope. {self._advice}")

    def curvature(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return the second derivative of every loss in its prediction.

        Parameters
        ----------
        y_true : array-like
            Truths.
        prediction : array-like
            Predictions.

        Returns
        -------
        curvature : ndarray of the shape of ``prediction``
            Second derivatives; 0 at a kink. For several scores per row, the diagonal of the
            matrix of second derivatives.

        Raises
        ------
        TypeError
            If the loss has none.
        """
        raise TypeError(f"{type(self).__name__} has no curvature. {self._advice}")

    def gradient(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return the slope, under the name it has for several scores per row.

        Parameters
        ----------
        y_true : array-like
            Truths.
        prediction : array-like
            Predictions.

        Returns
        -------
        gradient : ndarray of the shape of ``prediction``
            What :meth:`slope` returns.
        """
        return self.slope(y_true, prediction)

    @abstractmethod
    def minimiser(self, posterior: Any, outcomes: Any) -> np.ndarray:
        """Return the prediction with the smallest expected loss for known laws of the truth.

        Parameters
        ----------
        posterior : array-like of shape (n_samples, n_outcomes)
            Row i holds the probabilities of the outcomes given the i-th input.
        outcomes : array-like of shape (n_outcomes,)
            The values that the truth can take.

        Returns
        -------
        prediction : ndarray of shape (n_samples,) or (n_samples, n_outcomes)
            The Bayes-optimal predictions; infinite where the infimum is not attained.
        """

    def select(self, prediction: Any) -> np.ndarray:
        """Turn predictions into outputs: the selection rule of empirical risk minimisation.

        Parameters
        ----------
        prediction : array-like
            Predictions in the form this loss takes.

        Returns
        -------
        output : ndarray
            Labels for losses of scores; the predictions themselves otherwise.
        """
        return np.asarray(prediction)

    def upper_bound_on(self, low: float = -np.inf, high: float = np.inf) -> float:
        """Return the least upper bound of the loss on a range.

        Parameters
        ----------
        low : float, default=-inf
            Smallest prediction (for regression losses also the smallest truth).
        high : float, default=inf
            Largest prediction (for regression losses also the largest truth).

        Returns
        -------
        bound : float
            Supremum of the loss; infinite where none is known.
        """
        check_range(type(self).__name__, low, high)
        return np.inf

    def lipschitz_on(self, low: float = -np.inf, high: float = np.inf) -> float:
        """Return the Lipschitz constant of the loss in its prediction on a range.

        Parameters
        ----------
        low : float, default=-inf
            Smallest prediction (for regression losses also the smallest truth).
        high : float, default=inf
            Largest prediction (for regression losses also the largest truth).

        Returns
        -------
        constant : float
            Largest slope in absolute value; infinite where none is known.
        """
        check_range(type(self).__name__, low, high)
        return np.inf

    def smoothness_on(self, low: float = -np.inf, high: float = np.inf) -> float:
        """Return the Lipschitz constant of the slope on a range.

        Parameters
        ----------
        low : float, default=-inf
            Smallest prediction (for regression losses also the smallest truth).
        high : float, default=inf
            Largest prediction (for regression losses also the largest truth).

        Returns
        -------
        constant : float
            Largest curvature; infinite where none is known, and for a loss with a kink.
        """
        check_range(type(self).__name__, low, high)
        return np.inf

    @property
    def upper_bound(self) -> float:
        """Least upper bound of the loss over all predictions."""
        return self.upper_bound_on()

    @property
    def lipschitz(self) -> float:
        """Lipschitz constant of the loss over all predictions."""
        return self.lipschitz_on()

    @property
    def smoothness(self) -> float:
        """Lipschitz constant of the slope over all predictions."""
        return self.smoothness_on()


def loss_names() -> list[str]:
    """Return the names that :func:`check_loss` knows.

    Returns
    -------
    names : list of str
        Sorted names.

    Examples
    --------
    >>> from corollary.risk import loss_names
    >>> "hinge" in loss_names()
    True
    """
    return sorted(_LOSSES)


def check_loss(loss: Any, *, gradient: bool = False) -> Any:
    """Turn a name into a loss, and check that anything else can serve as one.

    Parameters
    ----------
    loss : str, Loss or callable
        A name of :func:`loss_names` (with default parameters), a :class:`Loss`, or any callable
        ``loss(y_true, prediction)`` that works entry by entry.
    gradient : bool, default=False
        Whether a loss without ``slope`` is refused.

    Returns
    -------
    loss : Loss or callable
        The loss.

    Raises
    ------
    ValueError
        If the name is unknown.
    TypeError
        If the object cannot serve.

    Examples
    --------
    >>> from corollary.risk import check_loss
    >>> check_loss("pinball")
    PinballLoss(quantile=0.5)
    """
    if isinstance(loss, str):
        if loss not in _LOSSES:
            raise ValueError(f"The loss must be one of {loss_names()}. Got {loss!r} instead.")
        return _LOSSES[loss]()
    if isinstance(loss, type) or not callable(loss):
        raise TypeError(
            "The loss must be a name, a Loss or a callable loss(y_true, prediction). "
            f"Got {loss!r} instead."
        )
    if gradient and not hasattr(loss, "slope"):
        raise TypeError(
            f"A loss with a slope(y_true, prediction) method is required. Got {loss!r}; "
            "derive it from corollary.risk.Loss."
        )
    return loss
