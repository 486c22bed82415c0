"""How many components: by the density of rows that were held out."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from corollary.core.display import Tabular
from corollary.core.estimator import ArrayLike, CountFromTwo, RandomSeed, checked, without_memory
from corollary.mixture.gaussian.mixture import GaussianMixture


class _Scores(NamedTuple):
    candidates: np.ndarray
    scores: np.ndarray
    standard_errors: np.ndarray
    n_components: int


class ComponentChoice(_Scores, Tabular):
    """What held-out rows say about numbers of components.

    Parameters
    ----------
    candidates : ndarray of shape (n_candidates,)
        Numbers of components.
    scores : ndarray of shape (n_candidates,)
        Mean log density of held-out rows.
    standard_errors : ndarray of shape (n_candidates,)
        Standard error of the difference of each score from the best one.
    n_components : int
        The candidate with the best score.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import ComponentChoice
    >>> choice = ComponentChoice(np.array([1, 2]), np.array([-3.0, -2.0]), np.array([0.1, 0.0]), 2)
    >>> print(choice)
    2 components: mean held-out log density -2.
    >>> choice.within_one_standard_error
    2
    """

    __slots__ = ()

    @property
    def within_one_standard_error(self) -> int:
        """The smallest candidate whose score is not clearly worse than the best one."""
        close = self.scores + self.standard_errors >= self.scores.max()
        return int(self.candidates[close].min())

    def __str__(self) -> str:
        return (
            f"{self.n_components} component{'s' * (self.n_components > 1)}: mean held-out log "
            f"density {self.scores.max():.4g}."
        )

    def _columns(self) -> dict[str, Any]:
        return {
            "n_components": self.candidates,
            "held_out_log_density": self.scores,
            "standard_error": self.standard_errors,
        }


@checked
def choose_components(
    model: GaussianMixture,
    X: Any,
    candidates: ArrayLike = (1, 2, 3, 4, 5, 6, 7, 8),
    *,
    cv: CountFromTwo = 5,
    random_state: RandomSeed = 0,
) -> ComponentChoice:
    """Choose the number of components by the density of rows that were held out.

    Parameters
    ----------
    model : GaussianMixture
        Its other settings are used as they are.
    X : array-like of shape (n_samples, n_features)
        Rows; NaN is missing.
    candidates : sequence of int, default=(1, 2, 3, 4, 5, 6, 7, 8)
        Numbers of components to try.
    cv : int, default=5
        Folds; each row is held out once.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import GaussianMixture, choose_components
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(120, 1)) + np.repeat([[-8.0], [0.0], [8.0]], 40, axis=0)
    >>> choose_components(GaussianMixture(n_starts=5, random_state=0), X, [1, 2, 3]).n_components
    3
    """
    X = np.asarray(X, dtype=float)
    numbers = np.array(candidates, dtype=int)
    densities = np.empty((len(numbers), len(X)))
    folds = list(KFold(cv, shuffle=True, random_state=random_state).split(X))
    with without_memory():
        for place, k in enumerate(numbers):
            for training, held_out in folds:
                fit = clone(model).set_params(n_components=int(k)).fit(X[training])
                densities[place, held_out] = fit.score_samples(X[held_out])
    scores = densities.mean(axis=1)
    best = int(np.argmax(scores))
    differences = densities - densities[best]
    errors = differences.std(axis=1, ddof=1) / np.sqrt(len(X))
    return ComponentChoice(numbers, scores, errors, int(numbers[best]))
