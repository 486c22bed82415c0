"""AdaBoost for numbers: rows that are predicted badly are drawn more often."""

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils import check_random_state

from corollary.core.compat import safe_indexing
from corollary.core.estimator import Count, Positive, Predictor, RandomSeed, Regressor, fitted
from corollary.core.progress import track
from corollary.core.schema import Array, Instance, List
from corollary.ensemble._members import FollowsMember, MemberSequence, make_member, members_fit


def relative_losses(
    y: np.ndarray, predicted: np.ndarray, loss: str = "linear", weight: np.ndarray | None = None
) -> np.ndarray:
    r"""Return losses from 0 to 1: absolute errors over the largest of them, perhaps bent.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Targets.
    predicted : ndarray of shape (n_samples,)
        Predictions.
    loss : {"linear", "square", "exponential"}, default="linear"
        With the relative error e: e, :math:`e^2`, or :math:`1-\exp(-e)`.
    weight : ndarray of shape (n_samples,) or None, default=None
        Weights; rows without weight do not count as the largest.

    Returns
    -------
    losses : ndarray of shape (n_samples,)
        Losses.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import relative_losses
    >>> relative_losses(np.array([0.0, 1.0, 4.0]), np.zeros(3), "square")
    array([0.    , 0.0625, 1.    ])
    """
    error = np.abs(predicted - y)
    largest = error.max() if weight is None else error[weight > 0].max(initial=0.0)
    if largest > 0:
        error = np.minimum(error / largest, 1.0)
    return {"linear": error, "square": error**2, "exponential": -np.expm1(-error)}[loss]


def _weighted_median_of(answers: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weighted median of every row's answers, of equal halves the lower."""
    order = np.argsort(answers, axis=1, kind="stable")
    mass = np.cumsum(weights[order], axis=1)
    place = (mass >= 0.5 * mass[:, -1:]).argmax(axis=1)
    rows = np.arange(len(answers))
    return np.asarray(answers[rows, order[rows, place]])


class AdaBoostRegressor(MemberSequence, FollowsMember, Regressor):
    r"""Predict by the weighted median of regressors, each fitted to what the others miss.

    In each round rows are drawn in proportion to their weights. With losses :math:`L_i` from 0 to
    1 and their weighted mean :math:`\bar L`, a member has :math:`\beta=\bar L/(1-\bar L)` and the
    weight :math:`\eta\log(1/\beta)`, and a row's weight is multiplied by
    :math:`\beta^{\eta(1-L_i)}`.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Regressor of each round; None for a tree of depth 3.
    n_estimators : int, default=50
        Rounds at most.
    learning_rate : float, default=1.0
        Factor :math:`\eta` of weights.
    loss : {"linear", "square", "exponential"}, default="linear"
        How relative errors become losses, see :func:`relative_losses`.
    random_state : int, RandomState instance or None, default=None
        Draws rows, and the members' own random states.

    Attributes
    ----------
    estimator_ : estimator
        What members are copies of.
    estimators_ : list of estimators
        The fitted members.
    estimator_weights_ : ndarray of shape (n_members,)
        Their weights.
    estimator_errors_ : ndarray of shape (n_members,)
        Their weighted mean losses.
    feature_importances_ : ndarray of shape (n_features,)
        Mean importances of the members, by weight.

    See Also
    --------
    AdaBoostClassifier : The same idea for labels, with a bound on its training error.
    HistGradientBoostingRegressor : Usually better, and faster.

    Notes
    -----
    It ends at a member whose mean loss is a half or more, which is left out unless it is the
    first, and at one without loss.

    References
    ----------
    .. [1] H. Drucker (1997). Improving regressors using boosting techniques. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import AdaBoostRegressor
    >>> X = np.linspace(0, 6, 200)[:, None]
    >>> model = AdaBoostRegressor(random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.9)
    True
    """

    estimator: Predictor | None = None
    _: KW_ONLY
    n_estimators: Count = 50
    learning_rate: Positive = 1.0
    loss: Literal["linear", "square", "exponential"] = "linear"
    random_state: RandomSeed = None

    estimator_: Any = fitted(Instance("fit", "predict"))
    estimators_: list[Any] = fitted(List(Instance("predict"), "t"))
    estimator_weights_: np.ndarray = fitted(Array("f", "t", low=0))
    estimator_errors_: np.ndarray = fitted(Array("f", "t"))

    def _row_checks(self) -> dict[str, Any]:
        if self.estimator is None:
            return {"accept_sparse": ["csr", "csc"]}
        return super()._row_checks()

    def _fit_rounds(self, X: Any, y: Any, sample_weight: Any) -> None:
        from corollary.tree import DecisionTreeRegressor

        X, y, weight = self._check(X, y, sample_weight, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        weight = np.ones(len(y)) if weight is None else weight
        weight = weight / weight.max() / (weight / weight.max()).sum()
        random = check_random_state(self.random_state)
        default = DecisionTreeRegressor(max_depth=3)
        self.estimator_ = default if self.estimator is None else self.estimator
        members: list[Any] = []
        numbers: list[tuple[float, float]] = []
        with track("boosting", total=self.n_estimators) as step:
            for _ in range(self.n_estimators):
                member = make_member(self.estimator_, random)
                rows = random.choice(len(y), len(y), replace=True, p=weight)
                member.fit(safe_indexing(X, rows), y[rows])
                losses = relative_losses(y, np.asarray(member.predict(X)), self.loss, weight)
                error = float(weight @ losses)
                if error >= 0.5 and members:
                    break
                members.append(member)
                if error <= 0.0 or error >= 0.5:
                    numbers.append((1.0, error))
                    break
                beta = error / (1.0 - error)
                numbers.append((-self.learning_rate * float(np.log(beta)), error))
                weight = weight * beta ** (self.learning_rate * (1.0 - losses))
                weight /= weight.sum()
                step()
        self.estimators_ = members
        self.estimator_weights_, self.estimator_errors_ = np.array(numbers).T.copy()

    def _predict(self, X: Any) -> np.ndarray:
        answers = np.column_stack([member.predict(X) for member in self.estimators_])
        return _weighted_median_of(answers, self.estimator_weights_)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Predict after each round.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Yields
        ------
        y : ndarray of shape (n_samples,)
            Predictions.
        """
        rows = self._new(X)
        answers = np.column_stack([member.predict(rows) for member in self.estimators_])
        for k in range(1, len(self.estimators_) + 1):
            yield _weighted_median_of(answers[:, :k], self.estimator_weights_[:k])

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield the coefficient of determination after each round.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights.

        Yields
        ------
        score : float
            Coefficient of determination.
        """
        for predicted in self.staged_predict(X):
            yield r2_score(y, predicted, sample_weight=sample_weight)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean importances of the members, by weight."""
        if not all(hasattr(member, "feature_importances_") for member in self.estimators_):
            raise AttributeError(
                "The members have no feature_importances_; use a tree or a stump as estimator."
            )
        table = [member.feature_importances_ for member in self.estimators_]
        return np.average(table, axis=0, weights=self.estimator_weights_)

    def _fits_together(self) -> str | None:
        if not self.estimators_ or not np.isfinite(self.estimator_weights_).all():
            return "it has no members, or weights that are no numbers"
        if any(getattr(member, "n_outputs_", 1) != 1 for member in self.estimators_):
            return "a member predicts several numbers"
        return members_fit(self)
