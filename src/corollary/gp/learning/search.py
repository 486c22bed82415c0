"""Learning hyper-parameters: type-II maximum likelihood with warm starts on parts of the data.

The evidence of n points costs n^3 operations, that of a quarter of them a sixty-fourth. So the
search (and all its restarts) begins on few points and is carried on with more; the last steps, and
the value reported, belong to all of them. The second derivatives of an evidence grow with the
number of points, so those of one level, estimated by differences, serve the next.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.parallel import one_blas_thread
from corollary.gp.exact.evidence import Observations, evidence_of
from corollary.gp.learning._coordinates import Coordinates
from corollary.gp.learning._maximise import Learnt
from corollary.kernels import Kernel
from corollary.optimize import ascend, difference_curvature

# Levels of the search have a quarter of the points of the next one, and at least this many.
SMALLEST_LEVEL, QUARTER = 250, 4
# Differences of more gradients than this on one level cost as much as a step on the next.
DIFFERENCED = QUARTER**3


@dataclass(frozen=True)
class Search:
    """What is learnt, from where and how far.

    Parameters
    ----------
    kernel : Kernel
        Where the search starts.
    variance : float
        Noise variance to start at, or to keep.
    learn_noise : bool
        Whether the noise variance is learnt.
    low : ndarray of shape (p,)
        Smallest logarithms (or values, of parameters that may be negative) of the kernel's
        parameters and, if it is learnt, of the noise variance.
    high : ndarray of shape (p,)
        Largest ones.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import Search
    >>> from corollary.kernels import RBF
    >>> Search(RBF(), 0.1, True, np.array([-5.0, -9.0]), np.array([5.0, 0.0])).theta.round(3)
    array([ 0.   , -2.303])
    """

    kernel: Kernel
    variance: float
    learn_noise: bool
    low: np.ndarray
    high: np.ndarray

    @property
    def theta(self) -> np.ndarray:
        """Where the search starts, within its bounds."""
        vector = self.kernel.parameters().vector
        if self.learn_noise:
            vector = np.append(vector, np.log(self.variance))
        return np.clip(vector, self.low, self.high)

    def split(self, theta: np.ndarray) -> tuple[Kernel, float]:
        """Return the kernel and noise variance that a vector stands for.

        Parameters
        ----------
        theta : ndarray of shape (p,)
            Parameters of the kernel and, if it is learnt, the log of the noise variance.

        Returns
        -------
        kernel : Kernel
            The kernel.
        variance : float
            The noise variance.
        """
        if not self.learn_noise:
            return self.kernel.with_parameters(theta), self.variance
        return self.kernel.with_parameters(theta[:-1]), float(np.exp(theta[-1]))

    def evidence(self, observations: Observations, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log evidence and its gradient in theta.

        Parameters
        ----------
        observations : Observations
            What was seen.
        theta : ndarray of shape (p,)
            Hyper-parameters.

        Returns
        -------
        value : float
            Log evidence.
        gradient : ndarray of shape (p,)
            Its gradient.
        """
        value, gradient = evidence_of(observations, *self.split(theta), gradient=True)
        return value, gradient if self.learn_noise else gradient[:-1]


def learn_hyperparameters(
    observations: Any,
    search: Any,
    *,
    n_restarts: int = 0,
    max_iter: int = 200,
    tol: float = 1e-7,
    random_state: Any = None,
) -> Learnt:
    """Maximise the evidence over the hyper-parameters.

    Parameters
    ----------
    observations : Observations
        What was seen; anything with points ``X`` and a method ``take`` will do.
    search : Search
        What is learnt, from where and how far; anything with its attributes will do.
    n_restarts : int, default=0
        Random starts besides the first.
    max_iter : int, default=200
        Steps at most, from each start and on each level.
    tol : float, default=1e-7
        Relative improvement of the log evidence below which the search ends.
    random_state : int, RandomState instance or None, default=None
        Determines the random starts and the parts of the data.

    Returns
    -------
    learnt : named tuple
        ``theta``, hyper-parameters on the scale of ``search.theta``; ``value``, the log evidence of
        all observations there; ``n_iter``, steps of the best run; ``converged``, whether that run
        ended by its tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import Observations, Search, learn_hyperparameters
    >>> from corollary.kernels import RBF
    >>> X = np.linspace(0.0, 6.0, 40)[:, None]
    >>> seen = Observations.of(X, np.sin(X.ravel()))
    >>> search = Search(1.0 * RBF(), 1e-4, False, np.full(2, -5.0), np.full(2, 5.0))
    >>> learnt = learn_hyperparameters(seen, search)
    >>> learnt.converged, bool(learnt.value > search.evidence(seen, search.theta)[0])
    (True, True)
    """
    from sklearn.utils import check_random_state

    rng = check_random_state(random_state)
    theta = search.theta
    at = Coordinates.of(search)
    # A factor of twenty either way: wide enough for other modes, rarely on a plateau.
    width = np.minimum(3.0, search.high - search.low)
    starts = [at.from_theta(theta)] + [
        at.from_theta(
            np.clip(theta + width * rng.uniform(-1.0, 1.0, len(theta)), search.low, search.high)
        )
        for _ in range(n_restarts)
    ]
    order = rng.permutation(len(observations.X))
    sizes = [len(order)]
    while sizes[0] > 2 * SMALLEST_LEVEL:
        sizes.insert(0, max(SMALLEST_LEVEL, sizes[0] // QUARTER))
    curvature = None
    with one_blas_thread():
        for size, following in zip(sizes, [*sizes[1:], None]):
            last = following is None
            part = observations if last else observations.take(np.sort(order[:size]))

            def objective(u: np.ndarray, part: Any = part) -> tuple[float, np.ndarray]:
                theta = at.to_theta(u)
                value, gradient = search.evidence(part, theta)
                return value, at.slope(theta) * gradient

            climbs = [
                ascend(
                    objective,
                    start,
                    at.bounds,
                    curvature=curvature,
                    max_iter=max_iter,
                    tol=tol if last else 1e-5,
                )
                for start in starts
            ]
            best = max(climbs, key=lambda climb: climb.value)
            if following is not None:
                curvature_here = best.curvature
                if len(theta) <= DIFFERENCED:
                    curvature_here = difference_curvature(objective, best, at.bounds)
                starts, curvature = [best.theta], curvature_here * (following / size)
    return Learnt(at.to_theta(best.theta), best.value, best.n_iter, best.converged)
