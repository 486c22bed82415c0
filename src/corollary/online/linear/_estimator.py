"""What the online estimators share: parameters, passes over rows, the state in model files."""

import math
from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from corollary.core.compat import check_sample_weight
from corollary.core.estimator import (
    Count,
    Learner,
    NonNegative,
    Positive,
    RandomSeed,
    fitted,
    remember_rows,
)
from corollary.core.parallel import row_products
from corollary.core.protocols import Descent, repeats
from corollary.core.schema import Array, Record
from corollary.online.linear._state import (
    LinearSettings,
    LinearState,
    coefficients,
    learn,
    make_settings,
    make_state,
)
from corollary.risk import Loss, PerceptronLoss


class OnlineLinearModel(Learner):
    """Parameters, passes and scores of the linear online estimators."""

    _: KW_ONLY
    learner: str = "gradient-descent"
    loss: str = ""
    step: Literal["adagrad", "sqrt", "constant"] = "adagrad"
    eta: Positive = 0.2
    alpha: NonNegative = 0.0
    radius: Positive | None = None
    variant: Literal["pa", "pa-i", "pa-ii", "linearised"] = "pa-i"
    C: Positive = 1.0
    averaging: bool = False
    fit_intercept: bool = True
    n_passes: Count = 5
    shuffle: bool = True
    random_state: RandomSeed = None

    # r outputs, d features. The state lets `partial_fit` go on.
    coef_: np.ndarray = fitted(Array("f", "r", "d"))
    intercept_: np.ndarray = fitted(Array("f", "r"))
    state_: dict[str, np.ndarray] = fitted(
        Record(
            weights=Array("f", "r", "*"),
            scale=Array("f", "r"),
            squares=Array("f", "r", "*"),
            sums=Array("f", "r", "*"),
            mass=Array("f", "r"),
            squared_norm=Array("f", "r"),
            clock=Array("i", 1, low=0),
        )
    )

    _rows: ClassVar[dict[str, Any]] = {"accept_sparse": "csr"}

    def _fits_together(self) -> str | None:
        """Say what is wrong between the state and the coefficients of a loaded model."""
        if not hasattr(self, "coef_"):
            return None
        rows, d = self.coef_.shape
        state = self.state_
        if state["weights"].shape != (rows, d + 1):
            return "the weights do not fit the coefficients"
        expected = self._start(d, rows)
        for name in ("squares", "sums"):
            if state[name].shape != getattr(expected, name).shape:
                return f"the {name} of the state do not fit the parameters"
        if any(a.dtype.itemsize != 8 for a in state.values()):
            return "the state must have double precision"
        return None

    @property
    @abstractmethod
    def _loss(self) -> Loss:
        """The loss that the learner reacts to."""

    def _settings(self) -> LinearSettings:
        """Return how the learner reacts, as numbers for the compiled loop."""
        common: dict[str, Any] = {"fit_intercept": self.fit_intercept, "alpha": self.alpha}
        if self.learner == "passive-aggressive":
            return make_settings(loss=self._loss, rule=self.variant, eta=self.C, **common)
        if self.learner == "perceptron":
            return make_settings(loss=PerceptronLoss(), eta=1.0, **common)
        return make_settings(
            loss=self._loss, step=self.step, eta=self.eta, radius=self.radius, **common
        )

    def _check(self, X: Any, y: Any, sample_weight: Any, **checks: Any) -> Any:
        # The loop itself looks for NaN in dense rows.
        return super()._check(X, y, sample_weight, ensure_all_finite=sparse.issparse(X), **checks)

    def _check_chunk(self, X: Any, y: Any, sample_weight: Any, *, first: bool) -> Any:
        """Validate rows that come after others."""
        checks = {"ensure_all_finite": sparse.issparse(X), "y_numeric": is_regressor(self)}
        X, y = validate_data(self, X, y, reset=first, dtype=np.float64, **self._rows, **checks)
        if sample_weight is not None:
            sample_weight = check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
        remember_rows(self, X, more=not first)
        return X, y, sample_weight

    def _start(self, n_features: int, n_outputs: int) -> LinearState:
        return make_state(self._settings(), n_features, n_outputs, averaging=bool(self.averaging))

    def _learn(
        self,
        state: LinearState,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray | None,
        *,
        n_passes: int = 1,
        shuffle: bool = False,
        record: bool = False,
    ) -> np.ndarray:
        """Go through rows, store state and coefficients, and return the scores if asked."""
        settings, scores = self._settings(), np.empty(0)
        random = check_random_state(self.random_state) if shuffle else None
        for _ in range(n_passes):
            order = None if random is None else random.permutation(X.shape[0])
            state, scores, _slopes = learn(
                settings,
                state,
                X,
                y,
                weight=weight,
                order=order,
                record=record,
                who=type(self).__name__,
            )
        self.state_ = state._asdict()
        self.coef_, self.intercept_ = coefficients(state)
        return scores

    def as_descent(self, X: Any, y: Any) -> Descent | None:
        """Say which run of gradient descent made the model of its training rows.

        Parameters
        ----------
        X : array-like, data frame or CSR matrix of shape (n_samples, n_features)
            The training rows, in their order.
        y : array-like of shape (n_samples,)
            Their targets.

        Returns
        -------
        run : Descent or None
            None for other learners, for steps that depend on the rows, and if a repeated run gives
            another model.
        """
        if self.learner != "gradient-descent" or self.step == "adagrad":
            return None
        n_passes, odd = divmod(int(self.state_["clock"][0]), len(y))
        if odd or not n_passes:
            return None
        repeated = repeats(self, X, y, n_passes=n_passes, fit_passes=self.n_passes)
        if repeated is None:
            return None
        eta, constant = float(self.eta), self.step == "constant"
        return Descent(
            loss=self.loss,
            step_at=lambda t: np.full(len(t), eta) if constant else eta / np.sqrt(t),
            n_passes=n_passes,
            stopped=False,
            penalty=float(self.alpha),
            averaging=bool(self.averaging),
            radius=math.inf if self.radius is None else float(self.radius),
            repeated=repeated,
        )

    def _state(self) -> LinearState:
        return LinearState(**self.state_)

    def _outputs(self, X: Any) -> np.ndarray:
        """Return the scores of validated rows, one column for each output."""
        return row_products(X, self.coef_.T) + self.intercept_
