"""What bags and forests share: seeds of members, draws of rows, warm starts, out-of-bag rows."""

import warnings
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from corollary.core.estimator import Estimator, fitted
from corollary.core.schema import Array, Integer, Number, Optional, Strings
from corollary.ensemble.bagging._warm_start import (
    check_same_rows,
    earlier_fit,
    member_seeds,
    settings_of,
)
from corollary.ensemble.bagging.bootstrap import bootstrap_counts, number_of_draws


class Bootstrapped(Estimator):
    """Members fitted to draws of rows; subclasses declare ``bootstrap``, ``max_samples`` and so on.

    ``_members`` names the attribute that holds the fitted members.
    """

    n_samples_: int = fitted(Integer(1, 2**31))
    seed_: int = fitted(Integer(0, 2**31))
    bag_weight_: np.ndarray = fitted(Optional(Array("f", "n", low=0)))
    oob_score_: float = fitted(Optional(Number(nan=True)))
    settings_: np.ndarray = fitted(Optional(Strings("*")))

    _members: ClassVar[str] = "estimators_"

    def _begin(self) -> dict[str, Any] | None:
        """Return what an earlier fit has left, if this one adds to it."""
        if self.oob_score and not self.bootstrap:
            raise ValueError(
                "Out-of-bag predictions need rows that members have not seen. "
                "Set bootstrap=True or oob_score=False."
            )
        return earlier_fit(self, self._members)

    def _set_up_draws(
        self, earlier: dict[str, Any] | None, weight: np.ndarray | None, n_samples: int
    ) -> list[np.random.SeedSequence]:
        """Note what all draws depend on, forget out-of-bag rows, and return the members' seeds."""
        self.n_samples_ = n_samples
        check_same_rows(self, earlier, weight)
        if earlier is None:
            self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.settings_ = settings_of(self)
        for name in ("bag_weight_", "oob_score_", "oob_decision_function_", "oob_prediction_"):
            self.__dict__.pop(name, None)
        if weight is not None:
            self.bag_weight_ = weight
        return member_seeds(self.seed_, self.n_estimators)

    def _draw(self, seed: Any) -> tuple[np.random.Generator, np.ndarray]:
        """Return a member's generator and how often it has drawn each row."""
        random = np.random.Generator(np.random.PCG64(seed))
        counts = bootstrap_counts(
            self.n_samples_,
            number_of_draws(self.max_samples, self._n_weighted()),
            random,
            sample_weight=getattr(self, "bag_weight_", None),
            replace=self.bootstrap,
        )
        return random, counts

    def _n_weighted(self) -> int:
        """Return the rows that can be drawn: those of weight zero are as if absent."""
        weight = getattr(self, "bag_weight_", None)
        return self.n_samples_ if weight is None else int(np.count_nonzero(weight))

    def _average_out_of_bag(
        self, parts: Iterable[tuple[np.ndarray, np.ndarray]], n_outputs: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Average members' answers on rows they have not seen; tell which rows count in a score."""
        sums, seen = np.zeros((self.n_samples_, n_outputs)), np.zeros(self.n_samples_, np.int64)
        for left_out, answers in parts:
            sums[left_out] += answers
            seen[left_out] += 1
        if not seen.all():
            warnings.warn(
                f"{int((seen == 0).sum())} rows were seen by all {self.n_estimators} members and "
                "have no out-of-bag prediction. Raise n_estimators.",
                stacklevel=4,
            )
        weight = getattr(self, "bag_weight_", None)
        answered = seen > 0 if weight is None else (seen > 0) & (weight > 0)
        with np.errstate(invalid="ignore"):
            return sums / seen[:, None], answered

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """Rows drawn for each member, repeated as often as they were drawn."""
        check_is_fitted(self)
        rows = np.arange(self.n_samples_)
        seeds = member_seeds(self.seed_, len(getattr(self, self._members)))
        return [np.repeat(rows, self._draw(seed)[1]) for seed in seeds]

    def _draws_fit(self) -> str | None:
        """Say what is wrong with what a loaded model knows of its rows, or None."""
        for name in ("oob_decision_function_", "oob_prediction_", "bag_weight_"):
            values = getattr(self, name, None)
            if values is not None and len(values) != self.n_samples_:
                return f"{name} does not fit the number of rows"
        return None


def determination(y: np.ndarray, predicted: np.ndarray) -> float:
    """Return the coefficient of determination, of several targets the mean; NaN if none varies."""
    if not len(y):
        return float("nan")
    spread, errors = ((y - y.mean(axis=0)) ** 2).sum(axis=0), ((y - predicted) ** 2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.mean(np.where(spread > 0, 1.0 - errors / spread, np.nan)))
