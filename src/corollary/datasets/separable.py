"""Linearly separable data with a known margin, and small sets around the idea of a margin."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.world import World


@dataclass(frozen=True)
class SeparableMargin(World):
    """Points uniform on a ball, outside a slab: every label is right with a prescribed margin.

    With u the unit direction, x is uniform on ``{|x| <= radius, |<u, x>| >= margin}`` and
    ``y = sgn <u, x>``. Draws are exact in any dimension: the component along u has density
    proportional to (radius^2 - t^2)^((d-1)/2) beyond the margin, the rest is uniform on the ball
    that remains.

    Parameters
    ----------
    direction : ndarray of shape (n_features,)
        Normal of the separating hyperplane; normalised inside.
    margin : float, default=0.1
        Smallest distance to the hyperplane, in [0, radius).
    radius : float, default=1.0
        Largest norm.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.datasets import SeparableMargin
    >>> world = SeparableMargin(np.array([0.0, 1.0]), margin=0.3)
    >>> X, y = world.sample(100, random_state=0)
    >>> bool((y * X[:, 1]).min() >= 0.3)
    True
    """

    direction: np.ndarray
    margin: float = 0.1
    radius: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.margin < self.radius:
            raise ValueError(
                "The 'margin' parameter of SeparableMargin must be a float in the range "
                f"[0, radius = {self.radius}). Got {self.margin} instead."
            )

    @property
    def unit(self) -> np.ndarray:
        """The normalised direction."""
        return np.asarray(self.direction, dtype=float) / np.linalg.norm(self.direction)

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows, labels in {-1, +1}."""
        from scipy.stats import beta

        random = check_random_state(random_state)
        d = len(self.direction)
        # (1 + t / radius) / 2 of a point uniform on the ball is Beta((d+1)/2, (d+1)/2).
        law = beta((d + 1) / 2, (d + 1) / 2)
        lowest = law.cdf((1 + self.margin / self.radius) / 2)
        along = law.ppf(random.uniform(lowest, 1.0, size=n_samples))
        along = np.clip(self.radius * (2 * along - 1), self.margin, self.radius)
        y = random.choice([-1, 1], size=n_samples)
        X = np.outer(y * along, self.unit)
        if d > 1:
            rest = random.standard_normal((n_samples, d))
            rest -= np.outer(rest @ self.unit, self.unit)
            rest /= np.linalg.norm(rest, axis=1, keepdims=True)
            size = random.uniform(size=n_samples) ** (1 / (d - 1))
            X += rest * (size * np.sqrt(self.radius**2 - along**2))[:, None]
        # Rounding must not push a point inside the margin.
        short = np.maximum(self.margin - y * (X @ self.unit), 0.0)
        return X + np.outer(y * short * (1 + 1e-12), self.unit), y

    def bayes_rule(self, X: np.ndarray) -> np.ndarray:
        """Return the true label of every row.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            sgn <u, x> with sgn(0) = +1.
        """
        return np.where(X @ self.unit >= 0, 1, -1)

    @property
    def bayes_risk(self) -> float:
        """Zero: the labels are a function of the inputs."""
        return 0.0


class SmallSet(NamedTuple):
    """A handful of labelled points that shows something.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Points.
    y : ndarray of shape (n_samples,)
        Labels in {-1, +1}.
    facts : dict of str to float or bool
        What is known about them in closed form.
    """

    X: np.ndarray
    y: np.ndarray
    facts: dict[str, Any]


def degenerate_pair(which: str) -> SmallSet:
    """Return two points with margin zero, on which the perceptron never stops.

    Separation is through the origin with sgn(0) = +1.

    Parameters
    ----------
    which : {"a", "b", "c"}
        ``"a"``: opposite points, both positive: separable thanks to the tie rule. ``"b"``:
        opposite points, both negative: not separable. ``"c"``: the origin, positive, and a
        negative point: separable.

    Returns
    -------
    points : SmallSet
        With facts ``separable`` and ``margin``.

    Examples
    --------
    >>> from corollary.datasets import degenerate_pair
    >>> degenerate_pair("b").facts["separable"]
    False
    """
    pairs = {
        "a": ([[0.0, 1.0], [0.0, -1.0]], [1, 1], True),
        "b": ([[0.0, 1.0], [0.0, -1.0]], [-1, -1], False),
        "c": ([[0.0, 0.0], [0.0, 1.0]], [1, -1], True),
    }
    if which not in pairs:
        raise ValueError(
            "The 'which' parameter of degenerate_pair must be one of 'a', 'b', 'c'. "
            f"Got {which!r} instead."
        )
    X, y, separable = pairs[which]
    return SmallSet(np.array(X), np.array(y), {"separable": separable, "margin": 0.0})


def unsigned_margin(height: float = 0.1) -> SmallSet:
    """Return two positive points far from a line that does not separate them correctly.

    The points (1, h) and (-1, h), both positive, have margin h, but the line x_1 = 0 is at
    distance 1 from both: leaving out the sign would overstate the margin.

    Parameters
    ----------
    height : float, default=0.1
        h, in (0, 1).

    Returns
    -------
    points : SmallSet
        With facts ``margin`` and ``unsigned_margin``.

    Examples
    --------
    >>> from corollary.datasets import unsigned_margin
    >>> unsigned_margin(0.2).facts
    {'margin': 0.2, 'unsigned_margin': 1.0}
    """
    if not 0 < height < 1:
        raise ValueError(
            "The 'height' parameter of unsigned_margin must be a float in the range (0.0, 1.0). "
            f"Got {height} instead."
        )
    X = np.array([[1.0, height], [-1.0, height]])
    return SmallSet(X, np.array([1, 1]), {"margin": height, "unsigned_margin": 1.0})


def perceptron_not_max_margin(depth: float = 0.1) -> SmallSet:
    """Return two points on which the perceptron stops far from the largest margin.

    For ((0, 1), +) and ((1, -a), -) the perceptron stops after one update at w = (0, 1) with
    margin a; the best margin is 1 / sqrt(1 + (1 - a)^2), attained at w = (a - 1, 1).

    Parameters
    ----------
    depth : float, default=0.1
        a, in (0, 1).

    Returns
    -------
    points : SmallSet
        With facts ``perceptron_margin``, ``margin`` and ``best_direction``.

    Examples
    --------
    >>> from corollary.datasets import perceptron_not_max_margin
    >>> facts = perceptron_not_max_margin(0.01).facts
    >>> facts["perceptron_margin"], round(facts["margin"], 3)
    (0.01, 0.711)
    """
    if not 0 < depth < 1:
        raise ValueError(
            "The 'depth' parameter of perceptron_not_max_margin must be a float in the range "
            f"(0.0, 1.0). Got {depth} instead."
        )
    facts = {
        "perceptron_margin": depth,
        "margin": float(1 / np.sqrt(1 + (1 - depth) ** 2)),
        "best_direction": (depth - 1, 1.0),
    }
    return SmallSet(np.array([[0.0, 1.0], [1.0, -depth]]), np.array([1, -1]), facts)
