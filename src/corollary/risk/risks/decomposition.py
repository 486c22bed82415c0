"""Where the error comes from: variance and bias, approximation and estimation, noise."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.world import World
from corollary.risk._records import MeanSquaredError
from corollary.risk.laws.finite_world import FiniteWorld
from corollary.risk.losses.loss import LossLike
from corollary.risk.minimise.learner import as_learner


class ExcessRisk(NamedTuple):
    """The risk of a predictor, split at the best of its class and at the best of all.

    ``risk = bayes_risk + approximation + estimation``.

    Parameters
    ----------
    risk : float
        Risk of the predictor.
    best_in_class : float
        Smallest risk in the class; some texts call this number the approximation error.
    bayes_risk : float
        Smallest risk of any predictor.
    approximation : float
        ``best_in_class - bayes_risk``; falls as the class grows.
    estimation : float
        ``risk - best_in_class``: the excess over the class, which more data make small.
    excess : float
        ``risk - bayes_risk``.

    Examples
    --------
    >>> from corollary.risk import ExcessRisk
    >>> ExcessRisk(0.375, 0.25, 0.125, 0.125, 0.125, 0.25).excess
    0.25
    """

    risk: float
    best_in_class: float
    bayes_risk: float
    approximation: float
    estimation: float
    excess: float


class BiasVariance(NamedTuple):
    """The expected square error of a learner, split point by point.

    Means over the test points are given by :meth:`mean`.

    Parameters
    ----------
    error : ndarray of shape (n_points,)
        ``bias_squared + variance + noise``.
    bias_squared : ndarray of shape (n_points,)
        Squared distance of the mean prediction from the regression function. When estimated it
        is corrected for the spread of the mean prediction and may fall slightly below zero.
    variance : ndarray of shape (n_points,)
        Variance of the prediction over training sets.
    noise : ndarray of shape (n_points,)
        Variance of the truth given the input.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.risk import BiasVariance
    >>> part = np.array([0.0, 1.0])
    >>> float(BiasVariance(3 * part, part, part, part).mean().error)
    1.5
    """

    error: np.ndarray
    bias_squared: np.ndarray
    variance: np.ndarray
    noise: np.ndarray

    def mean(self) -> "BiasVariance":
        """Average every part over the test points.

        Returns
        -------
        average : BiasVariance
            The same parts as numbers.
        """
        return BiasVariance(*(np.mean(part) for part in self))


def split_mean_squared_error(
    estimates: Any, truth: Any, *, probabilities: Any = None
) -> MeanSquaredError:
    """Split a mean squared error into variance and squared bias.

    The identity behind it is ``E(Z - EZ)^2 = EZ^2 - (EZ)^2``, which holds for the law given by
    ``probabilities`` and for the empirical law of a sample alike.

    Parameters
    ----------
    estimates : array-like of shape (n,) or (n, n_targets)
        Values Z of the estimator, along the first axis.
    truth : float or array-like of shape (n_targets,)
        What is being estimated.
    probabilities : array-like of shape (n,) or None, default=None
        Probabilities of the values; None for equal ones.

    Returns
    -------
    split : MeanSquaredError
        ``mse = variance + bias^2``, exactly.

    Examples
    --------
    >>> from corollary.risk import split_mean_squared_error
    >>> split_mean_squared_error([0.0, 4.0], 1.0)
    MeanSquaredError(mse=5.0, variance=4.0, bias=1.0)
    """
    z, truth = np.asarray(estimates, dtype=float), np.asarray(truth, dtype=float)
    if z.ndim == 0 or z.shape[0] == 0:
        raise ValueError("split_mean_squared_error needs at least one estimate. Got none.")
    p = np.full(z.shape[0], 1 / z.shape[0]) if probabilities is None else probabilities
    p = np.asarray(p, dtype=float)
    if p.shape != z.shape[:1] or np.any(p < 0) or not np.isclose(p.sum(), 1, rtol=0, atol=1e-8):
        raise ValueError(
            "split_mean_squared_error needs one probability for each estimate, non-negative and "
            f"summing to 1. Got shape {p.shape} and sum {p.sum():.6g}."
        )
    mean = np.tensordot(p, z, axes=1)
    # The centred form: the difference EZ^2 - (EZ)^2 would cancel when the mean is large.
    variance = np.tensordot(p, (z - mean) ** 2, axes=1)
    mse = np.tensordot(p, (z - truth) ** 2, axes=1)
    return MeanSquaredError(*(_plain(part) for part in (mse, variance, mean - truth)))


def _plain(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else value


def decompose_excess_risk(
    world: FiniteWorld, predictor: Any, hypotheses: Sequence[Any], loss: LossLike = "zero_one"
) -> ExcessRisk:
    """Split the risk of a predictor into Bayes risk, approximation and estimation error.

    Parameters
    ----------
    world : FiniteWorld
        The law, on which all risks are exact.
    predictor : callable or fitted estimator
        Usually what a learner returned.
    hypotheses : sequence of callables or fitted estimators
        The class it was chosen from.
    loss : str, Loss or callable, default="zero_one"
        A loss with a ``minimiser``.

    Returns
    -------
    split : ExcessRisk
        The parts; ``estimation`` is negative only if the predictor is not in the class.

    Notes
    -----
    A positive ``best_in_class`` does not mean that the class is too small: it is at least the
    Bayes risk even if the class contains the Bayes rule.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.risk import FiniteWorld, decompose_excess_risk
    >>> world = FiniteWorld([[0.375, 0.125], [0.125, 0.375]])
    >>> constants = [lambda X: np.zeros(len(X)), lambda X: np.ones(len(X))]
    >>> split = decompose_excess_risk(world, constants[0], constants)
    >>> split.bayes_risk, split.approximation, split.estimation
    (0.25, 0.25, 0.0)
    """
    if len(hypotheses) == 0:
        raise ValueError("decompose_excess_risk needs at least one hypothesis. Got none.")
    risk, bayes = world.risk(predictor, loss), world.bayes_risk(loss)
    best = min(world.risk(h, loss) for h in hypotheses)
    return ExcessRisk(risk, best, bayes, best - bayes, risk - best, risk - bayes)


def bias_variance(
    learner: Any,
    world: World,
    X_new: Any,
    *,
    n_samples: int,
    n_repeats: int = 200,
    regression_function: Any = None,
    noise_variance: Any = None,
    random_state: Any = None,
) -> BiasVariance:
    """Estimate bias, variance and noise of a learner by redrawing its training set.

    At each point x of ``X_new``, for training sets D and a fresh y that is independent of them,

        E(y - f_D(x))^2 = (E f_D(x) - E[y|x])^2 + Var f_D(x) + Var(y|x).

    Parameters
    ----------
    learner : estimator or callable
        See :func:`corollary.risk.as_learner`.
    world : World
        Where training sets come from.
    X_new : array-like of shape (n_points, n_features)
        Where to split the error.
    n_samples : int
        Rows of a training set.
    n_repeats : int, default=200
        Training sets to draw, at least two.
    regression_function : callable or None, default=None
        ``E[y | x]`` as a function of X; None for the world's ``bayes_rule``, which on a
        :class:`FiniteWorld` is asked for the square loss.
    noise_variance : callable, float or None, default=None
        ``Var(y | x)`` as a function of X or a constant; None for the world's
        ``noise_variance``.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the training sets.

    Returns
    -------
    split : BiasVariance
        The parts at every point. Bias and variance are unbiased estimates, and the parts sum to
        the mean of ``(f_D(x) - E[y|x])^2 + Var(y|x)`` over the training sets, exactly.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from corollary.risk import FiniteWorld, bias_variance
    >>> world = FiniteWorld([[0.2, 0.1], [0.1, 0.2], [0.2, 0.2]])
    >>> split = bias_variance(
    ...     LinearRegression(), world, world.inputs, n_samples=20, n_repeats=50, random_state=0
    ... )
    >>> split.noise.round(4)
    array([0.2222, 0.2222, 0.25  ])
    """
    if n_repeats < 2:
        raise ValueError(
            "The 'n_repeats' parameter of bias_variance must be an int in the range [2, inf). "
            f"Got {n_repeats!r} instead."
        )
    X_new = np.asarray(X_new, dtype=float)
    target = np.asarray(_truth(world, regression_function, X_new), dtype=float)
    noise = _noise(world, noise_variance, X_new)
    learn, rng = as_learner(learner), check_random_state(random_state)
    seeds = rng.randint(2**31 - 1, size=n_repeats)
    predictions = np.stack(
        [
            np.asarray(learn(*world.sample(n_samples, np.random.RandomState(s)))(X_new), float)
            for s in seeds
        ]
    )
    variance = predictions.var(axis=0, ddof=1)
    # The mean of R predictions itself varies by variance / R around the true mean.
    bias_squared = (predictions.mean(axis=0) - target) ** 2 - variance / n_repeats
    return BiasVariance(bias_squared + variance + noise, bias_squared, variance, noise)


def smoother_bias_variance(
    smoother: Any, mean_train: Any, mean_new: Any, noise_variance: Any, noise_new: Any = None
) -> BiasVariance:
    """Return bias, variance and noise of a linear smoother exactly.

    A linear smoother predicts ``S y`` with a matrix S that depends on the inputs alone: least
    squares, ridge, splines, nearest neighbours. For fixed training inputs with mean outputs m
    and independent noise of variance v,

        bias = S m - m_new,      variance = S^2 v  (entrywise square).

    Parameters
    ----------
    smoother : array-like of shape (n_points, n_samples)
        The matrix S.
    mean_train : array-like of shape (n_samples,)
        ``E[y | x]`` at the training inputs.
    mean_new : array-like of shape (n_points,)
        ``E[y | x]`` at the new points.
    noise_variance : float or array-like of shape (n_samples,)
        ``Var(y | x)`` at the training inputs.
    noise_new : float, array-like of shape (n_points,) or None, default=None
        ``Var(y | x)`` at the new points; None if the noise is the same everywhere and
        ``noise_variance`` is a number.

    Returns
    -------
    split : BiasVariance
        The parts at every point.

    Examples
    --------
    >>> from corollary.risk import smoother_bias_variance
    >>> nearest_two = [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]
    >>> smoother_bias_variance(nearest_two, [0.0, 1.0, 4.0], [0.0, 4.0], 1.0).variance
    array([0.5, 0.5])
    """
    S = np.asarray(smoother, dtype=float)
    mean_train, mean_new = np.asarray(mean_train, float), np.asarray(mean_new, float)
    if S.ndim != 2 or S.shape != (mean_new.size, mean_train.size):
        raise ValueError(
            "smoother_bias_variance needs a smoother of shape (n_points, n_samples) = "
            f"({mean_new.size}, {mean_train.size}). Got {S.shape}."
        )
    if noise_new is None:
        if np.ndim(noise_variance) > 0:
            raise ValueError(
                "smoother_bias_variance needs noise_new when noise_variance differs from row to "
                "row: the noise at the new points does not follow from it."
            )
        noise_new = noise_variance
    variance = S**2 @ np.broadcast_to(np.asarray(noise_variance, float), mean_train.shape)
    bias_squared = (S @ mean_train - mean_new) ** 2
    noise = np.broadcast_to(np.asarray(noise_new, float), mean_new.shape).copy()
    return BiasVariance(bias_squared + variance + noise, bias_squared, variance, noise)


def _truth(world: World, function: Any, X: np.ndarray) -> Any:
    if function is not None:
        return function(X)
    if isinstance(world, FiniteWorld):
        return world.bayes_rule(X, "square")
    if not hasattr(world, "bayes_rule"):
        raise ValueError(
            f"bias_variance needs E[y | x]: {type(world).__name__} has no bayes_rule. "
            "Pass regression_function."
        )
    return world.bayes_rule(X)


def _noise(world: World, noise: Any, X: np.ndarray) -> np.ndarray:
    if noise is None:
        if not hasattr(world, "noise_variance"):
            raise ValueError(
                f"bias_variance needs Var(y | x): {type(world).__name__} has no noise_variance. "
                "Pass noise_variance."
            )
        noise = world.noise_variance
    values = noise(X) if callable(noise) else noise
    return np.broadcast_to(np.asarray(values, dtype=float), (len(X),)).copy()
