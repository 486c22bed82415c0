"""Empirical risk minimisation over parametric classes, by L-BFGS on a differentiable loss."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from corollary.risk._records import LinearMinimum, ParametricMinimum
from corollary.risk.losses.label_losses import CrossEntropyLoss
from corollary.risk.losses.loss import Loss, check_loss
from corollary.risk.losses.margin_losses import ExponentialLoss, LogisticLoss
from corollary.risk.risks.empirical import check_weights

# A model maps parameters to predictions and to the map that pulls gradients back to parameters.
Model = Callable[[np.ndarray], tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]]


def minimise_parametric(
    model: Model,
    start: Any,
    y: Any,
    loss: str | Loss,
    *,
    penalty: Any = 0.0,
    sample_weight: Any = None,
    max_iter: int = 1000,
    tol: float = 1e-6,
) -> ParametricMinimum:
    """Minimise the mean loss of a parametric model plus a quadratic penalty.

    ``mean_i loss(y_i, f_theta(x_i)) + sum_j penalty_j theta_j^2`` is brought down by L-BFGS. For a
    convex loss and a model that is linear in theta the answer is a global minimiser; otherwise it
    is a stationary point that depends on the start.

    Parameters
    ----------
    model : callable
        ``model(theta)`` returns the predictions on the training rows and a function that maps
        gradients in the predictions to the gradient in theta.
    start : array-like of shape (n_parameters,)
        Where to start.
    y : array-like of shape (n_samples,)
        Truths.
    loss : str or Loss
        A differentiable loss.
    penalty : float or array-like of shape (n_parameters,), default=0.0
        Weight of each squared parameter.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights.
    max_iter : int, default=1000
        Largest number of iterations.
    tol : float, default=1e-6
        Stop when no entry of the gradient exceeds this.

    Returns
    -------
    minimum : ParametricMinimum
        Parameters and how the search ended; a ConvergenceWarning tells if it ended early.

    Raises
    ------
    ValueError
        If the loss is not differentiable: a subgradient is not a direction L-BFGS can trust.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.risk import minimise_parametric
    >>> x, y = np.arange(4.0), np.array([1.0, 2.0, 4.0, 8.0])
    >>> def growth(theta):
    ...     f = np.exp(theta[0] + theta[1] * x)
    ...     return f, lambda g: np.array([g @ f, g @ (x * f)])
    >>> minimise_parametric(growth, [0.0, 0.0], y, "square").parameters.round(3) + 0.0
    array([0.   , 0.693])
    """
    from scipy.optimize import minimize

    criterion: Any = check_loss(loss, gradient=True)
    if not getattr(criterion, "differentiable", True):
        raise ValueError(
            f"minimise_parametric needs a differentiable loss. Got {criterion!r}; use a smooth "
            "one, for instance 'logistic' or 'squared_hinge' in place of 'hinge'."
        )
    y, theta = np.asarray(y), np.array(start, dtype=float)
    weight = check_weights("minimise_parametric", sample_weight, len(y))
    share = np.full(len(y), 1 / len(y)) if weight is None else weight / weight.sum()
    penalty = np.asarray(penalty, dtype=float)

    def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
        prediction, pull_back = model(theta)
        slopes = criterion.gradient(y, prediction)
        slopes = slopes * (share if slopes.ndim == 1 else share[:, None])
        value = share @ criterion(y, prediction) + (penalty * theta**2).sum()
        return float(value), pull_back(slopes) + 2 * penalty * theta

    # ftol is set to the rounding of the objective: the gradient decides when to stop.
    options = {"maxiter": max_iter, "maxfun": 10 * max_iter, "gtol": tol, "ftol": 1e-16}
    with np.errstate(over="ignore", invalid="ignore"):
        found = minimize(objective, theta, jac=True, method="L-BFGS-B", options=options)
    norm = float(np.abs(found.jac).max())
    # The line search gives up when a step changes the objective by less than its rounding. Near a
    # minimum the change is of the order of the squared gradient, so a gradient of this size is
    # as good as zero.
    converged = bool(norm <= max(tol, 1e-7) or (found.success and found.nit < max_iter))
    if not converged:
        warnings.warn(
            f"Empirical risk minimisation stopped after {found.nit} iterations with a gradient of "
            f"{norm:.1e}, above the tolerance {tol:.1e}. Raise max_iter or tol, or standardise the "
            "inputs.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return ParametricMinimum(found.x, float(found.fun), norm, int(found.nit), converged)


def minimise_linear(
    X: Any,
    y: Any,
    loss: str | Loss,
    *,
    alpha: float = 0.0,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    max_iter: int = 1000,
    tol: float = 1e-6,
) -> LinearMinimum:
    """Minimise the (regularised) empirical risk over linear predictors ``x' w + b``.

    The objective is ``mean_i loss(y_i, x_i' w + b) + alpha ||w||^2``.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Truths, in the form the loss takes.
    loss : str or Loss
        A differentiable loss. With :class:`CrossEntropyLoss` there is one score for each class.
    alpha : float, default=0.0
        Weight of the squared norm of the coefficients; the intercept is not penalised.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights.
    max_iter : int, default=1000
        Largest number of iterations.
    tol : float, default=1e-6
        Stop when no entry of the gradient exceeds this.

    Returns
    -------
    minimum : LinearMinimum
        Coefficients and intercept.

    Notes
    -----
    If a linear predictor separates the classes, logistic, exponential and cross-entropy risk
    without penalty have no minimiser: the risk falls for ever as the coefficients grow. The
    search then ends where the gradient is below ``tol`` and a ConvergenceWarning says so.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.risk import minimise_linear
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])
    >>> minimum = minimise_linear(X, y, "square")
    >>> minimum.coef.round(3), round(float(minimum.intercept), 3)
    (array([2.]), 1.0)
    """
    loss = check_loss(loss, gradient=True)
    if not alpha >= 0:
        raise ValueError(
            "The 'alpha' parameter of minimise_linear must be a float in the range [0.0, inf). "
            f"Got {alpha!r} instead."
        )
    X = X.tocsr() if sparse.issparse(X) else np.asarray(X, dtype=float)
    y, d = np.asarray(y), X.shape[1]
    many = isinstance(loss, CrossEntropyLoss)
    scores = (int(y.max()) + 1,) if many else ()
    size = d * int(np.prod(scores, dtype=int))

    def unpack(theta: np.ndarray) -> tuple[np.ndarray, Any]:
        coef = theta[:size].reshape(d, *scores)
        if not fit_intercept:
            return coef, np.zeros(scores)
        return coef, theta[size:] if many else theta[size]

    def model(theta: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        coef, intercept = unpack(theta)

        def pull_back(slopes: np.ndarray) -> np.ndarray:
            gradient = np.ravel(X.T @ slopes)
            if not fit_intercept:
                return gradient
            return np.concatenate([gradient, np.atleast_1d(slopes.sum(axis=0))])

        return X @ coef + intercept, pull_back

    n_intercepts = int(np.prod(scores, dtype=int)) if fit_intercept else 0
    penalty = np.concatenate([np.full(size, float(alpha)), np.zeros(n_intercepts)])
    found = minimise_parametric(
        model,
        np.zeros(size + n_intercepts),
        y,
        loss,
        penalty=penalty,
        sample_weight=sample_weight,
        max_iter=max_iter,
        tol=tol,
    )
    if alpha == 0 and _separates(loss, y, model(found.parameters)[0]):
        warnings.warn(
            "The training rows are linearly separable, so the risk has no minimiser: it falls for "
            "ever as the coefficients grow. Set alpha above 0.",
            ConvergenceWarning,
            stacklevel=2,
        )
    coef, intercept = unpack(found.parameters)
    return LinearMinimum(coef, intercept, found.value, found.n_iter, found.converged)


def _separates(loss: Any, y: np.ndarray, scores: np.ndarray) -> bool:
    """Tell whether every row is strictly on its side under a loss that never reaches zero."""
    if isinstance(loss, (LogisticLoss, ExponentialLoss)):
        return bool(np.all(y * scores > 0))
    if isinstance(loss, CrossEntropyLoss):
        rows = np.arange(len(y))
        codes = y.astype(int)
        others = scores.copy()
        others[rows, codes] = -np.inf
        return bool(np.all(scores[rows, codes] > others.max(axis=1)))
    return False
