"""Maps from scores to probabilities, as they are kept; attributes have scikit-learn's names."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit, softmax

from corollary.core.schema import Array, Number, Schema
from corollary.ensemble.calibrated.temperature import temperature_scaling


@dataclass(frozen=True, eq=False)
class SigmoidMap:
    r"""Platt's map of a score, :math:`1 / (1 + e^{a f + b})`.

    Parameters
    ----------
    a_ : float
        Factor of the score.
    b_ : float
        Offset.

    See Also
    --------
    corollary.svm.platt_scaling : Computes both.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import SigmoidMap
    >>> scores, positive = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0, 0, 1, 1], dtype=bool)
    >>> SigmoidMap.learn(scores, positive).predict(np.array([0.0, 2.0])).round(3)
    array([0.5  , 0.794])
    """

    a_: float
    b_: float

    _schema = Schema(a_=Number(), b_=Number())

    @classmethod
    def learn(cls, scores: np.ndarray, positive: np.ndarray, weight: Any = None) -> Self:
        """Fit the map to scores of held-out rows.

        Parameters
        ----------
        scores : ndarray of shape (n_samples,)
            Scores of rows that the classifier was not trained on.
        positive : ndarray of bool of shape (n_samples,)
            Whether rows are of the class.
        weight : ndarray of shape (n_samples,) or None, default=None
            Non-negative weights.

        Returns
        -------
        map : Self
            The map.
        """
        from corollary.svm import platt_scaling

        return cls(*platt_scaling(scores, positive, weight))

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability of the class.

        Parameters
        ----------
        scores : ndarray of shape (n_samples,)
            Scores.

        Returns
        -------
        probability : ndarray of shape (n_samples,)
            Probabilities.
        """
        return expit(-(self.a_ * scores + self.b_))


def _increases(model: "IsotonicMap") -> str | None:
    x, y = model.X_thresholds_, model.y_thresholds_
    rising = len(x) and (np.diff(x) >= 0).all() and (np.diff(y) >= 0).all()
    return None if rising and y[0] >= 0 and y[-1] <= 1 else "its probabilities do not increase"


@dataclass(frozen=True, eq=False)
class IsotonicMap:
    """The increasing map of a score that has the least squared error.

    Parameters
    ----------
    X_thresholds_ : ndarray of shape (n_thresholds,)
        Scores; between them the map is linear, beyond them constant.
    y_thresholds_ : ndarray of shape (n_thresholds,)
        Probabilities there.

    See Also
    --------
    sklearn.isotonic.IsotonicRegression : Computes both.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import IsotonicMap
    >>> scores, positive = np.arange(4.0), np.array([0, 1, 0, 1], dtype=bool)
    >>> IsotonicMap.learn(scores, positive).predict(np.array([-1.0, 1.0, 1.5, 9.0]))
    array([0. , 0.5, 0.5, 1. ])
    """

    X_thresholds_: np.ndarray
    y_thresholds_: np.ndarray

    _schema = Schema(_increases, X_thresholds_=Array("f", "t"), y_thresholds_=Array("f", "t"))

    @classmethod
    def learn(cls, scores: np.ndarray, positive: np.ndarray, weight: Any = None) -> Self:
        """Fit the map to scores of held-out rows.

        Parameters
        ----------
        scores : ndarray of shape (n_samples,)
            Scores of rows that the classifier was not trained on.
        positive : ndarray of bool of shape (n_samples,)
            Whether rows are of the class.
        weight : ndarray of shape (n_samples,) or None, default=None
            Non-negative weights.

        Returns
        -------
        map : Self
            The map.
        """
        from sklearn.isotonic import IsotonicRegression

        model = IsotonicRegression().fit(scores, positive.astype(np.float64), weight)
        return cls(model.X_thresholds_, model.y_thresholds_)

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability of the class.

        Parameters
        ----------
        scores : ndarray of shape (n_samples,)
            Scores.

        Returns
        -------
        probability : ndarray of shape (n_samples,)
            Probabilities.
        """
        return np.interp(scores, self.X_thresholds_, self.y_thresholds_)


@dataclass(frozen=True, eq=False)
class TemperatureMap:
    r"""One factor of the scores of all classes, :math:`p_k \propto e^{\beta z_k}`.

    Parameters
    ----------
    beta_ : float
        The factor, an inverse temperature.

    See Also
    --------
    temperature_scaling : Computes it.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import TemperatureMap
    >>> TemperatureMap(0.5).predict(np.log([[0.9, 0.1]])).round(6)
    array([[0.75, 0.25]])
    """

    beta_: float

    _schema = Schema(beta_=Number(0.0))

    @classmethod
    def learn(cls, logits: np.ndarray, codes: np.ndarray, weight: Any = None) -> Self:
        """Fit the factor to scores of held-out rows.

        Parameters
        ----------
        logits : ndarray of shape (n_samples, n_classes)
            Scores of rows that the classifier was not trained on.
        codes : ndarray of int of shape (n_samples,)
            The place of each row's class among the columns.
        weight : ndarray of shape (n_samples,) or None, default=None
            Non-negative weights.

        Returns
        -------
        map : Self
            The map.
        """
        return cls(temperature_scaling(logits, codes, weight))

    def predict(self, logits: np.ndarray) -> np.ndarray:
        """Return the probabilities of all classes.

        Parameters
        ----------
        logits : ndarray of shape (n_samples, n_classes)
            Scores.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            Rows sum to one.
        """
        return softmax(self.beta_ * logits, axis=1)
