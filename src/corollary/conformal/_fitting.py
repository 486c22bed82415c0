"""How the models inside a conformal wrapper are trained and asked."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier

from corollary.conformal._checks import as_numbers, count_rows
from corollary.core.compat import check_sample_weight, safe_indexing


def check_training_weights(sample_weight: Any, y: np.ndarray) -> np.ndarray | None:
    """Return weights of training rows as an array, or say what is wrong with them."""
    if sample_weight is None:
        return None
    return check_sample_weight(sample_weight, y, dtype=np.float64, ensure_non_negative=True)


class Training(NamedTuple):
    """Training rows of a wrapper, and how each of its models is given their weights."""

    who: str
    confidence: float
    rng: np.random.RandomState
    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    parameters: dict[str, dict[str, Any]]
    groups: np.ndarray | None = None

    def of(self, rows: np.ndarray) -> "Training":
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        parameters = {
            role: {name: values[rows] for name, values in how.items()}
            for role, how in self.parameters.items()
        }
        return self._replace(
            X=safe_indexing(self.X, rows),
            y=self.y[rows],
            weight=weight,
            parameters=parameters,
            groups=None if self.groups is None else self.groups[rows],
        )

    def fit(self, model: Any, role: str = "estimator", y: np.ndarray | None = None) -> Any:
        """Fit a copy of a model, to other targets than those of the rows if they are given."""
        return clone(model).fit(self.X, self.y if y is None else y, **self.parameters[role])

    def held_out_errors(self, model: Any, n_folds: int) -> np.ndarray:
        """Return the absolute error of every row under a copy of the model that left it out."""
        from sklearn.model_selection import GroupKFold, KFold, cross_val_predict

        n_groups = 1 if self.groups is None else len(np.unique(self.groups))
        folds: Any = KFold(min(n_folds, len(self.y)), shuffle=True, random_state=self.rng)
        if n_groups > 1:
            # Rows of a group that the model has seen have errors too small for a new group.
            whole = GroupKFold(min(n_folds, n_groups), shuffle=True, random_state=self.rng)
            folds = list(whole.split(self.y, groups=self.groups))
        how = self.parameters["estimator"]
        said = cross_val_predict(clone(model), self.X, self.y, cv=folds, params=how)
        return np.abs(self.y - np.ravel(said))


class Rows(NamedTuple):
    """Rows that the fitted model of a wrapper is asked about."""

    who: str
    estimator: Any
    X: Any

    def predict(self, model: Any) -> np.ndarray:
        """Return one number for each row, or say that the model has none or several."""
        if hasattr(model, "classes_") and is_classifier(model):
            raise TypeError(
                f"{self.who} needs a regressor. {type(model).__name__} is a classifier; use "
                "SplitConformalClassifier for sets of classes."
            )
        prediction, n_rows = np.asarray(model.predict(self.X)), count_rows(self.X)
        if prediction.size != n_rows:
            raise ValueError(
                f"{self.who} needs one prediction for each row. {type(model).__name__} gave shape "
                f"{prediction.shape} for {n_rows} rows; fit it to one target."
            )
        numbers = as_numbers(prediction.ravel())
        if numbers is None:
            raise TypeError(
                f"{self.who} needs predictions that are numbers. {type(model).__name__} gave "
                f"{prediction.ravel()[0]!r} of type {prediction.dtype}; wrap a regressor."
            )
        return numbers
