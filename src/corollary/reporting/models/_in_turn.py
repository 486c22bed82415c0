"""Every row of a small table, predicted by a model that neither fit nor choice showed it to.

The cross-validation has predicted each row by every candidate without its fold. Without that fold,
too, the rule chooses which of these predictions stands for the row. So the choice costs no row, and
its luck does not flatter the result.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from corollary.core.estimator import without_memory
from corollary.reporting.models._compare import choose
from corollary.reporting.models._predictor import Predictor
from corollary.reporting.models._selection import Comparison
from corollary.reporting.models._trials import Trial, fit_predictor, predict_with


@dataclass(frozen=True, eq=False)
class InTurn:
    """Predictions of all rows, each without the fold of the row."""

    comparison: Comparison
    y: np.ndarray
    fold: np.ndarray  # fold of each row
    chosen: tuple[Trial, ...]  # what the rule chooses without each fold
    prediction: np.ndarray  # numbers or probabilities, by the model chosen for the row
    guess: np.ndarray  # those of guessing

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return len(self.chosen)

    @property
    def decided_guess(self) -> np.ndarray:
        """What guessing says: the commonest class of all rows, or the mean of the others.

        Without a row the class of that row is a little rarer. Where two classes are equally common,
        a guess that left the row out would nearly always be wrong.
        """
        if self.guess.ndim == 1:
            return self.guess
        return np.full(len(self.y), np.bincount(self.y).argmax())

    @cached_property
    def predictors(self) -> tuple[Predictor, ...]:
        """The chosen models, fitted without each fold to rows as all rows encode them."""
        fitted, features = [], self.comparison.features
        with without_memory():
            for k, trial in enumerate(self.chosen):
                others, situation = self.fold != k, self.comparison.situation
                fitted.append(
                    fit_predictor(
                        trial.entries, situation, features[others], self.y[others], trial.weights
                    )
                )
        return tuple(fitted)

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Predict all rows, or changed forms of all rows one after another, each without itself."""
        fold = np.tile(self.fold, len(features) // len(self.fold))
        first = predict_with(self.predictors[0], features[:1])
        prediction = np.empty((len(features), *first.shape[1:]))
        for k, predictor in enumerate(self.predictors):
            prediction[fold == k] = predict_with(predictor, features[fold == k])
        return prediction


def predict_in_turn(comparison: Comparison, y: np.ndarray) -> InTurn:
    """Choose a model without each fold, and let it predict the fold."""
    trials, fold = comparison.trials, np.empty(len(y), dtype=np.int64)
    prediction, chosen = np.empty_like(trials[0].prediction), []
    for k, part in enumerate(comparison.folds):
        fold[part.rows] = k
    for k, part in enumerate(comparison.folds):
        best = choose(trials, cautious=False, rows=fold != k)
        prediction[part.rows] = best.prediction[part.rows]
        chosen.append(best)
    return InTurn(comparison, y, fold, tuple(chosen), prediction, trials[0].prediction)
