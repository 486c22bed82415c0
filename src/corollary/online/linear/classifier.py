"""OnlineClassifier: linear classification one round at a time."""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from corollary.core.compat import fit_context
from corollary.core.estimator import (
    ClassWeight,
    ScoringClassifier,
    class_factors,
    fitted,
    refuse_one_class,
)
from corollary.core.protocols import Replay
from corollary.core.schema import Array, Nullable
from corollary.online._rows import binary_rows, chunks
from corollary.online.linear._estimator import OnlineLinearModel
from corollary.online.linear._state import LinearState
from corollary.online.protocol import Record
from corollary.risk import LogisticLoss, Loss, check_loss


def _distinct(y: np.ndarray) -> np.ndarray:
    """Return the labels that occur, sorted; refuse what cannot be labels."""
    if y.ndim == 1 and y.dtype.kind in "iu":
        low = y.min()
        # Counting whole numbers close together takes a fraction of the time of hashing them.
        if int(y.max()) - int(low) < 10_000:
            return np.flatnonzero(np.bincount(y - low)).astype(y.dtype) + low
    check_classification_targets(y)
    return np.unique(y)


def _gives_probabilities(model: Any) -> bool:
    if model.learner == "gradient-descent" and model.loss == "logistic":
        return True
    raise AttributeError(
        "Probabilities need learner='gradient-descent' and loss='logistic'. Got "
        f"learner={model.learner!r} and loss={model.loss!r}."
    )


class OnlineClassifier(OnlineLinearModel, ScoringClassifier):
    r"""Classify by a linear rule that learns from one row at a time.

    Several classes are learnt one against the rest. ``fit`` makes passes over the rows;
    ``partial_fit`` learns from a chunk, which is the same as learning from its rows one by one.

    Parameters
    ----------
    learner : str, default="gradient-descent"
        How weights change: "gradient-descent", "perceptron", "passive-aggressive" or "winnow".
        Winnow takes zeros and ones and has neither intercept nor weights of rows.
    loss : {"logistic", "hinge", "squared_hinge", "square"}, default="logistic"
        Loss of gradient descent.
    step : {"adagrad", "sqrt", "constant"}, default="adagrad"
        Schedule of gradient descent: a step for each weight that falls with the slopes it met,
        ``eta / sqrt(t)`` in round t, or ``eta``.
    eta : float, default=0.2
        Size of the steps of gradient descent.
    alpha : float, default=0.0
        Strength of the L2 penalty: in each round the weights shrink by the factor
        ``1 - eta_t * alpha``, where eta_t is the schedule's step (with AdaGrad ``eta / sqrt(t)``).
    radius : float or None, default=None
        Radius of the ball in which gradient descent keeps the weights (with AdaGrad half the
        side of a box); None for no limit.
    variant : {"pa", "pa-i", "pa-ii", "linearised"}, default="pa-i"
        Rule of the passive-aggressive learner.
    C : float, default=1.0
        Aggressiveness of the passive-aggressive learner.
    averaging : bool, default=False
        Whether ``coef_`` is the average over all rounds instead of the last weights.
    fit_intercept : bool, default=True
        Whether there is an intercept; it is neither penalised nor projected.
    n_passes : int, default=5
        Passes of ``fit`` over the rows.
    shuffle : bool, default=True
        Whether each pass of ``fit`` has a fresh random order. ``partial_fit`` keeps the order.
    random_state : int, RandomState instance or None, default=None
        Source of the orders.
    class_weight : dict, "balanced" or None, default=None
        Factors of the slopes by class; "balanced" needs all rows and works with ``fit`` only.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; one row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    class_weight_ : ndarray of shape (n_classes,) or None
        Factors used.
    state_ : dict of str to ndarray
        What ``partial_fit`` needs to go on.

    See Also
    --------
    OnlineGradientDescent, OnlinePerceptron, PassiveAggressive, Winnow : The learners with their
        regret and mistake bounds.
    HashingEncoder : Sparse rows from strings.
    corollary.linear.LogisticRegression : The exact minimum of the same loss.

    Notes
    -----
    Features should have about the same size; scale them first. A weight of k multiplies the step
    of a row and is not the same as seeing the row k times.

    Same rows, same order, same bits: ``partial_fit`` on chunks of any sizes gives the same model.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.online import OnlineClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> y = np.where(X[:, 0] > X[:, 1], "left", "right")
    >>> model = OnlineClassifier()
    >>> for i in range(0, 2000, 500):
    ...     model = model.partial_fit(X[i : i + 500], y[i : i + 500], classes=["left", "right"])
    >>> model.predict([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    array(['left', 'right'], dtype='<U5')
    """

    _: KW_ONLY
    learner: Literal["gradient-descent", "perceptron", "passive-aggressive", "winnow"] = (
        "gradient-descent"
    )
    loss: Literal["logistic", "hinge", "squared_hinge", "square"] = "logistic"
    class_weight: ClassWeight = None

    class_weight_: np.ndarray | None = fitted(Nullable(Array("f", "k")))

    def _fits_together(self) -> str | None:
        if hasattr(self, "coef_"):
            k = len(self.classes_)
            if k < 2 or self.coef_.shape[0] != (1 if k == 2 else k):
                return f"{self.coef_.shape[0]} rows of coefficients do not fit {k} classes"
        return super()._fits_together()

    @property
    def _loss(self) -> Loss:
        names = {"perceptron": "perceptron", "passive-aggressive": "hinge"}
        return check_loss(names.get(self.learner, self.loss))

    def _code(self, y: np.ndarray) -> np.ndarray:
        self.classes_ = _distinct(y)
        refuse_one_class(self, self.classes_)
        return self._codes(y)

    def _fit(self, X: Any, codes: np.ndarray, sample_weight: np.ndarray | None) -> None:
        self._weigh_classes(codes, sample_weight)
        passes: dict[str, Any] = {"n_passes": self.n_passes, "shuffle": self.shuffle}
        self._go(self._start(X.shape[1], self._n_outputs), X, codes, sample_weight, **passes)

    @property
    def _n_outputs(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a chunk, row by row in its order.

        Parameters
        ----------
        X : array-like, data frame or CSR matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (n_classes,) or None, default=None
            All labels that can occur; needed in the first call.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Factors of the slopes.

        Returns
        -------
        self : OnlineClassifier
            The model.
        """
        self._partial_fit(X, y, classes, sample_weight, record=False)
        return self

    def _partial_fit(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, record: bool
    ) -> np.ndarray:
        first = not hasattr(self, "coef_")
        if first and classes is None:
            raise ValueError(
                "The first call of partial_fit needs all labels that can occur. Got classes=None; "
                "give for instance classes=np.unique(y) of all data."
            )
        if (
            not first
            and classes is not None
            and not np.array_equal(self.classes_, np.unique(classes))
        ):
            raise ValueError(
                f"The classes of a model do not change: it has {self.classes_.tolist()}. Got "
                f"classes={np.unique(classes).tolist()}."
            )
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all rows at once. Got it with partial_fit; give the "
                "factors as a dict, for instance from "
                "sklearn.utils.class_weight.compute_class_weight."
            )
        X, y, weight = self._check_chunk(X, y, sample_weight, first=first)
        if y.dtype.kind not in "iub":
            check_classification_targets(y)
        if first:
            self.classes_ = np.unique(classes)
            if len(self.classes_) < 2:
                raise ValueError(
                    "OnlineClassifier needs at least 2 classes. Got "
                    f"classes={self.classes_.tolist()}."
                )
        codes = self._codes(y)
        if first:
            self._weigh_classes(codes, weight)
        state = self._start(X.shape[1], self._n_outputs) if first else self._state()
        return self._go(state, X, codes, weight, record=record)

    def _codes(self, y: np.ndarray) -> np.ndarray:
        """Return the place of every label among the classes."""
        y = column_or_1d(y)
        if len(self.classes_) == 2:
            code = (y == self.classes_[1]).astype(np.int64)
            known = code.astype(bool) | (y == self.classes_[0])
        else:
            code = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
            known = self.classes_[code] == y
        if not np.all(known):
            raise ValueError(
                f"Labels must be among the classes {self.classes_.tolist()}. Got "
                f"{np.asarray(y)[~known].tolist()[0]!r}."
            )
        return code

    def _weigh_classes(self, codes: np.ndarray, weight: np.ndarray | None) -> None:
        totals = np.bincount(codes, weights=weight, minlength=len(self.classes_))
        self.class_weight_ = class_factors(self.class_weight, self.classes_, totals)

    def _go(
        self, state: LinearState, X: Any, code: np.ndarray, weight: np.ndarray | None, **passes: Any
    ) -> np.ndarray:
        if self.class_weight_ is not None:
            factor = self.class_weight_[code]
            weight = factor if weight is None else weight * factor
        if self.learner == "winnow":
            return self._winnow(state, X, code, weight, **passes)
        y = 2.0 * code - 1.0 if state.weights.shape[0] == 1 else code
        return self._learn(state, X, y, weight, **passes)

    def _winnow(
        self,
        state: LinearState,
        X: Any,
        code: np.ndarray,
        weight: np.ndarray | None,
        *,
        n_passes: int = 1,
        shuffle: bool = False,
        record: bool = False,
    ) -> np.ndarray:
        from corollary.online._loops.winnow import winnow_dense, winnow_sparse

        if weight is not None or self.averaging:
            raise ValueError(
                "OnlineClassifier(learner='winnow') learns from mistakes alone: it takes neither "
                "sample_weight nor class_weight nor averaging. Leave them out."
            )
        X = binary_rows("OnlineClassifier(learner='winnow')", X)
        n_outputs, d = state.weights.shape[0], X.shape[1]
        if state.clock[0] == 0:
            state.weights[:] = 1.0
            state.weights[:, -1] = -d
        random = check_random_state(self.random_state) if shuffle else None
        scores = np.empty((X.shape[0], n_outputs))
        for _ in range(n_passes):
            order = slice(None) if random is None else random.permutation(X.shape[0])
            rows = X[order]
            for r in range(n_outputs):
                right = code[order] == (1 if n_outputs == 1 else r)
                weights, y, out = (
                    state.weights[r, :-1].copy(),
                    right.astype(float),
                    scores[:, r].copy(),
                )
                if sparse.issparse(rows):
                    winnow_sparse(rows.indices, rows.indptr, y, float(d), weights, out)
                else:
                    winnow_dense(np.ascontiguousarray(rows), y, float(d), weights, out)
                state.weights[r, :-1], scores[:, r] = weights, out - d
        state.clock[0] += n_passes * X.shape[0]
        self.state_ = state._asdict()
        self.coef_, self.intercept_ = state.weights[:, :-1].copy(), state.weights[:, -1].copy()
        return scores if record else np.empty(0)

    def run(
        self,
        stream: Any,
        *,
        classes: Any = None,
        target: str | None = None,
        columns: Sequence[str] | None = None,
    ) -> Record:
        """Predict, then learn, for every row of a stream; record what happened.

        This is progressive validation: every row is a test row before it is a training row.

        Parameters
        ----------
        stream : tuple of arrays, path, data frame or iterable of chunks
            ``(X, y)`` or ``(X, y, sample_weight)``; a Parquet or CSV file; or chunks of either
            kind.
        classes : array-like of shape (n_classes,) or None, default=None
            All labels that can occur; needed before the first call, unless the stream is a tuple
            of arrays.
        target : str or None, default=None
            Column of the labels, where columns have names.
        columns : sequence of str or None, default=None
            Columns of the features, where columns have names; None for all others.

        Returns
        -------
        record : Record
            Places of predicted classes in ``classes_``, losses (summed over the outputs) and
            mistakes of every round; no comparator and no bound.
        """
        if classes is None and not hasattr(self, "coef_") and isinstance(stream, tuple):
            classes = np.unique(stream[1])
        parts = []
        for X, y, *weight in chunks(stream, target, columns, labels=True):
            scores = self._partial_fit(X, y, classes, weight[0] if weight else None, record=True)
            parts.append(self._judge(scores, self._codes(np.asarray(y))))
        predictions, losses, mistakes = (np.concatenate(part) for part in zip(*parts))
        m = len(losses)
        nothing, vacuous = np.full(m, np.nan), np.full(m, np.inf)
        return Record(predictions, losses, mistakes, nothing, vacuous, "mistakes", "")

    def replay(self, X: Any, y: Any) -> Replay | None:
        """Play the run again, if the model was made by a single pass over these rows.

        Parameters
        ----------
        X : array-like, data frame or CSR matrix of shape (n_samples, n_features)
            The training rows, in their order.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        run : Replay or None
            None if there were more passes, or a repeated run gives another model.
        """
        labels = np.asarray(y)
        n = len(labels)
        if int(self.state_["clock"][0]) != n:
            return None
        orders: list[Any] = [None]
        seeded = isinstance(self.random_state, int | np.integer)
        if self.n_passes == 1 and self.shuffle and seeded and isinstance(X, np.ndarray):
            orders.append(check_random_state(self.random_state).permutation(n))
        for order in orders:
            # Balanced weights look at the labels of all rows first; such a run is not repeated.
            balanced = isinstance(self.class_weight, str)
            again = clone(self).set_params(class_weight=None if balanced else self.class_weight)
            stream = (X, labels) if order is None else (X[order], labels[order])
            record = again.run(stream, classes=self.classes_)
            same = np.array_equal(again.coef_, self.coef_)
            if same and np.array_equal(again.intercept_, self.intercept_):
                return Replay(record.mistakes.astype(float), record.losses, *self._averaged())
        return None

    def _averaged(self) -> tuple[str, float]:
        """Return the convex loss and the radius if the model is a mean of weights in a ball."""
        if self.learner != "gradient-descent" or self.step == "adagrad" or self.radius is None:
            return "", math.inf
        if not self.averaging or self.fit_intercept:
            return "", math.inf
        return self.loss, float(self.radius)

    def _judge(
        self, scores: np.ndarray, code: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if scores.shape[1] == 1:
            predictions = (scores[:, 0] > 0).astype(np.int64)
            signs = (2.0 * code - 1.0)[:, None]
        else:
            predictions = scores.argmax(axis=1)
            signs = np.where(code[:, None] == np.arange(scores.shape[1]), 1.0, -1.0)
        mistakes = predictions != code
        if self.learner == "winnow":
            return predictions, mistakes.astype(float), mistakes
        losses = self._loss(signs, scores).sum(axis=1)
        return predictions, losses, mistakes

    def _scores(self, X: Any) -> np.ndarray:
        scores = self._outputs(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every class.

        Parameters
        ----------
        X : array-like, data frame or CSR matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            Rows sum to one; for more than two classes the one-against-rest probabilities are
            divided by their sum.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        # Divided by the largest first, so that a sum of tiny numbers is not zero.
        logs = -LogisticLoss().of_margin(scores)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    @available_if(_gives_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithm of the probability of every class.

        Parameters
        ----------
        X : array-like, data frame or CSR matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_probability : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        from scipy.special import logsumexp

        scores = self.decision_function(X)
        if scores.ndim == 1:
            return -LogisticLoss().of_margin(np.column_stack([-scores, scores]))
        logs = -LogisticLoss().of_margin(scores)
        return logs - logsumexp(logs, axis=1, keepdims=True)
