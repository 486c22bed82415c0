"""What the classifier and the regressor made of networks share."""

from dataclasses import KW_ONLY
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.compat import Interval, Options
from corollary.core.estimator import (
    Count,
    Learner,
    NonNegative,
    Positive,
    RandomSeed,
    fitted,
)
from corollary.core.schema import Array, Integer, List, Number, Optional, Text
from corollary.neural._ensemble import Data, Ensemble, Training, ensemble_outputs, fit_ensemble
from corollary.neural._solvers import Solver
from corollary.neural.mlp import MLPLoss

# Standardised inputs beyond this are cut, so that no value of a float64 overflows a network.
LARGEST_INPUT = 1e6
# Patience that never ends.
ENDLESS = np.iinfo(np.int32).max

Moment = Annotated[float, Interval(Real, 0, 1, closed="left")]
Infinite = Annotated[float, Options(Real, {np.inf})]


class BaseMLP(Learner):
    """Learn networks and evaluate them; subclasses say what the outputs mean."""

    _: KW_ONLY
    solver: Literal["adam", "sgd", "lbfgs"] = "adam"
    alpha: NonNegative = 0.0001
    batch_size: Literal["auto"] | Count = "auto"
    learning_rate: Literal["constant", "invscaling", "adaptive"] = "constant"
    learning_rate_init: Positive = 0.001
    power_t: NonNegative = 0.5
    max_iter: Count = 200
    shuffle: bool = True
    random_state: RandomSeed = None
    tol: Annotated[float, Interval(Real, None, None, closed="left")] = 1e-4
    verbose: Annotated[bool | int, "verbose"] = False
    warm_start: bool = False
    momentum: Annotated[float, Interval(Real, 0, 1, closed="both")] = 0.9
    nesterovs_momentum: bool = True
    early_stopping: bool | Literal["loss"] = False
    validation_fraction: Moment = 0.1
    beta_1: Moment = 0.9
    beta_2: Moment = 0.999
    epsilon: Positive = 1e-8
    n_iter_no_change: Count | Infinite | Literal["auto"] = 10
    max_fun: Count = 15000
    standardize: bool = False
    weight_decay: NonNegative = 0.0
    n_members: Count = 1

    # One array for each layer, with a leading axis of networks if there are several.
    coefs_: list[np.ndarray] = fitted(List(Array("f", "*", "*") | Array("f", "*", "*", "*"), "l"))
    intercepts_: list[np.ndarray] = fitted(List(Array("f", "*") | Array("f", "*", "*"), "l"))
    input_mean_: np.ndarray | None = fitted(Optional(Array("f", "d")))
    input_scale_: np.ndarray | None = fitted(
        Optional(Array("f", "d", low=np.finfo(np.float64).tiny))
    )
    loss_curves_: list[np.ndarray] = fitted(List(Array("f", "*", nan=True, infinite=True)))
    validation_curves_: list[np.ndarray] | None = fitted(
        Optional(List(Array("f", "*", nan=True, infinite=True)))
    )
    validation_scores_: list[float] | None = fitted(Optional(List(Number(nan=True, infinite=True))))
    best_validation_score_: float | None = fitted(Optional(Number(nan=True, infinite=True)))
    best_loss_: float | None = fitted(Optional(Number(nan=True, infinite=True)))
    n_iter_: int = fitted(Integer(0))
    t_: int = fitted(Integer(0))
    n_layers_: int = fitted(Integer(2))
    n_outputs_: int = fitted(Integer(1))
    out_activation_: str = fitted(Text(("softmax", "logistic", "identity", "exp")))

    _FORMER_OUTPUT: ClassVar[str]
    _unsaved: ClassVar[tuple[str, ...]] = ("_states",)  # of the optimisers, for `partial_fit`
    # One memory layout, so that a data frame gives the bits that its array gives.
    _rows: ClassVar[dict[str, Any]] = {
        "order": "C",
        "accept_sparse": "csr",
        "dtype": (np.float64, np.float32),
    }

    @property
    def loss_curve_(self) -> list[float]:
        """Training loss of each epoch, as a list: the mean over networks that still learned."""
        return _mean_curve(self.loss_curves_)

    @property
    def loss_(self) -> float:
        """Training loss of the last epoch."""
        return self.loss_curve_[-1]

    def _fits_together(self) -> str | None:
        """Check what a schema of single attributes cannot: that each layer feeds the next."""
        n_in = self.n_features_in_
        if not self.coefs_:
            return "it has no layers"
        members = self.coefs_[0].shape[:-2]
        for W, b in zip(self.coefs_, self.intercepts_, strict=True):
            if W.shape != (*members, n_in, b.shape[-1]) or b.shape[:-1] != members:
                return "its layers do not fit together"
            n_in = b.shape[-1]
        if 0 in members or n_in != self.n_outputs_:
            return "its layers do not fit together"
        if (self._input_mean() is None) != (getattr(self, "input_scale_", None) is None):
            return "the scale of its inputs does not fit their mean"
        return None

    @classmethod
    def _from_former(cls, parameters: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
        """Read files of networks that were always standardised and always stopped by a loss."""
        if "standardize" in parameters:
            return state
        decay, stops = parameters.get("alpha", 0.01), parameters.get("early_stopping", True)
        parameters |= {"standardize": True, "weight_decay": decay, "alpha": 0.0}
        parameters["early_stopping"] = "loss" if stops else False
        if not state:
            return state
        doubles = {
            name: [np.asarray(array, np.float64) for array in state[name]]
            for name in ("coefs_", "intercepts_")
        }
        return {"out_activation_": cls._FORMER_OUTPUT, "t_": 0} | state | doubles

    def _input_mean(self) -> np.ndarray | None:
        return getattr(self, "input_mean_", None)

    def _learn(
        self,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray | None,
        loss: tuple[str, int],
        *,
        labels: np.ndarray | None = None,
        checkpoint: Any = None,
        once: bool = False,
    ) -> None:
        """Learn the networks and store them; once over the rows if they arrive in parts."""
        kind, n_outputs = loss
        sizes = (X.shape[1], *self._hidden_sizes(), n_outputs)
        goes_on = hasattr(self, "coefs_") and (once or self.warm_start)
        start = self._earlier_networks(sizes) if goes_on else None
        # A row of weight zero is no row: it must not change how many batches there are.
        if weight is not None:
            _check_total(self, weight)
            counts = weight > 0
            X, y, weight = X[counts], y[counts], weight[counts]
            labels = None if labels is None else labels[counts]
        X = X.toarray() if hasattr(X, "toarray") else X
        if start is None:
            self.t_, self.loss_curves_, self.validation_scores_ = 0, [], None
            self.input_mean_ = self.input_scale_ = None
            if self.standardize:
                self.input_mean_, self.input_scale_ = location_and_scale(X, weight)
        real = np.float64 if self.solver == "lbfgs" else np.float32
        ones = np.ones(len(y), real)
        with np.errstate(over="ignore"):  # what is too large for single precision is refused later
            data = Data(
                self._scaled(X).astype(real),
                y.astype(np.int32 if kind == "cross-entropy" else real),
                ones if weight is None else weight.astype(real),
                labels,
            )
        ensemble = fit_ensemble(
            data,
            MLPLoss(sizes, self.activation, kind),
            self._training(len(y), once),
            rng=check_random_state(self.random_state),
            start=start,
            states=getattr(self, "_states", None) if once and goes_on else None,
            checkpoint=checkpoint,
        )
        self._store(ensemble, X.dtype)

    def _training(self, n: int, once: bool) -> Training:
        """Return how the networks are learned from n rows."""
        if once and self.early_stopping:
            raise ValueError(
                f"partial_fit does not support early_stopping={self.early_stopping!r}: it has no "
                "rows to hold out. Set early_stopping=False, or call fit."
            )
        # Small tables fill their one batch up, to sizes that they share compiled code by.
        batch_size = 200 if self.batch_size == "auto" else self.batch_size
        patience: Any = self.n_iter_no_change
        if patience == "auto":
            patience = auto_patience(n, batch_size)
        stops_by: Any = "loss" if self.early_stopping == "loss" else "score"
        if not self.early_stopping:
            stops_by = None
        return Training(
            n_members=self.n_members,
            solver=Solver(
                self.solver,
                float(self.learning_rate_init),
                self.learning_rate,
                float(self.power_t),
                float(self.momentum),
                self.nesterovs_momentum,
                float(self.beta_1),
                float(self.beta_2),
                float(self.epsilon),
                float(self.weight_decay),
                self.max_fun,
            ),
            alpha=float(self.alpha),
            epochs=1 if once else self.max_iter,
            batch_size=batch_size,
            stops_by=stops_by,
            validation_fraction=float(self.validation_fraction),
            # scikit-learn's rule: stop at the epoch after that many without improvement.
            patience=int(min(patience + 1, ENDLESS)),
            tol=float(self.tol),
            shuffle=self.shuffle,
            verbose=bool(self.verbose),
            once=once,
            n_seen=self.t_,
        )

    def _hidden_sizes(self) -> tuple[int, ...]:
        hidden = tuple(map(int, np.ravel(self.hidden_layer_sizes)))
        if any(size < 1 for size in hidden):
            raise ValueError(
                f"The 'hidden_layer_sizes' parameter of {type(self).__name__} must be positive "
                f"integers (hidden_layer_sizes must be > 0). Got {self.hidden_layer_sizes!r} "
                "instead."
            )
        return hidden

    def _store(self, ensemble: Ensemble, dtype: Any) -> None:
        layers = [np.stack(arrays) for arrays in zip(*ensemble.networks)]
        if len(ensemble.networks) == 1:
            layers = [array[0] for array in layers]
        layers = [array.astype(dtype) for array in layers]
        self.coefs_, self.intercepts_ = layers[0::2], layers[1::2]
        earlier = self.loss_curves_ or [np.empty(0)] * len(ensemble.losses)
        self.loss_curves_ = [np.append(a, b) for a, b in zip(earlier, ensemble.losses)]
        self.validation_curves_ = self.best_validation_score_ = None
        self.best_loss_ = _mean_of_best(self.loss_curves_)
        curves = ensemble.held_out_losses
        if curves is not None and self.early_stopping is True:
            scores = [1 - np.where(np.isfinite(curve), curve, np.nan) for curve in curves]
            self.validation_scores_ = (self.validation_scores_ or []) + _mean_curve(scores)
            self.best_validation_score_ = float(np.fmax.reduce(self.validation_scores_))
            self.best_loss_ = None
        elif curves is not None:
            self.validation_curves_ = curves
            self.best_loss_ = _mean_of_best(curves)
        self.n_iter_ = ensemble.n_epochs
        if self.solver != "lbfgs":
            self.t_ += ensemble.n_epochs * ensemble.n_rows
        self.n_layers_ = len(self.coefs_) + 1
        self.n_outputs_ = self.coefs_[-1].shape[-1]
        self._states = ensemble.states

    def _earlier_networks(self, sizes: tuple[int, ...]) -> list[list[np.ndarray]]:
        """Return the networks of the last fit, which must have this shape."""
        networks = self._networks()
        earlier = (len(networks[0][0]), *(len(b) for b in networks[0][1::2]))
        if earlier != sizes or len(networks) != self.n_members:
            raise ValueError(
                f"Going on needs the networks of the last fit: {len(networks)} with layer sizes "
                f"{earlier}. Got n_members={self.n_members} and layer sizes {sizes}. Set "
                "warm_start=False and call fit to start afresh."
            )
        return [[array.astype(np.float32) for array in network] for network in networks]

    def _networks(self) -> list[list[np.ndarray]]:
        """Return the arrays of each network."""
        arrays = [array for pair in zip(self.coefs_, self.intercepts_) for array in pair]
        if self.coefs_[0].ndim == 2:
            return [arrays]
        return [[array[member] for array in arrays] for member in range(len(arrays[0]))]

    def _scaled(self, X: Any) -> Any:
        """Standardise rows if the networks learned on standardised ones."""
        mean = self._input_mean()
        if mean is None or self.input_scale_ is None:
            return X
        X = X.toarray() if hasattr(X, "toarray") else X
        return standardise(X, mean, self.input_scale_)

    def _outputs(self, X: Any) -> np.ndarray:
        """Evaluate every network on validated rows."""
        return ensemble_outputs(self._networks(), self._scaled(X), self.activation)


def is_stochastic(estimator: BaseMLP) -> bool:
    """Say whether the solver can learn from rows that arrive in parts."""
    if estimator.solver == "lbfgs":
        raise AttributeError(
            "partial_fit is only available for stochastic optimizers. solver='lbfgs' needs all "
            "rows at once; use 'adam' or 'sgd'."
        )
    return True


def _mean_curve(curves: list[np.ndarray]) -> list[float]:
    """Return the mean of curves over those that are long enough."""
    longest = max(map(len, curves), default=0)
    at = [[float(curve[i]) for curve in curves if i < len(curve)] for i in range(longest)]
    return [sum(values) / len(values) for values in at]


def _mean_of_best(curves: list[np.ndarray]) -> float:
    """Return the mean of the smallest numbers of curves."""
    return float(np.mean([np.fmin.reduce(curve) for curve in curves]))


def auto_batch_size(n: int) -> int:
    """Choose the number of rows per step for a table of n rows.

    Noisy steps help small tables; large ones need fewer, larger steps to be fast.
    """
    return 32 if n <= 2048 else 64 if n <= 8192 else 128 if n <= 32768 else 256


def auto_patience(n: int, batch_size: int) -> int:
    """Choose the epochs to wait for an improvement: at least 20, and 250 steps or so.

    Networks rest on plateaus for hundreds of steps, which are many epochs of a small table.
    """
    return max(20, -(-250 // max(1, n // batch_size)))


def location_and_scale(X: np.ndarray, weight: np.ndarray | None = None) -> tuple[Any, Any]:
    """Return the weighted mean and standard deviation of each column."""
    mean = np.average(X, axis=0, weights=weight)
    centred = X - mean
    # Dividing by the largest deviation first keeps the squares of huge numbers finite.
    largest = np.abs(centred).max(axis=0)
    constant = largest <= 10 * np.finfo(np.float64).eps * np.abs(mean)
    unit = np.where(constant, 1.0, largest)
    scale = unit * np.sqrt(np.average((centred / unit) ** 2, axis=0, weights=weight))
    scale = np.where(constant | (scale == 0), 1.0, scale)
    return (float(mean), float(scale)) if X.ndim == 1 else (mean, scale)


def standardise(X: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Centre and scale columns, and cut what would overflow a network."""
    return np.clip((X - mean) / scale, -LARGEST_INPUT, LARGEST_INPUT)


def _check_total(estimator: Learner, weight: np.ndarray) -> None:
    if not weight.sum() > 0:
        raise ValueError(
            f"{type(estimator).__name__}.fit needs weights with a positive sum. Got only zeros "
            "from sample_weight and class_weight: at least one row must count."
        )
