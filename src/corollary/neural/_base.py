"""What the classifier and the regressor made of networks share."""

from dataclasses import KW_ONLY
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.compat import Interval
from corollary.core.estimator import (
    ArrayLike,
    Count,
    Learner,
    NonNegative,
    Positive,
    RandomSeed,
    fitted,
)
from corollary.core.schema import Array, Integer, List, Number, Optional, Size
from corollary.neural._ensemble import Ensemble, Training, ensemble_outputs, fit_ensemble
from corollary.neural.mlp import MLPLoss

# Standardised inputs beyond this are cut, so that no value of a float64 overflows a network.
LARGEST_INPUT = 1e6


class BaseMLP(Learner):
    """Standardise inputs, learn networks, evaluate them; subclasses say what the outputs mean."""

    _: KW_ONLY
    hidden_layer_sizes: ArrayLike | Count = (100,)
    activation: Literal["identity", "logistic", "tanh", "relu"] = "relu"
    alpha: NonNegative = 0.01
    batch_size: Literal["auto"] | Count = "auto"
    learning_rate_init: Positive = 0.003
    max_iter: Count = 1000
    random_state: RandomSeed = None
    tol: Annotated[float, Interval(Real, None, None, closed="left")] = 1e-4
    warm_start: bool = False
    early_stopping: bool = True
    validation_fraction: Annotated[float, Interval(Real, 0, 0.5, closed="neither")] = 0.1
    n_iter_no_change: Literal["auto"] | Count = "auto"
    n_members: Count = 5

    coefs_: list[np.ndarray] = fitted(List(Array("f", "*", "*", "*"), "l"))
    intercepts_: list[np.ndarray] = fitted(List(Array("f", "*", "*"), "l"))
    input_mean_: np.ndarray = fitted(Array("f", "d"))
    input_scale_: np.ndarray = fitted(Array("f", "d", low=np.finfo(np.float64).tiny))
    loss_curves_: list[np.ndarray] = fitted(List(Array("f", "*", nan=True, infinite=True)))
    validation_curves_: list[np.ndarray] | None = fitted(
        Optional(List(Array("f", "*", nan=True, infinite=True)))
    )
    best_loss_: float = fitted(Number(nan=True, infinite=True))
    n_iter_: int = fitted(Integer(0))
    n_layers_: int = fitted(Integer(2))
    n_outputs_: int = fitted(Size("k"))

    # One memory layout, so that a data frame gives the bits that its array gives.
    _rows: ClassVar[dict[str, Any]] = {"order": "C"}

    def _fits_together(self) -> str | None:
        """Check what a schema of single attributes cannot: that each layer feeds the next."""
        n_in = self.n_features_in_
        for W, b in zip(self.coefs_, self.intercepts_, strict=True):
            if W.shape != (len(self.coefs_[0]), n_in, b.shape[1]) or len(W) != len(b):
                return "its layers do not fit together"
            n_in = b.shape[1]
        if not self.coefs_ or len(self.coefs_[0]) < 1 or n_in != self.n_outputs_:
            return "its layers do not fit together"
        return None

    def _fit_networks(
        self,
        X: np.ndarray,
        y: np.ndarray,
        weight: np.ndarray | None,
        loss: tuple[str, int],
        checkpoint: Any,
    ) -> None:
        """Standardise the inputs, learn the networks and store them."""
        # A row of weight zero is no row: it must not change how many batches there are.
        if weight is not None:
            _check_total(self, weight)
            X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
        hidden = tuple(map(int, np.ravel(self.hidden_layer_sizes)))
        if any(size < 1 for size in hidden):
            raise ValueError(
                f"The 'hidden_layer_sizes' parameter of {type(self).__name__} must be positive "
                f"integers. Got {self.hidden_layer_sizes!r} instead."
            )
        kind, n_outputs = loss
        sizes = (X.shape[1], *hidden, n_outputs)
        start = self._earlier_networks(sizes) if self.warm_start else None
        if start is None:
            self.input_mean_, self.input_scale_ = location_and_scale(X, weight)
        batch_size = auto_batch_size(len(X)) if self.batch_size == "auto" else self.batch_size
        patience = self.n_iter_no_change
        if patience == "auto":
            patience = auto_patience(len(X), batch_size)
        training = Training(
            n_members=self.n_members,
            learning_rate=float(self.learning_rate_init),
            weight_decay=float(self.alpha),
            epochs=self.max_iter,
            batch_size=batch_size,
            validation_fraction=self.validation_fraction if self.early_stopping else None,
            patience=patience,
            tol=float(self.tol),
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
        )
        ensemble = fit_ensemble(
            standardise(X, self.input_mean_, self.input_scale_),
            y,
            weight=weight,
            loss=MLPLoss(sizes, self.activation, kind),
            start=start,
            training=training,
            checkpoint=checkpoint,
        )
        self._store(ensemble)

    def _store(self, ensemble: Ensemble) -> None:
        self.coefs_ = ensemble.parameters[0::2]
        self.intercepts_ = ensemble.parameters[1::2]
        self.loss_curves_ = ensemble.losses
        self.validation_curves_ = ensemble.held_out_losses
        self.best_loss_ = float(ensemble.best_losses.mean())
        self.n_iter_ = max(len(curve) for curve in ensemble.losses)
        self.n_layers_ = len(self.coefs_) + 1
        self.n_outputs_ = self.coefs_[-1].shape[-1]

    def _earlier_networks(self, sizes: tuple[int, ...]) -> list[np.ndarray] | None:
        """Return the parameters of the last fit, if there was one of this shape."""
        if not hasattr(self, "coefs_"):
            return None
        earlier = (self.coefs_[0].shape[1], *(W.shape[2] for W in self.coefs_))
        if earlier != sizes or len(self.coefs_[0]) != self.n_members:
            raise ValueError(
                f"warm_start=True needs the networks of the last fit: {len(self.coefs_[0])} with "
                f"layer sizes {earlier}. Got n_members={self.n_members} and layer sizes {sizes}. "
                "Set warm_start=False to start afresh."
            )
        return [array for pair in zip(self.coefs_, self.intercepts_) for array in pair]

    def _outputs(self, X: np.ndarray) -> np.ndarray:
        """Evaluate every network on validated rows."""
        parameters = [array for pair in zip(self.coefs_, self.intercepts_) for array in pair]
        Z = standardise(X, self.input_mean_, self.input_scale_)
        return ensemble_outputs(parameters, Z, self.activation)


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
