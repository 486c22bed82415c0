"""Population risk: the expected loss of a predictor on a known law."""

from typing import Any

import numpy as np

from corollary.core.world import RiskEstimate, World
from corollary.risk.losses._checks import check_posterior
from corollary.risk.losses.loss import LossLike, check_loss
from corollary.risk.minimise.learner import as_predictor


def conditional_risk(
    prediction: Any, posterior: Any, outcomes: Any, loss: LossLike = "zero_one"
) -> np.ndarray:
    """Return the expected loss at each input, ``R(f, x) = sum_y P(y | x) loss(y, f(x))``.

    Parameters
    ----------
    prediction : array-like of shape (n_samples,) or (n_samples, n_scores)
        Predictions at the inputs.
    posterior : array-like of shape (n_samples, n_outcomes)
        Probabilities of the outcomes given the inputs.
    outcomes : array-like of shape (n_outcomes,)
        The values that the truth can take.
    loss : str, Loss or callable, default="zero_one"
        ``loss(y_true, prediction)``, entry by entry.

    Returns
    -------
    risk : ndarray of shape (n_samples,)
        Pointwise risks. An infinite loss of an outcome that cannot happen counts as zero.

    Examples
    --------
    >>> from corollary.risk import conditional_risk
    >>> conditional_risk([1, 0], [[0.25, 0.75], [0.5, 0.5]], [0, 1])
    array([0.25, 0.5 ])
    """
    criterion: Any = check_loss(loss)
    posterior, outcomes = check_posterior("conditional_risk", posterior, outcomes)
    prediction = np.asarray(prediction)
    if prediction.shape[:1] != posterior.shape[:1]:
        raise ValueError(
            "conditional_risk needs one prediction for each row of the posterior. "
            f"Got shapes {prediction.shape} and {posterior.shape}."
        )
    risk = np.zeros(len(posterior))
    # One pass per outcome rather than one big broadcast: any loss that works entry by entry will
    # do, and the memory stays that of the predictions.
    for outcome, probability in zip(outcomes, posterior.T):
        losses = np.asarray(criterion(np.full(len(posterior), outcome), prediction), dtype=float)
        possible = probability > 0
        risk[possible] += probability[possible] * losses[possible]
    return risk


def population_risk(
    world: World,
    predictor: Any,
    loss: LossLike = "zero_one",
    *,
    n_samples: int = 100_000,
    random_state: Any = None,
) -> RiskEstimate:
    """Return the risk of a predictor on a world, exactly or by simulation.

    Parameters
    ----------
    world : World
        The law. On a :class:`FiniteWorld` the risk is a sum and exact.
    predictor : callable or fitted estimator
        Maps X to predictions.
    loss : str, Loss or callable, default="zero_one"
        ``loss(y_true, prediction)``, entry by entry.
    n_samples : int, default=100000
        Fresh rows to draw where no exact value is known.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of those rows.

    Returns
    -------
    risk : RiskEstimate
        Value and standard error; the error is 0 for an exact value.

    Examples
    --------
    >>> from corollary.risk import FiniteWorld, population_risk
    >>> world = FiniteWorld([[0.5, 0.0], [0.125, 0.375]])
    >>> population_risk(world, lambda X: X[:, 0])
    RiskEstimate(value=0.125, standard_error=0.0)
    """
    from corollary.risk.laws.finite_world import FiniteWorld

    predictor = as_predictor(predictor)
    if isinstance(world, FiniteWorld):
        return RiskEstimate(world.risk(predictor, loss), 0.0)
    return world.estimate_risk(
        predictor, check_loss(loss), n_samples=n_samples, random_state=random_state
    )
