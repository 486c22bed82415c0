"""Estimators of forward stagewise additive modelling: any loss, any base learner."""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from corollary.core.estimator import (
    Count,
    Learner,
    Predictor,
    RandomSeed,
    Regressor,
    ScoringClassifier,
    Share,
    fitted,
    weight_parameters,
)
from corollary.core.schema import Array, Instance, List
from corollary.ensemble._members import FollowsMember, make_member
from corollary.ensemble.stagewise._steps import (
    StagewiseRun,
    additive_loss,
    best_constant,
    stagewise_run,
)
from corollary.ensemble.stagewise.stump import StumpClassifier, StumpRegressor
from corollary.risk import HingeLoss, Loss, MarginLoss, PerceptronLoss, RampLoss


class _Stagewise(FollowsMember, Learner):
    """Base learners, weights and sums."""

    estimator: Predictor | None = None
    _: KW_ONLY
    loss: str | Loss = "square"
    n_estimators: Count = 50
    learning_rate: Share = 1.0
    random_state: RandomSeed = None

    estimators_: list[Any] = fitted(List(Instance("predict"), "t"))
    lengths_: np.ndarray = fitted(Array("f", "t"))
    losses_: list[np.ndarray] = fitted(List(Array("f", "*", nan=True, infinite=True)))

    def _fits_together(self) -> str | None:
        for member in self.estimators_:
            check_is_fitted(member)
            if getattr(member, "n_features_in_", self.n_features_in_) != self.n_features_in_:
                return "a member has other columns"
            if is_classifier(member) and not set(np.asarray(member.classes_).tolist()) <= {-1, 1}:
                return "a member has labels other than -1 and +1"
        return None

    def _run(
        self,
        loss: Any,
        X: Any,
        y: np.ndarray,
        sample_weight: np.ndarray | None,
        template: Any,
        random: np.random.RandomState,
        start: bool,
    ) -> StagewiseRun:
        # Shares of the largest weight: sums of huge weights would overflow.
        w = np.ones(len(y)) if sample_weight is None else sample_weight / sample_weight.max()
        learn = self._learner(X, sample_weight, template, random)
        first = best_constant(loss, y, w) if start else 0.0
        with np.errstate(over="ignore"):
            largest = np.max(loss(y, np.full(len(y), first)))
        if not np.isfinite(len(y) * largest):
            raise ValueError(
                f"{type(self).__name__}: the loss of the targets is not a finite number. Divide y "
                "by a constant, so that its values are about one."
            )
        return stagewise_run(
            loss,
            y,
            learn,
            n_steps=self.n_estimators,
            learning_rate=self.learning_rate,
            sample_weight=w,
            start=first,
        )

    def _learner(
        self, X: Any, sample_weight: np.ndarray | None, template: Any, random: np.random.RandomState
    ) -> Callable[[np.ndarray, np.ndarray], tuple[Any, np.ndarray]]:
        if is_classifier(template):
            weight_parameters(self, template, None)  # refuse it before the first round

            def by_labels(slopes: np.ndarray, w: np.ndarray) -> tuple[Any, np.ndarray]:
                pull = w * np.abs(slopes)
                rows = np.flatnonzero(pull > 0)  # the others have no say
                labels = np.where(slopes[rows] > 0, -1, 1)
                one = (labels == labels[0]).all()  # which many classifiers refuse
                member = StumpClassifier() if one else make_member(template, random)
                weights = pull[rows] * (len(rows) / pull[rows].sum())
                member.fit(X[rows], labels, **weight_parameters(self, member, weights))
                return member, np.asarray(member.predict(X), dtype=float)

            return by_labels

        keywords = {} if sample_weight is None else weight_parameters(self, template, sample_weight)

        def by_residuals(slopes: np.ndarray, w: np.ndarray) -> tuple[Any, np.ndarray]:
            member = make_member(template, random).fit(X, -slopes, **keywords)
            return member, np.asarray(member.predict(X), dtype=float)

        return by_residuals

    def _values(self, X: Any) -> Iterator[np.ndarray]:
        for member in self.estimators_:
            values = np.asarray(member.predict(X))
            if values.dtype.kind not in "biuf" or values.shape != (X.shape[0],):
                raise ValueError(
                    f"A member of {type(self).__name__} must predict one number per row. Got "
                    f"shape {values.shape} of dtype {values.dtype}."
                )
            yield values.astype(float)


class StagewiseRegressor(_Stagewise, Regressor):
    r"""Regress by a greedy sum of functions, under any loss.

    The sum starts from the best constant. Each step fits the base learner to the negative slopes
    of the loss by least squares and takes the length that minimises the loss.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Base learner, a regressor; None for :class:`StumpRegressor`.
    loss : str or Loss, default="square"
        "square", "absolute", "pinball", "epsilon_insensitive", or a loss object, such as
        ``PinballLoss(0.9)``.
    n_estimators : int, default=50
        Most steps; the fit ends earlier where no step lowers the loss.
    learning_rate : float, default=1.0
        Share of the best length that is taken, in (0, 1].
    random_state : int, RandomState instance or None, default=None
        Source of the seeds of base learners that have a ``random_state``.

    Attributes
    ----------
    estimators_ : list of estimators
        The functions added.
    lengths_ : ndarray of shape (n_steps,)
        Their coefficients.
    start_ : float
        The constant that the sum starts from.
    losses_ : list of ndarray
        One array: the mean training loss before the first and after each step.

    See Also
    --------
    stagewise_dictionary : The exact greedy fit over finitely many functions.
    StagewiseClassifier : The same for labels.

    Notes
    -----
    Guarantee: the training loss never rises from step to step, for any base learner; checked by
    ``tests/ensemble/test_stagewise_models.py::test_losses_never_rise``. Under a loss with kinks
    ("absolute", "pinball", "epsilon_insensitive") greedy steps may stall above the smallest loss;
    a `learning_rate` below one helps. With a linear base learner and the square loss the first step
    is the whole fit, see :func:`linear_sum`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import StagewiseRegressor
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> y = X.ravel() ** 2
    >>> model = StagewiseRegressor(loss="absolute", learning_rate=0.3, n_estimators=200)
    >>> bool(np.abs(model.fit(X, y).predict(X) - y).mean() < 0.02)
    True
    """

    start_: float = fitted()

    def _fit_rounds(self, X: Any, y: Any, sample_weight: Any) -> None:
        loss = additive_loss(self.loss, "StagewiseRegressor")
        if isinstance(loss, MarginLoss):
            raise ValueError(
                "StagewiseRegressor needs a loss of numbers, such as 'square' or 'absolute'. Got "
                f"{self.loss!r}, a loss of labels; use StagewiseClassifier."
            )
        X, y, w = self._check(X, y, sample_weight, y_numeric=True)
        X, y, w = self._kept(X, y.astype(float), w)
        template = StumpRegressor() if self.estimator is None else self.estimator
        if is_classifier(template):
            raise ValueError(
                f"StagewiseRegressor needs a regressor as estimator. Got the classifier "
                f"{type(template).__name__}."
            )
        random = check_random_state(self.random_state)
        run = self._run(loss, X, y, w, template, random, start=True)
        self.estimators_, self.lengths_ = run.members, run.lengths
        self.start_, self.losses_ = run.start, [run.losses]

    def _predict(self, X: Any) -> np.ndarray:
        total = np.full(X.shape[0], float(self.start_))
        for length, values in zip(self.lengths_, self._values(X)):
            total += length * values
        return total


def _gives_probabilities(self: "StagewiseClassifier") -> bool:
    # The minimisers of these losses do not determine a probability.
    loss = additive_loss(self.loss, "StagewiseClassifier")
    return isinstance(loss, MarginLoss) and not isinstance(
        loss, HingeLoss | PerceptronLoss | RampLoss
    )


class StagewiseClassifier(_Stagewise, ScoringClassifier):
    r"""Classify by a greedy sum of functions, under any margin loss.

    Each step asks the base learner for a function against the slopes of the loss (a classifier
    gets labels and weights, a regressor the negative slopes) and takes the length that minimises
    the loss. With the exponential loss and a classifier this is AdaBoost.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Base learner: a classifier whose ``fit`` takes ``sample_weight``, or a regressor; None
        for :class:`StumpClassifier`.
    loss : str or Loss, default="logistic"
        "exponential", "logistic", "hinge", "squared_hinge", "ramp", "square_margin", or a loss
        object.
    n_estimators : int, default=50
        Most steps for each sum; the fit ends earlier where no step lowers the loss.
    learning_rate : float, default=1.0
        Share of the best length that is taken, in (0, 1].
    random_state : int, RandomState instance or None, default=None
        Source of the seeds of base learners that have a ``random_state``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    estimators_ : list of estimators
        The functions added.
    lengths_ : ndarray of shape (n_steps,)
        Their coefficients.
    outputs_ : ndarray of int, shape (n_steps,)
        The sum each function belongs to: always 0 for two classes, else the class that is
        separated from the rest.
    losses_ : list of ndarray
        For each sum, the mean training loss before the first and after each step.

    See Also
    --------
    AdaBoostClassifier : The exponential loss, with its bounds.
    stagewise_dictionary : The exact greedy fit over finitely many functions.

    Notes
    -----
    Guarantee: the training loss never rises from step to step; for the exponential loss and
    stumps the steps are those of AdaBoost. Checked by
    ``tests/ensemble/test_stagewise_models.py::test_exponential_loss_is_adaboost``.

    Under a loss with kinks ("hinge", "ramp") greedy steps may stall above the smallest loss;
    "squared_hinge" has none. The perceptron loss is zero without any function and adds none.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import StagewiseClassifier
    >>> X = np.arange(8.0)[:, None]
    >>> y = ["out", "out", "in", "in", "in", "in", "out", "out"]
    >>> StagewiseClassifier(loss="squared_hinge").fit(X, y).score(X, y)
    1.0
    """

    _: KW_ONLY
    loss: str | Loss = "logistic"

    outputs_: np.ndarray = fitted(Array("i", "t", low=0))

    def _fits_together(self) -> str | None:
        n_classes = len(self.classes_)
        if n_classes < 2 or len(self.losses_) != (1 if n_classes == 2 else n_classes):
            return f"it has {len(self.losses_)} sums for {n_classes} classes"
        if self.outputs_.size and self.outputs_.max() >= len(self.losses_):
            return "a member belongs to no class"
        return super()._fits_together()

    def _fit_rounds(self, X: Any, y: Any, sample_weight: Any) -> None:
        loss = additive_loss(self.loss, "StagewiseClassifier")
        X, y, w = self._check(X, y, sample_weight)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        X, y, w = self._kept(X, y, w)
        if len(np.unique(y)) < 2:
            raise ValueError(
                "StagewiseClassifier needs rows of at least 2 classes. Got one class: "
                f"{y[:1].tolist()[0]!r}."
            )
        template = StumpClassifier() if self.estimator is None else self.estimator
        random = check_random_state(self.random_state)
        positive = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        runs = [
            self._run(loss, X, np.where(y == c, 1, -1), w, template, random, start=False)
            for c in positive
        ]
        self.estimators_ = [member for run in runs for member in run.members]
        self.lengths_ = np.concatenate([run.lengths for run in runs])
        sizes = [len(run.members) for run in runs]
        self.outputs_ = np.repeat(np.arange(len(runs)), sizes)
        self.losses_ = [run.losses for run in runs]

    def _scores(self, X: Any) -> np.ndarray:
        scores = np.zeros((X.shape[0], len(self.losses_)))
        for place, length, values in zip(self.outputs_, self.lengths_, self._values(X)):
            scores[:, place] += length * values
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return probabilities by the link of the loss, if its minimiser determines them.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``; with several classes, the probabilities of each
            against the rest, divided by their sum.
        """
        scores = self.decision_function(X)
        loss = additive_loss(self.loss, "StagewiseClassifier")
        positive = loss.inverse_link(scores)
        if scores.ndim == 1:
            return np.column_stack([1 - positive, positive])
        total = positive.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(total > 0, positive / total, softmax(scores, axis=1))
