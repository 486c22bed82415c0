"""What the online estimators share: parameters, passes over rows, the state in model files."""

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from corollary.core.compat import Interval, StrOptions, check_sample_weight
from corollary.core.estimator import check_new_data, check_training_data, remember_rows
from corollary.core.schema import Array, Instance, Optional, Record, Size, Strings
from corollary.online._codes import AGGRESSIVE, STEPS
from corollary.online.linear_state import (
    LinearSettings,
    LinearState,
    coefficients,
    learn,
    make_settings,
    make_state,
)

_POSITIVE = Interval(Real, 0, None, closed="neither")

CONSTRAINTS: dict[str, Any] = {
    "step": [StrOptions(set(STEPS))],
    "eta": [_POSITIVE],
    "alpha": [Interval(Real, 0, None, closed="left")],
    "radius": [_POSITIVE, None],
    "variant": [StrOptions(set(AGGRESSIVE))],
    "C": [_POSITIVE],
    "averaging": ["boolean"],
    "fit_intercept": ["boolean"],
    "n_passes": [Interval(Integral, 1, None, closed="left")],
    "shuffle": ["boolean"],
    "random_state": ["random_state"],
}

# What a saved estimator holds; r outputs, d features. The state lets `partial_fit` go on.
FITTED: dict[str, Any] = {
    "coef_": Array("f", "r", "d"),
    "intercept_": Array("f", "r"),
    "state_": Record(
        weights=Array("f", "r", "*"),
        scale=Array("f", "r"),
        squares=Array("f", "r", "*"),
        sums=Array("f", "r", "*"),
        mass=Array("f", "r"),
        squared_norm=Array("f", "r"),
        clock=Array("i", 1, low=0),
    ),
    "n_features_in_": Size("d"),
    "feature_names_in_": Optional(Strings("d")),
    "fingerprint_": Optional(Instance("merge", "overlap")),
}


def state_fits(model: Any) -> str | None:
    """Say what is wrong between the state and the coefficients of a loaded model."""
    if not hasattr(model, "coef_"):
        return None
    rows, d = model.coef_.shape
    if not (np.isfinite(model.coef_).all() and np.isfinite(model.intercept_).all()):
        return "the coefficients are not finite"
    state = model.state_
    if state["weights"].shape != (rows, d + 1):
        return "the weights do not fit the coefficients"
    wanted = make_state(model._settings(), d, rows, averaging=bool(model.averaging))
    for name in ("squares", "sums"):
        if state[name].shape != getattr(wanted, name).shape:
            return f"the {name} of the state do not fit the parameters"
    if any(a.dtype.itemsize != 8 for a in state.values()):
        return "the state must have double precision"
    return None


class OnlineLinearModel(BaseEstimator):
    """Parameters, passes and scores of the linear online estimators."""

    coef_: np.ndarray
    intercept_: np.ndarray
    state_: dict[str, np.ndarray]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def _settings(self) -> LinearSettings:
        """Return how the learner reacts, as numbers for the compiled loop."""

    def _make_settings(self, loss: str, shape: float = 0.0) -> LinearSettings:
        """Translate the parameters that both estimators have."""
        common = {"shape": shape, "fit_intercept": self.fit_intercept, "alpha": self.alpha}
        if self.learner == "passive-aggressive":
            return make_settings(loss=loss, rule=self.variant, eta=self.C, **common)
        if self.learner == "perceptron":
            return make_settings(loss="perceptron", eta=1.0, **common)
        return make_settings(loss=loss, step=self.step, eta=self.eta, radius=self.radius, **common)

    def _check_rows(self, X: Any, y: Any, sample_weight: Any, *, first: bool, whole: bool) -> Any:
        """Validate rows; the loop itself looks for NaN in dense ones."""
        checks = {
            "accept_sparse": "csr",
            "ensure_all_finite": sparse.issparse(X),
            "y_numeric": is_regressor(self),
        }
        if whole:
            return check_training_data(self, X, y, sample_weight=sample_weight, **checks)
        X, y = validate_data(self, X, y, reset=first, dtype=np.float64, **checks)
        if sample_weight is not None:
            sample_weight = check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
        remember_rows(self, X, more=not first)
        return X, y, sample_weight

    def _start(self, n_features: int, n_outputs: int) -> LinearState:
        return make_state(self._settings(), n_features, n_outputs, averaging=self.averaging)

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
            state, scores, _ = learn(
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

    def _state(self) -> LinearState:
        return LinearState(**self.state_)

    def _scores(self, X: Any) -> np.ndarray:
        X = check_new_data(self, X, accept_sparse="csr")
        return np.asarray(X @ self.coef_.T) + self.intercept_
