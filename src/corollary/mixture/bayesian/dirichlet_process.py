"""Draws from a Dirichlet process, and what its marginals are."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.estimator import Positive, Probability, RandomSeed, checked
from corollary.mixture.bayesian.dirichlet import gem_weights


class DiscreteMeasure(NamedTuple):
    """A probability measure on finitely many points."""

    weights: np.ndarray
    atoms: np.ndarray


class DirichletMarginals(NamedTuple):
    """Parameters of a Dirichlet law, its means and its variances."""

    alpha: np.ndarray
    mean: np.ndarray
    variance: np.ndarray


@checked
def draw_dirichlet_process(
    concentration: Positive,
    base: Callable[[int, Any], Any],
    *,
    tol: Probability = 1e-10,
    random_state: RandomSeed = None,
) -> DiscreteMeasure:
    r"""Draw a random measure :math:`G=\sum_k\rho_k\delta_{\theta_k}` from DP(alpha, H).

    G is a probability measure on points, without density, however smooth H is.

    Parameters
    ----------
    concentration : float
        The concentration :math:`\alpha`.
    base : callable
        ``base(n, random_state)`` draws n independent points of the base measure H.
    tol : float, default=1e-10
        Probability below which the remaining points are put into one.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    measure : DiscreteMeasure
        Its ``atoms``, the points, and their ``weights``.

    Examples
    --------
    >>> from corollary.mixture import draw_dirichlet_process
    >>> G = draw_dirichlet_process(2.0, lambda n, random: random.normal(size=n), random_state=0)
    >>> float(G.weights.sum().round(6)), G.atoms.shape == G.weights.shape
    (1.0, True)
    """
    random = check_random_state(random_state)
    weights = gem_weights(concentration, tol, random)
    return DiscreteMeasure(weights, np.asarray(base(len(weights), random)))


@checked
def dirichlet_process_marginals(concentration: Positive, probabilities: Any) -> DirichletMarginals:
    r"""Return the law of :math:`(G(T_1),\dots,G(T_k))` for a partition of the space.

    It is a Dirichlet law with the parameters ``alpha`` :math:`(\alpha H(T_1),\dots,\alpha H(T_k))`:
    each cell has the ``mean`` :math:`H(T_i)` and the ``variance``
    :math:`H(T_i)(1-H(T_i))/(1+\alpha)`.

    Parameters
    ----------
    concentration : float
        The concentration :math:`\alpha`.
    probabilities : array-like of shape (n_cells,)
        What the base measure gives to each cell; positive, of sum one.

    Examples
    --------
    >>> from corollary.mixture import dirichlet_process_marginals
    >>> dirichlet_process_marginals(3.0, [0.25, 0.75]).variance
    array([0.046875, 0.046875])
    """
    H = np.asarray(probabilities, dtype=float)
    if H.ndim != 1 or not (H > 0).all() or abs(H.sum() - 1) > 1e-8:
        raise ValueError(
            f"probabilities must be positive numbers of sum one. Got {H.tolist()}; leave out cells "
            "of probability zero."
        )
    return DirichletMarginals(concentration * H, H, H * (1 - H) / (1 + concentration))
