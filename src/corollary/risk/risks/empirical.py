"""Empirical risk: the mean loss on a sample, and the same with a penalty."""

from typing import Any

import numpy as np
from scipy import sparse

from corollary.risk._records import RegularisedRisk
from corollary.risk.losses.loss import LossLike, check_loss


def empirical_risk(
    y_true: Any, prediction: Any, loss: LossLike = "zero_one", *, sample_weight: Any = None
) -> float:
    """Return the mean loss on a sample.

    On the rows a predictor was trained on this is the training error. On rows that were not
    touched until the predictor was fixed its expectation is the risk.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Truths.
    prediction : array-like of shape (n_samples,) or (n_samples, n_scores)
        Predictions.
    loss : str, Loss or callable, default="zero_one"
        ``loss(y_true, prediction)``, entry by entry.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights, not all zero; None for equal ones.

    Returns
    -------
    risk : float
        (Weighted) mean of the losses.

    Examples
    --------
    >>> from corollary.risk import empirical_risk
    >>> empirical_risk([1, 1, -1, 1], [1, -1, -1, 1])
    0.25
    >>> empirical_risk([0.0, 1.0], [0.5, 3.0], "square", sample_weight=[3, 1])
    1.1875
    """
    # A callable is written for arrays, and a list would fail in it or be repeated by it.
    y_true, prediction = (
        np.asarray(values) if isinstance(values, list | tuple) else values
        for values in (y_true, prediction)
    )
    losses = np.asarray(check_loss(loss)(y_true, prediction), dtype=float)
    if losses.size == 0:
        raise ValueError("empirical_risk needs at least one row. Got none.")
    weight = check_weights("empirical_risk", sample_weight, losses.shape[0])
    return float(losses.mean() if weight is None else weight @ losses / weight.sum())


def regularised_risk(
    coef: Any,
    X: Any,
    y: Any,
    loss: LossLike = "square",
    *,
    alpha: float = 0.0,
    penalty: str = "l2",
    intercept: Any = 0.0,
    sample_weight: Any = None,
    average: bool = False,
) -> RegularisedRisk:
    """Return the regularised risk of a linear predictor, with its gradient.

    ``sum_i loss(y_i, x_i' w + b) + alpha * penalty(w)``: a *sum* over the rows unless
    ``average``. With the square loss and "l2" this is the objective of ridge regression.

    Parameters
    ----------
    coef : array-like of shape (n_features,) or (n_features, n_scores)
        Coefficients w.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Truths.
    loss : str, Loss or callable, default="square"
        A loss with a ``gradient``.
    alpha : float, default=0.0
        Weight of the penalty, lambda in the theory.
    penalty : {"l2", "l1"}, default="l2"
        Squared Euclidean norm, or sum of absolute values.
    intercept : float or array-like of shape (n_scores,), default=0.0
        Intercept b, not penalised.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights of the losses.
    average : bool, default=False
        Whether the losses are averaged instead of summed.

    Returns
    -------
    risk : RegularisedRisk
        Value and gradients.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.risk import regularised_risk
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, 2.0])
    >>> risk = regularised_risk([0.5, 1.0], X, y, alpha=0.1)
    >>> risk.value
    0.375
    >>> risk.gradient.round(6)
    array([-0.9,  0.2])
    """
    criterion: Any = check_loss(loss, gradient=True)
    if penalty not in ("l1", "l2"):
        raise ValueError(
            "The 'penalty' parameter of regularised_risk must be a str among {'l1', 'l2'}. "
            f"Got {penalty!r} instead."
        )
    if not alpha >= 0:
        raise ValueError(
            "The 'alpha' parameter of regularised_risk must be a float in the range [0.0, inf). "
            f"Got {alpha!r} instead."
        )
    w = np.asarray(coef, dtype=float)
    X = X if sparse.issparse(X) else np.asarray(X, dtype=float)
    scores = X @ w + np.asarray(intercept, dtype=float)
    losses, slopes = criterion(y, scores), criterion.gradient(y, scores)
    weight = check_weights("regularised_risk", sample_weight, len(losses))
    if weight is not None:
        losses = losses * weight
        slopes = slopes * (weight if slopes.ndim == 1 else weight[:, None])
    n = (len(losses) if weight is None else weight.sum()) if average else 1
    size, pull = (np.vdot(w, w), 2 * w) if penalty == "l2" else (np.abs(w).sum(), np.sign(w))
    return RegularisedRisk(
        value=float(losses.sum() / n + alpha * size),
        gradient=X.T @ slopes / n + alpha * pull,
        intercept_gradient=slopes.sum(axis=0) / n,
    )


def check_weights(name: str, sample_weight: Any, n_samples: int) -> np.ndarray | None:
    """Return the weights of rows as an array, or say what is wrong with them.

    Parameters
    ----------
    name : str
        Who asks, for the message.
    sample_weight : array-like of shape (n_samples,) or None
        Weights; None for equal ones.
    n_samples : int
        Number of rows.

    Returns
    -------
    weight : ndarray of shape (n_samples,) or None
        Finite, not negative, not all zero; None for None.

    Raises
    ------
    ValueError
        If they are anything else.

    Examples
    --------
    >>> from corollary.risk import check_weights
    >>> check_weights("my_function", [1, 0, 2], 3)
    array([1., 0., 2.])
    """
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=float)
    if weight.shape != (n_samples,):
        raise ValueError(f"{name} needs {n_samples} sample weights. Got shape {weight.shape}.")
    if not np.isfinite(weight).all() or np.any(weight < 0) or weight.sum() == 0:
        raise ValueError(f"{name} needs finite, non-negative sample weights that are not all zero.")
    return weight
