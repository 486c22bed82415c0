"""Labels that no straight line separates, but a feature map or a kernel does."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.world import World
from corollary.kernels import monomial_map


@dataclass(frozen=True)
class Circle(World):
    """Points uniform on a square, labelled +1 outside the unit circle and on it.

    The degree-2 monomials separate them exactly: see :attr:`separator`.

    Parameters
    ----------
    half_width : float, default=2.0
        The square is [-half_width, half_width]^2.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.datasets import Circle
    >>> from corollary.kernels import monomial_map
    >>> world = Circle()
    >>> X, y = world.sample(50, random_state=0)
    >>> bool(np.array_equal(np.where(monomial_map(X, 2) @ world.separator >= 0, 1, -1), y))
    True
    """

    half_width: float = 2.0

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows, labels in {-1, +1}."""
        random = check_random_state(random_state)
        X = random.uniform(-self.half_width, self.half_width, size=(n_samples, 2))
        return X, self.bayes_rule(X)

    def bayes_rule(self, X: np.ndarray) -> np.ndarray:
        """Return the true label of every row.

        Parameters
        ----------
        X : ndarray of shape (n_samples, 2)
            Inputs.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            +1 where the norm is at least 1.
        """
        return np.where(monomial_map(X, 2) @ self.separator >= 0, 1, -1)

    @property
    def separator(self) -> np.ndarray:
        """Weights of the monomials 1, x1, x2, x1^2, x1 x2, x2^2 whose sign is the label."""
        return np.array([-1.0, 0.0, 0.0, 1.0, 0.0, 1.0])


@dataclass(frozen=True)
class Xor(World):
    """Two noisy bits, labelled by whether they agree in sign.

    Parameters
    ----------
    spread : float, default=0.2
        Standard deviation around the four corners (+-1, +-1); 0 gives the corners themselves.

    Examples
    --------
    >>> from corollary.datasets import Xor
    >>> X, y = Xor(spread=0.0).sample(6, random_state=0)
    >>> bool((X[:, 0] * X[:, 1] == y).all())
    True
    """

    spread: float = 0.2

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows, labels in {-1, +1}."""
        random = check_random_state(random_state)
        corners = random.choice([-1.0, 1.0], size=(n_samples, 2))
        X = corners + self.spread * random.standard_normal((n_samples, 2))
        return X, (corners[:, 0] * corners[:, 1]).astype(int)


@dataclass(frozen=True)
class Rings(World):
    """Two concentric rings: -1 inside, +1 outside.

    Parameters
    ----------
    inner : float, default=1.0
        Radius of the inner ring.
    outer : float, default=2.0
        Radius of the outer ring.
    spread : float, default=0.1
        Standard deviation of the radius.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.datasets import Rings
    >>> X, y = Rings(spread=0.0).sample(8, random_state=0)
    >>> bool(np.allclose(np.linalg.norm(X, axis=1), np.where(y > 0, 2, 1)))
    True
    """

    inner: float = 1.0
    outer: float = 2.0
    spread: float = 0.1

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows, labels in {-1, +1}."""
        random = check_random_state(random_state)
        y = random.choice([-1, 1], size=n_samples)
        angle = random.uniform(0, 2 * np.pi, size=n_samples)
        radius = np.where(y > 0, self.outer, self.inner)
        radius = radius + self.spread * random.standard_normal(n_samples)
        return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y
