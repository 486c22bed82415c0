"""How weights of training rows reach the models inside a conformal wrapper."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from corollary.core.compat import check_sample_weight


def check_training_weights(sample_weight: Any, y: np.ndarray) -> np.ndarray | None:
    """Return weights of training rows as an array, or say what is wrong with them."""
    if sample_weight is None:
        return None
    return check_sample_weight(sample_weight, y, dtype=np.float64, ensure_non_negative=True)


def fit_parameters(who: str, model: Any, sample_weight: np.ndarray | None) -> dict[str, np.ndarray]:
    """Return how a model's ``fit`` takes weights of rows."""
    if sample_weight is None:
        return {}
    if has_fit_parameter(model, "sample_weight"):
        return {"sample_weight": sample_weight}
    steps = getattr(model, "steps", None)
    if steps and has_fit_parameter(steps[-1][1], "sample_weight"):
        return {f"{steps[-1][0]}__sample_weight": sample_weight}
    last = steps[-1][1] if steps else model
    raise ValueError(
        f"{who} got sample_weight, but the fit of {type(last).__name__} doesn't support it. Use a "
        "model that weighs rows, or fit without sample_weight."
    )


def fit_copy(who: str, model: Any, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> Any:
    """Fit a copy of a model, with weights if there are any."""
    return clone(model).fit(X, y, **fit_parameters(who, model, sample_weight))
