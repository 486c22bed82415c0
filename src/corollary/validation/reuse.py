r"""What happens when the test set chooses the model.

Labels are fair coins and M models guess independently of them and of each other: every model has
risk 1/2, and the best of them looks better than that.
"""

import math
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.estimator import Count, RandomSeed, checked


@checked
def best_of_guesses(*, n_models: Count, n_samples: Count) -> float:
    r"""Return the expected test error of the best of models that only guess, exactly.

    Parameters
    ----------
    n_models : int
        Models M.
    n_samples : int
        Test rows m.

    Returns
    -------
    error : float
        :math:`E\min_j\mathrm{Bin}_j(m,\tfrac12)/m`, about :math:`\tfrac12-\sqrt{\log M/(2m)}` for
        many models; the truth is 1/2 for all of them.

    See Also
    --------
    reuse_experiment : The same by simulation, with fresh rows beside it.

    Examples
    --------
    >>> from corollary.validation import best_of_guesses
    >>> best_of_guesses(n_models=1, n_samples=100)
    0.5
    >>> round(best_of_guesses(n_models=100, n_samples=100), 3)
    0.375
    """
    from scipy.special import bdtrc

    # The mean of a minimum is the sum of probabilities that all models exceed k.
    above = bdtrc(np.arange(n_samples), n_samples, 0.5)
    return float(np.sum(above**n_models)) / n_samples


class ReuseExperiment(NamedTuple):
    """Errors of models that were chosen on the rows that report them.

    Parameters
    ----------
    reported : ndarray of shape (n_repeats,)
        Error of the chosen model on the rows that chose it.
    fresh : ndarray of shape (n_repeats,)
        Its error on as many fresh rows.
    """

    reported: np.ndarray
    fresh: np.ndarray

    @property
    def optimism(self) -> float:
        """Mean of fresh less reported error."""
        return float(np.mean(self.fresh - self.reported))


@checked
def reuse_experiment(
    *, n_models: Count, n_samples: Count, n_repeats: Count = 200, random_state: RandomSeed = None
) -> ReuseExperiment:
    """Choose the best of many guessing models on a test set, and try it on fresh rows.

    Parameters
    ----------
    n_models : int
        Models.
    n_samples : int
        Test rows, and fresh rows.
    n_repeats : int, default=200
        How often.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    outcome : ReuseExperiment
        Reported and fresh errors.

    Examples
    --------
    >>> from corollary.validation import reuse_experiment
    >>> reuse_experiment(n_models=100, n_samples=100, random_state=0).optimism > 0.1
    True
    """
    rng = check_random_state(random_state)
    reported, fresh = np.empty(n_repeats), np.empty(n_repeats)
    for i in range(n_repeats):
        y, y_fresh = rng.randint(2, size=(2, n_samples))
        guesses = rng.randint(2, size=(n_models, n_samples))
        errors = np.mean(guesses != y, axis=1)
        best = int(np.argmin(errors))
        reported[i], fresh[i] = errors[best], np.mean(rng.randint(2, size=n_samples) != y_fresh)
    return ReuseExperiment(reported, fresh)


@checked
def optimism_scale(*, n_models: Count, n_samples: Count) -> float:
    r"""Return the size of the optimism that a choice among many models causes.

    Parameters
    ----------
    n_models : int
        Models M that were compared.
    n_samples : int
        Rows m that chose.

    Returns
    -------
    scale : float
        :math:`\sqrt{\log M/(2m)}`, an upper bound on the expected optimism for losses in [0, 1].

    Examples
    --------
    >>> from corollary.validation import optimism_scale
    >>> round(optimism_scale(n_models=100, n_samples=100), 4)
    0.1517
    """
    return math.sqrt(math.log(n_models) / (2 * n_samples))
