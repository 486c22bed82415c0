"""Correlation without causation: three structural models in which X predicts Y.

Each world draws (X, Y) by its mechanism and can also draw Y after an intervention do(X = x),
which cuts the arrows into X. Correlation is the same kind of number in all three; what an
intervention does differs, and no sample of (X, Y) alone can tell.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.world import World


@dataclass(frozen=True)
class ReverseCausation(World):
    """Y causes X: Y ~ N(0, 1), X = effect * Y + noise * e.

    Parameters
    ----------
    effect : float, default=1.0
        Strength of the arrow from Y to X.
    noise : float, default=1.0
        Standard deviation of what else moves X.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.datasets import ReverseCausation
    >>> world = ReverseCausation()
    >>> X, y = world.sample(2000, random_state=0)
    >>> bool(np.corrcoef(X[:, 0], y)[0, 1] > 0.6)
    True
    >>> bool(abs(world.intervene(5.0, 2000, random_state=0).mean()) < 0.1)
    True
    """

    effect: float = 1.0
    noise: float = 1.0

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows."""
        random = check_random_state(random_state)
        y = random.standard_normal(n_samples)
        return (self.effect * y + self.noise * random.standard_normal(n_samples))[:, None], y

    def intervene(self, x: float, n_samples: int, random_state: Any = None) -> np.ndarray:
        """Draw Y after setting X; setting an effect does not move its cause.

        Parameters
        ----------
        x : float
            Value that X is set to.
        n_samples : int
            How many draws.
        random_state : int, RandomState instance or None, default=None
            Seed or generator.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Draws of Y under do(X = x).
        """
        return check_random_state(random_state).standard_normal(n_samples)


@dataclass(frozen=True)
class Confounded(World):
    """Z causes both: X = effect * Z + noise * e, Y = effect * Z + noise * e'.

    Parameters
    ----------
    effect : float, default=1.0
        Strength of the arrows from Z.
    noise : float, default=1.0
        Standard deviation of what else moves X and Y.

    Examples
    --------
    >>> from corollary.datasets import Confounded, partial_correlation
    >>> X, y, z = Confounded().sample_all(4000, random_state=0)
    >>> bool(abs(partial_correlation(X[:, 0], y, z)) < 0.05)
    True
    """

    effect: float = 1.0
    noise: float = 1.0

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows, without the confounder."""
        return self.sample_all(n_samples, random_state)[:2]

    def sample_all(
        self, n_samples: int, random_state: Any = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw independent rows together with the confounder.

        Parameters
        ----------
        n_samples : int
            How many.
        random_state : int, RandomState instance or None, default=None
            Seed or generator.

        Returns
        -------
        X : ndarray of shape (n_samples, 1)
            Inputs.
        y : ndarray of shape (n_samples,)
            Outputs.
        z : ndarray of shape (n_samples,)
            The common cause.
        """
        random = check_random_state(random_state)
        z, e, f = random.standard_normal((3, n_samples))
        return (self.effect * z + self.noise * e)[:, None], self.effect * z + self.noise * f, z

    def intervene(self, x: float, n_samples: int, random_state: Any = None) -> np.ndarray:
        """Draw Y after setting X, which leaves the common cause alone.

        Parameters
        ----------
        x : float
            Value that X is set to.
        n_samples : int
            How many draws.
        random_state : int, RandomState instance or None, default=None
            Seed or generator.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Draws of Y under do(X = x).
        """
        return self.sample(n_samples, random_state)[1]


@dataclass(frozen=True)
class Feedback(World):
    """X and Y cause each other: the equilibrium of X = a Y + e, Y = a X + e'.

    Parameters
    ----------
    effect : float, default=0.5
        Strength a of both arrows, in (-1, 1) so that the equilibrium exists.
    noise : float, default=1.0
        Standard deviation of what else moves X and Y.

    Examples
    --------
    >>> from corollary.datasets import Feedback
    >>> world = Feedback(effect=0.5)
    >>> round(world.slope, 3)
    0.8
    >>> bool(abs(world.intervene(2.0, 4000, random_state=0).mean() - 1.0) < 0.1)
    True
    """

    effect: float = 0.5
    noise: float = 1.0

    def __post_init__(self) -> None:
        if not -1 < self.effect < 1:
            raise ValueError(
                "The 'effect' parameter of Feedback must be a float in the range (-1.0, 1.0). "
                f"Got {self.effect} instead."
            )

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent equilibria."""
        random = check_random_state(random_state)
        e, f = self.noise * random.standard_normal((2, n_samples))
        scale = 1 - self.effect**2
        return ((e + self.effect * f) / scale)[:, None], (f + self.effect * e) / scale

    @property
    def slope(self) -> float:
        """Slope of the regression of Y on X: 2a / (1 + a^2), not the causal effect a."""
        return 2 * self.effect / (1 + self.effect**2)

    def intervene(self, x: float, n_samples: int, random_state: Any = None) -> np.ndarray:
        """Draw Y after setting X: only the arrow from X to Y is left.

        Parameters
        ----------
        x : float
            Value that X is set to.
        n_samples : int
            How many draws.
        random_state : int, RandomState instance or None, default=None
            Seed or generator.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Draws of Y under do(X = x).
        """
        random = check_random_state(random_state)
        return self.effect * x + self.noise * random.standard_normal(n_samples)


def partial_correlation(x: np.ndarray, y: np.ndarray, given: np.ndarray) -> float:
    """Return the correlation of two variables after removing a third by linear regression.

    Parameters
    ----------
    x : ndarray of shape (n_samples,)
        First variable.
    y : ndarray of shape (n_samples,)
        Second variable.
    given : ndarray of shape (n_samples,)
        The variable held fixed.

    Returns
    -------
    correlation : float
        In [-1, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.datasets import partial_correlation
    >>> z = np.array([0.0, 1.0, 2.0, 3.0])
    >>> e = np.array([1.0, -1.0, -1.0, 1.0])
    >>> round(partial_correlation(z + e, z - e, z), 6)
    -1.0
    """
    design = np.column_stack([np.ones(len(given)), given])
    rest = [v - design @ np.linalg.lstsq(design, v, rcond=None)[0] for v in (x, y)]
    return float(np.corrcoef(*rest)[0, 1])
