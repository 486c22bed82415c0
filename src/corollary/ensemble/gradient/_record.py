"""What is recorded stage by stage: the losses of gradient boosting."""

from typing import Any

import numpy as np

from corollary.ensemble.boosting.losses import BoostingLoss


class Record:
    """Losses by stage: of the rows learnt from, and of those outside the sample."""

    def __init__(self, model: Any, first: int) -> None:
        self.model, self.factor = model, model._score_factor()
        earlier = {name: list(getattr(model, name, [])) for name in ("train_score_", "oob_scores_")}
        self.train = earlier["train_score_"][:first] if first else []
        self.outside = earlier["oob_scores_"][:first]
        self.gains = list(getattr(model, "oob_improvement_", []))[:first]
        self.last = self.outside[-1] if self.outside else np.nan
        for name in ("oob_scores_", "oob_improvement_"):
            vars(model).pop(name, None)

    def before(
        self,
        stage: int,
        loss: BoostingLoss,
        y: np.ndarray,
        raw: np.ndarray,
        weight: np.ndarray | None,
        outside: np.ndarray | None,
    ) -> None:
        """Note the loss before the first stage that has rows outside its sample.

        The stages before it count as zero, as in scikit-learn.
        """
        if outside is not None and (stage == 0 or len(self.outside) < stage):
            self.last = self._mean(loss, y, raw, weight, outside)
            for losses in (self.outside, self.gains):
                losses += [0.0] * (stage - len(losses))

    def after(
        self,
        loss: BoostingLoss,
        y: np.ndarray,
        raw: np.ndarray,
        bag: np.ndarray | None,
        weight: np.ndarray | None,
        outside: np.ndarray | None,
    ) -> None:
        """Note the losses after a stage."""
        self.train.append(self.factor * loss.mean(y, raw, bag))
        if outside is not None:
            self.outside.append(self._mean(loss, y, raw, weight, outside))
            self.gains.append(self.last - self.outside[-1])
            self.last = self.outside[-1]

    def _mean(
        self,
        loss: BoostingLoss,
        y: np.ndarray,
        raw: np.ndarray,
        weight: np.ndarray | None,
        rows: np.ndarray,
    ) -> float:
        some = None if weight is None else weight[rows]
        return self.factor * loss.mean(y[rows], raw[rows], some)

    def keep(self) -> None:
        """Write the losses to the model."""
        self.model.train_score_ = np.array(self.train)
        if self.outside:
            self.model.oob_scores_ = np.array(self.outside)
            self.model.oob_improvement_ = np.array(self.gains)
