"""Families of regression tasks, for learning to learn."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.world import World


@dataclass(frozen=True)
class Sinusoid(World):
    """One task: y = amplitude * sin(x + phase) with x uniform on [-5, 5], no noise.

    Parameters
    ----------
    amplitude : float
        A.
    phase : float
        phi.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.datasets import Sinusoid
    >>> Sinusoid(2.0, np.pi / 2).bayes_rule(np.array([[0.0]]))
    array([2.])
    """

    amplitude: float
    phase: float

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows."""
        X = check_random_state(random_state).uniform(-5, 5, size=(n_samples, 1))
        return X, self.bayes_rule(X)

    def bayes_rule(self, X: np.ndarray) -> np.ndarray:
        """Return the task's function.

        Parameters
        ----------
        X : ndarray of shape (n_samples, 1)
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            A sin(x + phi).
        """
        return self.amplitude * np.sin(X[:, 0] + self.phase)

    @property
    def bayes_risk(self) -> float:
        """Zero: there is no noise."""
        return 0.0


@dataclass(frozen=True)
class SinusoidTasks:
    """Tasks with amplitude uniform on [0.1, 5] and phase uniform on [0, pi].

    A predictor that does not know the task can do no better than ``mean_function``.

    Parameters
    ----------
    low : float, default=0.1
        Smallest amplitude.
    high : float, default=5.0
        Largest amplitude.

    Examples
    --------
    >>> from corollary.datasets import SinusoidTasks
    >>> tasks = SinusoidTasks()
    >>> round(tasks.risk_without_task, 4), round(tasks.risk_of_zero, 4)
    (3.0057, 4.2517)
    """

    low: float = 0.1
    high: float = 5.0

    def draw(self, n_tasks: int, random_state: Any = None) -> list[Sinusoid]:
        """Draw independent tasks.

        Parameters
        ----------
        n_tasks : int
            How many.
        random_state : int, RandomState instance or None, default=None
            Seed or generator.

        Returns
        -------
        tasks : list of Sinusoid
            The tasks.
        """
        random = check_random_state(random_state)
        amplitudes = random.uniform(self.low, self.high, size=n_tasks)
        phases = random.uniform(0, np.pi, size=n_tasks)
        return [Sinusoid(float(a), float(p)) for a, p in zip(amplitudes, phases)]

    def mean_function(self, X: np.ndarray) -> np.ndarray:
        """Return the best prediction without knowledge of the task, E[A] (2 / pi) cos x.

        Parameters
        ----------
        X : ndarray of shape (n_samples, 1)
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Mean over tasks.
        """
        return (self.low + self.high) / np.pi * np.cos(X[:, 0])

    @property
    def risk_of_zero(self) -> float:
        """Mean square error of the prediction 0, over tasks and inputs."""
        # E[sin^2(x + phi)] = 1/2 because the phase covers half a period uniformly.
        return self._mean_square_amplitude / 2

    @property
    def risk_without_task(self) -> float:
        """Mean square error of :meth:`mean_function`."""
        mean_cos_squared = 0.5 + np.sin(10.0) / 20.0
        return float(self.risk_of_zero - ((self.low + self.high) / np.pi) ** 2 * mean_cos_squared)

    @property
    def _mean_square_amplitude(self) -> float:
        return (self.low**2 + self.low * self.high + self.high**2) / 3
