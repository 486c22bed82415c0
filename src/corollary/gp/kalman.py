r"""Filtering and smoothing of linear-Gaussian state-space models.

States follow :math:`x_t=Fx_{t-1}+w_t`, :math:`w_t\sim\mathcal N(0,Q)`, from
:math:`x_1\sim\mathcal N(m_1,P_1)`, and are seen through :math:`y_t=Hx_t+v_t`,
:math:`v_t\sim\mathcal N(0,R)`. Filter and smoother are Gaussian conditioning of all states on the
observations so far, or on all of them, in time linear in the number of steps.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class StateSpaceModel:
    """A linear-Gaussian state-space model.

    Parameters
    ----------
    transition : array-like of shape (k, k)
        F, how the state moves.
    transition_noise : array-like of shape (k, k)
        Q, covariance of what is added to it.
    observation : array-like of shape (d, k)
        H, what is seen of the state.
    observation_noise : array-like of shape (d, d)
        R, covariance of the error of seeing.
    initial_mean : array-like of shape (k,)
        Mean of the first state, before anything is seen.
    initial_covariance : array-like of shape (k, k)
        Its covariance.

    Examples
    --------
    >>> from corollary.gp import StateSpaceModel, kalman_filter
    >>> walk = StateSpaceModel([[1.0]], [[1.0]], [[1.0]], [[1.0]], [0.0], [[1.0]])
    >>> kalman_filter(walk, [[2.0], [2.0]]).mean.ravel()
    array([1. , 1.6])
    """

    transition: np.ndarray
    transition_noise: np.ndarray
    observation: np.ndarray
    observation_noise: np.ndarray
    initial_mean: np.ndarray
    initial_covariance: np.ndarray

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=float))
        k = self.initial_mean.shape[0] if self.initial_mean.ndim == 1 else -1
        d = self.observation.shape[0] if self.observation.ndim == 2 else -1
        shapes = {
            "transition": (k, k),
            "transition_noise": (k, k),
            "observation": (d, k),
            "observation_noise": (d, d),
            "initial_covariance": (k, k),
        }
        for name, shape in shapes.items():
            actual = getattr(self, name).shape
            if k < 1 or d < 1 or actual != shape:
                raise ValueError(
                    f"The {name!r} of StateSpaceModel must have shape {shape} for a state of "
                    f"length {k} and {d} observed numbers. Got shape {actual}."
                )


class FilteredStates(NamedTuple):
    """Laws of the states given observations.

    Parameters
    ----------
    mean : ndarray of shape (n, k)
        Means.
    covariance : ndarray of shape (n, k, k)
        Covariances.
    log_likelihood : float
        Log density of all observations.
    """

    mean: np.ndarray
    covariance: np.ndarray
    log_likelihood: float


def kalman_filter(model: StateSpaceModel, y: Any) -> FilteredStates:
    r"""Return the law of every state given the observations up to its time.

    Each step predicts, :math:`m^-=Fm`, :math:`P^-=FPF^\top+Q`, and corrects with the gain
    :math:`G=P^-H^\top S^{-1}`, :math:`S=HP^-H^\top+R`: :math:`m=m^-+G(y-Hm^-)` and
    :math:`P=(I-GH)P^-(I-GH)^\top+GRG^\top`, which stays positive semi-definite under rounding.

    Parameters
    ----------
    model : StateSpaceModel
        The model.
    y : array-like of shape (n, d) or (n,)
        Observations; numbers that are NaN were not observed.

    Returns
    -------
    states : FilteredStates
        Means, covariances and the log density of what was observed.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import StateSpaceModel, kalman_filter
    >>> walk = StateSpaceModel([[1.0]], [[1.0]], [[1.0]], [[1.0]], [0.0], [[1.0]])
    >>> kalman_filter(walk, [2.0, np.nan]).covariance.ravel()  # nothing seen: less sure
    array([0.5, 1.5])
    """
    means, covariances, log_likelihood, _, _ = _filter(model, y)
    return FilteredStates(means, covariances, log_likelihood)


def kalman_smoother(model: StateSpaceModel, y: Any) -> FilteredStates:
    r"""Return the law of every state given all observations.

    Backwards from the last filtered state, with :math:`J=PF^\top(P^-)^{-1}`:
    :math:`m^s=m+J(m^s_{t+1}-m^-_{t+1})`, :math:`P^s=P+J(P^s_{t+1}-P^-_{t+1})J^\top`.

    Parameters
    ----------
    model : StateSpaceModel
        The model.
    y : array-like of shape (n, d) or (n,)
        Observations; numbers that are NaN were not observed.

    Returns
    -------
    states : FilteredStates
        Means, covariances and the log density of what was observed.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import StateSpaceModel, kalman_smoother
    >>> walk = StateSpaceModel([[1.0]], [[1.0]], [[1.0]], [[1.0]], [0.0], [[1.0]])
    >>> kalman_smoother(walk, [np.nan, 3.0]).mean.ravel()
    array([1., 2.])
    """
    means, covariances, log_likelihood, before_m, before_P = _filter(model, y)
    F = model.transition
    for t in range(len(means) - 2, -1, -1):
        # A state that is known exactly has a singular law, which the pseudo-inverse can take.
        J = covariances[t] @ F.T @ np.linalg.pinv(before_P[t + 1], hermitian=True)
        means[t] += J @ (means[t + 1] - before_m[t + 1])
        P = covariances[t] + J @ (covariances[t + 1] - before_P[t + 1]) @ J.T
        covariances[t] = (P + P.T) / 2
    return FilteredStates(means, covariances, log_likelihood)


def _filter(model: StateSpaceModel, y: Any) -> tuple[Any, Any, float, Any, Any]:
    F, Q, H, R = (
        model.transition,
        model.transition_noise,
        model.observation,
        model.observation_noise,
    )
    y = np.asarray(y, dtype=float)
    y = y[:, None] if y.ndim == 1 else y
    if y.ndim != 2 or y.shape[1] != len(H) or np.isinf(y).any():
        raise ValueError(
            f"Observations must be rows of {len(H)} numbers, NaN where nothing was seen. Got an "
            f"array of shape {y.shape}{' with infinity' if np.isinf(y).any() else ''}."
        )
    n, k = len(y), len(F)
    means, covariances = np.empty((n, k)), np.empty((n, k, k))
    before_m, before_P = np.empty((n, k)), np.empty((n, k, k))
    m, P, log_likelihood = model.initial_mean, model.initial_covariance, 0.0
    for t in range(n):
        if t:
            m, P = F @ m, F @ P @ F.T + Q
        before_m[t], before_P[t] = m, P
        seen = ~np.isnan(y[t])
        if seen.any():
            Hs, Rs = H[seen], R[np.ix_(seen, seen)]
            S = Hs @ P @ Hs.T + Rs
            sign, log_det = np.linalg.slogdet(S)
            if sign <= 0:
                raise np.linalg.LinAlgError(
                    f"The observation at step {t} has a singular law; give it noise."
                )
            G = np.linalg.solve(S, Hs @ P).T
            error = y[t, seen] - Hs @ m
            log_likelihood -= 0.5 * float(
                error @ np.linalg.solve(S, error) + log_det + len(error) * LOG_2PI
            )
            keep = np.eye(k) - G @ Hs
            m, P = m + G @ error, keep @ P @ keep.T + G @ Rs @ G.T
        means[t], covariances[t] = m, P
    return means, covariances, log_likelihood, before_m, before_P
