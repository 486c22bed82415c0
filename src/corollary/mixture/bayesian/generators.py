"""Rows whose mixture is itself drawn: finitely many components, or those of a Dirichlet process.

Rows of one draw share its weights and means. They are exchangeable, not independent, which is why
these are no worlds.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.estimator import Count, NonNegative, Positive, RandomSeed, checked
from corollary.mixture.bayesian.dirichlet import dirichlet_by_sticks, gem_weights


class MixtureDraw(NamedTuple):
    """Rows, and the mixture that they were drawn from."""

    X: np.ndarray
    z: np.ndarray
    weights: np.ndarray
    means: np.ndarray


@checked
def draw_bayesian_mixture(
    n_samples: Count,
    alpha: Any,
    *,
    prior_mean: Any = (0.0,),
    prior_spread: NonNegative = 1.0,
    spread: NonNegative = 1.0,
    random_state: RandomSeed = None,
) -> MixtureDraw:
    r"""Draw a finite Gaussian mixture, and rows from it.

    :math:`\rho\sim\mathrm{Dir}(\alpha)`, :math:`\mu_k\sim\mathcal N(\mu_0,\sigma_0^2I)`,
    :math:`z_i\sim\rho`, :math:`x_i\sim\mathcal N(\mu_{z_i},\sigma^2I)`.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    alpha : array-like of shape (n_components,)
        Parameters of the Dirichlet law of the weights.
    prior_mean : array-like of shape (n_features,), default=(0.0,)
        Mean :math:`\mu_0` of the means.
    prior_spread : float, default=1.0
        Their standard deviation :math:`\sigma_0`, in every column.
    spread : float, default=1.0
        Standard deviation :math:`\sigma` of rows about their mean.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    draw : MixtureDraw
        The rows ``X``, the component ``z`` of each, and the ``weights`` and ``means`` of all.

    Examples
    --------
    >>> from corollary.mixture import draw_bayesian_mixture
    >>> draw = draw_bayesian_mixture(100, [1.0, 1.0, 1.0], prior_spread=5.0, random_state=0)
    >>> draw.X.shape, draw.means.shape
    ((100, 1), (3, 1))
    """
    random = check_random_state(random_state)
    weights = dirichlet_by_sticks(alpha, random_state=random)[0]
    return _draw(n_samples, weights, prior_mean, prior_spread, spread, random)


@checked
def draw_process_mixture(
    n_samples: Count,
    concentration: Positive,
    *,
    prior_mean: Any = (0.0,),
    prior_spread: NonNegative = 1.0,
    spread: NonNegative = 1.0,
    random_state: RandomSeed = None,
) -> MixtureDraw:
    r"""Draw a Gaussian mixture with the weights of a Dirichlet process, and rows from it.

    It is :func:`draw_bayesian_mixture`, whose other parameters it has, with weights
    :math:`\rho\sim\mathrm{GEM}(\alpha)` for the ``concentration`` :math:`\alpha`. How many
    components have rows follows :func:`tables_distribution`.
    See :class:`DirichletProcessMixture`, which learns such a mixture from rows.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import draw_process_mixture
    >>> len(np.unique(draw_process_mixture(100, 1.0, random_state=0).z))
    5
    """
    random = check_random_state(random_state)
    weights = gem_weights(concentration, random_state=random)
    return _draw(n_samples, weights, prior_mean, prior_spread, spread, random)


def _draw(
    n: int, weights: np.ndarray, prior_mean: Any, prior_spread: float, spread: float, random: Any
) -> MixtureDraw:
    """Draw means, components and rows."""
    centre = np.asarray(prior_mean, dtype=float)
    means = centre + prior_spread * random.normal(size=(len(weights), len(centre)))
    z = random.choice(len(weights), size=n, p=weights / weights.sum())
    return MixtureDraw(means[z] + spread * random.normal(size=(n, len(centre))), z, weights, means)
