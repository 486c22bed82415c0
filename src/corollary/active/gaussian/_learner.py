"""How a learner with Gaussian processes searches its domain for the best query.

In a pool every point is scored. In a box the candidates are a scrambled Sobol sequence and points
around those already observed; the best of them are moved by smaller and smaller random steps as
long as the score rises. Both work for any score, also one that is minus infinity outside of a safe
set.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.active._ask_tell import AskTell
from corollary.active.domain import Box, Pool
from corollary.active.gaussian.growing import GrowingPosterior, View
from corollary.active.gaussian.prior import Prior
from corollary.gp import Predictions

ELITE = 4  # candidates that are refined
STEPS = 16  # random steps from each of them in one round
RADII = (0.1, 0.03, 0.01, 0.003, 0.001)  # size of the steps, as shares of the box
TARGETS = 512  # points that stand for a region of a box, at most
NEAR = (0.2, 0.05, 0.0125)  # candidates around observed points, as shares of the box


@dataclass
class Field:
    """Candidates, other points that matter to their score, and the posteriors there."""

    X: np.ndarray
    n: int
    views: list[View]


class GPLearner(AskTell):
    """Ask and tell with a Gaussian process for each function that is observed."""

    def __init__(
        self,
        domain: Any,
        priors: list[Prior],
        others: np.ndarray | None = None,
        *,
        repeat: bool = True,
        n_candidates: int = 1024,
        random_state: Any = None,
    ) -> None:
        super().__init__(domain, repeat=repeat, random_state=random_state)
        for prior in priors:
            if not isinstance(prior, Prior):
                raise ValueError(
                    f"{type(self).__name__} needs a Prior (kernel, noise and mean). Got {prior!r}."
                )
        if not isinstance(n_candidates, int | np.integer) or n_candidates < 1:
            raise ValueError(
                f"The 'n_candidates' parameter of {type(self).__name__} must be an int in the "
                f"range [1, inf). Got {n_candidates!r} instead."
            )
        self.n_candidates = int(n_candidates)
        self._n_values = len(priors)
        d = self.domain.n_features
        self._others = np.empty((0, d)) if others is None else others
        self._posteriors = [GrowingPosterior(prior, d) for prior in priors]
        if isinstance(self.domain, Pool):
            X = np.concatenate([self.domain.X, self._others])
            self._pool = Field(X, len(self.domain.X), [p.view(X) for p in self._posteriors])

    @property
    def posterior_(self) -> GrowingPosterior:
        """Posterior of the first function."""
        return self._posteriors[0]

    def predict(self, X: Any) -> Predictions:
        """Predict the function.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Where.

        Returns
        -------
        predictions : Predictions
            Posterior means and standard deviations of f.
        """
        return self.posterior_.predict(X)

    def _learn(self, keys: list[Any], values: np.ndarray) -> None:
        for posterior, column in zip(self._posteriors, values.T):
            posterior.observe(self._rows(keys), column)

    # -- the search ------------------------------------------------------------------------------

    @abstractmethod
    def _plan(self, field: Field) -> Any:
        """Look at all candidates; return the indices of points that scores depend on, and more."""

    @abstractmethod
    def _scores(self, field: Field, targets: np.ndarray, plan: Any) -> np.ndarray:
        """Score the candidates of a field, given where the plan's points are in it."""

    def _choose(self, n: int) -> list[Any]:
        choose = self._choose_from_pool if isinstance(self.domain, Pool) else self._choose_from_box
        return choose(n)

    def _choose_from_pool(self, n: int) -> list[Any]:
        field = self._pool
        for view in field.views:
            view.forget()
        for key in self._pending:
            self._imagine(field, key)
        chosen: list[int] = []
        for _ in range(n):
            targets, plan = self._plan(field)
            free = self._free()
            if not free.any():
                raise self._nothing_left(field.n)
            scores = np.where(free, self._scores(field, targets, plan), -np.inf)
            best = int(np.argmax(scores))
            if scores[best] == -np.inf:
                raise self._nothing_left(field.n)
            self._expect(best)
            self._imagine(field, best)
            chosen.append(best)
        return chosen

    def _imagine(self, field: Field, index: int) -> None:
        for view in field.views:
            view.imagine(index)

    def _choose_from_box(self, n: int) -> list[Any]:
        chosen: list[Any] = []
        for _ in range(n):
            chosen.append(self._best_in_box())
            self._expect(chosen[-1])
        return chosen

    def _best_in_box(self) -> tuple[float, ...]:
        box = self.domain
        assert isinstance(box, Box)
        rng = np.random.default_rng([self._seed, self._n_asked, 1])
        X = box.spread(self.n_candidates, [self._seed, self._n_asked, 0])
        centres = self._centres()
        if len(centres):
            # Small safe sets lie around what is known; an even spread would miss them.
            each = max(1, self.n_candidates // (len(NEAR) * len(centres)))
            X = np.concatenate([X, centres, *(box.around(centres, r, each, rng) for r in NEAR)])
        field = self._field(X, self._others)
        targets, plan = self._plan(field)
        targets = targets[:: -(-len(targets) // TARGETS) or 1]
        points = field.X[targets]
        scores = self._scores(field, targets, plan)
        X, scores = _best(X, scores)
        for radius in RADII:
            X_new = box.around(X, radius, STEPS, rng)
            field = self._field(X_new, points)
            targets = field.n + np.arange(len(points))
            new = self._scores(field, targets, plan)
            X, scores = _best(np.concatenate([X, X_new]), np.concatenate([scores, new]))
        if scores[0] == -np.inf:
            raise self._nothing_left(len(field.X))
        return tuple(X[0].tolist())

    def _centres(self) -> np.ndarray:
        return self.X_

    def _field(self, X: np.ndarray, others: np.ndarray) -> Field:
        pending = self.pending_
        everything = np.concatenate([X, others, pending])
        field = Field(everything, len(X), [p.view(everything) for p in self._posteriors])
        for i in range(len(pending)):
            self._imagine(field, len(X) + len(others) + i)
        return field


def _best(X: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(-scores, kind="stable")[:ELITE]
    return X[order], scores[order]
