"""The model that a report hands over: from raw rows to predictions with sets or intervals."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from corollary.conformal import IntervalCalibration, SetCalibration
from corollary.core.frames import as_pandas
from corollary.core.schema import Instance, List, Number, Optional, Schema, Text
from corollary.reporting._distance import DistanceRule
from corollary.reporting._errors import ReportError
from corollary.reporting._promise import Promise
from corollary.reporting.models._predictor import Predictor
from corollary.representation import ColumnTable, DatePlan, TableEncoder


def _fits_together(model: "ReportModel") -> str | None:
    if not isinstance(model.encoder, TableEncoder) or not isinstance(model.predictor, Predictor):
        return "its parts are not an encoder and a predictor"
    if [plan.name for plan in getattr(model.encoder, "plans_", [])] != list(model.columns):
        return "its encoder reads other columns"
    if len(model.encoder.feature_columns_) != model.predictor.n_features:
        return "its encoder and its predictor do not fit"
    if model.distance is not None:
        rule, known = model.distance, len(model.encoder.feature_columns_)
        if not isinstance(rule, DistanceRule) or rule.features.max(initial=0) >= known:
            return "its distances are of other columns"
        if not set(rule.columns) <= set(model.columns):
            return "its distances are of other columns"
    if model.task == "classification":
        if not isinstance(model.calibration, SetCalibration) or not model.predictor.classification:
            return "its parts do not classify"
        if len(model.classes) != len(model.predictor.constant):
            return "its classes do not fit its predictor"
        return None
    if not isinstance(model.calibration, IntervalCalibration) or model.predictor.classification:
        return "its parts do not predict numbers"
    if len(model.calibration.weights) != model.predictor.n_features + 3:
        return "its intervals do not fit its predictor"
    return None


def _classifies(model: "ReportModel") -> bool:
    return model.task == "classification"


def _predicts_numbers(model: "ReportModel") -> bool:
    return model.task == "regression"


def read_labels(names: tuple[str, ...]) -> np.ndarray:
    """Read class names as the values that a table holds: numbers, true and false, or texts."""
    if set(names) <= {"True", "False"}:
        return np.array([name == "True" for name in names])
    for kind in (int, float):
        try:
            values = [kind(name) for name in names]
        except ValueError:
            continue
        if [str(value) for value in values] == list(names):
            return np.array(values)
    return np.array(names, dtype=object)


@dataclass(frozen=True, eq=False, repr=False)
class ReportModel:
    """Everything it takes to predict new rows as the report describes.

    It predicts as scikit-learn's models do, from data frames, so that their tools and
    :func:`corollary.certify` take it.

    Parameters
    ----------
    columns : tuple of str
        Columns it reads, by name; others in new data are ignored.
    encoder : TableEncoder
        From these columns to features.
    predictor : Predictor
        From features to predictions.
    calibration : SetCalibration or IntervalCalibration
        From predictions to sets or intervals.
    target : str
        Name of what is predicted.
    task : {"classification", "regression"}
        Kind of prediction.
    classes : tuple of str
        Class names in index order; empty for regression.
    coverage : float
        Share of such rows whose set or interval holds the truth, at least.
    label : str
        The model in words.
    data_sha256 : str
        Hash of the data it was made from.
    promise : Promise or None, default=None
        Of which rows the coverage is promised; None for rows drawn like those of training.
    keys : tuple of str, default=()
        Columns that name a row and serve no model, such as identifiers.
    distance : DistanceRule or None, default=None
        How far is too far from the training rows; None for models of earlier versions and of few
        rows, which flag every number beyond the training range.

    See Also
    --------
    report : Make one.

    Examples
    --------
    >>> from corollary.reporting import measure, read_demo
    >>> table = read_demo("iris")
    >>> evidence, model = measure(table, table.target, fast=True)
    >>> model.predict(table.frame.head(2))
    array(['setosa', 'setosa'], dtype=object)
    >>> model.predict_table(table.frame.head(1)).columns.tolist()[:3]
    ['prediction', 'set', 'probability setosa']
    """

    columns: tuple[str, ...]
    encoder: TableEncoder
    predictor: Predictor
    calibration: SetCalibration | IntervalCalibration
    target: str
    task: str
    classes: tuple[str, ...]
    coverage: float
    label: str
    data_sha256: str
    promise: Promise | None = None
    keys: tuple[str, ...] = ()
    distance: DistanceRule | None = None

    _schema = Schema(
        _fits_together,
        columns=List(Text(), "c"),
        encoder=Instance("transform"),
        predictor=Instance("predict"),
        calibration=Instance("sets") | Instance("intervals"),
        target=Text(),
        task=Text(("classification", "regression")),
        classes=List(Text()),
        coverage=Number(0.0, 1.0),
        label=Text(),
        data_sha256=Text(),
        promise=Optional(Instance("outside")),
        keys=Optional(List(Text())),
        distance=Optional(Instance("p_values", "reasons")),
    )

    def __repr__(self) -> str:
        return (
            f"<ReportModel: {self.label} of {len(self.columns)} columns, predicts {self.target}, "
            f"{self.task}, coverage {self.coverage:g}>"
        )

    @property
    def confidence(self) -> float:
        """Share of such rows whose set or interval holds the truth, at least."""
        return self.coverage

    @property
    def classes_(self) -> np.ndarray:
        """The classes as they stand in the target column: numbers, true and false, or texts."""
        if self.task != "classification":
            raise AttributeError("The model of a regression has no classes.")
        return read_labels(self.classes)

    def __sklearn_tags__(self) -> Any:
        return self.predictor.__sklearn_tags__()

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, data: Any, y: Any = None) -> "ReportModel":
        """Refuse to be fitted again: scikit-learn's tools take what has this method for a model.

        Parameters
        ----------
        data : data frame
            Rows.
        y : array-like or None, default=None
            Their targets.

        Returns
        -------
        self : ReportModel
            Never.
        """
        raise ReportError(
            "usage",
            "The model of a report is fitted already. To fit one to other rows, make another "
            "report: corollary.report(data, target=...).",
        )

    def fitted_parts(self, data: Any) -> list[tuple[Any, Any]]:
        """List the models inside with the rows that reach them, which may be training rows.

        Parameters
        ----------
        data : data frame
            As for :meth:`predict`.

        Returns
        -------
        parts : list of (estimator, ndarray)
            The predictor, with encoded rows.
        """
        return [(self.predictor, self._encode(data))]

    def predict(self, data: Any) -> np.ndarray:
        """Predict the class or the number of new rows.

        Parameters
        ----------
        data : data frame
            pandas or polars; columns in any order. Unknown columns are ignored, absent ones count
            as missing values, with a warning.

        Returns
        -------
        prediction : ndarray of shape (n,)
            Classes as in ``classes_``, or numbers.

        Raises
        ------
        ReportError
            Of kind "data", if no column of the model is present or there are no rows.
        """
        prediction = self.predictor.predict(self._encode(data))
        return self.classes_[prediction] if self.task == "classification" else prediction

    @available_if(_classifies)
    def predict_proba(self, data: Any) -> np.ndarray:
        """Predict the probability of each class.

        Parameters
        ----------
        data : data frame
            As for :meth:`predict`.

        Returns
        -------
        probability : ndarray of shape (n, n_classes)
            In the order of ``classes_``.
        """
        return self.predictor.predict_proba(self._encode(data))

    @available_if(_classifies)
    def predict_set(self, data: Any) -> np.ndarray:
        """Predict the set of classes of each row.

        Parameters
        ----------
        data : data frame
            As for :meth:`predict`.

        Returns
        -------
        sets : ndarray of bool of shape (n, n_classes)
            Which classes are in the set of each row, in the order of ``classes_``.
        """
        assert isinstance(self.calibration, SetCalibration)
        return self.calibration.sets(self.predict_proba(data))

    @available_if(_predicts_numbers)
    def predict_interval(self, data: Any) -> np.ndarray:
        """Predict the interval of each row.

        Parameters
        ----------
        data : data frame
            As for :meth:`predict`.

        Returns
        -------
        intervals : ndarray of shape (n, 2)
            Lower and upper ends.
        """
        assert isinstance(self.calibration, IntervalCalibration)
        features = self._encode(data)
        ends = self.calibration.intervals(features, self.predictor.predict(features))
        return np.column_stack(ends)

    def score(self, data: Any, y: Any) -> float:
        """Compute the accuracy, or R² of a model of numbers, as scikit-learn's models do.

        Parameters
        ----------
        data : data frame
            As for :meth:`predict`.
        y : array-like of shape (n,)
            Targets.

        Returns
        -------
        score : float
            At most 1.
        """
        from sklearn.metrics import accuracy_score, r2_score

        measure = accuracy_score if self.task == "classification" else r2_score
        return float(measure(np.asarray(y), self.predict(data)))

    def misses(self, data: Any, y: Any) -> np.ndarray:
        """Say which targets lie outside the set or interval of their row.

        Parameters
        ----------
        data : data frame
            As for :meth:`predict`.
        y : array-like of shape (n,)
            Targets; a class that the model does not know is outside every set.

        Returns
        -------
        missed : ndarray of bool of shape (n,)
            Whether the set or interval misses the target.
        """
        targets = np.asarray(y)
        if self.task == "regression":
            low, high = self.predict_interval(data).T
            return (targets < low) | (targets > high)
        member = targets.astype(object)[:, None] == self.classes_.astype(object)
        return ~(self.predict_set(data) & member).any(axis=1)

    def predict_table(self, data: Any) -> Any:
        """Predict new rows, with all that there is to say about them.

        Parameters
        ----------
        data : data frame
            pandas or polars; columns in any order. Unknown columns are ignored, absent ones count
            as missing values and are flagged.

        Returns
        -------
        table : pandas DataFrame
            With the index of the data and the columns ``prediction``; for classes ``set`` and
            ``probability <class>``; for numbers ``low`` and ``high``; ``unusual``, which says what
            is unusual about the row; and, if the model speaks of new owners or of a period,
            ``promise``, which says what holds for the row.

        Raises
        ------
        ReportError
            Of kind "data", if no column of the model is present or there are no rows; of kind
            "model", if its numbers are beyond all bounds.
        """
        import pandas as pd

        frame, absent = self._select(data)
        table = ColumnTable.of(frame)
        features = self._features(table)
        out: dict[str, Any] = {}
        if isinstance(self.calibration, SetCalibration):
            probability = self.predictor.predict_proba(features)
            sets = self.calibration.sets(probability)
            names = np.asarray(self.classes, dtype=object)
            out["prediction"] = names[probability.argmax(axis=1)]
            out["set"] = [" | ".join(names[row]) for row in sets]
            for k, name in enumerate(self.classes):
                out[f"probability {name}"] = probability[:, k]
        else:
            prediction = self.predictor.predict(features)
            low, high = self.calibration.intervals(features, prediction)
            out = {"prediction": prediction, "low": low, "high": high}
        _refuse_overflow(probability if "set" in out else prediction)
        out["unusual"] = self._flags(table, absent, features)
        if self.promise is not None:
            out["promise"] = self.promise.of(ColumnTable.of(_as_pandas(data).rename(columns=str)))
        return pd.DataFrame(out, index=frame.index)

    def outside(self, data: Any) -> np.ndarray:
        """Mark the rows that the model's promise does not speak of.

        Parameters
        ----------
        data : data frame
            As for :meth:`predict`.

        Returns
        -------
        outside : ndarray of bool
            Rows of owners that the model was trained on, or beyond the period that was tested.
        """
        frame = _as_pandas(data).rename(columns=str)
        if self.promise is None:
            return np.zeros(len(frame), dtype=bool)
        return self.promise.outside(ColumnTable.of(frame))

    def later(self, data: Any) -> dict[str, tuple[np.ndarray, str]]:
        """Mark the rows that come after the rows of training.

        They are not unusual, but no split of the training rows has tested the model on any like
        them, unless the report speaks of a period.

        Parameters
        ----------
        data : data frame
            As for :meth:`predict`.

        Returns
        -------
        later : dict of str to (ndarray of bool, str)
            For each column of dates that has such rows, which they are, and the last training date.
        """
        table, marks = ColumnTable.of(self._select(data)[0]), {}
        for plan in self.encoder.plans_:
            if isinstance(plan, DatePlan) and plan.name not in self._moments:
                last = str(np.datetime64(int(plan.high), "s")).removesuffix("T00:00:00")
                marks[plan.name] = (plan.later(table[plan.name]), last)
        return {name: mark for name, mark in marks.items() if mark[0].any()}

    @property
    def _moments(self) -> tuple[str, ...]:
        """Columns that say when a row is, if the promise is of a period."""
        return () if self.promise is None or self.promise.hashes.size else self.promise.columns

    def flags(self, data: Any) -> list[str]:
        """Say what is unusual about each row.

        Parameters
        ----------
        data : data frame
            As for :meth:`predict`.

        Returns
        -------
        flags : list of str
            Sentences joined by semicolons; empty for rows like those of training.
        """
        frame, absent = self._select(data)
        table = ColumnTable.of(frame)
        return self._flags(table, absent, self._features(table))

    def _flags(self, table: ColumnTable, absent: set[str], features: np.ndarray) -> list[str]:
        words = self._far(table, absent, features)
        near = np.array([not row for row in words])
        for name, plan in zip(self.columns, self.encoder.plans_):
            if name in self._moments:
                continue  # later rows lie beyond the range of training; the promise tells of them
            if name in absent:
                for row in words:
                    row.append(f"{name}: column absent")
                continue
            beyond = plan.beyond if self.distance is None else plan.out_of_reach
            sides = [(mask & near, what) for mask, what in beyond(table[name])]
            for mask, what in (*sides, *plan.unusual(table[name])):
                for i in np.flatnonzero(mask):
                    words[i].append(f"{name}: {what}")
        return ["; ".join(row) for row in words]

    def _far(self, table: ColumnTable, absent: set[str], features: np.ndarray) -> list[list[str]]:
        """Say of rows too far from the training rows how rare that is, and in which columns."""
        words: list[list[str]] = [[] for _ in range(len(table))]
        if self.distance is None:
            return words
        plans = dict(zip(self.columns, self.encoder.plans_))
        p_values = self.distance.p_values(features)
        called = np.flatnonzero(p_values <= self.distance.threshold)
        sides: dict[str, list[tuple[np.ndarray, str]]] = {}
        for i, names in zip(called, self.distance.reasons(features[called])):
            parts = []
            for name in names:
                beyond = sides.setdefault(name, plans[name].beyond(table[name]))
                where = [what for mask, what in beyond if mask[i] and name not in absent]
                parts.append(" ".join([name, *where]))
            words[i].append(
                f"far from the training rows (p = {p_values[i]:.2g}): " + ", ".join(parts)
            )
        return words

    def _encode(self, data: Any) -> np.ndarray:
        """Turn rows into features, and warn of columns that no flag beside a row tells of."""
        frame, absent = self._select(data)
        if absent:
            warnings.warn(
                "ReportModel reads columns that the data lack: "
                f"{_first(name for name in self.columns if name in absent)}. They count as "
                "missing in every row, for which nothing is promised. Add them, or rename the "
                "columns that hold them.",
                UserWarning,
                stacklevel=3,
            )
        return self._features(ColumnTable.of(frame))

    def _features(self, table: ColumnTable) -> np.ndarray:
        with np.errstate(all="ignore"):
            features = self.encoder.transform(table)
        _refuse_overflow(features)
        return features

    def _select(self, data: Any) -> tuple[Any, set[str]]:
        """Give the columns of the model as a data frame, and the names of those that are absent."""
        import pandas as pd

        frame = _as_pandas(data)
        known = {str(c): c for c in frame.columns}
        if not set(self.columns) & set(known):
            raise ReportError(
                "data",
                f"The data hold none of the columns that the model reads: {_first(self.columns)}.",
            )
        if len(frame) == 0:
            raise ReportError("data", "The data hold no rows to predict.")
        parts = {
            name: frame[known[name]] if name in known else pd.Series(np.nan, index=frame.index)
            for name in self.columns
        }
        return pd.DataFrame(parts), set(self.columns) - set(known)


def _first(columns: Iterable[str]) -> str:
    """Write the first names of columns."""
    names = list(columns)
    return ", ".join(names[:12]) + ", ..." * (len(names) > 12)


def _as_pandas(data: Any) -> Any:
    import pandas as pd

    data = as_pandas(data)
    if not isinstance(data, pd.DataFrame):
        raise ReportError(
            "data", f"The data must be a data frame. Got {type(data).__name__} instead."
        )
    return data


def _refuse_overflow(numbers: np.ndarray) -> None:
    """Refuse what only a model whose numbers nobody has learnt can give."""
    if np.isfinite(numbers).all():
        return
    raise ReportError(
        "model",
        "The model gives no finite numbers for these rows: what its file holds was not learnt "
        "from data. Make the report again.",
    )
