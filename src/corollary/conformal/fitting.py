"""How weights of training rows reach the models inside a conformal wrapper."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from corollary.core.compat import check_sample_weight


def check_training_weights(sample_weight: Any, y: np.ndarray) -> np.ndarray | None:
    """Return weights of training rows as an array, or say what is wrong with them.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), float or None
        Weights.
    y : ndarray of shape (n_samples,)
        The targets that they belong to.

    Returns
    -------
    weights : ndarray of shape (n_samples,) or None
        Finite numbers that are not negative; None if there are none.
    """
    if sample_weight is None:
        return None
    return check_sample_weight(sample_weight, y, dtype=np.float64, ensure_non_negative=True)


def fit_parameters(who: str, model: Any, sample_weight: np.ndarray | None) -> dict[str, np.ndarray]:
    """Return how a model's ``fit`` takes weights of rows.

    Parameters
    ----------
    who : str
        Name of the wrapper, for the message.
    model : estimator
        The model; the weights of a pipeline go to its last step.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights.

    Returns
    -------
    parameters : dict of str to ndarray
        Keywords of ``fit``; empty without weights.

    Raises
    ------
    ValueError
        If the model takes no weights.
    """
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
    """Fit a copy of a model, with weights if there are any.

    Parameters
    ----------
    who : str
        Name of the wrapper, for messages.
    model : estimator
        What to copy; itself left as it is.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows, passed to the model as they come.
    y : ndarray of shape (n_samples,)
        Targets.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights.

    Returns
    -------
    fitted : estimator
        The copy.
    """
    return clone(model).fit(X, y, **fit_parameters(who, model, sample_weight))
