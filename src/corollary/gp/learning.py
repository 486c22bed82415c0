"""Learning hyper-parameters: type-II maximum likelihood with warm starts on parts of the data.

The evidence of n points costs n^3 operations, that of a quarter of them a sixty-fourth. So the
search (and all its restarts) begins on few points and is carried on with more; the last steps, and
the value reported, belong to all of them. The second derivatives of an evidence grow with the
number of points, so those of one level, estimated by differences, serve the next.

Length scales are searched in the coordinate ``log(reference / length_scale + 0.03)``. For features
that matter it is the logarithm; a feature that does not matter has its best length scale at
infinity, which this coordinate puts at a finite distance.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from corollary.core.blas import one_blas_thread
from corollary.gp.ascent import ascend, estimate_curvature
from corollary.gp.evidence import Observations, evidence_of
from corollary.kernels import Kernel

# Share of the reference below which an inverse length scale counts as zero.
FLOOR = 0.03
# Levels of the search have a quarter of the points of the next one, and at least this many.
SMALLEST_LEVEL, QUARTER = 250, 4
# Differences of more gradients than this on one level cost as much as a step on the next.
DIFFERENCED = QUARTER**3


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
    window: int = 1,
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
        Improvement in one step below which a run ends, relative to the value if that is more than
        one.
    window : int, default=1
        Number of steps whose mean improvement is compared.

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
            callback=_watch(window, tol) if window > 1 else None,
            options={
                "maxiter": max_iter,
                "ftol": tol if window == 1 else 1e-14,
                "gtol": 1e-5 if window == 1 else 0.03 * tol,
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


def _watch(window: int, tol: float) -> Any:
    """Return a callback that ends a run when the last steps together improved too little."""
    values: list[float] = []

    def watch(intermediate_result: Any) -> None:
        values.append(float(intermediate_result.fun))
        past = values[-1 - window :]
        if len(past) > window and past[0] - past[-1] <= window * tol * max(1.0, abs(past[-1])):
            raise StopIteration

    return watch


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


@dataclass(frozen=True)
class Coordinates:
    """The coordinates in which hyper-parameters are searched.

    Parameters
    ----------
    reference : ndarray of shape (p,)
        Where the search starts.
    scales : ndarray of shape (p,), dtype=bool
        Which numbers are logarithms of length scales.
    low : ndarray of shape (p,)
        Smallest values.
    high : ndarray of shape (p,)
        Largest values.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import Coordinates, Search
    >>> from corollary.kernels import RBF
    >>> search = Search(RBF(2.0), 0.1, True, np.array([-5.0, -9.0]), np.array([5.0, 0.0]))
    >>> at = Coordinates.of(search)
    >>> bool(np.allclose(at.to_theta(at.from_theta(search.theta)), search.theta))
    True
    """

    reference: np.ndarray
    scales: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, search: Any) -> Self:
        """Return the coordinates for a search.

        Parameters
        ----------
        search : Search
            What is learnt; anything with its attributes will do.

        Returns
        -------
        coordinates : Coordinates
            Around its start.
        """
        names = search.kernel.parameters().names
        scales = ["length_scale" in name for name in names] + [False] * search.learn_noise
        return cls(search.theta, np.array(scales, dtype=bool), search.low, search.high)

    @property
    def bounds(self) -> np.ndarray:
        """Bounds of the coordinates, of shape (p, 2)."""
        ends = self.from_theta(self.low), self.from_theta(self.high)
        return np.stack([np.minimum(*ends), np.maximum(*ends)], axis=1)

    def from_theta(self, theta: np.ndarray) -> np.ndarray:
        """Return the coordinates of hyper-parameters.

        Parameters
        ----------
        theta : ndarray of shape (p,)
            Hyper-parameters, positive ones as logarithms.

        Returns
        -------
        u : ndarray of shape (p,)
            Coordinates.
        """
        return np.where(self.scales, np.log(np.exp(self.reference - theta) + FLOOR), theta)

    def to_theta(self, u: np.ndarray) -> np.ndarray:
        """Return the hyper-parameters of coordinates, within their bounds.

        Parameters
        ----------
        u : ndarray of shape (p,)
            Coordinates.

        Returns
        -------
        theta : ndarray of shape (p,)
            Hyper-parameters.
        """
        ratio = np.maximum(np.exp(np.where(self.scales, u, 0.0)) - FLOOR, 1e-300)
        theta = np.where(self.scales, self.reference - np.log(ratio), u)
        return np.clip(theta, self.low, self.high)

    def slope(self, theta: np.ndarray) -> np.ndarray:
        """Return the derivatives of hyper-parameters in their coordinates.

        Parameters
        ----------
        theta : ndarray of shape (p,)
            Hyper-parameters.

        Returns
        -------
        slope : ndarray of shape (p,)
            One for each.
        """
        # -(ratio + FLOOR) / ratio for length scales
        change = -(1.0 + FLOOR * np.exp(np.where(self.scales, theta - self.reference, 0.0)))
        return np.where(self.scales, change, 1.0)


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
                known = best.curvature
                if len(theta) <= DIFFERENCED:
                    known = estimate_curvature(objective, best, at.bounds)
                starts, curvature = [best.theta], known * (following / size)
    return Learnt(at.to_theta(best.theta), best.value, best.n_iter, best.converged)
