"""The loss that models are compared by: chosen by the target, named for the reader."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from corollary.reporting._records import LossName, Task
from corollary.risk import AbsoluteLoss, SquareLoss
from corollary.validation import log_score

Loss = Callable[[np.ndarray, np.ndarray], np.ndarray]
absolute_error = AbsoluteLoss()
_square = SquareLoss()
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class ComparedLoss:
    """A loss by row in units of the target's spread, and what to call it."""

    name: LossName
    unit: float = 1.0
    smallest: float = _TINY

    def __call__(self, y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
        """Compute the losses of rows from probabilities, or from numbers."""
        if prediction.ndim == 2:
            return log_score(y, prediction)
        if self.name.of_logarithm:
            y = np.log(np.where(y > 0, y, self.smallest))
            prediction = np.log(np.maximum(prediction, _TINY))
        return _square(y, prediction) / self.unit


def choose_loss(task: Task, y: np.ndarray, severe: bool) -> ComparedLoss:
    """Choose the loss of the comparison."""
    if task == "classification":
        return ComparedLoss(LossName("log loss"))
    if severe:
        name = LossName("squared error of the logarithm", "in units of its variance", True)
        return ComparedLoss(name, float(np.var(np.log(y))) or 1.0, float(y.min()))
    name = LossName("squared error", "in units of the target's variance")
    return ComparedLoss(name, float(np.var(y)) or 1.0)
