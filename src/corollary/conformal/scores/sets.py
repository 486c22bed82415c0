"""Conformity scores of sets of classes, as frozen objects that can be saved."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import ClassVar

import numpy as np

from corollary.conformal.scores._base import SetScore
from corollary.conformal.scores._ranking import label_scores, ranked_sets, row_blocks
from corollary.conformal.scores.functions import lac_score
from corollary.core.schema import Flag, Integer, Number, Schema


@dataclass(frozen=True)
class LAC(SetScore):
    """One minus the probability of the label: the smallest sets on average, some of them empty.

    See Also
    --------
    lac_score : The score as a function of numbers.
    APS : Sets that grow with difficulty and are never empty.

    References
    ----------
    Sadinle, M., Lei, J. and Wasserman, L. (2019). Least ambiguous set-valued classifiers with
    bounded error levels. Journal of the American Statistical Association 114.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from corollary.conformal import LAC, SplitConformalClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SplitConformalClassifier(GaussianNB(), conformity_score=LAC(), random_state=0)
    >>> model.fit(X, y).conformity_score_
    LAC()
    """

    _schema: ClassVar[Schema] = Schema()

    def label_scores(
        self, probabilities: np.ndarray, columns: np.ndarray, uniform: np.ndarray | None
    ) -> np.ndarray:
        """Return one minus the probability of the label."""
        return lac_score(probabilities[np.arange(len(columns)), columns])

    def sets(
        self, probabilities: np.ndarray, thresholds: np.ndarray, uniform: np.ndarray | None
    ) -> np.ndarray:
        """Return the classes that are probable enough."""
        sets = np.empty(probabilities.shape, dtype=bool)
        thresholds = np.broadcast_to(thresholds, sets.shape)
        for rows in row_blocks(probabilities.shape):  # scores need no memory of their own
            np.less_equal(1 - probabilities[rows], thresholds[rows], out=sets[rows])
        return sets


@dataclass(frozen=True)
class APS(SetScore):
    """The probability of all classes at least as likely as the label: adaptive prediction sets.

    Parameters
    ----------
    randomised : bool, default=False
        Whether the label itself counts by a uniform random share, which makes coverage exact and
        sets smaller, and lets a set be empty.

    See Also
    --------
    aps_score : The score as a function of numbers.
    RAPS : A price for long sets.

    References
    ----------
    Romano, Y., Sesia, M. and Candes, E. (2020). Classification with valid and adaptive coverage.
    Advances in Neural Information Processing Systems 33.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from corollary.conformal import APS, SplitConformalClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SplitConformalClassifier(GaussianNB(), conformity_score=APS(), random_state=0)
    >>> model.fit(X, y).predict_set(X).any(axis=1).all()
    np.True_
    """

    randomised: bool = False

    _schema: ClassVar[Schema] = Schema(randomised=Flag())

    def label_scores(
        self, probabilities: np.ndarray, columns: np.ndarray, uniform: np.ndarray | None
    ) -> np.ndarray:
        """Return the probability of all classes at least as likely as the label."""
        return label_scores(probabilities, columns, uniform=uniform)

    def sets(
        self, probabilities: np.ndarray, thresholds: np.ndarray, uniform: np.ndarray | None
    ) -> np.ndarray:
        """Return the likeliest classes, none of the sets empty unless scores are random."""
        always = None if self.randomised else thresholds
        return ranked_sets(probabilities, thresholds, reach=always, uniform=uniform)


@dataclass(frozen=True)
class RAPS(SetScore):
    """The score of :class:`APS` with a price for every class beyond the first few.

    Parameters
    ----------
    penalty : float, default=0.01
        Price of a further class; fix it, or choose it on rows that do not calibrate.
    free_classes : int, default=1
        Classes without a price.
    randomised : bool, default=False
        Whether the label itself counts by a uniform random share.

    See Also
    --------
    raps_score : The score as a function of numbers.

    References
    ----------
    Angelopoulos, A., Bates, S., Malik, J. and Jordan, M. (2021). Uncertainty sets for image
    classifiers using conformal prediction. International Conference on Learning Representations.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from corollary.conformal import RAPS, SplitConformalClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SplitConformalClassifier(GaussianNB(), conformity_score=RAPS(0.5), random_state=0)
    >>> int(model.fit(X, y).predict_set(X).sum(axis=1).max())
    1
    """

    penalty: float = 0.01
    free_classes: int = 1
    randomised: bool = False

    _schema: ClassVar[Schema] = Schema(
        penalty=Number(0), free_classes=Integer(0), randomised=Flag()
    )

    def __post_init__(self) -> None:
        if not isinstance(self.penalty, Real) or self.penalty < 0:
            raise ValueError(
                "The 'penalty' parameter of RAPS must be a float in the range [0, inf). Got "
                f"{self.penalty!r} instead."
            )
        if not isinstance(self.free_classes, Integral) or self.free_classes < 0:
            raise ValueError(
                "The 'free_classes' parameter of RAPS must be an int in the range [0, inf). Got "
                f"{self.free_classes!r} instead."
            )

    def label_scores(
        self, probabilities: np.ndarray, columns: np.ndarray, uniform: np.ndarray | None
    ) -> np.ndarray:
        """Return the probability of all classes at least as likely, and their price."""
        return label_scores(
            probabilities,
            columns,
            uniform=uniform,
            penalty=self.penalty,
            free_classes=self.free_classes,
        )

    def sets(
        self, probabilities: np.ndarray, thresholds: np.ndarray, uniform: np.ndarray | None
    ) -> np.ndarray:
        """Return the likeliest classes, none of the sets empty unless scores are random."""
        # The likeliest class alone always belongs to a set: before every other one there is a sum
        # that is not negative.
        always = None if self.randomised else -1.0
        return ranked_sets(
            probabilities,
            thresholds,
            reach=always,
            uniform=uniform,
            penalty=self.penalty,
            free_classes=self.free_classes,
        )
