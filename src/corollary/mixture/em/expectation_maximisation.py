"""Expectation-maximisation of any model with a finite latent variable."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corollary.mixture.em.evidence import free_energy, latent_posterior, log_evidence
from corollary.optimize import Info, Iteration, Stop, iterate

#: By how much, relative to its size, rounding may lower the free energy.
_ROUNDING = 1e-9


class LatentModel(ABC):
    """A model of rows with a finite latent variable each: draw z, then x given z.

    Subclasses write three methods. Parameters are one object of any kind, and X has a row for each
    sample. The identities of EM are functions of two arrays of shape (n_samples, n_states):
    ``log_joint`` holds the logarithms of p(x, z) of every row and state, minus infinity where it is
    zero, and ``q`` a law of the latent variable for every row, non-negative numbers of sum one.

    Examples
    --------
    Two coins of known bias; a row is one toss, the latent variable the coin, the parameter how
    often each is taken.

    >>> import numpy as np
    >>> from corollary.mixture import LatentModel, expectation_maximisation
    >>> class TwoCoins(LatentModel):
    ...     def log_joint(self, X, parameters):
    ...         return np.log(np.where(X == 1, [0.9, 0.2], [0.1, 0.8]) * parameters)
    ...     def maximise(self, X, q, parameters):
    ...         return q.mean(axis=0)
    ...     def sample(self, n_samples, parameters, random_state=None):
    ...         raise NotImplementedError
    >>> X = np.array([[1.0]] * 55 + [[0.0]] * 45)
    >>> run = expectation_maximisation(TwoCoins(), X, np.array([0.9, 0.1]), tol=1e-12)
    >>> run.state.parameters.round(3)  # 0.9 p + 0.2 (1 - p) = 0.55
    array([0.5, 0.5])
    """

    @abstractmethod
    def log_joint(self, X: np.ndarray, parameters: Any) -> np.ndarray:
        """Return the log joint density of every row and state. See :class:`LatentModel`."""

    @abstractmethod
    def maximise(self, X: np.ndarray, q: np.ndarray, parameters: Any) -> Any:
        """Return parameters whose expected complete log-likelihood is largest, the M-step.

        Any that do not lower it will do: that is a generalised M-step. See :class:`LatentModel`.
        """

    @abstractmethod
    def sample(
        self, n_samples: int, parameters: Any, random_state: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return rows, and the states that they were drawn from. See :class:`LatentModel`."""

    def log_likelihood(self, X: Any, parameters: Any) -> float:
        """Return the log density of all rows, latent variables summed out.

        See :class:`LatentModel`.
        """
        return float(log_evidence(self.log_joint(np.asarray(X, dtype=float), parameters)).sum())


class EMState(NamedTuple):
    """Parameters, laws of the latent variables, their free energy, and the next E-step's row."""

    parameters: Any
    q: np.ndarray
    free_energy: float
    row: int = 0


@dataclass(frozen=True)
class ExpectationMaximisation(Iteration[EMState]):
    """E-steps and M-steps in turn, as an iteration.

    Parameters
    ----------
    model : LatentModel
        The model.
    X : ndarray of shape (n_samples, n_features)
        Rows.
    rows : int or None, default=None
        Rows whose posterior an E-step refreshes, in turn: a partial E-step, after which the M-step
        already uses them. None for all rows.

    Notes
    -----
    The value of a step is the free energy after its M-step. After a full E-step the free energy is
    the log-likelihood of the parameters before. A step that lowers it is an error of ``maximise``
    and raises.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import ExpectationMaximisation, GaussianLatentModel, MixtureLaw
    >>> from corollary.optimize import iterate
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> start = MixtureLaw([0.5, 0.5], [[-1.0], [1.0]], [[[1.0]], [[1.0]]])
    >>> em = ExpectationMaximisation(GaussianLatentModel(floor=0.1), X)
    >>> run = iterate(em, start, max_iter=20)
    >>> run.state.parameters.means.round(2).ravel()
    array([-1.5,  1.5])
    """

    model: LatentModel
    X: np.ndarray
    rows: int | None = None

    def init(self, start: Any) -> EMState:
        """Return the first parameters with the posterior under them."""
        joint = self.model.log_joint(self.X, start)
        return EMState(start, latent_posterior(joint), float(log_evidence(joint).sum()))

    def step(self, state: EMState) -> tuple[EMState, Info]:
        """Take an E-step and an M-step."""
        n = len(self.X)
        size = n if self.rows is None else min(self.rows, n)
        places = np.arange(state.row, state.row + size) % n
        q = state.q.copy()
        q[places] = latent_posterior(self.model.log_joint(self.X[places], state.parameters))
        parameters = self.model.maximise(self.X, q, state.parameters)
        value = free_energy(q, self.model.log_joint(self.X, parameters))
        if value < state.free_energy - _ROUNDING * max(1.0, abs(value)):
            raise ValueError(
                f"{type(self.model).__name__}.maximise must return parameters that do not lower "
                f"the free energy. Got {value:.10g} after {state.free_energy:.10g}; return the "
                "present parameters if there are none better."
            )
        return EMState(parameters, q, value, int(state.row + size) % n), Info(value=value)


def expectation_maximisation(
    model: LatentModel,
    X: Any,
    start: Any,
    *,
    rows: int | None = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
) -> Any:
    """Run EM until the free energy rises by no more than a tolerance.

    See :class:`ExpectationMaximisation` for ``model``, ``X`` and ``rows``. The ``start`` are first
    parameters, ``tol`` is the change of the free energy that ends the run, ``max_iter`` the largest
    number of steps.

    Returns
    -------
    run : Run
        Its state has ``parameters``, the laws ``q`` and their ``free_energy``, of which
        ``run.history.value`` has every step; it never falls. The end is a stationary point, not
        always the best one.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import GaussianLatentModel, MixtureLaw, expectation_maximisation
    >>> X = np.random.default_rng(0).normal(size=(50, 1)) + np.repeat([[-3.0], [3.0]], 25, axis=0)
    >>> start = MixtureLaw([0.5, 0.5], [[-1.0], [1.0]], [[[1.0]], [[1.0]]])
    >>> run = expectation_maximisation(GaussianLatentModel(), X, start)
    >>> run.status, bool((np.diff(run.history.value) > -1e-9).all())
    ('converged', True)
    """
    method = ExpectationMaximisation(model, np.asarray(X, dtype=float), rows)
    return iterate(method, start, stop=Stop(value=tol), max_iter=max_iter, description="maximising")
