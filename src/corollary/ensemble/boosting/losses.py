r"""Losses of gradient boosting: where to start, derivatives, leaf values, and what is predicted.

A model keeps raw predictions :math:`f(x)\in\mathbb R^k`, sums of trees; a loss says how they are
judged and what they mean. Values and derivatives are those of :mod:`corollary.risk`; what only
boosting needs is here.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from corollary.core.estimator import probabilities_of
from corollary.risk import CrossEntropyLoss, ExponentialLoss, LogisticLoss, PoissonLoss, SquareLoss


class BoostingLoss(ABC):
    r"""What gradient boosting minimises.

    Attributes
    ----------
    n_outputs : int
        Raw predictions per row.
    n_trees : int
        Trees per iteration; each serves one raw prediction if there are several.
    renews : bool
        Whether leaf values come from :meth:`leaf_value` instead of a Newton step.
    tempers : bool
        Whether Newton steps go through :meth:`temper`.
    curbs : bool
        Whether the third derivative is nowhere larger than the second. Then a leaf that moves by
        t changes its loss by at most :math:`Gt+H(e^{|t|}-|t|-1)`, which is smallest at
        :math:`|t|=\log(1+|G|/H)`. Shrunk Newton steps are cut there, unless they are shorter than
        :meth:`longest_step`: so none raises the loss of its leaf.
    calibrates : bool
        Whether held-out rows correct what was learnt, by :meth:`calibrate`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import SquareBoostingLoss
    >>> SquareBoostingLoss().start(np.array([1.0, 3.0]))
    array([2.])
    """

    n_outputs: int = 1
    n_trees: int = 1
    renews: bool = False
    tempers: bool = False
    curbs: bool = False
    calibrates: bool = False

    @property
    @abstractmethod
    def kernel(self) -> str:
        """Name of the compiled derivatives."""

    def parameters(self, iteration: int) -> np.ndarray:
        """Return the numbers that the derivatives depend on.

        Parameters
        ----------
        iteration : int
            Which tree is to be grown.

        Returns
        -------
        parameters : ndarray
            For the kernel.
        """
        return np.zeros(1)

    @abstractmethod
    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Return the best constant.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Targets.
        weight : ndarray of shape (n_samples,) or None, default=None
            Weights.

        Returns
        -------
        start : ndarray of shape (n_outputs,)
            Raw predictions before the first tree.
        """

    @abstractmethod
    def value(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Return the loss of each row.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Targets.
        raw : ndarray of shape (n_samples, n_outputs)
            Raw predictions.

        Returns
        -------
        loss : ndarray of shape (n_samples,)
            Losses.
        """

    def mean(self, y: np.ndarray, raw: np.ndarray, weight: np.ndarray | None = None) -> float:
        """Return the weighted mean loss.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Targets.
        raw : ndarray of shape (n_samples, n_outputs)
            Raw predictions.
        weight : ndarray of shape (n_samples,) or None, default=None
            Weights.

        Returns
        -------
        loss : float
            The mean.
        """
        return float(np.average(self.value(y, raw), weights=weight))

    def derivatives(
        self, y: np.ndarray, raw: np.ndarray, weight: np.ndarray | None = None, iteration: int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return first derivatives and curvatures that a tree is grown on.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Targets.
        raw : ndarray of shape (n_samples, n_outputs)
            Raw predictions.
        weight : ndarray of shape (n_samples,) or None, default=None
            Weights.
        iteration : int, default=0
            Which tree is to be grown.

        Returns
        -------
        gradient : ndarray of shape (n_trees, n_samples)
            First derivatives.
        hessian : ndarray of shape (n_trees, n_samples)
            Second derivatives, Fisher's information or ones.
        """
        from corollary.ensemble._loops import derivatives as loops

        both = np.empty((self.n_trees, len(y), 2))
        gradient, hessian = both[:, :, 0], both[:, :, 1]
        getattr(loops, self.kernel)(
            np.asarray(y, dtype=np.float64),
            np.ascontiguousarray(raw, dtype=np.float64),
            np.empty(0) if weight is None else weight,
            np.arange(len(y), dtype=np.uint32),
            np.array([0, len(y)]),
            self.parameters(iteration),
            (gradient, hessian, np.zeros((self.n_trees, 2))),
        )
        return gradient, hessian

    def leaf_value(
        self, y: np.ndarray, raw: np.ndarray, weight: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the best step of a leaf, for losses whose curvature says nothing about it.

        Parameters
        ----------
        y : ndarray of shape (n_leaf,)
            Targets of its rows.
        raw : ndarray of shape (n_leaf, n_outputs)
            Their raw predictions.
        weight : ndarray of shape (n_leaf,) or None, default=None
            Their weights.

        Returns
        -------
        step : ndarray of shape (n_outputs,)
            What to add to the raw predictions.
        """
        raise NotImplementedError  # abstract: losses with `renews = True` define it

    def probabilities(self, raw: np.ndarray) -> np.ndarray:
        """Return the probabilities of classes, for losses of labels.

        Parameters
        ----------
        raw : ndarray of shape (n_samples, n_outputs)
            Raw predictions.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of the labels.
        """
        raise NotImplementedError  # abstract: losses of labels define it

    def longest_step(self, rate: float) -> float:
        """Return up to where shrunk Newton steps of any size cannot raise the loss.

        Parameters
        ----------
        rate : float
            The learning rate.

        Returns
        -------
        longest : float
            Their length; infinite if there is no limit.
        """
        return _inverse_psi(1.0 / rate) if self.curbs else np.inf

    def calibrate(
        self, start: np.ndarray, y: np.ndarray, raw: np.ndarray, weight: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return another start, and factors of the trees, that fit held-out rows.

        Parameters
        ----------
        start : ndarray of shape (n_outputs,)
            Raw predictions before the first tree.
        y : ndarray of shape (n_samples,)
            Targets of rows that no tree has seen.
        raw : ndarray of shape (n_samples, n_outputs)
            Their raw predictions.
        weight : ndarray of shape (n_samples,) or None, default=None
            Their weights.

        Returns
        -------
        start : ndarray of shape (n_outputs,)
            The new start.
        factors : ndarray of shape (n_trees,)
            What the trees of an iteration are multiplied by.
        """
        raise NotImplementedError  # abstract: losses with `calibrates = True` define it

    def temper(self, steps: np.ndarray, output: int) -> np.ndarray:
        """Return Newton steps of leaves, shortened where they would overshoot.

        Parameters
        ----------
        steps : ndarray of shape (n_leaves,)
            Steps of a tree's leaves.
        output : int
            Which raw prediction the tree serves.

        Returns
        -------
        steps : ndarray of shape (n_leaves,)
            The steps to take.
        """
        return steps


@lru_cache(maxsize=64)
def _inverse_psi(value: float) -> float:
    """Return the s >= 0 where (exp(s) - s - 1) / s^2, which is 1/2 at 0, reaches a value."""
    low, high = 0.0, 700.0
    for _ in range(64):
        s = 0.5 * (low + high)
        psi = (np.expm1(s) - s) / s**2 if s > 1e-3 else 0.5 + s / 6.0
        low, high = (s, high) if psi < value else (low, s)
    return low


def _mean(y: np.ndarray, weight: np.ndarray | None) -> float:
    return float(np.average(y, weights=weight))


@dataclass(frozen=True)
class SquareBoostingLoss(BoostingLoss):
    r"""Half the squared error :math:`\frac12(y-f)^2`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import SquareBoostingLoss
    >>> SquareBoostingLoss().derivatives(np.array([1.0]), np.array([[3.0]]))
    (array([[2.]]), array([[1.]]))
    """

    kernel = "square"

    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Return the mean."""
        return np.array([_mean(y, weight)])

    def value(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Return half squared errors."""
        return 0.5 * SquareLoss().value(y, raw[:, 0])


@dataclass(frozen=True)
class LogisticBoostingLoss(BoostingLoss):
    r"""The logistic loss :math:`\log(1+e^{-(2y-1)f})` of labels 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import LogisticBoostingLoss
    >>> LogisticBoostingLoss().derivatives(np.array([1.0]), np.array([[0.0]]))
    (array([[-0.5]]), array([[0.25]]))
    """

    kernel = "logistic"
    curbs = True

    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Return the log odds."""
        share = _mean(y, weight)
        return np.array([np.log(share) - np.log1p(-share)])

    def value(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Return logistic losses."""
        return LogisticLoss().value(2.0 * y - 1.0, raw[:, 0])

    def probabilities(self, raw: np.ndarray) -> np.ndarray:
        """Return the probabilities of both classes."""
        return probabilities_of(raw[:, 0])


@dataclass(frozen=True)
class ExponentialBoostingLoss(BoostingLoss):
    r"""AdaBoost's loss :math:`e^{-(2y-1)f}` of labels 0 and 1; its f is half the log odds.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import ExponentialBoostingLoss
    >>> ExponentialBoostingLoss().derivatives(np.array([1.0]), np.array([[0.0]]))
    (array([[-1.]]), array([[1.]]))
    """

    kernel = "exponential"
    curbs = True

    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Return half the log odds."""
        return np.asarray(0.5 * LogisticBoostingLoss().start(y, weight))

    def value(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Return exponential losses."""
        return ExponentialLoss().value(2.0 * y - 1.0, raw[:, 0])

    def probabilities(self, raw: np.ndarray) -> np.ndarray:
        """Return the probabilities of both classes."""
        return probabilities_of(2.0 * raw[:, 0])


@dataclass(frozen=True)
class SoftmaxBoostingLoss(BoostingLoss):
    r"""Cross-entropy :math:`-f_y+\log\sum_ke^{f_k}` of labels 0 to K - 1; a tree for each class.

    The trees of an iteration move all :math:`f_k` at once. With steps :math:`t_k` of at most M the
    loss of a row changes by at most

    .. math:: \sum_kg_kt_k+2\psi(2M)\sum_kp_k(1-p_k)t_k^2,\qquad\psi(s)=\frac{e^s-s-1}{s^2},

    since third derivatives are at most the range of t times second ones, and the variance of t is
    at most :math:`2\sum_kp_k(1-p_k)t_k^2`. Steps are cut at the M up to which shrunk Newton steps
    keep the sum over rows below zero, or at 1 if that is more (learning rates above 0.45).

    Parameters
    ----------
    n_classes : int
        K.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import SoftmaxBoostingLoss
    >>> SoftmaxBoostingLoss(4).probabilities(np.zeros((1, 4)))
    array([[0.25, 0.25, 0.25, 0.25]])
    """

    n_classes: int
    kernel = "softmax"

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        """Raw predictions per row."""
        return self.n_classes

    @property
    def n_trees(self) -> int:  # type: ignore[override]
        """Trees per iteration."""
        return self.n_classes

    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Return centred logarithms of the shares."""
        shares = np.bincount(y.astype(np.int64), weights=weight, minlength=self.n_classes)
        logs = np.log(shares / shares.sum())
        return np.asarray(logs - logs.mean())

    def longest_step(self, rate: float) -> float:
        r"""Return M with :math:`2\eta\psi(2M)=K/(K-1)` for the rate :math:`\eta`, at least 1."""
        limit = 0.5 * self.n_classes / ((self.n_classes - 1) * rate)
        return max(1.0, 0.5 * _inverse_psi(limit))

    def value(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Return cross-entropies."""
        return CrossEntropyLoss().value(y.astype(np.int64), raw)

    def probabilities(self, raw: np.ndarray) -> np.ndarray:
        """Return the probabilities of all classes."""
        return probabilities_of(raw)


@dataclass(frozen=True)
class PoissonBoostingLoss(BoostingLoss):
    r"""Half the deviance of counts with mean :math:`e^f`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import PoissonBoostingLoss
    >>> PoissonBoostingLoss().value(np.array([1.0, 0.0]), np.zeros((2, 1)))
    array([0., 1.])
    """

    kernel = "poisson"
    curbs = True

    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Return the logarithm of the mean."""
        return np.array([np.log(_mean(y, weight))])

    def value(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Return half deviances."""
        return PoissonLoss().value(y, raw[:, 0])


@dataclass(frozen=True)
class GammaBoostingLoss(BoostingLoss):
    r"""Half the deviance of positive numbers of a gamma law with mean :math:`e^f`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import GammaBoostingLoss
    >>> GammaBoostingLoss().value(np.array([1.0, 2.0]), np.zeros((2, 1))).round(3)
    array([0.   , 0.307])
    """

    kernel = "gamma"
    curbs = True

    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Return the logarithm of the mean."""
        return np.array([np.log(_mean(y, weight))])

    def value(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Return half deviances."""
        ratio = np.log(y) - raw[:, 0]
        return np.expm1(ratio) - ratio
