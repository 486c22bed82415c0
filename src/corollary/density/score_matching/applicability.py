"""Whether score matching applies: a density, a smooth one, and none that jumps.

Score matching compares gradients of log densities on the whole space. Rows in a plane have no
density; features need two derivatives; and a law on part of the space whose density does not
vanish at the border breaks the identity that the method rests on.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from corollary.core.summary import Moments
from corollary.risk import check_weights

#: Singular values below this share of the largest one, after scaling columns, count as zero.
_FLAT = 1e-10
#: Of rows within a share a of a column's range of its border a smooth density that vanishes there
#: has about a squared; a share above a third of a is a jump.
_STRIP, _JUMP = 0.05, 1 / 3


class Obstacle(Enum):
    """What stands in the way of score matching.

    Examples
    --------
    >>> from corollary.density import Obstacle, check_score_matching
    >>> check_score_matching([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]).obstacles == (Obstacle.PLANE,)
    True
    """

    PLANE = "the rows lie in a plane, where no density exists: project them, or add noise"
    JUMP = "the density does not vanish at the border of its support: boundary terms remain"
    DERIVATIVES = "a feature has no finite second derivatives at a row"


@dataclass(frozen=True)
class Applicability:
    """What is known about rows that a score is to be matched to.

    Parameters
    ----------
    n_features, rank : int
        Columns, and the dimension of the plane through the rows.
    derivatives : int
        Order of the derivatives that the loss needs: 2 of the log density; gradients of the loss
        by parameters of a potential need a third.
    obstacles : tuple of Obstacle
        What stands in the way; empty if nothing was found.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.density import Applicability, check_score_matching
    >>> found = check_score_matching(np.random.default_rng(0).normal(size=(50, 2)))
    >>> isinstance(found, Applicability), found.rank, found.applies
    (True, 2, True)
    """

    n_features: int
    rank: int
    derivatives: int
    obstacles: tuple[Obstacle, ...]

    @property
    def applies(self) -> bool:
        """Whether nothing was found that stands in the way."""
        return not self.obstacles

    def require(self, who: str) -> None:
        """Raise a ValueError that says what stands in the way, if something does.

        Parameters
        ----------
        who : str
            Who asks, for the message.
        """
        if self.obstacles:
            reasons = "; ".join(obstacle.value for obstacle in self.obstacles)
            raise ValueError(f"{who} cannot match scores: {reasons}.")


def check_score_matching(
    X: Any, *, features: Any = None, support: Any = None, sample_weight: Any = None
) -> Applicability:
    """Look for what stands in the way of score matching.

    A test by rows cannot prove that a density is smooth.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    features : callable or None, default=None
        Features of one row, as for :func:`fit_exponential_family`, whose derivatives are looked at.
    support : sequence of (float, float) or None, default=None
        Lower and upper limit of each column, infinite where there is none; None if all numbers are
        possible. At a finite limit the share of rows in the last twentieth of the range is compared
        with what a density that vanishes there would have.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.density import check_score_matching
    >>> X = np.random.default_rng(0).exponential(size=(1000, 1))
    >>> check_score_matching(X, support=[(0.0, np.inf)]).obstacles[0].name
    'JUMP'
    """
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or not len(X) or not np.isfinite(X).all():
        raise ValueError(f"check_score_matching needs rows of finite numbers. Got {X.shape}.")
    weight = check_weights("check_score_matching", sample_weight, len(X))
    covariance = Moments.of_columns([X], weight).covariance()
    # A column whose spread is below the rounding of its values is constant.
    spread = np.sqrt(np.diag(covariance))
    moving = spread > 1e-13 * np.abs(X).max(axis=0)
    scaled = covariance[np.ix_(moving, moving)] / np.outer(spread[moving], spread[moving])
    values = np.linalg.eigvalsh(scaled)
    rank = int((values > _FLAT).sum())
    obstacles = []
    if rank < X.shape[1]:
        obstacles.append(Obstacle.PLANE)
    if support is not None and _jumps(X, weight, support):
        obstacles.append(Obstacle.JUMP)
    if features is not None and not _smooth(features, X):
        obstacles.append(Obstacle.DERIVATIVES)
    return Applicability(X.shape[1], rank, 2, tuple(obstacles))


def _jumps(X: np.ndarray, weight: Any, support: Any) -> bool:
    """Say whether rows crowd at a finite limit of a column."""
    for column, (low, high) in zip(X.T, support, strict=True):
        for limit in (low, high):
            if np.isfinite(limit):
                # The range is measured from the limit to the farthest quartile.
                away = np.abs(column - limit)
                near = away < _STRIP * np.quantile(away, 0.75)
                if np.average(near, weights=weight) > _STRIP * _JUMP:
                    return True
    return False


def _smooth(features: Any, X: np.ndarray) -> bool:
    """Say whether first and second derivatives of features are finite at the rows."""
    from corollary.density.score_matching.exponential import feature_derivatives

    J, laplacian = feature_derivatives(features, X)
    return bool(np.isfinite(J).all() and np.isfinite(laplacian).all())
