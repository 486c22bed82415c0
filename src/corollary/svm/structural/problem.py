"""Outputs with structure: features, losses and argmax of labels and of chains of labels."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.schema import Integer, Schema


class StructuredProblem(ABC):
    """What a structural machine must know of its inputs and outputs.

    Examples
    --------
    >>> from corollary.svm import LabelChain, StructuredProblem
    >>> isinstance(LabelChain(n_labels=2, n_features=3), StructuredProblem)
    True
    """

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of joint features."""

    @abstractmethod
    def joint_feature(self, x: Any, y: Any) -> np.ndarray:
        """Return the joint features of an input and an output.

        Parameters
        ----------
        x : object
            One input.
        y : object
            One output.

        Returns
        -------
        psi : ndarray of shape (size,)
            Their features.
        """

    @abstractmethod
    def loss(self, truth: Any, prediction: Any) -> float:
        """Return the loss of a prediction, zero for the truth itself.

        Parameters
        ----------
        truth : object
            The true output.
        prediction : object
            Another output.

        Returns
        -------
        loss : float
            Not negative.
        """

    @abstractmethod
    def argmax(self, w: np.ndarray, x: Any, truth: Any = None) -> Any:
        """Return the output of highest score, or of highest score plus loss.

        Parameters
        ----------
        w : ndarray of shape (size,)
            Weights.
        x : object
            One input.
        truth : object or None, default=None
            The true output; None for prediction, without the loss.

        Returns
        -------
        y : object
            The best output, the truth allowed.
        """


@dataclass(frozen=True)
class ClassLabels(StructuredProblem):
    """One of several classes: a block of features for each, and the loss 0 or 1.

    Parameters
    ----------
    n_classes : int
        Classes 0 to n_classes - 1.
    n_features : int
        Length of an input.

    Examples
    --------
    >>> from corollary.svm import ClassLabels
    >>> ClassLabels(n_classes=2, n_features=2).joint_feature([1.0, 5.0], 1)
    array([0., 0., 1., 5.])
    """

    n_classes: int
    n_features: int
    _schema = Schema(n_classes=Integer(1), n_features=Integer(1))

    @property
    def size(self) -> int:
        """Number of joint features."""
        return self.n_classes * self.n_features

    def joint_feature(self, x: Any, y: Any) -> np.ndarray:
        """Return the input in the block of its class; see :class:`StructuredProblem`."""
        psi = np.zeros((self.n_classes, self.n_features))
        psi[y] = x
        return psi.ravel()

    def loss(self, truth: Any, prediction: Any) -> float:
        """Return 1 for a wrong class; see :class:`StructuredProblem`."""
        return float(truth != prediction)

    def argmax(self, w: np.ndarray, x: Any, truth: Any = None) -> Any:
        """Try all classes; see :class:`StructuredProblem`."""
        scores = w.reshape(self.n_classes, self.n_features) @ np.asarray(x, dtype=np.float64)
        if truth is not None:
            scores = scores + (np.arange(self.n_classes) != truth)
        return int(np.argmax(scores))


@dataclass(frozen=True)
class LabelChain(StructuredProblem):
    """A label for each position of a sequence; neighbours influence each other.

    The score is a sum of one term for each position, linear in its features, and one for each pair
    of neighbouring labels; the loss is the number of wrong labels. The best sequence is found by
    Viterbi's algorithm.

    Parameters
    ----------
    n_labels : int
        Labels 0 to n_labels - 1.
    n_features : int
        Features of a position; an input is an array of shape (length, n_features).

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import LabelChain
    >>> chain = LabelChain(n_labels=2, n_features=1)
    >>> w = np.array([-1.0, 1.0, 3.0, 0.0, 0.0, 3.0])  # signs decide; neighbours like to agree
    >>> chain.argmax(w, np.array([[1.0], [-0.5], [1.0]]))
    array([1, 1, 1])
    """

    n_labels: int
    n_features: int
    _schema = Schema(n_labels=Integer(1), n_features=Integer(1))

    @property
    def size(self) -> int:
        """Number of joint features."""
        return self.n_labels * (self.n_features + self.n_labels)

    def joint_feature(self, x: Any, y: Any) -> np.ndarray:
        """Sum features by label and count transitions; see :class:`StructuredProblem`."""
        x, y = np.asarray(x, dtype=np.float64), np.asarray(y)
        emission = np.zeros((self.n_labels, self.n_features))
        np.add.at(emission, y, x)
        transition = np.zeros((self.n_labels, self.n_labels))
        np.add.at(transition, (y[:-1], y[1:]), 1.0)
        return np.concatenate([emission.ravel(), transition.ravel()])

    def loss(self, truth: Any, prediction: Any) -> float:
        """Count wrong labels; see :class:`StructuredProblem`."""
        return float(np.count_nonzero(np.asarray(truth) != np.asarray(prediction)))

    def argmax(self, w: np.ndarray, x: Any, truth: Any = None) -> Any:
        """Run Viterbi's algorithm; see :class:`StructuredProblem`."""
        cut = self.n_labels * self.n_features
        scores = np.asarray(x, dtype=np.float64) @ w[:cut].reshape(self.n_labels, -1).T
        if truth is not None:
            scores = scores + (np.arange(self.n_labels) != np.asarray(truth)[:, None])
        transition = w[cut:].reshape(self.n_labels, self.n_labels)
        length = len(scores)
        best, back = scores[0], np.zeros((length, self.n_labels), dtype=np.int64)
        for t in range(1, length):
            through = best[:, None] + transition
            back[t] = through.argmax(axis=0)
            best = through.max(axis=0) + scores[t]
        y = np.empty(length, dtype=np.int64)
        y[-1] = int(np.argmax(best))
        for t in range(length - 1, 0, -1):
            y[t - 1] = back[t, y[t]]
        return y
