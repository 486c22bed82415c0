"""Likelihoods of rows whose components are known, or known in part, and their maximisers."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corollary.mixture.em.evidence import expected_log_joint
from corollary.mixture.em.expectation_maximisation import LatentModel
from corollary.mixture.gaussian._whitened import raised
from corollary.mixture.gaussian.law import MixtureLaw


class SimplexMaximum(NamedTuple):
    """Where a weighted sum of logarithms is largest, see :func:`simplex_log_maximum`."""

    weights: np.ndarray
    multiplier: float


def simplex_log_maximum(r: Any) -> SimplexMaximum:
    r"""Maximise :math:`\sum_j r_j\log\pi_j` over the simplex.

    Parameters
    ----------
    r : array-like of shape (n_components,)
        Non-negative, not all zero.

    Returns
    -------
    maximum : SimplexMaximum
        The maximiser :math:`r/\sum_jr_j` as ``weights``, and as ``multiplier`` Lagrange's of the
        constraint that they sum to one, :math:`-\sum_jr_j`: there :math:`r_j/\pi_j+\lambda=0`.

    Examples
    --------
    >>> from corollary.mixture import simplex_log_maximum
    >>> simplex_log_maximum([1.0, 3.0])
    SimplexMaximum(weights=array([0.25, 0.75]), multiplier=-4.0)
    """
    r = np.asarray(r, dtype=float)
    if r.ndim != 1 or not (r >= 0).all() or not 0 < r.sum() < np.inf:
        raise ValueError(
            f"r must be a vector of non-negative numbers, not all of them zero. Got {r.tolist()}."
        )
    return SimplexMaximum(r / r.sum(), -float(r.sum()))


def complete_log_likelihood(X: Any, z: Any, law: MixtureLaw) -> float:
    r"""Return :math:`\sum_i\log\pi_{z_i}+\log\mathcal N(x_i;\mu_{z_i},\Sigma_{z_i})`.

    Summed over all labellings, its exponential is the likelihood. See :class:`MixtureLaw`; ``z``
    has the number of the component of each row of ``X``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import MixtureLaw, complete_log_likelihood
    >>> law = MixtureLaw([0.5, 0.5], [[0.0], [4.0]], [[[1.0]], [[1.0]]])
    >>> round(complete_log_likelihood([[0.0], [4.0]], [0, 1], law), 4)
    -3.2242
    """
    joint = law.log_joint(X)
    return float(joint[np.arange(len(joint)), np.asarray(z, dtype=int)].sum())


def complete_maximiser(X: Any, z: Any, *, floor: float = 0.0) -> MixtureLaw:
    """Maximise the complete log-likelihood: frequencies, means and covariances of the classes.

    See :class:`MixtureLaw` for the maximiser. Of the components ``z`` of the rows all numbers from
    0 to the largest must occur, and ``floor`` is that of :func:`gaussian_m_step`.

    Examples
    --------
    >>> from corollary.mixture import complete_maximiser
    >>> law = complete_maximiser([[0.0], [2.0], [5.0], [6.0], [7.0]], [0, 0, 1, 1, 1])
    >>> law.weights, law.means.ravel(), law.covariances.ravel().round(4)
    (array([0.4, 0.6]), array([1., 6.]), array([1.    , 0.6667]))
    """
    z = np.asarray(z, dtype=int)
    return gaussian_m_step(X, np.eye(z.max() + 1)[z], floor=floor)


def mixture_q_function(X: Any, r: Any, law: MixtureLaw) -> float:
    r"""Return :math:`Q=\sum_jr_j\log\pi_j+\sum_{ij}r_{ij}\log\mathcal N(x_i;\mu_j,\Sigma_j)`.

    It is largest at :func:`gaussian_m_step`. See :class:`MixtureLaw`, which holds the new
    parameters; ``r`` are the responsibilities under old ones, :math:`r_j` their sums.

    Examples
    --------
    >>> from corollary.mixture import MixtureLaw, mixture_q_function
    >>> law = MixtureLaw([0.5, 0.5], [[0.0], [4.0]], [[[1.0]], [[1.0]]])
    >>> round(mixture_q_function([[0.0]], [[0.75, 0.25]], law), 4)  # log(1/2) - log(2 pi)/2 - 2
    -3.6121
    """
    return expected_log_joint(r, law.log_joint(X))


def gaussian_m_step(X: Any, r: Any, *, floor: float = 0.0) -> MixtureLaw:
    r"""Maximise Q: the M-step of a Gaussian mixture.

    With :math:`r_j=\sum_ir_{ij}`: :math:`\pi_j=r_j/n`, :math:`\mu_j=\sum_ir_{ij}x_i/r_j` and
    :math:`\Sigma_j=\sum_ir_{ij}(x_i-\mu_j)(x_i-\mu_j)^\top/r_j`, about the new mean.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Complete rows.
    r : array-like of shape (n_samples, n_components)
        Responsibilities; every component needs some.
    floor : float, default=0.0
        Least eigenvalue that a covariance may have. Raising smaller eigenvalues to it gives the
        maximiser among such covariances, so that EM still never lowers the likelihood.

    Returns
    -------
    law : MixtureLaw
        The maximiser.

    Examples
    --------
    >>> from corollary.mixture import gaussian_m_step
    >>> gaussian_m_step([[0.0], [2.0]], [[1.0], [1.0]]).covariances
    array([[[1.]]])
    """
    X, r = np.asarray(X, dtype=float), np.asarray(r, dtype=float)
    if X.ndim != 2 or r.ndim != 2 or len(X) != len(r) or not (r.sum(axis=0) > 0).all():
        raise ValueError(
            "gaussian_m_step needs a row of responsibilities for each row of X, and for every "
            f"component a positive sum. Got shapes {X.shape} and {r.shape} with sums "
            f"{r.sum(axis=0).tolist() if r.ndim else r}."
        )
    totals = r.sum(axis=0)
    means = r.T @ X / totals[:, None]
    centred = X[:, None] - means
    covariances = np.einsum("nk,nki,nkj->kij", r, centred, centred) / totals[:, None, None]
    return MixtureLaw(simplex_log_maximum(totals).weights, means, raised(covariances, floor))


@dataclass(frozen=True)
class GaussianLatentModel(LatentModel):
    """The Gaussian mixture as a model with a latent variable, for the generic EM.

    Parameters
    ----------
    floor : float, default=0.0
        Least eigenvalue that a covariance may have.

    Examples
    --------
    >>> from corollary.mixture import GaussianLatentModel, MixtureLaw
    >>> law = MixtureLaw([0.5, 0.5], [[0.0], [4.0]], [[[1.0]], [[1.0]]])
    >>> round(GaussianLatentModel().log_likelihood([[2.0]], law), 4)
    -2.9189
    """

    floor: float = 0.0

    def log_joint(self, X: np.ndarray, parameters: MixtureLaw) -> np.ndarray:
        """Return the log densities of rows and components."""
        return parameters.log_joint(X)

    def maximise(self, X: np.ndarray, q: np.ndarray, parameters: MixtureLaw) -> MixtureLaw:
        """Return the M-step."""
        return gaussian_m_step(X, q, floor=self.floor)

    def sample(
        self, n_samples: int, parameters: MixtureLaw, random_state: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows and their components."""
        return parameters.sample(n_samples, random_state)
