"""Learning hyper-parameters: type-II maximum likelihood with warm starts on parts of the data.

The evidence of n points costs n^3 operations, that of a quarter of them a sixty-fourth. So the
search (and all its restarts) begins on few points and is carried on with more; the last steps, and
the value reported, belong to all of them.

Length scales are searched in the coordinate ``log(reference / length_scale + 0.03)``. For features
that matter it is the logarithm; a feature that does not matter has its best length scale at
infinity, which this coordinate puts at a finite distance.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corollary.core.blas import one_blas_thread
from corollary.gp.evidence import Observations, evidence_of
from corollary.kernels import Kernel

# Share of the reference below which an inverse length scale counts as zero.
FLOOR = 0.03
# Levels of the search have a quarter of the points of the next one, and at least this many.
SMALLEST_LEVEL, QUARTER = 250, 4


class Learnt(NamedTuple):
    """Hyper-parameters that maximise the evidence.

    Parameters
    ----------
    theta : ndarray of shape (p,)
        The maximiser, on the scale that was searched.
    value : float
        The log evidence there.
    n_iter : int
        Steps of the best run.
    converged : bool
        Whether that run ended by its tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import Learnt
    >>> Learnt(np.zeros(1), -1.0, 3, True).converged
    True
    """

    theta: np.ndarray
    value: float
    n_iter: int
    converged: bool


def maximise(
    objective: Any,
    starts: list[np.ndarray],
    bounds: np.ndarray,
    *,
    max_iter: int = 200,
    tol: float = 1e-7,
) -> Learnt:
    """Maximise a log evidence by L-BFGS from several starts.

    Parameters
    ----------
    objective : callable
        ``objective(theta)`` returns a value and its gradient.
    starts : list of ndarray of shape (p,)
        Where to start.
    bounds : ndarray of shape (p, 2)
        Smallest and largest values.
    max_iter : int, default=200
        Steps from each start at most.
    tol : float, default=1e-7
        Relative improvement below which a run ends.

    Returns
    -------
    learnt : Learnt
        The best maximum found.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import maximise
    >>> peak = lambda t: (-float(((t - 1.0) ** 2).sum()), -2.0 * (t - 1.0))
    >>> maximise(peak, [np.zeros(2)], np.array([[-5.0, 5.0], [-5.0, 5.0]])).theta.round(6)
    array([1., 1.])
    """
    from scipy.optimize import minimize

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        try:
            value, gradient = objective(theta)
        except np.linalg.LinAlgError:
            # A corner where no factorisation exists: the line search turns back.
            return 1e25, np.zeros_like(theta)
        return -value, -gradient

    best: Learnt | None = None
    for start in starts:
        found = minimize(
            loss,
            np.clip(start, bounds[:, 0], bounds[:, 1]),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={
                "maxiter": max_iter,
                "ftol": tol,
                "gtol": 1e-5,
                "maxcor": 20,
                "maxfun": 15 * max_iter,
            },
        )
        # Status 2 is a line search that found nothing better: as good as it gets.
        run = Learnt(found.x, -float(found.fun), int(found.nit), found.status != 1)
        if best is None or run.value > best.value:
            best = run
    assert best is not None
    return best


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
    learnt : Learnt
        Hyper-parameters, on the scale of ``search.theta``, and the evidence of all observations.

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
    names = search.kernel.parameters().names
    scales = np.array(["length_scale" in name for name in names] + [False] * search.learn_noise)

    def coordinates(theta: np.ndarray) -> np.ndarray:
        shifted = np.log(np.exp(reference - theta) + FLOOR)
        return np.where(scales, shifted, theta)

    def parameters(u: np.ndarray) -> np.ndarray:
        ratio = np.maximum(np.exp(np.where(scales, u, 0.0)) - FLOOR, 1e-300)
        return np.where(scales, reference - np.log(ratio), u)

    reference = theta.copy()
    ends = coordinates(search.low), coordinates(search.high)
    bounds = np.stack([np.minimum(*ends), np.maximum(*ends)], axis=1)
    # A factor of twenty either way: wide enough for other modes, rarely on a plateau.
    width = np.minimum(3.0, search.high - search.low)
    starts = [coordinates(theta)] + [
        coordinates(
            np.clip(theta + width * rng.uniform(-1.0, 1.0, len(theta)), search.low, search.high)
        )
        for _ in range(n_restarts)
    ]
    order = rng.permutation(len(observations.X))
    sizes = [len(order)]
    while sizes[0] // QUARTER >= SMALLEST_LEVEL:
        sizes.insert(0, sizes[0] // QUARTER)
    with one_blas_thread():
        for size in sizes:
            last = size == len(order)
            part = observations if last else observations.take(np.sort(order[:size]))

            def objective(u: np.ndarray, part: Any = part) -> tuple[float, np.ndarray]:
                theta = np.clip(parameters(u), search.low, search.high)
                value, gradient = search.evidence(part, theta)
                # d theta / d u = -(ratio + FLOOR) / ratio for length scales
                change = -(1.0 + FLOOR * np.exp(np.where(scales, theta - reference, 0.0)))
                return value, np.where(scales, change, 1.0) * gradient

            learnt = maximise(
                objective, starts, bounds, max_iter=max_iter, tol=tol if last else 1e-5
            )
            starts = [learnt.theta]
    return learnt._replace(theta=np.clip(parameters(learnt.theta), search.low, search.high))
