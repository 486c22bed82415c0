"""What a model does on rows, collected before a theorem is asked."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from corollary.certificates.proofs._shared import miss_rate
from corollary.certificates.register import Evidence
from corollary.core.certificate import Quantity
from corollary.core.protocols import PredictsRegions
from corollary.theory import check_losses


def gather(
    model: Any,
    X: Any,
    y: np.ndarray,
    loss: Any = None,
    loss_range: Any = None,
    seen: bool = False,
    declared: Mapping[str, float] | None = None,
) -> Evidence:
    """Collect what a model does on rows."""
    kind = _kind(model)
    prediction = np.asarray(model.predict(X))
    if len(prediction) != len(y):
        raise ValueError(
            f"{type(model).__name__} predicted {len(prediction)} rows for {len(y)} targets."
        )
    if has_missing(prediction):
        raise ValueError(
            f"certify needs a prediction for every row. {type(model).__name__} returned missing "
            "values."
        )
    measured: dict[str, Any] = {}
    if loss is not None:
        measured = _with_loss(loss, loss_range, y, prediction)
    elif kind == "classifier":
        if loss_range is not None:
            raise ValueError(
                "The 'loss_range' parameter of certify goes with 'loss' or a regressor; the error "
                "of a classifier is 0 or 1. Leave it out."
            )
        measured = {"losses": _errors_of(model, y, prediction), "quantity": Quantity()}
    elif kind == "regressor":
        measured = _with_absolute_error(loss_range, y, prediction)
    elif not seen:
        raise ValueError(
            f"certify cannot tell whether {type(model).__name__} is a classifier or a regressor. "
            "Pass 'loss' (and 'loss_range' unless it returns booleans)."
        )
    if not seen and isinstance(model, PredictsRegions):
        measured["misses"] = np.asarray(model.misses(X, y), dtype=float)
        measured["region"] = miss_rate(model)
    measured |= {"seen": seen, "declared": declared or {}}
    return Evidence(model=model, X=X, y=y, prediction=prediction, kind=kind, **measured)


def _kind(model: Any) -> str:
    if hasattr(model, "__sklearn_tags__"):
        if is_classifier(model):
            return "classifier"
        return "regressor" if is_regressor(model) else "other"
    return "classifier" if hasattr(model, "classes_") else "other"


def has_missing(values: np.ndarray) -> bool:
    """Tell whether a value is missing."""
    if values.dtype.kind in "fc":
        return bool(np.isnan(values).any())
    if values.dtype == object:
        return any(value is None or value != value for value in values.ravel())
    return False


def _errors_of(model: Any, y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    if y.shape != prediction.shape:
        raise ValueError(
            f"The targets must have the shape of the predictions, {prediction.shape}. "
            f"Got {y.shape} instead."
        )
    classes = getattr(model, "classes_", None)
    if isinstance(classes, np.ndarray) and not any(
        label in set(classes.tolist()) for label in y.ravel().tolist()
    ):
        raise ValueError(
            f"None of the targets is a class of {type(model).__name__} "
            f"({', '.join(map(repr, classes.tolist()[:5]))}{', ...' if len(classes) > 5 else ''}). "
            f"Got {y.ravel().tolist()[0]!r} of type {y.dtype}; encode y as in training."
        )
    wrong = y.astype(object) != prediction.astype(object)
    return np.asarray(wrong, dtype=float).reshape(len(y), -1).max(axis=1)


def _with_absolute_error(loss_range: Any, y: np.ndarray, prediction: np.ndarray) -> dict[str, Any]:
    if y.shape != prediction.shape or y.ndim != 1:
        raise ValueError(
            "certify measures the absolute error of one target per row. Got targets of shape "
            f"{y.shape} and predictions of shape {prediction.shape}; pass 'loss' for others."
        )
    errors = np.abs(y.astype(float) - prediction.astype(float))
    if loss_range is None:
        return {"errors": errors}
    low, cap = _check_range(loss_range)
    if low != 0:
        raise ValueError(
            "The 'loss_range' parameter of certify must start at 0 for the absolute error. "
            f"Got {loss_range!r} instead."
        )
    quantity = Quantity(f"mean of min(|error|, {cap:g})", 0.0, cap, None)
    return {"errors": errors, "losses": np.minimum(errors, cap), "quantity": quantity}


def _with_loss(loss: Any, loss_range: Any, y: np.ndarray, prediction: np.ndarray) -> dict[str, Any]:
    name = getattr(loss, "__name__", type(loss).__name__)
    losses = np.asarray(loss(y, prediction))
    if losses.shape != (len(y),):
        raise ValueError(
            f"The loss {name} must return one value per row, shape ({len(y)},). "
            f"Got shape {losses.shape} instead."
        )
    if losses.dtype == bool:
        quantity = Quantity(f"share of {name}", predicate=f"count as {name}")
        return {"losses": losses.astype(float), "quantity": quantity}
    if loss_range is None:
        raise ValueError(
            f"certify needs 'loss_range' for the loss {name}: the smallest and largest value it "
            "can take, known before seeing the rows. A loss that returns booleans needs none."
        )
    low, high = _check_range(loss_range)
    losses = check_losses(losses, low, high, who="certify")
    return {"losses": losses, "quantity": Quantity(f"mean of {name}", low, high, None)}


def _check_range(loss_range: Any) -> tuple[float, float]:
    ends = np.asarray(loss_range, dtype=float)
    if ends.shape != (2,) or not np.isfinite(ends).all() or ends[0] >= ends[1]:
        raise ValueError(
            "The 'loss_range' parameter of certify must be two finite numbers (low, high) with "
            f"low < high. Got {loss_range!r} instead."
        )
    return float(ends[0]), float(ends[1])
